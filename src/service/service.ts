/**
 * The listing service as a run sees it, bound to one chatbot. Callers never see a page, a retry, the envelope or the rate.
 */
import type { FieldName, Listing, RemoteSummary, Shown } from '../core/listing.ts'

/** The value of a call that succeeded. */
export interface Answer<T> {
  value: T
  /** An earlier attempt of this call got no certain answer and may still land. */
  unsettled: boolean
}

/** Where `observe` puts what the pages show, one page after the other. `reset`: a contradictory walk is begun again. */
export interface ShownSink {
  reset(): void
  add(items: Shown[]): void | Promise<void>
}

/**
 * Called before each attempt, after its place under the rate limit has come: the moment to mark it in flight. The request
 * goes out once it is through.
 */
export type BeforeSend = () => void | Promise<void>

/** Attempts sent, by operation. */
export type Calls = Record<'create' | 'update' | 'delete' | 'list', number>

export interface ChatbotReader {
  /**
   * Walks every page of List into the sink. The summary says whether the walk can be trusted to have shown everything;
   * `startedAt` is when the walk that counts began. Throws `ServiceError` where listing fails altogether.
   */
  observe(sink: ShownSink): Promise<RemoteSummary & { startedAt: number }>
  /** Every listing shown for exactly this MLSNumber. Throws `ServiceError`. */
  lookUp(mlsNumber: string): Promise<Shown[]>
  /** Calls sent so far, retries included. */
  readonly calls: Calls
}

/** All methods throw `ServiceError` where no attempt succeeded; its `effect` covers every attempt made. */
export interface Chatbot extends ChatbotReader {
  /** The feed that Create and Update mark listings with, in ExtensionColumn; null: they carry no mark. */
  readonly mark: string | null
  /** Never sent again where an attempt was perhaps executed. Gives the identifier of the new listing. */
  create(listing: Listing, beforeSend: BeforeSend): Promise<Answer<string>>
  /** Updates by MLSNumber: sends every field of the listing, and makes `clear` disappear. Gives the number of records updated. */
  update(listing: Listing, clear: readonly FieldName[], beforeSend: BeforeSend): Promise<Answer<number>>
  /** Deletes by MLSNumber. Gives SuccessCount. */
  delete(mlsNumbers: readonly string[], beforeSend: BeforeSend): Promise<Answer<number>>
  /**
   * Deletes by the ID of a list item, as `NativeId`. The interface does not say whether that is the identifier which Create
   * gave: look up what became of it. Gives SuccessCount.
   */
  deleteById(id: number, beforeSend: BeforeSend): Promise<Answer<number>>
}
