import type { CheckedRequest } from './check.ts'
import { Refusal } from './envelope.ts'
import { listItem } from './item.ts'
import type { ListItem } from './item.ts'
import type { StandInProfile } from './profile.ts'
import { seededRandom } from './random.ts'
import type { Row } from './rows.ts'

type ListRequest = Extract<CheckedRequest, { operation: 'List' }>

/** Data of List. */
export interface Page {
  List: ListItem[]
  VirtualCount: number
}

/**
 * Filters, orders and cuts out one page (U8, U9). `rows` come in order of ID; `request` numbers the calls, so that a
 * shuffled order differs from one page to the next; `totalBefore` is the lagging total. Throws `Refusal`.
 */
export function page(
  rows: readonly Row[],
  wanted: ListRequest,
  profile: StandInProfile,
  request: number,
  totalBefore: number,
): Page {
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

function filtered(rows: readonly Row[], wanted: ListRequest, profile: StandInProfile): readonly Row[] {
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

/** A walk over the pages of a hundred thousand rows would sort them a thousand times without this. */
const sortedOnce = new WeakMap<readonly Row[], Map<Order, readonly Row[]>>()

/** U9. Rows with one MLSNumber stay in order of ID. */
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
