/** What a run that reads no list goes by for an MLSNumber that it has not looked up: the snapshot, and for nothing but to leave all as it is. */
import type { Decision } from './decide.ts'
import type { PlanSettings } from './inputs.ts'
import { isLookedFor } from './proof.ts'
import { shownAsBefore } from './situation.ts'
import type { Situation } from './situation.ts'

/** Gives each situation that nobody looked at what the snapshot has for shown, and what is to be asked if that is not enough. */
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

/** Whether a decision does nothing that rests on what the service shows. */
export function leavesAll({ one, changes }: Decision): boolean {
  // Delivered twice, or another feed's: the feeds alone say so.
  const areOfFeeds = changes.every((change) => change.kind === 'hold' && change.held === null)
  return areOfFeeds && one.notes.every(({ op }) => op !== 'baseline' && op !== 'forget-flight')
}
