/**
 * A user's own preset file, beside the configuration, for a format without a shipped preset.
 * Whole runs of the two in fixtures/own-presets, and `fields` alone over a preset that nearly fits.
 */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RunWorld } from '../../support/run-world.ts'
import type { ReadReport } from '../../support/run-world.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/own-presets')

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

/** Puts a fixture's feed and preset beside the configuration, as a user would. */
function use(name: string, file: string, more: object): void {
  copyFileSync(join(fixtures, name, 'preset.yaml'), join(world.folder, 'mine.yaml'))
  world.deliver(readFileSync(join(fixtures, name, file)), file)
  world.configure({ north: { source: `./${file}`, preset: './mine.yaml', ...more } })
}

/** The fields of a change, as they are sent. */
function fieldsOf(report: ReadReport, mlsNumber: string): Record<string, unknown> {
  const change = report.changes.find((change) => change.mlsNumber === mlsNumber)!
  return Object.fromEntries(change.fields.map(({ field, to }) => [field, to]))
}

const problems = (report: ReadReport): Record<string, string[]> =>
  Object.fromEntries(report.rejects.map((reject) => [reject.mlsNumber, reject.problems]))

describe('an XML format of its own', () => {
  const defaults = { YearBuilt: 0, DaysOnMarket: 0, LotArea: 0, ParkingSpots: 0, Bedrooms: 0, Bathrooms: 0 }

  test('becomes listings, and what does not is said', async () => {
    use('property-finder', 'feed.xml', { defaults })
    const report = await world.run()
    expect(report.delivery).toMatchObject({ complete: true, records: 6, listings: 4, rejects: 2 })
    expect(report.counts).toMatchObject({ create: 4 })
    expect(fieldsOf(report, 'PLAIN-1')).toEqual({
      SaleType: 'for_sale',
      Status: 'Active',
      CurrencySymbol: 'AED',
      PropertyType: 'Apartment',
      Bedrooms: 2,
      Bathrooms: 3,
      Url: 'https://agency.example/p/PLAIN-1',
      MLSNumber: 'PLAIN-1',
      YearBuilt: 0,
      DaysOnMarket: 0,
      LotArea: 0,
      BuildingArea: 1500,
      AreaUnit: 'Square Feet',
      ParkingSpots: 1,
      Images: ['https://img.example/1/1.jpg', 'https://img.example/1/2%20b.jpg'],
      Description: 'View.\nPool & garden.',
      ExtensionColumn: [
        { Key: 'Title', value: 'Two bedrooms' },
        { Key: 'Permit', value: '71' },
        { Key: 'VirtualTour', value: 'https://tours.example/1' },
      ],
      Location: 'Tower 2',
      City: 'Dubai',
      Latitude: 25.1972,
      Longitude: 55.2744,
      SalePrice: 2_500_000,
      HOAMonth: 1250,
    })
    expect(fieldsOf(report, 'STUDIO-2')).toMatchObject({ RentPrice: 10_000, Bedrooms: 0, BuildingArea: 3000 })
    expect(fieldsOf(report, 'MONTHLY-3')).toMatchObject({ RentPrice: 11_000 })
    expect(fieldsOf(report, 'KIOSK-4')).toMatchObject({
      RentPrice: 3033.33,
      PropertyType: 'Other',
      ExtensionColumn: [
        { Key: 'Completion', value: 'off_plan' },
        { Key: 'PropertyType', value: 'KI' },
      ],
    })
    expect(problems(report)).toEqual({
      'SWAP-5': ["SaleType: 'XX' needs one of for_sale, for_rent; map this word with choices"],
      'NORTH-6': ["BuildingArea: 'about 700' needs an area: a number, with a unit or without"],
    })
    expect(world.listings()).toHaveLength(4)
    expect(await world.run()).toMatchObject({ counts: { unchanged: 4, create: 0, update: 0, delete: 0 } })
  })

  test('a file that holds less than it says is not whole', async () => {
    use('property-finder', 'feed.xml', { defaults })
    const feed = readFileSync(join(fixtures, 'property-finder', 'feed.xml'), 'utf8')
    world.deliver(feed.replace('listing_count="6"', 'listing_count="7"'), 'feed.xml')
    const { delivery } = await world.run('diff')
    expect(delivery).toMatchObject({ complete: false, reasons: [expect.stringMatching(/7/)] })
  })
})

