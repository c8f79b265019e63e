/** The map of formats: each keeps the contract, and a new one needs only its file and its line. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { decoded } from '../../../src/feed/format/encoding.ts'
import { refuseOthers } from '../../../src/feed/format/foreign.ts'
import { RecordError } from '../../../src/feed/format/format.ts'
import type { Format, RawRecord, ReadOptions, Reading, RecordFields } from '../../../src/feed/format/format.ts'
import { formats, kindOf } from '../../../src/feed/format/formats.ts'
import { formatContract } from '../../contract/format.ts'
import type { FormatCase } from '../../contract/format.ts'

const options = () => z.object({ opening: z.string().length(1).describe('The mark that a block begins with.') })
type BlockOptions = z.output<ReturnType<typeof options>>

/** Blocks of lines such as `City = Springfield`, between a mark and a dot; then `the end`. As its file would export it. */
const blocks: Format<BlockOptions> = {
  title: 'blocks',
  hasEndMark: true,
  nested: false,
  options,
  detect(head) {
    const opening = /^(\W)\n\w+ = .*\n/.exec(head.toString('latin1'))?.[1]
    return opening === undefined ? null : { options: { opening } }
  },
  read: readBlocks,
}

function readBlocks(bytes: AsyncIterable<Buffer>, options: ReadOptions & BlockOptions): Reading {
  const source = decoded(bytes, options)
  const reasons: string[] = []
  async function* records(): AsyncGenerator<RawRecord[]> {
    let rest = ''
    let count = 0
    for await (const block of source.blocks()) {
      rest += block.toString('latin1')
      if (count === 0) refuseOthers(Buffer.from(rest), 'blocks', ['an HTML page', 'XML', 'JSON'])
      const whole = rest.split('\n.\n')
      rest = whole.pop() ?? ''
      const batch = whole.map((raw) => ({ at: `block ${++count}`, raw: Buffer.from(raw, 'latin1') }))
      if (batch.length > 0) yield batch
    }
    if (rest.trim() !== 'the end') reasons.push(`the document is ${rest === '' && count === 0 ? 'empty' : 'cut off'}`)
  }
  return {
    records: records(),
    context: () => '',
    end: () => ({ reasons }),
    parse({ raw }): RecordFields {
      const [mark, ...lines] = source.text(raw).split('\n')
      if (mark !== options.opening) throw new RecordError(`the block does not begin with ${options.opening}`)
      const fields: RecordFields = Object.create(null)
      for (const line of lines) fields[line.split(' = ')[0]] = line.split(' = ')[1] ?? ''
      return fields
    },
  }
}

formats.blocks = blocks
const blocksOf = (...records: string[]): string => records.map((lines) => `~\n${lines}\n.\n`).join('') + 'the end\n'
// What is offered is read from the map when the preset language is loaded.
const { RunWorld } = await import('../../support/run-world.ts')
const { loadPreset } = await import('../../../src/feed/mapping/load-preset.ts')
const { inspectSource } = await import('../../../src/app/inspect.ts')

