/**
 * Carries a plan out: what needs no call, then updates, creates, deletes; each listing alone, deletes in batches. For each call:
 * mark it in flight, durably → call through the limiter → note the outcome. What the answers mean is in `calls.ts`.
 */
import pLimit from 'p-limit'
import { batches } from '../core/batches.ts'
import { clearedWith } from '../plan/change.ts'
import { ServiceError, StoreError, messageOf } from '../core/errors.ts'
import type { OfKind, OutcomeResult, Stored } from '../workspace/workspace.ts'
import { createOne, deleteBatch, forgetOne, lookUpUnknown, updateOne } from './calls.ts'
import { callsToLookAgain, contextOf } from './context.ts'
import type { ApplyContext, ApplyFeed, ApplyTools, Orders } from './context.ts'
import { deleteLookedUp, listAgain, listIsOld, skipEdited, stillListed } from './look-again.ts'
import { lookAtWritten } from './look-at-written.ts'
import { adoptAll, record, tellChanges } from './outcomes.ts'
import { noCopies, notesOfCopies, takeOffOwn, twiceShown } from './own-copies.ts'

export interface Applied {
  outcomes: Record<OutcomeResult, number>
  /** Why the run stopped before it was through; null: it didn't. */
  stopped: string | null
  /** It stopped because it was told to. */
  interrupted: boolean
  /** Changes were left for the next run, as the time for them was over. */
  late: boolean
  /** A Delete counted otherwise than it had keys. */
  miscounts: boolean
  /** What a person should know, as sentences. */
  notes: readonly string[]
  /** `stillListed`, after a delivery that says a thing once; null: nobody looked. */
  stillListed: ReadonlySet<string> | null
}

/** Why a change is skipped whose time was over. */
export const leftForTheNext = 'the run took as long as it may: left for the next one'

/**
 * Carries the workspace's plan out. Whatever the service says becomes an outcome; a store that fails ends it. `deadline`:
 * milliseconds that changes are begun for; null: as long as it takes.
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
    // Answered or not, the next run has to settle it.
    const outcome = { result: 'unknown', error: error.message } as const
    context.workspace.recordOutcomes([...context.underWay].map((seq) => ({ seq, outcome })))
  }
  return { ...tally(context), ...seen }
}

type Seen = Pick<Applied, 'notes' | 'stillListed'>

/** Gives what a look at the service showed of it. */
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
  // What is left in flight is settled by what the next run is shown, and what was not looked at is looked at by it.
  if (context.stop.reason !== null || context.runtime.clock.now() >= until.delete) return { notes, stillListed: null }
  await lookUpUnknown(context)
  if (context.signal.aborted) return { notes, stillListed: null }
  notes.push(...(await lookAtWritten(context, isListed)))
  const looks = context.orders.saysOnce && !context.signal.aborted
  return { notes, stillListed: looks ? await stillListed(context) : null }
}

/** Deletes are checked once more if the list is old, or may have hidden a second copy. Gives whether it was walked again. */
async function deleteAll(context: ApplyContext): Promise<boolean> {
  const { orders, until } = context
  const { complete: listIsWhole, pages } = orders.listed
  // Whether listing once more takes fewer calls than looking each delete up.
  const listsAgain = callsToLookAgain(orders.counts.delete, pages) === pages
  const listedAgain = listsAgain && listIsWhole && listIsOld(context) && !tooLate(context, until.delete)
  if (listedAgain)
    await guarded(context, until.delete, async () => {
      await listAgain(context)
      skipEdited(context)
    })
  const deletes = batches(due(context), () => context.deleteBatch)
  await each(context, deletes, until.delete, (batch) =>
    listedAgain || (listIsWhole && !listIsOld(context)) ? deleteBatch(context, batch) : deleteLookedUp(context, batch),
  )
  return listedAgain
}

/** Deletes without an outcome yet; of a home that comes under another number the old one stays until the new one is there. */
function* due(context: ApplyContext): Generator<Stored<OfKind<'delete'>>> {
  const why = 'its home is not there yet under the number that it has now: the next run decides'
  for (const stored of context.workspace.changes('delete')) {
    if (stored.outcome !== null) continue
    if (context.workspace.isNotThereYet(stored.seq)) record(context, stored, 'skipped', why)
    else yield stored
  }
}

/** Runs a task for each item, `concurrency` at a time. Begins no new one if the run is stopping or its time is over. */
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
      const one: Promise<void> = limit(() => guarded(context, until, () => task(item)))
      const ended = (): unknown => running.delete(one)
      running.add(one)
      one.then(ended, ended)
      if (running.size >= concurrency * 2) await Promise.race(running)
    }
    await Promise.all(running)
  } finally {
    await Promise.allSettled(running)
  }
}

/** A task that throws a `ServiceError` ends the run; any other error is a defect or the store's, and is thrown on. */
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
    // Told to stop, calls that wait are ended by the client: that is no trouble with the service.
    if (!stopping(context)) context.stop.reason = error.message
  }
}

/** So many changes are told the store in one write. */
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

/** Counts the outcomes; a change that was never taken is skipped, and the report says so. */
function tally({ workspace, stop, miscounts }: ApplyContext): Omit<Applied, keyof Seen> {
  const outcomes: Applied['outcomes'] = { done: 0, failed: 0, unknown: 0, skipped: 0 }
  const skipped: { seq: number; outcome: { result: OutcomeResult; error: string | null } }[] = []
  for (const { seq, change, outcome } of workspace.changes()) {
    if (change.kind === 'hold') continue
    const error = stop.reason ?? (stop.late ? leftForTheNext : null)
    if (outcome === null) skipped.push({ seq, outcome: { result: 'skipped', error } })
    outcomes[outcome?.result ?? 'skipped']++
    if (skipped.length === 1000) workspace.recordOutcomes(skipped.splice(0))
  }
  workspace.recordOutcomes(skipped)
  return { outcomes, stopped: stop.reason, interrupted: stop.interrupted, late: stop.late, miscounts }
}
