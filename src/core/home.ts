/** What a person knows a listing by: where it is, what it is for, and its price. */
import type { FieldName, Listing } from './listing.ts'

export interface Home {
  readonly address: string | null
  readonly city: string | null
  readonly saleType: Listing['SaleType'] | null
  /** As the feed writes it: a symbol or an ISO code. */
  readonly currency: string | null
  readonly areaUnit: Listing['AreaUnit'] | null
  /** SalePrice, or RentPrice a month. null: no price or listing then, or one that can't be compared (sale or rent, currency). */
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

/** A listing as far as it is known; null: it is not there on this side of a change. */
export type Known = Partial<Pick<Listing, (typeof homeFields)[number]>> | null

/** The home of a listing that is known before a change, after it, or both; null: neither. */
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
