import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import { compareKeys } from '../../../src/core/listing.ts'
import type { Delivered } from '../../../src/core/listing.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'
import type { Moment } from '../../../src/feed/mapping/mapping.ts'
import { rowPaths } from '../../../src/feed/mapping/path-row.ts'
import { elementPaths } from '../../../src/feed/mapping/path.ts'
import { mappingOptionsSchema } from '../../../src/feed/mapping/preset.ts'
import type { MappingOptions } from '../../../src/feed/mapping/preset.ts'
import { inChunks } from '../../contract/format.ts'
import { startFeedServer } from '../../runs/feed-server.ts'
import { RunWorld } from '../../support/run-world.ts'
import { readingOf } from '../../support/reading.ts'

/* What presets of other countries need of the language: headers, stubs, currencies, JSON in cells. */
const moment: Moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'Australia/Melbourne' }

const constants = {
  SaleType: { value: 'for_sale' },
  Status: { value: 'Active' },
  CurrencySymbol: { value: '$' },
  PropertyType: { value: 'Condo' },
  Url: { value: 'https://homes.example/1' },
  AreaUnit: { value: 'Square Feet' },
  ...Object.fromEntries(
    ['Bedrooms', 'Bathrooms', 'YearBuilt', 'DaysOnMarket', 'LotArea', 'BuildingArea', 'ParkingSpots'].map((name) => [
      name,
      { value: 0 },
    ]),
  ),
}

/** A preset whose records need an id only; `more` is laid over it. JSON is YAML. */
function preset(more: Record<string, unknown>, fields: Record<string, unknown> = {}) {
  const base = { name: 'test', title: 'Test', format: 'xml', record: 'list/home', delivery: 'delta' }
  const numbers = { decimal: '.', group: ',' }
  return loadPreset(
    JSON.stringify({ ...base, numbers, fields: { MLSNumber: 'id', ...constants, ...fields }, ...more }),
    'test.yaml',
  )
}

async function read(text: string, given: ReturnType<typeof preset>, options: MappingOptions = {}, size = 1 << 16) {
  const mapping = createMapping(given, options)
  const reading = readingOf(mapping, inChunks(Buffer.from(text), size), { maxRecordBytes: 10_000 })
  const found: Delivered[] = []
  for await (const batch of reading.records) {
    for (const record of batch) found.push(...mapping.normalise(reading.parse(record), record.at, moment))
  }
  return {
    found,
    context: reading.context(),
    delivery: mapping.deliveryOf?.(reading.says?.() ?? {}) ?? mapping.delivery,
  }
}

async function listing(body: string, fields: Record<string, unknown>, extension: Record<string, unknown> = {}) {
  const { found } = await read(`<list><home><id>A</id>${body}</home></list>`, preset({ extension }, fields))
  if (found[0].kind !== 'listing') throw new Error(`no listing: ${JSON.stringify(found[0])}`)
  return found[0]
}

describe('what the document says of itself', () => {
  const header = { scope: 'list/sent/@scope', mode: 'list/sent/@mode' }
  const given = preset({
    header,
    deliveryFrom: { header: 'scope', full: ['VOLL'], delta: ['TEIL'] },
    removeWhen: [{ flag: { from: '@@mode', equals: ['DELETE'] }, why: 'the file is one of deletions' }],
  })
  const file = (sent: string) => `<list>${sent}<home><id>A</id></home></list>`

  it.each([
    ['<sent scope="VOLL"/>', 'full'],
    ["<f:sent other='>' scope='voll' >text</f:sent>", 'full'],
    ['<sent scope="TEIL"/>', 'delta'],
    ['<sent scope="?"/>', 'delta'],
    ['<sent/>', 'delta'],
    ['', 'delta'],
    ['<sent scope="VOLL"/><sent scope="TEIL"/>', 'full'],
    ['<other><sent scope="VOLL"/></other>', 'delta'],
  ])('%s is %s', async (sent, delivery) => {
    expect((await read(file(sent), given)).delivery).toBe(delivery)
  })

  it('gives every record the header, in windows of any size, and makes it part of the context', async () => {
    const whole = file('<sent scope="VOLL" mode="DELETE"/>')
    for (let size = 1; size < whole.length; size++) {
      const { found, context } = await read(whole, given, {}, size)
      expect(found).toMatchObject([{ kind: 'removal', mlsNumber: 'A', why: 'the file is one of deletions' }])
      expect(context).toContain('DELETE')
    }
    expect((await read(file(''), given)).context).toBe('')
  })

  it('does not take a header from behind the first record, which was read without it', async () => {
    const { found, context, delivery } = await read(
      '<list><home><id>A</id></home><sent scope="VOLL" mode="DELETE"/><home><id>B</id></home></list>',
      given,
    )
    expect(found.map(({ kind }) => kind)).toEqual(['listing', 'listing'])
    expect({ context, delivery }).toEqual({ context: '', delivery: 'delta' })
  })

  it("obeys the feed's own word before the file's", async () => {
    expect((await read(file('<sent scope="VOLL"/>'), given, { delivery: 'delta' })).delivery).toBe('delta')
    expect((await read(file('<sent scope="TEIL"/>'), given, { delivery: 'full' })).delivery).toBe('full')
  })

  it('names what is wrong in a preset', () => {
    const problems = (more: Record<string, unknown>): string[] => {
      try {
        preset(more)
      } catch (error) {
        if (error instanceof ConfigError) return error.problems
        throw error
      }
      return []
    }
    expect(problems({ deliveryFrom: { header: 'scop', full: ['A'], delta: ['B'] }, header })).toEqual([
      'deliveryFrom.header: there is no "scop" in header or around',
    ])
    expect(problems({ header: { scope: 'list/sent' } }).join()).toContain('header.scope: a path from the root')
    expect(problems({ header: { name: 'list/@x' } }).join()).toContain('not "name"')
  })
})

