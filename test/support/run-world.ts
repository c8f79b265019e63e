/**
 * A world for whole runs: the stand-in on loopback, a folder with a configuration, a feed and a store, and the program
 * either in this process (with a clock to hand in) or as a child process, as its users start it.
 */
import { strict as assert } from 'node:assert'
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { App, CommandContext } from '../../src/app/app.ts'
import { createDoors } from '../../src/app/doors.ts'
import { openApp } from '../../src/app/open.ts'
import type { Clock } from '../../src/core/machine.ts'
import type { Report, ReportedChange, ReportedHold } from '../../src/report/report.ts'
import type { JournalEntry } from '../../src/stand-in/journal.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn, StandInOptions } from '../../src/stand-in/stand-in.ts'
import { command, executed } from './program.ts'
import type { Ended } from './program.ts'
import { silence } from './silence.ts'

export const chatbot = 'SN-1'

/** A report with its lists read, as the workspace is gone by then. */
export interface ReadReport extends Omit<Report, 'changes' | 'rejects' | 'holds'> {
  holds: (Omit<ReportedHold, 'keys'> & { keys: string[] })[]
  changes: ReportedChange[]
  rejects: { at: string; mlsNumber: string | null; problems: string[] }[]
}

/** Waits of back-off and rate; longer ones (deadlines, Retry-After, patience) wait for the network first. */
const shortSleep = 2000

/**
 * Time that passes only when a test says so, or when somebody sleeps: the clock jumps to where the sleeper wants to be.
 * A short sleep ends at once; a long one when all that can be answered has been.
 */
export class TestClock implements Clock {
  #now: number

  constructor(start = Date.parse('2026-11-21T12:00:00Z')) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const due = this.#now + Math.max(0, milliseconds)
    if (milliseconds > shortSleep) await silence(signal)
    // What has arrived is read first.
    for (let round = 0; round < 3; round++) await nextRound()
    signal?.throwIfAborted()
    this.#now = Math.max(this.#now, due)
  }
}

