import { fieldNames, optionalFields } from '../listing.ts'
import { decide } from './decide.ts'
import { KeyHashes } from './keys.ts'
import type { Doubt, PlanFacts, PlanInputs, PlanSettings, PlanStep } from './plan.ts'
import { situations } from './walk.ts'
import type { Situation } from './walk.ts'

/**
 * Walks delivery, snapshot and service once and yields what would make the service right, one MLSNumber after another.
 * Pure: it reads nothing but its inputs and has no effect. The facts it counted are its return value.
 */
export function* planChanges(inputs: PlanInputs, settings: PlanSettings): Generator<PlanStep, PlanFacts> {
  const keys = new KeyHashes()
  const facts: Omit<PlanFacts, 'keys'> = {
    ours: 0,
    duplicates: 0,
    matched: 0,
    had: optionalFields.map(() => 0),
    firstSights: 0,
    echoed: {},
    uncleared: {},
    unknownMarks: 0,
    mappingUpdates: 0,
  }
  for (const situation of situations(inputs, settings.feed)) {
    const { steps, duplicates, ours } = decide(situation, settings, inputs.recall)
    const delivered = situation.seen || situation.delivered.length > 0
    if (ours) facts.ours++
    facts.duplicates += duplicates
    if (delivered) keys.add(situation.key)
    else if (ours && situation.row === null) facts.unknownMarks++
    if (isMatched(situation, settings.feed)) {
      facts.matched++
      countFilled(facts.had, situation.row!.filled)
    }
    for (const step of steps) {
      countStep(facts, step)
      yield step
    }
  }
  return { ...facts, keys: keys.sorted() }
}

/**
 * Decides doubts once the walk is over: a field that a quarter of the listings seen for the first time (two at least) show
 * otherwise than sent is the service's own form of it; one that hardly any other shows so was edited.
 */
export function settleDoubt({ fields, asEdit, asForm }: Doubt, { firstSights, echoed }: PlanFacts): PlanStep[] {
  const common = Math.max(2, firstSights / 4)
  return fields.every((field) => (echoed[field] ?? 0) >= common) ? asForm : asEdit
}

function countStep(facts: Omit<PlanFacts, 'keys'>, step: PlanStep): void {
  if (step.step === 'change' && step.change.cause === 'mapping') facts.mappingUpdates++
  const form = step.step === 'doubt' ? step.asForm : [step]
  for (const one of form) {
    if (one.step !== 'bookkeeping' || one.entry.op !== 'first-sight' || !one.entry.first) continue
    facts.firstSights++
    for (const field of fieldNames) {
      if (field in one.entry.echo) facts.echoed[field] = (facts.echoed[field] ?? 0) + 1
      if (one.entry.uncleared.includes(field)) facts.uncleared[field] = (facts.uncleared[field] ?? 0) + 1
    }
  }
}

function isMatched({ row, seen, delivered }: Situation, feed: string): boolean {
  return row !== null && row.owned && row.feed === feed && (seen || delivered.some((one) => one.kind === 'listing'))
}

function countFilled(had: number[], filled: number): void {
  for (let bit = 0; bit < had.length; bit++) if ((filled & (1 << bit)) !== 0) had[bit]++
}
