/**
 * The durable side. A reader can't write by type: `diff` gets nothing else. Keys are MLSNumbers, times milliseconds.
 * All methods throw `StoreError` where the store can't be used.
 */
import type { RunResult } from '../core/exit.ts'
import type { FeedFigures } from '../core/figures.ts'
import type { DeliverySummary, FieldName, FieldValue, Moving, MovingListing } from '../core/listing.ts'
import type { HeldKind } from '../plan/change.ts'
import type { Absence, CallKind, Recalled, SnapshotRow } from '../plan/inputs.ts'

/** A held change as kept for `approve` and `status`. */
export interface Held {
  mlsNumber: string
  kind: HeldKind | null
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

/** What the guard and the run need to know of a feed's past. */
export interface FeedState {
  /** Complete deliveries, the latest first, five at most; only the first carries keys. */
  deliveries: { at: number; records: number }[]
  lastKeys: BigUint64Array | null
  /** Listings in this feed's snapshot. */
  owned: number
  /** Rows of any sort: the snapshot, calls in flight, refusals. */
  rows: number
  /** Keys in delete calls of the last 24 hours that no approval covered. */
  deletes24h: number
  /** When a lost store was noticed for this feed: creates wait for `settle` from then. */
  lostAt: number | null
  /** True until a first run of this feed on this store has ended without failing. */
  isNew: boolean
  lastRun: RunRecord | null
  /** `finishedAt` of the last run whose result was ok, held or partial; for freshness and catching up. */
  lastSuccess: number | null
  validators: SavedValidators | null
  /** Fields already reported as shown otherwise than sent. */
  echoReported: FieldName[]
}

/** The raw hashes of a feed's snapshot under one mapping, as they were when it was read. */
export interface KnownRecords {
  /** The ids of the owned rows of a record with this raw hash, if they are all the listings that it gave; else none. */
  find(raw: string): readonly number[]
}

/** The value of one chatbot setting. */
export type SettingValue = string | number | boolean

export interface StoreReader extends RecentReader {
  feedState(feed: string, chatbot: string, now: number): FeedState
  /** Whether the store, opened for reading only, was put back from a backup, or lost its end; a `Lease` finds it, too. */
  isBehind(): boolean
  /** The last thirty different deliveries of a feed from this source, the one that came last first. */
  generations(feed: string, source: string): Generation[]
  /** Every row of the chatbot, of all its feeds, sorted by key (`compareKeys`). */
  snapshot(chatbot: string): Iterable<SnapshotRow>
  /** What `noteAbsences` wrote of a feed, sorted by key (`compareKeys`). */
  absences(feed: string, chatbot: string): Iterable<Absence>
  /**
   * Every record of the feed that need not be parsed again under this mapping for this chatbot; held in memory, a few bytes
   * each. What the feed filled in another chatbot before is not known here.
   */
  knownRecords(feed: string, chatbot: string, mapping: string): KnownRecords
  /** Throws `StoreError` where the id is not (or no longer) an owned row's. */
  recall(id: number): Recalled
  /** What was sent last under an MLSNumber of this feed and confirmed; null where there is nothing. */
  confirmed(chatbot: string, feed: string, mlsNumber: string): MovingListing | null
  /** The baseline hash of an owned row, null where there is none or a call is in flight: what is shown has to be looked at then. */
  baseline(chatbot: string, key: string): string | null
  /** Keys and kinds that an approval lets through now. */
  approved(feed: string, now: number): Set<string>
  held(feed: string): Held[]
  /** When the change of this MLSNumber that is held was first held; null where none is. */
  heldSince(feed: string, mlsNumber: string): number | null
  /** Approvals of the feed that can still be used, the oldest first. */
  openApprovals(feed: string, now: number): OpenApproval[]
  /** Whether this MLSNumber is among `deletes24h`: planned again it does not count twice. */
  inLedger(feed: string, mlsNumber: string, now: number): boolean
  /** A number learnt about the service, such as `deleteBatch`. */
  learnt(chatbot: string, name: string): number | null
  /** The chatbot settings that were applied last, by name; what may be otherwise on the service is not among them. */
  appliedSettings(chatbot: string): Map<string, SettingValue>
  figures(chatbot: string, feed: string): FeedFigures
  /** How many daemons started on this store one after another since the last `noteSteady`, and when the last one did. */
  starts(): { times: number; at: number }
  close(): void
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
  /** Where the service already shows it (adoption): the first sight is known. */
  baseline: { hash: string; echo: Recalled['echo'] } | null
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

export interface Lease {
  /** Fencing number, larger with each lease. */
  readonly token: number
  /** The store is behind what was noted beside it, so what it did last is lost: every feed's `lostAt` is now. */
  readonly isBehind: boolean
  release(): void
}

export interface Store extends StoreReader, StartsWriter {
  /** Takes the right to run; throws `StoreError` naming the holder where another process has it. Freed when the process dies. */
  lease(chatbot: string, now: number): Lease
  /** Marks calls in flight, durably, before they are sent. A delete that no approval covers also enters the ledger. */
  markInFlight(
    chatbot: string,
    feed: string,
    kind: CallKind,
    keys: readonly string[],
    now: number,
    approved: boolean,
  ): void
  /** The call surely had no effect: only the mark goes, with what a delete entered in the ledger. A row that was only a mark goes with it. */
  clearFlight(chatbot: string, keys: readonly string[]): void
  /** The call is through and the listing is there as before: only the mark goes. A row that was only a mark goes with it. */
  endFlight(chatbot: string, key: string): void
  /** Enters a delete that no MLSNumber stands for, as of one copy of several, in the ledger under a name of its own. */
  countDelete(chatbot: string, feed: string, name: string, now: number): void
  confirm(chatbot: string, confirmations: readonly Confirmation[]): void
  /** Drops rows. With `unsettledAt`, a delete in flight stays marked from that time, as an attempt may still land. */
  forget(chatbot: string, keys: readonly string[], unsettledAt: number | null): void
  /** Notes a refusal and clears the mark, unless an earlier attempt may have had an effect (`unsettled`). */
  refuse(
    chatbot: string,
    feed: string,
    key: string,
    refusal: { content: string | null; mapping: string; at: number; message: string; unsettled?: boolean },
  ): void
  touch(touches: readonly Touch[]): void
  firstSight(sights: readonly { id: number; hash: string; echo: Partial<Record<FieldName, FieldValue | null>> }[]): void
  /** Ends the streak of listings that needed no update in this run. */
  steady(ids: readonly number[]): void
  /** Counts one more absence of listings, and ends those of listings that came back. */
  noteAbsences(
    feed: string,
    chatbot: string,
    keys: { absent: readonly string[]; returned: readonly string[] },
    now: number,
  ): void
  /** Drops the absences that were not noted at `now`: they did not go on. */
  pruneAbsences(feed: string, chatbot: string, now: number): void
  recordRun(run: RunRecord): void
  /** Adds to the feed's run that began then; nothing where that is not on record. */
  recordVerified(feed: string, startedAt: number, verified: Omit<Verified, 'at'>): void
  /** `delivery` null: it says nothing about the size of the feed, as a delta does; only the validators are kept. */
  recordDelivery(feed: string, delivery: DeliveryRecord | null, validators: SavedValidators | null): void
  recordGeneration(feed: string, source: string, generation: Generation): void
  recordLost(feed: string, at: number): void
  reportEcho(feed: string, fields: readonly FieldName[]): void
  /** Replaces what is held for the feed, keeping `since` of what was held before. */
  replaceHeld(feed: string, held: Iterable<Omit<Held, 'since'>>, now: number): void
  /** Allows exactly the changes held now, until `expires`. Gives their number. */
  approve(feed: string, by: string, now: number, expires: number): number
  /** Takes back what is approved and not used yet, and keeps on record who did. Gives the number of changes. */
  revoke(feed: string, by: string, now: number): number
  /** Uses up the feed's approval of one change. */
  consumeApproval(feed: string, kind: HeldKind, mlsNumbers: readonly string[]): void
  learn(chatbot: string, name: string, value: number): void
  /** Settings that the service has confirmed. */
  rememberSettings(chatbot: string, settings: ReadonlyMap<string, SettingValue>, now: number): void
  /** Settings that may be otherwise on the service from now on: they are sent again. */
  forgetSettings(chatbot: string, names: readonly string[]): void
}

/** What a daemon notes of its own starts. Times in milliseconds. */
export interface StartsWriter {
  /** Notes that a daemon starts. Gives how many did before it that neither stayed up nor ended in order (fault-model F138). */
  noteStart(now: number): number
  /** A daemon stayed up or ends in order: the starts so far count no more. */
  noteSteady(): void
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

/** The part of `StoreReader` that tells it. */
export interface RecentReader {
  /** MLSNumbers of listings that are confirmed as they are, the latest first. */
  latestConfirmed(chatbot: string, feed: string, most: number): string[]
  /** MLSNumbers deleted after `since` that no row stands for again, the latest first; without those that were approved. */
  latestDeleted(chatbot: string, feed: string, since: number, most: number): string[]
  /** Whether a listing of any feed of the chatbot that is not sold has exactly this Address. */
  hasAddress(chatbot: string, address: string): boolean
  /** How many changes are held; `held` gives them all, which may be as many as the feed has listings. */
  heldCount(feed: string): number
  /** When the last run began whose delivery was complete and not doubted; null: never. */
  lastAccepted(feed: string): number | null
  /** Of the last run after which the chatbot was asked; null: never. */
  lastVerified(feed: string): Verified | null
}
