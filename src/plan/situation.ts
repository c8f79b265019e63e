import { compareKeys } from '../core/listing.ts'
import type { FieldName, Listing, MovingListing } from '../core/listing.ts'
import { isSentinel } from '../core/sentinel.ts'
import { minuteIn } from '../core/zone.ts'
import type { Ask, Bookkeeping, Wanted } from './change.ts'
import { nothingRemembered } from './guard/hold.ts'
import type { Remembered } from './guard/hold.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { DeliveredRow, PlanInputs, PlanSettings, RowInBrief, ShownRow, SnapshotRow } from './inputs.ts'

/** All that the three sides say of one MLSNumber. */
export interface Situation {
  key: string
  delivered: DeliveredRow[]
  row: SnapshotRow | null
  /** The delivery held the very bytes of this feed's snapshot row. */
  seen: boolean
  shown: ShownRow[]
  history: Remembered
  /** Nobody looked at it in this run, so that `shown` is what the snapshot has; null: somebody did. */
  ask: Ask | null
}

/** A situation with what the decision depends on beside it. */
export interface Case extends Situation {
  /** The row, where it is this feed's. */
  mine: SnapshotRow | null
  ours: boolean
  settings: PlanSettings
  recall: (id: number) => MovingListing
  /** What the store should remember; the decision adds to it. */
  notes: Bookkeeping[]
}

/** What is wanted for one MLSNumber, wherever it is kept. */
export interface WantedListing {
  content: string
  at: Wanted
  home: HomeHash
  /** The mapping changed, not the record. */
  byMapping: boolean
  listing(): Listing
  /** Its fields that are placeholders. */
  placeholders(): readonly FieldName[]
}

/** So many MLSNumbers are decided together: what that needs beside them is fetched in one go. */
const chunkSize = 250

export interface Chunk {
  situations: Situation[]
  /** How many rows were passed over meanwhile. */
  left: number
}

/**
 * Walks the sorted sides together, once, one MLSNumber after another, in chunks. It waits only where a page or a chunk is full.
 * `isLeft` is asked of rows of whose MLSNumber no other side says anything; those for which it holds are passed over unread.
 */
export async function* situations(
  inputs: Omit<PlanInputs, 'recall'>,
  feed: string,
  isLeft: (row: RowInBrief) => boolean = () => false,
): AsyncGenerator<Chunk> {
  const [delivered, shown] = [new Side([inputs.delivered]), new Side([inputs.shown])]
  const [snapshot, histories] = [new Side(inputs.snapshot), new Side(inputs.history)]
  const others = [delivered, shown, histories]
  const sides = [snapshot, ...others]
  let chunk: Chunk = { situations: [], left: 0 }
  let withRow: string[] = []
  try {
    for (;;) {
      let key: string | null = null
      for (const side of sides) {
        while (side.next === undefined) await side.turn()
        if (side.next !== null && (key === null || compareKeys(side.next.key, key) < 0)) key = side.next.key
      }
      if (key === null) break
      const row = snapshot.next?.key === key ? snapshot.next : null
      if (row !== null) snapshot.pass()
      if (row !== null && others.every(({ next }) => next?.key !== key) && isLeft(row)) {
        chunk.left++
        continue
      }
      const [history = nothingRemembered] = histories.take(key)
      const sidesOf = { delivered: delivered.take(key), shown: shown.take(key), history, ask: null }
      if (row !== null) withRow.push(key)
      if (chunk.situations.push({ key, row: null, seen: false, ...sidesOf }) < chunkSize) continue
      yield await withRows(chunk, withRow, inputs, feed)
      chunk = { situations: [], left: 0 }
      withRow = []
    }
    yield await withRows(chunk, withRow, inputs, feed)
  } finally {
    for (const side of sides) await side.leave()
  }
}

/** The rows of a chunk are read in one go. */
async function withRows(
  chunk: Chunk,
  keys: readonly string[],
  inputs: Pick<PlanInputs, 'rows' | 'seen' | 'shownAsBefore'>,
  feed: string,
): Promise<Chunk> {
  const rows = keys.length > 0 ? await inputs.rows(keys) : null
  for (const situation of chunk.situations) {
    const row = (situation.row = rows?.get(situation.key) ?? null)
    if (row === null || !row.owned || row.feed !== feed) continue
    situation.seen = inputs.seen(row.id)
    if (inputs.shownAsBefore(row.id)) situation.shown.unshift(shownAsBefore(row))
  }
  return chunk
}

