/** When a feed was last brought up to date. That takes more than a run without an error. */
import type { FeedConfig } from '../config/config.ts'
import { printable } from '../core/text.ts'
import type { Report } from '../report/report.ts'
import type { RunRecord, StoreReader } from '../store/store.ts'

/**
 * The last good run: it did not fail, it read the whole list of the service, something of its delivery could be read and, for a full
 * feed, the guard accepted the delivery as complete. null: never.
 */
export async function lastGood(
  { runs }: Pick<StoreReader, 'runs'>,
  { name, mapping }: Pick<FeedConfig, 'name' | 'mapping'>,
): Promise<number | null> {
  const lastSuccess = await runs.lastSuccess(name)
  if (lastSuccess === null) return null
  const accepted = mapping.delivery === 'full' ? await runs.lastAccepted(name, true) : lastSuccess
  if (accepted === null) return null
  // Whether a delta is complete cannot be known.
  const isGood = (run: RunFigures): boolean => isListed(run) && (mapping.delivery === 'full' || isReadable(run))
  const last = await runs.last(name)
  const upTo = Math.min(lastSuccess, accepted)
  if (last !== null && last.result !== 'failed' && isGood(last)) return upTo
  const latest = (await runs.latest(name, lookedAt)).filter(({ result }) => result !== 'failed')
  const good = latest.find(isGood)
  return good === latest[0] ? upTo : Math.min(upTo, (good ?? latest[latest.length - 1]).startedAt)
}

/** So many runs are looked at. */
const lookedAt = 30

type RunFigures = Pick<RunRecord, 'result' | 'figures'>

const isListed = (run: RunFigures): boolean => figuresOf(run).remote?.complete !== false
const isReadable = (run: RunFigures): boolean => figuresOf(run).isUnreadable !== true

/** The figures of a run, as far as they tell of its delivery and of the list. Those of older versions lack some. */
export function figuresOf(run: Pick<RunRecord, 'figures'> | undefined) {
  return JSON.parse(run?.figures ?? '{}') as {
    delivery?: Pick<Report['delivery'], 'listings' | 'rejects'> & Partial<Report['delivery']>
    remote?: { listings: number; complete?: boolean }
    isUnreadable?: boolean
    unsettled?: string | null
  }
}

/** What was wrong with the delivery of a run that did not fail, or else with the list, as a sentence; null: nothing. */
export function lackOf(run: RunFigures, feed: string): string | null {
  const { isUnreadable, delivery, remote } = figuresOf(run)
  if (run.result === 'failed') return null
  if (isUnreadable) return `All records were rejected. See why: listing-sync inspect ${feed}`
  const { complete = true, reasons = [] } = delivery ?? {}
  if (!complete) return `The last delivery was not complete: ${reasons.map(printable).join('; ')}.`
  return remote?.complete === false
    ? "The service's list could not be read whole: nothing is deleted for being absent."
    : null
}
