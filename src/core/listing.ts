/**
 * The words every stage speaks in: the listing as the interface takes it, what a delivery yields,
 * what the service shows, what we remember. No I/O, no dependency.
 */
/** One entry of ExtensionColumn, spelled as the interface spells it. */
export interface ExtensionEntry {
  Key: string
  value: string
}

/**
 * The interface's listing input without SerialNumber (the client adds the chatbot's).
 * Areas are in AreaUnit, money in whole units of CurrencySymbol, RentPrice and HOAMonth a month, coordinates in degrees.
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

/** What one field of the interface takes. `choices` are the only values allowed. */
export interface FieldRule {
  name: FieldName
  type: 'text' | 'number' | 'images' | 'extension'
  required: boolean
  choices?: readonly string[]
}

const required = (name: FieldName, type: FieldRule['type'], choices?: readonly string[]): FieldRule => ({
  name,
  type,
  required: true,
  ...(choices && { choices }),
})
const optional = (name: FieldName, type: FieldRule['type'], choices?: readonly string[]): FieldRule => ({
  ...required(name, type, choices),
  required: false,
})

/** Every listing field in the order of the interface's table; the order also fixes the content hash and `filled` bits. */
export const fieldRules: readonly FieldRule[] = [
  required('SaleType', 'text', ['for_sale', 'for_rent']),
  required('Status', 'text', ['Active', 'PreOnMarket', 'Sold']),
  required('CurrencySymbol', 'text'),
  required('PropertyType', 'text'),
  required('Bedrooms', 'number'),
  required('Bathrooms', 'number'),
  required('Url', 'text'),
  required('MLSNumber', 'text'),
  required('YearBuilt', 'number'),
  required('DaysOnMarket', 'number'),
  required('LotArea', 'number'),
  required('BuildingArea', 'number'),
  required('AreaUnit', 'text', ['Square Feet', 'Square Meters']),
  required('ParkingSpots', 'number'),
  optional('Images', 'images'),
  optional('Tours', 'text', ['OpenHouse', '3D']),
  optional('Description', 'text'),
  optional('ExtensionColumn', 'extension'),
  optional('Location', 'text'),
  optional('Address', 'text'),
  optional('City', 'text'),
  optional('State', 'text'),
  optional('ZIP', 'text'),
  optional('Latitude', 'number'),
  optional('Longitude', 'number'),
  optional('SalePrice', 'number'),
  optional('UnitAreaPrice', 'number'),
  optional('HOAMonth', 'number'),
  optional('EstimatePrice', 'number'),
  optional('RentPrice', 'number'),
  optional('SpaceType', 'text', ['Entire place', 'Room']),
  optional('DepositFee', 'number'),
]

export const fieldNames: readonly FieldName[] = fieldRules.map((rule) => rule.name)
export const optionalFields: readonly FieldName[] = fieldRules.filter((rule) => !rule.required).map((rule) => rule.name)

/** The key of the ExtensionColumn entry that says which feed a listing belongs to (DESIGN, "Ours means"). */
export const ownerKey = 'ListingSyncFeed'

/**
 * What makes a listing change without the feed changing, kept beside it so that nothing is parsed again.
 * `listedOn` is a day (YYYY-MM-DD) that DaysOnMarket is counted from; `openHouseUntil` an instant (milliseconds)
 * after which Tours falls back to `toursAfter` (left out when undefined).
 */
export interface Moving {
  listedOn?: string
  openHouseUntil?: number
  toursAfter?: '3D'
}

/** A listing together with what moves it; what the feed stage yields and the store keeps. */
export interface MovingListing {
  listing: Listing
  moving: Moving
}

/** One thing wrong with a record: the field, the value as found, and what would be accepted. `value` is cut at 200 characters. */
export interface Problem {
  field: string
  value: string | null
  problem: string
}

/** How many images of a listing may not be passed on, by the host that the configuration names (`imagesNotFrom`). */
export type ImagesLeftOut = Readonly<Record<string, number>>

