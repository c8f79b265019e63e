import type { FieldName } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import type { Counts } from '../plan/change.ts'
import type { CallKind } from '../plan/inputs.ts'
import type { PlanConfig } from '../plan/settings.ts'
import type { Chatbot } from '../service/service.ts'
import type { Done, Store } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** The feed, as far as apply goes by it. Times in milliseconds. */
export interface ApplyFeed {
  name: string
  chatbot: string
  mapping: { version: string }
  plan: Pick<PlanConfig, 'volatile' | 'settle' | 'ownership'>
  concurrency: number
  /** IANA time zone, in which people are told of times. */
  timezone: string
  /** Feeds of the chatbot that come after this one: it takes their listings over. */
  outranks: ReadonlySet<string>
}

/** Whether this feed takes listings over from another one of the chatbot. */
export function outranks({ plan, outranks: below }: ApplyFeed, other: string): boolean {
  return plan.ownership === 'mirror' || below.has(other)
}

/** What apply works with: of the store it can neither read a run nor approve. */
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
  /** Aborted: nothing new is taken. */
  signal: AbortSignal
  progress: (stage: 'changes', done: number, total: number) => void
}

/** The plan that is carried out; its changes are in the workspace. */
export interface Orders {
  counts: Counts
  /** YYYY-MM-DD in the feed's time zone. */
  today: string
  /** Look every create up first, as the list is in doubt. */
  lookUpCreates: boolean
  /** Another program fills the chatbot: nothing is created, however it comes. */
  createsNothing: boolean
  /** Copies that this store made beside another store's may be taken off. */
  takesOffCopies: boolean
  /** The walk over the service's pages that the plan rests on; `startedAt` in milliseconds. */
  listed: { startedAt: number; complete: boolean; pages: number }
  /** Most keys in one Delete. */
  deleteBatch: number
  /** Fields that the service is known to show in a form of its own. */
  forms: ReadonlySet<FieldName>
  /** The delivery was a delta: what it said and the service did not do has to be known, as no other says it again. */
  saysOnce: boolean
  /** Nothing was carried over before: what is created counts for nothing. */
  isFirstLoad: boolean
}

export interface ApplyContext extends Omit<ApplyTools, 'progress'> {
  feed: ApplyFeed
  orders: Orders
  /** Until when changes of a kind are begun, in milliseconds; `Infinity`: as long as it takes. */
  until: Readonly<Record<CallKind, number>>
  /** Set once the run is ending early, for whatever reason; `late`: some changes are left, as their time was over. */
  stop: { reason: string | null; interrupted: boolean; late: boolean }
  /** Most keys in one Delete; less once a batch was refused. */
  deleteBatch: number
  /** By `seq`, what is marked in flight and has no outcome yet. */
  underWay: Set<number>
  /** Listings that a look-up found where a create was planned: MLSNumber → hash of the item as it was shown then. */
  foundBefore: Map<string, string>
  /** A Delete counted otherwise than it had keys. */
  miscounts: boolean
  /** What became of changes, and is not in the store yet. */
  untold: Done[]
  /** Told after each outcome: how many changes are through. */
  progress(done: number): void
}

/**
 * Shares of a run's time, so that no kind of change starves however slow the service is: updates end at half of it if
 * creates wait, and the last fifth is for deletes if there are any.
 */
const shares = { updates: 0.5, allButDeletes: 0.8 }

/** Until when each kind of change is begun; `deadline` is in milliseconds, null: none. */
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

/** `deadline`: milliseconds that changes are begun for; null: as long as it takes. */
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

/** List calls that looking so many deletes up takes, or walking so many pages once more, whichever is less. */
export function callsToLookAgain(deletes: number, pages: number): number {
  return Math.min(deletes * callsOfALookUp, pages)
}

/** A page with the listing and, as VirtualCount can seldom be relied on, one without. */
export const callsOfALookUp = 2
