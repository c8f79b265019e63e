/** When a feed was last brought up to date. That takes more than a run without an error. */
import type { FeedConfig } from '../config/config.ts'
import type { StoreReader } from '../store/store.ts'

/**
 * The last good run: it did not fail, something of its delivery could be read and, for a full feed, the guard accepted the delivery as
 * complete. null: never.
 */
export async function lastGood(
  { runs }: Pick<StoreReader, 'runs'>,
  { name, mapping }: Pick<FeedConfig, 'name' | 'mapping'>,
): Promise<number | null> {
  const lastSuccess = await runs.lastSuccess(name)
  if (lastSuccess === null) return null
  const accepted = await runs.lastAccepted(name)
  // Of a delta, earlier versions did not record it.
  if (accepted === null) return mapping.delivery === 'delta' ? lastSuccess : null
  return Math.min(lastSuccess, accepted)
}
