import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Delivered } from '../../../src/core/listing.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'
import { readingOf } from '../../support/reading.ts'

const file = join(import.meta.dirname, '../../../config/presets/mls-csv.yaml')
const preset = loadPreset(readFileSync(file, 'utf8'), file)
const moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }

/** The same home as different offices export it. */
const exports: Record<string, string[]> = {
  'an MLS': [
    'MLS Number,Status,Type,Price,Bedrooms,Baths Full,Baths Half,Sqft Main,Acres,Year Built,Days On Market,Parking Spaces,Address,City,State,Zip,Subdivision,Remarks,URL',
    '0042,Active,Single Family,"400,000",3,2,1,1500,0.5,1990,12,2,5 Elm St,Springfield,XX,00123,Old Mill,Bright,https://a.example/1',
  ],
  'a database, with tabs': [
    'mls_id\tlisting_status\tproperty_type\tlist_price\tbeds\tbathrooms\tsquare_feet\tlot_acres\tyear_built\tdom\tgarage_spaces\tstreet_number\tstreet_name\tcity\tstate_or_province\tpostal_code\tneighborhood\tdescription\tlisting_url',
    '0042\tactive\tSINGLE_FAMILY\t400000.00\t3\t2.5\t1,500\t.5\t1990\t12\t2.0\t5\tElm St\tSpringfield\tXX\t00123\tOld Mill\tBright\thttps://a.example/1',
  ],
  'a CRM, with semicolons and units in the cells': [
    'MLS#;STAT;Prop. Type;Asking Price;Bdrms;F Baths;H Baths;Living Area;Lot Size;Yr. Built;List Date;Total Parking;Property Address;City/Town;Province;Postcode;Community;Property Description;Web Link',
    '0042;ACT;Single-Family;$400K;3;2;1;1500 sq. ft.;0.5 acres;1990;11/9/2026;2;5 Elm St;Springfield;XX;00123;Old Mill;Bright;https://a.example/1',
  ],
}

/** What such a table does not say, and a person knows. */
const said = { defaults: { SaleType: 'for_sale' }, currency: 'USD' }

async function read(rows: string[], mapping = createMapping(preset, said)): Promise<Delivered[]> {
  const source = (async function* () {
    yield Buffer.from(`${rows.join('\n')}\n`)
  })()
  const reading = readingOf(mapping, source)
  const found: Delivered[] = []
  for await (const batch of reading.records) {
    for (const record of batch) found.push(...mapping.normalise(reading.parse(record), record.at, moment))
  }
  return found
}

