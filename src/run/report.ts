/** Builds the report of a run from what the run left in the workspace. */
import type { Applied } from '../apply/apply.ts'
import { emptyDelivery, fieldNames, listingAt } from '../core/listing.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { Report } from '../report/report.ts'
import type { ReportedChange, Workspace } from '../workspace/workspace.ts'
import { resultOf } from './result.ts'
import type { Feed, Prepared, Readers } from './run.ts'

/** What a report reads from, as long as the run's workspace is there. A store that could not be opened is missing. */
type Sources = Pick<Readers, 'runtime' | 'service' | 'workspace'> & Partial<Pick<Readers, 'store'>>

/** The report of a run that was prepared; `applied` is null for a dry run. */
export function reportOf(
  command: Report['command'],
  feed: Feed,
  readers: Sources,
  startedAt: number,
  prepared: Prepared,
  applied: Applied | null,
): Report {
  const { received: delivery, remote, counts, held, inGrace, trips, estimate, digest, notes, moment } = prepared
  const error = applied?.stopped ?? null
  return {
    feed: feed.name,
    chatbot: feed.chatbot,
    command,
    startedAt,
    finishedAt: readers.runtime.clock.now(),
    result: resultOf({
      command,
      counts,
      held,
      inGrace,
      tripped: trips.length > 0,
      outcomes: applied?.outcomes ?? null,
      error,
    }),
    error,
    delivery: delivery.summary,
    remote: { complete: remote.complete, reasons: remote.reasons, pages: remote.pages, listings: remote.listings },
    counts,
    estimate,
    digest,
    notes: applied?.late ? [...notes, lateNote(applied.outcomes.skipped)] : notes,
    changes: () => withCreated(readers.workspace, moment),
    rejects: () => readers.workspace.rejects(),
    heldSince(mlsNumber) {
      const since = readers.store?.heldSince(feed.name, mlsNumber) ?? null
      // What this run is the first to hold may be in the store by now.
      return since !== null && since < startedAt ? since : null
    },
    applied: applied && { outcomes: applied.outcomes, calls: { ...readers.service.calls } },
  }
}

function lateNote(left: number): string {
  const changes = left === 1 ? '1 change is' : `${left} changes are`
  return `${changes} left for the next run: the time for changes of one run (deadline) was over`
}

/** What a listing is created with, field by field; read only now, as a plan of a million creates need not hold it. */
function* withCreated(workspace: Workspace, { now, today }: Moment): Generator<ReportedChange> {
  for (const change of workspace.changes()) {
    if (change.kind !== 'create' || change.position === null) yield change
    else {
      const listing = listingAt(workspace.deliveredAt(change.position), now, today)
      const filled = fieldNames.filter((field) => listing[field] !== undefined)
      yield { ...change, fields: filled.map((field) => ({ field, from: null, to: listing[field]! })) }
    }
  }
}

/** The report of a run that failed without having been carried out and recorded; what was known by then is in it. */
export function failedReport(
  command: Report['command'],
  feed: Feed,
  readers: Sources,
  startedAt: number,
  error: string,
  prepared: Prepared | null = null,
  applied: Applied | null = null,
): Report {
  if (prepared !== null) {
    const report = reportOf(command, feed, readers, startedAt, prepared, applied)
    return { ...report, result: 'failed', error, applied: report.applied ?? nothingApplied(command, readers) }
  }
  return {
    feed: feed.name,
    chatbot: feed.chatbot,
    command,
    startedAt,
    finishedAt: readers.runtime.clock.now(),
    result: 'failed',
    error,
    delivery: emptyDelivery([error]),
    remote: { complete: false, reasons: [error], pages: 0, listings: 0 },
    counts: { create: 0, update: 0, delete: 0, adopt: 0, forget: 0, hold: 0, unchanged: 0, reject: 0 },
    estimate: { calls: 0, seconds: 0 },
    digest: '',
    notes: [],
    changes: () => [],
    rejects: () => [],
    heldSince: () => null,
    applied: nothingApplied(command, readers),
  }
}

function nothingApplied(command: Report['command'], { service }: Pick<Readers, 'service'>): Report['applied'] {
  return command === 'diff'
    ? null
    : { outcomes: { done: 0, failed: 0, unknown: 0, skipped: 0 }, calls: { ...service.calls } }
}
