/**
 * What the marks on the service tell of the stores that wrote them. Another store's mark alone means that a store was lost. If its
 * marks go on rising, another program fills the same chatbot. One rise is not enough: a list may hide a listing at first, and
 * later show it with a later mark.
 */
import type { Stamp } from '../core/mark.ts'
import type { Writer } from '../store/store.ts'

export interface Others {
  /** A later state of this very store wrote listings: it was put back from a backup. */
  readonly isBehind: boolean
  /** Listings bear marks of runs of this feed that the store does not know of, though it may have another name since. */
  readonly lacksRuns: boolean
  /** Stores that were not known before. */
  readonly found: readonly string[]
  /** Another store's mark has changed lately. Every create is looked up, in case another program made the listing. */
  readonly isSuspect: boolean
  /** The store of another program that fills this chatbot; null: there is none, or it has written nothing for a day. */
  readonly rival: string | null
  /** What is to be remembered of other stores. */
  readonly writers: ReadonlyMap<string, Writer>
}

/** Milliseconds after its last write until another program counts as stopped. */
const rivalFor = 86_400_000

interface Known {
  /** This store, and its run under way. */
  stamp: Stamp
  /** The run of the feed before, by the same count; null: not known. */
  runBefore: number | null
  /** Other stores, as they were remembered. */
  writers: ReadonlyMap<string, Writer>
}

/** `shown`: for each store, its latest run in this feed's marks, by a list that began at `startedAt`. */
export function othersIn(
  shown: ReadonlyMap<string, number>,
  startedAt: number,
  { stamp, runBefore, writers: known }: Known,
  now: number,
  settle: number,
): Others {
  const found: string[] = []
  const isBehind = (shown.get(stamp.store) ?? -1) >= stamp.run
  const writers = new Map(Array.from(known, ([store, writer]) => [store, { ...writer, lookedAt: startedAt }]))
  for (const [store, run] of shown) {
    if (store === stamp.store && !isBehind) continue
    const before = known.get(store)
    if (before === undefined && store !== stamp.store) found.push(store)
    const { since, lookedAt, roseAt, wroteAt } = before ?? {
      since: now,
      lookedAt: startedAt,
      roseAt: null,
      wroteAt: null,
    }
    // A change within `settle` may come from the last calls of a process that died.
    const isLater = before !== undefined && run > before.run && lookedAt >= since + settle
    const isAlive = isLater && roseAt !== null && startedAt >= roseAt + settle
    writers.set(store, {
      run: Math.max(run, before?.run ?? 0),
      since,
      lookedAt: startedAt,
      roseAt: roseAt ?? (isLater ? now : null),
      wroteAt: isAlive ? now : wroteAt,
    })
  }
  const rival = [...writers].find(([, { wroteAt }]) => wroteAt !== null && now < wroteAt + rivalFor)
  const isSuspect = [...writers.values()].some(({ roseAt }) => roseAt !== null && now < roseAt + rivalFor)
  const lacksRuns = [stamp.store, ...found].some((store) => (shown.get(store) ?? -1) > (runBefore ?? stamp.run - 1))
  return { isBehind, lacksRuns, found, isSuspect, rival: rival?.[0] ?? null, writers }
}
