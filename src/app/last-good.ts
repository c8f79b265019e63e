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
  if (mapping.delivery === 'full') {
    const accepted = await runs.lastAccepted(name)
    return accepted === null ? null : Math.min(lastSuccess, accepted)
  }
  // Whether a delta is complete cannot be known.
  const latest = (await runs.latest(name, lookedAt)).filter(({ result }) => result !== 'failed')
  const readable = latest.find(({ figures }) => !isUnreadable(figures))
  return readable === latest[0] ? lastSuccess : (readable ?? latest[latest.length - 1]).startedAt
}

/** So many runs of a delta are looked at. */
const lookedAt = 30

const isUnreadable = (figures: string): boolean =>
  (JSON.parse(figures) as { isUnreadable?: boolean }).isUnreadable === true

/** What was wrong with the delivery of a run that did not fail, as a sentence; null: nothing. */
export function lackOf({ result, figures }: Pick<RunRecord, 'result' | 'figures'>, feed: string): string | null {
  if (result === 'failed') return null
  if (isUnreadable(figures)) return `All records were rejected. See why: listing-sync inspect ${feed}`
  const { delivery } = JSON.parse(figures) as { delivery?: Partial<Report['delivery']> }
  const { complete = true, reasons = [] } = delivery ?? {}
  return complete ? null : `The last delivery was not complete: ${reasons.map(printable).join('; ')}.`
}
