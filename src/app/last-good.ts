/** When a feed was last brought up to date. That takes more than a run without an error. */
import type { FeedConfig } from '../config/config.ts'
import type { StoreReader } from '../store/store.ts'

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