export class RunWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'listing-sync-test-'))
  readonly standIn: StandIn
  readonly clock: TestClock
  readonly configFile = join(this.folder, 'listing-sync.yaml')
  /** Stops runs in this process, as SIGTERM does; a new one takes its place once a run has ended. */
  stop = new AbortController()

  private constructor(standIn: StandIn, clock: TestClock) {
    this.standIn = standIn
    this.clock = clock
  }

  /** Starts a stand-in and writes the configuration; `feeds` and `service` are laid over a working one. */
  static async start(
    options: { standIn?: StandInOptions; feeds?: Record<string, object>; service?: object } = {},
  ): Promise<RunWorld> {
    const clock = new TestClock()
    const world = new RunWorld(await startStandIn({ now: () => clock.now(), ...options.standIn }), clock)
    world.configure(options.feeds ?? { north: {} }, options.service)
    return world
  }

  /** `store`: of another container, which knows nothing of this one's. */
  configure(feeds: Record<string, object>, service: object = {}, store = './store.db', more: object = {}): void {
    const written = Object.entries(feeds).map(([name, feed]) => [
      name,
      { chatbot, source: `./${name}.xml`, preset: 'zillow', ...feed },
    ])
    const config = {
      service: {
        baseUrl: this.standIn.url,
        secretKey: 'test-secret-key',
        rate: 1000,
        timeout: '60s',
        backoff: { base: '10ms', max: '50ms' },
        ...service,
      },
      store,
      ...more,
      feeds: Object.fromEntries(written),
    }
    writeFileSync(this.configFile, stringify(config))
  }

  /** Writes a delivery into the folder. */
  deliver(content: string | Buffer, name = 'north.xml'): void {
    writeFileSync(join(this.folder, name), content)
  }

  listings(): Record<string, unknown>[] {
    return this.standIn.listings(chatbot).map((row) => row.listing as Record<string, unknown>)
  }

  /** The MLSNumbers on the service, sorted. */
  numbers(): string[] {
    return this.listings()
      .map((item) => String(item['MLSNumber']))
      .toSorted()
  }

  listing(mlsNumber: string): Record<string, unknown> | undefined {
    return this.listings().find((item) => item['MLSNumber'] === mlsNumber)
  }

  /** What the program is given in this process: the world's configuration and clock, and no chance. */
  get context(): CommandContext {
    const { configFile, clock } = this
    return { configFile, doors: createDoors(), env: {}, signal: this.stop.signal, clock, random: () => 0.5 }
  }

  /** One run in this process, on the world's clock; `app`: of a daemon that made earlier ones, which stays open. */
  async run(command: 'diff' | 'sync' | 'backfill' = 'sync', feedName = 'north', app?: App): Promise<ReadReport> {
    const opened = app ?? openApp(this.context, { logLevel: 'error' })
    try {
      const feed = opened.config.feeds.find((feedConfig) => feedConfig.name === feedName)!
      const { report, close } = command === 'diff' ? await opened.diff(feed) : await opened.sync(feed, command)
      const changes = [...report.changes()]
      const holds = report.holds.map((hold) => ({ ...hold, keys: [...hold.keys()] }))
      const read = { ...report, holds, changes, rejects: [...report.rejects()] }
      close()
      if (read.result !== 'failed') holdTogether(read)
      return read
    } finally {
      if (app === undefined) await opened.close()
    }
  }

  /** Sends what the guard holds of the feed through, as `approve --yes` does. */
  async approve(feedName = 'north'): Promise<void> {
    const app = openApp(this.context)
    await app.store().holds.decide(feedName, 'approved', 'test', this.clock.now(), null)
    await app.close()
  }

  /** A command in this process, on the world's clock, with its exit status and what it wrote. */
  executed(...words: string[]): Promise<Ended> {
    const { configFile, ...machine } = this.context
    return executed(['--config', configFile, ...words], machine)
  }

  /** The program as a child process, on the machine's clock. */
  command(...words: string[]): Promise<Ended> {
    return command(['--config', this.configFile, ...words])
  }

  /** The program as a child process that gets to be known while it runs. */
  started(onStart: (child: ChildProcess) => Promise<void>, ...words: string[]): Promise<Ended> {
    return command(['--config', this.configFile, ...words], { onStart })
  }

  /** How often each operation was called since the last time this was asked. */
  calls(): Record<JournalEntry['operation'], number> {
    const counts = { ...this.standIn.counts }
    this.standIn.resetCounts()
    return counts
  }

  /** Name and hash of every file of the store. */
  storeBytes(): Record<string, string> {
    const files = readdirSync(this.folder).filter((name) => name.startsWith('store.db'))
    return Object.fromEntries(
      files.map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(this.folder, name)))
          .digest('hex'),
      ]),
    )
  }

  /** The store is gone, as from a container without a volume. */
  loseStore(): void {
    for (const name of readdirSync(this.folder)) if (name.startsWith('store.db')) rmSync(join(this.folder, name))
  }

  async end(): Promise<void> {
    await this.standIn.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Nothing is ever lost without a line saying so (docs/design.md, invariant 7): every record and listing is counted once. */
function holdTogether({ delivery, counts, changes, rejects }: ReadReport): void {
  const { records, listings, removals, filtered, duplicates } = delivery
  assert.equal(records, listings + removals + filtered + duplicates + delivery.rejects, 'every record is accounted for')
  assert.equal(rejects.length, delivery.rejects)
  const heldListings = changes.filter(
    (change) => change.kind === 'hold' && change.held !== 'delete' && change.held !== 'forget',
  ).length
  const counted = counts.create + counts.update + counts.adopt + counts.unchanged + heldListings
  assert.equal(counted, listings, 'every listing is in exactly one of the counts')
  for (const kind of ['create', 'update', 'delete', 'adopt', 'forget', 'hold'] as const)
    assert.equal(changes.filter((change) => change.kind === kind).length, counts[kind], kind)
}
