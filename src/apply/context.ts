import type { FieldName } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import type { ActionKind, Counts } from '../plan/change.ts'
import type { CallKind } from '../plan/inputs.ts'
import type { Chatbot } from '../service/service.ts'
import type { Store } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** The feed, as far as apply goes by it. Times in milliseconds. */
export interface ApplyFeed {
  name: string
  chatbot: string
  mapping: { version: string }
  volatile: ReadonlySet<FieldName>
  settle: number
  concurrency: number
  ownership: 'tag' | 'snapshot' | 'mirror'
  /** Feeds of the chatbot that this one takes listings over from. */
  outranks: ReadonlySet<string>
}

/** What apply works with: of the store it can neither read a run nor approve. */
export interface ApplyTools {
  service: Chatbot
  store: Pick<Store, 'snapshot' | 'ledger'> & {
    holds: Pick<Store['holds'], 'use'>
    learnt: Pick<Store['learnt'], 'setNumber'>
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
  /** The walk over the service's pages that the plan rests on; `startedAt` in milliseconds. */
  listed: { startedAt: number; complete: boolean; pages: number }
  /** Most keys in one Delete. */
  deleteBatch: number
  /** Whether an approval covers this change. */
  approved: (kind: ActionKind, mlsNumber: string) => boolean
}

/** What apply is bound to for one run. Times in milliseconds. */
export interface ApplySettings extends Pick<ApplyFeed, 'chatbot' | 'volatile' | 'settle' | 'concurrency'> {
  feed: string
  mapping: string
  /** YYYY-MM-DD in the feed's time zone. */
  today: string
  /** Until when changes of a kind are begun; `Infinity`: as long as it takes. */
  until: Readonly<Record<CallKind, number>>
  /** Look every create up first, as the list is in doubt. */
  lookUpCreates: boolean
  /** Whether this feed takes listings over from another one of the chatbot. */
  outranks(feed: string): boolean
  /** When the walk over the service's pages began that the plan rests on, in milliseconds. */
  listedAt: number
  /** The walk reached its end and contradicted nothing. */
  listIsWhole: boolean
  /** Listing once more takes fewer calls than looking each delete up. */
  listsAgain: boolean
  /** Whether an approval covers this change. */
  approved: (kind: ActionKind, mlsNumber: string) => boolean
}

export interface ApplyContext extends Omit<ApplyTools, 'progress'> {
  settings: ApplySettings
  /** Set once the run is ending early, for whatever reason; `late`: some changes are left, as their time was over. */
  stop: { reason: string | null; interrupted: boolean; late: boolean }
  /** Most keys in one Delete; less once a batch was refused. */
  deleteBatch: number
  /** By `seq`, what was sent and has no outcome yet. */
  underWay: Set<number>
  /** Told after each outcome: how many changes are through. */
  progress(done: number): void
}

/**
 * Shares of a run's time, so that however slow the service is no kind of change starves behind another: updates are through by half of it where creates wait, and the last fifth is for deletes where there are any.
 */
const shares = { updates: 0.5, allButDeletes: 0.8 }

/** Until when each kind of change is begun; `deadline` is in milliseconds, null: none. */
function untilWhen(
  now: number,
  deadline: number | null,
  counts: Pick<Counts, 'create' | 'delete'>,
): ApplySettings['until'] {
  if (deadline === null) return { update: Infinity, create: Infinity, delete: Infinity }
  const create = counts.delete > 0 ? shares.allButDeletes : 1
  const update = counts.create > 0 ? shares.updates : create
  return { update: now + deadline * update, create: now + deadline * create, delete: now + deadline }
}

/** `deadline`: milliseconds that changes are begun for; null: as long as it takes. */
export function contextOf(
  { name, mapping, ownership, outranks, chatbot, volatile, settle, concurrency }: ApplyFeed,
  { progress, ...tools }: ApplyTools,
  { counts, today, lookUpCreates, listed, deleteBatch, approved }: Orders,
  deadline: number | null,
): ApplyContext {
  const total = counts.create + counts.update + counts.delete
  let through = 0
  return {
    ...tools,
    settings: {
      feed: name,
      chatbot,
      mapping: mapping.version,
      volatile,
      settle,
      concurrency,
      today,
      until: untilWhen(tools.runtime.clock.now(), deadline, counts),
      lookUpCreates,
      outranks: (other) => ownership === 'mirror' || outranks.has(other),
      listedAt: listed.startedAt,
      listIsWhole: listed.complete,
      listsAgain: callsToLookAgain(counts.delete, listed.pages) === listed.pages,
      approved,
    },
    stop: { reason: null, interrupted: false, late: false },
    deleteBatch,
    underWay: new Set(),
    progress: (more) => progress('changes', (through += more), total),
  }
}

/** List calls that looking so many deletes up takes, or walking so many pages once more, whichever is less. */
export function callsToLookAgain(deletes: number, pages: number): number {
  return Math.min(deletes * callsOfALookUp, pages)
}

/** A page with the listing and, as VirtualCount can seldom be relied on, one without. */
const callsOfALookUp = 2
