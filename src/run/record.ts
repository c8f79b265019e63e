/**
 * What every run has around it, also one that fails: its report. A run that writes also has the chatbot's lease, the end of
 * calls when it is told to stop, and its record in the store.
 */
import { homeIn } from '../apply/home.ts'
import { batches } from '../core/batches.ts'
import { ServiceError, UserError } from '../core/errors.ts'
import type { Change } from '../plan/change.ts'
import type { PartHeld } from '../plan/guard/hold.ts'
import { keptReport } from '../report/kept.ts'
import { failureOf } from '../report/report.ts'
import type { Failure } from '../report/report.ts'
import type { Report } from '../report/report.ts'
import type { LastDelivery, Lease, NewHeld, Store } from '../store/store.ts'
import { keepList } from './look.ts'
import { basisOf } from './recall.ts'
import { reportOf } from './report.ts'
import type { Prepared, Run } from './run.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Feed, Mode, Readers, Writers } from './tools.ts'

/** Milliseconds that calls under way are waited for after a stop signal: a container has ten seconds in all. */
const patience = 8000

/** Does `work` and gives its report, which tells of a failure, too; only a defect is thrown. */
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
    if (await tools.store.runs.hadWrongClock(feed.name, startedAt)) run.notes.push(clockNote(mode))
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
    const command = mode === 'backfill' ? 'backfill' : 'sync'
    const begun = { feed: feed.name, chatbot: feed.chatbot, command, startedAt: runtime.clock.now() } as const
    const number = await store.runs.begin(begun)
    tools.begun?.(number)
    const finished = new AbortController()
    const stop = (): void => {
      // Until there is a plan nothing is lost by ending calls at once.
      if (run.prepared === null) return abandon('stopped by a signal')
      runtime.clock.sleep(patience, finished.signal).then(
        () => abandon('stopped by a signal while a call was under way'),
        () => undefined,
      )
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      await work(run)
    } finally {
      // The signal lives as long as the daemon: left there, the listener would keep everything of the run. By the option
      // `signal` it is not always taken away: of several on one signal, Node forgets all but the last once it collects garbage.
      signal.removeEventListener('abort', stop)
      finished.abort()
    }
  }
  const release = async (): Promise<void> => {
    for (const lease of held.splice(0)) await lease.release()
  }
  try {
    return await reported(mode, feed, tools, leased, async (report, run) => {
      try {
        // Without the lease another process is at it, and what it records is right.
        if (held.length > 0) await record(feed, tools, report, run)
        if (mode === 'sync') await keepList(feed, tools, run)
      } finally {
        // Here, so that a store which refuses it is in the report, with all that the run did.
        await release()
      }
    })
  } finally {
    await release()
  }
}

function behind({ plan: { settle } }: Feed): string {
  const minutes = Math.ceil(settle / 60_000)
  return `The store is not as it was left: it is a copy, a backup that was put back, or lost its last writes. Creates wait ${minutes} minutes (settle)`
}

function clockNote(mode: Mode): string {
  const wrong = 'The clock was wrong in an earlier run, or is wrong now: what such a run noted counts'
  return mode === 'diff'
    ? `${wrong} from the next run on, which may hold more than is told here`
    : `${wrong} from this run on, so what is held may wait longer`
}

/** The message of an error that feed, service or store may give. Any other error is a defect, and is thrown on. */
function expected(error: unknown): string {
  if (error instanceof UserError || error instanceof ServiceError) return error.message
  throw error
}

