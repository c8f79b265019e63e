/**
 * The listing as the interface's table has it ("Real estate listing"). This folder is a second reading of that document,
 * on purpose apart from `src/listing.ts`: what the client has misread must not be misread here in the same way.
 */

/** What one field takes. `values` are the only texts allowed. */
export interface ListingField {
  type: 'text' | 'number' | 'texts' | 'pairs'
  required: boolean
  values?: readonly string[]
}

/** Every input field of Create and Update but SerialNumber. */
export const listingFields = {
  SaleType: { type: 'text', required: true, values: ['for_sale', 'for_rent'] },
  Status: { type: 'text', required: true, values: ['Active', 'PreOnMarket', 'Sold'] },
  CurrencySymbol: { type: 'text', required: true },
  PropertyType: { type: 'text', required: true },
  Bedrooms: { type: 'number', required: true },
  Bathrooms: { type: 'number', required: true },
  Url: { type: 'text', required: true },
  MLSNumber: { type: 'text', required: true },
  YearBuilt: { type: 'number', required: true },
  DaysOnMarket: { type: 'number', required: true },
  LotArea: { type: 'number', required: true },
  BuildingArea: { type: 'number', required: true },
  AreaUnit: { type: 'text', required: true, values: ['Square Feet', 'Square Meters'] },
  ParkingSpots: { type: 'number', required: true },
  Images: { type: 'texts', required: false },
  Tours: { type: 'text', required: false, values: ['OpenHouse', '3D'] },
  Description: { type: 'text', required: false },
  ExtensionColumn: { type: 'pairs', required: false },
  Location: { type: 'text', required: false },
  Address: { type: 'text', required: false },
  City: { type: 'text', required: false },
  State: { type: 'text', required: false },
  ZIP: { type: 'text', required: false },
  Latitude: { type: 'number', required: false },
  Longitude: { type: 'number', required: false },
  SalePrice: { type: 'number', required: false },
  UnitAreaPrice: { type: 'number', required: false },
  HOAMonth: { type: 'number', required: false },
  EstimatePrice: { type: 'number', required: false },
  RentPrice: { type: 'number', required: false },
  SpaceType: { type: 'text', required: false, values: ['Entire place', 'Room'] },
  DepositFee: { type: 'number', required: false },
} as const satisfies Record<string, ListingField>

export type ListingFieldName = keyof typeof listingFields

export function isListingField(name: string): name is ListingFieldName {
  return Object.hasOwn(listingFields, name)
}

export const listingFieldNames = Object.keys(listingFields).filter(isListingField)

/** One object of ExtensionColumn. */
export interface Pair {
  Key: string
  value: string
}

type ValueOf<Type> = Type extends 'number'
  ? number
  : Type extends 'texts'
    ? string[]
    : Type extends 'pairs'
      ? Pair[]
      : string

/**
 * A listing as kept: input names and types, absent fields left out. All but MLSNumber may be absent and texts are not held
 * to their value sets, since rows put there by hand need not be what Create would have let in.
 */
export type StandInListing = { MLSNumber: string } & {
  [Name in ListingFieldName]?: ValueOf<(typeof listingFields)[Name]['type']>
}

/** The six operations of the interface, as its section "Authentication" names them. */
export const operations = ['Create', 'Update', 'List', 'Delete', 'Edit', 'ClientAsk'] as const
export type Operation = (typeof operations)[number]

/** What `Key` and `Keys` may contain. */
export const keyTypes = ['NativeId', 'MLSNumber', 'URL'] as const
export type KeyType = (typeof keyTypes)[number]
