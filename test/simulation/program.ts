/** The program under test with its world around it: real run, plan, apply, client and store; everything else a model. */
import { getEventListeners } from 'node:events'
import type { FieldName } from '../../src/core/listing.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import type { Report } from '../../src/report/report.ts'
import type { LastLists } from '../../src/run/last-list.ts'
import type { Feed } from '../../src/run/tools.ts'
import { ServiceClient } from '../../src/service/client.ts'
import type { Store } from '../../src/store/store.ts'
import { diff, sync } from '../../src/sync.ts'
import { endpointOver } from '../support/endpoint.ts'
import { Census } from './census.ts'
import { Checker, noMemory } from './checker.ts'
import type { Memory } from './checker.ts'
import type { Choices } from './choices.ts'
import { SqliteDisk, emptyStore, Shelf, outlastsPowerCuts } from './disk.ts'
import type { Disk, PutBack } from './disk.ts'
import { lineFormat, mappingOf, openDelivery, openEndedFormat } from './feed.ts'
import type { Delivery } from './feed.ts'
import { share } from './guard-model.ts'
import { Life } from './process.ts'
import type { Full } from './process.ts'
import { Scratch } from './scratch.ts'
import { ModelService } from './service.ts'
import type { Row } from './service.ts'
import { VirtualTime, hour, minute, settle } from './time.ts'
import { chatbot, feedName, otherFeed } from './world.ts'
import type { Swarm } from './world.ts'

/** Calls under way at once. */
const concurrency = 3

const transport = transportSettings.parse({ endsWithLineBreak: false })
const volatile: ReadonlySet<FieldName> = new Set<FieldName>(['DaysOnMarket'])

/** How a life ends, by the number of the point at which it does. */
export interface Fate {
  diesAt?: number
  stopsAt?: number
  /** The end of that life is a power cut: what was committed after this point is gone, if the disk was not told to keep it. */
  keptUntil?: number
  /** Milliseconds after which another run of the same feed is begun, if this one is still under way. */
  secondAfter?: number
}

/** Makes an empty store, whose answers no time passes for. */
export type Disks = (time: VirtualTime) => Disk

/** What a run is about. */
interface Task {
  delivery: Delivery
  name: string
  command: 'sync' | 'backfill' | 'diff'
  /** Pages that its workspace has left; null: enough. */
  room: number | null
}

/** One run under way. */
interface Run {
  ended: boolean
  report: Report | null
  thrown: unknown
}

export class Program {
  readonly time: VirtualTime
  readonly checker: Checker
  readonly service: ModelService
  readonly census = new Census()
  swarm: Swarm
  /** Points at which a process could have died so far, over all lives; with `diesAt` one of them does. */
  points = 0
  diesAt: number | null = null
  readonly #shelf: Shelf | null
  /** Whether a backup may be put back in this history. */
  readonly #isKept: boolean
  /** How many stores there were so far. */
  #stores = 0
  /** And what the checker knew at each. */
  readonly #backups: { putBack: PutBack; known: Memory }[] = []
  #place: { disk: Disk }
  /** Another program with a store of its own, and what that can know. */
  #other: { place: { disk: Disk }; memory: Memory; lists: LastLists } | null = null
  /** A fingerprint of the keys to the service. */
  keys = 1
  /** Of the next run: which writes to the store find no room, and how many pages the workspace has. */
  fullStore: Full | null = null
  fullWorkspace: number | null = null
  #unlost: Buffer | null = null
  mappingVersion = 1
  limits: Feed['plan']['limits'] = {
    share,
    growth: 75,
    confirm: 72 * hour,
    grace: { runs: 1, hours: 0 },
    read: { stall: 10_000, total: 4 * 3_600_000 },
    isOff: false,
  }
  /** What the process knows of the last lists, as long as it lives. */
  #lists: LastLists = new Map()
  runs = 0
  /** MLSNumbers that may ever have been in a feed or on the service. */
  mostRows = 40
  readonly #choices: Choices
  readonly #scratch = new Scratch()