describe('mls-csv', () => {
  for (const [name, rows] of Object.entries(exports)) {
    it(`reads the headers of ${name}`, async () => {
      const found = await read(rows)
      expect(found).toMatchObject([
        {
          kind: 'listing',
          listing: {
            MLSNumber: '0042',
            SaleType: 'for_sale',
            Status: 'Active',
            CurrencySymbol: '$',
            PropertyType: 'Single Family',
            Bedrooms: 3,
            Bathrooms: 2.5,
            Url: 'https://a.example/1',
            YearBuilt: 1990,
            DaysOnMarket: 12,
            LotArea: 21780,
            BuildingArea: 1500,
            AreaUnit: 'Square Feet',
            ParkingSpots: 2,
            Description: 'Bright',
            Location: 'Old Mill',
            Address: '5 Elm St',
            City: 'Springfield',
            State: 'XX',
            ZIP: '00123',
            SalePrice: 400_000,
          },
        },
      ])
    })
  }

  it.each([
    ['Sale / Lease', 'Lease', 'for_rent'],
    ['Lease/Sale', 'Sale', 'for_sale'],
    ['Listing Type', 'For Lease', 'for_rent'],
  ])('takes the price for what the column %j says: %j', async (header, word, saleType) => {
    const columns = 'MLS #,Status,Type,Price,Beds,Baths,Sq Ft,Acres,Year Built,DOM,Parking Spaces,Address,URL'
    const cells = '7,Active,Condo,2000,1,1,500,1,1990,1,1,1 Elm St,https://a.example/7'
    const price = saleType === 'for_rent' ? { RentPrice: 2000 } : { SalePrice: 2000 }
    expect(await read([`${columns},${header}`, `${cells},${word}`])).toMatchObject([
      { kind: 'listing', listing: { SaleType: saleType, ...price } },
    ])
  })

  it.each([
    ['LISTING_TYPE', 'Exclusive Right To Sell'],
    ['Monthly Rent', '2000'],
    ['Sold Price', '200000'],
  ])('makes up neither a sale nor a rent from a price: %s', async (header, word) => {
    const columns = 'MLS #,Status,Type,Price,Beds,Baths,Sq Ft,Acres,Year Built,DOM,Parking Spaces,Address,URL'
    const cells = '7,Active,Condo,200000,1,1,500,1,1990,1,1,1 Elm St,https://a.example/7'
    const silent = createMapping(preset, { currency: 'USD' })
    expect(await read([`${columns},${header}`, `${cells},${word}`], silent)).toMatchObject([
      { kind: 'reject', problems: [{ field: 'SaleType', value: null }] },
    ])
  })

  it.each([
    ['Currency', 'eur', '€'],
    ['Currency', 'CA$', 'CA$'],
    ['Country', 'Poland', 'zł'],
    ['Country', 'DEU', '€'],
    ['Country', 'Österreich', '€'],
    ['Country', 'AE', 'AED'],
    ['Country', 'Singapore', 'S$'],
    ['Province', 'ON', 'CA$'],
    ['State Or Province', 'US-CA', '$'],
    ['State', 'Texas', '$'],
    // None of them: the configuration counts.
    ['State', 'Sonora', 'MX$'],
    ['Country', 'Utopia', 'MX$'],
  ])('takes the currency from a field, a place or the configuration: %s %s', async (header, word, symbol) => {
    const columns = 'MLS #,Status,Type,Price,Beds,Baths,Sq Ft,Acres,Year Built,DOM,Parking Spaces,Address,URL'
    const cells = '7,Active,Condo,200000,1,1,500,1,1990,1,1,1 Elm St,https://a.example/7'
    const mapping = createMapping(preset, { ...said, currency: 'MXN' })
    expect(await read([`${columns},${header}`, `${cells},${word}`], mapping)).toMatchObject([
      { kind: 'listing', listing: { CurrencySymbol: symbol } },
    ])
  })

  const priced = 'MLS #,Status,Type,Price,Beds,Baths,Sq Ft,Acres,Year Built,DOM,Parking Spaces,Address,URL'
  const row = (price: string): string => `7,Active,Condo,"${price}",1,1,500,1,1990,1,1,1 Elm St,https://a.example/7`
  it.each([
    ['USD', '£450,000', '£'],
    ['USD', '€350,000', '€'],
    ['USD', 'C$350,000', 'CA$'],
    ['USD', 'AU$350,000', 'A$'],
    ['USD', 'AED 1,200,000', 'AED'],
    ['USD', '485,000 USD', '$'],
    ['BRL', 'US$ 250,000', '$'],
    ['USD', '$1,200,000 MXN', 'MX$'],
    ['MXN', '$250,000 USD', '$'],
    ['CAD', 'CAD$450,000', 'CA$'],
    ['MXN', 'MXN$ 1,200,000', 'MX$'],
    ['EUR', '250,000 zł', 'zł'],
    // A bare $ is that of any country, and a word that is no currency says nothing.
    ['BRL', '$250,000', 'R$'],
    ['EUR', '$250,000', '€'],
    ['EGP', '£250,000', 'E£'],
    ['USD', 'XYZ 250,000', '$'],
    ['BRL', 'U$ 250,000', 'R$'],
    ['USD', '1,200,000 ALL', '$'],
    ['SAR', '1,200,000 ﷼', 'SAR'],
    ['NIO', 'C$ 1,200,000', 'NIO'],
    ['EUR', 'USD 450,000 EUR', '€'],
  ])('takes the currency that is written at the price: %s, %s', async (currency, price, symbol) => {
    const mapping = createMapping(preset, { ...said, currency })
    expect(await read([priced, row(price)], mapping)).toMatchObject([
      { kind: 'listing', listing: { CurrencySymbol: symbol, SalePrice: Number(price.replaceAll(/\D/g, '')) } },
    ])
  })

  it('rejects a listing that has prices in two currencies, and leaves an estimate in another one out', async () => {
    const mapping = createMapping(preset, {
      ...said,
      currency: 'USD',
      fields: { RentPrice: { from: 'Rent', per: 'month' }, EstimatePrice: 'Worth' },
    })
    const rows = (rent: string, worth: string) => [`${priced},Rent,Worth`, `${row('£450,000')},${rent},${worth}`]
    expect(await read(rows('€900', ''), mapping)).toMatchObject([
      {
        kind: 'reject',
        problems: [{ field: 'RentPrice', value: '€900', problem: expect.stringContaining('one currency') }],
      },
    ])
    const [found] = await read(rows('£900', '€500'), mapping)
    expect(found).toMatchObject({ kind: 'listing', listing: { RentPrice: 900 }, unread: [{ field: 'EstimatePrice' }] })
  })

  it('rejects a record whose currency nobody names, and says what to write', async () => {
    const [columns, cells] = exports['an MLS']
    const silent = createMapping(preset, { defaults: { SaleType: 'for_sale' } })
    expect(await read([columns, cells], silent)).toMatchObject([
      {
        kind: 'reject',
        problems: [{ field: 'CurrencySymbol', value: null, problem: expect.stringContaining('currency: EUR') }],
      },
    ])
    expect(() => createMapping(preset, { currency: 'US$' })).toThrow('currency: "US$" is no currency of ISO 4217')
    expect(() => createMapping(preset, { currency: 'EUR', defaults: { CurrencySymbol: '€' } })).toThrow('says the same')
  })

  it('takes a table whose number is in a column that the feed names itself', async () => {
    const rows = [
      'Our Code,Status,Type,Price,Beds,Baths,Sq Ft,Acres,Year Built,DOM,Parking Spaces,Address,URL',
      '7,Active,Condo,200000,1,1,500,1,1990,1,1,1 Elm St,https://a.example/7',
    ]
    const mapping = createMapping(preset, { ...said, fields: { MLSNumber: 'our code' } })
    expect(await read(rows, mapping)).toMatchObject([{ kind: 'listing', listing: { MLSNumber: '7' } }])
    await expect(read(['Region,Month', 'Springfield,May'], mapping)).rejects.toThrow('none of the columns "our code"')
  })

  it('refuses a table that has no number of listings', async () => {
    await expect(read(['Region,Month,Median Sale Price,Homes Sold', 'Springfield,October,$400K,12'])).rejects.toThrow(
      'none of the columns',
    )
  })
})
