/**
 * What every run has around it, also one that fails: its report. A run that writes also has the chatbot's lease, the end of
 * calls when it is told to stop, and its record in the store.
 */
import { homeIn } from '../apply/home.ts'
import { batches } from '../core/batches.ts'
import { ServiceError, StoreTakenError, UserError } from '../core/errors.ts'
import type { SourceProgress } from '../core/records.ts'
import type { Change } from '../plan/change.ts'
import type { HoldRecord, PartHeld } from '../plan/guard/hold.ts'
import { allowedNew } from '../plan/guard/rules.ts'
import type { Limits } from '../plan/guard/rules.ts'
import { keptReport } from '../report/kept.ts'
import { failureOf } from '../report/report.ts'
import type { Failure } from '../report/report.ts'
import type { Report } from '../report/report.ts'
import type { Finding, LastDelivery, Lease, NewHeld, Store } from '../store/store.ts'
import { createsWait, holdsWait } from './hold-sentences.ts'
import { keepList } from './look.ts'
import { areNotedEarly, isSaidOnce, noteFiles } from './files.ts'
import { basisOf } from './recall.ts'
import { reportOf } from './report.ts'
import type { Prepared, Run } from './run.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { isSaid } from './named.ts'
import type { Feed, Mode, Readers, Writers } from './tools.ts'

/** Milliseconds that calls under way are waited for after a stop signal: a container has ten seconds in all. */
const patience = 8000

/** Does `task` and gives the report, which also tells of a failure. Throws only for defects. `end` runs after the report is made. */
export async function reported(
  mode: Mode,
  feed: Feed,
  tools: Readers,
  task: (run: Run) => Promise<void>,
  end: (report: Report, run: Run) => Promise<void> = async () => {},
): Promise<Report> {
  const startedAt = tools.runtime.clock.now()
  const run: Run = { prepared: null, applied: null, notes: [] }
  const failed = (error: unknown): Report => ({
    ...reportOf(mode, feed, tools, startedAt, run, expected(error)),
    ...(error instanceof StoreTakenError && { unrecorded: 'elsewhere' }),
  })
  let report: Report
  try {
    // Other runs take a lease, which tells.
    if (mode === 'diff' && (await tools.store.isBehind(feed.chatbot))) run.notes.push(behind(feed))
    if (await tools.store.runs.hadWrongClock(feed.name, startedAt)) run.notes.push(clockNote(mode))
    await task(run)
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

/** The same under the chatbot's lease, and records the run in the store. */
export async function recorded(
  mode: Exclude<Mode, 'diff'>,
  feed: Feed,
  tools: Writers,
  task: (run: Run) => Promise<void>,
): Promise<Report> {
  const { store, runtime, signal, abandon } = tools
  const held: Lease[] = []
  let isRecorded = false
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
      await task(run)
    } finally {
      // The signal lives as long as the daemon, and a listener left on it would keep the whole run in memory. The option `signal`
      // does not always remove it: of several listeners on one signal, Node forgets all but the last at a garbage collection.
      signal.removeEventListener('abort', stop)
      finished.abort()
    }
  }
  const release = async (): Promise<void> => {
    for (const lease of held.splice(0)) await lease.release()
  }
  try {
    const report = await reported(mode, feed, tools, leased, async (report, run) => {
      try {
        // Without the lease another process runs the feed, and its record is the right one.
        if (held.length > 0) {
          await record(feed, tools, report, run)
          isRecorded = true
        }
        if (mode === 'sync') await keepList(feed, tools, run)
      } finally {
        // Released here, so that the report tells if the store fails at it.
        await release()
      }
    })
    return isRecorded ? report : { unrecorded: 'lost', ...report }
  } finally {
    await release()
  }
}

