import type { Asked } from './check.ts'
import { Refusal } from './envelope.ts'
import type { Pair, StandInListing } from './fields.ts'
import type { StandInProfile } from './profile.ts'
import { seededRandom } from './random.ts'
import type { Row } from './rows.ts'

/**
 * Data of List: filters, sorts and cuts out one page. `rows`: in order of ID; `request`: the number of the call, so that a
 * shuffled order differs from page to page; `totalBefore`: the lagging total. Throws `Refusal`.
 */
export function page(
  rows: readonly Row[],
  wanted: Asked<'List'>,
  profile: StandInProfile,
  request: number,
  totalBefore: number,
) {
  const size = pageSize(wanted.size, profile)
  const found = inOrder(filtered(rows, wanted, profile), profile, request)
  const pages = Math.max(1, Math.ceil(found.length / size))
  if (wanted.page > pages && profile.pastTheEnd === 'refused') {
    throw new Refusal('page', `There is no page ${wanted.page}: the last is ${pages}`)
  }
  const number = profile.pastTheEnd === 'last-page' ? Math.min(wanted.page, pages) : wanted.page
  const items = found.slice((number - 1) * size, number * size).map((row) => listItem(row, profile))
  const virtualCounts = {
    total: found.length,
    pages: found.length === 0 ? 0 : pages,
    zero: 0,
    items: items.length,
    lagging: totalBefore,
  }
  return { List: items, VirtualCount: virtualCounts[profile.virtualCount] }
}

function pageSize(wanted: number, profile: StandInProfile): number {
  const most = profile.maxPageSize ?? wanted
  if (wanted > most && profile.largerPageSize === 'refused') {
    throw new Refusal('pageSize', `PageSize must not be more than ${most}`)
  }
  return Math.min(wanted, most)
}

function filtered(rows: readonly Row[], wanted: Asked<'List'>, profile: StandInProfile): readonly Row[] {
  const { city, saleType, mlsNumber } = wanted
  const tests: ((row: Row) => boolean)[] = []
  if (city) tests.push((row) => row.listing.City === city)
  if (saleType) tests.push((row) => row.listing.SaleType === saleType)
  if (mlsNumber && profile.mlsNumberFilter !== 'ignored') {
    const fold = (text: string) => (profile.caseInsensitiveKeys ? text.toLowerCase() : text)
    const part = fold(mlsNumber)
    const exact = profile.mlsNumberFilter === 'exact'
    tests.push(({ listing }) => (exact ? fold(listing.MLSNumber) === part : fold(listing.MLSNumber).includes(part)))
  }
  return tests.length === 0 ? rows : rows.filter((row) => tests.every((test) => test(row)))
}

type Order = StandInProfile['order']

const byMlsNumber = (a: Row, b: Row) =>
  a.listing.MLSNumber < b.listing.MLSNumber ? -1 : Number(a.listing.MLSNumber > b.listing.MLSNumber)

const orders: Record<Exclude<Order, 'shuffled'>, (rows: readonly Row[]) => readonly Row[]> = {
  id: (rows) => rows,
  'id-descending': (rows) => rows.toReversed(),
  'changed-first': (rows) => rows.toSorted((a, b) => b.changed - a.changed),
  MLSNumber: (rows) => rows.toSorted(byMlsNumber),
}

/** A cache: reading all pages of a hundred thousand rows would otherwise sort them a thousand times. */
const sortedOnce = new WeakMap<readonly Row[], Map<Order, readonly Row[]>>()

/** Rows with the same MLSNumber stay in order of ID. */
function inOrder(rows: readonly Row[], profile: StandInProfile, request: number): readonly Row[] {
  const { order } = profile
  if (order === 'shuffled') return shuffled(rows, seededRandom(profile.seed + request))
  const known = sortedOnce.get(rows) ?? new Map<Order, readonly Row[]>()
  sortedOnce.set(rows, known)
  const sorted = known.get(order) ?? orders[order](rows)
  known.set(order, sorted)
  return sorted
}

/** Fisher and Yates, on a copy. */
function shuffled(rows: readonly Row[], random: () => number): Row[] {
  const mixed = [...rows]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    ;[mixed[last], mixed[other]] = [mixed[other], mixed[last]]
  }
  return mixed
}

/** A list item (docs/service.md): every value is a string except ID, LATITUDE and LONGITUDE. */
type ListItem = Record<string, string | number | null>

const separators = { comma: ',', semicolon: ';', bar: '|', blank: ' ' }

/** The row as List shows it, without Location, AreaUnit and SerialNumber. */
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

/** Other values, entered by hand, are shown unchanged. */
function saleType(value: StandInListing['SaleType'], profile: StandInProfile): string {
  return value === 'for_sale' || value === 'for_rent' ? profile.saleTypeShown[value] : (value ?? '')
}

function images(addresses: readonly string[], profile: StandInProfile): string {
  const shown = addresses.slice(0, profile.cut.Images ?? addresses.length)
  if (shown.length === 0) return ''
  return profile.imagesShown === 'json' ? JSON.stringify(shown) : shown.join(separators[profile.imagesShown])
}

function pairs(column: readonly Pair[]): string {
  return column.length === 0 ? '' : JSON.stringify(column)
}

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
