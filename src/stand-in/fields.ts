/**
 * The listing of docs/service.md, "Listing input". This folder reads that page independently of `src/core/listing.ts`, so that
 * a misreading of the client is not repeated here.
 */

/** `values`: the only texts allowed. */
export interface ListingField {
  type: 'text' | 'number' | 'texts' | 'pairs'
  required: boolean
  values?: readonly string[]
}

const fields = <Name extends string, Type extends ListingField['type'], Required extends boolean>(
  type: Type,
  required: Required,
  ...names: Name[]
) =>
  Object.fromEntries(names.map((name) => [name, { type, required }])) as Record<
    Name,
    { type: Type; required: Required }
  >

/** Every input field of Create and Update except SerialNumber. */
export const listingFields = {
  SaleType: { type: 'text', required: true, values: ['for_sale', 'for_rent'] },
  Status: { type: 'text', required: true, values: ['Active', 'PreOnMarket', 'Sold'] },
  ...fields('text', true, 'CurrencySymbol', 'PropertyType'),
  ...fields('number', true, 'Bedrooms', 'Bathrooms'),
  ...fields('text', true, 'Url', 'MLSNumber'),
  ...fields('number', true, 'YearBuilt', 'DaysOnMarket', 'LotArea', 'BuildingArea'),
  AreaUnit: { type: 'text', required: true, values: ['Square Feet', 'Square Meters'] },
  ...fields('number', true, 'ParkingSpots'),
  ...fields('texts', false, 'Images'),
  Tours: { type: 'text', required: false, values: ['OpenHouse', '3D'] },
  ...fields('text', false, 'Description'),
  ...fields('pairs', false, 'ExtensionColumn'),
  ...fields('text', false, 'Location', 'Address', 'City', 'State', 'ZIP'),
  ...fields('number', false, 'Latitude', 'Longitude', 'SalePrice', 'UnitAreaPrice', 'HOAMonth', 'EstimatePrice'),
  ...fields('number', false, 'RentPrice'),
  SpaceType: { type: 'text', required: false, values: ['Entire place', 'Room'] },
  ...fields('number', false, 'DepositFee'),
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

type Values = { text: string; number: number; texts: string[]; pairs: Pair[] }

/**
 * A listing as kept: input names and types, absent fields left out. Only MLSNumber is required and any text is allowed, since
 * rows added by hand need not be valid for Create.
 */
export type StandInListing = { MLSNumber: string } & {
  [Name in ListingFieldName]?: Values[(typeof listingFields)[Name]['type']]
}

/** The six operations. */
export const operations = ['Create', 'Update', 'List', 'Delete', 'Edit', 'ClientAsk'] as const
export type Operation = (typeof operations)[number]

export const keyTypes = ['NativeId', 'MLSNumber', 'URL'] as const
export type KeyType = (typeof keyTypes)[number]