function behind({ plan: { settle } }: Feed): string {
  return `The store is not as it was left: it is a copy, a backup that was put back, or lost its last writes. ${createsWait(settle)}, ${holdsWait}`
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
  const isUnreadable = prepared !== null && unreadable(prepared.delivery)
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
      // Kept, as a later run may say nothing of what this one held.
      holds: guarded?.accidents.map(({ trip: _trip, ...finding }): Finding => finding),
      // The metrics tell the age of the last accepted delivery. One that nothing could be read of is none.
      accepted: (guarded?.isAccepted ?? false) && !isUnreadable,
      ...(isUnreadable && { isUnreadable }),
    }),
  })
  if (prepared === null || guarded === null) return
  if (isSaidOnce(feed, prepared.delivery.mode))
    for (const changes of batches(done(workspace), () => 1000))
      await store.deliveries.endPending(feed.name, await carriedOut(feed, store, changes, applied))
  const letGo = { holds: 0, own: 0 }
  await store.holds.replace(feed.name, heldOf(workspace, prepared, letGo), {
    // The start of the run: nightly runs begin a day apart, however long they take.
    now: prepared.past.moment.now,
    isWhole: guarded.isWhole,
    isNewMapping: prepared.past.isNewMapping,
    isBelieved: guarded.isBelieved,
    of: prepared.plan.unnamed.named ?? undefined,
    letGo: () => letGo.holds,
  })
  const isListExpected = !guarded.accidents.some(({ rule }) => rule === 'chatbot')
  if (isListExpected && (await store.learnt.keys(feed.chatbot, feed.name)) !== feed.keys)
    await store.learnt.setKeys(feed.chatbot, feed.name, feed.keys)
  await recordDelivery(feed, { store, workspace }, report, prepared, applied, letGo.own > 0)
}

/** Fewer records of a delta may all be rejected on an ordinary day. */
const leastOfDelta = 3

/** Whether a delivery has records of its own, and every one was rejected. */
function unreadable({ own, summary, mode }: Prepared['delivery']): boolean {
  const records = own ?? summary.records
  return records >= (mode === 'delta' ? leastOfDelta : 1) && summary.rejects >= records
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
    if (outcome?.result === 'done' && weighed.heldParts.length === 0) yield change
}

/** MLSNumbers that a look at the service showed to be done. That the service confirmed the call does not prove it. */
async function carriedOut(
  { chatbot }: Feed,
  { snapshot }: Store,
  changes: readonly Change[],
  applied: Run['applied'],
): Promise<string[]> {
  const keys = changes.map(({ mlsNumber }) => mlsNumber)
  // There is no baseline of a listing that is still shown as before, nor while an earlier call may still land.
  const seen = await snapshot.baselines(chatbot, keys)
  const stillListed = applied?.stillListed ?? null
  const isSeen = ({ kind, mlsNumber }: Change): boolean => {
    if (kind === 'delete') return stillListed !== null && !stillListed.has(mlsNumber)
    return kind === 'forget' || seen.has(mlsNumber)
  }
  return changes.filter(isSeen).map(({ mlsNumber }) => mlsNumber)
}

/**
 * What this run holds, and earlier holds that stay. Counts in `letGo` what was let go and carried out; `own`: of what this delivery
 * says itself.
 */
