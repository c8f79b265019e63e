/** A record is read as fast-xml-parser, which knows all of XML, reads the same checked text. */
import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { withoutControls } from '../../../src/feed/format/encoding.ts'
import { decodeEntities } from '../../../src/feed/format/entities.ts'
import type { RecordFields, RecordNode } from '../../../src/feed/format/format.ts'
import { checkedRecord } from '../../../src/feed/format/xml-check.ts'
import { parseXmlRecord } from '../../../src/feed/format/xml-record.ts'
import { pick, seeded, testSeed } from '../../support/random.ts'

const maxFields = 1000
type Ordered = Record<string, Ordered[] | Record<string, string> | string>

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  trimValues: false,
  jPath: false,
  transformTagName: (name) => (['__proto__', 'constructor', 'prototype'].includes(name) ? 'left-out' : name),
  onDangerousProperty: (name) => name,
  entityDecoder: {
    decode: decodeEntities,
    reset() {},
    setExternalEntities() {},
    addInputEntities() {},
    setXmlVersion() {},
  },
})

function byPeer(text: string): RecordNode {
  const nodes: Ordered[] = parser.parse(checkedRecord(withoutControls(text), maxFields))
  const node = contentOf(nodes.find((one) => !('#text' in one))!)
  return typeof node !== 'string' ? node : node.trim() === '' ? {} : { '#text': node }
}

const nameOf = (node: Ordered): string => Object.keys(node).find((key) => key !== ':@')!

function contentOf(node: Ordered): RecordNode {
  const fields: RecordFields = Object.assign(Object.create(null), node[':@'])
  const children = node[nameOf(node)] as Ordered[]
  const text = children.map((child) => (child['#text'] as string | undefined) ?? '').join('')
  const elements = children.filter((child) => !('#text' in child))
  if (Object.keys(fields).length === 0 && elements.length === 0) return text
  for (const child of elements) {
    const name = nameOf(child)
    if (name === 'left-out') continue
    const before = fields[name]
    const content = contentOf(child)
    fields[name] = before === undefined ? content : [before, content].flat()
  }
  if (text.trim() !== '') fields['#text'] = text
  return fields
}

/** As text, in which the order of names shows. */
function read(text: string, by: (text: string) => RecordNode): string {
  try {
    return JSON.stringify(by(text))
  } catch (error) {
    return String(error)
  }
}

const samples = [
  '<Listing id="1"><Price currency="USD">350000</Price><City>Saint Paul</City><Photos><Photo url="https://a.example/1.jpg"/><Photo url="https://a.example/2.jpg" /></Photos></Listing>',
  '<p:home xmlns:p="urn:p" p:kind=\'a "b"\'>\r\n <p:text><![CDATA[<b>bright</b> & quiet]]> in the park</p:text>\n<!-- none --> <p:text/>\t</p:home>',
  '<a>Fish &amp; chips&#x301; &#55357;&#56832; &nbsp;&lt;i&gt; &unknown; AT&T<b/>tail</a>',
  '<a><b> </b><b>1</b><b c="2">3<d/>4</b><constructor>x</constructor><toString>y</toString></a>',
]
const pieces =
  `< > / " ' = & ; x &amp; &#x301; &#0; <!-- --> <!----> <![CDATA[ ]]> <![CDATA[]]> <b/> </b> <b> </q:b> <__proto__/>`
    .split(' ')
    .concat(
      '\t',
      '\u00a0',
      '\u2028',
      '\r',
      '\r\n',
      ' ',
      '<!-- - -->',
      '<?x y?>',
      '<b />',
      '<b/ >',
      '<b c="1"/>',
      '<b c=1 d>',
    )
    .concat("<b c='>'/>", '<b\tc = "\t"\nd="\n" c="2"/>', '<b __proto__="1" toString="2"/>', '<q:b r:c="&quot;">')
    .concat(' c="', "d='&lt;'")

test('a record is read as by fast-xml-parser, whatever was done to it', () => {
  const random = seeded(testSeed())
  const below = (most: number): number => Math.floor(random() * most)
  let whole = 0
  for (let round = 0; round < 4000; round++) {
    let text = pick(random, samples)
    for (let changes = below(4); changes > 0; changes--) {
      const at = below(text.length + 1)
      const kept = at + (below(3) === 0 ? below(6) : 0)
      text = text.slice(0, at) + (kept > at ? '' : pick(random, pieces)) + text.slice(kept)
    }
    // A slash in a name is no XML, and means something else to that parser.
    if (/<[^\s<>"'/]+\/[^>]/.test(text)) continue
    const ours = read(text, (one) => parseXmlRecord(one, maxFields))
    expect(ours, text).toBe(read(text, byPeer))
    if (ours.startsWith('{')) whole++
  }
  expect(whole).toBeGreaterThan(1000)
})

test('fields have no prototype, whatever names a record has', () => {
  const fields = parseXmlRecord('<a __proto__="1"><__proto__><b/></__proto__><c d="1"/></a>', maxFields)
  expect([Object.getPrototypeOf(fields), Object.getPrototypeOf(fields['c'])]).toEqual([null, null])
  expect(Object.keys(fields)).toEqual(['@__proto__', 'c'])
})
