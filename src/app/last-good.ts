/** When a feed was last brought up to date. That takes more than a run without an error. */
import type { FeedConfig } from '../config/config.ts'
import { printable } from '../core/text.ts'
import type { Report } from '../report/report.ts'
import type { RunRecord, StoreReader } from '../store/store.ts'

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

/** What was wrong with the delivery of a run that did not fail, as a sentence; null: nothing. */
export function lackOf({ result, figures }: Pick<RunRecord, 'result' | 'figures'>, feed: string): string | null {
  const { delivery } = JSON.parse(figures) as { delivery?: Partial<Report['delivery']> }
  const { records = 0, rejects = 0, complete = true, reasons = [] } = delivery ?? {}
  if (result === 'failed') return null
  if (records > 0 && rejects === records)
    return `All ${records} records were rejected. See why: listing-sync inspect ${feed}`
  return complete ? null : `The last delivery was not complete: ${reasons.map(printable).join('; ')}.`
}
