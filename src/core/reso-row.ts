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
  ['ListingId', (listing) => listing.MLSNumber],
  ['StandardStatus', (listing) => listing.Status && statuses[listing.Status]],
  ['PropertyType', (listing) => (listing.SaleType === 'for_rent' ? 'Residential Lease' : listing.PropertyType)],
  ['PropertySubType', (listing) => listing.PropertyType],
  ['ListPrice', (listing) => (isClosed(listing) ? undefined : price(listing))],
  ['ClosePrice', (listing) => (isClosed(listing) ? price(listing) : undefined)],
  ['CurrencySymbol', (listing) => listing.CurrencySymbol],
  ['UnparsedAddress', (listing) => listing.Address],
  ['City', (listing) => listing.City],
  ['StateOrProvince', (listing) => listing.State],
  ['PostalCode', (listing) => listing.ZIP],
  ['Latitude', (listing) => listing.Latitude],
  ['Longitude', (listing) => listing.Longitude],
  ['BedroomsTotal', (listing) => listing.Bedrooms],
  [
    'BathroomsTotalInteger',
    (listing) => (bathroomParts(listing.Bathrooms).full === undefined ? listing.Bathrooms : undefined),
  ],
  ['BathroomsFull', (listing) => bathroomParts(listing.Bathrooms).full],
  ['BathroomsThreeQuarter', bathrooms(0.75)],
  ['BathroomsHalf', bathrooms(0.5)],
  ['BathroomsOneQuarter', bathrooms(0.25)],
  ['LivingArea', (listing) => listing.BuildingArea],
  ['LivingAreaUnits', (listing) => listing.AreaUnit],
  ['LotSizeArea', (listing) => listing.LotArea],
  ['LotSizeUnits', (listing) => listing.AreaUnit],
  ['YearBuilt', (listing) => listing.YearBuilt],
  ['DaysOnMarket', (listing) => listing.DaysOnMarket],
  ['ParkingTotal', (listing) => listing.ParkingSpots],
  ['AssociationFee', (listing) => listing.HOAMonth],
  ['AssociationFeeFrequency', (listing) => (listing.HOAMonth === undefined ? undefined : 'Monthly')],
  ['ListingURL', (listing) => listing.Url],
  ['PublicRemarks', (listing) => listing.Description],
  ['Location', (listing) => listing.Location],
  ['UnitAreaPrice', (listing) => listing.UnitAreaPrice],
  ['EstimatePrice', (listing) => listing.EstimatePrice],
  ['DepositFee', (listing) => listing.DepositFee],
  ['SpaceType', (listing) => listing.SpaceType],
  ['Tours', (listing) => listing.Tours],
  ['Media', (listing) => listing.Images && JSON.stringify(listing.Images)],
  ['ExtensionColumn', (listing) => listing.ExtensionColumn && JSON.stringify(listing.ExtensionColumn)],
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
