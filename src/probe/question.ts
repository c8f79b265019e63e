/**
 * What `probe` is made of: the calls that it may make, a question, an answer. Each question that the interface leaves
 * open and a service can answer by what it does is one object in a file here; `ask.ts` puts them in their order.
 */
import type { Runtime } from '../core/machine.ts'
import type { ServiceKeys } from '../service/headers.ts'
import type { ServiceProfile } from '../service/settings-file.ts'
import type { Calls } from './calls.ts'
import type { Sentinels } from './sentinels.ts'

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
  calls: Calls
  sentinels: Sentinels
  runtime: Runtime
  seen: Seen
  /** Those that are configured. */
  keys: ServiceKeys
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
  /** The number of what the interface leaves open, as the report tells it. */
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
