/**
 * The scratch side of one run: its delivery, list and plan, thrown away afterwards. It keeps memory flat. Each part can be read
 * while another one is written.
 */
import type { Known } from '../core/home.ts'
import type { Delivered, Glimpse, Listing, MovingListing, Shown } from '../core/listing.ts'
import type { OutcomeResult } from '../core/outcome.ts'
import type { Action, Bookkeeping, Change, ChangeKind, Create, Planned } from '../plan/change.ts'
import type { FactKind } from '../plan/guard/facts.ts'
import type { Beside } from '../plan/guard/guard.ts'
import type { Remembered, Weighed } from '../plan/guard/hold.ts'
import type { DeliveredRow, ShownRow } from '../plan/inputs.ts'
import type { Sides } from '../plan/proof.ts'

/** A row of the delivery as it is kept: with what the snapshot takes of it and no plan asks for. */
export interface StoredDelivered extends Omit<DeliveredRow, 'listing'> {
  /** How many listings the record gave: it is skipped next time only if all of them are in the snapshot. */
  parts: number
  /** When the listing changes by itself (an open house ends), in milliseconds. */
  movesAt: number | null
}

/** A row to add. */
export type NewDelivered = Omit<StoredDelivered, 'key' | 'at' | 'kind' | 'why'> & { delivered: Delivered }

/** A change as it lies in the workspace. `outcome` is null until there is one; a hold never has one. */
export interface Stored<C extends Change = Change> {
  /** Its number in the plan. */
  readonly seq: number
  readonly change: C
  readonly weighed: Weighed
  /** What earlier runs left about its MLSNumber. */
  readonly remembered: Remembered
  /** How it is paired with another change of the same home. */
  readonly pair: Beside['pair']
  readonly outcome: Outcome | null
}

/** One listing under the MLSNumber that was sent, and the one that the service lists. */
export interface Respelled {
  readonly sent: string
  readonly listed: string
  /** Another listing was sent under the number that the service lists. */
  readonly isTaken?: boolean
}

/** The change, or changes, of one kind. */
export type OfKind<Kind extends ChangeKind> = Extract<Change, { kind: Kind }>

