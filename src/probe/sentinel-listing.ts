/** Names and contents of the test listings (sentinels). */
import { unescapeHtml } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import { sentinelPrefix } from '../core/sentinel.ts'
import type { ListItem } from '../service/canonical.ts'

/** The names of one probe's sentinels, unique by 48 random bits. */
export interface SentinelNames {
  /** Twelve hexadecimal digits. */
  token: string
  /** The MLSNumber of sentinel 1 to 9; they sort by number. */
  mlsNumber(number: number): string
  /** A key that never matches a listing. */
  absent(number: number): string
}

/** A service may cut a long key. */
const longestFeed = 20

export function sentinelNames(feed: string, random: () => number): SentinelNames {
  const token = Array.from({ length: 12 }, () => Math.floor(random() * 16).toString(16)).join('')
  const base = `${sentinelPrefix}${feed.slice(0, longestFeed)}-${token}`
  return { token, mlsNumber: (number) => `${base}-${number}`, absent: (number) => `${base}-absent-${number}` }
}

const words = 'TEST LISTING of listing-sync probe: not a real home. It is removed within minutes.'

/** The required fields, clearly of a test. `write` numbers the writes, to recognise each one in the list. */
export function requiredFields(names: SentinelNames, number: number, write: number): Listing {
  return {
    MLSNumber: names.mlsNumber(number),
    SaleType: 'for_sale',
    // The status least likely to be offered to anybody.
    Status: 'Sold',
    CurrencySymbol: '$',
    PropertyType: 'TEST LISTING, not a home',
    Bedrooms: 3,
    Bathrooms: 2.5,
    Url: markerUrl(names, number, write),
    YearBuilt: 1987,
    DaysOnMarket: 1000 + write,
    LotArea: 5000,
    BuildingArea: 1500,
    AreaUnit: 'Square Feet',
    ParkingSpots: 2,
  }
}

/** All fields. The place is in the middle of an ocean. */
export function wholeListing(names: SentinelNames, number: number, write: number): Required<Listing> {
  return {
    ...requiredFields(names, number, write),
    Images: ['https://listing-sync.invalid/probe/1.jpg', 'https://listing-sync.invalid/probe/2.jpg'],
    Tours: '3D',
    Description: words,
    ExtensionColumn: [{ Key: 'ListingSyncProbe', value: 'test' }],
    Location: 'Nowhere (test)',
    Address: '1 Test Listing Street',
    City: 'Test City',
    State: 'TX',
    ZIP: '00000',
    Latitude: -48.876667123,
    Longitude: -123.393333123,
    SalePrice: 250000.5,
    UnitAreaPrice: 160,
    HOAMonth: 120,
    EstimatePrice: 251000,
    RentPrice: 1200,
    SpaceType: 'Room',
    DepositFee: 900,
  }
}

export function markerUrl({ token }: SentinelNames, number: number, write: number): string {
  return `https://listing-sync.invalid/probe/${token}/${number}/${write}`
}

/** Whether the Url of a list item is that of a probe, or of the probe with `token`. */
export function isMarked(item: ListItem, token = '[0-9a-f]{12}'): boolean {
  return new RegExp(`^https://listing-sync\\.invalid/probe/${token}/\\d/`).test(textOf(item, 'Url'))
}

/** A text of a list item; '': none. */
export function textOf(item: ListItem, name: string): string {
  const value = item[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** The MLSNumber of a list item, as runs read it. */
export function mlsNumberOf(item: ListItem): string {
  return unescapeHtml(textOf(item, 'MLSNumber')).trim()
}

/** The ID of a list item as a NativeId; null: none. */
export function idOf(item: ListItem): string | null {
  const id = textOf(item, 'ID').trim()
  return /^\d+$/.test(id) ? id : null
}
