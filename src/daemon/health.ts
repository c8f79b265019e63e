/** The age of the last good run: a daemon may be alive while nothing has worked for a week (docs/faults.md, F146). */
import { minuteIn } from '../core/zone.ts'
import { dueTimes } from './schedule.ts'
import type { Schedule } from './schedule.ts'

/** A feed is stale once this many runs were due since the last good one. */
export const staleAfter = 3

/** Why a feed is stale, as a sentence; null: it is not. */
export function staleness(schedule: Schedule, good: number | null, now: number): string | null {
  if (good === null) return 'no run has been good yet'
  if (dueTimes(schedule).count(good, now, staleAfter) < staleAfter) return null
  return `no run has been good since ${minuteIn(schedule.timezone, good)}, although ${staleAfter} or more were due`
}
