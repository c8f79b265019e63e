/** What a person knows a listing by: where it is, what it is for, and its price. */
import type { FieldName, Listing } from './listing.ts'

export interface Home {
  readonly address: string | null
  readonly city: string | null
  readonly saleType: Listing['SaleType'] | null
  /** As the feed writes it: a symbol or an ISO code. */
  readonly currency: string | null
  readonly areaUnit: Listing['AreaUnit'] | null
  /** SalePrice, or RentPrice a month; null: it has none then, is not there, or was for something else or in another currency. */
  readonly price: { readonly from: number | null; readonly to: number | null }
}

/** The fields of a listing that `homeOf` reads. */
export const homeFields = [
  'Address',
  'City',
  'SaleType',
  'CurrencySymbol',
  'AreaUnit',
  'SalePrice',
  'RentPrice',
] as const satisfies FieldName[]

/** A listing as far as it is known; a side of a change on which it is not there is null. */
export type Known = Partial<Pick<Listing, (typeof homeFields)[number]>> | null

/** Of what a listing was and will be. null: neither is known. */
export function homeOf(before: Known, after: Known): Home | null {
  const known = after ?? before
  if (known === null) return null
  const isLike = before?.SaleType === known.SaleType && before?.CurrencySymbol === known.CurrencySymbol
  return {
    address: known.Address ?? null,
    city: known.City ?? null,
    saleType: known.SaleType ?? null,
    currency: known.CurrencySymbol ?? null,
    areaUnit: known.AreaUnit ?? null,
    price: { from: isLike ? priceOf(before) : null, to: priceOf(after) },
  }
}

function priceOf(listing: Known): number | null {
  const { SaleType, SalePrice, RentPrice } = listing ?? {}
  return (SaleType === 'for_rent' ? (RentPrice ?? SalePrice) : (SalePrice ?? RentPrice)) ?? null
}
