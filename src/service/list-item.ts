import { fieldNames } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'

/** The body of List. */
export interface ListFilter {
  SerialNumber: string
  CityName?: string
  SaleType?: 'for_sale' | 'for_rent'
  MLSNumber?: string
  /** Default: 1. */
  PageNumber?: number
  /** Default: 20. Above an undocumented maximum it may be clamped or refused. */
  PageSize?: number
}

export interface ListPage {
  List: RealEstateListItem[]
  /** Its meaning is not documented. null: none in the answer. */
  VirtualCount: number | null
}

/**
 * A listing as the service shows it, unchecked. Numbers are decimal texts, absent values empty texts. SaleType is in a display
 * form; Location and AreaUnit are not shown.
 */
export interface RealEstateListItem extends Record<
  Exclude<keyof Listing, 'AreaUnit' | 'Location' | 'Latitude' | 'Longitude'>,
  string
> {
  ID: number
  LATITUDE: number
  LONGITUDE: number
  Price: string
  Area: string
  /** The serialised array of `{ Key, value }`. */
  ExtensionColumn: string
}

/** The names of a list item, by their lower case. */
export const itemNames: ReadonlyMap<string, string> = new Map(
  [...fieldNames, 'ID', 'Price', 'Area', 'LATITUDE', 'LONGITUDE'].map((name) => [name.toLowerCase(), name]),
)
