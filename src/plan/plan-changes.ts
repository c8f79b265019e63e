import { fieldNames, optionalFields } from '../listing.ts'
import type { FieldName } from '../listing.ts'
import { decide } from './decide.ts'
import { isFight } from './measures.ts'
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
    leaving: 0,
    duplicates: 0,
    matched: 0,
    had: optionalFields.map(() => 0),
    firstSights: 0,
    echoed: {},
    uncleared: {},
    marked: 0,
    unknownMarks: 0,
    driftKept: 0,
    mappingUpdates: 0,
  }
  for (const situation of situations(inputs, settings.feed)) {
    const { steps, duplicates, ours } = decide(situation, settings, inputs.recall)
    const delivered = situation.seen || situation.delivered.length > 0
    if (ours) facts.ours++
    if (ours && situation.row?.flight === 'delete') facts.leaving++
    if (situation.shown.some(({ owner }) => owner === settings.feed)) facts.marked++
    facts.duplicates += duplicates
    if (delivered) keys.add(situation.key)
    else if (situation.row === null && situation.shown.some(({ owner }) => owner === settings.feed))
      facts.unknownMarks++
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
 * Decides the doubts once the walk is over: a field that a quarter of the listings seen for the first time (two at least)
 * show otherwise than sent is the service's own form of it, as is one already known for that; what one listing shows unlike
 * the others was edited, and is taken out of what the facts say of the service's form.
 */
export function settleDoubts(doubts: readonly Doubt[], facts: PlanFacts, knownForms: readonly FieldName[]): PlanStep[] {
  const common = Math.max(2, facts.firstSights / 4)
  const isForm = (field: FieldName): boolean => knownForms.includes(field) || (facts.echoed[field] ?? 0) >= common
  // Where the service keeps our mark on others, the row without it is not the one that was sent.
  const isFought = isFight(doubts.filter(({ again }) => again).length, facts.ours)
  const isEdit = ({ fields, unmarked, again }: Doubt): boolean =>
    again ? isFought : (unmarked && facts.marked > 0) || !fields.every(isForm)
  const edits = new Set(doubts.filter(isEdit))
  for (const { asForm } of edits) for (const step of asForm) countSight(facts, step, -1)
  return doubts.flatMap((doubt) => (edits.has(doubt) ? doubt.asEdit : doubt.asForm))
}

function countStep(facts: Omit<PlanFacts, 'keys'>, step: PlanStep): void {
  if (step.step === 'change' && step.change.cause === 'mapping') facts.mappingUpdates++
  for (const one of step.step === 'doubt' ? step.asForm : [step]) countSight(facts, one, 1)
}

/** Counts what a first sight says of the service's form, or takes it back. */
function countSight(facts: Omit<PlanFacts, 'keys'>, step: PlanStep, by: 1 | -1): void {
  if (step.step !== 'bookkeeping' || step.entry.op !== 'first-sight') return
  if (step.entry.kept) facts.driftKept += by
  if (!step.entry.first) return
  const { echo, uncleared } = step.entry
  facts.firstSights += by
  for (const field of fieldNames) {
    if (field in echo) countField(facts.echoed, field, by)
    if (uncleared.includes(field)) countField(facts.uncleared, field, by)
  }
}

function countField(counts: Partial<Record<FieldName, number>>, field: FieldName, by: 1 | -1): void {
  const count = (counts[field] ?? 0) + by
  if (count === 0) delete counts[field]
  else counts[field] = count
}

function isMatched({ row, seen, delivered }: Situation, feed: string): boolean {
  return row !== null && row.owned && row.feed === feed && (seen || delivered.some((one) => one.kind === 'listing'))
}

function countFilled(had: number[], filled: number): void {
  for (let bit = 0; bit < had.length; bit++) if ((filled & (1 << bit)) !== 0) had[bit]++
}
