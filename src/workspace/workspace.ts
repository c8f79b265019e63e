/**
 * The scratch side: one run's delivery, pages and plan, thrown away afterwards. It keeps memory flat; every list can be
 * read while another is written.
 */
import type { Delivered, MovingListing, Shown } from '../core/listing.ts'
import type { Bookkeeping, Change } from '../plan/change.ts'
import type { DeliveredRow, ShownRow } from '../plan/inputs.ts'

/** A row to add; see `DeliveredRow`. */
export interface NewDelivered {
  position: number
  delivered: Delivered
  content: string | null
  raw: string | null
  parts: number
  filled: number
  movesAt: number | null
}

/** A change in the workspace; `seq` is its number in the plan. */
export interface StoredChange extends ReportedChange {
  seq: number
}

export interface Workspace {
  /** Its folder, for other files that the run needs for a while. */
  readonly folder: string
  addDelivered(rows: readonly NewDelivered[]): void
  /** Sorted by key, then position; rejects without an MLSNumber are left out. */
  delivered(): Iterable<DeliveredRow>
  /** The row of a position that holds a listing, read whole. */
  deliveredAt(position: number): Omit<DeliveredRow, 'listing'> & MovingListing
  /** In the order of the delivery. */
  rejects(): Iterable<RejectRow>
  /** `keep` false: only key, hash and owner are kept, as the item is as its baseline. */
  addShown(rows: readonly { shown: Shown; keep: boolean }[]): void
  clearShown(): void
  /** Sorted by key. */
  shown(): Iterable<ShownRow>
  /** The hashes of the items with this MLSNumber. */
  shownAs(key: string): { hash: string }[]
  addChanges(changes: readonly Change[]): void
  /** In plan order; of one kind, where one is named. Safe while outcomes are recorded. */
  changes(kind?: Change['kind']): Iterable<StoredChange>
  /** Turns changes into holds of the guard: those for which `test` gives a sentence. */
  hold(test: (change: StoredChange) => string | null): void
  recordOutcomes(outcomes: readonly { seq: number; outcome: Outcome }[]): void
  addBookkeeping(entries: readonly Bookkeeping[]): void
  bookkeeping(): Iterable<Bookkeeping>
  close(): void
}

/** What became of one change. `unknown`: the call may have been carried out. */
export type OutcomeResult = 'done' | 'failed' | 'unknown' | 'skipped'

export interface Outcome {
  result: OutcomeResult
  error: string | null
}

/** A record that could not become a listing, as the report shows it. */
export interface RejectRow {
  at: string
  mlsNumber: string | null
  problems: string[]
}

/** A change with what became of it; `outcome` is null in a dry run and for holds. */
export interface ReportedChange extends Change {
  outcome: Outcome | null
}