describe('records of several names', () => {
  it('have their own name, without its prefix, beside their fields', async () => {
    const given = preset({ record: 'list/house|flat', extension: { Kind: '@@name' } })
    const { found } = await read('<list><house><id>A</id></house><x:flat a="1"><id>B</id></x:flat></list>', given)
    expect(found).toMatchObject([
      { listing: { ExtensionColumn: [{ Key: 'Kind', value: 'house' }] } },
      { listing: { ExtensionColumn: [{ Key: 'Kind', value: 'flat' }] } },
    ])
  })
})

describe('stubs', () => {
  it('name fields and columns that have rules', () => {
    const wrong = { fields: { SalePrise: 'price', MLSNumber: 'id', City: 'city' }, extension: { View: 'view' } }
    expect(() => preset({ stub: { without: ['address'], ...wrong } })).toThrow(
      /SalePrise.*did you mean SalePrice[^]*MLSNumber: it identifies[^]*City: the field has no rule[^]*View: there is no such column/,
    )
  })

  const given = preset(
    { stub: { without: ['address'] }, statuses: { sold: 'Sold', gone: 'remove' } },
    { Status: '@status' },
  )

  it('remove, and are never filled up with defaults', async () => {
    const home = (id: string, status: string, more: string) => `<home status="${status}"><id>${id}</id>${more}</home>`
    const { found } = await read(
      `<list>${home('A', 'gone', '')}${home('B', 'sold', '')}${home('C', 'sold', '<address display="yes"><street/></address>')}${home('D', 'sold', '<address><street>1 Main St</street></address>')}</list>`,
      given,
      { defaults: { Bedrooms: 3 } },
    )
    const reject = {
      kind: 'reject',
      problems: [{ field: 'record', value: 'Sold', problem: expect.stringContaining('partial record') }],
    }
    expect(found).toMatchObject([
      { kind: 'removal', mlsNumber: 'A' },
      { ...reject, mlsNumber: 'B' },
      { ...reject, mlsNumber: 'C' },
      { kind: 'listing', listing: { MLSNumber: 'D', Status: 'Sold' } },
    ])
  })
})

