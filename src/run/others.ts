/**
 * What the marks on the service tell of the stores that wrote them. A mark of a store that is not this one, by itself, is that
 * of a lost store. One that goes on changing is another program's, which fills the same chatbot. Once is not enough: a list
 * may hide a listing and show it later, with a mark that is later than all that were seen.
 */
import type { Stamp } from '../core/mark.ts'
import type { Writer } from '../store/store.ts'

export interface Others {
  /** A later state of this very store wrote listings: it was put back from a backup. */
  readonly isBehind: boolean
  /** Stores that were not known before. */
  readonly found: readonly string[]
  /** A later mark of a store has come for the first time: every create is looked up, in case another program wrote it. */
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
  /** Other stores, as they were remembered. */
  writers: ReadonlyMap<string, Writer>
}

/** `shown`: the latest run of each store in the marks of this feed, by a list that began at `startedAt`. */
export function othersIn(
  shown: ReadonlyMap<string, number>,
  startedAt: number,
  { stamp, writers: known }: Known,
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
    // What was seen in the meantime may be the last calls of a process that died.
    const rises = before !== undefined && run > before.run && lookedAt >= since + settle
    const isAlive = rises && roseAt !== null && startedAt >= roseAt + settle
    writers.set(store, {
      run,
      since,
      lookedAt: startedAt,
      roseAt: roseAt ?? (rises ? now : null),
      wroteAt: isAlive ? now : wroteAt,
    })
  }
  const rival = [...writers].find(([, { wroteAt }]) => wroteAt !== null && now < wroteAt + rivalFor)
  const isSuspect = [...writers.values()].some(({ roseAt }) => roseAt !== null && now < roseAt + rivalFor)
  return { isBehind, found, isSuspect, rival: rival?.[0] ?? null, writers }
}
