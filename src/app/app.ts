/** The program's parts put together, as commands and tests get them from `openApp`. */
import type { Config, FeedConfig } from '../config/config.ts'
import type { Clock, Runtime } from '../core/machine.ts'
import type { FormOptions, ReportForm, Report } from '../report/report.ts'
import type { Repaired, RepairPlan } from '../run/repair.ts'
import type { ServiceClient } from '../service/client.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { LogOptions } from './log.ts'

/** A report with the workspace it reads from; `close` throws that away. */
export interface Finished {
  report: Report
  close: () => void
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
  /** A form of `reportForms`, by its name. */
  reportForm(name: string, options: FormOptions): Promise<ReportForm>
  /** The durable store, opened for writing on first use. */
  store(): Store
  /** The store for reading only: its files stay as they are. */
  reader(): StoreReader
  /** The text without the configuration's secrets. */
  scrub: (text: string) => string
  close(): Promise<void>
}

/** What the program gets from the machine it runs on. Clock, randomness and log are the machine's own unless a test hands in others. */
export interface Machine {
  env: NodeJS.ProcessEnv
  /** Aborted by SIGTERM and SIGINT. */
  signal: AbortSignal
  /**
   * Registers what is done at once, without waiting for anything, where something was thrown that nobody caught; it gives
   * the error as it may be shown. Then the process ends.
   */
  onCrash?: (leaveWord: (error: unknown) => unknown) => void
  clock?: Clock
  /** In [0, 1). */
  random?: () => number
  /** Takes the lines of the log instead of standard error. */
  writeLog?: LogOptions['write']
}

/** What every command is given by `main.ts`. */
export interface CommandContext extends Machine {
  configFile: string
}
