import { fieldNames } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import type { Doubt, PlanStep, Remembered } from './change.ts'
import { decide, mayRecall } from './decide.ts'
import { factKinds, zeros } from './guard/facts.ts'
import type { PlanInputs, PlanSettings } from './inputs.ts'
import { situations } from './situation.ts'
import type { Case, Situation } from './situation.ts'

/**
 * Walks delivery, snapshot and service once and yields what would make the service right, one MLSNumber after another, in
 * chunks. Pure: it reads nothing but its inputs and has no effect. The facts it counted are its return value.
 */
export async function* planChanges(
  inputs: PlanInputs,
  settings: PlanSettings,
): AsyncGenerator<readonly PlanStep[], PlanFacts> {
  const facts = noFacts()
  for await (const chunk of situations(inputs, settings.feed)) {
    const recall = await recallFor(chunk, inputs, settings)
    const chunkSteps: PlanStep[] = []
    for (const situation of chunk) {
      const { steps, duplicates, ours } = decide(situation, settings, recall)
      countSituation(facts, situation, ours, settings)
      facts.duplicates += duplicates
      for (const step of steps) {
        countStep(facts, step)
        chunkSteps.push(withMemory(step, situation.history))
      }
    }
    yield chunkSteps
  }
  return facts
}

function withMemory(step: PlanStep, remembered: Remembered): PlanStep {
  if (step.step === 'change') return { ...step, remembered }
  return step.step === 'doubt' ? { ...step, asEdit: step.asEdit.map((edit) => withMemory(edit, remembered)) } : step
}

/** Fetches what the decisions of a chunk may ask for; one that asks for more is a defect. */
async function recallFor(
  chunk: readonly Situation[],
  inputs: PlanInputs,
  settings: PlanSettings,
): Promise<Case['recall']> {
  const ids: number[] = []
  for (const situation of chunk) if (mayRecall(situation, settings)) ids.push(situation.row!.id)
  const recalled = ids.length > 0 ? await inputs.recall(ids) : null
  return (id) => {
    const found = recalled?.get(id)
    if (found === undefined) throw new Error(`A decision asks for snapshot row ${id}, which was not fetched for it`)
    return found
  }
}

/**
 * Decides the doubts once the walk is over. A field that a quarter of the listings seen for the first time (two at least)
 * show otherwise than sent is the service's own form, as is a field already known for that. What one listing shows unlike
 * the others was edited, and does not count as the service's form.
 */
export function settleDoubts(doubts: readonly Doubt[], facts: PlanFacts, knownForms: readonly FieldName[]): PlanStep[] {
  const common = Math.max(2, facts.firstSights / 4)
  const isForm = (field: FieldName): boolean => knownForms.includes(field) || (facts.echoed[field] ?? 0) >= common
  // So many drift that it is no person who edits them, but another program.
  const isFought = doubts.filter(({ again }) => again).length > Math.max(5, Math.floor(facts.ours / 20))
  // If the service keeps our mark on other listings, a row without the mark is not the one that was sent.
  const isEdit = ({ fields, unmarked, again }: Doubt): boolean =>
    (unmarked && facts.marked > 0) || (again ? isFought : !fields.every(isForm))
  const edits = new Set(doubts.filter(isEdit))
  for (const { asForm } of edits) for (const step of asForm) countSight(facts, step, -1)
  return doubts.flatMap((doubt) => (edits.has(doubt) ? doubt.asEdit : doubt.asForm))
}

function countStep(facts: PlanFacts, step: PlanStep): void {
  if (step.step === 'change' && step.change.cause === 'mapping') facts.mappingUpdates++
  for (const one of step.step === 'doubt' ? step.asForm : [step]) countSight(facts, one, 1)
}

/** Counts what a first sight says of the service's form, or takes it back. */
function countSight(facts: PlanFacts, step: PlanStep, by: 1 | -1): void {
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

function countField(counts: FieldCounts, field: FieldName, by: 1 | -1): void {
  const count = (counts[field] ?? 0) + by
  if (count === 0) delete counts[field]
  else counts[field] = count
}

function countSituation(
  facts: PlanFacts,
  { row, seen, delivered, shown, history }: Situation,
  ours: boolean,
  { feed, remote }: PlanSettings,
): void {
  const { counted } = history
  const isMarked = shown.some(({ owner }) => owner === feed)
  // What an incomplete list lacks may be there all the same.
  const isThere = ours && (shown.length > 0 || !remote.complete)
  if (isThere || counted.includes('delete')) facts.ours++
  if (isMarked) facts.marked++
  if (isMarked && row === null && !seen && delivered.length === 0) facts.strange++
  for (const what of counted) facts.counted[what]++
  if (factKinds.some((kind) => counted.includes(kind))) facts.counted.changed++
}

/** What the walk counts, for the guard and the report. */
const noFacts = () => ({
  /** Listings that the service shows and this feed owns, and those that it took off within 24 hours. */
  ours: 0,
  /** Listings delivered once more, equal. */
  duplicates: 0,
  /** Listings of which something was changed within 24 hours, by what the guard counts; `changed`: any fact. */
  counted: { delete: 0, renumber: 0, create: 0, changed: 0, ...zeros() },
  /** Listings seen for the first time after a confirmed write. */
  firstSights: 0,
  /** Of those, how many show the field otherwise than sent. */
  echoed: {} as FieldCounts,
  /** Of those, how many still show a field that was to disappear. */
  uncleared: {} as FieldCounts,
  /** Listings shown with our mark. */
  marked: 0,
  /** Listings with our mark that the store knows nothing of and the feed does not hold. */
  strange: 0,
  /** Listings edited on the service that stay so (`drift: keep`). */
  driftKept: 0,
  /** Of the changes, how many are due to a new mapping or preset version alone. */
  mappingUpdates: 0,
})

type FieldCounts = Partial<Record<FieldName, number>>
export type PlanFacts = ReturnType<typeof noFacts>
