/** What the steps of a run work on (a feed) and with (its store, service and workspace). */
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
  /** The locale of the report's readers, such as "en-US". */
  locale: string
  mapping: Mapping
  /** A fingerprint of the source and its time zone. Under another one, when deliveries were written is not compared. */
  source: string
  /** A fingerprint of the source alone. Versions before 27 November 2026 noted it in place of `source`. */
  identity?: string
  /** Service, chatbot, source and mapping as one value. What is learnt of a delivery holds only while it is the same. */
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
  /** What its configuration has that a person should know, as sentences. Left out: nothing. */
  notes?: readonly string[]
  /** The feeds of its chatbot in the configuration. */
  configured: ReadonlySet<string>
  /** Those of them that write no marks, by their `ownership`; left out: none. */
  unmarked?: ReadonlySet<string>
  /** The others of them that are delta feeds. */
  deltas: ReadonlySet<string>
  /** How long a `sync` begins changes. What is left then is for the next one. */
  deadline: number
  rate: number
  /** How often the service's whole list is read, in milliseconds; 0: by every run; null: that depends on its length. */
  observe: number | null
  deleteBatch: number
  /** Delete is known to take the ID of a list item as `NativeId`. */
  listIdsAreNative: boolean
  /** A fingerprint of the keys to the service, too short to guess them by. */
  keys: number
}

/** What `diff` is given: it can write to the workspace alone. */
export interface Readers {
  store: StoreReader
  service: ChatbotReader
  workspace: Workspace
  runtime: Runtime
  /** Once aborted, nothing new is begun. */
  signal: AbortSignal
  progress: (stage: 'records' | 'listings' | 'changes', done: number, total: number | null) => void
}

export interface Writers extends Readers {
  store: Store
  service: Chatbot
  /** The lists that runs of this process have read; left out: every run reads the list. */
  lists?: LastLists
  /** Sees the plan before it is carried out, as what it deletes can't be read afterwards. */
  planned?: (workspace: Workspace, digest: string) => Promise<void>
  /** Told the number of the run once it has begun. */
  begun?: (number: number) => void
  /** Ends calls under way. `signal` alone only keeps new ones from beginning. */
  abandon: (reason: string) => void
}
