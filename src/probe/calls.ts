import type { RemoteSummary } from '../core/listing.ts'

/** A list item as it came, nothing about it certain. */
export type ListItem = Readonly<Record<string, unknown>>

/** Which keys a call carries in place of all that are configured; the wrong ones are invented. */
export type KeyChoice = 'secret' | 'session' | 'none' | 'wrong secret' | 'wrong session'

/** How a call differs from one of the daemon. */
export interface How {
  keys?: KeyChoice
  /** The body is one that the interface forbids. */
  unchecked?: true
}

/** A no that is an answer. `status` is that of HTTP, `code` the envelope's or, without one, HTTP's. */
export interface Refusal {
  taken: false
  kind: 'refused' | 'credentials'
  status: number | null
  code: number | null
  /** Without control characters and secrets; may be empty. */
  message: string
}

export type Reply<T> = { taken: true; value: T } | Refusal

/** Where a walk over the pages of List puts what it sees; `reset` as in `ShownSink`. */
export interface ItemSink {
  reset(): void
  add(items: ListItem[]): void
}

/** Fields by the names of the interface. */
export type Body = object

/**
 * The calls to one chatbot, at the configured rate; bodies are without SerialNumber. All throw `ServiceError` where there was
 * no certain answer, where the program was told to stop, and where keys that the call did not choose were refused: kind
 * `credentials`.
 */
export interface ProbeCalls {
  create(body: Body, how?: How): Promise<Reply<string>>
  update(body: Body, how?: How): Promise<Reply<number>>
  remove(keyType: 'MLSNumber' | 'NativeId', keys: string[], how?: How): Promise<Reply<number>>
  list(filter: Body, how?: How): Promise<Reply<{ items: ListItem[]; virtualCount: number | null }>>
  /** Every page, as the daemon walks them. */
  walk(filter: { MLSNumber?: string }, sink: ItemSink): Promise<RemoteSummary>
  /** Waits. Throws `ServiceError` when told to stop. */
  pause(milliseconds: number): Promise<void>
  /** From now on being told to stop ends nothing, but a deadline does: what is on the service must go. */
  cleanUp(): void
  /** Calls made so far. */
  readonly sent: number
  /** PageSize that walks begin with. */
  readonly pageSize: number
}

/** How a refusal is told. */
export function refusalWords({ status, code, message }: Refusal): string {
  const by = status === code || status === null ? `code ${code}` : `HTTP ${status}, code ${code}`
  return message === '' ? by : `${by}: "${message}"`
}
