/** The age of the last good run: a daemon may be alive while nothing has worked for a week (docs/faults.md, F146). */
import { statSync, utimesSync, writeFileSync } from 'node:fs'
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

/** How often the daemon touches the file beside the store that the container's health check looks at. */
export const beatEvery = 10_000
const deadAfter = 60_000

const fileOf = (store: string): string => `${store}.alive`

/** Sets the file's time to now; creates it if missing. */
export function beat(store: string, now: number): void {
  const file = fileOf(store)
  const seconds = now / 1000
  try {
    utimesSync(file, seconds, seconds)
  } catch {
    // Never through a link.
    writeFileSync(file, '', { flag: 'wx' })
    utimesSync(file, seconds, seconds)
  }
}

/** Whether the file was touched within a minute. */
export function aliveWithin(store: string, now: number): boolean {
  try {
    return now - statSync(fileOf(store)).mtimeMs < deadAfter
  } catch {
    return false
  }
}
