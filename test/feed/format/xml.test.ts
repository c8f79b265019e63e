import { describe, expect, test } from 'vitest'
import { FeedError } from '../../../src/core/errors.ts'
import { XmlSplitter } from '../../../src/feed/format/xml-splitter.ts'
import { xml } from '../../../src/feed/format/xml.ts'
import type { Options } from '../../contract/format.ts'
import { inChunks, mutated, randomFrom, read } from '../../contract/format.ts'
import { processorTime } from '../../support/cost.ts'

const options = { record: 'Listings/Listing' }
const document = `<?xml version="1.0"?>
<!-- <Listings> --><Listings key="a>b">>
  <Listing id='1 > "2"'><City>Málaga</City><Listing>inner</Listing></Listing>
  <Note><![CDATA[</Listings><Listing>]]></Note><!-- <Listing> -->
  <Listing><Text><![CDATA[a </Listing> <b>]]> &amp; c</Text><!-- </Listing> --><?x </Listing> ?><V a="1/"/></Listing>
  <Listing/>
</Listings>
`

/** Records of a splitter that gets windows of one size. */
async function split(text: string, size: number, path = 'Listings/Listing', longest = 10_000) {
  const splitter = new XmlSplitter([path], longest)
  const records: string[] = []
  for await (const chunk of inChunks(Buffer.from(text), size)) {
    for (const record of splitter.push(chunk)) records.push(`${record.at}: ${record.raw.toString()}`)
  }
  for (const record of splitter.end()) records.push(`${record.at}: ${record.raw.toString()}`)
  return { records, reasons: splitter.reasons }
}

async function sameInEveryWindow(text: string, path?: string, longest?: number) {
  const whole = await split(text, text.length * 2, path, longest)
  for (let size = 1; size <= Math.min(text.length, 300); size++) {
    expect(await split(text, size, path, longest), `windows of ${size}`).toEqual(whole)
  }
  return whole
}

async function one(record: string, more: Options = {}) {
  const { records } = await read(xml, `<Listings>${record}</Listings>`, { ...options, ...more })
  expect(records).toHaveLength(1)
  return records[0]
}

describe('when it was written', () => {
  const at = async (content: string, written: string, size: number) => {
    const reading = xml.read(inChunks(Buffer.from(`<L xmlns="x" at="1 May">${content}</L>`), size), {
      record: 'L/R',
      written,
      encoding: null,
      charset: null,
      maxRecordBytes: 1000,
      lengthProven: () => true,
    })
    for await (const batch of reading.records) expect(batch.length).toBeGreaterThan(0)
    expect(reading.end().reasons).toEqual([])
    return reading.written?.()
  }
  test.each([
    ['<r/><R/>', 'L/@at', '1 May'],
    ['<head><at> 2 May\n</at></head><R><at>3 May</at></R>', 'L/head/at', '2 May'],
    ['<at>2 May</at><at>3 May</at><R/>', 'L/at', '2 May'],
    ['<x:at><!-- when --><![CDATA[ 2026-05-02 ]]></x:at><R/>', 'L/at', '2026-05-02'],
    ['<at>May <b>2</b></at>', 'L/at', 'May'],
    ['<at/><R/>', 'L/at', null],
    ['<R><at>2 May</at></R><at>2 May</at>', 'L/at', null],
    [`<at>${'2'.repeat(300)}</at>`, 'L/at', '2'.repeat(100)],
  ])('is said by an attribute or an element before the records: %s', async (content, written, said) => {
    for (let size = 1; size < 80; size++) {
      const found = await at(content, written, size)
      expect(found?.slice(0, 100) ?? null, `chunks of ${size}`).toBe(said)
    }
  })
})