describe('values', () => {
  it.each([
    ['EUR', '€'],
    ['485000 USD', '$'],
    ['$1,200', '$'],
    ['CA$ 1,200', 'CA$'],
    ['from 500 eur', '€'],
    ['Kr', 'kr.'],
  ])('the currency of %s is %s', async (text, symbol) => {
    const rule = { from: 'price', as: 'currency', choices: { Kr: 'kr.' } }
    expect((await listing(`<price>${text}</price>`, { CurrencySymbol: rule })).listing.CurrencySymbol).toBe(symbol)
  })

  it('a bare or hidden amount has no currency, an unknown word is a problem', async () => {
    const given = preset({}, { CurrencySymbol: { from: 'price', as: 'currency' } })
    const problem = async (text: string) => {
      const { found } = await read(`<list><home><id>A</id><price>${text}</price></home></list>`, given)
      return found[0].kind === 'reject' ? found[0].problems[0].problem : 'listing'
    }
    expect(await problem('485,000')).toContain('is missing')
    expect(await problem('POA')).toContain('is missing')
    expect(await problem('500 DEM')).toContain('needs a currency')
  })

  it('words stand for numbers where the rule says so', async () => {
    const rule = { from: 'beds', choices: { Studio: '0', no: '0' }, missing: ['yes'] }
    expect((await listing('<beds>STUDIO</beds>', { Bedrooms: rule })).listing.Bedrooms).toBe(0)
    expect((await listing('<beds>3</beds>', { Bedrooms: rule })).listing.Bedrooms).toBe(3)
    expect((await listing('<beds>yes</beds>', { Bedrooms: [rule, { value: 7 }] })).listing.Bedrooms).toBe(7)
    expect(() => preset({}, { Bedrooms: { from: 'beds', choices: { Studio: 'none' } } })).toThrow(/no number/)
  })

  it('flags leave out the children of except', async () => {
    const rule = { from: 'features', as: 'flags', except: ['bedrooms'] }
    const { listing: found } = await listing(
      '<features><bedrooms>1</bedrooms><pool>yes</pool><spa>no</spa></features>',
      {},
      { F: rule },
    )
    expect(found.ExtensionColumn).toEqual([{ Key: 'F', value: 'pool' }])
  })

  it.each([
    ['28-Nov-2026 11:00am to 1:30pm', '2026-11-28T02:30:00.000Z'],
    ['28-Nov-2026 11:00am', '2026-11-28T13:00:00.000Z'],
  ])('an open house in one text: %s', async (text, until) => {
    const house = { date: 'open', separator: ' to ', formats: ['D-MMM-YYYY h:mmA'] }
    const { moving } = await listing(`<open>${text}</open>`, { Tours: { as: 'tours', openHouses: [house] } })
    expect(new Date(moving.openHouseUntil ?? 0).toISOString()).toBe(until)
  })

  it('a hidden street is taken out of the texts that name it', async () => {
    const given = preset(
      { hideAddress: [{ from: 'street/@hide', is: true }] },
      { Address: 'street', Description: 'text', Location: 'area' },
    )
    const home = (street: string, text: string, area: string) =>
      `<list><home><id>A</id><street hide="true">${street}</street><text>${text}</text><area>${area}</area></home></list>`
    const hidden = async (...parts: [string, string, string]) => (await read(home(...parts), given)).found[0]
    const found = await hidden('2/39 Main Road', 'At 39 MAIN ROAD, quiet', '39 Main Road')
    expect(found).toMatchObject({ listing: { Description: 'At …, quiet' } })
    expect(found).not.toHaveProperty('listing.Location')
    expect(found).not.toHaveProperty('listing.Address')
    expect(await hidden('1 A', 'Unit 1 A of 21 Amazing', 'x')).toMatchObject({ listing: { Location: 'x' } })
    expect(await hidden('(1+1) Main*', 'By (1+1) main* there', 'x')).toMatchObject({
      listing: { Description: 'By (…* there' },
    })
  })
})

describe('paths', () => {
  it('ask another part of the same node', () => {
    const select = elementPaths().compile('.[price/@display!=no]/view')
    expect(select.first({ price: { '@display': 'yes' }, view: 'shown' })).toBe('shown')
    expect(select.first({ view: 'shown' })).toBe('shown')
    expect(select.first({ price: { '@display': 'no' }, view: 'hidden' })).toBe('')
    expect(select.all({ price: { '@display': 'no' }, view: ['a', 'b'] })).toEqual([])
  })

  it('ask how a word begins, without case and punctuation', () => {
    const picture = ['Floor Plan - Level 1', 'floorplan', 'Kitchen, floor planks', 'Floor', ''].map(
      (caption, index) => ({
        caption,
        url: `${index}`,
      }),
    )
    const all = (path: string) => elementPaths().compile(path).all({ picture })
    expect(all('picture[caption=Floor plan*]/url')).toEqual(['0', '1'])
    expect(all('picture[caption!=Floor plan*]/url')).toEqual(['2', '3', '4'])
    expect(all('picture[caption=Floor|Kitchen*]/url')).toEqual(['2', '3'])
    expect(all('picture[caption=*]/url')).toEqual(['0', '1', '2', '3'])
  })

  it('read flattened columns and JSON, one or the other or both', () => {
    const paths = rowPaths()
    const images = paths.compile('json:image[].url')
    const city = paths.compile('json:address.city')
    const hood = paths.compile('json:hood[]')
    const row = (cells: Record<string, string>) => {
      paths.prepare(cells)
      return [images.all(cells), city.first(cells), hood.all(cells)]
    }
    expect(row({ 'image[0].url': 'a', 'image[0].tag[0]': 'x', 'Image[10].url': 'b', 'address.city': 'Rome' })).toEqual([
      ['a', 'b'],
      'Rome',
      [],
    ])
    expect(
      row({ image: '[{"url":"a"},{"url":["b"]},{"url":" "},null]', address: '{"city":"Rome"}', hood: '["X","Y"]' }),
    ).toEqual([['a'], 'Rome', ['X', 'Y']])
    expect(row({ image: '{"url":"a"}', address: '[broken', hood: 'Old Town' })).toEqual([['a'], '', ['Old Town']])
    expect(row({ image: '[', address: '{"__proto__":{"city":"x"}}', hood: '' })).toEqual([[], '', []])
    expect(() => rowPaths().compile('json:image')).toThrow(/json:image\[\]\.url/)
  })

  it('numbered columns go by their numbers, wherever they are in the file', () => {
    const paths = rowPaths()
    const images = paths.compile('json:image[].url')
    const photos = paths.compile('Photo{n}')
    const row = { 'image[10].url': 'ten', Photo10: '10', 'image[0].url': 'first', Photo2: '2', 'image[2].url': 'two' }
    paths.prepare(row)
    expect(images.all(row)).toEqual(['first', 'two', 'ten'])
    expect(photos.all(row)).toEqual(['2', '10'])
  })
})

