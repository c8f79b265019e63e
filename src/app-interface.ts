/** The program's parts put together, as commands and tests get them from `openApp`. */
import type { Config, FeedConfig } from './config.ts'
import type { LogOptions } from './log.ts'
import type { Repaired, RepairPlan } from './repair.ts'
import type { FormOptions, ReportForm } from './report/report.ts'
import type { Report } from './run.ts'
import type { Clock, Runtime } from './runtime.ts'
import type { ServiceClient } from './service/service-client.ts'
import type { Store, StoreReader } from './store/store.ts'

export type FormName = 'text' | 'json' | 'markdown' | 'html'

/** A report with the workspace it reads from; `close` throws that away. */
export interface Finished {
  report: Report
  close: () => void
}

/** What a test hands in, and what the daemon wants otherwise. */
export interface AppOptions {
  logLevel?: LogOptions['level']
  clock?: Clock
  random?: () => number
  /** Takes the lines of the log instead of standard error. */
  writeLog?: LogOptions['write']
}

export interface App {
  readonly config: Config
  runtime: Runtime
  /** Reads secrets from their files anew, for runs begun from now on; gives whether any changed. Throws `ConfigError`. */
  refreshSecrets(): boolean
  /** Whether the configuration's file was edited since this was last asked; it takes effect at the next start. */
  wasEdited(): boolean
  diff(feed: FeedConfig): Promise<Finished>
  sync(feed: FeedConfig, command: 'sync' | 'backfill'): Promise<Finished>
  /** Takes surplus copies off the service, once `agree` says so. Throws `UserError` where it can't even begin. */
  repair(feed: FeedConfig, agree: (plan: RepairPlan) => Promise<boolean>): Promise<Repaired>
  /** Every operation of a feed's service, at the pace that its runs share. */
  client(feed: FeedConfig): ServiceClient
  reportForm(name: FormName, options: FormOptions): ReportForm
  /** The durable store, opened for writing on first use. */
  store(): Store
  /** The store for reading only: its files stay as they are. */
  reader(): StoreReader
  /** The text without the configuration's secrets. */
  scrub: (text: string) => string
  close(): Promise<void>
}
