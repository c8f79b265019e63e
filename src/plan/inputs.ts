import type { Delivered, FieldName, MovingListing, Shown } from '../core/listing.ts'
import type { Remembered } from './guard/hold.ts'
import type { HomeHash } from '../core/home-hash.ts'
import type { Sides } from './proof.ts'
import type { PlanConfig } from './settings.ts'

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
  home: HomeHash
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
  /** Its mark has a former name of its feed, and is written anew with the next update. */
  isFormer?: boolean
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
  home: HomeHash
  /** When this feed created it, in milliseconds; null: it was there before, or came with the first load. */
  bornAt: number | null
  sentAt: number
  /** Hash of the item as it was shown after our last confirmed write; null: not seen yet. */
  baseline: string | null
  movesAt: number | null
  /** An earlier attempt of the last write may still land until then: no baseline is taken before. */
  suspectUntil: number | null
  /** How many writes running put right what somebody had undone on the service. */
  undone: number
  /** When something was put right last, in milliseconds. */
  putRightAt: number | null
  /** The service confirmed the last write, and went on showing what was there before it. */
  ignored: boolean
  /** What Create answered when this listing was made, which Delete takes as `NativeId`; null: not known. */
  identifier: string | null
  flight: CallKind | null
  flightAt: number | null
  /** When a look-up first showed that what is in flight is not there; null: none did since the call. */
  missedAt: number | null
  refusedContent: string | null
  refusedMapping: string | null
  refusedAt: number | null
  refusedMessage: string | null
}

/** A snapshot row as far as it must be known where nothing is to be done about it. */
export interface RowInBrief {
  id: number
  key: string
  /**
   * When it was sent last, in milliseconds, where it is the feed's and settled: its content is known and does not move by itself, it
   * has a baseline, and neither is a call in flight nor was a write ignored or undone. null: any other row.
   */
  settledSince: number | null
}

export interface History extends Remembered {
  key: string
}

/** The three sides, each sorted by key (`compareKeys`). What the store has comes in pages, no key in two of them. */
export interface PlanInputs {
  delivered: Iterable<DeliveredRow>
  snapshot: AsyncIterable<readonly RowInBrief[]>
  shown: Iterable<ShownRow>
  history: AsyncIterable<readonly History[]>
  /** The rows of these keys. */
  rows(keys: readonly string[]): Promise<ReadonlyMap<string, SnapshotRow>>
  /** Whether a record with the very bytes of this snapshot row was delivered. */
  seen(id: number): boolean
  /** Whether the item of this snapshot row is shown as its baseline, with the mark of its feed: it has no row in `shown`. */
  shownAsBefore(id: number): boolean
  /** By id, of owned rows whose content is known. */
  recall(ids: readonly number[]): Promise<ReadonlyMap<number, MovingListing>>
}

/** What the decision depends on beside the three sides. Times in milliseconds. */
export interface PlanSettings extends Sides, PlanConfig {
  feed: string
  /** YYYY-MM-DD in the feed's time zone. */
  today: string
  /** The feed's, in which people are told of times. */
  timezone: string
  /** When the walk over the service's pages began. */
  remoteStartedAt: number
  mapping: string
  /** Fields that the service is known to show in a form of its own. */
  forms: ReadonlySet<FieldName>
  /** Whether this feed takes listings over from another one of the chatbot, which comes after it. */
  outranks(feed: string): boolean
  /** The feeds of this chatbot in the configuration. */
  configured: ReadonlySet<string>
  /** A store that was lost lately: creates wait until then, and are looked up after it; null: it wasn't. */
  lostUntil: number | null
}
