/** The test listings: what they are called and what is in them. */
import { unescapeHtml } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import { sentinelPrefix } from '../core/sentinel.ts'
import type { ListItem } from '../service/canonical.ts'

/** The names of one probe's sentinels: no other listing has one of them, as 48 random bits are in it. */
export interface SentinelNames {
  /** Twelve hexadecimal digits. */
  token: string
  /** The MLSNumber of the sentinel of this number, 1 to 9; a higher number comes later in the alphabet. */
  mlsNumber(number: number): string
  /** A key that matches nothing; no listing is ever created with it. */
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

/** The fields that the interface requires, plainly a test's. `write` numbers the writes, so that each can be told from the one before. */
export function requiredFields(names: SentinelNames, number: number, write: number): Listing {
  return {
    MLSNumber: names.mlsNumber(number),
    SaleType: 'for_sale',
    // The least likely to be offered to anybody.
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

/** All fields of the interface. The place is in the middle of an ocean. */
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

/** Whether the Url of a list item is one that a probe writes, of this token where one is given. */
export function isMarked(item: ListItem, token = '[0-9a-f]{12}'): boolean {
  return new RegExp(`^https://listing-sync\\.invalid/probe/${token}/\\d/`).test(textOf(item, 'Url'))
}

/** A text of a list item; empty where there is none. */
export function textOf(item: ListItem, name: string): string {
  const value = item[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** The MLSNumber of a list item, read as the daemon reads it. */
export function mlsNumberOf(item: ListItem): string {
  return unescapeHtml(textOf(item, 'MLSNumber')).trim()
}

/** The ID of a list item as the text that NativeId would take; null where there is none. */
export function idOf(item: ListItem): string | null {
  const id = textOf(item, 'ID').trim()
  return /^\d+$/.test(id) ? id : null
}