describe('where records begin and end', () => {
  test('comments, CDATA, instructions, quotes and nesting are no matter', async () => {
    const { records, reasons } = await sameInEveryWindow(document)
    expect(records).toHaveLength(3)
    expect(records[1]).toMatch(/^record 2, byte \d+: <Listing><Text>.*<V a="1\/"\/><\/Listing>$/)
    expect(reasons).toEqual([])
  })

  test.each([
    ['an end tag in a value', `<Listing><a t="x </Listing> y"/></Listing>`],
    ['an end tag behind a > in a value', `<Listing><a t='b > </Listing>'>t</a></Listing>`],
    ['a start tag in a value', `<Listing><a t="<b> <Listing> <!-- <?"/>x = "y" </Listing>`],
    ['apostrophes and equals signs in text', `<Listing>owner's = 'best' a="b </Listing>`],
    ['longer names', `<Listing><ListingUrl>u</ListingUrl><Listings/><XListing/></Listing>`],
    ['blanks in tags', `<Listing\n\tid = "1" ><x/></Listing\n>`],
    ['a lone bracket', `<Listing>1 < 2 <! <- </Listing>`],
    ['nesting', `<Listing><Listing a="/"><Listing/></Listing></Listing>`],
  ])('%s', async (_, record) => {
    const { records, reasons } = await sameInEveryWindow(`<Listings>\n${record}<Listing>2</Listing></Listings>`)
    expect(records).toEqual([
      `record 1, byte 11: ${record}`,
      `record 2, byte ${11 + record.length}: <Listing>2</Listing>`,
    ])
    expect(reasons).toEqual([])
  })

  test('prefixes match where the path has none; segments may offer several names', async () => {
    const text = `<f:list xmlns:f="u"><f:rental>1</f:rental><land>2</land><other><land>3</land></other></f:list>`
    expect((await sameInEveryWindow(text, 'list/rental|land')).records.map((each) => each.split(': ')[1])).toEqual([
      '<f:rental>1</f:rental>',
      '<land>2</land>',
    ])
  })

  test('the same name at another depth is no record', async () => {
    const text = `<a><x><r>1</r></x><b><r>2</r></b><b><c><r>3</r></c></b></a>`
    expect((await sameInEveryWindow(text, 'a/b/r')).records).toEqual(['record 1, byte 21: <r>2</r>'])
  })

  test('an oversized record is given as broken, and the ones after it whole', async () => {
    const long = `<Listing><t>${'long '.repeat(40)}</t><Listing><![CDATA[</Listing>]]></Listing></Listing>`
    const text = `<Listings><Listing>1</Listing>${long}<Listing>3</Listing></Listings>`
    const { records, reasons } = await sameInEveryWindow(text, 'Listings/Listing', 100)
    expect(records.map((record) => record.split(': ')[1])).toEqual(['<Listing>1</Listing>', '', '<Listing>3</Listing>'])
    expect(reasons).toEqual([])
    const parsed = await read(xml, text, { ...options, maxRecordBytes: 100 })
    expect(parsed.records[1]).toBe('the record is longer than 100 bytes (maxRecordBytes)')
  })

  test.each([
    '<! ',
    '<Listing a="',
    `="<Listing>`,
    `<x a='</Listing>'/>`,
    '<?',
    '<!--',
    '<![CDATA[',
    '</Listing',
    '="',
    '<a ',
  ])('a long record of %s takes time in proportion', async (piece) => {
    const time = async (length: number) => {
      const before = processorTime()
      await read(xml, `<Listings><Listing>="${piece.repeat(length / piece.length)}`, {
        ...options,
        maxRecordBytes: 4e6,
      })
      return processorTime() - before
    }
    await time(100_000)
    // Sixteen times the length: quadratic time would be 256 times as long. What others do in this process may come upon one.
    const most = 64 * Math.max(await time(200_000), 10)
    let least = Infinity
    for (let attempt = 0; attempt < 4 && least >= most; attempt++) least = Math.min(least, await time(3_200_000))
    expect(least).toBeLessThan(most)
  })

  test('damaged documents are cut alike in every window', async () => {
    const seed = 4711
    const random = randomFrom(seed)
    for (let round = 0; round < 1500; round++) {
      const text = mutated(Buffer.from(document), random).toString('latin1')
      const outcome = (size: number) => split(text, size).catch((error: unknown) => String(error))
      const size = 1 + Math.floor(random() * 40)
      expect(await outcome(size), `seed ${seed}, round ${round}, windows of ${size}: ${text}`).toEqual(
        await outcome(100_000),
      )
    }
  })
})