  readonly #disks: Disks | null

  /**
   * `signal` ends it wherever it is: what it is at then throws the signal's reason. `close` must follow. `disks`: where its
   * stores are of another kind.
   */
  constructor(
    choices: Choices,
    swarm: Swarm,
    trace: string[] | null,
    { signal = null, disks = null }: { signal?: AbortSignal | null; disks?: Disks | null } = {},
  ) {
    this.time = new VirtualTime(swarm.begins, signal)
    this.#choices = choices
    this.#disks = disks
    this.swarm = swarm
    this.limits.grace.runs = swarm.grace
    this.checker = new Checker(trace, this.time)
    this.service = new ModelService(swarm, choices, this.time, this.checker)
    this.checker.service = this.service
    this.#isKept = Object.keys(swarm.mishaps).some((name) => name.includes('put back'))
    this.#shelf = this.#isKept && disks === null ? new Shelf() : null
    this.#place = { disk: this.#newStore() }
    this.checker.place = this.#place
  }

  get store(): Store {
    return this.#place.disk.store
  }

  /** Whether another program runs now and then. */
  get isNotAlone(): boolean {
    return this.#other !== null
  }

  /** Whether a run may come upon a store that knows nothing of the last ones. */
  get hasOlderStores(): boolean {
    return this.#isKept || this.#other !== null
  }

  #newStore(): Disk {
    if (this.#disks !== null) return this.#disks(this.time)
    const bytes = emptyStore(++this.#stores)
    return this.#shelf?.open(bytes) ?? new SqliteDisk(bytes)
  }

  async close(): Promise<void> {
    await this.#place.disk.close()
    await this.#other?.place.disk.close()
    this.#scratch.close()
    this.#shelf?.clear()
  }

  #insert(disk: Disk): void {
    this.#place.disk = disk
  }

  /** From now on other things go wrong. */
  become(swarm: Swarm): void {
    this.swarm = swarm
    this.service.swarm = swarm
  }

  /** The store is gone, as with a container without a volume. */
  async loseStore(): Promise<void> {
    this.checker.trace('the store is lost')
    await this.#place.disk.close()
    this.#insert(this.#newStore())
    this.#lists.clear()
    this.checker.storeLost()
  }

