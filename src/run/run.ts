import type { Applied } from '../apply/apply.ts'
import type { Guarded } from './guard.ts'
import type { Listed } from './observe.ts'
import type { Plan } from './plan.ts'
import type { Past } from './recall.ts'
import type { Delivery } from './delivery.ts'

/** The results of a run's first half, each made by its step. The bulk is in the workspace. */
export interface Prepared {
  readonly past: Past
  readonly delivery: Delivery
  readonly listed: Listed
  readonly plan: Plan
  readonly guarded: Guarded
}

/** What is known of a run so far. The report of a failed run is made from it, too. */
export interface Run {
  prepared: Prepared | null
  applied: Applied | null
  /** What a person should know first. */
  readonly notes: string[]
}
