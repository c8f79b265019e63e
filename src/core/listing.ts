/**
 * The types shared by every stage: the listing as the service takes it, what a delivery yields and
 * what the service shows. No I/O, no dependency.
 */
import type { Stamp } from './mark.ts'

/** One entry of ExtensionColumn, spelled as the service spells it. */
export interface ExtensionEntry {
  Key: string
  value: string
}

/**
 * The service's listing input without SerialNumber, which the client adds.
 * Areas are in AreaUnit, money in whole units of CurrencySymbol, RentPrice and HOAMonth per month, coordinates in degrees.
 */
export interface Listing {
  MLSNumber: string
  SaleType: 'for_sale' | 'for_rent'
  Status: 'Active' | 'PreOnMarket' | 'Sold'
  CurrencySymbol: string
  PropertyType: string
  Bedrooms: number
  Bathrooms: number
  Url: string
  YearBuilt: number
  DaysOnMarket: number
  LotArea: number
  BuildingArea: number
  AreaUnit: 'Square Feet' | 'Square Meters'
  ParkingSpots: number
  Images?: string[]
  Tours?: 'OpenHouse' | '3D'
  Description?: string
  ExtensionColumn?: ExtensionEntry[]
  Location?: string
  Address?: string
  City?: string
  State?: string
  ZIP?: string
  Latitude?: number
  Longitude?: number
  SalePrice?: number
  UnitAreaPrice?: number
  HOAMonth?: number
  EstimatePrice?: number
  RentPrice?: number
  SpaceType?: 'Entire place' | 'Room'
  DepositFee?: number
}

export type FieldName = keyof Listing
export type FieldValue = string | number | string[] | ExtensionEntry[]

/** What the service accepts in one field. `choices`: the only values allowed. */
export interface FieldRule {
  name: FieldName
  type: 'text' | 'number' | 'images' | 'extension'
  required: boolean
  choices?: readonly string[]
}

const choices: Partial<Record<FieldName, readonly string[]>> = {
  SaleType: ['for_sale', 'for_rent'],
  Status: ['Active', 'PreOnMarket', 'Sold'],
  AreaUnit: ['Square Feet', 'Square Meters'],
  Tours: ['OpenHouse', '3D'],
  SpaceType: ['Entire place', 'Room'],
}

const rulesOf = (required: boolean, type: FieldRule['type'], ...names: FieldName[]): FieldRule[] =>
  names.map((name) => ({ name, type, required, ...(choices[name] && { choices: choices[name] }) }))

/** Every listing field in the service's order, on which the content hash and the `filled` bits depend. */
export const fieldRules: readonly FieldRule[] = [
  ...rulesOf(true, 'text', 'SaleType', 'Status', 'CurrencySymbol', 'PropertyType'),
  ...rulesOf(true, 'number', 'Bedrooms', 'Bathrooms'),
  ...rulesOf(true, 'text', 'Url', 'MLSNumber'),
  ...rulesOf(true, 'number', 'YearBuilt', 'DaysOnMarket', 'LotArea', 'BuildingArea'),
  ...rulesOf(true, 'text', 'AreaUnit'),
  ...rulesOf(true, 'number', 'ParkingSpots'),
  ...rulesOf(false, 'images', 'Images'),
  ...rulesOf(false, 'text', 'Tours', 'Description'),
  ...rulesOf(false, 'extension', 'ExtensionColumn'),
  ...rulesOf(false, 'text', 'Location', 'Address', 'City', 'State', 'ZIP'),
  ...rulesOf(false, 'number', 'Latitude', 'Longitude', 'SalePrice', 'UnitAreaPrice', 'HOAMonth', 'EstimatePrice'),
  ...rulesOf(false, 'number', 'RentPrice'),
  ...rulesOf(false, 'text', 'SpaceType'),
  ...rulesOf(false, 'number', 'DepositFee'),
]

export const fieldNames: readonly FieldName[] = fieldRules.map((rule) => rule.name)
export const optionalFields: readonly FieldName[] = fieldRules.filter((rule) => !rule.required).map((rule) => rule.name)

/** The key of the ExtensionColumn entry that says which feed a listing belongs to. */
export const ownerKey = 'ListingSyncFeed'

/**
 * What changes a listing while its record stays the same, stored with it so that the record need not be parsed again.
 * `listedOn` is a day (YYYY-MM-DD) that DaysOnMarket is counted from; `openHouseUntil` an instant (milliseconds)
 * after which Tours falls back to `toursAfter` (left out when undefined).
 * `placeholders` does not change, but is kept with the rest: a placeholder never replaces a fact.
 */
export interface Moving {
  listedOn?: string
  openHouseUntil?: number
  toursAfter?: '3D'
  /** Fields that the record lacks, and whose value is the configuration's `placeholders`. */
  placeholders?: FieldName[]
  /** Volatile fields as a later record has them that changed nothing else, until they are sent. null: it lacks the field. */
  since?: Partial<Record<FieldName, FieldValue | null>>
}

/** A listing with its moving parts, as mapped from the feed and kept in the store. */
export interface MovingListing {
  listing: Listing
  moving: Moving
}

/** One thing wrong with a record: the field, the value found, and what would be accepted. `value` is cut at 200 characters. */
export interface Problem {
  field: string
  value: string | null
  problem: string
}

/** The listing of a record, and what the record says of it beside its fields. */
interface DeliveredListing extends MovingListing {
  kind: 'listing'
  at: string
  imagesLeftOut?: ImagesLeftOut
  /** Images that are names of files, and have no `imageBase`. */
  imageFiles?: number
  endsLater?: true
  /** Optional fields and columns that can't be read and were left out. */
  unread?: Problem[]
}

