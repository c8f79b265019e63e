/** The assembled program, as commands and tests get it from `openApp`. */
import type { Config, FeedConfig } from '../config/config.ts'
import type { Clock, Runtime } from '../core/machine.ts'
import type { Meter } from '../core/meter.ts'
import type { FormOptions, ReportForm, Report } from '../report/report.ts'
import type { Repaired, RepairPlan } from '../run/repair.ts'
import type { ServiceClient } from '../service/client.ts'
import type { Queue } from '../store/queue.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { Doors } from './doors.ts'
import type { LogOptions } from './log.ts'

/** A report with the workspace it reads from; `close` removes the workspace. */
export interface Finished {
  report: Report
  /** The run's number in the store; null: it has none, as it could not begin or writes nothing. */
  run: number | null
  close: () => void
}

/** A configuration that was not taken: everything runs on the one before. */
export interface RefusedReload {
  at: number
  problems: readonly string[]
}

/** What is known when people may have to be told of a feed. */
export interface Occasion {
  /** Of the run that has just ended; left out: none has. */
  report?: Report
  /** Too many runs were due since the last good one. */
  isStale?: boolean
}

/** What became of one message of `notify --test`; `problem`: why it did not get there. */
export interface Tested {
  setting: string
  host: string
  event: string
  problem: string | null
}

/** What is measured of runs beside their calls. */
export interface RunMeter extends Meter {
  /** A run ended, and all that follows it. */
  ran(report: Report): void
}

export interface App {
  readonly config: Config
  runtime: Runtime
  /** Reads secret files again for later runs; returns whether any changed. Throws `ConfigError`. */
  refreshSecrets(): boolean
  /**
   * Reads the whole configuration again, for later runs; those under way finish on the old one. Throws `ConfigError` with
   * every problem, those of `problemsOf` included; then everything stays as it was.
   */
  reload(problemsOf: (fresh: Config) => string[]): Promise<void>
  /** The last `reload` that was refused; null: the configuration in use is the one that was read last. */
  readonly refusedReload: RefusedReload | null
  /** What the configuration file holds now, null where it can't be read, and what it held when it was read. */
  configText(): { now: string | null; read: string }
  diff(feed: FeedConfig): Promise<Finished>
  sync(feed: FeedConfig, command: 'sync' | 'backfill'): Promise<Finished>
  /** Tells people how a feed is, where that is news. Never throws, and nothing waits for it but `close`. */
  tell(feed: FeedConfig, occasion: Occasion): void
  /** Has runs and calls measured from now on. */
  measure(meter: RunMeter): void
  /** The figures of every feed as the metrics file has them. */
  metrics(): Promise<string>
  /** Sends one of each message to each place of `notify`. */
  testNotifications(): Promise<Tested[]>
  /** Deletes surplus copies on the service, if `agree` says so. Throws `UserError` if it can't begin. */
  repair(feed: FeedConfig, agree: (plan: RepairPlan) => Promise<boolean>): Promise<Repaired>
  /** The client of a feed's service, which shares the rate with runs. */
  client(feed: FeedConfig): Promise<ServiceClient>
  /** A form of `reportForms`, by its name. */
  reportForm(name: string, options: FormOptions): Promise<ReportForm>
  /** Loads what the kind of store needs, before it is used first. */
  ready(): Promise<void>
  /** The durable store, opened for writing on first use. */
  store(): Store
  /** The store for reading only: its files stay unchanged. */
  reader(): StoreReader
  /** The runs that wait for whichever process on the store is free; null: each process keeps its own. To be closed. */
  queue(): Promise<Queue | null>
  /** Where everything goes that is printed. */
  doors: Doors
  close(): Promise<void>
}

/** What the program gets from the machine. Clock, randomness and log are the machine's unless a test passes others. */
export interface Machine {
  env: NodeJS.ProcessEnv
  /** Aborted by SIGTERM and SIGINT. */
  signal: AbortSignal
  /** Registers what is done at SIGHUP, which ends the process where nothing is. */
  onHangup?: (listener: () => void) => void
  /**
   * Registers what is done at once, without waiting for anything, where something was thrown that nobody caught. Then the
   * process ends.
   */
  onCrash?: (leaveWord: (error: unknown) => void) => void
  clock?: Clock
  /** In [0, 1). */
  random?: () => number
  /** Receives the lines of the log instead of standard error. */
  writeLog?: LogOptions['write']
}

/** What `main.ts` passes to every command. */
export interface CommandContext extends Machine {
  configFile: string
  doors: Doors
  /** Of `--log-level`. */
  logLevel?: LogOptions['level']
}
