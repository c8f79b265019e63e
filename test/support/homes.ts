/**
 * Invented homes and the feeds that tell of them, for the demo's fixtures, whole-run tests and benches: the same seed
 * gives the same bytes. Every home is a function of its number, so a feed of a million needs no memory.
 */
import { pick, seeded } from './random.ts'

export interface Home {
  mlsNumber: string
  status: string
  price: number
  rental: boolean
  street: string
  unit: string
  city: string
  state: string
  zip: string
  latitude: number
  longitude: number
  propertyType: string
  bedrooms: number
  fullBathrooms: number
  halfBathrooms: number
  livingArea: number
  lotAcres: number
  yearBuilt: number
  listed: string
  parking: number
  associationFee: number
  title: string
  description: string
  neighborhood: string
  photos: number
}

const towns = [
  ['Cedar Falls', 'IA', '50613', 42.5349, -92.4453],
  ['Waterloo', 'IA', '50701', 42.4928, -92.3426],
  ['Waverly', 'IA', '50677', 42.7258, -92.4755],
  ['Grundy Center', 'IA', '50638', 42.3616, -92.7685],
  ['Dike', 'IA', '50624', 42.4642, -92.6283],
] as const
const streets = [
  'Maple',
  'Prairie Rose',
  'Washington',
  'Clay',
  'Hudson',
  'College',
  'Walnut',
  'Seerley',
  'Olive',
  'Greenhill',
  'Viking',
  'Ridgeway',
]
const suffixes = ['Street', 'Avenue', 'Drive', 'Court', 'Lane', 'Boulevard']
const areas = ['Overman Park', 'Greenhill Village', 'Pinnacle Prairie', 'College Hill', 'Byrnes Park', 'Sartori']
const kinds = [
  'SingleFamily',
  'SingleFamily',
  'SingleFamily',
  'Condo',
  'Townhouse',
  'MultiFamily',
  'Apartment',
] as const
const openings = [
  'Bright corner home',
  'Quiet dead-end street',
  'Freshly painted',
  'Brick ranch',
  'Walk-out lower level',
  'Corner lot',
  'One owner since new',
]
const details = [
  'with oak floors & a gas fireplace',
  'close to trails, schools & the river',
  'with a fenced yard and raised garden beds',
  "with the original woodwork of the 1920's",
  'with a kitchen redone last spring',
  'with two stalls, workshop & attic storage',
]
const closings = [
  'Roof 2019, furnace 2021.',
  'No pets, please.',
  'Taxes < $3,000 a year.',
  'Seller offers a one-year home warranty.',
  'Ask about the lot next door.',
]

/** The home of this number; `seed` makes another town of it. */
export function home(number: number, seed = 1): Home {
  const random = seeded(seed * 1_000_003 + number)
  const whole = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1))
  const [city, state, zip, latitude, longitude] = pick(random, towns)
  const propertyType = pick(random, kinds)
  const rental = propertyType === 'Apartment'
  const bedrooms = rental ? whole(0, 3) : whole(2, 5)
  const livingArea = 480 + bedrooms * whole(260, 520)
  const sentence = (): string => `${pick(random, openings)} ${pick(random, details)}.`
  return {
    mlsNumber: `IA${20_000_000 + number}`,
    status: rental ? 'For Rent' : 'Active',
    price: rental ? whole(65, 190) * 10 : Math.round((livingArea * whole(115, 210)) / 100) * 100,
    rental,
    street: `${whole(101, 4999)} ${pick(random, streets)} ${pick(random, suffixes)}`,
    unit: propertyType === 'Condo' || rental ? `${whole(1, 24)}` : '',
    city,
    state,
    zip,
    latitude: Number((latitude + random() * 0.04 - 0.02).toFixed(6)),
    longitude: Number((longitude + random() * 0.04 - 0.02).toFixed(6)),
    propertyType,
    bedrooms,
    fullBathrooms: whole(1, 3),
    halfBathrooms: whole(0, 1),
    livingArea,
    lotAcres: Number((0.08 + random() * 0.6).toFixed(2)),
    yearBuilt: whole(1908, 2024),
    listed: `2026-${String(whole(7, 10)).padStart(2, '0')}-${String(whole(1, 28)).padStart(2, '0')}`,
    parking: whole(0, 3),
    associationFee: propertyType === 'Condo' ? whole(90, 320) : 0,
    title: `${bedrooms === 0 ? 'Studio' : `${bedrooms} bedrooms`} in ${city}`,
    description: `${sentence()} ${sentence()} ${pick(random, closings)}`,
    neighborhood: pick(random, areas),
    photos: whole(3, 12),
  }
}

/** Their MLSNumbers, sorted. */
export const keys = (some: readonly Home[]): string[] => some.map((home) => home.mlsNumber).toSorted()

/** The homes of these numbers, both ends included. */
export const homes = (from: number, to: number): Home[] =>
  Array.from({ length: to - from + 1 }, (_, i) => home(from + i))

/** The same home for 100 more. */
export const dearer = (home: Home): Home => ({ ...home, price: home.price + 100 })

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