export function shownAsBefore({ key, baseline, feed }: SnapshotRow): ShownRow {
  return { key, hash: baseline ?? '', owner: feed, shown: notKept }
}

const notKept = (): null => null

/** Reads a sorted side one group of equal keys at a time. It comes in pages, no key in two of them. */
class Side<Row extends { key: string }> {
  readonly #pages: Iterator<Iterable<Row>> | AsyncIterator<Iterable<Row>>
  #page: Iterator<Row> = [].values()
  /** null: there is none; undefined: the next page has to be turned to before it can be told. */
  next: Row | null | undefined

  constructor(pages: readonly Iterable<Row>[] | AsyncIterable<Iterable<Row>>) {
    this.#pages = Symbol.asyncIterator in pages ? pages[Symbol.asyncIterator]() : pages.values()
  }

  async turn(): Promise<void> {
    const { done, value } = await this.#pages.next()
    if (!done) this.#page = value[Symbol.iterator]()
    this.next = done ? null : this.#following()
  }

  async leave(): Promise<void> {
    await this.#pages.return?.()
  }

  take(key: string): Row[] {
    const group: Row[] = []
    for (; this.next?.key === key; this.pass()) group.push(this.next)
    return group
  }

  pass(): void {
    this.next = this.#following()
  }

  #following(): Row | undefined {
    const { done, value } = this.#page.next()
    return done ? undefined : value
  }
}

export function caseOf(situation: Situation, settings: PlanSettings, recall: Case['recall']): Case {
  const { row } = situation
  const mine = row !== null && row.feed === settings.feed ? row : null
  const one: Case = { ...situation, mine, ours: false, settings, recall, notes: [] }
  one.ours = isOurs(one)
  return one
}

/** Whether a listing is in this feed's snapshot, or marked as this feed's on the service. */
function isOurs({ key, row, mine, shown, settings }: Case): boolean {
  const { feed, ownership, remoteStartedAt, settle } = settings
  // A test listing that a killed probe left is not what somebody made: the next probe takes it off.
  if (row === null && isSentinel(key)) return false
  if (ownership === 'mirror' && shown.length > 0) return true
  // This store was put back, or the run that took the listing over died: a list from well after the row's last write tells.
  const tells = row === null || (row.flight === null && remoteStartedAt >= row.sentAt + settle)
  if (row !== null && row.owned && mine === null && !tells) return false
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner === feed)) return true
  // The mark says more than the row: another feed took the listing over, and this store, or this run, was not told.
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner !== null)) return false
  if (mine?.owned === true) return true
  if (mine?.flight !== 'create' || shown.length === 0) return false
  // A create without answer made what is there, unless the mark that it would bear is missing.
  return ownership === 'snapshot' || shown.some((item) => item.shown()?.unreadable.includes('ExtensionColumn') ?? true)
}

/** Whether a call without an answer may still land on this MLSNumber. */
export const isUnderWay = (row: SnapshotRow | null, settings: PlanSettings): boolean =>
  row !== null && row.flight !== null && !isSettled(row, settings)

/**
 * Whether it can be told by now what became of the call in flight: by a whole list that began late enough or, where lists
 * are not whole, by look-ups, of which the first showed nothing longer ago than `settle`.
 */
function isSettled({ flightAt, missedAt }: SnapshotRow, settings: PlanSettings): boolean {
  const landed = (flightAt ?? 0) + settings.settle
  // A clock that was set back may have noted the look-up before the call.
  if (missedAt !== null && settings.now > Math.max(missedAt + settings.settle, landed)) return true
  return settings.remote.complete && settings.remoteStartedAt >= landed
}

/** Whether an earlier attempt of an answered call may have landed since the list began, or still may. */
export const isSuspect = ({ suspectUntil }: SnapshotRow, { remoteStartedAt }: PlanSettings): boolean =>
  suspectUntil !== null && remoteStartedAt < suspectUntil

/** What was refused is sent again after a day, in milliseconds. */
const sentAgainAfter = 86_400_000

/** That the service refused this very content within a day, in words; null: it did not. */
export function refusedBefore(
  row: SnapshotRow | null,
  content: string,
  { mapping, now, timezone }: Pick<PlanSettings, 'mapping' | 'now' | 'timezone'>,
): string | null {
  if (row === null || row.refusedContent !== content || row.refusedMapping !== mapping) return null
  if (row.refusedAt === null || now - row.refusedAt >= sentAgainAfter) return null
  return `refused by the service at ${minuteIn(timezone, row.refusedAt)} ("${row.refusedMessage}"): sent again when it changes, or after a day`
}