describe('elements that records refer to by a key', () => {
  const parts = {
    plan: { at: 'list/building/plan', key: '@id', by: 'plan/@ref' },
    office: { at: 'list/offices/office', key: 'no', by: 'office' },
  }
  const given = preset(
    { record: 'list/building/home', parts, extension: { Office: 'office:name', Plan: 'plan:@title' } },
    { Bedrooms: ['plan:rooms/beds', { value: 9 }], RentPrice: 'plan:rent/@least' },
  )
  const plan = (id: string, beds: number) =>
    `<plan id="${id}" title="T${beds}"><rooms><beds>${beds}</beds></rooms><rent least="${beds}00"/></plan>`
  const home = (id: string, ref: string, office = '') =>
    `<home><id>${id}</id><plan ref="${ref}"/><office>${office}</office></home>`
  const offices =
    '<offices><office><no>1</no><name>North</name></office><office><no>2</no><name>South &amp; Co</name></office></offices>'
  const document = `<list>${offices}<building>${plan('a', 1)}${plan('b', 2)}${home('H1', 'b', '2')}${home('H2', 'a')}</building><building>${plan('b', 5)}${home('H3', 'b', '1')}${home('H4', 'a', '7')}</building></list>`

  it.each([1, 7, 1 << 16])(
    'stand in the record, each as long as its element is open, in windows of %i',
    async (size) => {
      const { found } = await read(document, given, {}, size)
      const said = found.map((delivered) =>
        delivered.kind === 'listing'
          ? [
              delivered.listing.Bedrooms,
              delivered.listing.RentPrice,
              delivered.listing.ExtensionColumn?.map(({ value }) => value),
            ]
          : delivered,
      )
      expect(said).toEqual([
        [2, 200, ['South & Co', 'T2']],
        [1, 100, ['T1']],
        [5, 500, ['North', 'T5']],
        [9, undefined, undefined],
      ])
    },
  )

  it('are part of what a record says, and come before it', async () => {
    const outsides = async (text: string) => {
      const reading = readingOf(createMapping(given, {}), inChunks(Buffer.from(text), 1000))
      const found: (string | undefined)[] = []
      for await (const batch of reading.records) found.push(...batch.map(({ outside }) => outside))
      return { found, reasons: reading.end().reasons }
    }
    const [before, after] = [await outsides(document), await outsides(document.replace('least="200"', 'least="300"'))]
    expect(before.found[0]).not.toBe(after.found[0])
    expect(before.found[2]).toBe(after.found[2])
    expect(before.reasons).toEqual([])
    const late = document.replace('</building>', `${plan('c', 3)}</building>`)
    expect((await outsides(late)).reasons).toEqual([expect.stringContaining('stands after a record that it is for')])
    expect(() => preset({ record: 'list/home', parts: { plan: { at: 'list', key: '@id', by: 'x' } } })).toThrow(
      /parts\.plan\.at: .*contains them/,
    )
    expect(() => preset({ parts: { plan: { at: 'list/plan', key: '../id', by: 'x' } } })).toThrow(
      /parts: .*can match nothing/,
    )
  })
})

