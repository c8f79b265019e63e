import { fieldNames, optionalFields } from '../listing.ts'
import type { FieldName } from '../listing.ts'
import { decide } from './decide.ts'
import { KeyHashes } from './keys.ts'
import type { PlanFacts, PlanInputs, PlanSettings, PlanStep } from './plan.ts'
import { situations } from './walk.ts'
import type { Situation } from './walk.ts'

/**
 * Walks delivery, snapshot and service once and yields what would make the service right, one MLSNumber after another.
 * Pure: it reads nothing but its inputs and has no effect. The facts it counted are its return value.
 */
export function* planChanges(inputs: PlanInputs, settings: PlanSettings): Generator<PlanStep, PlanFacts> {
  const keys = new KeyHashes()
  const had = optionalFields.map(() => 0)
  const facts = { ours: 0, duplicates: 0, matched: 0, mappingUpdates: 0 }
  const echoed: Partial<Record<FieldName, number>> = {}
  for (const situation of situations(inputs, settings.feed)) {
    const { steps, duplicates, ours } = decide(situation, settings, inputs.recall)
    if (ours) facts.ours++
    facts.duplicates += duplicates
    if (situation.seen || situation.delivered.length > 0) keys.add(situation.key)
    if (isMatched(situation, settings.feed)) {
      facts.matched++
      countFilled(had, situation.row!.filled)
    }
    for (const step of steps) {
      if (step.step === 'change' && step.change.cause === 'mapping') facts.mappingUpdates++
      if (step.step === 'bookkeeping' && step.entry.op === 'first-sight') countEchoed(echoed, step.entry.echo)
      yield step
    }
  }
  return { ...facts, keys: keys.sorted(), had, echoed }
}

function isMatched({ row, seen, delivered }: Situation, feed: string): boolean {
  return row !== null && row.owned && row.feed === feed && (seen || delivered.some((one) => one.kind === 'listing'))
}

function countFilled(had: number[], filled: number): void {
  for (let bit = 0; bit < had.length; bit++) if ((filled & (1 << bit)) !== 0) had[bit]++
}

function countEchoed(echoed: Partial<Record<FieldName, number>>, echo: object): void {
  for (const field of fieldNames) if (field in echo) echoed[field] = (echoed[field] ?? 0) + 1
}
