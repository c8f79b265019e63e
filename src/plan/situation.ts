import { compareKeys } from '../core/listing.ts'
import type { FieldName, Listing, MovingListing } from '../core/listing.ts'
import { isSentinel } from '../core/sentinel.ts'
import { hasPassed } from '../core/turn.ts'
import { minuteIn } from '../core/zone.ts'
import type { Ask, Bookkeeping, Wanted } from './change.ts'
import { nothingRemembered } from './guard/hold.ts'
import type { Remembered } from './guard/hold.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { DeliveredRow, PlanInputs, PlanSettings, RowInBrief, ShownRow, SnapshotRow } from './inputs.ts'
import { isLookedFor } from './proof.ts'

/** All that delivery, snapshot and list say of one MLSNumber. */
export interface Situation {
  key: string
  delivered: DeliveredRow[]
  row: SnapshotRow | null
  /** A record with the very bytes of this feed's snapshot row was delivered. */
  seen: boolean
  shown: ShownRow[]
  history: Remembered
  /** Set if this run did not look at it on the service: `shown` is then what the snapshot has. */
  ask: Ask | null
}

/** A situation, and what else its decision depends on. */
export interface Case extends Situation {
  /** The row, if it is this feed's. */
  mine: SnapshotRow | null
  /** The listing belongs to this feed (docs/design.md, "Who owns a listing"). */
  ours: boolean
  settings: PlanSettings
  /** What was sent last, by the id of its snapshot row. */
  recall: (id: number) => MovingListing
  /** What the store should remember. The decision adds to it. */
  notes: Bookkeeping[]
}

/** A listing that the feed wants, in the delivery or in the snapshot. */
export interface WantedListing {
  content: string
  at: Wanted
  home: HomeHash
  /** Only the mapping changed, not the record. */
  byMapping: boolean
  listing(): Listing
  placeholders(): readonly FieldName[]
}

/** MLSNumbers that are decided together: what they need from the store is fetched in one go. */
const chunkSize = 250

/** Whose plan it is, and what was looked at for it. */
type Looked = Pick<PlanSettings, 'feed' | 'lookUps'>
type Walked = Omit<PlanInputs, 'recall'>

/**
 * Walks the sorted sides together, once, and yields chunks of MLSNumbers. Only a full page or chunk makes it wait. `isLeft` is
 * asked about rows whose MLSNumber no other side has: if it says yes, the row is passed over unread.
 */
export async function* situations(
  inputs: Walked,
  settings: Looked,
  isLeft: (row: RowInBrief) => boolean = () => false,
): AsyncGenerator<Situation[]> {
  const [delivered, shown] = [new Side([inputs.delivered]), new Side([inputs.shown])]
  const [snapshot, histories] = [new Side(inputs.snapshot), new Side(inputs.history)]
  const others = [delivered, shown, histories]
  const sides = [snapshot, ...others]
  let chunk: Situation[] = []
  let withRow: string[] = []
  try {
    for (;;) {
      let key: string | null = null
      for (const side of sides) {
        while (side.next === undefined) await side.turn()
        if (side.next !== null && (key === null || compareKeys(side.next.key, key) < 0)) key = side.next.key
      }
      if (key === null) break
      const [row = null] = snapshot.take(key)
      if (row !== null && others.every(({ next }) => next?.key !== key) && isLeft(row)) continue
      const [history = nothingRemembered] = histories.take(key)
      const sidesOf = { delivered: delivered.take(key), shown: shown.take(key), history, ask: null }
      if (row !== null) withRow.push(key)
      if (chunk.push({ key, row: null, seen: false, ...sidesOf }) < chunkSize) continue
      yield await withRows(chunk, withRow, inputs, settings)
      chunk = []
      withRow = []
    }
    yield await withRows(chunk, withRow, inputs, settings)
  } finally {
    for (const side of sides) await side.leave()
  }
}

/** The rows of a chunk are read in one go. */
async function withRows(chunk: Situation[], keys: string[], inputs: Walked, settings: Looked): Promise<Situation[]> {
  const rows = keys.length > 0 ? await inputs.rows(keys) : null
  for (const situation of chunk) {
    const row = (situation.row = rows?.get(situation.key) ?? null)
    if (row?.owned === true && row.feed === settings.feed) {
      situation.seen = inputs.seen(row.id)
      if (inputs.shownAsBefore(row.id)) situation.shown.unshift(shownAsBefore(row))
    }
    if (!isLookedFor(settings, situation.key)) presume(situation, settings)
  }
  return chunk
}

/** Takes what this run did not look at to be shown as the snapshot has it. It may only stay as it is. */
function presume(situation: Situation, { feed, lookUps }: Looked): void {
  const { key, row } = situation
  const mine = row !== null && row.feed === feed && (row.owned || row.flight !== null) ? row : null
  const mayLand = mine !== null && (mine.flight !== null || (mine.suspectUntil ?? 0) > lookUps!.listedAt)
  const isUnclear = mayLand || (mine !== null && (mine.content === null || mine.baseline === null || mine.ignored))
  const expected = mine && shownAsBefore(mine)
  situation.shown = expected === null ? [] : [expected]
  situation.ask = { key, expected, isUnclear }
}

