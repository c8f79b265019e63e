/**
 * What is around every run, whatever becomes of it: the report of a run that fails, too; and of one that writes, the chatbot's
 * lease, the end of calls when it is told to stop, and its record in the store.
 */
import { ServiceError, UserError } from '../core/errors.ts'
import { isFight } from '../plan/guard/measures.ts'
import type { Report, ReportedChange } from '../report/report.ts'
import type { Held, Lease, Store } from '../store/store.ts'
import { driftOf } from './recall.ts'
import { reportOf } from './report.ts'
import type { Prepared, Run } from './run.ts'
import type { Feed, Mode, Readers, Writers } from './tools.ts'

/** Milliseconds that calls under way are waited for after a stop signal: a container has ten seconds in all. */
const patience = 8000

/** Does `work` and gives its report. What makes it fail is in the report; only a defect is thrown. */
export async function reported(
  mode: Mode,
  feed: Feed,
  tools: Readers,
  work: (run: Run) => Promise<void>,
  end: (report: Report, run: Run) => Promise<void> = async () => {},
): Promise<Report> {
  const startedAt = tools.runtime.clock.now()
  const run: Run = { prepared: null, applied: null, notes: [] }
  const failed = (error: unknown): Report => reportOf(mode, feed, tools, startedAt, run, expected(error))
  let report: Report
  try {
    if (await tools.store.isBehind()) run.notes.push(behind(feed))
    await work(run)
    report = reportOf(mode, feed, tools, startedAt, run)
  } catch (error) {
    report = failed(error)
  }
  try {
    await end(report, run)
    return report
  } catch (error) {
    return failed(error)
  }
}

/** The same under the chatbot's lease, put on record in the store. */
export async function recorded(
  mode: Exclude<Mode, 'diff'>,
  feed: Feed,
  tools: Writers,
  work: (run: Run) => Promise<void>,
): Promise<Report> {
  const { store, runtime, signal, abandon } = tools
  const held: Lease[] = []
  const leased = async (run: Run): Promise<void> => {
    const lease = await store.lease(feed.chatbot, runtime.clock.now())
    held.push(lease)
    if (lease.isBehind) run.notes.push(behind(feed))
    const finished = new AbortController()
    const stop = (): void => {
      // Until there is a plan nothing is lost by ending calls at once.
      if (run.prepared === null) return abandon('stopped by a signal')
      runtime.clock.sleep(patience, finished.signal).then(
        () => abandon('stopped by a signal while a call was under way'),
        () => undefined,
      )
    }
    // The signal lives as long as the daemon: left there, the listener would keep everything of a failed run.
    signal.addEventListener('abort', stop, { once: true, signal: finished.signal })
    try {
      await work(run)
    } finally {
      finished.abort()
    }
  }
  try {
    return await reported(mode, feed, tools, leased, async (report, run) => {
      // Without the lease another process is at it, and what it records is right.
      if (held.length > 0) await record(feed, tools, report, run)
    })
  } finally {
    for (const lease of held) await lease.release()
  }
}

function behind({ settle }: Feed): string {
  const minutes = Math.ceil(settle / 60_000)
  return `The store is older than its last run (a restored backup, or lost writes). Creates wait ${minutes} minutes (settle)`
}

/** Anything but the errors that feed, service and store are known to give is a defect, and is thrown on. */
function expected(error: unknown): string {
  if (error instanceof UserError || error instanceof ServiceError) return error.message
  throw error
}

/** Records the run, its delivery as a measure for the next ones, and what it holds. */
async function record(
  feed: Feed,
  { store, signal }: Writers,
  report: Report,
  { prepared, applied }: Run,
): Promise<void> {
  const { counts, applied: figures, delivery, finishedAt } = report
  const guarded = prepared?.guarded ?? null
  await store.runs.record({
    feed: feed.name,
    chatbot: feed.chatbot,
    command: report.command === 'backfill' ? 'backfill' : 'sync',
    startedAt: report.startedAt,
    finishedAt,
    result: report.result,
    interrupted: applied?.interrupted ?? signal.aborted,
    error: report.error,
    figures: JSON.stringify({
      counts,
      outcomes: figures?.outcomes,
      calls: figures?.calls,
      delivery: { ...delivery, reasons: delivery.reasons.slice(0, 5) },
      // Complete and not doubted: what the metrics tell the age of.
      accepted: guarded !== null && guarded.measure !== 'none',
    }),
  })
  if (prepared === null || guarded === null) return
  const { past, plan } = prepared
  await store.holds.replace(feed.name, heldOf(report.changes()), finishedAt)
  if (isFight(guarded.drifted, plan.facts.ours))
    await store.learnt.setNumber(feed.chatbot, driftOf(feed.name), past.moment.now)
  const isLikeOurs = !guarded.trips.some(({ rule }) => rule === 'recreate')
  if (isLikeOurs && (await store.learnt.number(feed.chatbot, 'keys')) !== feed.keys)
    await store.learnt.setNumber(feed.chatbot, 'keys', feed.keys)
  await recordDelivery(feed, store, report, prepared)
}

function* heldOf(changes: Iterable<ReportedChange>): Generator<Omit<Held, 'since'>> {
  for (const change of changes) {
    if (change.kind !== 'hold') continue
    // Only what the guard holds can be approved; the rest needs a proof or a decision, not a permission.
    yield {
      mlsNumber: change.mlsNumber,
      kind: change.cause === 'guard' ? change.held : null,
      why: change.why,
    }
  }
}

/**
 * A delivery that isn't doubted is a measure for the next ones. The
 * validators are kept only where nothing was left to do, as an unchanged feed then means that nothing is.
 */
async function recordDelivery(
  feed: Feed,
  { deliveries }: Store,
  report: Report,
  { past, delivery, plan, guarded }: Prepared,
): Promise<void> {
  if (guarded.measure === 'none') return
  const { digest, written, validators, summary } = delivery
  const { now } = past.moment
  if (digest !== null) await deliveries.recordGeneration(feed.name, feed.source, { digest, at: now, written })
  const known = validators.etag !== undefined || validators.lastModified !== undefined
  const isDelta = delivery.mode === 'delta'
  // Of a delta, "not modified" says nothing of the listings that are not in it.
  // Nor may what waits for the end of its grace be taken for delivered.
  const mayBeSkipped = !isDelta && !delivery.endsLater
  const keep = known && mayBeSkipped && report.command === 'sync' && report.result === 'ok' && report.counts.hold === 0
  const saved = keep
    ? {
        ...validators,
        source: feed.source,
        mapping: feed.mapping.version,
        summary: { ...summary, reasons: [] },
      }
    : null
  // Of a feed that sends both, only the full deliveries can be compared.
  const record = { at: now, records: summary.records, keys: plan.facts.keys, alone: guarded.measure === 'alone' }
  await deliveries.record(feed.name, isDelta ? null : record, saved)
}
