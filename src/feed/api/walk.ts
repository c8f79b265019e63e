/** Walks all keys of a source, from the first page to the last. */
import { FeedError } from '../../core/errors.ts'
import { WholeWalk } from './proof.ts'
import type { Walked } from './proof.ts'
import { changesSince } from './pull.ts'
import { compareStamps, quoted } from './query.ts'
import type { Api, Row, RowPage } from './query.ts'

/** Most walks in one run, if they prove nothing. */
const mostWalks = 3
/** Milliseconds. A change so shortly before the walk counts as one during it, as clocks differ and servers show changes late. */
const before = 20 * 60_000

/**
 * Walks all keys. Gives the proof that they are all, or why there is none, such as a page that can't be read. Throws only the signal's
 * reason. `now`: the clock.
 */
export async function walkAll(api: Api, now: () => number): Promise<WholeWalk | { why: string }> {
  let result: WholeWalk | { why: string } = { why: 'no walk was made' }
  try {
    for (let walk = 0; walk < mostWalks && !WholeWalk.isOne(result); walk++) {
      const startedAt = now()
      if (api.vendor.counts) {
        const count = await api.count()
        const walked = await once(api)
        const counts = { before: count, after: await api.count() }
        const isEven = walked.keys.size === counts.before && walked.keys.size === counts.after
        const changed = isEven ? null : await changedSince(api, startedAt)
        result = WholeWalk.of({ walks: [walked], counts, changed })
      } else result = WholeWalk.of({ walks: [await once(api), await once(api)], counts: null, changed: null })
    }
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    return { why: error.message }
  }
  return result
}

async function once(api: Api): Promise<Walked> {
  const keys = new Map<string, string>()
  let doubled = 0
  const take = (rows: readonly Row[]): void => {
    for (const { key, stamp } of rows) {
      if (keys.has(key)) doubled++
      const known = keys.get(key)
      if (known === undefined || compareStamps(stamp, known) > 0) keys.set(key, stamp)
    }
  }
  const { walk } = api.vendor
  const ordered = { what: 'keys', order: ['ListingKey'] } as const
  const first = api.url({ filter: [], ...ordered }, walk === 'order' ? 'Property' : walk.resource)
  for (let page: RowPage = await api.ask(first); ;) {
    const { rows, next } = page
    const known = keys.size
    take(rows)
    const isFull = rows.length >= api.top.keys
    // Pages that bring nothing new could go on without end. The keys that came twice keep such a walk from proving anything.
    if (keys.size === known) break
    // By links, only the last page has none, full or not. By key, another page may follow a full one.
    if (next === null && (walk !== 'order' || !isFull)) break
    if (walk !== 'order') page = await api.ask(next!)
    else {
      const after = rows[rows.length - 1].key
      page = await api.ask(api.url({ filter: [`ListingKey gt ${quoted(after)}`], ...ordered }))
    }
  }
  return { keys, doubled }
}

/** The keys of records changed since shortly before `startedAt`. They are read and not counted, as counts are what is in doubt. */
export async function changedSince(api: Api, startedAt: number): Promise<Set<string>> {
  const keys = new Set<string>()
  for await (const rows of changesSince(api, new Date(startedAt - before).toISOString(), []))
    for (const { key } of rows) keys.add(key)
  return keys
}