  /** Keeps a copy of the store, if one may be put back in this history. */
  async backUp(): Promise<void> {
    const { disk } = this.#place
    // One from before the first good run says nothing: it is as none.
    const good = disk.known()
    const isKnown = ({ feed }: Row): boolean => feed === null || good.has(feed)
    if (!this.#isKept || good.size === 0 || !this.service.rows.every(isKnown)) return
    const known = this.checker.memory()
    const putBack = this.#shelf?.backUp(disk.bytes()) ?? (await disk.backUp!())
    this.#backups.push({ putBack, known })
  }

  /** One of the backups takes the place of the store; `which`: from 0 for the oldest to 1. */
  async putBack(which: number, withNote: boolean): Promise<void> {
    if (this.#backups.length === 0) return
    const number = Math.floor(which * this.#backups.length)
    const { putBack, known } = this.#backups[number]
    this.checker.trace(`backup ${number} of ${this.#backups.length} is put back${withNote ? ', its note too' : ''}`)
    await this.#place.disk.close()
    this.#insert(putBack(withNote))
    this.checker.storePutBack(known)
  }

  /** The power is cut: the store is what the disk has of it. */
  async #cutPower(): Promise<void> {
    this.checker.trace('  the power is cut')
    if (this.#unlost === null) return
    await this.#place.disk.close()
    this.#insert(this.#shelf?.open(this.#unlost) ?? new SqliteDisk(this.#unlost))
  }

  /** A run by another program, which has a store of its own and is told nothing of this one. */
  async byAnother(delivery: Delivery): Promise<void> {
    const mine = { place: this.#place, memory: this.checker.memory(), lists: this.#lists }
    const other = this.#other ?? {
      place: { disk: this.#disks?.(this.time) ?? new SqliteDisk(emptyStore(1000)) },
      memory: noMemory,
      lists: new Map(),
    }
    const turnTo = ({ place, memory, lists }: typeof mine): void => {
      this.#place = place
      this.#lists = lists
      this.checker.place = place
      this.checker.recall(memory)
    }
    turnTo(other)
    this.checker.trace('another daemon')
    const since = this.time.now
    await this.run(delivery)
    // What it writes is an edit to the one that is not told of it.
    for (const row of this.service.rows)
      if (row.writtenAt >= since) Object.assign(row, { edited: true, editedAt: row.writtenAt })
    this.#other = { place: this.#place, memory: this.checker.memory(), lists: this.#lists }
    turnTo(mine)
  }

  async approve(): Promise<void> {
    for (const name of [feedName, otherFeed]) {
      await this.store.holds.decide(name, 'approved', 'somebody', this.time.clock, null)
      this.checker.approves(name)
    }
  }

  /** One life of the program; null where it was killed. Throws what the run throws: a defect. */
  async run(
    delivery: Delivery,
    fate: Fate = {},
    command: 'sync' | 'backfill' | 'diff' = 'sync',
    name = feedName,
  ): Promise<Report | null> {
    const checker = this.checker
    const isDry = command === 'diff'
    this.#unlost = null
    const tick = (point: number): boolean => {
      if (point === fate.keptUntil && !outlastsPowerCuts()) this.#unlost = this.#place.disk.bytes()
      return ++this.points === this.diesAt
    }
    const life = new Life(this.time, { ...fate, dry: isDry, tick, ...(this.fullStore && { full: this.fullStore }) })
    const room = this.fullWorkspace
    this.fullStore = null
    this.fullWorkspace = null
    const bytes = isDry ? this.#place.disk.bytes() : null
    checker.trace(`${command} ${name} ${JSON.stringify(fate)} feed holds ${[...delivery.holds].join()}`)
    checker.begin(delivery, this.swarm, isDry, name)
    this.runs++
    const first = this.#begin({ delivery, name, command, room }, life, 0)
    if (fate.secondAfter !== undefined && !isDry)
      this.time.after(fate.secondAfter, () =>
        this.#beginSecond({ delivery, name, command: 'sync', room: null }, life, first),
      )
    try {
      await this.time.until(() => first.ended || !life.alive)
    } catch (error) {
      await life.bury()
      throw error
    }
    const wasAlive = life.alive
    if (!wasAlive) await this.#place.disk.outlive()
    await life.bury()
    this.service.runEnded(name, wasAlive && !isDry && first.report?.error === null)
    if (bytes !== null && !bytes.equals(this.#place.disk.bytes())) checker.fail('6: a dry run changed the store')
    if (!wasAlive) {
      this.#lists.clear()
      if (fate.keptUntil !== undefined) await this.#cutPower()
      return null
    }
    if (first.thrown !== null) throw first.thrown
    this.#judgeMemory(life)
    checker.ended(first.report!)
    return first.report
  }

  /** Invariant 9, as far as a few listings show it: what is held at once, and what a run leaves behind. */
  #judgeMemory(life: Life): void {
    const { mostUnderWay } = this.census
    if (mostUnderWay > 2 * concurrency + 1)
      this.checker.fail(`9: ${mostUnderWay} changes held at once by ${concurrency} callers`)
    const left = getEventListeners(life.signal.signal, 'abort').length
    if (left > 0) this.checker.fail(`9: a run left ${left} listeners with the signal that lives as long as the daemon`)
    const rows = this.#place.disk.rows()
    if (rows > this.mostRows) this.checker.fail(`9: ${rows} rows in the store for at most ${this.mostRows} listings`)
  }

  /** A second process on the same store, while the first is at work: it must be told so, and call nothing. */
  #beginSecond(task: Task, first: Life, run: Run): void {
    if (run.ended || !first.alive) return
    const second = new Life(this.time)
    const other = this.#begin(task, second, 1, (report) => {
      if (report.result !== 'failed' || report.error?.includes('already under way') !== true)
        this.checker.fail(`lease: a second run ended ${report.result} while one was under way`)
    })
    this.time.after(10 * minute, () => void (other.ended || second.bury()))
  }

  #begin({ delivery, name, command, room }: Task, life: Life, place: number, onReport?: (report: Report) => void): Run {
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const runtime = { clock: life.clock, random: () => this.#choices.unit('jitter'), log }
    const calls = new AbortController()
    const { maxKeys, clear, virtualCount } = this.swarm.service
    const profile = {
      pageSize: 6,
      deleteBatch: Math.max(3, maxKeys),
      virtualCount: virtualCount === 'total' ? ('total' as const) : ('unknown' as const),
      clear,
      nativeId: 'unknown' as const,
    }
    const settings = {
      baseUrl: 'http://model.invalid',
      secretKey: 'key',
      sessionKey: null,
      ca: null,
      maxAnswerBytes: 32 * 1024 * 1024,
      concurrency,
      rate: this.swarm.rate,
      timeout: 30_000,
      attempts: 4,
      backoff: { base: 500, max: 20_000 },
      patience: minute,
    }
    const endpoint = endpointOver(life.send(this.service), settings, life.clock)
    const service = new ServiceClient(settings, runtime, endpoint).chatbot(chatbot, {
      profile,
      volatile,
      mark: this.swarm.ownership === 'snapshot' ? null : name,
      signal: calls.signal,
      stop: life.signal.signal,
    })
    const services = {
      // A second process has read no list.
      lists: place === 0 ? this.#lists : new Map(),
      store: life.store(this.store),
      service,
      workspace: this.census.workspace(this.#scratch.workspace(place, room)),
      runtime,
      signal: life.signal.signal,
      progress: () => {},
    }
    const state: Run = { ended: false, report: null, thrown: null }
    const feed = this.#feed(name, delivery, profile.deleteBatch)
    const run =
      command === 'diff'
        ? diff(feed, services)
        : sync(feed, { ...services, abandon: (reason) => calls.abort(new Error(reason)) }, command)
    run.then(
      (report) => {
        Object.assign(state, { report, ended: true })
        onReport?.(report)
      },
      (thrown: unknown) => Object.assign(state, { thrown, ended: true }),
    )
    return state
  }

  #feed(name: string, delivery: Delivery, deleteBatch: number): Feed {
    const { mappingVersion } = this
    return {
      name,
      chatbot,
      locale: 'en-US',
      timezone: this.swarm.timezone,
      mapping: mappingOf(mappingVersion, this.swarm.feed.delta),
      source: `memory of ${name}`,
      basis: `v${mappingVersion}`,
      open: (validators) =>
        Promise.resolve(
          validators !== null && validators.etag === delivery.etag ? 'not-modified' : openDelivery(delivery),
        ),
      decompress: (opened) => opened,
      format: delivery.isUnframed ? openEndedFormat : lineFormat,
      transport,
      plan: {
        limits: this.limits,
        ownership: this.swarm.ownership,
        drift: this.swarm.drift,
        volatile: { fields: volatile, refresh: 7 * 24 * hour },
        settle,
      },
      outranks: new Set(this.swarm.isRanked && name === feedName ? [otherFeed] : []),
      configured: new Set([feedName, otherFeed]),
      deltas: new Set(this.swarm.feed.delta ? [feedName, otherFeed] : []),
      deadline: 2 * hour,
      rate: 5,
      concurrency,
      observe: this.swarm.observe,
      deleteBatch,
      listIdsAreNative: false,
      keys: this.keys,
    }
  }
}
