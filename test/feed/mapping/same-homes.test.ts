/** The homes of one broker as three formats tell of them: the listings are the same, whichever the broker sends. */
import Papa from 'papaparse'
import { describe, expect, test } from 'vitest'
import { presetAt, presetFileOf } from '../../../src/config/presets.ts'
import type { Listing } from '../../../src/core/listing.ts'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import type { Moment } from '../../../src/feed/mapping/mapping.ts'
import { mappingOptionsSchema } from '../../../src/feed/mapping/preset.ts'
import { homes, zillowFeed } from '../../support/homes.ts'
import type { Home } from '../../support/homes.ts'
import { readingOf } from '../../support/reading.ts'

const moment: Moment = { now: Date.UTC(2026, 10, 21, 18), today: '2026-11-21', timezone: 'America/Chicago' }
const broker = homes(1, 120)

const subTypes: Record<string, string> = {
  SingleFamily: 'Single Family Residence',
  Condo: 'Condominium',
  Townhouse: 'Townhouse',
  MultiFamily: 'Multi Family',
  Apartment: 'Apartment',
}

/** A home in the names of the RESO Data Dictionary. */
const resoRecord = (home: Home) => ({
  ListingKey: home.mlsNumber.slice(2),
  ListingId: home.mlsNumber,
  StandardStatus: 'Active',
  PropertyType: home.rental ? 'Residential Lease' : 'Residential',
  PropertySubType: subTypes[home.propertyType],
  ListPrice: home.price,
  BedroomsTotal: home.bedrooms,
  BathroomsFull: home.fullBathrooms,
  BathroomsHalf: home.halfBathrooms,
  LivingArea: home.livingArea,
  LivingAreaUnits: 'Square Feet',
  LotSizeAcres: home.lotAcres,
  YearBuilt: home.yearBuilt,
  ListingContractDate: home.listed,
  ParkingTotal: home.parking,
  UnparsedAddress: home.street,
  UnitNumber: home.unit,
  City: home.city,
  StateOrProvince: home.state,
  PostalCode: home.zip,
  Country: 'US',
  Latitude: home.latitude,
  Longitude: home.longitude,
  SubdivisionName: home.neighborhood,
  PublicRemarks: home.description,
  ListingURL: `https://homes.example/${home.mlsNumber}`,
  AssociationFee: home.associationFee === 0 ? '' : home.associationFee,
  AssociationFeeFrequency: 'Monthly',
})

const photo = (home: Home, order: number) => ({
  MediaURL: `https://photos.homes.example/${home.mlsNumber}/${order}.jpg`,
  MediaCategory: 'Photo',
  Order: String(order),
})
/** From the last to the first: the order is in Order. */
const media = (home: Home) => Array.from({ length: home.photos }, (_, index) => photo(home, home.photos - index))

const documents: Record<string, string> = {
  zillow: zillowFeed(broker),
  'reso-json': JSON.stringify({
    '@odata.context': '$metadata#Property',
    value: broker.map((home) => ({ ...resoRecord(home), Media: media(home) })),
  }),
  'reso-csv': `${Papa.unparse(broker.map(resoRecord))}\r\n`,
}

async function listingsOf(preset: string): Promise<Map<string, Partial<Listing>>> {
  const mapping = createMapping(presetAt(presetFileOf(preset, '.')), mappingOptionsSchema.parse({}))
  async function* bytes() {
    yield Buffer.from(documents[preset])
  }
  const reading = readingOf(mapping, bytes())
  const found = new Map<string, Partial<Listing>>()
  for await (const batch of reading.records)
    for (const record of batch)
      for (const delivered of mapping.normalise(reading.parse(record), record.at, moment)) {
        if (delivered.kind !== 'listing') throw new Error(`${preset}: ${JSON.stringify(delivered)}`)
        // Columns beside the listing's own fields are each format's own.
        const { ExtensionColumn: _, ...listing } = delivered.listing
        found.set(listing.MLSNumber, listing)
      }
  expect(reading.end().reasons).toEqual([])
  return found
}

describe('120 homes of one broker', () => {
  test('are the same listings as a Zillow file and as pages of a RESO Web API', async () => {
    const [zillow, json] = [await listingsOf('zillow'), await listingsOf('reso-json')]
    expect(zillow.size).toBe(broker.length)
    expect(new Set([...zillow.values()].map(({ SaleType }) => SaleType)).size).toBe(2)
    expect(json).toEqual(zillow)
  })

  test('and as a RESO table, which has no pictures', async () => {
    const [table, json] = [await listingsOf('reso-csv'), await listingsOf('reso-json')]
    expect(table.size).toBe(broker.length)
    for (const listing of json.values()) {
      expect(listing.Images?.length).toBeGreaterThan(0)
      delete listing.Images
    }
    expect(table).toEqual(json)
  })
})
