import type { Cause, Counts, OutcomeResult, Report, RunResult } from './run.ts'

/** Exit statuses of the program (DESIGN, "Commands"). */
export const exitStatus = {
  right: 0,
  failed: 1,
  changes: 2,
  held: 3,
  partial: 4,
  usage: 64,
  configuration: 78,
} as const

/** Holds that wait for an answer or for the listing to change; all others wait for a person. */
const waiting: ReadonlySet<Cause> = new Set<Cause>(['in-flight', 'refused-before'])

export function waitsForAPerson(cause: Cause): boolean {
  return !waiting.has(cause)
}

export interface ResultFacts {
  command: Report['command']
  counts: Counts
  /** Holds that wait for a person. */
  held: number
  /** Holds that are as the configuration wants them: they leave nothing unfinished. */
  inGrace: number
  /** A rule of the guard tripped. */
  tripped: boolean
  outcomes: Record<OutcomeResult, number> | null
  error: string | null
}

/** The one word of a run: failed over held over partial; a dry run with changes says so. */
export function resultOf({ command, counts, held, inGrace, tripped, outcomes, error }: ResultFacts): RunResult {
  if (error !== null) return 'failed'
  if (tripped || held > 0) return 'held'
  const changes = counts.create + counts.update + counts.delete + counts.adopt + counts.forget
  if (command === 'diff' && changes > 0) return 'changes'
  const unfinished = outcomes === null ? 0 : outcomes.failed + outcomes.unknown + outcomes.skipped
  return unfinished + counts.reject + counts.hold - inGrace > 0 ? 'partial' : 'ok'
}

/** The exit status of several runs: failed, then held, then (dry run) changes, then partial. */
export function exitStatusOf(results: readonly RunResult[]): number {
  const order = ['failed', 'held', 'changes', 'partial'] as const
  const worst = order.find((result) => results.includes(result))
  return worst === undefined ? exitStatus.right : exitStatus[worst]
}
