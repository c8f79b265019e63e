import type { MovingListing } from '../core/listing.ts'
import { nextTurn } from '../core/turn.ts'
import type { ActionKind, Steps } from './change.ts'
import { decide } from './decide.ts'
import type { Decision } from './decide.ts'
import { isFact } from './guard/facts.ts'
import { noTally } from './guard/hold.ts'
import type { PlanInputs, PlanSettings, RowInBrief } from './inputs.ts'
import { caseOf, situations } from './situation.ts'
import type { Situation } from './situation.ts'

/** Walks delivery, snapshot and list together, once; yields what would make the service right, and counts in `facts`. Else pure. */
export async function* planChanges(
  inputs: PlanInputs,
  settings: PlanSettings,
  facts: PlanFacts = noFacts(),
): AsyncGenerator<Steps> {
  let left = 0
  const isLeft = (row: RowInBrief): boolean => {
    const stays = staysAsItIs(row, inputs, settings)
    if (stays) left++
    return stays
  }
  for await (const chunk of situations(inputs, settings, isLeft)) {
    facts.ours += left
    const steps: Steps = { asks: [], changes: [], notes: [], unchanged: left }
    left = 0
    for (const decision of await decideAll(chunk, inputs, settings)) {
      const { situation, changes } = decision
      const { ask } = situation
      if (ask !== null && (ask.isUnclear || !leavesAll(decision))) {
        steps.asks.push(ask)
        continue
      }
      count(facts, decision, settings)
      for (const change of changes) steps.changes.push({ change, remembered: situation.history })
      steps.notes.push(...situation.notes)
      if (decision.isUnchanged) steps.unchanged++
    }
    yield steps
  }
}

/** Whether a row of which no other side speaks stays as it is. `decide` would come to the same, for several times the work. */
function staysAsItIs({ id, key, settledSince }: RowInBrief, inputs: PlanInputs, settings: PlanSettings): boolean {
  const { now, volatile, lookUps } = settings
  if (lookUps !== null || settledSince === null || !inputs.seen(id) || !inputs.shownAsBefore(id)) return false
  return nextTurn(key, settledSince, volatile.refresh) > now
}

/** Whether a decision needs nothing of what the service shows. */
function leavesAll({ situation, changes }: Decision): boolean {
  // Such holds (delivered twice, or another feed's) follow from the feeds alone.
  const areOfFeeds = changes.every((change) => change.kind === 'hold' && change.held === null)
  return areOfFeeds && situation.notes.every(({ op }) => op !== 'baseline')
}

/** Stands in for the list where an MLSNumber was not looked up: no more is known of it than under an incomplete list. */
const noList = { complete: false, reasons: ['this run read no list'] }

const notAtHand = new Error('what was sent last is not at hand')

/** Decides a chunk. Decisions that ask for what was sent last are made twice: it is fetched for all of them in one go. */
async function decideAll(chunk: readonly Situation[], inputs: PlanInputs, settings: PlanSettings): Promise<Decision[]> {
  const withoutList = { ...settings, remote: noList }
  let sent: ReadonlyMap<number, MovingListing> | null = null
  const recall = (id: number): MovingListing => {
    if (sent === null) throw notAtHand
    const found = sent.get(id)
    if (found === undefined) throw new Error(`A decision asks for snapshot row ${id}, and nothing was sent under it`)
    return found
  }
  const decideOn = (situation: Situation): Decision =>
    decide(caseOf(situation, situation.ask === null ? settings : withoutList, recall))
  const decisions = chunk.map((situation) => {
    try {
      return decideOn(situation)
    } catch (error) {
      if (error !== notAtHand) throw error
      return null
    }
  })
  const asked = chunk.flatMap(({ row }, i) => (decisions[i] === null && row !== null ? row.id : []))
  if (asked.length > 0) sent = await inputs.recall(asked)
  return decisions.map((decision, i) => decision ?? decideOn(chunk[i]))
}

function count(facts: PlanFacts, { situation, changes, duplicates }: Decision, { feed, remote }: PlanSettings): void {
  const { row, delivered, shown, ours, notes } = situation
  const { counted, leftAt } = situation.history
  // An incomplete list may lack what is there.
  const isThere = ours && (shown.length > 0 || !remote.complete)
  if (isThere || counted.includes('delete')) facts.ours++
  const isMarked = shown.some(({ owner }) => owner === feed)
  if (isMarked && row === null && delivered.length === 0 && leftAt === null) facts.strange++
  for (const what of counted) facts.counted[what]++
  const is = (kind: ActionKind): boolean =>
    changes.some((change) => change.kind === kind || (change.kind === 'hold' && change.held === kind))
  // What is back is not gone, and what leaves is no longer changed.
  if (counted.includes('delete') && !isThere && !is('create')) facts.counted.gone++
  if (counted.some(isFact) && (isThere ? !is('delete') : counted.includes('renumber'))) facts.counted.changed++
  facts.duplicates += duplicates
  for (const note of notes) if (note.op === 'kept') facts.driftKept++
}

/** What the walk counts, for the guard and the report. */
export const noFacts = () => ({
  /** Listings that the service shows and this feed owns, and those that it took off within 24 hours. */
  ours: 0,
  duplicates: 0,
  /** Listings changed within 24 hours, by the kinds that the guard counts. */
  counted: noTally(),
  /** Listings with our mark that the store knows nothing of, not even that it took them off, and the feed does not hold. */
  strange: 0,
  /** Listings edited on the service that stay so (`drift: keep`). */
  driftKept: 0,
})

export type PlanFacts = ReturnType<typeof noFacts>
