import type { FieldName } from '../listing.ts'
import type { CallKind, HeldKind } from '../run.ts'
import type { Runtime } from '../runtime.ts'
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
  /** Told after each outcome: how many changes are through. */
  progress(done: number): void
}