const notKept = (): null => null
function shownAsBefore({ key, baseline, feed }: SnapshotRow): ShownRow {
  return { key, hash: baseline ?? '', owner: feed, shown: notKept }
}

/** Reads a sorted side one group of equal keys at a time. It comes in pages, and no key is in two of them. */
class Side<Row extends { key: string }> {
  readonly #pages: Iterator<Iterable<Row>> | AsyncIterator<Iterable<Row>>
  #page: Iterator<Row> = [].values()
  /** The next row; null: there is none; undefined: not known before `turn` has fetched the next page. */
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
    for (; this.next?.key === key; this.next = this.#following()) group.push(this.next)
    return group
  }

  #following(): Row | undefined {
    const { done, value } = this.#page.next()
    return done ? undefined : value
  }
}

export function caseOf(situation: Situation, settings: PlanSettings, recall: Case['recall']): Case {
  const mine = situation.row?.feed === settings.feed ? situation.row : null
  const known: Case = { ...situation, mine, ours: false, settings, recall, notes: [] }
  known.ours = isOurs(known)
  return known
}

/** Whether a listing is this feed's, by its mark on the service or else by the snapshot. */
function isOurs({ key, row, mine, shown, settings }: Case): boolean {
  const { feed, ownership, remoteStartedAt, settle } = settings
  // A test listing of a killed probe is nobody's: the next probe takes it off.
  if (row === null && isSentinel(key)) return false
  if (ownership === 'mirror' && shown.length > 0) return true
  // What that feed took over may still have the mark of before.
  if (row?.owned && mine === null && settings.unmarked?.has(row.feed)) return false
  // Another feed's row may be out of date (a store put back, a run that died): a list from `settle` after its last write knows better.
  if (row?.owned && mine === null && (row.flight !== null || remoteStartedAt < row.sentAt + settle)) return false
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner === feed)) return true
  // The mark counts for more than the row: another feed took the listing over, and this store was not told.
  if (ownership !== 'snapshot' && shown.some(({ owner }) => owner !== null)) return false
  if (mine?.owned === true) return true
  if (mine?.flight !== 'create' || shown.length === 0) return false
  // Our create without an answer made what is there, unless the mark is missing that it would have.
  return ownership === 'snapshot' || shown.some((item) => item.shown()?.unreadable.includes('ExtensionColumn') ?? true)
}

/** The name of another feed that has this listing, by the store or by the mark on the service; null: none has. */
export function otherOwner({ row, mine, shown, settings }: Case): string | null {
  if (row !== null && mine === null && (row.owned || row.flight !== null)) return row.feed
  if (settings.ownership === 'snapshot') return null
  return shown.find((item) => item.owner !== null && item.owner !== settings.feed)?.owner ?? null
}

/** Whether a call without an answer may still land: no whole list began `settle` after it, and no look-up in vain is that old. */
export function isUnderWay(row: SnapshotRow | null, settings: PlanSettings): boolean {
  if (row === null || row.flight === null) return false
  const landed = (row.flightAt ?? 0) + settings.settle
  // After the clock was set back, the look-up may bear an earlier time than the call.
  if (row.missedAt !== null && settings.now > Math.max(row.missedAt + settings.settle, landed)) return false
  return !(settings.remote.complete && settings.remoteStartedAt >= landed)
}

/** Whether an earlier attempt of an answered call may have landed after the list began, or may still land. */
export const isSuspect = ({ suspectUntil }: SnapshotRow, { remoteStartedAt }: PlanSettings): boolean =>
  suspectUntil !== null && remoteStartedAt < suspectUntil

/** Milliseconds. After a day, what the service refused or ignored is sent again. */
export const day = 86_400_000

/** Whether what was done so often in a row was undone each time. A week after the last time whatever undid it may have stopped. */
export const isInVain = (times: number, last: number | null, now: number): boolean =>
  times >= 3 && (last === null || !hasPassed(last, 7 * day, now))

/** In words, that the service refused this very content within a day; null: it did not. */
export function refusedBefore(
  row: SnapshotRow | null,
  content: string,
  { mapping, now, timezone }: Pick<PlanSettings, 'mapping' | 'now' | 'timezone'>,
): string | null {
  if (row === null || row.refusedContent !== content || row.refusedMapping !== mapping) return null
  // A nightly run begins a little earlier than the refusal of the night before.
  if (row.refusedAt === null || hasPassed(row.refusedAt, day, now)) return null
  return `refused by the service at ${minuteIn(timezone, row.refusedAt)} ("${row.refusedMessage}"): sent again when it changes, or after a day`
}
