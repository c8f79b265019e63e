/** What the steps of a run work on, a feed, and with: its store, service and workspace. */
import type { ApplyFeed } from '../apply/context.ts'
import type { Runtime } from '../core/machine.ts'
import type { Mirror } from '../feed/api/mirror.ts'
import type { RefreshOptions, Refreshed } from '../feed/api/source.ts'
import type { Reader } from '../feed/format/format.ts'
import type { Mapping } from '../feed/mapping/mapping.ts'
import type { TransportSettings } from '../feed/transport/settings.ts'
import type { Opened, TransportEnd, Validators } from '../feed/transport/transport.ts'
import type { PlanConfig } from '../plan/settings.ts'
import type { Chatbot, ChatbotReader } from '../service/service.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { JoinedTable } from './join.ts'
import type { LastLists } from './last-list.ts'

/** What a run is for: `diff` shows a plan, `sync` carries one out, `backfill` loads and deletes nothing. */
export type Mode = 'diff' | 'sync' | 'backfill'

/** One feed of the configuration, with its parts wired. Times in milliseconds. */
export interface Feed extends ApplyFeed {
  /** Of the report's readers, as "en-US". */
  locale: string
  mapping: Mapping
  /** A fingerprint of the source and the zone of its times: of another one neither is compared with those before. */
  source: string
  /** What is learnt of a delivery holds for this alone: service, chatbot, source and mapping, as one value. */
  basis: string
  /** `scratch`: folder for files of the run. */
  open(validators: Validators | null, signal: AbortSignal, scratch: string): Promise<Opened | 'not-modified'>
  /** Second tables beside it (`join`). */
  joins?: readonly JoinedTable[]
  /** Brings what is kept of a live source up to date; left out: the source is none. */
  live?: (
    mirror: Mirror,
    signal: AbortSignal,
    options: Pick<RefreshOptions, 'isWaiting' | 'progress'>,
  ) => Promise<Refreshed>
  decompress: (opened: Opened, scratch: string) => { bytes: AsyncIterable<Buffer>; end(): TransportEnd }
  format: Reader
  transport: TransportSettings
  plan: PlanConfig
  /** The feeds of its chatbot in the configuration. */
  configured: ReadonlySet<string>
  /** Those of them, beside this one, whose deliveries say a thing once. */
  deltas: ReadonlySet<string>
  /** How long a `sync` begins changes; what is left then is for the next one. */
  deadline: number
  rate: number
  /** How often the service's whole list is read, 0 for by every run, in milliseconds; null: as long as it is, every run or now and then. */
  observe: number | null
  deleteBatch: number
  /** The ID of a list item is known to be what Delete takes as `NativeId`. */
  listIdsAreNative: boolean
  /** A fingerprint of the keys to the service, too short to find them by. */
  keys: number
}

/** What `diff` is given: nothing in it can write but to the workspace. */
export interface Readers {
  store: StoreReader
  service: ChatbotReader
  workspace: Workspace
  runtime: Runtime
  /** Aborted: nothing new is begun. */
  signal: AbortSignal
  progress: (stage: 'records' | 'listings' | 'changes', done: number, total: number | null) => void
}

export interface Writers extends Readers {
  store: Store
  service: Chatbot
  /** Lists that runs of this process read; left out: every run reads it. */
  lists?: LastLists
  /** Sees the plan before it is carried out: what it deletes can't be looked up afterwards. `digest`: of the plan. */
  planned?: (workspace: Workspace, digest: string) => Promise<void>
  /** Told the number of the run once it has begun. */
  begun?: (number: number) => void
  /** Ends calls under way; `signal` alone only ends the taking of new ones. */
  abandon: (reason: string) => void
}
