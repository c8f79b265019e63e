/**
 * The plan stage's interface: what planning is given and what it gives. Planning reads nothing and writes nothing;
 * it takes values (some of them read on demand) and returns values.
 */
import type { DeliverySummary, FieldName, RemoteSummary } from '../listing.ts'
import type { Absence, Bookkeeping, Change, DeliveredRow, Recalled, ShownRow, SnapshotRow } from '../run.ts'

/** The three sides, each sorted by key (`compareKeys`). */
export interface PlanInputs {
  delivered: Iterable<DeliveredRow>
  snapshot: Iterable<SnapshotRow>
  shown: Iterable<ShownRow>
  /** What earlier runs noted of listings that are in their grace (`limits.grace`). */
  absences: Iterable<Absence>
  /** Whether a record with the very bytes of this snapshot row was delivered. */
  seen(id: number): boolean
  recall: (id: number) => Recalled
}

/** What the decision depends on beside the three sides. Times in milliseconds. */
export interface PlanSettings {
  feed: string
  now: number
  /** YYYY-MM-DD in the feed's time zone. */
  today: string
  delivery: Pick<DeliverySummary, 'complete' | 'reasons'>
  /** Records whose MLSNumber could not be read: any absent listing may be one of them. */
  unreadable: number
  remote: Pick<RemoteSummary, 'complete' | 'reasons'>
  /** When the walk over the service's pages began. */
  remoteStartedAt: number
  /** `delta`: absence means nothing. */
  mode: 'full' | 'delta'
  /** Backfill never deletes. */
  deletes: boolean
  mapping: string
  /** `mirror`: the chatbot belongs to this feed alone, so whatever it shows is ours. */
  ownership: 'tag' | 'snapshot' | 'mirror'
  /** Whether this feed takes listings over from another one of the chatbot, which comes after it. */
  outranks(feed: string): boolean
  /** What is done where the service shows another listing than after our last write. */
  drift: 'overwrite' | 'keep' | 'report'
  /** A listing must be absent in so many complete deliveries running, over so many milliseconds, before it is deleted. */
  grace: { runs: number; time: number }
  volatile: ReadonlySet<FieldName>
  refresh: number
  settle: number
  /** When the last run of these 24 hours began that sent many listings again because they had drifted; null: none did. */
  driftedSince: number | null
  /** A store that was lost lately: creates wait until then, and are looked up after it; null: it wasn't. */
  lostUntil: number | null
}

/**
 * Numbers or choices shown otherwise than sent at first sight: the service's own form, if others show it too, else
 * somebody's edit. Which it is can only be said after the walk (`settleDoubts`).
 */
export interface Doubt {
  step: 'doubt'
  fields: FieldName[]
  /** Shown without this feed's mark, which every listing of ours carries: somebody else's row stands in its place. */
  unmarked: boolean
  /** It drifted, was sent again lately, and is shown otherwise once more: another program may be writing it. */
  again: boolean
  asEdit: PlanStep[]
  asForm: PlanStep[]
}

/** What a walk over the three sides yields, one MLSNumber after another. */
export type PlanStep =
  | { step: 'change'; change: Change }
  | Doubt
  | { step: 'unchanged' }
  | { step: 'bookkeeping'; entry: Bookkeeping }

declare const proven: unique symbol

/**
 * That a listing which was not delivered is gone: the delivery is full and whole, every MLSNumber in it could be read, and
 * the list of what the service has is complete. Only `leaving.ts` gives it out, and no delete by absence can be written
 * down without one.
 */
export interface AbsenceProof {
  readonly [proven]: true
}

/** What the walk counted, for the guard and the report. */
export interface PlanFacts {
  /** Listings of ours: in the snapshot, or marked as this feed's on the service. */
  ours: number
  /** Of those, how many have a delete under way: the ledger of the last 24 hours has them too. */
  leaving: number
  /** Listings delivered once more, equal. */
  duplicates: number
  /** Every MLSNumber that the delivery holds, readable or not, as sorted 64-bit hashes. */
  keys: BigUint64Array
  /** Listings that are both delivered and in the snapshot. */
  matched: number
  /** Of those, how many had the optional field in the snapshot, by `optionalFields`. */
  had: number[]
  /** Listings seen for the first time after a confirmed write. */
  firstSights: number
  /** Of those, how many show the field otherwise than sent. */
  echoed: Partial<Record<FieldName, number>>
  /** Of those, how many still show a field that was to disappear. */
  uncleared: Partial<Record<FieldName, number>>
  /** Listings shown with our mark. */
  marked: number
  /** Listings with our mark that the store knows nothing of and the feed does not hold. */
  unknownMarks: number
  /** Listings edited on the service that stay so (`drift: keep`). */
  driftKept: number
  /** Of the changes, how many are due to a new mapping or preset version alone. */
  mappingUpdates: number
}