describe('prices that are not to be shown', () => {
  const priced = (text: string, rule: object = {}) =>
    listing(`<price>${text}</price>`, { SalePrice: { from: 'price', ...rule } })

  it.each(['$400,000 - $600,000', 'Between 400,000 and 600,000', '400k to 600k', 'von 400,000 bis 600,000'])(
    '%s is a range: no price, or its smaller end',
    async (text) => {
      const hidden = await priced(text)
      expect(hidden.listing).not.toHaveProperty('SalePrice')
      expect(hidden.unread).toMatchObject([
        { field: 'SalePrice', value: text, problem: expect.stringContaining('a range') },
      ])
      expect((await priced(text, { range: 'hide' })).listing).not.toHaveProperty('SalePrice')
      expect((await priced(text, { range: 'least' })).listing.SalePrice).toBe(400_000)
    },
  )

  it('are never replaced by another number of the record', async () => {
    const rules = ['price', 'other'].map((from) => ({ from }))
    const { listing: found, unread } = await listing('<price>make an offer</price><other>5</other>', {
      SalePrice: rules,
    })
    expect(found).not.toHaveProperty('SalePrice')
    expect(unread).toMatchObject([
      { value: 'make an offer', problem: expect.stringContaining('text in place of a price') },
    ])
  })

  it('say no currency either', async () => {
    const given = preset({}, { CurrencySymbol: { from: 'price', as: 'currency' } })
    const { found } = await read('<list><home><id>A</id><price>Contact the agent</price></home></list>', given)
    expect(found).toMatchObject([{ problems: [{ field: 'CurrencySymbol', value: null }] }])
  })

  it('ranges whose ends stand in two places are ranges, too; ends that are one amount are none', async () => {
    const rent = async (least: string, most: string, rule: object = {}) => {
      const record = `<rent least="${least}" most="${most}"/>`
      const rules = { SalePrice: { from: 'rent/@least', to: 'rent/@most', ...rule } }
      return (await listing(record, rules)).listing.SalePrice
    }
    expect(await rent('1895.50', '1895.5')).toBe(1895.5)
    expect(await rent('1895.50', '')).toBe(1895.5)
    expect(await rent('1525', '1600')).toBeUndefined()
    expect(await rent('1525', '1600', { range: 'least' })).toBe(1525)
    const size = async (most: string) => {
      const rule = { from: 'size/@least', to: 'size/@most', as: 'area', unit: 'square feet', range: 'hide' }
      return listing(`<size least="710" most="${most}"/>`, { BuildingArea: rule }, {})
    }
    expect((await size('710.0')).listing.BuildingArea).toBe(710)
    await expect(size('740')).rejects.toThrow('BuildingArea')
  })

  it('areas have ranges, too', async () => {
    const area = async (range: string) =>
      (await listing('<lot>2 - 4.99 acres</lot>', { LotArea: { from: 'lot', as: 'area', unit: 'acres', range } }, {}))
        .listing
    expect((await area('least')).LotArea).toBe(87_120)
    await expect(area('hide')).rejects.toThrow('LotArea')
  })
})

describe('defaults by kind of property', () => {
  const given = preset(
    {},
    {
      PropertyType: { from: 'kind', as: 'choice', choices: { plot: 'Land' }, otherwise: 'Condo' },
      Bedrooms: 'beds',
      YearBuilt: 'year',
    },
  )
  const home = (kind: string, more = '') => `<list><home><id>A</id><kind>${kind}</kind>${more}</home></list>`
  const defaults = mappingOptionsSchema.shape.defaults.parse([
    { when: { PropertyType: ['Land', 'Parking'] }, Bedrooms: 0, YearBuilt: 0 },
    { YearBuilt: 1900 },
  ])

  it('are given to that kind, the first one that fits, and never over what the record says', async () => {
    const of = async (text: string) => (await read(text, given, { defaults })).found[0]
    expect(await of(home('plot'))).toMatchObject({ listing: { PropertyType: 'Land', Bedrooms: 0, YearBuilt: 0 } })
    expect(await of(home('plot', '<beds>1</beds>'))).toMatchObject({ listing: { Bedrooms: 1, YearBuilt: 0 } })
    expect(await of(home('flat', '<beds>2</beds>'))).toMatchObject({ listing: { Bedrooms: 2, YearBuilt: 1900 } })
    expect(await of(home('flat'))).toMatchObject({ kind: 'reject', problems: [{ field: 'Bedrooms', value: null }] })
  })

  it.each([
    [[{ when: { PropertyType: 'Lamd' }, Bedrooms: 0 }], /"lamd" is none that a rule gives; did you mean Land/],
    [
      [{ when: { PropertyType: 'Land' }, Status: 'Active' }],
      /defaults\.Status: is read before the kind of property is known/,
    ],
    [[{ Bedroms: 0 }], /defaults\.Bedroms: .*did you mean Bedrooms/],
    [[{ when: { PropertyType: 'Land' }, Bedrooms: 'none' }], /defaults\.Bedrooms: Bedrooms is a number/],
  ])('are refused where they can mean nothing: %j', (wrong, problem) => {
    expect(() => createMapping(given, { defaults: wrong as MappingOptions['defaults'] })).toThrow(problem)
  })
})