describe('a CSV of its own', () => {
  test('becomes listings, removals, and what does not is said', async () => {
    use('homeharvest', 'feed.csv', { defaults: { YearBuilt: 0, DaysOnMarket: 0, LotArea: 0, ParkingSpots: 0 } })
    const report = await world.run()
    expect(report.delivery).toMatchObject({ complete: true, records: 6, listings: 3, removals: 1, rejects: 2 })
    expect(fieldsOf(report, '00123')).toEqual({
      SaleType: 'for_sale',
      Status: 'Active',
      CurrencySymbol: '$',
      PropertyType: 'Single Family',
      Bedrooms: 3,
      Bathrooms: 2.5,
      Url: 'https://homes.example/d/1',
      MLSNumber: '00123',
      YearBuilt: 1967,
      DaysOnMarket: 12,
      LotArea: 8000,
      BuildingArea: 1850,
      AreaUnit: 'Square Feet',
      ParkingSpots: 2,
      Images: ['https://img.example/1.jpg', 'https://img.example/2.jpg'],
      Description: 'Nice, "old" house',
      Location: 'North End',
      Address: '12 Elm St',
      City: 'Springfield',
      State: 'XX',
      ZIP: '02134',
      Latitude: 39.8,
      Longitude: -89.6,
      SalePrice: 485_000,
      EstimatePrice: 490_100,
    })
    expect(fieldsOf(report, 'RENT-2')).toMatchObject({ RentPrice: 1100, Address: '5 Oak Ave Apt 4', Bedrooms: 0 })
    const sold = fieldsOf(report, 'SOLD-4')
    expect(sold).toMatchObject({ Status: 'Sold', SalePrice: 195_000 })
    expect(Object.keys(sold).filter((name) => /HOAMonth|Description|Location/.test(name))).toEqual([])
    expect(problems(report)).toEqual({
      'MISTYPED-5': [
        "Bedrooms: 'two' needs a number written like 1234.5",
        "SalePrice: '200k+' needs an amount of money written like 1234.5",
      ],
      'AUCTION-6': ["Status: 'AUCTION' is an unknown word in status; map it with statuses"],
    })
  })
})

test('a small difference needs no preset: fields, defaults and statuses over one that nearly fits', async () => {
  world.deliver(
    'mls_id,status,list_price,bedrooms,bathrooms,square_feet,lot_size,year_built,property_type,city,days_on_market\n' +
      'A-1,Active,499000,3,2.5,1850,0.25,1967,Condo,Springfield,12\n' +
      'A-2,Deal,299000,2,1,900,0.1,1980,Townhouse,Springfield,3\n',
    'table.csv',
  )
  const nearly = { source: './table.csv', preset: 'mls-csv' }
  world.configure({ north: nearly })
  expect(problems(await world.run('diff'))['A-1']).toEqual([
    'SaleType: is missing; give it with defaults or fields',
    'CurrencySymbol: is missing; the feed names neither a currency nor a country: give one with currency: EUR (ISO 4217)',
    'Url: is missing; give it with defaults, fields or placeholders',
    'LotArea: is missing; give it with defaults, fields or placeholders',
    'ParkingSpots: is missing; give it with defaults, fields or placeholders',
  ])
  const fields = {
    Url: { template: 'https://broker.example/{MLSNumber}' },
    LotArea: { from: 'lot_size', as: 'area', unit: 'acres' },
  }
  const defaults = { SaleType: 'for_sale', ParkingSpots: 0 }
  world.configure({ north: { ...nearly, fields, defaults, currency: 'USD', statuses: { Deal: 'remove' } } })
  const report = await world.run()
  expect(report).toMatchObject({ delivery: { listings: 1, removals: 1, rejects: 0 }, counts: { create: 1 } })
  expect(fieldsOf(report, 'A-1')).toMatchObject({
    LotArea: 10_890,
    Url: 'https://broker.example/A-1',
    SalePrice: 499_000,
  })
})

describe('a table of its own', () => {
  const defaults = {
    SaleType: 'for_sale',
    Status: 'Active',
    Url: 'https://broker.example',
    AreaUnit: 'Square Feet',
    ...Object.fromEntries(['YearBuilt', 'DaysOnMarket', 'LotArea', 'BuildingArea'].map((field) => [field, 0])),
    ...Object.fromEntries(['ParkingSpots', 'Bedrooms', 'Bathrooms'].map((field) => [field, 0])),
  }
  const mine = { source: './table.csv', preset: './mine.yaml', defaults }

  function writes(table: string, fields: object): void {
    const common = {
      title: 'Mine',
      format: 'csv',
      delivery: 'full',
      numbers: { decimal: '.', group: ',' },
      statuses: {},
    }
    const rules = { MLSNumber: 'id', PropertyType: 'kind', CurrencySymbol: { value: '$' }, ...fields }
    world.deliver(JSON.stringify({ name: 'mine', ...common, fields: rules }), 'mine.yaml')
    world.deliver(table, 'table.csv')
  }

  test('currency takes the place of one that the preset takes for granted, and of none that a record names', async () => {
    writes('id,kind,money\nA-1,House,\nA-2,House,EUR\n', {
      CurrencySymbol: [{ from: 'money', as: 'currency' }, { value: '$' }],
    })
    world.configure({ north: mine })
    expect(fieldsOf(await world.run('diff'), 'A-1')).toMatchObject({ CurrencySymbol: '$' })
    world.configure({ north: { ...mine, currency: 'CAD' } })
    const given = await world.run('diff')
    expect(fieldsOf(given, 'A-1')).toMatchObject({ CurrencySymbol: 'CA$' })
    expect(fieldsOf(given, 'A-2')).toMatchObject({ CurrencySymbol: '€' })
  })

  test('a factor adds no digits, and what it gives has to be possible in the field', async () => {
    writes('id,kind,x,y,share\nA-1,House,-93250000,41500000,3\nA-2,House,,,33\n', {
      Latitude: { from: 'y', times: 0.000001 },
      Longitude: { from: 'x', times: 0.000001 },
      Bathrooms: { from: 'share', times: 0.1 },
    })
    world.configure({ north: mine })
    const report = await world.run('diff')
    expect(fieldsOf(report, 'A-1')).toMatchObject({ Latitude: 41.5, Longitude: -93.25, Bathrooms: 0.3 })
    expect(fieldsOf(report, 'A-2')).toMatchObject({ Bathrooms: 3.3 })
  })
})
