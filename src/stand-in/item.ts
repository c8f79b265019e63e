import type { Pair, StandInListing } from './fields.ts'
import type { StandInProfile } from './profile.ts'
import type { Row } from './rows.ts'

/** A list item as the interface names it ("List item"): every value a string but ID, LATITUDE and LONGITUDE. */
export type ListItem = Record<string, string | number | null>

const separators = { comma: ',', semicolon: ';', bar: '|', blank: ' ' }

/** The row as List shows it. Location, AreaUnit and SerialNumber are not among the item's names. */
export function listItem(row: Row, profile: StandInProfile): ListItem {
  const listing = row.listing
  const text = (name: 'PropertyType' | 'State' | 'City' | 'Address' | 'ZIP' | 'Description') => {
    const trimmed = profile.trim ? listing[name]?.trim() : listing[name]
    const whole = (profile.htmlEscape ? escapeHtml(trimmed ?? '') : trimmed) ?? ''
    return whole.slice(0, profile.cut[name] ?? whole.length)
  }
  const money = (value: number | undefined) => decimal(value, profile.moneyShown)
  const number = (value: number | undefined) => decimal(value, profile.numbersShown)
  return {
    ID: row.id,
    PropertyType: text('PropertyType'),
    SaleType: saleType(listing.SaleType, profile),
    Status: listing.Status ?? '',
    Images: images(listing.Images ?? [], profile),
    CurrencySymbol: listing.CurrencySymbol ?? '',
    Price: money(listing.SaleType === 'for_rent' ? listing.RentPrice : listing.SalePrice),
    State: text('State'),
    City: text('City'),
    Address: text('Address'),
    ZIP: text('ZIP'),
    LATITUDE: coordinate(listing.Latitude, profile),
    LONGITUDE: coordinate(listing.Longitude, profile),
    Area: listing.BuildingArea === undefined ? '' : `${number(listing.BuildingArea)} ${listing.AreaUnit ?? ''}`.trim(),
    Bathrooms: number(listing.Bathrooms),
    Bedrooms: number(listing.Bedrooms),
    Url: listing.Url ?? '',
    Tours: listing.Tours ?? '',
    YearBuilt: number(listing.YearBuilt),
    MLSNumber: listing.MLSNumber,
    DaysOnMarket: number(listing.DaysOnMarket),
    LotArea: number(listing.LotArea),
    BuildingArea: number(listing.BuildingArea),
    ParkingSpots: number(listing.ParkingSpots),
    Description: text('Description'),
    ExtensionColumn: pairs(listing.ExtensionColumn ?? []),
    RentPrice: money(listing.RentPrice),
    SpaceType: listing.SpaceType ?? '',
    DepositFee: money(listing.DepositFee),
    SalePrice: money(listing.SalePrice),
    UnitAreaPrice: money(listing.UnitAreaPrice),
    EstimatePrice: money(listing.EstimatePrice),
    HOAMonth: money(listing.HOAMonth),
  }
}

/** U10. What a person typed in by hand is shown as it is. */
function saleType(value: StandInListing['SaleType'], profile: StandInProfile): string {
  return value === 'for_sale' || value === 'for_rent' ? profile.saleTypeShown[value] : (value ?? '')
}

/** U11. */
function images(addresses: readonly string[], profile: StandInProfile): string {
  const shown = addresses.slice(0, profile.cut.Images ?? addresses.length)
  if (shown.length === 0) return ''
  return profile.imagesShown === 'json' ? JSON.stringify(shown) : shown.join(separators[profile.imagesShown])
}

function pairs(column: readonly Pair[]): string {
  return column.length === 0 ? '' : JSON.stringify(column)
}

/** U12. */
function decimal(value: number | undefined, form: StandInProfile['moneyShown']): string {
  if (value === undefined) return ''
  if (form === 'two-decimals') return value.toFixed(2)
  return form === 'many-decimals' ? value.toFixed(10) : String(value)
}

function coordinate(degrees: number | undefined, profile: StandInProfile): string | number | null {
  if (degrees === undefined) return { zero: 0, empty: '', null: null }[profile.absentCoordinates]
  return profile.coordinateDecimals === null ? degrees : Number(degrees.toFixed(profile.coordinateDecimals))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character])
}
