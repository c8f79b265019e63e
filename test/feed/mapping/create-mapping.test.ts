import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import type { Delivered } from '../../../src/core/listing.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'
import type { Moment } from '../../../src/feed/mapping/mapping.ts'
import type { MappingOptions } from '../../../src/feed/mapping/preset.ts'
import { readingOf } from '../../support/reading.ts'

const moment: Moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }
const presetOf = (name: string) =>
  loadPreset(readFileSync(join(import.meta.dirname, '../../../config/presets', `${name}.yaml`), 'utf8'), `${name}.yaml`)
const zillow = presetOf('zillow')
const reso = presetOf('reso-csv')

/** One ZIF record; `changes` are elements by path that replace or remove (null) the usual ones. */
function record(changes: Record<string, string | null> = {}): string {
  const values: Record<string, string | null> = {
    'Location/StreetAddress': '1 Main St',
    'Location/City': 'Springfield',
    'Location/Lat': '39.8',
    'Location/Long': '-89.6',
    'ListingDetails/Status': 'Active',
    'ListingDetails/Price': '250000',
    'ListingDetails/ListingUrl': 'https://homes.example/1',
    'ListingDetails/MlsId': 'A1',
    'ListingDetails/DateListed': '2026-11-11',
    'BasicDetails/PropertyType': 'Condo',
    'BasicDetails/Bedrooms': '2',
    'BasicDetails/Bathrooms': '1.5',
    'BasicDetails/LivingArea': '900',
    'BasicDetails/LotSize': '0.1',
    'BasicDetails/YearBuilt': '1990',
    'RichDetails/NumParkingSpaces': '1',
    ...changes,
  }
  const groups = Map.groupBy(Object.entries(values), ([path]) => path.split('/')[0])
  const body = [...groups].map(([group, entries]) => {
    const leaves = entries.map(([path, value]) => {
      const name = path.split('/')[1]
      return value === null ? '' : `<${name}>${value}</${name}>`
    })
    return `<${group}>${leaves.join('')}</${group}>`
  })
  return `<Listing>${body.join('')}</Listing>`
}

async function normalise(body: string, options: MappingOptions = {}, preset = zillow): Promise<Delivered[]> {
  const mapping = createMapping(preset, options)
  const text = preset.format === 'xml' ? `<Listings>${body}</Listings>` : body
  async function* bytes() {
    yield Buffer.from(text)
  }
  const reading = readingOf(mapping, bytes())
  const found: Delivered[] = []
  for await (const batch of reading.records) {
    for (const raw of batch) found.push(...mapping.normalise(reading.parse(raw), raw.at, moment))
  }
  return found
}

async function listingOf(body: string, options: MappingOptions = {}, preset = zillow) {
  const [delivered] = await normalise(body, options, preset)
  if (delivered?.kind !== 'listing') throw new Error(`no listing: ${JSON.stringify(delivered)}`)
  return delivered.listing
}