describe("the root's own count", () => {
  const counted = { ...options, counter: '@count' }
  const record = '<Listing>1</Listing>'

  test.each([
    [`<Listings count="2">${record}${record}</Listings>`, []],
    [`<Listings xml:count="7" note='count="9"' count = ' 1 '>${record}</Listings>`, []],
    [`<Listings>${record}</Listings>`, []],
    [`<Listings count=""><Part count="3"/>${record}</Listings>`, []],
    [`<Listings count="3">${record}</Listings>`, ["the root's count is 3, but the document holds 1 record"]],
    [`<Listings count="0">${record}</Listings>`, ["the root's count is 0, but the document holds 1 record"]],
    [`<Listings count="many">${record}</Listings>`, ["the root's count is not a number of records"]],
  ])('%s', async (text, reasons) => {
    for (const size of [1, 7, 1000]) expect((await read(xml, text, counted, size)).reasons).toEqual(reasons)
  })

  test('is read only where the format has one', async () => {
    expect((await read(xml, `<Listings count="3">${record}</Listings>`, options)).reasons).toEqual([])
  })

  test.each([
    [`<n:Head><n:Total> 2 </n:Total></n:Head>${record}`, 'Listings/Head/Total', 2],
    [`${record}<Head><Total>2<x/></Total><Total>1</Total></Head>`, 'Listings/Head/Total', 2],
    [`<Head total="2"/>${record}`, 'Listings/Head/@total', 2],
    [`<Head><Total>1</Total></Head>${record}`, 'Listings/Head/Total', null],
    [`<Other><Total>7</Total></Other>${record}`, 'Listings/Head/Total', null],
  ])('may be an element, or an attribute of another: %s', async (content, counter, said) => {
    const reasons = said === null ? [] : [`${counter} is ${said}, but the document holds 1 record`]
    for (const size of [1, 7, 1000])
      expect((await read(xml, `<Listings>${content}</Listings>`, { ...options, counter }, size)).reasons).toEqual(
        reasons,
      )
  })
})

describe('records in several places', () => {
  const places = { record: ['list/sales/sale', 'list/rents/rent|let'] }
  const document =
    '<list><sales><sale>1</sale><rent>2</rent></sales><rents><rent>3</rent><sale>4</sale><let/></rents></list>'

  test.each([1, 5, 1000])('each is found, and says its name, in chunks of %i', async (size) => {
    const { records, reasons } = await read(xml, document, places, size)
    expect(records).toEqual([
      { '#text': '1', '@@name': 'sale' },
      { '#text': '3', '@@name': 'rent' },
      { '@@name': 'let' },
    ])
    expect(reasons).toEqual([])
  })

  test('a cut document is never whole', async () => {
    for (let length = 1; length < document.length; length++) {
      const { reasons } = await read(xml, document.slice(0, length), places)
      expect(reasons.length, `cut after ${length}`).toBeGreaterThan(0)
    }
  })
})

