import type { Steps } from './change.ts'
import { decide, mayRecall } from './decide.ts'
import { isFact } from './guard/facts.ts'
import { noTally } from './guard/hold.ts'
import type { PlanInputs, PlanSettings } from './inputs.ts'
import { situations } from './situation.ts'
import type { Case, Situation } from './situation.ts'

/**
 * Walks delivery, snapshot and service once and yields what would make the service right, one MLSNumber after another, in
 * chunks. Pure: it reads nothing but its inputs and has no effect. The facts it counted are its return value.
 */
export async function* planChanges(inputs: PlanInputs, settings: PlanSettings): AsyncGenerator<Steps, PlanFacts> {
  const facts = noFacts()
  for await (const chunk of situations(inputs, settings.feed)) {
    const recall = await recallFor(chunk, inputs, settings)
    const steps: Steps = { changes: [], notes: [], unchanged: 0 }
    for (const situation of chunk) {
      const { changes, notes, isUnchanged, duplicates, ours } = decide(situation, settings, recall)
      countSituation(facts, situation, ours, settings)
      facts.duplicates += duplicates
      for (const change of changes) {
        if (change.cause === 'mapping') facts.mappingUpdates++
        steps.changes.push({ change, remembered: situation.history })
      }
      for (const note of notes) {
        if (note.op === 'baseline' && note.kept) facts.driftKept++
        steps.notes.push(note)
      }
      if (isUnchanged) steps.unchanged++
    }
    yield steps
  }
  return facts
}

/** Fetches what the decisions of a chunk may ask for; one that asks for more is a defect. */
async function recallFor(
  chunk: readonly Situation[],
  inputs: PlanInputs,
  settings: PlanSettings,
): Promise<Case['recall']> {
  const ids = chunk.filter((situation) => mayRecall(situation, settings)).map(({ row }) => row!.id)
  const recalled = ids.length > 0 ? await inputs.recall(ids) : null
  return (id) => {
    const found = recalled?.get(id)
    if (found === undefined) throw new Error(`A decision asks for snapshot row ${id}, which was not fetched for it`)
    return found
  }
}

function countSituation(
  facts: PlanFacts,
  { row, seen, delivered, shown, history: { counted } }: Situation,
  ours: boolean,
  { feed, remote }: PlanSettings,
): void {
  // What an incomplete list lacks may be there all the same.
  const isThere = ours && (shown.length > 0 || !remote.complete)
  if (isThere || counted.includes('delete')) facts.ours++
  const isMarked = shown.some(({ owner }) => owner === feed)
  if (isMarked && row === null && !seen && delivered.length === 0) facts.strange++
  for (const what of counted) facts.counted[what]++
  if (counted.some(isFact)) facts.counted.changed++
}

/** What the walk counts, for the guard and the report. */
const noFacts = () => ({
  /** Listings that the service shows and this feed owns, and those that it took off within 24 hours. */
  ours: 0,
  /** Listings delivered once more, equal. */
  duplicates: 0,
  /** Listings of which something was changed within 24 hours, by what the guard counts; `changed`: any fact. */
  counted: noTally(),
  /** Listings with our mark that the store knows nothing of and the feed does not hold. */
  strange: 0,
  /** Listings edited on the service that stay so (`drift: keep`). */
  driftKept: 0,
  /** Of the changes, how many are due to a new mapping or preset version alone. */
  mappingUpdates: 0,
})

export type PlanFacts = ReturnType<typeof noFacts>
