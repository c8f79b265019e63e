/** Whether a feed is carried over at all: a daemon may be alive while nothing has worked for a week (fault-model F146). */
import { statSync, utimesSync, writeFileSync } from 'node:fs'
import type { FeedConfig } from '../config/config.ts'
import type { StoreReader } from '../store/store.ts'
import { dueTimes } from './schedule.ts'
import type { Schedule } from './schedule.ts'

/** A feed is stale when so many runs were due since the last good one. */
export const staleAfter = 3

/**
 * When a run last was good: it did not fail, and of a full feed its delivery was complete and not doubted, as a run that
 * holds everything for an empty feed is none. null: never.
 */
export async function lastGood(
  { runs, deliveries }: Pick<StoreReader, 'runs' | 'deliveries'>,
  { name, mapping }: Pick<FeedConfig, 'name' | 'mapping'>,
): Promise<number | null> {
  const lastSuccess = await runs.lastSuccess(name)
  // Of a delta nothing tells whether it lacks something.
  if (mapping.delivery === 'delta' || lastSuccess === null) return lastSuccess
  const [accepted] = await deliveries.accepted(name)
  return accepted === undefined ? null : Math.min(lastSuccess, accepted.at)
}

/** What is wrong with a feed's freshness, as a sentence; null: nothing. */
export function staleness(schedule: Schedule, good: number | null, now: number): string | null {
  if (good === null) return 'no run has been good yet'
  if (dueTimes(schedule).count(good, now, staleAfter) < staleAfter) return null
  return `no run has been good since ${new Date(good).toISOString()}, though ${staleAfter} or more were due`
}

/** A file beside the store whose age tells the container's health check that the daemon's loop is alive. */

/** The daemon beats this often. */
export const beatEvery = 10_000
const deadAfter = 60_000

const fileOf = (store: string): string => `${store}.alive`

/** Sets the file's time to now, making it where it is missing. */
export function beat(store: string, now: number): void {
  const file = fileOf(store)
  const seconds = now / 1000
  try {
    utimesSync(file, seconds, seconds)
  } catch {
    writeFileSync(file, '')
    utimesSync(file, seconds, seconds)
  }
}

/** Whether the daemon of this store has beaten within a minute. */
export function aliveWithin(store: string, now: number): boolean {
  try {
    return now - statSync(fileOf(store)).mtimeMs < deadAfter
  } catch {
    return false
  }
}
