/**
 * The listing service as the rest of the program sees it, bound to one chatbot. Callers never see a page, a retry,
 * the envelope or the rate.
 */
import type { FieldName, Listing, RemoteSummary, Shown } from '../core/listing.ts'

/** Answers to the interface's open questions (service-unknowns.md). */
export interface ServiceProfile {
  /** U8: PageSize to ask for. */
  pageSize: number
  /** U7: most Keys in one Delete. */
  deleteBatch: number
  /** U9: whether VirtualCount is the number of all listings. */
  virtualCount: 'unknown' | 'total'
  /** U4: how a field is made to disappear. */
  clear: 'empty' | 'omit'
  /** U10: how list items spell the two sale types, where that can't be guessed. */
  saleTypeShown?: Record<Listing['SaleType'], string> | undefined
}

/** The value of a call that succeeded. */
export interface Answer<T> {
  value: T
  /** An earlier attempt of this call got no certain answer and may still land. */
  unsettled: boolean
}

/** Where `observe` puts what the pages show. `reset` is called when a contradictory walk is begun again. */
export interface ShownSink {
  reset(): void
  add(items: Shown[]): void
}

/** Called before each attempt goes out, after its place under the rate limit has come: the moment to mark it in flight. */
export type BeforeSend = () => void

export interface ServiceReader {
  /**
   * Walks every page into the sink (interface, "5. List"). The summary says whether the walk can be trusted to have shown
   * everything; `startedAt` is when the walk that counts began. Throws `ServiceError` where listing fails altogether.
   */
  observe(sink: ShownSink): Promise<RemoteSummary & { startedAt: number }>
  /** Every listing shown for exactly this MLSNumber. Throws `ServiceError`. */
  lookUp(mlsNumber: string): Promise<Shown[]>
  /** Calls sent so far, retries included. */
  readonly calls: Calls
}

/** All methods throw `ServiceError` where no attempt succeeded; its `effect` covers every attempt made. */
export interface ServiceWriter extends ServiceReader {
  /** Never sent again where an attempt was perhaps executed (U16). Gives the identifier of the new listing. */
  create(listing: Listing, owner: string | null, beforeSend: BeforeSend): Promise<Answer<string>>
  /** Updates by MLSNumber, every field of the wanted listing (U4), and makes `clear` disappear. Gives the number of records updated. */
  update(listing: Listing, owner: string | null, clear: FieldName[], beforeSend: BeforeSend): Promise<Answer<number>>
  /** Deletes by MLSNumber. Gives SuccessCount. */
  delete(mlsNumbers: string[], beforeSend: BeforeSend): Promise<Answer<number>>
  /**
   * Deletes by the ID of a list item, as `NativeId`. Whether that is the identifier which Create gave is not known (U2):
   * look up what became of it. Gives SuccessCount.
   */
  deleteById(id: number, beforeSend: BeforeSend): Promise<Answer<number>>
}

export type Calls = Record<'create' | 'update' | 'delete' | 'list', number>
