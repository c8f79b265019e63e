import type { FieldName, RemoteSummary } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import type { Format, FormatOptions } from '../feed/format/format.ts'
import type { Moment, Mapping } from '../feed/mapping/mapping.ts'
import type { Opened, TransportEnd, Validators } from '../feed/transport/transport.ts'
import type { Counts } from '../plan/change.ts'
import type { Limits, Trip } from '../plan/guard/rule.ts'
import type { PlanFacts } from '../plan/plan.ts'
import type { ServiceReader, ServiceWriter } from '../service/service.ts'
import type { FeedState, StoreReader, Store } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Received } from './receive.ts'

/** One feed of the configuration, with its parts wired. Times in milliseconds. */
export interface Feed {
  name: string
  chatbot: string
  timezone: string
  mapping: Mapping
  /** Identifies the source for saved validators: another address is another feed. */
  source: string
  /** `scratch`: folder for files of the run. */
  open(validators: Validators | null, signal: AbortSignal, scratch: string): Promise<Opened | 'not-modified'>
  decompress: (opened: Opened, scratch: string) => { bytes: AsyncIterable<Buffer>; end(): TransportEnd }
  format: Format
  formatOptions: Pick<FormatOptions, 'encoding' | 'maxRecordBytes'> & { endsWithLineBreak: boolean }
  limits: Limits & { grace: { runs: number; hours: number } }
  ownership: 'tag' | 'snapshot' | 'mirror'
  /** Feeds of the same chatbot that come after this one: it takes their listings over. */
  outranks: ReadonlySet<string>
  drift: 'overwrite' | 'keep' | 'report'
  volatile: ReadonlySet<FieldName>
  refresh: number
  settle: number
  /** How long a `sync` begins changes; what is left then is for the next one. */
  deadline: number
  rate: number
  concurrency: number
  deleteBatch: number
  /** A fingerprint of the keys to the service, too short to find them by. */
  keys: number
}

export interface Readers {
  store: StoreReader
  service: ServiceReader
  workspace: Workspace
  runtime: Runtime
  signal: AbortSignal
  progress: (stage: 'records' | 'listings' | 'changes', done: number, total: number | null) => void
}

/**
 * What a delivery is to the next ones. `one of five`: the guard compares them with it. `alone`: a person let listings go, or
 * it is less than half of the usual (`limits.shrink`) and none of its deletes is held: what was usual before is so no more.
 * `none`: it is doubted.
 */
export type Measure = 'one of five' | 'alone' | 'none'

export interface Prepared {
  moment: Moment
  state: FeedState
  received: Received
  remote: RemoteSummary & { startedAt: number }
  facts: PlanFacts
  counts: Counts
  /** Holds that wait for a person. */
  held: number
  /** Holds that are as the configuration wants them: absent listings in their grace. */
  inGrace: number
  /** Updates of listings that drifted. */
  drifted: number
  /** What is absent from this delivery is surely gone, and was noted. */
  absenceProven: boolean
  trips: Trip[]
  measure: Measure
  /** What an approval lets through, by `approvalKey`. */
  approved: ReadonlySet<string>
  lostAt: number | null
  /** The list lacks some of ours, so it may lack others too: every create is looked up first. */
  doubtful: boolean
  estimate: { calls: number; seconds: number }
  digest: string
  notes: string[]
  validators: Validators
}

export interface Writers extends Readers {
  store: Store
  service: ServiceWriter
  /** Sees the plan before it is carried out: what it deletes can't be looked up afterwards. */
  planned?: (prepared: Prepared, workspace: Workspace) => void
  /** Ends calls under way; aborted some time after `signal`, which only ends the taking of new ones. */
  abandon(reason: string): void
}
