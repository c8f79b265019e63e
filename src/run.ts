/** The words of a run, as types: the plan's inputs, what it decides, what became of it, what is reported. */
import type {
  Delivered,
  DeliverySummary,
  FieldName,
  FieldValue,
  MovingListing,
  RemoteSummary,
  Shown,
} from './listing.ts'
import type { Verification } from './verification.ts'

/** A writing call of the service. */
export type CallKind = 'create' | 'update' | 'delete'

/**
 * A parsed record in the workspace, one row a listing. Rows come sorted by `key` (`compareKeys`), then `position`.
 * A record whose bytes are those of the snapshot has no row: its snapshot rows are *seen* instead.
 */
export interface DeliveredRow {
  key: string
  /** Running number in the delivery. */
  position: number
  at: string
  kind: Delivered['kind']
  /** Why it is gone (removal, filtered) or what is wrong with it (reject), in words. */
  why: string | null
  /** Content hash (`hash.ts`) of the listing as of this run; null when there is no listing. */
  content: string | null
  /** Hash of the record's raw bytes, null where the record may not be skipped next time. */
  raw: string | null
  /** How many listings the record gave: it may be skipped only where all of them are in the snapshot. */
  parts: number
  /** `filledFields` of the listing. */
  filled: number
  /** When the listing changes by itself (an open house ends), in milliseconds. */
  movesAt: number | null
  /** Reads the listing from the workspace; only for kind `listing`. */
  listing(): MovingListing
}

/** A list item in the workspace, sorted by `key`. */
export interface ShownRow {
  key: string
  hash: string
  owner: string | null
  /** Reads the item; null where it is as its baseline and was therefore not kept. */
  shown(): Shown | null
}

/**
 * What the store remembers of one MLSNumber of one chatbot. `owned` rows are the snapshot; a row that isn't is only a
 * call in flight or a refusal. All hashes are 22 characters of base64url, all times milliseconds since the epoch.
 */
export interface SnapshotRow {
  id: number
  key: string
  feed: string
  owned: boolean
  /** Content hash of what the service last confirmed; null: not known, must be sent again. */
  content: string | null
  raw: string | null
  parts: number
  mapping: string | null
  filled: number
  sentAt: number
  /** Hash of the item when it was first shown after our last confirmed write; null: not seen yet. */
  baseline: string | null
  movesAt: number | null
  /** An earlier attempt of the last write may still land until then: no baseline is taken before. */
  suspectUntil: number | null
  /** How many runs running it was updated for the reason in `streakReason`. */
  streak: number
  streakReason: string | null
  flight: CallKind | null
  flightAt: number | null
  refusedContent: string | null
  refusedMapping: string | null
  refusedAt: number | null
  refusedMessage: string | null
}

/** What was sent and what the service made of it at first sight, read on demand by `SnapshotRow.id`. */
export interface Recalled extends MovingListing {
  /** Fields shown otherwise than sent at first sight; null where the field was not shown at all. */
  echo: Partial<Record<FieldName, FieldValue | null>>
}

/** How often and since when a listing of ours was absent from deliveries that prove it, one after another. */
export interface Absence {
  key: string
  runs: number
  /** When it was first absent, in milliseconds. */
  since: number
}

export type ChangeKind = 'create' | 'update' | 'delete' | 'adopt' | 'forget' | 'hold'

/** What a held change would have been. */
export type HeldKind = Exclude<ChangeKind, 'hold'>

/** A field that differs, as it is and as it should be; null: absent. */
export interface FieldChange {
  field: FieldName
  from: FieldValue | null
  to: FieldValue | null
}

/**
 * Which row of the decision table a change comes from. The guard, the exit status and the bookkeeping ask for it;
 * people read `why`.
 */
export type Cause =
  | 'new'
  | 'gone-from-service'
  | 'changed'
  | 'mapping'
  | 'drifted'
  | 'never-sent'
  | 'settle'
  | 'refresh'
  | 'as-wanted'
  | 'feed-says-so'
  | 'absent'
  | 'in-flight'
  | 'lost-store'
  | 'refused-before'
  | 'twice-delivered'
  | 'twice-shown'
  | 'other-feed'
  | 'not-converging'
  | 'unproven'
  | 'unreadable'
  | 'grace'
  | 'guard'

