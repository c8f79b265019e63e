/**
 * The types of `probe`. Each open question of docs/service.md that the behaviour of a service can answer is one object in a
 * file here; `ask.ts` has their order.
 */
import type { Runtime } from '../core/machine.ts'
import type { ServiceKeys } from '../service/headers.ts'
import type { ServiceProfile } from '../service/settings.ts'
import type { Calls } from './calls.ts'
import type { Sentinels } from './sentinels.ts'

/** Results of the first reading of the list. */
export interface Seen {
  /** Whether the reading was complete, and why not. */
  complete: boolean
  reasons: string[]
  /** Number of listings, without sentinels. */
  listings: number
  pages: number
  /** The MLSNumber filter of List works. */
  filters: boolean
}

export interface Context {
  calls: Calls
  sentinels: Sentinels
  runtime: Runtime
  seen: Seen
  /** The configured keys. */
  keys: ServiceKeys
}

/** Results for programs; null: the question has no such answer. */
export type Facts = Record<string, string | number | boolean | null>

export interface Answer {
  facts: Facts
  /** The same in sentences. */
  words: string[]
  /** What is still open, each as "… , because …". */
  notLearnt: string[]
  /** Behaviour that contradicts the documentation. */
  contradictions: string[]
  /** The part for the configuration. */
  profile: Partial<ServiceProfile>
}

export interface Question {
  key: string
  /** Its numbers in docs/service.md, such as `S11, S12`. */
  unknown: string
  title: string
  /** Sentinels that must be listed. */
  needs?: readonly number[]
  /** Fills in the answer, which is empty. Throws as the calls do: then nothing is learnt. */
  ask(context: Context, answer: Answer): Promise<void>
}

export type Answered = Answer & Pick<Question, 'key' | 'unknown' | 'title'>
