/** The bodies of List (interface, "5. List" and "List item"). */
/** What is listed. */
export interface ListFilter {
  SerialNumber: string
  CityName?: string
  SaleType?: 'for_sale' | 'for_rent'
  MLSNumber?: string
  /** Default: 1. */
  PageNumber?: number
  /** Default: 20. Above its undocumented maximum a service may clamp or refuse it. */
  PageSize?: number
}

/** One page. */
export interface ListPage {
  List: RealEstateListItem[]
  /** Its meaning is not documented. null: the answer had none. */
  VirtualCount: number | null
}

/**
 * A listing as the service shows it; handed on unchecked. Money and numbers are decimal texts, what is absent an empty
 * one. SaleType is in a display form; AreaUnit is not shown.
 */
export interface RealEstateListItem {
  ID: number
  PropertyType: string
  SaleType: string
  Status: string
  Images: string
  CurrencySymbol: string
  Price: string
  State: string
  City: string
  Address: string
  ZIP: string
  LATITUDE: number
  LONGITUDE: number
  Area: string
  Bathrooms: string
  Bedrooms: string
  Url: string
  Tours: string
  YearBuilt: string
  MLSNumber: string
  DaysOnMarket: string
  LotArea: string
  BuildingArea: string
  ParkingSpots: string
  Description: string
  /** The serialised array of `{ Key, value }`. */
  ExtensionColumn: string
  RentPrice: string
  SpaceType: string
  DepositFee: string
  SalePrice: string
  UnitAreaPrice: string
  EstimatePrice: string
  HOAMonth: string
}
