/**
 * How a run learns what the service shows: by the whole list; or, between two lists and while nothing is unclear, by the snapshot
 * and look-ups of what the plan would change. A look-up may only confirm the snapshot. If one finds anything else, the list is read.
 */
import pLimit from 'p-limit'
import { callsOfALookUp } from '../apply/context.ts'
import { ServiceError } from '../core/errors.ts'
import type { Shown } from '../core/listing.ts'
import type { Ask, Hold, HoldCause, Steps } from '../plan/change.ts'
import type { ShownRow } from '../plan/inputs.ts'
import { planChanges } from '../plan/plan.ts'
import { nextList } from './last-list.ts'
import type { LastList } from './last-list.ts'
import { observe } from './observe.ts'
import type { Listed } from './observe.ts'
import { inputsOf, planSettings } from './plan.ts'
import type { Known } from './plan.ts'
import type { Past } from './recall.ts'
import type { Run } from './run.ts'
import type { Feed, Readers, Writers } from './tools.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** What is known before the look; `last`: a list that this run may go by, null: there is none. */
export type BeforeLook = Omit<Known, 'listed'> & { last: LastList | null }

/** What the service shows, in figures; the items are in the workspace, but for those that are left as the snapshot has them. */
export async function look(feed: Feed, tools: Readers, known: BeforeLook): Promise<Listed> {
  return (await byLookUps(feed, tools, known)) ?? observe(feed, tools)
}

/** Does without the list; null: it must be read, or takes no more calls than the look-ups. */
async function byLookUps(feed: Feed, tools: Readers, { last, ...known }: BeforeLook): Promise<Listed | null> {
  const { past, delivery, mode } = known
  const startedAt = tools.runtime.clock.now()
  if (last === null || mode !== 'sync' || !isCurrent(feed, last, startedAt)) return null
  // A walk over all keys of a live source tells what is gone, also of listings that only their mark makes ours: that takes the list.
  if (delivery.source !== null && delivery.mode === 'full') return null
  if (past.isFirstLoad || past.waiting > 0) return null
  if ((await tools.store.runs.last(feed.name))?.number !== last.run) return null
  const { at: listedAt, pages, listings } = last
  const lookUps = { keys: new Set<string>(), listedAt }
  const figures = { complete: true, reasons: [], pages, listings, startedAt, marked: 0, writers: new Map() }
  const settings = planSettings(feed, { ...known, listed: { ...figures, lookUps } }, past.lostAt)
  if (settings.lostUntil !== null) return null
  const most = Math.max(0, Math.ceil(pages / callsOfALookUp) - 1)
  const asks = await asksIn(planChanges(inputsOf(feed, tools, past.moment.now), settings), most)
  if (asks === null || !(await areAsExpected(feed, tools, past, asks))) return null
  return { ...figures, lookUps: { keys: new Set(asks.map(({ key }) => key)), listedAt } }
}

function isCurrent(feed: Feed, { at, pages, basis }: LastList, now: number): boolean {
  const next = nextList(feed, at, pages)
  return next !== null && now >= at && now < next && basis === basisOf(feed)
}

/** What the plan has to look up; null: that is more than `most`, or something of ours is unclear. */
async function asksIn(plan: AsyncIterable<Steps>, most: number): Promise<Ask[] | null> {
  const all: Ask[] = []
  for await (const { asks } of plan) {
    all.push(...asks)
    if (all.length > most || asks.some(({ isUnclear }) => isUnclear)) return null
  }
  return all
}

/** Looks up into the workspace. Gives whether each was found as the snapshot has it; false also if an answer does not come. */
async function areAsExpected(
  { concurrency }: Feed,
  { service, workspace }: Readers,
  { stamp }: Past,
  asks: readonly Ask[],
): Promise<boolean> {
  let areSo = true
  const limit = pLimit(concurrency)
  const ask = async ({ key, expected }: Ask): Promise<void> => {
    if (!areSo) return
    try {
      const found = await service.lookUp(key)
      areSo &&= isAsExpected(found, expected, stamp)
      workspace.addShown(found.map((item) => ({ item: { ...item, whole: () => item }, keep: false })))
    } catch (error) {
      areSo = false
      if (!(error instanceof ServiceError)) throw error
    }
  }
  const asked = await Promise.allSettled(asks.map((question) => limit(() => ask(question))))
  for (const answer of asked) if (answer.status === 'rejected') throw answer.reason
  if (!areSo) workspace.clearShown()
  return areSo
}

function isAsExpected(found: readonly Shown[], expected: ShownRow | null, { store, run }: Past['stamp']): boolean {
  if (expected === null || found.length !== 1) return expected === null && found.length === 0
  const [{ hash, owner, by }] = found
  // The mark may be missing, but must not be another feed's, another store's, or of a run that this store has not had.
  const isMarkedRight = expected.owner === null || owner === null || owner === expected.owner
  return hash === expected.hash && isMarkedRight && (by === undefined || (by.store === store && by.run < run))
}

/** All settings that a list was read and judged by, as one value. */
function basisOf({ basis, keys, plan, outranks }: Feed): string {
  return JSON.stringify([basis, keys, plan, [...outranks]])
}

/** Causes of holds that need no list, but only the feeds, or an earlier answer of the service. */
const withoutList: ReadonlySet<HoldCause> = new Set(['refused-before', 'twice-delivered', 'other-feed'])

/** Whether the next run can tell of a hold without a list. It can't if only the list shows that the listing is ours: then it has no row. */
function isKnown({ cause, action }: Hold): boolean {
  return withoutList.has(cause) || (cause === 'grace' && action?.kind === 'delete' && action.snapshot !== null)
}

/** Whether a run left nothing open between store and service. Rows that are not at rest the next run finds itself. */
export function isClear({ prepared, applied }: Run, workspace: Workspace): boolean {
  if (prepared === null || applied === null) return false
  const { past, listed, plan, guarded } = prepared
  const { stopped, interrupted, miscounts, outcomes } = applied
  // A list from before the first load shows nothing of what the load created.
  if (stopped !== null || interrupted || miscounts || guarded.isFirstLoad) return false
  if (outcomes.failed + outcomes.unknown + outcomes.skipped + guarded.held + guarded.accidents.length > 0) return false
  if (!listed.complete || plan.isDoubtful || plan.others.rival !== null || plan.lostAt !== past.lostAt) return false
  for (const { change } of workspace.changes('hold')) if (!isKnown(change)) return false
  return true
}

/** Keeps the list that a run went by for the next run, if it left nothing open. */
export async function keepList(feed: Feed, { lists, store, workspace }: Writers, run: Run): Promise<void> {
  if (lists === undefined || run.prepared === null || !isClear(run, workspace)) return
  const { startedAt, lookUps, pages, listings } = run.prepared.listed
  const last = await store.runs.last(feed.name)
  if (last !== null)
    lists.set(feed.name, {
      at: lookUps?.listedAt ?? startedAt,
      pages,
      listings,
      basis: basisOf(feed),
      run: last.number,
    })
}

/** Takes the list that a run may go by; null: none. A run that does not end clear puts none back. */
export function takeList({ name }: Pick<Feed, 'name'>, { lists }: Pick<Writers, 'lists'>): LastList | null {
  const last = lists?.get(name) ?? null
  lists?.delete(name)
  return last
}
