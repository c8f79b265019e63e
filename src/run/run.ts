import type { Applied } from '../apply/apply.ts'
import type { Guarded } from './guard.ts'
import type { Listed } from './observe.ts'
import type { Plan } from './plan.ts'
import type { Past } from './recall.ts'
import type { Delivery } from './receive.ts'

/** What the first half of a run comes to, each value made by its step. Bulk is in the workspace. */
export interface Prepared {
  readonly past: Past
  readonly delivery: Delivery
  readonly listed: Listed
  readonly plan: Plan
  readonly guarded: Guarded
}

/** What is known of a run so far: also what the report of a failed run is made from. */
export interface Run {
  prepared: Prepared | null
  applied: Applied | null
  /** What a person should know first. */
  readonly notes: string[]
}
