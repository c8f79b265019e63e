/**
 * Carries a plan out: what needs no call, then updates, creates and deletes. Each listing is a call of its own; deletes go in
 * batches. For each call: mark it in flight, durably → call through the limiter → note the outcome. `calls.ts` has what answers mean.
 */
import pLimit from 'p-limit'
import { batches } from '../core/batches.ts'
import { clearedWith } from '../plan/change.ts'
import { ServiceError, StoreError, messageOf } from '../core/errors.ts'
import { noOutcomes } from '../core/outcome.ts'
import type { OutcomeResult } from '../core/outcome.ts'
import type { OfKind, Stored } from '../workspace/workspace.ts'
import { asRespelled, createOne, deleteBatch, forgetOne, lookUpUnknown, updateOne } from './calls.ts'
import { callsToLookAgain, contextOf } from './context.ts'
import type { ApplyContext, ApplyFeed, ApplyTools, Orders } from './context.ts'
import { deleteLookedUp, listAgain, listIsOld, skipEdited, stillListed } from './look-again.ts'
import { lookAtWritten } from './look-at-written.ts'
import { adoptAll, record, tellChanges } from './outcomes.ts'
import { noCopies, notesOfCopies, takeOffOwn, twiceShown } from './own-copies.ts'

/** What came of a plan. */
export interface Applied {
  outcomes: Record<OutcomeResult, number>
  /** Why the run stopped before it was through; null: it didn't. */
  stopped: string | null
  /** It stopped because of a signal. */
  interrupted: boolean
  /** How many changes were left for the next run, as their time was over. */
  late: number
  /** A Delete was answered with another count than it had keys. */
  miscounts: boolean
  /** What a person should know, as sentences. */
  notes: readonly string[]
  /** After a delta: MLSNumbers of confirmed deletes that the service still shows (`stillListed`); null: nobody looked. */
  stillListed: ReadonlySet<string> | null
}

/** Why a change was skipped, if its time was over. */
export const leftForTheNext = 'the run took as long as it may: left for the next one'

/**
 * Carries the workspace's plan out. Whatever the service answers becomes an outcome. A store that fails stops it. `deadline`: for how
 * many milliseconds changes are begun; null: as long as it takes.
 */
export async function apply(
  feed: ApplyFeed,
  tools: ApplyTools,
  orders: Orders,
  deadline: number | null,
): Promise<Applied> {
  const context = contextOf(feed, tools, orders, deadline)
  let seen: Seen = { notes: [], stillListed: null }
  try {
    seen = await carryOut(context)
    await tellChanges(context, 1)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    context.stop.reason = error.message
    // Whether they were answered or not, the next run has to settle them.
    const outcome = { result: 'unknown', error: error.message } as const
    context.workspace.recordOutcomes([...context.underWay].map((seq) => ({ seq, outcome })))
  }
  return { ...tally(context), ...seen }
}

type Deleted = Stored<OfKind<'delete'>>
type Seen = Pick<Applied, 'notes' | 'stillListed'>

/** Gives what a look at the service showed afterwards. */
async function carryOut(context: ApplyContext): Promise<Seen> {
  const { workspace, until, feed } = context
  await adoptAll(context)
  await each(context, workspace.changes('forget'), until.update, (stored) => forgetOne(context, stored))
  await each(context, workspace.changes('update'), until.update, (stored) =>
    stored.change.lookUp ? createOne(context, stored) : updateOne(context, stored, clearedWith(stored.change)),
  )
  await each(context, workspace.changes('create'), until.create, (stored) => createOne(context, stored))
  const copies = { ...noCopies }
  await each(context, twiceShown(context), until.delete, (key) => takeOffOwn(context, key, copies))
  const isListed = await deleteAll(context)
  const notes = notesOfCopies(copies, feed.name)
  // The next run settles what is left in flight, and looks at what was not looked at.
  if (context.stop.reason !== null || context.runtime.clock.now() >= until.delete) return { notes, stillListed: null }
  await lookUpUnknown(context)
  if (context.signal.aborted) return { notes, stillListed: null }
  notes.push(...(await lookAtWritten(context, isListed)))
  const looks = context.orders.saysOnce && !context.signal.aborted
  return { notes, stillListed: looks ? await stillListed(context) : null }
}