/** Records the run, what it holds, and what of its delivery the next one is compared with. */
async function record(
  feed: Feed,
  { store, signal, workspace }: Writers,
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
    report: JSON.stringify(keptReport(report)),
    figures: JSON.stringify({
      counts,
      outcomes: figures?.outcomes,
      calls: figures?.calls,
      delivery: { ...delivery, reasons: delivery.reasons.slice(0, 5) },
      remote: { listings: report.remote.listings, complete: report.remote.complete },
      observed: report.observed,
      failures: failuresOf(report),
      // A later run may say nothing of what this one held.
      holds: guarded?.findings,
      // Complete, and not held whole: the metrics tell the age of the last such delivery.
      accepted: guarded?.isAccepted ?? false,
    }),
  })
  if (prepared === null || guarded === null) return
  if (prepared.delivery.mode === 'delta')
    for (const changes of batches(done(workspace), () => 1000))
      await store.deliveries.endPending(feed.name, await carriedOut(feed, store, changes, applied))
  const letGo = { holds: 0 }
  await store.holds.replace(feed.name, heldOf(workspace, prepared, letGo), {
    // The start of the run: nightly runs begin a day apart, however long they take.
    now: prepared.past.moment.now,
    isWhole: guarded.isWhole,
    isNewMapping: prepared.past.isNewMapping,
    isBelieved: guarded.isAccepted && !guarded.isOlder,
    of: prepared.plan.untold.told ?? undefined,
    letGo: () => letGo.holds,
  })
  const isLikeOurs = !guarded.trips.some(({ name }) => name === 'chatbot')
  if (isLikeOurs && (await store.learnt.keys(feed.chatbot, feed.name)) !== feed.keys)
    await store.learnt.setKeys(feed.chatbot, feed.name, feed.keys)
  await recordDelivery(feed, { store, workspace }, report, prepared, applied, letGo.holds > 0)
}

/** Failed changes of which `status` tells; the report that is kept has the others. */
const failuresShown = 5

function failuresOf(report: Report): Failure[] | undefined {
  const { failed = 0, unknown = 0 } = report.applied?.outcomes ?? {}
  if (failed + unknown === 0) return undefined
  const some: Failure[] = []
  for (const change of report.changes('open')) if (some.push(failureOf(change)) === failuresShown) break
  return some
}

/** Changes that the service confirmed wholly. */
function* done(workspace: Workspace): Generator<Change> {
  for (const { change, weighed, outcome } of workspace.changes())
    if (outcome?.result === 'done' && weighed.parts.length === 0) yield change
}

/** MLSNumbers of which nothing is left to do, as a look at the service showed: what it confirms it need not have done. */
async function carriedOut(
  { chatbot }: Feed,
  { snapshot }: Store,
  changes: readonly Change[],
  applied: Run['applied'],
): Promise<string[]> {
  const keys = changes.map(({ mlsNumber }) => mlsNumber)
  // Remembered is how a listing was shown; not of one that was shown as before, nor while an earlier call may still land.
  const seen = await snapshot.baselines(chatbot, keys)
  const stillListed = applied?.stillListed ?? null
  const isSeen = ({ kind, mlsNumber }: Change): boolean => {
    if (kind === 'delete') return stillListed !== null && !stillListed.has(mlsNumber)
    return kind === 'forget' || seen.has(mlsNumber)
  }
  return changes.filter(isSeen).map(({ mlsNumber }) => mlsNumber)
}

/** What is held of each change, and what stays held. Counts what was let go and carried out. */
function* heldOf(workspace: Workspace, { past, plan }: Prepared, letGo: { holds: number }): Generator<NewHeld> {
  for (const { mlsNumber, why, part } of plan.untold.unclear) yield { mlsNumber, why, ...staying(part!) }
  for (const { change, weighed, outcome } of workspace.changes()) {
    const { mlsNumber, why, cause } = change
    // Beside what the guard holds a delete can be approved that waits for a record without MLSNumber; the rest needs a proof or a
    // decision, not a permission.
    const parts = cause === 'unreadable' ? [{ part: withoutRule('delete') }] : weighed.parts.map(ofRule)
    const isElsewhere = change.kind === 'hold' && cause === 'other-feed'
    // A delta that does not name it would not end it either, once it is there once.
    const isUntold = cause === 'twice-shown' && plan.untold.told?.has(mlsNumber) === false
    const isHeld = (change.kind === 'hold' && !isUntold) || parts.length > 0
    const home = isHeld && !isElsewhere ? homeIn(workspace, change, past.moment) : null
    for (const held of parts) yield { mlsNumber, why, home, ...held }
    if (isHeld && parts.length === 0) yield { mlsNumber, why, part: null, home, isElsewhere }
    // What was let go of what is held is not carried out either, and must not be asked about anew.
    if (outcome?.result === 'done') letGo.holds += weighed.released.length
    else for (const part of weighed.released) yield { mlsNumber, why, ...staying(part) }
  }
}

/** What the guard holds and no rule does was refused. If no rule held it before either, it waited for a record without MLSNumber. */
function ofRule(part: PartHeld): Pick<NewHeld, 'part' | 'isRefused'> {
  return part.rules.length > 0 ? { part } : { part: { ...part, rules: ['leaving'] }, isRefused: true }
}