describe('values around records', () => {
  const around = { record: 'file/part/home', around: { kind: 'file/part/@kind', deal: 'file/part/@deal' } }
  const document =
    '<file><part kind="house" deal="sale"><home/><x kind="y"/><home/></part><part kind="flat"><home/></part><part/></file>'

  test.each([1, 9, 1000])('hold until their element closes, in chunks of %i', async (size) => {
    const house = { '@@kind': 'house', '@@deal': 'sale' }
    expect((await read(xml, document, around, size)).records).toEqual([house, house, { '@@kind': 'flat' }])
  })

  const elements = {
    record: 'file/part/home',
    around: { currency: 'file/head/currency', street: 'file/part/place/address/street', town: 'file/part/town' },
  }
  const withElements = (last = '') =>
    '<f:file><head><currency>EUR</currency></head><part><x><street>no</street></x><place><address><f:street a="1">High &amp; <![CDATA[Low]]></f:street>' +
    '<street>second</street></address></place><home/><home/></part><part><town> Springfield </town><town/>' +
    `<home/>${last}</part><other><home/></other></f:file>`

  test.each([1, 9, 1000])(
    'are elements before the record, while those are open that hold both, in chunks of %i',
    async (size) => {
      const first = { '@@currency': 'EUR', '@@street': 'High & Low' }
      const { records, reasons } = await read(xml, withElements(), elements, size)
      expect(records).toEqual([first, first, { '@@currency': 'EUR', '@@town': 'Springfield' }])
      expect(reasons).toEqual([])
    },
  )

  test('that stand after a record, can not be read, or are endless, make the document incomplete', async () => {
    const late = await read(xml, withElements('<place><address><street>late</street></address></place>'), elements)
    expect(late.reasons).toEqual([expect.stringContaining('stands after a record that it is for')])
    // The records behind it have neither, as nobody knows which is theirs; the same once more is no matter.
    const again = withElements().replace(
      '<home/><home/>',
      '<home/><place><address><street>other</street></address></place><home/>',
    )
    const twice = await read(xml, again, elements)
    expect(twice.records.slice(0, 2)).toEqual([
      { '@@currency': 'EUR', '@@street': 'High & Low' },
      { '@@currency': 'EUR' },
    ])
    expect(twice.reasons).toEqual([expect.stringContaining('stands after a record that it is for')])
    const same = await read(xml, again.replace('other', 'High &amp; Low'), elements)
    expect(same.records.slice(0, 2)).toEqual([twice.records[0], twice.records[0]])
    expect(same.reasons).toEqual([])
    const long = withElements().replace('Springfield', 'x'.repeat(70_000))
    expect((await read(xml, long, elements, 1000)).reasons).toEqual([
      expect.stringContaining('longer than 65536 bytes'),
    ])
    const broken = withElements().replace('Springfield', '<#x/>')
    expect((await read(xml, broken, elements)).reasons).toEqual([
      expect.stringContaining("under around or parts can't be read: "),
    ])
    const problem = (path: string) =>
      xml.options().safeParse({ record: 'file/part/home', around: { x: path } }).error?.issues[0].message
    expect(problem('file/part')).toMatch(/contains them$/)
    expect(problem('file/part/home')).toMatch(/is a record/)
    expect(problem('feed/town')).toMatch(/in another document/)
    expect(problem('file/head/currency')).toBeUndefined()
  })

  test('parts are no fields of a record: none that walks through it pays for all of them', async () => {
    const more = { record: 'file/part/home', parts: { town: { at: 'file/part/town', key: '.', by: 'town' } } }
    const { records } = await read(xml, withElements(), more)
    expect(records.map((record) => Object.keys(record))).toEqual([[], [], ['@@town:hash']])
    expect(Reflect.get(records[2] as object, '@@town:all')).toEqual([{ '#text': ' Springfield ' }])
  })

  test('are part of what a record says', async () => {
    const usual = { encoding: null, charset: null, maxRecordBytes: 1000, lengthProven: () => true }
    const reading = xml.read(inChunks(Buffer.from(document), 1000), { ...usual, ...around })
    const found = []
    for await (const batch of reading.records) found.push(...batch)
    const [first, second, third] = found
    expect(first.outside).toBe(second.outside)
    expect(third.outside).not.toBe(first.outside)
  })

  test('header and around are not for one another', () => {
    const said = (more: object) => xml.options().safeParse({ record: around.record, ...more }).error?.issues[0].message
    expect(said({ header: { kind: 'file/part/@kind' } })).toMatch(/write it under around$/)
    expect(said({ around: { kind: 'file/head/@kind' } })).toMatch(/write it under header$/)
    expect(said({ around: { kind: 'file/part/@kind' }, header: { kind: 'file/@kind' } })).toMatch(
      /name that header has/,
    )
  })
})

describe('what makes a document doubtful', () => {
  test.each([
    ['<Listings><Listing>1</Listing>', /ends before <Listings> is closed/],
    ['<Listings><Listing>1</List', /ends in the middle of record 1/],
    ['<Listings><Listing>1</Listing></Listings><Listings></Listings>', /second root/],
    ['<Listings></Listings> and more', /text after the root/],
    ['<Listings><a><b></a></Listings>', /<b> is not closed before <\/a>/],
    ['<Listings></a></Listings>', /<\/a> closes nothing/],
    ['<Listings><!-- ', /middle of a comment/],
    ['<?xml version="1.0"?>', /before its root/],
  ])('%s', async (text, reason) => {
    expect((await read(xml, text, options)).reasons).toEqual(expect.arrayContaining([expect.stringMatching(reason)]))
  })

  test.each([
    [
      '<Results password="secret"><Listing/></Results>',
      "the document's root element is <Results>, expected <Listings>",
    ],
    [
      '<!DOCTYPE Listings [<!ENTITY a "b">]><Listings/>',
      'the document declares entities of its own in its DOCTYPE, which is not accepted',
    ],
    [
      '<!DOCTYPE html>\n<html lang="en"><head><title>Sign in to\u0007 Northwind</title></head></html>',
      `the document is an HTML page ("Sign in to Northwind"), such as a log-in or an error page in the feed's place; check address, user and password of the source`,
    ],
    [
      '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd"><html><head><title>Away</title></head></html>',
      `the document is an HTML page ("Away"), such as a log-in or an error page in the feed's place; check address, user and password of the source`,
    ],
    [
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>Away</body></html>',
      `the document is an HTML page, such as a log-in or an error page in the feed's place; check address, user and password of the source`,
    ],
    [
      'Service unavailable',
      'the document is not XML: it does not begin with an element; `listing-sync check` names the preset that fits',
    ],
  ])('%s is refused', async (text, message) => {
    await expect(read(xml, text, options)).rejects.toThrow(new FeedError(message))
  })

  test('an external DOCTYPE, white space and comments after the root are no matter', async () => {
    const text = `<!DOCTYPE Listings SYSTEM "http://example.com/l.dtd"><Listings></Listings>\n<!-- end -->\n<?x?>`
    expect((await read(xml, text, options)).reasons).toEqual([])
  })
})

