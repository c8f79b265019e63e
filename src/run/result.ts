import type { RunResult } from '../core/exit.ts'
import type { Counts, HoldCause } from '../plan/change.ts'
import type { Report } from '../report/report.ts'
import type { OutcomeResult } from '../workspace/workspace.ts'

/** Holds that wait for an answer or for the listing to change; all others wait for a person. */
const waiting: ReadonlySet<HoldCause> = new Set<HoldCause>(['in-flight', 'refused-before'])

export function waitsForAPerson(cause: HoldCause): boolean {
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