function configProblems(options: MappingOptions): string[] {
  try {
    createMapping(zillow, options, 'north')
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('options of the feed', () => {
  it('takes the example of the design to the letter', async () => {
    const options: MappingOptions = {
      fields: { HOAMonth: { from: 'Fees/Fee/FeeAmount', as: 'money' } },
      defaults: { YearBuilt: 0 },
      where: { City: ['Springfield', 'Shelbyville'] },
    }
    const fee = '<Fees><Fee><FeeAmount>$120.50</FeeAmount></Fee></Fees></Listing>'
    const body = record({ 'BasicDetails/YearBuilt': null }).replace('</Listing>', fee)
    const oakton = record({ 'Location/City': 'Oakton', 'ListingDetails/MlsId': 'B2' })
    const found = await normalise(body + oakton + record({ 'BasicDetails/YearBuilt': '1990' }), options)
    expect(found).toMatchObject([
      { kind: 'listing', listing: { HOAMonth: 120.5, YearBuilt: 0 } },
      { kind: 'filtered', mlsNumber: 'B2', why: 'City is "Oakton"; where wants Springfield, Shelbyville' },
      { kind: 'listing', listing: { YearBuilt: 1990 } },
    ])
  })

  it('replaces a rule of the preset wholly', async () => {
    const options: MappingOptions = { fields: { MLSNumber: 'ListingDetails/ProviderListingId' } }
    expect(await normalise(record(), options)).toMatchObject([{ kind: 'reject', mlsNumber: null }])
  })

  it('makes a Url from other fields, each part escaped', async () => {
    const options: MappingOptions = {
      fields: { Url: { template: 'https://homes.example/{MLSNumber}?in={Location/City}' } },
    }
    const body = record({ 'ListingDetails/MlsId': 'A/1 ü', 'Location/City': 'New Town' })
    expect((await listingOf(body, options)).Url).toBe('https://homes.example/A%2F1%20%C3%BC?in=New%20Town')
  })

  it('never lets a default replace a value that is there, readable or not', async () => {
    const options: MappingOptions = { defaults: { YearBuilt: 1900, Bedrooms: 1 } }
    expect((await listingOf(record(), options)).YearBuilt).toBe(1990)
    expect(await normalise(record({ 'BasicDetails/Bedrooms': 'many' }), options)).toMatchObject([
      { kind: 'reject', mlsNumber: 'A1', problems: [{ field: 'Bedrooms', value: 'many' }] },
    ])
  })

  it('reads numbers in the way of the feed, and of one rule', async () => {
    const body = record({
      'ListingDetails/Price': '350.000',
      'BasicDetails/LivingArea': '65,5',
      'BasicDetails/Bathrooms': '1,5',
      'BasicDetails/LotSize': '0,1',
    })
    expect(await normalise(body)).toMatchObject([{ kind: 'reject', mlsNumber: 'A1' }])
    const plain = { as: 'number', numbers: { decimal: '.', group: '' } } as const
    const options: MappingOptions = {
      numbers: { decimal: ',', group: '.' },
      fields: { Latitude: { from: 'Location/Lat', ...plain }, Longitude: { from: 'Location/Long', ...plain } },
    }
    expect(await listingOf(body, options)).toMatchObject({
      SalePrice: 350_000,
      BuildingArea: 65.5,
      Bathrooms: 1.5,
      Latitude: 39.8,
    })
  })

  it('maps status words, over the preset and beside it', async () => {
    const pending = record({ 'ListingDetails/Status': 'Pending' })
    expect(await normalise(pending)).toMatchObject([{ kind: 'removal', mlsNumber: 'A1' }])
    expect((await listingOf(pending, { statuses: { pending: 'Active' } })).Status).toBe('Active')
    const odd = record({ 'ListingDetails/Status': 'Under  agreement!' })
    expect((await listingOf(odd, { statuses: { 'under agreement': 'PreOnMarket' } })).Status).toBe('PreOnMarket')
    expect(
      await normalise(odd, { statuses: { 'under agreement': { for_sale: 'remove', for_rent: 'Active' } } }),
    ).toMatchObject([{ kind: 'removal' }])
  })

  it('filters by numbers and by paths of the record', async () => {
    const body = record() + record({ 'BasicDetails/Bedrooms': '5', 'ListingDetails/MlsId': 'B2' })
    expect((await normalise(body, { where: { Bedrooms: [2, 3] } })).map(({ kind }) => kind)).toEqual([
      'listing',
      'filtered',
    ])
    const where = { 'ListingDetails/MlsId': 'b-2' }
    expect((await normalise(body, { where })).map(({ kind }) => kind)).toEqual(['filtered', 'listing'])
  })

  it('removes before it filters, and filters before it rejects; what cannot be read cannot be left out', async () => {
    const where = { City: 'Shelbyville' }
    const incomplete = { 'BasicDetails/Bedrooms': null }
    const removal = record({ ...incomplete, 'ListingDetails/Status': 'Expired' })
    expect((await normalise(removal + record(incomplete), { where })).map(({ kind }) => kind)).toEqual([
      'removal',
      'filtered',
    ])
    const unreadable = record({ 'BasicDetails/Bedrooms': 'x' })
    expect((await normalise(unreadable, { where: { Bedrooms: 3 } })).map(({ kind }) => kind)).toEqual(['reject'])
  })

  it('adds columns to ExtensionColumn', async () => {
    const options: MappingOptions = {
      extension: { Price: { from: 'ListingDetails/Price', as: 'money' }, None: 'No/Where' },
    }
    expect((await listingOf(record(), options)).ExtensionColumn).toEqual([{ Key: 'Price', value: '250000' }])
  })

  it('takes delivery from the feed before the preset', () => {
    expect(createMapping(zillow, {}).delivery).toBe('full')
    expect(createMapping(zillow, { delivery: 'delta' }).delivery).toBe('delta')
  })

  it('converts both areas to the unit that AreaUnit says', async () => {
    const listing = await listingOf(record(), { fields: { AreaUnit: { value: 'Square Meters' } } })
    expect(listing).toMatchObject({ AreaUnit: 'Square Meters', LotArea: 404.69, BuildingArea: 83.61 })
  })

  it('names every mistake at once', () => {
    expect(
      configProblems({
        fields: { Bedroom: 'x', Url: { template: '{MLSNumber' }, LotArea: { from: 'x', as: 'area' } },
        defaults: { YearBuilt: 'old', MLSNumber: 'X', SaleType: 'sale', Latitude: 100, Hoamonth: 1 },
        where: { Images: 'x' },
        extension: { ListingSyncFeed: 'x' },
      }),
    ).toEqual([
      'fields.Bedroom: a listing has no such field; did you mean Bedrooms?',
      'defaults.Hoamonth: a listing has no such field; did you mean HOAMonth?',
      'defaults.SaleType: SaleType is one of for_sale, for_rent',
      'defaults.MLSNumber: every listing has its own',
      'defaults.YearBuilt: YearBuilt is a number',
      'defaults.Latitude: needs a number from -90 to 90',
      'extension.ListingSyncFeed: this key is reserved for listing-sync',
      "where.Images: can't be compared",
      'fields.LotArea: area needs unit or unitFrom, for a number that names no unit',
      'fields.Url: an unmatched brace in "{MLSNumber"',
    ])
  })
})

describe('a record that can be several listings', () => {
  const lines = readFileSync(join(import.meta.dirname, '../../../config/presets/zillow.yaml'), 'utf8')
  const variants = `
variants:
  - { when: { from: ListingDetails/Price, as: money, zero: missing }, fields: { SaleType: { value: for_sale } } }
  - when: { from: ListingDetails/Rent, as: money, zero: missing }
    suffix: -rent
    fields: { SaleType: { value: for_rent }, RentPrice: ListingDetails/Rent }
`
  const both = loadPreset(lines + variants, 'both.yaml')
  const priced = (sale: string, rent: string) => record({ 'ListingDetails/Price': sale, 'ListingDetails/Rent': rent })

  it('becomes each that it has something for, under numbers that do not depend on the others', async () => {
    const sale = { MLSNumber: 'A1', SaleType: 'for_sale', SalePrice: 250_000 }
    const rent = { MLSNumber: 'A1-rent', SaleType: 'for_rent', RentPrice: 900 }
    const listings = async (body: string) =>
      (await normalise(body, {}, both)).map((delivered) =>
        delivered.kind === 'listing' ? delivered.listing : delivered,
      )
    expect(await listings(priced('250000', '900'))).toMatchObject([sale, rent])
    expect(await listings(priced('250000', '0'))).toMatchObject([sale])
    expect(await listings(priced('', '900'))).toMatchObject([rent])
  })

  it('is rejected for the one that can not be read, and kept for the other', async () => {
    expect(await normalise(priced('250000', '9,0,0'), {}, both)).toMatchObject([
      { kind: 'listing', listing: { MLSNumber: 'A1' } },
      { kind: 'reject', mlsNumber: 'A1-rent', problems: [{ field: 'RentPrice', value: '9,0,0' }] },
    ])
  })

  it('is what the other fields make of it where it has something for none', async () => {
    expect(await normalise(priced('', ''), {}, both)).toMatchObject([{ kind: 'listing', listing: { MLSNumber: 'A1' } }])
  })

  it('holds every number that it may have had where it is rejected for none of them', async () => {
    const body = priced('', '').replace('<Bedrooms>2', '<Bedrooms>two')
    expect(await normalise(body, {}, both)).toMatchObject([
      { kind: 'reject', mlsNumber: 'A1', problems: [{ field: 'Bedrooms' }] },
      { kind: 'reject', mlsNumber: 'A1-rent', problems: [{ field: 'Bedrooms' }] },
    ])
  })

  it('is removed under every number, and a number may get too long', async () => {
    const gone = priced('250000', '900').replace('<Status>Active', '<Status>Withdrawn')
    expect(await normalise(gone, {}, both)).toMatchObject([
      { kind: 'removal', mlsNumber: 'A1' },
      { kind: 'removal', mlsNumber: 'A1-rent' },
    ])
    const long = priced('', '900').replace('<MlsId>A1', `<MlsId>${'1'.repeat(500)}`)
    expect(await normalise(long, {}, both)).toMatchObject([{ kind: 'reject', problems: [{ field: 'MLSNumber' }] }])
  })

  it('needs a number for each, and rules that work', () => {
    const same = () => loadPreset(lines + variants.replace('-rent', '""'), 'same.yaml')
    expect(same).toThrow(/each needs its own suffix/)
    const wrong = () => loadPreset(lines + variants.replace('RentPrice:', 'RentPrise:'), 'wrong.yaml')
    expect(wrong).toThrow(/fields.RentPrise: a listing has no such field.*did you mean RentPrice/)
  })
})

describe('columns that are read', () => {
  it('are those of any rule, of the feed and of variants too; records of elements have none', () => {
    const variant = { when: { template: '{Kind}' }, suffix: '-x', fields: { Location: 'Quarter' } }
    const options = { fields: { City: 'Town{n}' }, where: { Region: ['North'] } }
    const mapping = createMapping({ ...reso, variants: [variant] }, options)
    const read = ['ListPrice', 'list price', 'Town2', 'Region', 'Kind', 'Quarter', 'InternetEntireListingDisplayYN']
    expect(read.filter((column) => !mapping.reads?.(column))).toEqual([])
    expect(['LocalField1', 'City', 'Town'].filter((column) => mapping.reads?.(column))).toEqual([])
    expect(createMapping(zillow, {})).not.toHaveProperty('reads')
  })
})

describe('version', () => {
  it('changes with the preset and with every option, and with nothing else', () => {
    const version = (options: MappingOptions, preset = zillow) => createMapping(preset, options).version
    const versions = [
      version({}),
      version({ defaults: { YearBuilt: 0 } }),
      version({ where: { City: 'A' } }),
      version({ statuses: { pending: 'Active' } }),
      version({ fields: { City: 'x' } }),
      version({}, { ...zillow, dates: ['YYYY-MM-DD'] }),
      version({}, reso),
    ]
    expect(new Set(versions).size).toBe(versions.length)
    expect(version({}, { ...zillow, file: 'elsewhere.yaml' })).toBe(version({}))
  })
})

describe('one record', () => {
  it.each([
    [{ 'ListingDetails/MlsId': `A${'1'.repeat(500)}` }, 'MLSNumber'],
    [{ 'BasicDetails/Bedrooms': '99999.0' }, 'Bedrooms'],
    [{ 'BasicDetails/Bedrooms': '1e3' }, 'Bedrooms'],
    [{ 'BasicDetails/Bedrooms': '-1' }, 'Bedrooms'],
    [{ 'BasicDetails/YearBuilt': '12' }, 'YearBuilt'],
    [{ 'BasicDetails/LivingArea': '-5' }, 'BuildingArea'],
    [{ 'BasicDetails/LivingArea': '5 parsecs' }, 'BuildingArea'],
    [{ 'ListingDetails/Price': '-5' }, 'SalePrice'],
    [{ 'ListingDetails/Price': '350.000,00' }, 'SalePrice'],
    [{ 'ListingDetails/DateListed': '2026-02-30' }, 'DaysOnMarket'],
    [{ 'ListingDetails/ListingUrl': 'ftp://homes.example/1' }, 'Url'],
    [{ 'Location/DisplayAddress': 'maybe' }, 'Address'],
  ])('rejects %j for its %s, as found', async (changes, field) => {
    expect(await normalise(record(changes))).toMatchObject([
      { kind: 'reject', problems: [{ field, value: Object.values(changes)[0].slice(0, 200) }] },
    ])
  })

  it('leaves out a coordinate that is none, and says so', async () => {
    const [found] = await normalise(record({ 'Location/Lat': '91' }))
    expect(found).toMatchObject({ kind: 'listing', unread: [{ field: 'Latitude', value: '91' }] })
    expect(found).not.toHaveProperty('listing.Latitude')
  })

  it('keeps leading zeros of an MLSNumber', async () => {
    expect((await listingOf(record({ 'ListingDetails/MlsId': ' 007 ' }))).MLSNumber).toBe('007')
  })

  it('survives names of an object prototype', async () => {
    const body = record({ 'RichDetails/constructor': 'x', 'RichDetails/__proto__': 'y', 'RichDetails/toString': 'z' })
    expect((await listingOf(body)).ExtensionColumn ?? []).toContainEqual({ Key: 'toString', value: 'z' })
    expect(Object.prototype).not.toHaveProperty('x')
  })

  it('a column that one rule names as it is spelled is there for the aliases of others, too', async () => {
    const fields = { ...reso.fields, SaleType: { from: 'mls_status', as: 'choice', choices: { active: 'for_sale' } } }
    const preset = { ...reso, fields: { ...fields, Status: 'MlsStatus', LotArea: 'Square Feet' } } as typeof reso
    const rows =
      'listing id,mls_status,property type,LISTPRICE,BedroomsTotal,BathroomsFull,Living Area,YearBuilt,DaysOnMarket,ParkingTotal,ListingURL,$/SQUARE FEET\n' +
      'Z9,active,Residential,"535,000",3,2,1500,1990,3,2,https://homes.example/9,250\n'
    expect(await listingOf(rows, { currency: 'USD', defaults: { LotArea: 7 } }, preset)).toMatchObject({
      Status: 'Active',
      LotArea: 7,
    })
  })

  it('finds CSV headers by spelling, else by the vocabulary, else by pattern', async () => {
    const preset = { ...reso, extension: { Photos: { from: 'Photo{n}', as: 'join', separator: '|' } } } as typeof reso
    const rows =
      'listing id,Standard_Status,property type,LISTPRICE,BedroomsTotal,BathroomsFull,Living Area,LotSizeAcres,YearBuilt,DaysOnMarket,ParkingTotal,ListingURL,Photo2,Photo1,PhotoX\n' +
      'Z9,active,Residential,"535,000",3,2,1500,1,1990,3,2,https://homes.example/9,b,a,no\n'
    const listing = await listingOf(rows, { currency: 'USD' }, preset)
    expect(listing).toMatchObject({ MLSNumber: 'Z9', SalePrice: 535000, LotArea: 43560, BuildingArea: 1500 })
    expect(listing.ExtensionColumn).toEqual([{ Key: 'Photos', value: 'a|b' }])
  })
})