/** A document of each format, or several. */
const cases: Record<string, readonly Omit<FormatCase, 'name' | 'format'>[]> = {
  xml: [
    {
      options: { record: 'Listings/Listing' },
      document: `<?xml version="1.0"?>
<!-- <Listings> --><Listings key="a>b">>
  <Listing id='1 > "2"'><City>Málaga</City><Listing>inner</Listing></Listing>
  <Note><![CDATA[</Listings><Listing>]]></Note><!-- <Listing> -->
  <Listing><Text><![CDATA[a </Listings> <b>]]> &amp; c</Text><!-- </Listing> --><?x </Listing> ?><V a="1/"/></Listing>
  <Listing/>
</Listings>
`,
      expected: [
        { '@id': '1 > "2"', City: 'Málaga', Listing: 'inner' },
        { Text: 'a </Listings> <b> & c', V: { '@a': '1/' } },
        {},
      ],
      wholeAt: (bytes) => bytes.toString().trimEnd().endsWith('</Listings>') && bytes.toString().includes('<Listing/>'),
    },
  ],
  csv: [
    {
      options: { requiredHeaders: ['MLS Number', 'mls'] },
      document: `MLS#,CITY ,"Re""marks",
"In accordance with local MLS rules, some are left out"
M1,Málaga,"3 beds, ""new""\r
roof",x\r

M2,,10' x 12" deck,
`,
      expected: [
        { 'MLS#': 'M1', CITY: 'Málaga', 'Re"marks': '3 beds, "new"\r\nroof' },
        { 'MLS#': 'M2', CITY: '', 'Re"marks': `10' x 12" deck` },
      ],
      // A cut after a complete row only shows by the transport's proof of length or by a count.
      wholeAt: (bytes) => bytes.toString().endsWith('\n') && !bytes.toString().endsWith('""new""\r\n'),
    },
    {
      options: { delimiter: '!#', columns: 3 },
      document: `"A1"!#"vente"!#"Beau 3" d'angle"!#"x"\r\n"A2" !# "loc 'a'" !# ""\r\nA3!##!#Été\r\n`,
      expected: [
        { 1: 'A1', 2: 'vente', 3: `Beau 3" d'angle`, 4: 'x' },
        { 1: 'A2', 2: "loc 'a'", 3: '' },
        { 1: 'A3', 2: '#', 3: 'Été' },
      ],
      wholeAt: (bytes) => bytes.toString().endsWith('\n'),
    },
  ],
  'rets-compact': [
    {
      options: {},
      document: `<RETS ReplyCode="0" ReplyText="Success">\r
<COUNT Records="2"/>
<DELIMITER value="09"/>
<COLUMNS>\tId\tCity\t</COLUMNS>
<DATA>\tA1\tMálaga\t</DATA>
<DATA>\tA2\t&lt;x&gt; &amp; y\t</DATA>
</RETS>
`,
      expected: [
        { Id: 'A1', City: 'Málaga' },
        { Id: 'A2', City: '<x> & y' },
      ],
      wholeAt: (bytes) => bytes.toString().trimEnd().endsWith('</RETS>'),
    },
  ],
  blm: [
    {
      options: {},
      document: `#HEADER#\nVERSION : 3\nEOF : '|'\nEOR : '~'\nProperty Count : 2\n\n#DEFINITION#\nID|CITY|TEXT|~\n\n#DATA#
A1|Málaga|two\nlines|~\nA2||x "y"|~\n#END#\n`,
      expected: [
        { ID: 'A1', CITY: 'Málaga', TEXT: 'two\nlines' },
        { ID: 'A2', CITY: '', TEXT: 'x "y"' },
      ],
      wholeAt: (bytes) => bytes.toString().trimEnd().endsWith('#END#'),
    },
  ],
  json: [
    {
      options: { record: 'value', counter: '@odata.count', nextPage: '@odata.nextLink' },
      document: `{"@odata.context": "a, \\"b\\"", "@odata.count": 3, "error": null, "none": [[], {}, -1.5e3, true],
 "value": [
  {"Id": "A}1", "City": "Málaga", "Text": "\\\\", "Media": [{"Order": 2.50, "Url": "\\"]}"}, {"Order": "1"}], "Levels": []},
  {"Id": 12345678901234567890, "Pool": false, "Rooms": null, "Appliances": ["Oven", "Hob"], "@@name": "x"} , {}
 ], "@odata.nextLink": ""}
`,
      expected: [
        { Id: 'A}1', City: 'Málaga', Text: '\\', Media: [{ Order: '2.5', Url: '"]}' }, { Order: '1' }] },
        { Id: '12345678901234567890', Pool: 'false', Appliances: ['Oven', 'Hob'] },
        {},
      ],
      wholeAt: (bytes) => bytes.toString().trimEnd().endsWith('""}'),
    },
    {
      options: { record: ['value', '.'] },
      document: `{"@reso.context": "urn:x", "Id": "A1", "City": "Málaga", "Media": [{"Url": "x"}]}`,
      expected: [{ '@reso.context': 'urn:x', Id: 'A1', City: 'Málaga', Media: { Url: 'x' } }],
      wholeAt: (bytes) => bytes.toString().endsWith('}]}'),
    },
    {
      options: { record: '.' },
      document: `[{"Id": "A1", "City": "Málaga"}, {"Id": "A2"}]`,
      expected: [{ Id: 'A1', City: 'Málaga' }, { Id: 'A2' }],
      wholeAt: (bytes) => bytes.toString().endsWith(']'),
    },
  ],
  ndjson: [
    {
      options: {},
      document: `{"Id": "A1", "City": "Málaga"}\r\n\n{"Id": "A2", "Text": "a\\nb"}\n`,
      expected: [
        { Id: 'A1', City: 'Málaga' },
        { Id: 'A2', Text: 'a\nb' },
      ],
      wholeAt: (bytes) => bytes.toString().endsWith('\n'),
    },
  ],
  blocks: [
    {
      options: { opening: '~' },
      document: blocksOf('Id = A1\nCity = Málaga', 'Id = A2'),
      expected: [{ Id: 'A1', City: 'Málaga' }, { Id: 'A2' }],
      wholeAt: (bytes) => bytes.toString().trimEnd().endsWith('\nthe end'),
    },
  ],
}