/** Deletes, after another check if the list is old or incomplete. Gives whether the list was walked again for that. */
async function deleteAll(context: ApplyContext): Promise<boolean> {
  const { orders, until } = context
  const { complete: listIsWhole, pages } = orders.listed
  // Whether walking the list takes no more calls than looking each delete up.
  const listsAgain = callsToLookAgain(orders.counts.delete, pages) === pages
  const listedAgain = listsAgain && listIsWhole && listIsOld(context)
  if (listedAgain)
    await guarded(context, until.delete, async () => {
      await listAgain(context)
      skipEdited(context)
    })
  const send = (batch: Deleted[]): Promise<unknown> =>
    listedAgain || (listIsWhole && !listIsOld(context)) ? deleteBatch(context, batch) : deleteLookedUp(context, batch)
  await each(context, inOtherLetters(context), until.delete, (stored) => send([stored]))
  const deletes = batches(due(context), () => context.deleteBatch)
  await each(context, deletes, until.delete, send)
  return listedAgain
}

/** Deletes that have to go one by one (`deleteBatch`). */
function* inOtherLetters(context: ApplyContext): Generator<Deleted> {
  for (const stored of due(context)) if (context.workspace.inOtherLetters(stored.seq) !== null) yield stored
}

/**
 * Deletes without an outcome yet. The old listing of a renumbered home is skipped if the new one could not be created. What the service
 * lists under another spelling is the feed's listing.
 */
function* due(context: ApplyContext): Generator<Deleted> {
  const why = 'its home is not there yet under the number that it has now: the next run decides'
  for (const stored of context.workspace.changes('delete')) {
    if (stored.outcome !== null) continue
    const respelled = context.workspace.respelled(stored.seq)
    if (respelled !== null) record(context, stored, 'failed', asRespelled(respelled))
    else if (context.workspace.isNotThereYet(stored.seq)) record(context, stored, 'skipped', why)
    else yield stored
  }
}

/** Runs a task for each item, `concurrency` at a time. Begins none once the run is stopping or its time is over. */
async function each<Item>(
  context: ApplyContext,
  items: Iterable<Item>,
  until: number,
  task: (item: Item) => Promise<unknown>,
): Promise<void> {
  const { concurrency } = context.feed
  const limit = pLimit(concurrency)
  const running = new Set<Promise<void>>()
  try {
    for (const item of items) {
      if (stopping(context) || tooLate(context, until)) break
      const inProgress: Promise<void> = limit(() => guarded(context, until, () => task(item)))
      const ended = (): unknown => running.delete(inProgress)
      running.add(inProgress)
      inProgress.then(ended, ended)
      if (running.size >= concurrency * 2) await Promise.race(running)
    }
    await Promise.all(running)
  } finally {
    await Promise.allSettled(running)
  }
}

/** Runs a task. A `ServiceError` stops the run; any other error, of the store or a defect, is thrown on. */
async function guarded(context: ApplyContext, until: number, task: () => Promise<unknown>): Promise<void> {
  if (stopping(context) || tooLate(context, until)) return
  try {
    await task()
    await tellChanges(context, changesAtOnce)
  } catch (error) {
    if (!(error instanceof ServiceError)) {
      context.stop.reason ??= messageOf(error)
      throw error
    }
    // After a stop signal the client ends calls that wait: that is no fault of the service.
    if (!stopping(context)) context.stop.reason = error.message
  }
}

/** How many changes are told the store in one write. */
const changesAtOnce = 200

function stopping(context: ApplyContext): boolean {
  if (context.signal.aborted && context.stop.reason === null) {
    context.stop.reason = 'stopped by a signal'
    context.stop.interrupted = true
  }
  return context.stop.reason !== null
}

function tooLate({ runtime, stop }: ApplyContext, until: number): boolean {
  if (runtime.clock.now() < until) return false
  stop.late = true
  return true
}

/** Counts the outcomes. A change that was never begun gets the outcome `skipped`. */
function tally({ workspace, stop, miscounts }: ApplyContext): Omit<Applied, keyof Seen> {
  const outcomes = { ...noOutcomes }
  const error = stop.reason ?? (stop.late ? leftForTheNext : null)
  let late = 0
  const skipped: { seq: number; outcome: { result: OutcomeResult; error: string | null } }[] = []
  for (const { seq, change, outcome } of workspace.changes()) {
    if (change.kind === 'hold') continue
    if (outcome === null && error === leftForTheNext) late++
    if (outcome === null) skipped.push({ seq, outcome: { result: 'skipped', error } })
    outcomes[outcome?.result ?? 'skipped']++
    if (skipped.length === 1000) workspace.recordOutcomes(skipped.splice(0))
  }
  workspace.recordOutcomes(skipped)
  return { outcomes, stopped: stop.reason, interrupted: stop.interrupted, late, miscounts }
}