function* heldOf(
  workspace: Workspace,
  { past, plan }: Prepared,
  letGo: { holds: number; own: number },
): Generator<NewHeld> {
  for (const { mlsNumber, why, part } of plan.unnamed.unclear) yield { mlsNumber, why, ...staying(part!) }
  for (const { seq, change, weighed, outcome, remembered, pair } of workspace.changes()) {
    const { mlsNumber, why, cause } = change
    // What the guard holds can be approved, and so can a delete that waits for a record without MLSNumber. Other holds need a proof
    // or an answer, not an approval.
    // What such a record may be does not tell under which number its home comes.
    const noted = remembered.holds.find(({ part }) => part === 'delete')?.content ?? ''
    const nameless = { part: { ...withoutRule('delete'), content: noted } }
    const heldParts = cause === 'unreadable' ? [nameless] : weighed.heldParts.map(ofRule)
    const isElsewhere = change.kind === 'hold' && cause === 'other-feed'
    // Not noted if this delta does not name it: such a delta could not end the hold either, once a single copy is left.
    const isUnnamed = cause === 'twice-shown' && plan.unnamed.named?.has(mlsNumber) === false
    const isHeld = (change.kind === 'hold' && !isUnnamed) || heldParts.length > 0
    const home = isHeld && !isElsewhere ? homeIn(workspace, change, past.moment, true) : null
    for (const held of heldParts) yield { mlsNumber, why, home, ...held }
    if (isHeld && heldParts.length === 0) yield { mlsNumber, why, part: null, home, isElsewhere }
    // What was let go but not carried out keeps its hold with its decision: nobody is asked about it anew.
    if (outcome?.result === 'done') {
      letGo.holds += weighed.released.length
      if (plan.policy.saysItself(mlsNumber)) letGo.own += weighed.released.length
    } else {
      // Its home is there under its other number, too, and must not go on waiting so.
      const isTwice = change.kind === 'delete' && pair === 'renumbered' && !workspace.isNotThereYet(seq)
      const { now, confirm } = plan.policy
      const over = isTwice && confirm !== null && confirm < Infinity && { clock: now - confirm }
      for (const part of weighed.released) {
        const record = cause === 'other-number' ? remembered.holds.find((hold) => hold.part === part) : undefined
        yield { mlsNumber, why, home, ...(record === undefined ? { ...staying(part), ...over } : waitingOn(record)) }
      }
    }
  }
}

/** A part that no rule holds now, as a refused one, keeps its earlier rules. Without any, it waited for a record without MLSNumber. */
function ofRule(part: PartHeld): Pick<NewHeld, 'part' | 'isRefused'> {
  return part.rules.length > 0 ? { part } : { part: { ...part, rules: ['leaving'] }, isRefused: true }
}

const withoutRule = (part: PartHeld['part']): PartHeld => ({ part, content: '', rules: [], ends: 'never' })
/** Its earlier hold goes on, with its rules, for the reason of now: the other number of its home can't change yet. */
const waitingOn = ({ part, content, ends }: HoldRecord): Pick<NewHeld, 'part' | 'isRefused'> =>
  content === null ? staying(part) : { part: { part, content, rules: [], ends }, isRefused: true }
/** Its earlier hold stays as it is. */
const staying = (part: PartHeld['part']) => ({ part: withoutRule(part), isLetGo: true })

/** Whether the plan was carried out for the most part. If not, as the service failed, the next run may have as much to change. */
function isGoneThrough({ stopped, outcomes: { done, unknown, skipped } }: NonNullable<Run['applied']>): boolean {
  return stopped === null && unknown + skipped <= Math.max(2, done)
}

/** Whether so much of a first load was carried out that it is over: what is left is no more than may be new beside it. */
function isCarriedOver(applied: NonNullable<Run['applied']>, { unchanged }: Report['counts'], limits: Limits): boolean {
  const { stopped, late, outcomes } = applied
  const { done, failed, unknown, skipped } = outcomes
  const most = allowedNew({ ours: unchanged + done, isRare: false }, limits)
  return stopped === null && !late && failed + unknown + skipped <= most
}

/**
 * Whether each row of the feed was delivered. One that was not may be there still, as when its delete got no answer, and "not
 * modified" would take it for delivered.
 */
async function holdsEachRow({ name, chatbot }: Feed, { snapshot }: Store, workspace: Workspace): Promise<boolean> {
  for await (const page of snapshot.rows(chatbot))
    for (const { id, key, feed, owned } of page) {
      if (feed !== name || !owned || workspace.isSeen(id)) continue
      // A record that can't be read will be rejected again, and changes nothing.
      const isHeld = workspace.isReadable(key) ? isSaid(workspace, key, true) : workspace.isDelivered(key)
      if (!isHeld) return false
    }
  return true
}

/** New listings of one run, at most, of which old numbers are looked for; records of a source, at most, that is walked for such a one. */
const mostNew = 1000
const mostWalked = 20_000

/**
 * Whether a listing may be gone of which only a walk tells: as of this run its MLSNumber comes under two keys, or its home came
 * under another number.
 */
