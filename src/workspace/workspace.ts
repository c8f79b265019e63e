/**
 * The scratch side: one run's delivery, pages and plan, thrown away afterwards. It keeps memory flat; every list can be
 * read while another is written.
 */
import type { Known } from '../core/home.ts'
import type { Delivered, Glimpse, Listing, MovingListing } from '../core/listing.ts'
import type { Action, Bookkeeping, Change, ChangeKind, Create, Planned } from '../plan/change.ts'
import type { FactKind } from '../plan/guard/facts.ts'
import type { Beside } from '../plan/guard/guard.ts'
import type { Remembered, Weighed } from '../plan/guard/hold.ts'
import type { DeliveredRow, ShownRow } from '../plan/inputs.ts'
import type { Sides } from '../plan/proof.ts'

/** A row to add. */
export type NewDelivered = Omit<DeliveredRow, 'key' | 'at' | 'kind' | 'why' | 'listing'> & { delivered: Delivered }

/** A change as it lies in the workspace; `outcome` is null until something became of it, as it stays for holds. */
export interface Stored<C extends Change = Change> {
  /** Its number in the plan. */
  readonly seq: number
  readonly change: C
  readonly weighed: Weighed
  /** What earlier runs left of its MLSNumber. */
  readonly remembered: Remembered
  /** What it is with another change of the same home, once they are paired. */
  readonly pair: Beside['pair']
  readonly outcome: Outcome | null
}

/** The change, or changes, of one kind. */
export type OfKind<Kind extends ChangeKind> = Extract<Change, { kind: Kind }>

export interface Workspace {
  /** Its folder, for other files that the run needs for a while. */
  readonly folder: string
  addDelivered(rows: readonly NewDelivered[]): void
  /** Sorted by key, then position; rejects without an MLSNumber are left out. */
  delivered(): Iterable<DeliveredRow>
  /** Notes that the very bytes of a snapshot row were delivered; false where they had been before. */
  addSeen(id: number): boolean
  /** Notes every snapshot row as delivered: the source says that it did not change. */
  addAllSeen(): void
  isSeen(id: number): boolean
  /**
   * Takes back what was delivered of this MLSNumber, and that the very bytes of its snapshot row were (`id`; null: there is none), but
   * not what can't be read. Gives what each record was.
   */
  takeBack(key: string, id: number | null): Delivered['kind'][]
  /** The records of this MLSNumber that were added, without rejects. */
  deliveredAs(key: string): Delivered[]
  /** Whether a record of this MLSNumber was added that is no reject. */
  isReadable(key: string): boolean
  /** Whether any record of this MLSNumber was added, behind a position where one is given. */
  isDelivered(key: string, behind?: number): boolean
  /** The row of a position that holds a listing, read whole. */
  deliveredAt(position: number): Omit<DeliveredRow, 'listing'> & MovingListing
  /** In the order of the delivery. */
  rejects(): Iterable<RejectRow>
  /** Rows of a second table (`join`) by its name; `key` names the record, `rank` the place among its rows. */
  addJoined(name: string, rows: readonly { key: string; rank: number; cells: readonly string[] }[]): void
  /** Forgets a table that is not whole. */
  dropJoined(name: string): void
  /** The key of a record whose rows hold more than so many characters; null: of none. Called once the table is read. */
  joinedBeyond(name: string, most: number): string | null
  /** The rows of a record, by rank, then as they came. */
  joinedOf(name: string, key: string): string[][]
  /** `keep` false: only key, hash and owner are kept, as the item is as its baseline. */
  addShown(rows: readonly { item: Glimpse; keep: boolean }[]): void
  /**
   * Notes that the item of a snapshot row is as its baseline and has the mark of its feed, in place of a row of its own; false
   * where it had been noted before.
   */
  addShownAsBefore(id: number): boolean
  isShownAsBefore(id: number): boolean
  clearShown(): void
  /** Sorted by key, without what was noted by its snapshot row. */
  shown(): Iterable<ShownRow>
  /** The items with this MLSNumber, without what was noted by its snapshot row. */
  shownAs(key: string): Pick<ShownRow, 'hash' | 'shown'>[]
  /** Notes of listings as they were sent last by what a person knows them (`homeFields`), for reports. */
  noteListings(listings: readonly Listing[]): void
  /** null: nothing was noted of it. */
  notedListing(key: string): Known
  /**
   * `sides`: what was known of delivery and list; by it a change by absence is proven again when it is read back.
   */
  addChanges(changes: readonly Planned[], sides: Sides): void
  /**
   * In plan order; of one kind, where one is named. Safe while outcomes are recorded. Throws where a change by absence has no
   * proof in the rows of this workspace.
   */
  changes(): Iterable<Stored>
  changes<Kind extends ChangeKind>(kind: Kind): Iterable<Stored<OfKind<Kind>>>
  /** Those that were tried and not carried out, or nobody knows. */
  open(): Iterable<Stored>
  /**
   * Pairs deletes with creates of something new at the same home, each with one: they are one listing under another MLSNumber. What is
   * forgotten is paired with what no delete is. A delete that waits for the end of its grace waits no more then: its home is not
   * absent. One that lacks its proof stays a hold. Called once, after the last `addChanges`.
   * Gives of such pairs, where a home has but one, the MLSNumber that leaves, and the create with its number in the plan.
   */
  pairs(): Iterable<{ gone: string; seq: number; create: Create }>
  /** Notes of such creates which kinds of fact they change beyond belief against what is under the old number. */
  noteBroken(creates: readonly { seq: number; create: Create; broken: readonly FactKind[] }[]): void
  /**
   * Replaces actions by the change that `turn` gives, with what the guard made of it; `remembered`: only those with something
   * remembered, or with a pair.
   */
  turn(
    which: 'all' | 'remembered' | 'paired',
    turn: (action: Action, beside: Beside) => Pick<Stored, 'change' | 'weighed'> | null,
  ): void
  /** Whether a listing of this home was to be forgotten and was not, as the service has it after all, or nobody could ask. */
  isStillThere(home: string): boolean
  /** Whether a delete is one of two of a home, and what comes there was not created, or nobody knows it yet. */
  isNotThereYet(seq: number): boolean
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
