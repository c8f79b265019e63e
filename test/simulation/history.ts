/** One history: a feed that moves, a service that fails, people, crashes; then calm, in which all must come right. */
import { createService } from '../../src/service/client.ts'
import type { FieldName } from '../../src/listing.ts'
import type { Feed } from '../../src/prepare.ts'
import type { Report } from '../../src/run.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { diff, sync } from '../../src/sync.ts'
import { Checker, deleteFloor } from './checker.ts'
import { Choices } from './choices.ts'
import { Source, feedKeys, lineFormat, listingOf, mappingOf, openDelivery } from './feed.ts'
import type { Delivery } from './feed.ts'
import { Life } from './process.ts'
import { emptyWorkspace } from './scratch.ts'
import { ModelService } from './service.ts'
import { VirtualTime } from './time.ts'
import { calmed, chatbot, drawSwarm, feedName, hour, minute } from './world.ts'
import type { Swarm } from './world.ts'

export interface Told {
  seed: number
  /** What was violated; null: nothing. */
  violation: string | null
  mishaps: string[]
  runs: number
  calls: number
}

const volatile: ReadonlySet<FieldName> = new Set<FieldName>(['DaysOnMarket'])

export async function runHistory(seed: number, masked: ReadonlySet<string>, trace: string[] | null): Promise<Told> {
  const history = new History(seed, masked, trace)
  return history.run()
}

class History {
  readonly #choices: Choices
  readonly #time = new VirtualTime()
  readonly #checker: Checker
  readonly #service: ModelService
  readonly #source: Source
  #swarm: Swarm
  #store = openStore(':memory:')
  #runs = 0

  constructor(seed: number, masked: ReadonlySet<string>, trace: string[] | null) {
    this.#choices = new Choices(seed, masked)
    this.#swarm = drawSwarm(this.#choices)
    this.#checker = new Checker(trace, () => this.#time.now)
    this.#service = new ModelService(this.#swarm, this.#choices, this.#time, this.#checker)
    this.#source = new Source(this.#choices)
    this.#checker.service = this.#service
    this.#checker.store = this.#store
    this.#checker.trace(JSON.stringify(this.#swarm))
  }

