/** What is not sent again, though it is still wanted: a refusal, and what does not converge. */
import { held } from './change.ts'
import type { Case, WantedListing } from './decide.ts'
import type { PlanStep } from './plan.ts'

const day = 86_400_000
/** Updates for the same reason in so many runs running, and the listing is held as not converging. */
const convergeWithin = 3

/** A refusal is not sent again until its content or the mapping changes, or a day has passed (DESIGN, "Apply"). */
export function refusedBefore({ key, row, settings }: Case, wanted: WantedListing, step: PlanStep): PlanStep {
  if (step.step !== 'change' || (step.change.kind !== 'create' && step.change.kind !== 'update')) return step
  if (row === null || row.refusedAt === null || row.refusedContent !== wanted.content) return step
  if (row.refusedMapping !== settings.mapping || settings.now - row.refusedAt >= day) return step
  const at = new Date(row.refusedAt).toISOString()
  const why = `refused by the service at ${at} ("${row.refusedMessage}"): sent again when it changes, or after a day`
  return held(key, 'refused-before', why, { position: wanted.position, snapshot: row.id, kind: step.change.kind })
}

/** The same update for the same reason, run after run, is held: something undoes it each time. */
export function notConverging({ key, row }: Case, step: PlanStep): PlanStep {
  if (step.step !== 'change' || row === null || row.streak < convergeWithin) return step
  const { kind, reason, why: due, position, fields } = step.change
  if (row.streakReason !== reason || (kind !== 'create' && kind !== 'update')) return step
  const why = `not converging: sent ${row.streak} times running for the same reason (${due})`
  return held(key, 'not-converging', why, { position, fields, snapshot: row.id, kind })
}