const withoutRule = (part: PartHeld['part']): PartHeld => ({ part, content: '', rules: [], ends: 'never' })
/** It stays as it is remembered. */
const staying = (part: PartHeld['part']) => ({ part: withoutRule(part), isLetGo: true })

/** Not if a failing service left most of it undone: it may be as much when it is tried again. A listing that always fails is not most. */
function isGoneThrough({ stopped, outcomes: { done, unknown, skipped } }: NonNullable<Run['applied']>): boolean {
  return stopped === null && unknown + skipped <= Math.max(2, done)
}

/** Whether so much of a first load was carried out that the rest is no load of its own. */
function isCarriedOver({ stopped, late, outcomes }: NonNullable<Run['applied']>): boolean {
  const { done, failed, unknown, skipped } = outcomes
  return stopped === null && !late && failed + unknown + skipped <= Math.max(10, done / 2)
}

/**
 * Whether each listing that is remembered of the feed was in the delivery. One that was not may be remembered all the same, as where
 * its delete got no answer: "not modified" would take it for delivered.
 */
async function holdsEachRow({ name, chatbot }: Feed, { snapshot }: Store, workspace: Workspace): Promise<boolean> {
  for await (const page of snapshot.rows(chatbot))
    for (const { id, key, feed, owned } of page) {
      if (feed !== name || !owned || workspace.isSeen(id)) continue
      // A record that can't be read is rejected again, and changes nothing.
      const said = workspace.deliveredAs(key)
      const isHeld = said.length === 0 ? workspace.isDelivered(key) : said.some(({ kind }) => kind === 'listing')
      if (!isHeld) return false
    }
  return true
}

/**
 * What the next delivery is compared with. Validators are kept of a delivery that left nothing to do: as long as the rows are
 * as they are then, that it comes again means that all of them are delivered.
 */
async function recordDelivery(
  feed: Feed,
  { store, workspace }: { store: Store; workspace: Workspace },
  report: Report,
  { past, delivery, guarded }: Prepared,
  applied: Run['applied'],
  isLetGo: boolean,
): Promise<void> {
  const { name, chatbot, source, mapping } = feed
  const { written, validators, summary } = delivery
  if (delivery.source !== null && guarded.isAccepted) {
    const left =
      applied === null || applied.stopped !== null || applied.late
        ? 1
        : applied.outcomes.failed + applied.outcomes.unknown + applied.outcomes.skipped
    // Absences are told by a walk alone: what was not carried out of them needs another one.
    await store.records.keep(name, [], left === 0 ? delivery.source.carriedOut : delivery.source.accepted)
  }
  if (!summary.complete) return
  const { now } = past.moment
  const noted: Partial<LastDelivery> = { mapping: mapping.version }
  if (applied === null || isGoneThrough(applied)) noted.completeAt = now
  if (guarded.isAccepted) {
    // An older one that changes nothing is no measure: what is written before the last one is older still.
    if (written !== null && (isLetGo || !guarded.isOlder)) noted.written = { by: written.by, at: written.at, source }
    // After a document without a listing the first load is still to come.
    const isLoad = past.isFirstLoad && summary.listings > 0 && applied !== null && isCarriedOver(applied)
    const isBack = !past.isFirstLoad && past.last.loaded?.chatbot !== chatbot
    if (isLoad || isBack) noted.loaded = { chatbot, at: now }
  }
  const known = validators.etag !== undefined || validators.lastModified !== undefined
  // An unchanged delta says nothing of the listings that are not in it; and while anything is held the feed has to say it again.
  // That the source did not change since does not tell whether all of it arrived.
  const isProven = delivery.agrees === null
  const mayBeSkipped = delivery.mode === 'full' && isProven && !delivery.endsLater && report.counts.hold === 0
  const keep = guarded.isAccepted && known && mayBeSkipped && report.command === 'sync' && report.result === 'ok'
  // "Not modified" was said to validators that were kept of a delivery which held each row.
  const isUnchanged = validators === past.validators
  // Of a delivery before this one "not modified" would say that the feed went back to it.
  if (!isUnchanged) noted.validators = null
  if (keep && (isUnchanged || (await holdsEachRow(feed, store, workspace)))) {
    const basis = await basisOf(feed, store, await store.runs.lostAt(name))
    noted.validators = { ...validators, basis, summary }
  }
  await store.deliveries.record(name, noted)
}