/** How many images of a listing were left out, by host (`imagesNotFrom`). */
export type ImagesLeftOut = Readonly<Record<string, number>>

/** The address of a home, as far as its record has it. */
export type Place = Partial<Pick<Listing, 'Address' | 'City' | 'ZIP'>>

/**
 * What one record of the feed became. `at` is its place in the delivery as text ("record 12, line 340"). `endsLater`: the
 * same record becomes something else at a time that it names: a removal, or left out by `where` or not.
 */
export type Delivered =
  | DeliveredListing
  | { kind: 'removal'; at: string; mlsNumber: string; why: string }
  | { kind: 'filtered'; at: string; mlsNumber: string; why: string; endsLater?: true }
  | { kind: 'reject'; at: string; mlsNumber: string | null; problems: Problem[] }

/** The MLSNumber that a record names; null: it can't be told. */
export const mlsNumberOf = (delivered: Delivered): string | null =>
  delivered.kind === 'listing' ? delivered.listing.MLSNumber : delivered.mlsNumber

/** Whether one reading of a feed was complete, with every reason why not as a sentence. */
export interface DeliverySummary {
  complete: boolean
  reasons: string[]
  records: number
  listings: number
  removals: number
  filtered: number
  duplicates: number
  rejects: number
  /** After decompression. */
  bytes: number
}

/** A delivery of which nothing has been read yet. */
export function emptyDelivery(reasons: string[] = []): DeliverySummary {
  const none = { records: 0, listings: 0, removals: 0, filtered: 0, duplicates: 0, rejects: 0, bytes: 0 }
  return { complete: false, reasons, ...none }
}

/** Whether one walk over the service's pages was complete, with every reason why not as a sentence. */
export interface RemoteSummary {
  complete: boolean
  reasons: string[]
  pages: number
  listings: number
}

/**
 * A list item in the client's canonical form: the same names and types as the listing input, so the two compare
 * field by field (docs/service.md, S10 to S13). A field in an unreadable form is not in `fields` but named in
 * `unreadable`, and is not compared. The derived Price and Area are left out.
 */
export interface Shown {
  mlsNumber: string
  /** ID of the list item; it may differ from what Create returned (docs/service.md, S2). */
  id: number | null
  fields: Partial<Listing>
  unreadable: FieldName[]
  /** The feed named by the ownership entry, if there is one. That entry is not in `fields.ExtensionColumn`. */
  owner: string | null
  /** The store that wrote that entry, if the entry says so. */
  by?: Stamp
  /** The entry has a former name of its feed (`formerly`). */
  isFormer?: true
  /** Hash of the item as shown, with its owner, without ID, derived and volatile fields. */
  hash: string
}

/** As much of a list item as tells whether it is shown as before. */
export interface Glimpse extends Pick<Shown, 'mlsNumber' | 'owner' | 'by' | 'isFormer' | 'hash'> {
  /** Reads the rest. */
  whole(): Shown
}

/** Orders keys by code point, as SQLite sorts UTF-8 text: the three inputs of a plan must agree on it. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i)
    let y = b.charCodeAt(i)
    if (x === y) continue
    // Surrogates encode the highest code points, but are not the highest code units.
    if (x >= 0xd800) x += x < 0xe000 ? 0x2000 : -0x800
    if (y >= 0xd800) y += y < 0xe000 ? 0x2000 : -0x800
    return x - y
  }
  return a.length - b.length
}

/** Days from `listedOn` (YYYY-MM-DD) to `today` (YYYY-MM-DD), never negative. */
export function daysBetween(listedOn: string, today: string): number {
  return Math.max(0, Math.floor((Date.parse(today) - Date.parse(listedOn)) / 86_400_000))
}

/** The listing to send at `now`: DaysOnMarket counted to `today`, an open house that is over left out. */
export function listingAt({ listing, moving }: MovingListing, now: number, today: string): Listing {
  const current = { ...listing }
  if (moving.listedOn !== undefined) current.DaysOnMarket = daysBetween(moving.listedOn, today)
  const { openHouseUntil, toursAfter } = moving
  if (openHouseUntil === undefined) return current
  // A clock that ran ahead may have ended it too early.
  if (openHouseUntil > now) current.Tours = 'OpenHouse'
  else if (toursAfter === undefined) delete current.Tours
  else current.Tours = toursAfter
  return current
}

/** What was sent last, with volatile fields as a later record has them. */
export function caughtUp({ listing, moving: { since = {}, ...moving } }: MovingListing): MovingListing {
  const fields = Object.entries({ ...listing, ...since }).filter(([, value]) => value !== null)
  return { listing: Object.fromEntries(fields) as unknown as Listing, moving }
}

/** The fields that wait for their turn (`Moving.since`), as this listing has them. */
export const volatileOf = (listing: Listing, volatile: ReadonlySet<FieldName>): NonNullable<Moving['since']> =>
  Object.fromEntries(Array.from(volatile, (field) => [field, listing[field] ?? null]))

/** When a listing changes by itself, as an open house ends, in milliseconds; null: it does not. */
export function movesAt({ openHouseUntil }: Moving, now: number): number | null {
  return openHouseUntil !== undefined && openHouseUntil > now ? openHouseUntil : null
}

const htmlNames: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Undoes one layer of HTML escaping, which the service may add: named markup characters and numeric references. */
export function unescapeHtml(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(
    /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
    (escaped, name?: string, decimal?: string, hexadecimal?: string) => {
      if (name !== undefined) return htmlNames[name.toLowerCase()]
      const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : escaped
    },
  )
}