describe('a path that can match nothing', () => {
  it.each([
    ['../@kind', 'goes down from the record'],
    ['rooms/beds|bedrooms', 'written as several paths'],
    ['price/@currency/code', 'an attribute holds nothing below it'],
    ['@@tab', 'no such name under header or around'],
    ['fees/@@scope', 'stand in the record itself'],
    ['fee[../kind=HOA]/amount', 'goes down from the record'],
    ['fee[@@tab=HOA]/amount', 'no such name under header or around'],
  ])('is an error with its place: %s', (path, why) => {
    const more = { header: { scope: 'list/sent/@scope' } }
    expect(() => preset(more, { City: path })).toThrow(new RegExp(`fields\\.City: .*${why}`))
    expect(() => preset({ ...more, extension: { Note: [{ from: path }] } })).toThrow(
      /extension\.Note: .*can match nothing/,
    )
    expect(() => createMapping(preset(more), { fields: { City: path } })).toThrow(/fields\.City: .*can match nothing/)
  })

  it('is none that the document may have', () => {
    const more = { record: 'list/house|flat', header: { scope: 'list/sent/@scope' } }
    const paths = ['@@name', '@@scope', './city', '*/name()', 'fee[@kind=a|b/c]/amount', '.[@@name=flat]/area']
    for (const City of paths) expect(() => preset(more, { City }), City).not.toThrow()
  })

  it('is a value from outside under each, and a name where columns are numbers', () => {
    const more = { record: 'list/house|flat' }
    expect(() => preset(more, { City: { each: 'place', from: '@@name' } })).toThrow(/can match nothing under each/)
    const rows = { format: 'csv', record: undefined, columns: 3 }
    const own = { MLSNumber: '1' }
    expect(() => preset(rows, { ...own, City: 'Town' })).toThrow(
      /fields\.City: "Town" can match nothing: columns are numbers/,
    )
    expect(() => preset(rows, { ...own, City: '3' })).not.toThrow()
    const open = { fields: { City: [{ from: '3' }, '?'] } }
    expect(() => createMapping(preset(rows, own), open as MappingOptions)).toThrow(
      /one problem\n {2}fields\.City: is not filled in yet/,
    )
  })
})

describe('a feed that sends the whole and changes in turn (OpenImmo)', () => {
  let world: RunWorld | null = null
  afterEach(() => world?.end())

  const flat = (id: string, price = 100_000) =>
    `<immobilie><objektkategorie><vermarktungsart KAUF="true"/><objektart><wohnung/></objektart></objektkategorie><geo><ort>Ort</ort></geo><preise><kaufpreis>${price}</kaufpreis><waehrung iso_waehrung="EUR"/></preise><verwaltung_techn><aktion/><openimmo_obid>${id}</openimmo_obid></verwaltung_techn></immobilie>`
  const sent = (scope: string, ...flats: string[]) =>
    `<openimmo><uebertragung umfang="${scope}"/><anbieter>${flats.join('')}</anbieter></openimmo>`

  it('deletes what is absent from the whole only', async () => {
    const zero = ['Bedrooms', 'Bathrooms', 'YearBuilt', 'DaysOnMarket', 'LotArea', 'BuildingArea', 'ParkingSpots']
    const feed = {
      preset: 'openimmo',
      defaults: Object.fromEntries(zero.map((name) => [name, 0])),
      fields: { Url: { template: 'https://makler.example/{MLSNumber}' } },
    }
    world = await RunWorld.start({ feeds: { north: feed } })
    const numbers = () => (world?.listings() ?? []).map((item) => String(item['MLSNumber'])).toSorted(compareKeys)
    const all = Array.from({ length: 12 }, (_, index) => `F${String(index).padStart(2, '0')}`)

    world.deliver(sent('VOLL', ...all.map((id) => flat(id))))
    expect(await world.run()).toMatchObject({ error: null, result: 'ok' })
    world.deliver(sent('TEIL', flat('F03', 90_000)))
    const change = await world.run()
    expect(change.counts).toMatchObject({ update: 1, delete: 0, hold: 0 })
    expect(numbers()).toEqual(all)
    world.deliver(sent('TEIL', flat('F03', 80_000)))
    await world.run()
    world.deliver(sent('VOLL', ...all.slice(1).map((id) => flat(id))))
    const whole = await world.run()
    expect(whole.counts).toMatchObject({ delete: 1, hold: 0 })
    expect(numbers()).toEqual(all.slice(1))

    // Four are too few for a whole of twelve, though many for a change.
    world.deliver(sent('VOLL', ...all.slice(8).map((id) => flat(id))))
    const short = await world.run()
    expect(short.counts).toMatchObject({ delete: 0, hold: 7 })
    expect(short.notes.join()).toContain('8 of 12 listings would leave the site')
    expect(numbers()).toEqual(all.slice(1))
  })

  it('takes a flat off once the day is past that it names, though the server says that nothing was modified', async () => {
    const server = await startFeedServer()
    try {
      const zero = ['Bedrooms', 'Bathrooms', 'YearBuilt', 'DaysOnMarket', 'LotArea', 'BuildingArea', 'ParkingSpots']
      const feed = {
        preset: 'openimmo',
        source: `${server.url}/export.xml`,
        defaults: Object.fromEntries(zero.map((name) => [name, 0])),
        fields: { Url: { template: 'https://makler.example/{MLSNumber}' } },
      }
      world = await RunWorld.start({ feeds: { north: feed } })
      const until = (id: string, day: string) => flat(id).replace('<aktion/>', `<aktion/><aktiv_bis>${day}</aktiv_bis>`)
      const none = ['0000-00-00', '', '0001-01-01', '0001-01-01T00:00:00', '1899-12-30', '1900-01-01', '1970-01-01']
      const endings = ['2026-11-20', '2026-11-21', '2099-12-31', ...none].map((day, index) => until(`E${index}`, day))
      server.give(sent('VOLL', ...endings, ...['F0', 'F1', 'F2'].map((id) => flat(id))))
      const first = await world.run()
      expect(first).toMatchObject({ error: null, counts: { create: 12 }, delivery: { removals: 1, rejects: 0 } })
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
      world.clock.advance(24 * 3_600_000)
      const later = await world.run()
      expect(later.changes).toMatchObject([
        { kind: 'delete', mlsNumber: 'E1', why: expect.stringContaining('aktiv_bis') },
      ])
      expect(later.counts).toMatchObject({ delete: 1, unchanged: 11 })
    } finally {
      await server.close()
    }
  })

  it('is said by otodom, too: what changed takes nothing off', async () => {
    const folder = new URL('../../../fixtures/presets/otodom/', import.meta.url)
    const [whole, options] = ['feed.xml', 'options.json'].map((name) => readFileSync(new URL(name, folder), 'utf8'))
    world = await RunWorld.start({ feeds: { north: { preset: 'otodom', ...(JSON.parse(options) as object) } } })
    world.deliver(whole)
    const { counts } = await world.run()
    expect(counts.create).toBeGreaterThan(3)
    const first = whole.indexOf('</Insertion>') + '</Insertion>'.length
    const changed = `${whole.slice(0, first)}</Insertions></otoDom>`.replace('>full<', '>incremental<')
    world.deliver(changed)
    expect((await world.run()).counts).toMatchObject({ delete: 0, hold: 0 })
    world.deliver(changed.replace('>incremental<', '>full<'))
    expect((await world.run()).counts).toMatchObject({ hold: counts.create - 1 })
  })

  it.each([
    ['header', 'list/sent/@scope', (scope: string) => `<sent scope="${scope}"/>`],
    ['around', 'list/sent', (scope: string) => `<sent>${scope}</sent>`],
  ] as const)(
    'never takes a change for the whole when the server says it is not modified (%s)',
    async (key, path, sent) => {
      const server = await startFeedServer()
      try {
        world = await RunWorld.start({})
        const given = preset({
          record: 'list/home',
          delivery: 'full',
          [key]: { scope: path },
          deliveryFrom: { header: 'scope', full: ['VOLL'], delta: ['TEIL'] },
        })
        const { file: _, formatOptions, ...written } = given
        writeFileSync(join(world.folder, 'own.yaml'), JSON.stringify({ ...written, ...formatOptions }))
        world.configure({ north: { preset: './own.yaml', source: `${server.url}/export.xml` } })
        const sentHomes = (scope: string, count: number) =>
          `<list>${sent(scope)}${Array.from({ length: count }, (_, index) => `<home><id>H${index}</id></home>`).join('')}</list>`

        server.give(sentHomes('VOLL', 12))
        expect(await world.run()).toMatchObject({ error: null, counts: { create: 12 } })
        server.give(sentHomes('TEIL', 1))
        await world.run()
        const again = await world.run()
        expect(again).toMatchObject({ result: 'ok', counts: { unchanged: 1, delete: 0, hold: 0 } })
        expect(server.statuses).toEqual([200, 200, 200])
      } finally {
        await server.close()
      }
    },
  )
})