/** One difference between feed and service and what is to be done about it. */
export interface Change {
  kind: ChangeKind
  mlsNumber: string
  /** One sentence for a person. */
  why: string
  fields: FieldChange[]
  cause: Cause
  /** For a hold made by the guard: the change it would have been. */
  held?: HeldKind
  /** `DeliveredRow.position` of the wanted listing; null: the snapshot's own, or none is needed. */
  position: number | null
  /** `SnapshotRow.id`, where there is one. */
  snapshot: number | null
  /** Optional fields that must disappear from the service with this update. */
  clear: FieldName[]
  /** Optional fields that the snapshot has and the wanted listing lacks, as bits: the guard looks for renamed columns. */
  lost: number
  /** Create, update: the service must be asked for this MLSNumber first. */
  lookUp: boolean
  /** Create: confirmed lately and never shown since, so that the list may only lag behind (fault-model F86). */
  unseen?: boolean
  /** It had drifted before, and was sent again lately. */
  again?: boolean
  /** An earlier call for this listing may still land: what is shown first after the write is not yet to be believed. */
  unsettled?: boolean
  /** The item as shown: of an adoption, whose baseline it becomes, and of a delete, which must find it so once more. */
  shownHash: string | null
  /** Hash of kind, fields and values: the same reason three runs running is not converging. */
  reason: string
}

/** The baseline of a listing: how the service shows what we sent. */
export interface FirstSight {
  op: 'first-sight'
  snapshot: number
  hash: string
  echo: Recalled['echo']
  /** Fields that were to disappear and are still shown; they are in `echo` too. */
  uncleared: FieldName[]
  /** false: an earlier baseline is only spelled anew. */
  first: boolean
  /** Somebody's edit that stays (`drift: keep`). */
  kept?: boolean
}

/** What the store should remember although nothing is called; written by `sync`, never by `diff`. */
export type Bookkeeping =
  | { op: 'touch'; snapshot: number; position: number }
  | FirstSight
  | { op: 'steady'; snapshot: number }
  | { op: 'forget-flight'; key: string }
  | { op: 'absent'; key: string }
  | { op: 'returned'; key: string }

/** What became of one change. `unknown`: the call may have been carried out. */
export type OutcomeResult = 'done' | 'failed' | 'unknown' | 'skipped'

export interface Outcome {
  result: OutcomeResult
  error: string | null
}

export type Counts = Record<
  'create' | 'update' | 'delete' | 'adopt' | 'forget' | 'hold' | 'unchanged' | 'reject',
  number
>

export type RunResult = 'ok' | 'changes' | 'held' | 'partial' | 'failed'

export type Calls = Record<'create' | 'update' | 'delete' | 'list', number>

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

/**
 * Everything a report form may show of one run. The lists are read on demand so that a million rows need no memory;
 * they can be walked more than once.
 */
export interface Report {
  feed: string
  chatbot: string
  command: 'diff' | 'sync' | 'backfill'
  startedAt: number
  finishedAt: number
  result: RunResult
  /** Why the run failed or stopped early, as a sentence; null where it did not. */
  error: string | null
  delivery: DeliverySummary
  remote: RemoteSummary
  counts: Counts
  /** Calls and seconds that the plan needs at the configured rate. */
  estimate: { calls: number; seconds: number }
  digest: string
  /** What a person should know beside the changes: rules that tripped, fields shown otherwise, a lost store. */
  notes: string[]
  changes(): Iterable<ReportedChange>
  rejects(): Iterable<RejectRow>
  /** When this MLSNumber's change was first held, in milliseconds; null where this run is the first to hold it. */
  heldSince(mlsNumber: string): number | null
  /** null in a dry run. */
  applied: { outcomes: Record<OutcomeResult, number>; calls: Calls } | null
  /** Only where the feed has `verify` and the run is a sync. */
  verification?: Verification
}
