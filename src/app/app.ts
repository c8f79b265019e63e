/** The assembled program, as commands and tests get it from `openApp`. */
import type { Config, FeedConfig } from '../config/config.ts'
import type { Clock, Runtime } from '../core/machine.ts'
import type { Meter } from '../core/meter.ts'
import type { FormOptions, ReportForm, Report } from '../report/report.ts'
import type { Repaired, RepairPlan } from '../run/repair.ts'
import type { ServiceClient } from '../service/client.ts'
import type { Queue } from '../store/queue.ts'
import type { RunRecord, Store, StoreReader } from '../store/store.ts'
import type { Doors } from './doors.ts'
import type { LogOptions } from './log.ts'

/** A report with the workspace it reads from; `close` removes the workspace. */
export interface Finished {
  report: Report
  /** The run's number in the store; null: none, as it could not begin or writes nothing. */
  run: number | null
  close: () => void
}

/** A configuration that was refused: everything runs on with the one before. */
export interface RefusedReload {
  at: number
  problems: readonly string[]
}

/** How a run ended: its report, or what is known of one that could not begin. */
export type Ended = Pick<Report, 'startedAt' | 'result' | 'error' | 'unrecorded'> & Partial<Pick<Report, 'holds'>>

/** An occasion to tell people about a feed. */
export interface Occasion {
  /** The run that has just ended; left out: none has. */
  ended?: Ended
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

/** Measures runs beside their calls. */
export interface RunMeter extends Meter {
  /** Called once a run and all that follows it have ended. */
  ran(report: Report): void
}

export interface App {
  readonly config: Config
  runtime: Runtime
  /** Reads secret files again for later runs; returns whether any changed. Throws `ConfigError`. */
  refreshSecrets(): boolean
  /**
   * Reads the whole configuration again, for later runs. Those under way finish with the old one. Throws `ConfigError` with every
   * problem, those of `problemsOf` included; then nothing changes.
   */
  reload(problemsOf: (fresh: Config) => string[]): Promise<void>
  /** The last `reload` that was refused; null: the configuration in use is the one that was read last. */
  readonly refusedReload: RefusedReload | null
  /** `now`: the configuration file's text, null if it can't be read. `read`: its text when it was read last. */
  configText(): { now: string | null; read: string }
  diff(feed: FeedConfig): Promise<Finished>
  sync(feed: FeedConfig, command: 'sync' | 'backfill'): Promise<Finished>
  /** The last run of a feed, if the store could not take its record: nothing else tells of it. `last`: the last one on record. */
  lostRun(feed: string, last: Pick<RunRecord, 'startedAt'> | null): Ended | null
  /** Tells people how a feed is, if that is news. Never throws. Only `close` waits for it. */
  tell(feed: FeedConfig, occasion: Occasion): void
  /** Measures runs and calls from now on. */
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
  /** The queue of runs that any free process on the store takes; null: each process keeps its own. The caller closes it. */
  queue(): Promise<Queue | null>
  /** Where everything that is printed goes. */
  doors: Doors
  close(): Promise<void>
}

/** What the program gets from the machine. Clock, randomness and log are the machine's unless a test passes others. */
export interface Machine {
  env: NodeJS.ProcessEnv
  /** Aborted by SIGTERM and SIGINT. */
  signal: AbortSignal
  /** Registers what is done at SIGHUP. Without a listener SIGHUP ends the process. */
  onHangup?: (listener: () => void) => void
  /**
   * Registers what is done, without waiting for anything, when something is thrown that nobody catches. Afterwards the process
   * ends.
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
  /** The value of `--log-level`. */
  logLevel?: LogOptions['level']
}
