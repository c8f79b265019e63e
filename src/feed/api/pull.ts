/**
 * Reads all that changed since a moment, in the order of change; without a moment that is the first load. Pages are not found by an
 * offset: each begins at the last timestamp of the one before, so that records which change or go meanwhile move no other one over
 * the edge of a page. Records that are read twice are dropped. Those without a timestamp have no place in that order: a walk of all
 * keys finds them.
 */
import { FeedError } from '../../core/errors.ts'
import { comparable, compareStamps, nextStamp, quoted } from './query.ts'
import type { Api, Row, RowPage } from './query.ts'

/** Before the timestamp of any record. Some databases know no year 1. */
const dawn = '1900-01-01T00:00:00Z'
/** How often records with one timestamp are read anew, if some of them change while they are read by links. */
const mostRereads = 5

/**
 * Pages of rows changed after `from` (null: all), in the order of the stamp. `conditions`: added to the source's own filter. `by`: a
 * field to go by instead of the vendor's stamp.
 */
export async function* changesSince(
  api: Api,
  from: string | null,
  conditions: readonly string[],
  by: string = api.vendor.stamp,
): AsyncGenerator<readonly Row[]> {
  for (let reading = 0, at = from; ; reading++) {
    const read = { moved: null as string | null }
    yield* once(api, at, conditions, by, read)
    if (read.moved === null) return
    if (reading === mostRereads)
      throw new FeedError(
        `records of one timestamp, ${read.moved}, change faster than they can be read; the next run goes on`,
      )
    at = read.moved
  }
}

async function* once(
  api: Api,
  from: string | null,
  conditions: readonly string[],
  stamp: string,
  read: { moved: string | null },
): AsyncGenerator<readonly Row[]> {
  const { orders } = api.vendor
  const order = [stamp, 'ListingKey']
  const query = (...filter: string[]) => api.url({ filter: [...conditions, ...filter], what: 'records', order })
  let at = from
  /** Keys of one timestamp, read by the server's links, which go by offsets. */
  const tied = { at: '', keys: new Set<string>() }
  let page = await api.ask(at === null ? query() : query(`${stamp} ge ${at}`))
  // Records without a timestamp come first, and may fill any number of pages.
  const undated = orders && at === null && page.rows.find((row) => row.stamp === '')
  if (undated) {
    page = await api.ask(query(`${stamp} ge ${dawn}`))
    if (page.rows.length === 0) throw api.unreadable(stamp, undated.key)
  }
  for (;;) {
    const { next } = page
    if (page.rows.length === 0) return
    const rows = page.rows.filter((row) => comparable(stampOf(row, stamp)) !== null)
    if (rows.length === 0) throw api.unreadable(stamp, page.rows[0].key)
    assertOrder(api, rows, stamp, at)
    for (const row of rows) if (stampOf(row, stamp) !== tied.at && tied.keys.has(row.key)) read.moved = tied.at
    yield rows
    const last = rows[rows.length - 1]
    const isLast = next === null && page.rows.length < api.top.records
    if (isLast) return
    const reached = stampOf(last, stamp)
    if (at === null || compareStamps(reached, at) > 0) {
      at = reached
      page = await api.ask(query(`${stamp} ge ${at}`))
    } else if (orders) {
      yield* tie(api, [...conditions, `${stamp} eq ${at}`], last.key)
      page = await api.ask(query(`${stamp} gt ${at}`))
      if (page.rows.length > 0 && compareStamps(stampOf(page.rows[0], stamp), at) <= 0) {
        // The server keeps finer timestamps than it shows, and compares those.
        const next = nextStamp(at)
        yield* tie(api, [...conditions, `${stamp} ge ${at}`, `${stamp} lt ${next}`], null)
        at = next
        page = await api.ask(query(`${stamp} ge ${at}`))
      }
    } else {
      if (tied.at !== at) tied.keys.clear()
      // Links that lead back to what was read would go on without end.
      else if (rows.every(({ key }) => tied.keys.has(key))) {
        read.moved = at
        return
      }
      tied.at = at
      for (const { key } of rows) tied.keys.add(key)
      if (next === null) return
      page = await api.ask(next)
    }
  }
}

/** All records of one timestamp, which `conditions` ask for, behind a key; null: from the first on. */
async function* tie(api: Api, conditions: readonly string[], after: string | null): AsyncGenerator<readonly Row[]> {
  const keys = new Set<string>()
  for (let key = after; ;) {
    const filter = [...conditions, ...(key === null ? [] : [`ListingKey gt ${quoted(key)}`])]
    const page: RowPage = await api.ask(api.url({ filter, what: 'records', order: ['ListingKey'] }))
    if (page.rows.length === 0) return
    // Or the same rows would come for ever.
    if (page.rows.every((row) => keys.has(row.key))) throw outOfOrder(api, 'ListingKey')
    for (const row of page.rows) keys.add(row.key)
    yield page.rows
    if (page.next === null && page.rows.length < api.top.records) return
    key = page.rows[page.rows.length - 1].key
  }
}

/** A row's value in the field that it is read by; '': none, which sorts before all. */
function stampOf(row: Row, field: string): string {
  const { [field]: stamp } = row.record
  return typeof stamp === 'string' ? stamp : ''
}

/** Throws if the server sorts in another way or does not filter, as whole stretches would be skipped. */
function assertOrder(api: Api, rows: readonly Row[], field: string, at: string | null): void {
  let before = at
  for (const row of rows) {
    const stamp = stampOf(row, field)
    if (before !== null && compareStamps(stamp, before) < 0) throw outOfOrder(api, field)
    before = stamp
  }
}

function outOfOrder(api: Api, field: string): FeedError {
  return new FeedError(
    `${api.gate.root.host} does not answer in the order of ${field} that it was asked for: check vendor`,
  )
}