  async run(): Promise<Told> {
    try {
      this.#othersBegin()
      const rounds = this.#choices.integer('rounds', 2, 8)
      for (let round = 0; round < rounds && this.#fine; round++) await this.#round()
      if (this.#fine) await this.#calm()
    } catch (error) {
      this.#checker.fail(`threw ${error instanceof Error ? error.stack : String(error)}`)
    } finally {
      this.#store.close()
    }
    const { violation, writes } = this.#checker
    return {
      seed: this.#choices.seed,
      violation: violation?.message ?? null,
      mishaps: this.#choices.happened,
      runs: this.#runs,
      calls: writes,
    }
  }

  get #fine(): boolean {
    return this.#checker.violation === null
  }

  /** Rows that others made before us: by hand, and by another feed of this chatbot. */
  #othersBegin(): void {
    const row = (key: string) => listingOf({ key, price: 7, text: 'by hand', fee: null }, 1)
    this.#service.add(row('H0'), 'person')
    if (this.#choices.mishap('another feed has one of ours', 0.1)) {
      const mark = { ExtensionColumn: [{ Key: 'ListingSyncFeed', value: 'south' }] }
      if (this.#swarm.ownership === 'tag') this.#service.add({ ...row(feedKeys[0]), ...mark }, 'south')
    }
    if (this.#choices.mishap('a person had one of ours', 0.2)) this.#service.add(row(feedKeys[1]), 'person')
  }

  async #round(): Promise<void> {
    const choices = this.#choices
    const swarm = this.#swarm
    this.#source.move(swarm)
    const delivery = this.#source.deliver(swarm)
    if (choices.mishap('the store is lost', swarm.lostStore)) this.#loseStore()
    if (choices.mishap('a dry run comes first', swarm.dryRun)) await this.#process(delivery, {}, 'diff')
    for (let lives = 0; this.#fine; lives++) {
      const fate: { diesAt?: number; stopsAt?: number } = {}
      if (lives < 3 && choices.mishap('the process is killed', swarm.crash)) fate.diesAt = choices.integer('dies at', 1, 70)
      else if (choices.mishap('the process is told to stop', swarm.stop)) fate.stopsAt = choices.integer('stops at', 1, 60)
      for (const delay of [200, 1500]) this.#time.after(delay + choices.integer('people', 0, 3000), () => this.#people())
      const report = await this.#process(delivery, fate, choices.unit('backfill') < 0.05 ? 'backfill' : 'sync')
      if (report !== null) break
      this.#checker.trace('  killed')
      this.#time.pass(choices.pick('starts again after', [1000, minute, 10 * minute]))
    }
    if (choices.mishap('somebody approves', swarm.approve))
      this.#store.approve(feedName, 'somebody', this.#time.now, this.#time.now + 24 * hour)
    this.#time.pass(choices.pick('next run after', [10_000, minute, 5 * minute, 20 * minute, 3 * hour]))
    this.#people()
  }

  /** Calm: nothing goes wrong any more, and what was under way has landed. Invariant 4. */
  async #calm(): Promise<void> {
    const checker = this.#checker
    const tagged = this.#swarm.ownership === 'tag'
    const persons = checker.violation === null && this.#choices.happened.some((one) => one.startsWith('a person'))
    this.#swarm = calmed(this.#swarm)
    this.#service.swarm = this.#swarm
    this.#source.mend()
    this.#time.pass(25 * hour)
    checker.trace('calm')
    const delivery = this.#source.deliver(this.#swarm)
    let stuck = new Set<string>()
    for (let counted = 0, approvals = 0; counted < 2 && this.#fine;) {
      const report = (await this.#process(delivery, {}, 'sync'))!
      const changes = [...report.changes()]
      stuck = new Set(changes.filter(({ cause }) => cause === 'not-converging').map(({ mlsNumber }) => mlsNumber))
      if (stuck.size > 0 && !persons) checker.fail(`4: not converging, though nobody meddled: ${[...stuck].join()}`)
      const asked = changes.some(({ cause }) => cause === 'guard')
      if (asked && approvals++ < 4) this.#store.approve(feedName, 'somebody', this.#time.now, this.#time.now + 24 * hour)
      else counted++
      this.#time.pass(minute)
    }
    if (!this.#fine) return
    checker.converged(delivery, this.#source.mappingVersion, stuck, tagged)
    const { writes } = checker
    await this.#process(delivery, {}, 'sync')
    if (checker.writes > writes) checker.fail(`4: ${checker.writes - writes} writing calls, though all had come right`)
  }

  /** One life of the program; null where it was killed. */
  async #process(
    delivery: Delivery,
    fate: { diesAt?: number; stopsAt?: number },
    command: 'sync' | 'backfill' | 'diff',
  ): Promise<Report | null> {
    const checker = this.#checker
    const startedAt = this.#time.now
    const isDry = command === 'diff'
    const life = new Life(this.#time, { ...fate, dry: isDry })
    checker.trace(`${command} ${JSON.stringify(fate)} feed holds ${[...delivery.holds].join()}`)
    checker.begin(delivery, isDry)
    this.#runs++
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const runtime = { clock: life.clock, random: () => this.#choices.unit('jitter'), log }
    const calls = new AbortController()
    const { maxKeys, pageSize, clear, virtualCount } = this.#swarm.service
    const profile = {
      pageSize: Math.max(4, pageSize),
      deleteBatch: Math.max(3, maxKeys),
      virtualCount: virtualCount === 'total' ? ('total' as const) : ('unknown' as const),
      clear,
    }
    const service = createService(
      {
        baseUrl: 'http://model.invalid',
        secretKey: 'key',
        sessionKey: null,
        concurrency: 3,
        rate: Infinity,
        profile,
        volatile,
        timeout: 30_000,
        attempts: 4,
        backoff: { base: 500, max: 20_000 },
        patience: minute,
        send: life.send(this.#service),
      },
      runtime,
    )
    const parts = {
      store: life.store(this.#store),
      service: service.forChatbot(chatbot, calls.signal),
      workspace: emptyWorkspace(),
      runtime,
      signal: life.signal.signal,
      progress: () => {},
    }
    let report: Report | null = null
    let thrown: unknown = null
    const feed = this.#feed(delivery, profile.deleteBatch)
    const run = isDry
      ? diff(feed, parts)
      : sync(feed, { ...parts, abandon: (reason) => calls.abort(new Error(reason)) }, command)
    run.then(
      (value) => (report = value),
      (error: unknown) => (thrown = error),
    )
    await this.#time.until(() => report !== null || thrown !== null || !life.alive)
    const wasAlive = life.alive
    life.bury()
    if (!wasAlive) return null
    if (thrown !== null) throw thrown
    checker.ended(report!, startedAt)
    return report
  }

  #feed(delivery: Delivery, deleteBatch: number): Feed {
    const { mappingVersion } = this.#source
    return {
      name: feedName,
      chatbot,
      timezone: 'UTC',
      mapping: mappingOf(mappingVersion),
      source: 'memory',
      open: () => Promise.resolve(openDelivery(delivery)),
      decompress: (opened) => opened,
      format: lineFormat,
      formatOptions: { encoding: null, maxRecordBytes: 1e6, endsWithLineBreak: false },
      limits: {
        delete: { percent: 10, floor: deleteFloor },
        update: { percent: 60, floor: 50 },
        shrink: 50,
        overlap: 50,
        recreate: { percent: 20, floor: 2 },
        lostField: { percent: 50, floor: 5 },
        onTrip: 'hold',
      },
      ownership: this.#swarm.ownership,
      volatile,
      refresh: 7 * 24 * hour,
      settle: 15 * minute,
      rate: 5,
      concurrency: 3,
      deleteBatch,
    }
  }

  #loseStore(): void {
    const ours = this.#service.rows.some((row) => row.by === 'us')
    // What nobody can know can't be asked for: a lost store shows only by the marks on the service.
    if (!ours) return
    this.#checker.trace('the store is lost')
    this.#store.close()
    this.#store = openStore(':memory:')
    this.#checker.store = this.#store
    this.#checker.storeLost()
  }

  #people(): void {
    const choices = this.#choices
    const { human } = this.#swarm
    const service = this.#service
    if (service.rows.length === 0) return
    const row = choices.pick('whose', service.rows)
    const key = row.listing.MLSNumber
    if (choices.mishap('a person edits', human.edit)) {
      this.#checker.trace(`  a person edits ${key}`)
      row.listing = { ...row.listing, SalePrice: choices.integer('edited price', 2000, 3000) }
      if (!row.seen) row.tainted = true
    }
    if (choices.mishap('a person deletes', human.remove)) {
      this.#checker.trace(`  a person deletes ${key}`)
      service.rows = service.rows.filter((one) => one !== row)
    }
    const by = (name: string, price: number) => listingOf({ key: name, price, text: null, fee: null }, 1)
    if (choices.mishap('a person makes', human.make)) {
      const name = choices.pick('made', [...feedKeys, 'H1'])
      if (service.living(name).length === 0) service.add(by(name, choices.integer('made price', 2000, 3000)), 'person')
      this.#checker.trace(`  a person makes ${name}`)
    }
    if (choices.mishap('a person makes again', human.double)) {
      service.add(by(key, 5), 'person')
      this.#checker.trace(`  a person makes ${key} again`)
    }
  }
}