/** A record of the Zillow Interchange Format, about 2 kB; `padding` adds so many photos (about 100 bytes each). */
export function zillowRecord(home: Home, padding = 0): string {
  const photo = (index: number): string =>
    `      <Picture><PictureUrl>https://photos.homes.example/${home.mlsNumber}/${index}.jpg</PictureUrl><Caption/></Picture>\n`
  let photos = ''
  for (let index = 1; index <= home.photos + padding; index++) photos += photo(index)
  const fee = home.associationFee > 0 ? `${home.associationFee}.00` : ''
  return `  <Listing>
    <Location>
      <StreetAddress>${escaped(home.street)}</StreetAddress>
      <UnitNumber>${home.unit}</UnitNumber>
      <City>${home.city}</City>
      <State>${home.state}</State>
      <Zip>${home.zip}</Zip>
      <Lat>${home.latitude}</Lat>
      <Long>${home.longitude}</Long>
      <DisplayAddress>Yes</DisplayAddress>
    </Location>
    <ListingDetails>
      <Status>${home.status}</Status>
      <Price>${home.price}.00</Price>
      <ListingUrl>https://homes.example/${home.mlsNumber}</ListingUrl>
      <MlsId>${home.mlsNumber}</MlsId>
      <MlsName>Cedar Valley</MlsName>
      <DateListed>${home.listed} 00:00:00</DateListed>
      <VirtualTourUrl/>
    </ListingDetails>
    <BasicDetails>
      <PropertyType>${home.propertyType}</PropertyType>
      <Title>${escaped(home.title)}</Title>
      <Description><![CDATA[${home.description}]]></Description>
      <Bedrooms>${home.bedrooms}</Bedrooms>
      <Bathrooms/>
      <FullBathrooms>${home.fullBathrooms}</FullBathrooms>
      <HalfBathrooms>${home.halfBathrooms}</HalfBathrooms>
      <ThreeQuarterBathrooms/>
      <LivingArea>${home.livingArea}</LivingArea>
      <LotSize>${home.lotAcres}</LotSize>
      <YearBuilt>${home.yearBuilt}</YearBuilt>
    </BasicDetails>
    <Pictures>
${photos}    </Pictures>
    <Agent>
      <FirstName>Robin</FirstName>
      <LastName>Example</LastName>
      <PictureUrl>https://photos.homes.example/agents/7.jpg</PictureUrl>
    </Agent>
    <OpenHouses><OpenHouse/></OpenHouses>
    <Fees><Fee><FeeType>HOA</FeeType><FeeAmount>${fee}</FeeAmount><FeePeriod>Monthly</FeePeriod></Fee></Fees>
    <Neighborhood><Name>${home.neighborhood}</Name></Neighborhood>
    <RichDetails>
      <NumParkingSpaces>${home.parking}</NumParkingSpaces>
      <Appliances><Appliance>Dishwasher</Appliance><Appliance>Range</Appliance></Appliances>
    </RichDetails>
  </Listing>
`
}

export const zillowStart = "<?xml version='1.0' encoding='UTF-8'?>\n<Listings>\n"
export const zillowEnd = '</Listings>\n'

export function zillowFeed(homes: Iterable<Home>): string {
  let records = ''
  for (const home of homes) records += zillowRecord(home)
  return zillowStart + records + zillowEnd
}

const columns: Record<string, (home: Home) => string | number> = {
  ListingKey: (home) => home.mlsNumber.slice(2),
  ListingId: (home) => home.mlsNumber,
  StandardStatus: (home) => (home.rental ? 'Active' : home.status),
  PropertyType: (home) => (home.rental ? 'Residential Lease' : 'Residential'),
  PropertySubType: (home) => (home.rental ? 'Apartment' : 'Single Family Residence'),
  ListPrice: (home) => `${home.price}.0`,
  BedroomsTotal: (home) => home.bedrooms,
  BathroomsFull: (home) => home.fullBathrooms,
  BathroomsHalf: (home) => home.halfBathrooms,
  LivingArea: (home) => `${home.livingArea}.0`,
  LivingAreaUnits: () => 'Square Feet',
  LotSizeAcres: (home) => home.lotAcres,
  YearBuilt: (home) => home.yearBuilt,
  DaysOnMarket: () => 12,
  ParkingTotal: (home) => `${home.parking}.0`,
  UnparsedAddress: (home) => home.street,
  City: (home) => home.city,
  StateOrProvince: (home) => home.state,
  PostalCode: (home) => home.zip,
  Country: () => 'US',
  Latitude: (home) => home.latitude,
  Longitude: (home) => home.longitude,
  SubdivisionName: (home) => home.neighborhood,
  PublicRemarks: (home) => home.description,
  ListingURL: (home) => `https://homes.example/${home.mlsNumber}`,
  AssociationFee: (home) => home.associationFee,
  AssociationFeeFrequency: (home) => (home.associationFee > 0 ? 'Monthly' : ''),
}

const cell = (value: string | number): string => {
  const text = String(value)
  return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text
}

/** The header of a RESO CSV; `width` adds columns of no meaning up to that number, as wide exports have them. */
export function resoHeader(width = 0): string {
  const names = Object.keys(columns)
  for (let i = names.length; i < width; i++) names.push(`LocalField${i}`)
  return `${names.join(',')}\n`
}

export function resoRow(home: Home, width = 0): string {
  const cells = Object.values(columns).map((value) => cell(value(home)))
  for (let i = cells.length; i < width; i++) cells.push(i % 3 === 0 ? `value ${(home.price * i) % 9973}` : '')
  return `${cells.join(',')}\n`
}

export function resoFeed(homes: Iterable<Home>): string {
  let rows = resoHeader()
  for (const home of homes) rows += resoRow(home)
  return rows
}