async function mayBeGone(
  { name, chatbot }: Feed,
  { store, workspace }: { store: Store; workspace: Workspace },
  { counts }: Report,
  { walkedKeys = 0 }: SourceProgress,
  now: number,
): Promise<boolean> {
  const keys: string[] = []
  for (const { change } of workspace.changes('hold'))
    if (change.cause === 'twice-delivered') keys.push(change.mlsNumber)
  if (keys.length > 0 && (await store.holds.held(name, now, { keys })).some(({ since }) => since === now)) return true
  if (counts.create === 0 || counts.create > mostNew || walkedKeys > mostWalked) return false
  const created = Array.from(workspace.changes('create'), ({ change }) => change)
  const numbers = new Set(created.map(({ mlsNumber }) => mlsNumber))
  const homes = new Set(created.flatMap(({ home }) => home ?? []))
  for await (const page of store.snapshot.rows(chatbot))
    if (page.some(({ key, feed, home }) => feed === name && home !== null && homes.has(home) && !numbers.has(key)))
      return true
  return false
}

/** Milliseconds that a time without its zone may seem to be in the future. */
const widestZone = 14 * 3_600_000

/**
 * Records what the next delivery is compared with. Validators are kept only of a delivery that left nothing to do: while the rows
 * stay as they are, "not modified" then means that all of them are delivered.
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
      applied === null || applied.stopped !== null
        ? 1
        : applied.outcomes.failed + applied.outcomes.unknown + applied.outcomes.skipped
    // Only a walk tells absences: if not all was carried out, or no absence could be, another walk is needed.
    const isCarriedOut = left === 0 && guarded.isWhole
    const progress = isCarriedOut ? delivery.source.carriedOut : delivery.source.accepted
    const isDue =
      delivery.mode === 'kept' && (await mayBeGone(feed, { store, workspace }, report, progress, past.moment.now))
    await store.records.keep(name, [], isDue ? { ...progress, walkedAt: null } : progress)
  }
  if (!summary.complete) return
  if (delivery.besides !== null && !areNotedEarly(delivery, guarded.isOlder))
    await noteFiles(feed, store, delivery.besides)
  const { now } = past.moment
  const noted: Partial<LastDelivery> = { mapping: mapping.version }
  if (applied === null || isGoneThrough(applied)) noted.completeAt = now
  if (guarded.isAccepted) {
    // An older delivery that changes nothing is no measure: the next one is compared with the newest so far.
    // A clock that is wrong by more than any zone is no measure: the next delivery would seem older once that time has come.
    const isMeasure = written !== null && written.at <= now + widestZone
    if (isMeasure && (isLetGo || !guarded.isOlder)) noted.written = { by: written.by, at: written.at, source }
    // A document without a listing is no first load, nor is one file where others are left unread.
    const isAll = summary.listings > 0 && delivery.passedBy === 0
    const isLoad =
      past.isFirstLoad && isAll && applied !== null && isCarriedOver(applied, report.counts, feed.plan.limits)
    const isBack = !past.isFirstLoad && past.last.loaded?.chatbot !== chatbot
    if (isLoad || isBack) noted.loaded = { chatbot, at: now }
  }
  const hasValidators = validators.etag !== undefined || validators.lastModified !== undefined
  // "Not modified" says nothing of listings that are not in a delta, nor whether all of an unproven delivery arrived. And while
  // anything is held, the feed has to say it again.
  const isProven = delivery.agrees === null
  const mayBeSkipped = delivery.mode === 'full' && isProven && !delivery.endsLater && report.counts.hold === 0
  const keep =
    guarded.isAccepted && hasValidators && mayBeSkipped && report.command === 'sync' && report.result === 'ok'
  // After "not modified" each row was delivered: that was checked when the validators were kept.
  const isUnchanged = validators === past.validators
  // With validators of an earlier delivery, "not modified" would only say that the feed went back to it.
  if (!isUnchanged) noted.validators = null
  if (keep && (isUnchanged || (await holdsEachRow(feed, store, workspace)))) {
    const basis = await basisOf(feed, store, await store.runs.lostAt(name))
    noted.validators = { ...validators, basis, summary }
  }
  await store.deliveries.record(name, noted)
}