describe('names and conditions', () => {
  it('numbers in names, or in what a condition compares, give the order', async () => {
    const addresses = (body: string, from: string) =>
      listing(body, { Images: { from } }).then(({ listing }) => listing.Images?.map((text) => text.slice(-1)))
    const image = (name: string) => `https://photos.example/${name}`
    const named = [10, 2, 1].map((n) => `<photo${n}>${image(`${n === 10 ? 'z' : n}`)}</photo${n}>`).join('')
    expect(await addresses(`${named}<photos>${image('x')}</photos>`, 'photo{n}')).toEqual(['1', '2', 'z'])
    const params = [10, 2, 1].map((n) => `<param name="Photo ${n}">${image(`${n === 10 ? 'z' : n}`)}</param>`).join('')
    const other = `<param name="plan">${image('x')}</param>`
    expect(await addresses(params + other, 'param[@name=photo{n}]')).toEqual(['1', '2', 'z'])
    expect(await addresses(params + other, 'param[@name!=photo{n}]')).toEqual(['x'])
    expect(await addresses(params + other, 'param[@name=plan|photo{n}]')).toEqual(['x', '1', '2', 'z'])
  })

  it('loose names count in any case, exact ones first', async () => {
    const body = '<list><home><id>A</id><CITY>Loud</CITY><Geo LAT="1.5" lon="2.5"/><city>quiet</city></home></list>'
    const fields = { City: 'city', State: 'City', Latitude: 'geo/@lat', Longitude: 'GEO/@LON' }
    const city = async (more: Record<string, unknown>) => {
      const { found } = await read(body, preset(more, fields))
      return found[0].kind === 'listing' ? found[0].listing : null
    }
    expect(await city({ names: 'loose' })).toMatchObject({
      City: 'quiet',
      State: 'Loud',
      Latitude: 1.5,
      Longitude: 2.5,
    })
    expect(await city({})).not.toHaveProperty('State')
    expect(await city({})).not.toHaveProperty('Latitude')
  })

  it('a rule applies by a word of the record, in rows as well', async () => {
    const price = (is: string) => `<list><home><id>A</id><poa>${is}</poa><price>500000</price></home></list>`
    const hidden = { SalePrice: { from: 'price', when: { from: 'poa', not: ['yes', 'on request'] } } }
    const priceOf = async (text: string, given: ReturnType<typeof preset>) => {
      const { found } = await read(text, given)
      return found[0].kind === 'listing' ? found[0].listing.SalePrice : null
    }
    expect(await priceOf(price('No'), preset({}, hidden))).toBe(500000)
    expect(await priceOf(price(''), preset({}, hidden))).toBe(500000)
    expect(await priceOf(price('On Request'), preset({}, hidden))).toBeUndefined()
    const row = (kind: string) => `id,3,price\nA,${kind},5\n`
    const table = (when: object) =>
      preset({ format: 'csv', record: undefined }, { SalePrice: { from: 'price', when: { from: '3', ...when } } })
    expect(await priceOf(row('2'), table({ is: ['2', '3'] }))).toBe(5)
    expect(await priceOf(row('1'), table({ is: ['2', '3'] }))).toBeUndefined()
    expect(await priceOf(row('2'), table({ is: [''], missing: ['2'] }))).toBe(5)
    expect(await priceOf(row('1'), table({ is: [''], missing: ['2'] }))).toBeUndefined()
    expect(() => table({})).toThrow('from goes with is, not, or both')
    expect(() => table({ from: undefined, missing: ['2'] })).toThrow('missing goes with from')
  })
})

