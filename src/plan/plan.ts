import { fieldNames, optionalFields } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import type { Doubt, PlanStep } from './change.ts'
import { decide, mayRecall } from './decide.ts'
import { isFight } from './guard/measures.ts'
import type { PlanInputs, PlanSettings } from './inputs.ts'
import { KeyHashes } from './key-hashes.ts'
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
  const keys = new KeyHashes()
  const facts: Counted = {
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
  for await (const chunk of situations(inputs, settings.feed)) {
    const recall = await recallFor(chunk, inputs, settings)
    const chunkSteps: PlanStep[] = []
    for (const situation of chunk) {
      const { steps, duplicates, ours } = decide(situation, settings, recall)
      if (situation.seen || situation.delivered.length > 0) keys.add(situation.key)
      countSituation(facts, situation, ours, settings.feed)
      facts.duplicates += duplicates
      for (const step of steps) {
        countStep(facts, step)
        chunkSteps.push(step)
      }
    }
    yield chunkSteps
  }
  return { ...facts, keys: keys.sorted() }
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

function countStep(facts: Counted, step: PlanStep): void {
  if (step.step === 'change' && step.change.cause === 'mapping') facts.mappingUpdates++
  for (const one of step.step === 'doubt' ? step.asForm : [step]) countSight(facts, one, 1)
}

/** Counts what a first sight says of the service's form, or takes it back. */
function countSight(facts: Counted, step: PlanStep, by: 1 | -1): void {
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

function countSituation(facts: Counted, { row, seen, delivered, shown }: Situation, ours: boolean, feed: string): void {
  const isMarked = shown.some(({ owner }) => owner === feed)
  if (ours) facts.ours++
  if (ours && row?.flight === 'delete') facts.leaving++
  if (isMarked) facts.marked++
  if (isMarked && row === null && !seen && delivered.length === 0) facts.unknownMarks++
  // Of what is seen, the row is this feed's and owned.
  const isMatched =
    seen || (row?.owned === true && row.feed === feed && delivered.some(({ kind }) => kind === 'listing'))
  if (row === null || !isMatched) return
  facts.matched++
  for (let bit = 0; bit < facts.had.length; bit++) if ((row.filled & (1 << bit)) !== 0) facts.had[bit]++
}

/** What the walk counts as it goes; the keys are sorted once it is over. */
type Counted = Omit<PlanFacts, 'keys'>

/** What the walk counted, for the guard and the report. */
export interface PlanFacts {
  /** Listings of ours: in the snapshot, or marked as this feed's on the service. */
  ours: number
  /** Of those, how many have a delete under way: the ledger of the last 24 hours has them too. */
  leaving: number
  /** Listings delivered once more, equal. */
  duplicates: number
  /** Every MLSNumber that the delivery holds, readable or not, as sorted 64-bit hashes. */
  keys: BigUint64Array
  /** Listings that are both delivered and in the snapshot. */
  matched: number
  /** Of those, how many had the optional field in the snapshot, by `optionalFields`. */
  had: number[]
  /** Listings seen for the first time after a confirmed write. */
  firstSights: number
  /** Of those, how many show the field otherwise than sent. */
  echoed: Partial<Record<FieldName, number>>
  /** Of those, how many still show a field that was to disappear. */
  uncleared: Partial<Record<FieldName, number>>
  /** Listings shown with our mark. */
  marked: number
  /** Listings with our mark that the store knows nothing of and the feed does not hold. */
  unknownMarks: number
  /** Listings edited on the service that stay so (`drift: keep`). */
  driftKept: number
  /** Of the changes, how many are due to a new mapping or preset version alone. */
  mappingUpdates: number
}