/**
 * What one record of the feed became. `at` names its place in the delivery for a person ("record 12, line 340").
 * `endsLater`: the same record will be a removal once a time that it names is past.
 */
export type Delivered =
  | { kind: 'listing'; at: string; listing: Listing; moving: Moving; imagesLeftOut?: ImagesLeftOut; endsLater?: true }
  | { kind: 'removal'; at: string; mlsNumber: string; why: string }
  | { kind: 'filtered'; at: string; mlsNumber: string; why: string }
  | { kind: 'reject'; at: string; mlsNumber: string | null; problems: Problem[] }

/** Whether one reading of a feed can be trusted to be whole, with every reason why not as a sentence. */
export interface DeliverySummary {
  complete: boolean
  reasons: string[]
  records: number
  listings: number
  removals: number
  filtered: number
  duplicates: number
  rejects: number
  /** Bytes as the document has them, after decompression. */
  bytes: number
}

/** A delivery of which nothing was read yet. */
export function emptyDelivery(reasons: string[] = []): DeliverySummary {
  const none = { records: 0, listings: 0, removals: 0, filtered: 0, duplicates: 0, rejects: 0, bytes: 0 }
  return { complete: false, reasons, ...none }
}

/** Whether one walk over the service's pages showed everything, with every reason why not as a sentence. */
export interface RemoteSummary {
  complete: boolean
  reasons: string[]
  pages: number
  listings: number
}

/**
 * A list item in the client's canonical form: the same names and types as the listing input, so the two compare
 * field by field (service-unknowns U10-U13). A field that the service shows in a form that can't be read is left out of
 * `fields` and named in `unreadable`; it takes part in no comparison. Derived Price and Area are not here.
 */
export interface Shown {
  mlsNumber: string
  /** ID of the list item; never compared with what Create returned (U2). */
  id: number | null
  fields: Partial<Listing>
  unreadable: FieldName[]
  /** The feed named by the ownership entry, if there is one. That entry is not in `fields.ExtensionColumn`. */
  owner: string | null
  /** Hash over the item as shown, owner included, without ID, derived and volatile fields: equal hashes show the same. */
  hash: string
}

/** Orders keys by code point, the order in which SQLite sorts UTF-8 text: the three inputs of a plan must agree on it. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i)
    let y = b.charCodeAt(i)
    if (x === y) continue
    // Surrogates stand for code points above all others, though their code units don't.
    if (x >= 0xd800) x += x < 0xe000 ? 0x2000 : -0x800
    if (y >= 0xd800) y += y < 0xe000 ? 0x2000 : -0x800
    return x - y
  }
  return a.length - b.length
}

/** The bit mask of the optional fields that a listing fills; bit i stands for `optionalFields[i]`. */
export function filledFields(listing: Listing): number {
  let mask = 0
  for (let i = 0; i < optionalFields.length; i++) if (listing[optionalFields[i]] !== undefined) mask |= 1 << i
  return mask
}

/** Days from `listedOn` (YYYY-MM-DD) to `today` (YYYY-MM-DD), never negative (vocab §10). */
export function daysBetween(listedOn: string, today: string): number {
  return Math.max(0, Math.floor((Date.parse(today) - Date.parse(listedOn)) / 86_400_000))
}

/** The listing as it should be sent at an instant: DaysOnMarket counted to `today`, an open house that is over left out. */
export function listingAt({ listing, moving }: MovingListing, now: number, today: string): Listing {
  const current = { ...listing }
  if (moving.listedOn !== undefined) current.DaysOnMarket = daysBetween(moving.listedOn, today)
  if (moving.openHouseUntil !== undefined && moving.openHouseUntil <= now) {
    if (moving.toursAfter === undefined) delete current.Tours
    else current.Tours = moving.toursAfter
  }
  return current
}

const htmlNames: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Undoes one layer of HTML escaping, which the service may add to a text (U13): named markup characters and numeric references. */
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