describe('what a record parses to', () => {
  test('text is text: numbers, blanks and repeated elements stay as they are', async () => {
    expect(await one('<Listing n="1e5"><Zip>02134</Zip><P> 1.50 </P><I>a</I><I/><I> b</I><E></E></Listing>')).toEqual({
      '@n': '1e5',
      Zip: '02134',
      P: ' 1.50 ',
      I: ['a', '', ' b'],
      E: '',
    })
  })

  test('entities, halves of a pair, characters that are none, controls', async () => {
    const text = '&eacute;&#233;&#xE9; &amp;lt; Q&A &#55357;&#56842; &#xD83D; &#x110000;&#1;\u0001 &nbsp;&unknown;'
    expect(await one(`<Listing><a b="&quot;&#39;">${text}</a></Listing>`)).toEqual({
      a: { '@b': `"'`, '#text': 'ééé &lt; Q&A 😊 \ufffd \ufffd \u00a0&unknown;' },
    })
  })

  test('CDATA is kept as it is, mixed with text', async () => {
    expect(await one('<Listing><a> x <![CDATA[ <b> &amp; ]]> y </a></Listing>')).toEqual({ a: ' x  <b> &amp;  y ' })
  })

  test('prefixes stay; unsafe names are left out', async () => {
    const record = await one(
      '<Listing><c:City>A</c:City><__proto__><x>1</x></__proto__><constructor>1</constructor><toString>t</toString></Listing>',
    )
    expect(Object.getPrototypeOf(record)).toBe(null)
    expect(Object.keys(record ?? {})).toEqual(['c:City', 'toString'])
  })

  test.each([
    ['<Listing><a><b></a></b></Listing>', /<b> is closed by <\/a>/],
    ['<Listing>1 < 2</Listing>', /begins no tag/],
    ['<Listing><a b"c>1</a></Listing>', /quote that belongs to no attribute/],
    ['<Listing id="SAL</contact>E-10"><a>1</a></Listing>', /attribute's value holds a tag/],
    ['<Listing><a <b>1</b></Listing>', /"<" within a tag/],
    ['<Listing><a><![CDATA[x</a></Listing><Listing><a><![CDATA[y]]></a></Listing>', /runs over <\/Listing>/],
    [`<Listing>${'<a>'.repeat(70)}${'</a>'.repeat(70)}</Listing>`, /nested deeper/],
    ['<Listing><!ELEMENT a></Listing>', /neither comment nor CDATA/],
  ])('%s is a broken record', async (record, problem) => {
    expect(await one(record)).toMatch(problem)
  })

  test('a record in another encoding than declared is read by the configured one', async () => {
    const bytes = Buffer.from(
      '<?xml version="1.0" encoding="UTF-8"?><Listings><Listing><C>Jos\u00e9\u0092s</C></Listing></Listings>',
      'latin1',
    )
    expect((await read(xml, bytes, { ...options, encoding: 'windows-1252' })).records).toEqual([{ C: 'José’s' }])
  })

  test('a header in another encoding than declared says nothing, and its records are read', async () => {
    const text =
      '<?xml version="1.0" encoding="UTF-8"?><Listings at="caf\u00e9"><Listing><C>Here</C></Listing></Listings>'
    const header = { at: 'Listings/@at' }
    const { records } = await read(xml, Buffer.from(text, 'latin1'), { ...options, header, written: 'Listings/@at' })
    expect(records).toEqual([{ C: 'Here' }])
  })

  test('a declaration that is no UTF-8 is followed', async () => {
    const bytes = Buffer.from(
      '<?xml version="1.0" encoding="iso-8859-2"?><Listings><Listing><C>\u00a3\u00f3d\u00bc</C></Listing></Listings>',
      'latin1',
    )
    expect((await read(xml, bytes, options)).records).toEqual([{ C: 'Łódź' }])
  })
})