describe('images that are names of files', () => {
  const body = ['a 1.jpg', 'more\\b.PNG', '../c.jpg', 'https://photos.example/d.jpg', 'none', 'e.txt']
    .map((name) => `<photo>${name}</photo>`)
    .join('')
  const document = `<list><home><id>A/1</id>${body}</home></list>`
  const given = preset({}, { Images: 'photo' })
  const imagesWith = async (options: MappingOptions) => {
    const { found } = await read(document, given, options)
    return found[0].kind === 'listing' ? found[0] : null
  }

  it('go behind the address that the feed says, and no others', async () => {
    const found = await imagesWith({ imageBase: 'https://files.example/{MLSNumber}/' })
    expect(found?.listing.Images).toEqual([
      'https://files.example/A%2F1/a%201.jpg',
      'https://files.example/A%2F1/more/b.PNG',
      'https://photos.example/d.jpg',
    ])
    expect(found).not.toHaveProperty('imageFiles')
  })

  it('are left out and counted without one', async () => {
    const found = await imagesWith({})
    expect(found?.listing.Images).toEqual(['https://photos.example/d.jpg'])
    expect(found?.imageFiles).toBe(2)
  })

  it('and what is neither name nor address is told', async () => {
    const found = await imagesWith({})
    const problem = 'needs an address that begins with http:// or https://'
    expect(found?.unread).toEqual([{ field: 'An entry of Images', value: '../c.jpg', problem }])
  })
})

describe('images of one text', () => {
  const first = 'https://photos.example/1.jpg'
  const imagesOf = async (text: string, split?: string) => {
    const body = `<list><home><id>A1</id><photos>${text}</photos></home></list>`
    const { found } = await read(body, preset({}, { Images: { from: 'photos', as: 'images', split } }))
    return found[0].kind === 'listing' ? found[0] : null
  }

  it.each([',', ', ', ';', '|', ' ', '\n'])('that nothing cuts at %j are no address, and are told', async (mark) => {
    const found = await imagesOf(`${first}${mark}${first}`, '+')
    expect(found?.listing).not.toHaveProperty('Images')
    const problem = 'holds several addresses; say with split what stands between them'
    expect(found?.unread).toMatchObject([{ field: 'An entry of Images', problem }])
  })

  it('are told without the passwords in them', async () => {
    const login = (name: string): string => first.replace('//', `//${name}:secret@`)
    const [problem] = (await imagesOf(`${login('ann')},${login('bob')}`))?.unread ?? []
    expect(problem.value).toBe(`${first.replace('//', '//…@')},${first.replace('//', '//…@')}`)
  })

  it.each([`https://small.example/w_1,h_1/${first}`, `https://small.example/?url=${first}`, `${first}?a=1,2`])(
    'one with another one in it is an address: %s',
    async (address) => expect((await imagesOf(address))?.listing.Images).toEqual([address]),
  )
})