test('every format of the map is under the contract', () => {
  expect(Object.keys(cases).toSorted()).toEqual(Object.keys(formats).toSorted())
})
for (const [name, documents] of Object.entries(cases))
  for (const [index, one] of documents.entries())
    formatContract({ name: index === 0 ? name : `${name} ${index + 1}`, format: formats[name], ...one })

describe('what a document is', () => {
  const told = (text: string) => kindOf(Buffer.from(text), { encoding: null, charset: null }, []).format

  test.each(Object.entries(cases).flatMap(([name, [{ document }]]) => [[name, document] as const]))(
    '%s',
    (name, text) => {
      expect(told(text)).toBe(name)
    },
  )

  test('of several that take it the last of the map is meant', () => {
    expect(told('<RETS ReplyCode="0"><REData><Listing/></REData></RETS>')).toBe('xml')
    expect(told('<RETS ReplyCode="0"><COLUMNS>\ta,b\t</COLUMNS></RETS>')).toBe('rets-compact')
    expect(told('<a b="1,2"/>')).toBe('xml')
    expect(told('a = 1,2\n')).toBe('csv')
    expect(told('~\na = 1,2\n')).toBe('blocks')
  })

  test('one that is none is told what there is', () => {
    expect(() => told('a word\n')).toThrow(
      /plain text.*; a feed of listings is XML, CSV, RETS COMPACT, BLM, JSON, NDJSON or blocks$/,
    )
  })
})

describe('a format of its own, by its line in the map alone', () => {
  const constants = Object.entries({
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'Condo',
    Url: 'https://homes.example/1',
    AreaUnit: 'Square Feet',
  }).map(([field, value]) => `${field}: { value: "${value}" }`)
  const numbers = ['Bathrooms', 'YearBuilt', 'DaysOnMarket', 'LotArea', 'BuildingArea', 'ParkingSpots']
  const preset = (more = 'opening: "~"') => `
name: of-blocks
title: Blocks
format: blocks
${more}
delivery: full
numbers: { decimal: '.', group: ',' }
fields: { MLSNumber: Id, City: City, Bedrooms: Beds, ${[...constants, ...numbers.map((name) => `${name}: { value: 0 }`)].join(', ')} }
`

  test('is read by a preset, and its listings reach the service', async () => {
    const world = await RunWorld.start({ feeds: { north: { source: './north.txt', preset: './of-blocks.yaml' } } })
    try {
      writeFileSync(join(world.folder, 'of-blocks.yaml'), preset())
      world.deliver(blocksOf('Id = A1\nCity = Málaga\nBeds = 2', 'Id = A2\nBeds = 3'), 'north.txt')
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
      expect(world.listing('A1')).toMatchObject({ City: 'Málaga', Bedrooms: 2 })
      world.deliver(blocksOf('Id = A1\nCity = Málaga\nBeds = 2').replace('the end', ''), 'north.txt')
      expect(await world.run()).toMatchObject({ delivery: { complete: false, reasons: ['the document is cut off'] } })
      expect(world.listings()).toHaveLength(2)

      const { findings } = await inspectSource(world.context, 'north', { preset: undefined, limit: null })
      expect(findings.document).toMatchObject({ format: 'blocks', records: 1, dialect: null, record: null })
      expect(findings.fields.map(({ path, usedFor }) => [path, usedFor])).toContainEqual(['Beds', ['Bedrooms']])
    } finally {
      await world.end()
    }
  })

  test.each([
    ['', 'opening: is missing'],
    ['opening: "~~"', 'opening: '],
    ['openning: "~"', 'openning: unknown key; did you mean "opening"?'],
    ['opening: "~"\ndelimiter: ";"', 'delimiter: is for CSV only'],
  ])('its preset is checked by it: %j', (more, problem) => {
    expect(() => loadPreset(preset(more), 'of-blocks.yaml')).toThrow(problem)
  })

  test('its keys are not for the others', () => {
    const table = preset('opening: "~"').replace('format: blocks', 'format: csv')
    expect(() => loadPreset(table, 'table.yaml')).toThrow('opening: is for blocks only')
    expect(() => loadPreset(preset().replace('format: blocks', 'format: block'), 'a.yaml')).toThrow(
      'format: unknown word "block"; did you mean "blocks"?',
    )
  })
})
