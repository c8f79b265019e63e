/** What a run leaves in the store beside the snapshot: bookkeeping of unchanged listings, the run itself, what is held. */
import type { Applied } from '../apply/apply.ts'
import type { FieldName } from '../core/listing.ts'
import type { Bookkeeping } from '../plan/change.ts'
import { isFight } from '../plan/guard/measures.ts'
import type { Report } from '../report/report.ts'
import type { Held, Store, Touch } from '../store/store.ts'
import type { ReportedChange, Workspace } from '../workspace/workspace.ts'
import { driftOf } from './prepare.ts'
import type { Feed, Prepared, Writers } from './run.ts'

const batchSize = 1000

/** Writes what the plan noted of listings that need no call. */
export function remember(feed: Feed, store: Store, workspace: Workspace, prepared: Prepared): void {
  if (prepared.lostAt !== null && prepared.state.lostAt === null) store.recordLost(feed.name, prepared.lostAt)
  store.reportEcho(feed.name, Object.keys(prepared.facts.echoed) as FieldName[])
  let entries: Bookkeeping[] = []
  for (const entry of workspace.bookkeeping()) {
    if (entries.push(entry) < batchSize) continue
    write(feed, store, workspace, entries, prepared.moment.now)
    entries = []
  }
  write(feed, store, workspace, entries, prepared.moment.now)
  // What was noted before and is neither absent nor back by now is no listing of ours any more.
  if (prepared.absenceProven) store.pruneAbsences(feed.name, feed.chatbot, prepared.moment.now)
}

function write(feed: Feed, store: Store, workspace: Workspace, entries: Bookkeeping[], now: number): void {
  const touches: Touch[] = []
  const sights: { id: number; hash: string; echo: Extract<Bookkeeping, { op: 'first-sight' }>['echo'] }[] = []
  const steady: number[] = []
  const marks: string[] = []
  const absent: string[] = []
  const returned: string[] = []
  for (const entry of entries) {
    if (entry.op === 'first-sight') sights.push({ id: entry.snapshot, hash: entry.hash, echo: entry.echo })
    else if (entry.op === 'steady') steady.push(entry.snapshot)
    else if (entry.op === 'forget-flight') marks.push(entry.key)
    else if (entry.op === 'absent') absent.push(entry.key)
    else if (entry.op === 'returned') returned.push(entry.key)
    else {
      const { raw, parts, filled, moving, movesAt } = workspace.deliveredAt(entry.position)
      touches.push({ id: entry.snapshot, raw, parts, filled, moving, movesAt, mapping: feed.mapping.version })
    }
  }
  store.touch(touches)
  store.firstSight(sights)
  store.steady(steady)
  store.forget(feed.chatbot, marks, null)
  store.noteAbsences(feed.name, feed.chatbot, { absent, returned }, now)
}

/** Records the run, its delivery as a measure for the next ones, and what it holds. */
export function recordRun(
  feed: Feed,
  writers: Writers,
  report: Report,
  prepared: Prepared | null,
  applied: Applied | null,
): void {
  const { store, signal } = writers
  const { counts, applied: figures, delivery, finishedAt } = report
  store.recordRun({
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
      accepted: prepared !== null && prepared.measure !== 'none',
    }),
  })
  if (prepared === null) return
  store.replaceHeld(feed.name, heldOf(report.changes()), finishedAt)
  if (isFight(prepared.drifted, prepared.facts.ours)) store.learn(feed.chatbot, driftOf(feed.name), prepared.moment.now)
  const isLikeOurs = !prepared.trips.some(({ rule }) => rule === 'recreate')
  if (isLikeOurs && store.learnt(feed.chatbot, 'keys') !== feed.keys) store.learn(feed.chatbot, 'keys', feed.keys)
  recordDelivery(feed, store, report, prepared)
}

function* heldOf(changes: Iterable<ReportedChange>): Generator<Omit<Held, 'since'>> {
  for (const change of changes) {
    if (change.kind !== 'hold') continue
    // Only what the guard holds can be approved; the rest needs a proof or a decision, not a permission.
    yield {
      mlsNumber: change.mlsNumber,
      kind: change.cause === 'guard' ? (change.held ?? null) : null,
      why: change.why,
    }
  }
}

/**
 * A delivery that isn't doubted is a measure for the next ones. The
 * validators are kept only where nothing was left to do, as an unchanged feed then means that nothing is.
 */
function recordDelivery(
  feed: Feed,
  store: Store,
  report: Report,
  { received, facts, measure, validators, moment }: Prepared,
): void {
  if (measure === 'none') return
  const { digest, written } = received
  if (digest !== null) store.recordGeneration(feed.name, feed.source, { digest, at: moment.now, written })
  const known = validators.etag !== undefined || validators.lastModified !== undefined
  const isDelta = received.delivery === 'delta'
  // Of a delta, "not modified" says nothing of the listings that are not in it.
  // Nor may what waits for the end of its grace be taken for delivered.
  const mayBeSkipped = !isDelta && !received.endsLater
  const keep = known && mayBeSkipped && report.command === 'sync' && report.result === 'ok' && report.counts.hold === 0
  const saved = keep
    ? {
        ...validators,
        source: feed.source,
        mapping: feed.mapping.version,
        summary: { ...received.summary, reasons: [] },
      }
    : null
  // Of a feed that sends both, only the full deliveries can be compared.
  const { records } = received.summary
  const record = { at: moment.now, records, keys: facts.keys, alone: measure === 'alone' }
  store.recordDelivery(feed.name, isDelta ? null : record, saved)
}
