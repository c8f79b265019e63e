/** The listing service for a run, bound to one chatbot, without pages, retries, envelope or rate. */
import type { FieldName, Glimpse, Listing, RemoteSummary, Shown } from '../core/listing.ts'
import type { Stamp } from '../core/mark.ts'
import type { ListItem } from './canonical.ts'

export interface Answer<T> {
  value: T
  /** An earlier attempt of this call had no definite answer and may still take effect. */
  unsettled: boolean
}

/**
 * Receives the items of `observe` page by page; `raw`: as they came, those without MLSNumber included. `reset`: a
 * contradictory walk starts again.
 */
export interface ShownSink {
  reset(): void
  add(items: Glimpse[], raw: readonly ListItem[]): void | Promise<void>
}

/**
 * Marks an attempt as in flight. Called shortly before the rate limit lets the attempt through, and again if that takes longer.
 * The request is never sent before this resolves. If the run ends first it is not sent at all, and the call throws `NotSent`.
 */
export type BeforeSend = () => void | Promise<void>

/** Attempts sent, by operation. */
export type Calls = Record<'create' | 'update' | 'delete' | 'list', number>

export interface ChatbotReader {
  /**
   * Walks every page of List into the sink. The summary says whether the walk was complete; `startedAt`: when the last walk
   * began. Throws `ServiceError` if listing fails.
   */
  observe(sink: ShownSink): Promise<RemoteSummary & { startedAt: number }>
  /** Every listing with exactly this MLSNumber. Throws `ServiceError`. */
  lookUp(mlsNumber: string): Promise<Shown[]>
  /** Calls sent so far, retries included. */
  readonly calls: Calls
}

/** All methods throw `ServiceError` if no attempt succeeded; its `effect` covers every attempt. */
export interface Chatbot extends ChatbotReader {
  /** The feed to mark listings with, in ExtensionColumn; null: no mark. */
  readonly mark: string | null
  /** What the mark says beside the feed; null: nothing. */
  readonly stamp: Stamp | null
  /** Makes the mark say from now on which store writes, and in which run. */
  sign(stamp: Stamp): void
  /** Never sent again if an attempt may have been carried out. Returns the identifier of the new listing. */
  create(listing: Listing, beforeSend: BeforeSend): Promise<Answer<string>>
  /** Updates by MLSNumber: sends every field and clears `clear`. Returns the number of records updated. */
  update(listing: Listing, clear: readonly FieldName[], beforeSend: BeforeSend): Promise<Answer<number>>
  /** Deletes by MLSNumber. Returns SuccessCount. */
  delete(mlsNumbers: readonly string[], beforeSend: BeforeSend): Promise<Answer<number>>
  /**
   * Deletes one listing by the identifier from Create, or by the ID of a list item if that is known to be the same
   * (docs/service.md, S2): look up the result. Returns SuccessCount.
   */
  deleteByNativeId(id: string, beforeSend: BeforeSend): Promise<Answer<number>>
}
