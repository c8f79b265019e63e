/**
 * What `probe` is made of: the calls that it may make, a question, an answer. Each question of service-unknowns.md that a
 * service can answer by what it does is one object in a file here; `ask.ts` puts them in their order.
 */
import type { RemoteSummary } from '../listing.ts'
import type { Runtime } from '../runtime.ts'
import type { ServiceProfile } from '../service/service.ts'
import type { Sentinels } from './sentinels.ts'

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

/** What the first walk over the list showed. */
export interface Seen {
  /** Whether the walk can be trusted to have shown everything, and why not. */
  complete: boolean
  reasons: string[]
  /** Listings there, without sentinels. */
  listings: number
  pages: number
  /** The MLSNumber filter of List is heeded. */
  filters: boolean
}

/** What a question is asked with. */
export interface Context {
  calls: ProbeCalls
  sentinels: Sentinels
  runtime: Runtime
  seen: Seen
  /** Which keys are configured. */
  keys: { secret: boolean; session: boolean }
}

/** One thing learnt, for programs: numbers, words, or null where the question has no such answer. */
export type Facts = Record<string, string | number | boolean | null>

export interface Answer {
  facts: Facts
  /** The same in sentences. */
  words: string[]
  /** What stays open, each as "… , because …". */
  notLearnt: string[]
  /** What the service does against the interface's document. */
  contradictions: string[]
  /** What of it the configuration should say. */
  profile: Partial<ServiceProfile>
}

export interface Question {
  key: string
  /** Its number in service-unknowns.md. */
  unknown: string
  /** For the report. */
  title: string
  /** Sentinels that have to be listed. */
  needs?: readonly number[]
  /** Throws what the calls throw: then nothing is learnt. */
  ask(context: Context): Promise<Answer>
}

/** An answer with its question. */
export interface Answered extends Answer {
  key: string
  unknown: string
  title: string
}

/** An answer whose parts are filled in as they are learnt. */
export function emptyAnswer(): Answer {
  return { facts: {}, words: [], notLearnt: [], contradictions: [], profile: {} }
}

/** How a refusal is told. */
export function refusalWords({ status, code, message }: Refusal): string {
  const by = status === code || status === null ? `code ${code}` : `HTTP ${status}, code ${code}`
  return message === '' ? by : `${by}: "${message}"`
}
