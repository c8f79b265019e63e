/** A row as List shows it (docs/service.md, "List item"). */
import type { Row } from './service.ts'

export function itemOf({ id, listing }: Row, spelling: 'as-sent' | 'escaped'): Record<string, unknown> {
  const text = (value: string | undefined): string =>
    spelling === 'escaped' ? (value ?? '').trim().replaceAll('&', '&amp;') : (value ?? '')
  return {
    ID: id,
    MLSNumber: listing.MLSNumber,
    SaleType: 'For Sale',
    Status: listing.Status,
    CurrencySymbol: listing.CurrencySymbol,
    PropertyType: listing.PropertyType,
    Bedrooms: String(listing.Bedrooms),
    Bathrooms: String(listing.Bathrooms),
    Url: listing.Url,
    YearBuilt: String(listing.YearBuilt),
    DaysOnMarket: String(listing.DaysOnMarket),
    LotArea: `${listing.LotArea}.00`,
    BuildingArea: String(listing.BuildingArea),
    ParkingSpots: String(listing.ParkingSpots),
    SalePrice: `${listing.SalePrice}.00`,
    Description: text(listing.Description),
    Address: listing.Address ?? '',
    City: listing.City ?? '',
    Tours: listing.Tours ?? '',
    ExtensionColumn: listing.ExtensionColumn?.length ? JSON.stringify(listing.ExtensionColumn) : '',
  }
}
