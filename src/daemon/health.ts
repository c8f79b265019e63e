/** The age of the last good run: a daemon may be alive while nothing has worked for a week (docs/faults.md, F146). */
import type { FeedConfig } from '../config/config.ts'
import type { StoreReader } from '../store/store.ts'
import { dueTimes } from './schedule.ts'
import type { Schedule } from './schedule.ts'

/** A feed is stale once so many runs were due since the last good one. */
export const staleAfter = 3

/**
 * The last good run: it did not fail and, for a full feed, the guard accepted the delivery as complete. null: never.
 */
export async function lastGood(
  { runs }: Pick<StoreReader, 'runs'>,
  { name, mapping }: Pick<FeedConfig, 'name' | 'mapping'>,
): Promise<number | null> {
  const lastSuccess = await runs.lastSuccess(name)
  // Whether a delta is complete cannot be known.
  if (mapping.delivery === 'delta' || lastSuccess === null) return lastSuccess
  const accepted = await runs.lastAccepted(name)
  return accepted === null ? null : Math.min(lastSuccess, accepted)
}

/** Why a feed is stale, as a sentence; null: it is not. */
export function staleness(schedule: Schedule, good: number | null, now: number): string | null {
  if (good === null) return 'no run has succeeded yet'
  if (dueTimes(schedule).count(good, now, staleAfter) < staleAfter) return null
  return `no run has succeeded since ${new Date(good).toISOString()}, although ${staleAfter} or more were due`
}
