import type { Delivered, FieldName, MovingListing, Shown } from '../core/listing.ts'
import type { Remembered } from './guard/hold.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { Sides } from './proof.ts'
import type { PlanConfig } from './settings.ts'

/** A writing call of the service. */
export type CallKind = 'create' | 'update' | 'delete'

/** One listing of a record; sorted by `key`, then `position`. Known bytes have no row here: their snapshot rows are *seen* instead. */
export interface DeliveredRow {
  key: string
  /** Running number in the delivery. */
  position: number
  /** Where the record is in the delivery, for people. */
  at: string
  kind: Delivered['kind']
  /** Why it is gone (removal, filtered) or what is wrong with it (reject), in words. */
  why: string | null
  /** Content hash (`hash.ts`) of the listing as of this run; null: there is no listing. */
  content: string | null
  /** Hash of the record's raw bytes; null: it must be parsed again next time. */
  raw: string | null
  home: HomeHash
  /** Reads the listing from the workspace; only for kind `listing`. */
  listing(): MovingListing
}

/** A list item in the workspace, sorted by `key`. */
export interface ShownRow extends Pick<Shown, 'hash' | 'owner'> {
  key: string
  /** Its mark has a former name of its feed, which the next update replaces. */
  isFormer?: boolean
  /** Reads the item; null: it is as its baseline, and was not kept for that reason. */
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
  /** Content hash of what the service last confirmed; null: not known, so it must be sent again. */
  content: string | null
  raw: string | null
  parts: number
  mapping: string | null
  home: HomeHash
  /** When this feed created it, in milliseconds; null: it was there before, or came with the first load. */
  bornAt: number | null
  sentAt: number
  /** Hash of the item as it was shown after our last confirmed write; null: not seen yet. */
  baseline: string | null
  movesAt: number | null
  /** Until then an earlier attempt of the last write may still land, so no baseline is taken. */
  suspectUntil: number | null
  /** How many writes in a row put right what was undone on the service. */
  undone: number
  putRightAt: number | null
  /** The service confirmed the last write but went on showing what was there before. */
  ignored: boolean
  /** What Create answered when this listing was made, which Delete takes as `NativeId`; null: not known. */
  identifier: string | null
  flight: CallKind | null
  flightAt: number | null
  /** When a look-up first failed to find what is in flight; null: none has since the call. */
  missedAt: number | null
  refusedContent: string | null
  refusedMapping: string | null
  refusedAt: number | null
  refusedMessage: string | null
}

/** As much of a snapshot row as is read where nothing is to be done. */
export interface RowInBrief extends Pick<SnapshotRow, 'id' | 'key'> {
  /**
   * When it was sent last, in milliseconds. null: the row is another feed's, or not settled. A settled row has a baseline and a known
   * content that does not move by itself; no call is in flight, and no write was ignored or undone.
   */
  settledSince: number | null
}

export interface History extends Remembered {
  key: string
}

/** What a plan is made from, sorted by key (`compareKeys`). What the store has comes in pages, and no key is in two of them. */
export interface PlanInputs {
  delivered: Iterable<DeliveredRow>
  snapshot: AsyncIterable<readonly RowInBrief[]>
  shown: Iterable<ShownRow>
  history: AsyncIterable<readonly History[]>
  rows(keys: readonly string[]): Promise<ReadonlyMap<string, SnapshotRow>>
  /** Whether a record with the very bytes of this snapshot row was delivered. */
  seen(id: number): boolean
  /** Whether the item of this snapshot row is shown as its baseline, with the mark of its feed: it has no row in `shown`. */
  shownAsBefore(id: number): boolean
  /** By id, of owned rows whose content is known. */
  recall(ids: readonly number[]): Promise<ReadonlyMap<number, MovingListing>>
}

/** What a decision depends on beside delivery, snapshot and list. Times in milliseconds. */
export interface PlanSettings extends Sides, PlanConfig {
  feed: string
  /** YYYY-MM-DD in the feed's time zone. */
  today: string
  /** The feed's, in which people read times. */
  timezone: string
  /** When the walk over the service's pages began. */
  remoteStartedAt: number
  mapping: string
  /** Fields that the service is known to show in a form of its own. */
  forms: ReadonlySet<FieldName>
  /** Whether this feed comes before another one of the chatbot, and so takes listings over from it. */
  outranks(feed: string): boolean
  /** The feeds of this chatbot in the configuration. */
  configured: ReadonlySet<string>
  /** Those of them that write no marks, by their `ownership`; left out: none. */
  unmarked?: ReadonlySet<string> | undefined
  /** Set if the store was lost lately: until then creates wait, and afterwards they are looked up first. */
  lostUntil: number | null
}
