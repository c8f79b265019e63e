import type { FieldName } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import type { Counts } from '../plan/change.ts'
import type { CallKind } from '../plan/inputs.ts'
import type { PlanConfig } from '../plan/settings.ts'
import type { Chatbot } from '../service/service.ts'
import type { Done, Store } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** What apply needs to know of the feed. Times in milliseconds. */
export interface ApplyFeed {
  name: string
  chatbot: string
  mapping: { version: string }
  plan: Pick<PlanConfig, 'limits' | 'volatile' | 'settle' | 'ownership'>
  concurrency: number
  /** IANA time zone in which people read times. */
  timezone: string
  /** Feeds of the chatbot that come after this one: it takes their listings over. */
  outranks: ReadonlySet<string>
}

/** Whether this feed takes listings over from another one of the chatbot. */
export function outranks({ plan, outranks: below }: ApplyFeed, other: string): boolean {
  return plan.ownership === 'mirror' || below.has(other)
}

/** What apply works with. It can neither read a run from the store nor approve. */
export interface ApplyTools {
  service: Chatbot
  store: Pick<Store, 'snapshot' | 'ledger'> & {
    holds: Pick<Store['holds'], 'use'>
    learnt: Pick<Store['learnt'], 'setNumber' | 'addForms'>
    changes: Pick<Store['changes'], 'note'>
    deliveries: Pick<Store['deliveries'], 'notePending' | 'pendingOf'>
  }
  workspace: Workspace
  runtime: Runtime
  /** Once aborted, nothing new is begun. */
  signal: AbortSignal
  progress: (stage: 'changes', done: number, total: number) => void
}

/** What apply needs to know of the plan. The changes are in the workspace. */
export interface Orders {
  counts: Counts
  /** YYYY-MM-DD in the feed's time zone. */
  today: string
  /** Look every create up first, as the list is in doubt. */
  lookUpCreates: boolean
  /** Another program fills the chatbot: nothing is created, not even in place of an update. */
  createsNothing: boolean
  /** Copies that this store made beside another store's may be deleted. */
  takesOffCopies: boolean
  /** The walk over the service's pages that the plan rests on; `startedAt` in milliseconds. */
  listed: { startedAt: number; complete: boolean; pages: number }
  /** Most keys in one Delete. */
  deleteBatch: number
  /** Fields that the service is known to show in a form of its own. */
  forms: ReadonlySet<FieldName>
  /** The delivery was a delta: what the service did not do must be known, as no other delivery says it again. */
  saysOnce: boolean
  /** This is the first load: what it creates does not count as new. */
  isFirstLoad: boolean
}

/** What the parts of apply share during a run. */
export interface ApplyContext extends Omit<ApplyTools, 'progress'> {
  feed: ApplyFeed
  orders: Orders
  /** Until when changes of each kind are begun, in milliseconds since the epoch; Infinity: as long as it takes. */
  until: Readonly<Record<CallKind, number>>
  /** `reason` is set once the run stops early; `late`: some changes are left, as their time was over. */
  stop: { reason: string | null; interrupted: boolean; late: boolean }
  /** Most keys in one Delete. Falls when a batch is refused. */
  deleteBatch: number
  /** The `seq` of changes that are marked in flight and have no outcome yet. */
  underWay: Set<number>
  /** Listings that a look-up found where a create was planned: MLSNumber → hash of the item as it was shown then. */
  foundBefore: Map<string, string>
  /** A Delete was answered with another count than it had keys. */
  miscounts: boolean
  /** Outcomes that are not in the store yet. */
  untold: Done[]
  /** Called after each outcome with the number of changes that it ends. */
  progress(done: number): void
}

/**
 * Shares of a run's time, so that no kind of change starves however slow the service is: updates end at half of it if
 * creates wait, and the last fifth is for deletes if there are any.
 */
const shares = { updates: 0.5, allButDeletes: 0.8 }

/** Until when each kind of change is begun. `deadline` in milliseconds; null: none. */
function untilWhen(
  now: number,
  deadline: number | null,
  counts: Pick<Counts, 'create' | 'delete'>,
): ApplyContext['until'] {
  if (deadline === null) return { update: Infinity, create: Infinity, delete: Infinity }
  const create = counts.delete > 0 ? shares.allButDeletes : 1
  const update = counts.create > 0 ? shares.updates : create
  return { update: now + deadline * update, create: now + deadline * create, delete: now + deadline }
}

/** `deadline`: for how many milliseconds changes are begun; null: as long as it takes. */
export function contextOf(
  feed: ApplyFeed,
  { progress, ...tools }: ApplyTools,
  orders: Orders,
  deadline: number | null,
): ApplyContext {
  const { counts, deleteBatch } = orders
  const total = counts.create + counts.update + counts.delete
  let through = 0
  return {
    ...tools,
    feed,
    orders,
    until: untilWhen(tools.runtime.clock.now(), deadline, counts),
    stop: { reason: null, interrupted: false, late: false },
    deleteBatch,
    underWay: new Set(),
    foundBefore: new Map(),
    miscounts: false,
    untold: [],
    progress: (more) => progress('changes', (through += more), total),
  }
}

/** How many List calls it takes to look up so many listings or to walk so many pages, whichever is less. */
export function callsToLookAgain(listings: number, pages: number): number {
  return Math.min(listings * callsOfALookUp, pages)
}

/** One page with the listing and, as VirtualCount is seldom reliable, one more that is empty. */
export const callsOfALookUp = 2