export interface Workspace {
  /** Its folder, also for other files of the run. */
  readonly folder: string
  addDelivered(rows: readonly NewDelivered[]): void
  /** Sorted by key, then position; rejects without an MLSNumber are left out. */
  delivered(): Iterable<DeliveredRow>
  /** Notes that the very bytes of a snapshot row were delivered; false if that was noted before. */
  addSeen(id: number): boolean
  /** Notes every snapshot row as delivered: the source says that it did not change. */
  addAllSeen(): void
  isSeen(id: number): boolean
  /**
   * Removes what was delivered of this MLSNumber, and the note that the bytes of its snapshot row were (`id`; null: it has none).
   * Rejects stay. Gives the kind of each removed record.
   */
  takeBack(key: string, id: number | null): Delivered['kind'][]
  /**
   * Makes room for records of another document (`isReadable`: it is no reject). What was added of their MLSNumbers up to a position goes
   * if the record can be read, but for what `isLater` says was said later. Gives for each record the kinds of those that went; null: a
   * record that can be read was said later, so that this one says nothing.
   */
  replace(
    records: readonly { key: string; isReadable: boolean }[],
    upTo: number,
    isLater: (position: number) => boolean,
  ): (Delivered['kind'][] | null)[]
  /** Removes all that was added in these spans: behind the first position, up to the second one. Gives the kind of each record. */
  drop(spans: readonly (readonly [number, number])[]): Delivered['kind'][]
  /** The records of this MLSNumber that were added, without rejects. By mistake a feed may give all of its records one. */
  deliveredAs(key: string): Iterable<Delivered>
  /** Whether a record of this MLSNumber was added that is no reject. */
  isReadable(key: string): boolean
  /** Whether any record of this MLSNumber was added, behind a position where one is given. */
  isDelivered(key: string, behind?: number): boolean
  /** The row of a position that holds a listing, read whole. */
  deliveredAt(position: number): StoredDelivered & MovingListing
  /** In the order of the delivery. */
  rejects(): Iterable<RejectRow>
  /** Rows of a second table (`join`) by its name; `key` names the record, `rank` the place among its rows. */
  addJoined(name: string, rows: readonly { key: string; rank: number; cells: readonly string[] }[]): void
  /** Forgets a table that is not whole. */
  dropJoined(name: string): void
  /** The key of a record whose rows hold more than so many characters; null: there is none. Call it once the table is read. */
  joinedBeyond(name: string, most: number): string | null
  /** The rows of a record, by rank, then as they came. */
  joinedOf(name: string, key: string): string[][]
  /** Adds items. `keep` false: the item is as its baseline, so only key, hash and owner are kept. */
  addShown(rows: readonly { item: Glimpse; keep: boolean }[]): void
  /**
   * Notes, instead of adding a row, that a snapshot row's item is as its baseline and has the mark of its feed; false if that was noted
   * before.
   */
  addShownAsBefore(id: number): boolean
  isShownAsBefore(id: number): boolean
  clearShown(): void
  /** All items that have a row, sorted by key. */
  shown(): Iterable<ShownRow>
  /** The items with this MLSNumber that have a row. */
  shownAs(key: string): Pick<ShownRow, 'hash' | 'shown'>[]
  /** Notes, for reports, by what a person knows listings as they were sent last (`homeFields`). */
  noteListings(listings: readonly Listing[]): void
  /** null: nothing was noted of it. */
  notedListing(key: string): Known
  /** Adds changes. `sides`: what is known of delivery and list, by which a delete is proven again when it is read back. */
  addChanges(changes: readonly Planned[], sides: Sides): void
  /**
   * The changes in plan order, or those of one kind. Outcomes may be recorded meanwhile. Throws if a delete or forget has no proof in
   * the rows of this workspace.
   */
  changes(): Iterable<Stored>
  changes<Kind extends ChangeKind>(kind: Kind): Iterable<Stored<OfKind<Kind>>>
  /** Changes that failed, or of which nobody knows whether they were carried out. */
  open(): Iterable<Stored>
  /**
   * Pairs each delete with a create of something new at the same home: they are one listing under another MLSNumber. Forgets are
   * paired with creates that are left. A paired delete no longer waits for the end of its grace, as its home is not absent; one
   * without a proof stays a hold. A record that can't be read may be the other listing, but not of a delete that was held since
   * `believedSince` (null: always). Call it once, after the last `addChanges`. Gives the pairs of homes that have only one: the
   * MLSNumber that leaves, and the create with its number in the plan.
   */
  pairs(believedSince: number | null): Iterable<{ gone: string; seq: number; create: Create }>
  /** Notes which kinds of fact such creates change beyond belief against the listing under the old number. */
  noteBroken(creates: readonly { seq: number; create: Create; broken: readonly FactKind[] }[]): void
  /**
   * Replaces each action by the change that the function gives, with what the guard decided; null: the action stays. `remembered`:
   * only actions with something remembered, or paired; `paired`: only paired ones.
   */
  turn(
    which: 'all' | 'remembered' | 'paired',
    turn: (action: Action, beside: Beside) => Pick<Stored, 'change' | 'weighed'> | null,
  ): Promise<void>
  /** Whether a forget of this home was not carried out, as the service has the listing after all, or nobody could ask yet. */
  isStillThere(home: string): boolean
  /** Whether a delete is paired with a create that has failed, or is not known to be done. */
  isNotThereYet(seq: number): boolean
  /** An MLSNumber that is created, or shown, and differs from that of a delete in capital and small letters alone; null: none. */
  inOtherLetters(seq: number): string | null
  /** If a delete and a create are of one listing, whose MLSNumber the service seems to spell in its own way: both spellings. */
  respelled(seq: number): Respelled | null
  /** What the service shows, and may be a listing that was sent under this MLSNumber, in a spelling of its own. */
  spelledAs(mlsNumber: string): { listed: string; shown: Shown }[]
  recordOutcomes(outcomes: readonly { seq: number; outcome: Outcome }[]): void
  addBookkeeping(entries: readonly Bookkeeping[]): void
  bookkeeping(): Iterable<Bookkeeping>
  close(): void
}

/** What became of one change, and why. */
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
