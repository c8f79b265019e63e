/** What became of one change. `unknown`: the call may have been carried out. */
export type OutcomeResult = 'done' | 'failed' | 'unknown' | 'skipped'

export const noOutcomes: Readonly<Record<OutcomeResult, number>> = { done: 0, failed: 0, unknown: 0, skipped: 0 }
