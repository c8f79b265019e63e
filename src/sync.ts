/**
 * The whole run on one screen: prepare, apply, remember, report. `diff` is `prepare` and a report; it is given readers
 * that have no write methods.
 */
import { apply } from './apply/apply.ts'
import type { Applied } from './apply/apply.ts'
import { untilWhen } from './apply/context.ts'
import { callsToLookAgain } from './apply/look-again.ts'
import { ServiceError, UserError } from './core/errors.ts'
import { approvalKey } from './plan/guard/guard.ts'
import type { Report } from './report/report.ts'
import { deleteBatchOf } from './run/plan.ts'
import { prepare } from './run/prepare.ts'
import { recordRun, remember } from './run/remember.ts'
import { failedReport, reportOf } from './run/report.ts'
import type { Feed, Prepared, Readers, Writers } from './run/run.ts'

/** Milliseconds that calls under way are waited for after a stop signal: a container has ten seconds in all. */
const patience = 8000

/** What `diff` does: the plan as a report, nothing written. What makes the run fail is in the report. */
export async function diff(feed: Feed, readers: Readers): Promise<Report> {
  const startedAt = readers.runtime.clock.now()
  try {
    const prepared = await prepare(feed, readers, true)
    if (readers.store.isBehind()) prepared.notes.unshift(isBehind(feed.settle))
    return reportOf('diff', feed, readers, startedAt, prepared, null)
  } catch (error) {
    return failedReport('diff', feed, readers, startedAt, expected(error))
  }
}

/** One run under the chatbot's lease. Throws only for defects: whatever feed, service or store do is in the report. */
export async function sync(feed: Feed, writers: Writers, command: 'sync' | 'backfill' = 'sync'): Promise<Report> {
  const { store, runtime } = writers
  const startedAt = runtime.clock.now()
  let prepared: Prepared | null = null
  let applied: Applied | null = null
  try {
    const lease = store.lease(feed.chatbot, startedAt)
    try {
      prepared = await prepareUntilStopped(feed, writers, command)
      if (lease.isBehind) prepared.notes.unshift(isBehind(feed.settle))
      remember(feed, store, writers.workspace, prepared)
      writers.planned?.(prepared, writers.workspace)
      applied = await carryOut(feed, writers, prepared, command === 'sync' ? feed.deadline : null)
      const report = reportOf(command, feed, writers, startedAt, prepared, applied)
      recordRun(feed, writers, report, prepared, applied)
      return report
    } catch (error) {
      const report = failedReport(command, feed, writers, startedAt, expected(error), prepared, applied)
      recordRun(feed, writers, report, prepared, applied)
      return report
    } finally {
      lease.release()
    }
  } catch (error) {
    return failedReport(command, feed, writers, startedAt, expected(error), prepared, applied)
  }
}

/** Until there is a plan nothing is lost by ending calls under way at once. */
async function prepareUntilStopped(feed: Feed, writers: Writers, command: 'sync' | 'backfill'): Promise<Prepared> {
  const { signal } = writers
  const stop = (): void => writers.abandon('stopped by a signal')
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await prepare(feed, writers, command === 'sync')
  } finally {
    // The signal lives as long as the daemon: left there, the listener would keep everything of a failed run.
    signal.removeEventListener('abort', stop)
  }
}

async function carryOut(feed: Feed, writers: Writers, prepared: Prepared, deadline: number | null): Promise<Applied> {
  const { store, service, workspace, runtime, signal, progress } = writers
  const total = prepared.counts.create + prepared.counts.update + prepared.counts.delete
  let done = 0
  const finished = new AbortController()
  const giveUp = (): void => {
    runtime.clock.sleep(patience, finished.signal).then(
      () => writers.abandon('stopped by a signal while a call was under way'),
      () => undefined,
    )
  }
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await apply({
      settings: {
        feed: feed.name,
        chatbot: feed.chatbot,
        owner: feed.ownership === 'snapshot' ? null : feed.name,
        mapping: feed.mapping.version,
        volatile: feed.volatile,
        settle: feed.settle,
        concurrency: feed.concurrency,
        deleteBatch: () => deleteBatchOf(feed, store),
        until: untilWhen(runtime.clock.now(), deadline, prepared.counts),
        today: prepared.moment.today,
        outranks: (other) => feed.ownership === 'mirror' || feed.outranks.has(other),
        lookUpCreates: prepared.doubtful,
        listedAt: prepared.remote.startedAt,
        listIsWhole: prepared.remote.complete,
        listsAgain: callsToLookAgain(prepared.counts.delete, prepared.remote.pages) === prepared.remote.pages,
        approved: (kind, mlsNumber) => prepared.approved.has(approvalKey(kind, mlsNumber)),
      },
      service,
      store,
      workspace,
      runtime,
      signal,
      stop: { reason: null, interrupted: false, late: false },
      underWay: new Set(),
      progress: (more) => progress('changes', (done += more), total),
    })
  } finally {
    signal.removeEventListener('abort', giveUp)
    finished.abort()
  }
}

/** Anything but the errors that feed, service and store are known to give is a defect, and is thrown on. */
function expected(error: unknown): string {
  if (error instanceof UserError || error instanceof ServiceError) return error.message
  throw error
}

function isBehind(settle: number): string {
  return (
    'the store is older than the last run left it: a backup was put back, or the disk lost what was written last. What ' +
    `happened since is found on the service; creates wait ${Math.ceil(settle / 60_000)} minutes`
  )
}
