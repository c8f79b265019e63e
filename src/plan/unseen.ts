/** For runs without a list: what was not looked up is taken to be shown as the snapshot has it, and may only stay as it is. */
import type { Decision } from './decide.ts'
import type { PlanSettings } from './inputs.ts'
import { isLookedFor } from './proof.ts'
import { shownAsBefore } from './situation.ts'
import type { Situation } from './situation.ts'

/** Fills in `shown` from the snapshot, and `ask`, for each situation that this run did not look at. */
export function presume(chunk: readonly Situation[], settings: PlanSettings): void {
  const { feed, lookUps } = settings
  if (lookUps === null) return
  for (const situation of chunk) {
    const { key, row } = situation
    if (isLookedFor(settings, key)) continue
    const mine = row !== null && row.feed === feed && (row.owned || row.flight !== null) ? row : null
    const mayLand = mine !== null && (mine.flight !== null || (mine.suspectUntil ?? 0) > lookUps.listedAt)
    const isUnclear = mayLand || (mine !== null && (mine.content === null || mine.baseline === null || mine.ignored))
    const expected = mine === null ? null : shownAsBefore(mine)
    situation.shown = expected === null ? [] : [expected]
    situation.ask = { key, expected, isUnclear }
  }
}

/** Whether a decision needs nothing of what the service shows. */
export function leavesAll({ one, changes }: Decision): boolean {
  // Such holds (delivered twice, or another feed's) follow from the feeds alone.
  const areOfFeeds = changes.every((change) => change.kind === 'hold' && change.held === null)
  return areOfFeeds && one.notes.every(({ op }) => op !== 'baseline' && op !== 'forget-flight')
}
