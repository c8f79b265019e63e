/** A listing as a row of CSV whose columns have the names of the RESO Data Dictionary, and those of the service where it has none. */
import type { Listing } from './listing.ts'

type Cell = string | number | undefined

const statuses = { Active: 'Active', PreOnMarket: 'Coming Soon', Sold: 'Closed' } as const

/** `Closed` sales have their price in ClosePrice, all other listings in ListPrice. */
const price = ({ SaleType, SalePrice, RentPrice }: Partial<Listing>): Cell =>
  SaleType === 'for_rent' ? RentPrice : SalePrice
const isClosed = ({ SaleType, Status }: Partial<Listing>): boolean => SaleType === 'for_sale' && Status === 'Sold'

/** So many of the parts by which RESO counts bathrooms that are no whole ones; '': another number. */
function bathroomParts(bathrooms: number | undefined): { full: Cell; part: 0 | 0.25 | 0.5 | 0.75 } {
  if (bathrooms === undefined) return { full: undefined, part: 0 }
  const part = bathrooms % 1
  return part === 0.25 || part === 0.5 || part === 0.75
    ? { full: Math.floor(bathrooms), part }
    : { full: undefined, part: 0 }
}
const bathrooms =
  (part: number) =>
  (listing: Partial<Listing>): Cell =>
    bathroomParts(listing.Bathrooms).part === part ? 1 : undefined

/** There is no field for a lease: it is a type of property, and the listing's own type is in PropertySubType. */
const columns: readonly [name: string, cell: (listing: Partial<Listing>) => Cell][] = [
  ['ListingId', (one) => one.MLSNumber],
  ['StandardStatus', (one) => one.Status && statuses[one.Status]],
  ['PropertyType', (one) => (one.SaleType === 'for_rent' ? 'Residential Lease' : one.PropertyType)],
  ['PropertySubType', (one) => one.PropertyType],
  ['ListPrice', (one) => (isClosed(one) ? undefined : price(one))],
  ['ClosePrice', (one) => (isClosed(one) ? price(one) : undefined)],
  ['CurrencySymbol', (one) => one.CurrencySymbol],
  ['UnparsedAddress', (one) => one.Address],
  ['City', (one) => one.City],
  ['StateOrProvince', (one) => one.State],
  ['PostalCode', (one) => one.ZIP],
  ['Latitude', (one) => one.Latitude],
  ['Longitude', (one) => one.Longitude],
  ['BedroomsTotal', (one) => one.Bedrooms],
  ['BathroomsTotalInteger', (one) => (bathroomParts(one.Bathrooms).full === undefined ? one.Bathrooms : undefined)],
  ['BathroomsFull', (one) => bathroomParts(one.Bathrooms).full],
  ['BathroomsThreeQuarter', bathrooms(0.75)],
  ['BathroomsHalf', bathrooms(0.5)],
  ['BathroomsOneQuarter', bathrooms(0.25)],
  ['LivingArea', (one) => one.BuildingArea],
  ['LivingAreaUnits', (one) => one.AreaUnit],
  ['LotSizeArea', (one) => one.LotArea],
  ['LotSizeUnits', (one) => one.AreaUnit],
  ['YearBuilt', (one) => one.YearBuilt],
  ['DaysOnMarket', (one) => one.DaysOnMarket],
  ['ParkingTotal', (one) => one.ParkingSpots],
  ['AssociationFee', (one) => one.HOAMonth],
  ['AssociationFeeFrequency', (one) => (one.HOAMonth === undefined ? undefined : 'Monthly')],
  ['ListingURL', (one) => one.Url],
  ['PublicRemarks', (one) => one.Description],
  ['Location', (one) => one.Location],
  ['UnitAreaPrice', (one) => one.UnitAreaPrice],
  ['EstimatePrice', (one) => one.EstimatePrice],
  ['DepositFee', (one) => one.DepositFee],
  ['SpaceType', (one) => one.SpaceType],
  ['Tours', (one) => one.Tours],
  ['Media', (one) => one.Images && JSON.stringify(one.Images)],
  ['ExtensionColumn', (one) => one.ExtensionColumn && JSON.stringify(one.ExtensionColumn)],
]

/** The first line, with its line break. */
export const resoHeader = `${columns.map(([name]) => name).join(',')}\r\n`

/**
 * One line, with its line break. A text that a spreadsheet would take for a formula gets an apostrophe before it: whoever
 * fills the feed could otherwise have it calculate, and fetch, on the reader's machine.
 */
export function resoRow(listing: Partial<Listing>): string {
  return `${columns.map(([, cell]) => written(cell(listing))).join(',')}\r\n`
}

function written(cell: Cell): string {
  if (typeof cell !== 'string') return cell === undefined ? '' : String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
