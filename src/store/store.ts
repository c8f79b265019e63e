/**
 * The durable side, by role: a step is handed the roles that it needs. Each role has a reading half, and a `StoreReader`
 * is made of those: what gets nothing else, as `diff`, cannot write.
 *
 * Keys are MLSNumbers, times milliseconds since the epoch. Methods work in batches, as each may be a round trip over a
 * network. All reject with `StoreError` where the store can't be used. A write is durable once its promise is resolved.
 */
import type { RunResult } from '../core/exit.ts'
import type { FeedFigures } from '../core/figures.ts'
import type { DeliverySummary, FieldName, FieldValue, Moving, MovingListing } from '../core/listing.ts'
import type { ActionKind } from '../plan/change.ts'
import type { Absence, CallKind, Recalled, SnapshotRow } from '../plan/inputs.ts'

export interface StoreReader {
  readonly snapshot: SnapshotReader
  readonly ledger: LedgerReader
  readonly absences: AbsencesReader
  readonly holds: HoldsReader
  readonly runs: RunsReader
  readonly deliveries: DeliveriesReader
  readonly learnt: LearntReader
  /** Whether the store, opened for reading only, was put back from a backup, or lost its end; a `Lease` finds and notes it. */
  isBehind(): Promise<boolean>
  close(): Promise<void>
}

export interface Store extends StoreReader {
  readonly snapshot: Snapshot
  readonly ledger: Ledger
  readonly absences: Absences
  readonly holds: Holds
  readonly runs: Runs
  readonly deliveries: Deliveries
  readonly learnt: Learnt
  /** Takes the right to run; rejects with a `StoreError` naming the holder where another process has it. Freed when the process dies. */
  lease(chatbot: string, now: number): Promise<Lease>
}

export interface Lease {
  /** Fencing number, larger with each lease. */
  readonly token: number
  /** The store is behind what was noted beside it, so what it did last is lost: every feed's `lostAt` is now. */
  readonly isBehind: boolean
  release(): Promise<void>
}

