import type { FieldName } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import type { HeldKind, Counts } from '../plan/change.ts'
import type { CallKind } from '../plan/inputs.ts'
import type { ServiceWriter } from '../service/service.ts'
import type { Store } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** What apply is bound to for one run. Times in milliseconds. */
export interface ApplySettings {
  feed: string
  chatbot: string
  /** The feed's name where listings are marked with it, null for `ownership: snapshot`. */
  owner: string | null
  mapping: string
  volatile: ReadonlySet<FieldName>
  settle: number
  concurrency: number
  /** Most keys in one Delete; asked anew for each batch, as a refusal halves it. */
  deleteBatch: () => number
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
  approved(kind: HeldKind, mlsNumber: string): boolean
}

export interface ApplyContext {
  settings: ApplySettings
  service: ServiceWriter
  store: Store
  workspace: Workspace
  runtime: Runtime
  /** Aborted: nothing new is taken. */
  signal: AbortSignal
  /** Set once the run is ending early, for whatever reason; `late`: some changes are left, as their time was over. */
  stop: { reason: string | null; interrupted: boolean; late: boolean }
  /** By `seq`, what was sent and has no outcome yet. */
  underWay: Set<number>
  /** Told after each outcome: how many changes are through. */
  progress(done: number): void
}

/**
 * Shares of a run's time, so that however slow the service is no kind of change starves behind another (fault-model
 * F126): updates are through by half of it where creates wait, and the last fifth is for deletes where there are any.
 */
const shares = { updates: 0.5, allButDeletes: 0.8 }

/** Until when each kind of change is begun; `deadline` is in milliseconds, null: none. */
export function untilWhen(
  now: number,
  deadline: number | null,
  counts: Pick<Counts, 'create' | 'delete'>,
): ApplySettings['until'] {
  if (deadline === null) return { update: Infinity, create: Infinity, delete: Infinity }
  const create = counts.delete > 0 ? shares.allButDeletes : 1
  const update = counts.create > 0 ? shares.updates : create
  return { update: now + deadline * update, create: now + deadline * create, delete: now + deadline }
}