/** The snapshot: what the service confirmed last of each listing. */
export interface SnapshotReader {
  /** Every row of the chatbot, of all its feeds, in pages sorted by key (`compareKeys`). Between two pages anything may be written. */
  rows(chatbot: string): AsyncIterable<readonly SnapshotRow[]>
  /** How many listings the feed has. */
  count(chatbot: string, feed: string): Promise<number>
  /** Whether the feed has no row of any sort: no listing, no call in flight, no refusal. */
  isEmpty(chatbot: string, feed: string): Promise<boolean>
  /**
   * Every record of the feed that need not be parsed again under this mapping for this chatbot; held in memory, a few bytes
   * each. What the feed filled in another chatbot before is not known here.
   */
  knownRecords(chatbot: string, feed: string, mapping: string): Promise<KnownRecords>
  /** By id. Rejects with `StoreError` where one is not, or no longer, of an owned row whose content is known. */
  recall(ids: readonly number[]): Promise<ReadonlyMap<number, Recalled>>
  /** What was sent last and confirmed, by key; without those of which this feed has nothing. */
  confirmed(chatbot: string, feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, MovingListing>>
  /** Baseline hashes of owned rows, by key. One without, or with a call in flight, is missing: what is shown has to be looked at then. */
  baselines(chatbot: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** MLSNumbers of listings that are confirmed as they are, the latest first. */
  latest(chatbot: string, feed: string, most: number): Promise<string[]>
  /** Whether a listing of any feed of the chatbot that is not sold has exactly this Address. */
  hasAddress(chatbot: string, address: string): Promise<boolean>
  /** Figures of what the feed has on offer, which the texts of settings may use. */
  figures(chatbot: string, feed: string): Promise<FeedFigures>
}

export interface Snapshot extends SnapshotReader {
  confirm(chatbot: string, confirmations: readonly Confirmation[]): Promise<void>
  /** Drops rows. With `unsettledAt`, a delete in flight stays marked from that time, as an attempt may still land. */
  forget(chatbot: string, keys: readonly string[], unsettledAt: number | null): Promise<void>
  /** Notes a refusal and clears the mark, unless an earlier attempt may have had an effect (`unsettled`). */
  refuse(chatbot: string, feed: string, key: string, refusal: Refusal): Promise<void>
  touch(touches: readonly Touch[]): Promise<void>
  /** Notes how the service shows listings for the first time after a write. */
  setBaselines(baselines: readonly Baseline[]): Promise<void>
  /** Ends the streak of listings that needed no update in this run. */
  endStreaks(ids: readonly number[]): Promise<void>
}

/** The raw hashes of a feed's snapshot under one mapping, as they were when it was read. */
export interface KnownRecords {
  /** The ids of the owned rows of a record with this raw hash, if they are all the listings that it gave; else none. */
  find(raw: string): readonly number[]
}

/** Everything a confirmed write tells. */
export interface Confirmation {
  key: string
  feed: string
  sent: MovingListing
  content: string
  /** How the record is recognised next time; null: the row keeps what it has, as the record was not parsed. */
  record: { raw: string | null; parts: number } | null
  mapping: string
  filled: number
  at: number
  movesAt: number | null
  suspectUntil: number | null
  /** Counts the streak up where it equals the row's, else begins a new one; null: no streak. */
  reason: string | null
  /** Where the service already shows it (adoption): how is known. */
  baseline: Omit<Baseline, 'id'> | null
}

export interface Refusal {
  content: string | null
  mapping: string
  at: number
  message: string
  unsettled?: boolean
}

/** Bookkeeping of an unchanged listing whose bytes changed. */
export interface Touch {
  id: number
  raw: string | null
  parts: number
  mapping: string
  filled: number
  moving: Moving
  movesAt: number | null
}

export interface Baseline {
  id: number
  /** Of the item as shown. */
  hash: string
  echo: Partial<Record<FieldName, FieldValue | null>>
}

/** Calls that are under way, and the deletes of the last 24 hours that no approval covered. */
export interface LedgerReader {
  /** How many keys were deleted within 24 hours. */
  deletes24h(chatbot: string, feed: string, now: number): Promise<number>
  /** Which of these keys are among `deletes24h`: planned again they do not count twice. */
  has(chatbot: string, feed: string, keys: readonly string[], now: number): Promise<ReadonlySet<string>>
  /** MLSNumbers deleted after `since` that no row stands for again, the latest first. */
  latest(chatbot: string, feed: string, since: number, most: number): Promise<string[]>
}

export interface Ledger extends LedgerReader {
  /** Marks calls in flight, durably, before they are sent. A delete that no approval covers also enters the ledger. */
  begin(
    chatbot: string,
    feed: string,
    kind: CallKind,
    keys: readonly string[],
    now: number,
    approved: boolean,
  ): Promise<void>
  /**
   * Takes the marks of calls away, and rows with them that were only a mark. `none`: the calls surely had no effect, and
   * what a delete entered goes, too; `as-before`: they are through, and the listings are there as they were.
   */
  end(chatbot: string, keys: readonly string[], effect: 'none' | 'as-before'): Promise<void>
  /** Enters a delete that no MLSNumber stands for, as of one copy of several, under a name of its own. */
  countDelete(chatbot: string, feed: string, name: string, now: number): Promise<void>
}

/** Listings absent from complete deliveries, while `limits.grace` keeps them. */
export interface AbsencesReader {
  /** What was noted of a feed, in pages sorted by key (`compareKeys`). */
  rows(chatbot: string, feed: string): AsyncIterable<readonly Absence[]>
}

export interface Absences extends AbsencesReader {
  /** Counts one more absence of listings, and ends those of listings that came back. */
  note(
    chatbot: string,
    feed: string,
    keys: { absent: readonly string[]; returned: readonly string[] },
    now: number,
  ): Promise<void>
  /** Drops the absences that were not noted at `now`: they did not go on. */
  prune(chatbot: string, feed: string, now: number): Promise<void>
}

/** Changes that are held, and what a person lets through of them. */
export interface HoldsReader {
  held(feed: string): Promise<Held[]>
  /** How many changes are held; `held` gives them all, which may be as many as the feed has listings. */
  count(feed: string): Promise<number>
  /** When the changes of these MLSNumbers that are held were first held, by MLSNumber; without those of which none is. */
  since(feed: string, mlsNumbers: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Keys and kinds that an approval lets through now. */
  approved(feed: string, now: number): Promise<ReadonlySet<string>>
  /** Approvals of the feed that can still be used, the oldest first. */
  openApprovals(feed: string, now: number): Promise<OpenApproval[]>
}

export interface Holds extends HoldsReader {
  /** Replaces what is held for the feed, wholly or not at all, keeping `since` of what was held before. */
  replace(feed: string, held: Iterable<Omit<Held, 'since'>>, now: number): Promise<void>
  /** Allows exactly the changes held now, until `expires`. Gives their number. */
  approve(feed: string, by: string, now: number, expires: number): Promise<number>
  /** Takes back what is approved and not used yet, and keeps on record who did. Gives the number of changes. */
  revoke(feed: string, by: string, now: number): Promise<number>
  /** Uses up the feed's approval of changes of one kind. */
  use(feed: string, kind: ActionKind, mlsNumbers: readonly string[]): Promise<void>
}

/** A held change as kept for `approve` and `status`. */
export interface Held {
  mlsNumber: string
  kind: ActionKind | null
  why: string
  /** When it was first held; kept over the runs as long as it is held. */
  since: number
}

/** What one person approved at one time and no run has used yet. */
export interface OpenApproval {
  by: string
  at: number
  expires: number
  /** Changes that it lets through. */
  changes: number
}

/** Runs of feeds, and starts of the daemon that begins them. */
export interface RunsReader {
  last(feed: string): Promise<RunRecord | null>
  /** `finishedAt` of the last run whose result was ok, held or partial; null: this store has seen none. */
  lastSuccess(feed: string): Promise<number | null>
  /** When the last run began whose delivery was complete and not doubted; null: never. */
  lastAccepted(feed: string): Promise<number | null>
  /** Of the last run after which the chatbot was asked; null: never. */
  lastVerified(feed: string): Promise<Verified | null>
  /** When a lost store was noticed for this feed: creates wait for `settle` from then. */
  lostAt(feed: string): Promise<number | null>
  /** How many daemons started on this store one after another since the last `noteSteady`, and when the last one did. */
  starts(): Promise<{ times: number; at: number }>
}

export interface Runs extends RunsReader {
  record(run: RunRecord): Promise<void>
  /** Adds to the feed's run that began then; nothing where that is not on record. */
  recordVerified(feed: string, startedAt: number, verified: Omit<Verified, 'at'>): Promise<void>
  recordLost(feed: string, at: number): Promise<void>
  /** Notes that a daemon starts. Gives how many did before it that neither stayed up nor ended in order. */
  noteStart(now: number): Promise<number>
  /** A daemon stayed up or ends in order: the starts so far count no more. */
  noteSteady(): Promise<void>
}

/** What is remembered of a finished run. */
export interface RunRecord {
  feed: string
  chatbot: string
  command: 'sync' | 'backfill'
  startedAt: number
  finishedAt: number
  result: RunResult
  /** Stopped by a signal before it was through. */
  interrupted: boolean
  error: string | null
  /** JSON of counts, outcomes and calls, for `status`. */
  figures: string
}

/** What the chatbot said of a run's listings, in numbers; `at`: when that run ended. */
export interface Verified {
  asked: number
  agreed: number
  disagreed: number
  unanswered: number
  tokens: number
  at: number
}

/** What the next delivery of a feed is compared with, and asked for by. */
export interface DeliveriesReader {
  /** Accepted, complete deliveries, the latest first, five at most. */
  accepted(feed: string): Promise<Pick<DeliveryRecord, 'at' | 'records'>[]>
  /** `DeliveryRecord.keys` of the latest of them. */
  lastKeys(feed: string): Promise<BigUint64Array | null>
  /** The last thirty different deliveries of a feed from this source, the one that came last first. */
  generations(feed: string, source: string): Promise<Generation[]>
  validators(feed: string): Promise<SavedValidators | null>
}

export interface Deliveries extends DeliveriesReader {
  /** `delivery` null: it says nothing about the size of the feed, as a delta does; only the validators are kept. */
  record(feed: string, delivery: DeliveryRecord | null, validators: SavedValidators | null): Promise<void>
  recordGeneration(feed: string, source: string, generation: Generation): Promise<void>
}

/** An accepted, complete delivery of a full feed, as the guard compares the next one with it. */
export interface DeliveryRecord {
  at: number
  records: number
  /** One 64-bit hash per MLSNumber, sorted. */
  keys: BigUint64Array
  /** The feed became much smaller, and that is settled: the deliveries before it are forgotten. */
  alone?: boolean
}

/** One of the last deliveries that were not doubted: a fingerprint of its records, and when it came last. */
export interface Generation {
  digest: string
  at: number
  /** When it said that it was written; null: it did not. */
  written: { by: 'document' | 'server'; at: number } | null
}

/** HTTP validators with what they stand for: usable only while the mapping and the source are the same. */
export interface SavedValidators {
  etag?: string
  lastModified?: string
  source: string
  mapping: string
  summary: DeliverySummary
}

/** What was learnt about the service, and applied to its chatbots. */
export interface LearntReader {
  /** A number by its name, such as `deleteBatch`; null: it is not known. */
  number(chatbot: string, name: string): Promise<number | null>
  /** Fields that the service shows in a form of its own, as far as it was reported of this feed. */
  forms(feed: string): Promise<FieldName[]>
  /** The chatbot settings that were applied last, by name; what may be otherwise on the service is not among them. */
  settings(chatbot: string): Promise<ReadonlyMap<string, SettingValue>>
}

export interface Learnt extends LearntReader {
  setNumber(chatbot: string, name: string, value: number): Promise<void>
  addForms(feed: string, fields: readonly FieldName[]): Promise<void>
  /** Settings that the service has confirmed. */
  setSettings(chatbot: string, settings: ReadonlyMap<string, SettingValue>, now: number): Promise<void>
  /** Settings that may be otherwise on the service from now on: they are sent again. */
  forgetSettings(chatbot: string, names: readonly string[]): Promise<void>
}

/** The value of one chatbot setting. */
export type SettingValue = string | number | boolean
