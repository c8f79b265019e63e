/** One history: a feed that moves, a service that fails, people, crashes; then calm, in which all must come right. */
import type { Report } from '../../src/report/report.ts'
import { between } from './between.ts'
import { Choices } from './choices.ts'
import { letHappen } from './mishap.ts'
import { Source, feedKeys, listingOf, otherKeys, otherSpelling } from './feed.ts'
import type { Delivery } from './feed.ts'
import { Program } from './program.ts'
import { byHand, judged } from './service.ts'
import type { Judged, Row } from './service.ts'
import type { Disks, Fate } from './program.ts'
import { Violation, calmed, drawSwarm, feedName, otherFeed } from './world.ts'
import type { Swarm } from './world.ts'
import { hour, minute } from './time.ts'

export interface Told {
  seed: number
  /** `Variation.diesAt`; null: as the seed says. */
  diesAt: number | null
  /** What was violated; null: nothing. */
  violation: string | null
  mishaps: string[]
  runs: number
  calls: number
  /** Points until the calm at which a process could have died. */
  points: number
}

/** What is other than the seed says. */
export interface Variation {
  /** Mishaps that don't happen. */
  masked?: ReadonlySet<string>
  /** Filled with a line for everything that happens. */
  trace?: string[]
  /** The point, of all until the calm, at which the process of that moment dies as well. */
  diesAt?: number | null
  /** Ends the history wherever it is. */
  signal?: AbortSignal
  /** Makes its stores, where they are of another kind. */
  disks?: Disks
}

/** Plays the history of a seed, which owns all that it works with. Throws the signal's reason where that ended it. */
export async function runHistory(seed: number, variation: Variation = {}): Promise<Told> {
  const history = new History(seed, variation)
  return history.run()
}

/** The histories of so many seeds. */
export async function* seeds(from: number, histories: number, signal?: AbortSignal): AsyncGenerator<Told> {
  for (let seed = from; seed < from + histories; seed++) yield await runHistory(seed, { signal })
}

/** The histories of so many seeds, each once for every point at which a process can die in it. */
export async function* crashPoints(from: number, histories: number, signal?: AbortSignal): AsyncGenerator<Told> {
  for await (const { seed, points } of seeds(from, histories, signal))
    for (let diesAt = 1; diesAt <= points; diesAt++) yield await runHistory(seed, { diesAt, signal })
}

/** Mishaps that change the service past the program, or take its memory. */
const undoing = [
  'a person ',
  'the store is lost',
  'put back',
  'after settle',
  'carried out twice',
  'another ',
  'confirmed and ignored',
]

class History {
  readonly #choices: Choices
  readonly #source: Source
  readonly #otherSource: Source
  readonly #swarm: Swarm
  readonly #program: Program
  /** Ours, deleted by a person before a list showed them: what a person makes in their place can't be known for drift. */
  readonly #goneUnseen = new Set<string>()
  /** Rows made by hand in the place of ours that no run had seen yet. */
  readonly #madeAnew: Row[] = []
  readonly #diesAt: number | null
  readonly #signal: AbortSignal | null
  #points = 0

  constructor(seed: number, { masked, trace, diesAt, signal, disks }: Variation) {
    this.#choices = new Choices(seed, masked)
    this.#swarm = drawSwarm(this.#choices)
    this.#program = new Program(this.#choices, this.#swarm, trace ?? null, { signal, disks })
    this.#signal = signal ?? null
    this.#diesAt = diesAt ?? null
    this.#program.diesAt = this.#diesAt
    this.#source = new Source(this.#choices, feedKeys, this.#program.time)
    this.#otherSource = new Source(this.#choices, otherKeys, this.#program.time)
    const happens = (_: string, value: unknown): unknown => (value === 0 || value === false ? undefined : value)
    this.#program.checker.trace(JSON.stringify(this.#swarm, happens))
  }

  async run(): Promise<Told> {
    try {
      this.#othersBegin()
      const rounds = this.#choices.integer('rounds', 2, 8)
      for (let round = 1; round <= rounds && this.#fine; round++) {
        this.#choices.part(`round ${round}`)
        if (this.#choices.mishap('takes place', 1)) await this.#round()
      }
      this.#choices.part('calm')
      this.#points = this.#program.points
      this.#program.diesAt = null
      if (this.#fine) await this.#calm()
    } catch (error) {
      this.#signal?.throwIfAborted()
      const thrown = error instanceof Error ? `threw ${error.stack}` : `threw ${String(error)}`
      this.#program.checker.fail(error instanceof Violation ? error.message : thrown)
    } finally {
      await this.#program.close()
    }
    const { violation, writes } = this.#program.checker
    return {
      seed: this.#choices.seed,
      diesAt: this.#diesAt,
      violation: violation?.message ?? null,
      mishaps: this.#choices.happened,
      runs: this.#program.runs,
      calls: writes,
      points: this.#points,
    }
  }

  get #fine(): boolean {
    return this.#program.checker.violation === null
  }

  /** Rows that others made before us: by hand, and by another feed of this chatbot. */
  #othersBegin(): void {
    const row = (key: string) => listingOf({ key, price: 7, text: 'by hand', fee: null }, 1)
    this.#program.service.add(row('H0'), 'person')
    // Where all is on a page or two, to read them takes fewer calls than any look-up.
    const isCrowded = this.#swarm.observe > 0 && this.#swarm.ownership !== 'mirror'
    for (let number = 1; number <= (isCrowded ? 25 : 0); number++)
      this.#program.service.add(row(`X${number}`), 'person')
    if (this.#choices.mishap('another feed has one of ours', 0.2)) {
      const mark = { ExtensionColumn: [{ Key: 'ListingSyncFeed', value: 'south' }] }
      if (this.#swarm.ownership !== 'snapshot') this.#program.service.add({ ...row(feedKeys[0]), ...mark }, 'south')
    }
    if (this.#choices.mishap('a person made it too', 0.1)) this.#program.service.add(row(feedKeys[0]), 'person')
    if (this.#choices.mishap('a person had one of ours', 0.2)) this.#program.service.add(row(feedKeys[1]), 'person')
  }

  async #round(): Promise<void> {
    const choices = this.#choices
    const swarm = this.#swarm
    const underWay = new Set([...this.#program.service.underWay].flatMap(({ keys }) => keys))
    this.#source.move(swarm, underWay)
    this.#program.mappingVersion = this.#source.mappingVersion
    const delivery = this.#source.deliver(swarm)
    // A lost store shows only by the marks on the service: without any, nobody can know of it.
    const names = swarm.twoFeeds ? [feedName, otherFeed] : [feedName]
    const { service } = this.#program
    const isMarked = names.every((name) => service.rows.some((row) => row.feed === name && service.isListed(row)))
    if (isMarked && choices.mishap('the store is lost', swarm.lostStore)) await this.#program.loseStore()
    await this.#program.backUp()
    await letHappen(between, swarm.mishaps, { choices, program: this.#program, delivery })
    if (choices.mishap('a dry run comes first', swarm.dryRun)) await this.#program.run(delivery, {}, 'diff')
    await this.#untilEnded(delivery, feedName, this.#source)
    if (swarm.twoFeeds && this.#fine && choices.mishap('the other feed runs', 0.8)) {
      this.#otherSource.move(swarm, underWay)
      this.#otherSource.mappingVersion = this.#source.mappingVersion
      await this.#untilEnded(this.#otherSource.deliver(swarm), otherFeed, this.#otherSource)
    }
    if (choices.mishap('somebody approves', swarm.approve)) await this.#program.approve()
    const pauses = swarm.brisk ? [10_000, minute, minute] : [10_000, minute, 5 * minute, 20 * minute, 3 * hour]
    this.#program.time.pass(choices.pick('next run after', pauses))
    if (choices.mishap('days pass', swarm.days)) this.#program.time.pass(choices.pick('days', [24, 25, 49, 73]) * hour)
    this.#people()
  }

  /** Runs of a feed on this delivery, until one of them is not killed. */
  async #untilEnded(sent: Delivery, name: string, source: Source): Promise<void> {
    let delivery = sent
    const choices = this.#choices
    const swarm = this.#swarm
    for (let lives = 0; this.#fine; lives++) {
      const fate: Fate = {}
      if (lives < 3 && choices.mishap('the process is killed', swarm.crash)) this.#kill(fate)
      else if (choices.mishap('the process is told to stop', swarm.stop))
        fate.stopsAt = choices.integer('stops at', 1, 60)
      if (choices.mishap('a second run begins', swarm.second))
        fate.secondAfter = choices.integer('second after', 1, 3000)
      for (const delay of [200, 1500])
        this.#program.time.after(delay + choices.integer('people', 0, 3000), () => this.#people())
      const report = await this.#program.run(
        delivery,
        fate,
        choices.unit('backfill') < 0.05 ? 'backfill' : 'sync',
        name,
      )
      if (report !== null) {
        source.ended(delivery, report.error === null, !this.#program.hasOlderStores)
        break
      }
      this.#program.checker.trace('  killed')
      this.#program.checker.killed()
      delivery = delivery.again ?? delivery
      this.#program.time.pass(choices.pick('starts again after', [1000, minute, 10 * minute]))
    }
  }

  #kill(fate: Fate): void {
    fate.diesAt = this.#choices.integer('dies at', 1, 70)
    if (this.#choices.mishap('the power is cut', this.#swarm.power))
      fate.keptUntil = this.#choices.integer('kept until', 1, fate.diesAt)
  }

  /** Calm: nothing goes wrong any more, and what was under way has landed. Invariant 4. */
  async #calm(): Promise<void> {
    const checker = this.#program.checker
    const persons = checker.violation === null && this.#happened('a person ')
    const calm = calmed(this.#swarm)
    this.#program.become(calm)
    this.#source.mend()
    this.#otherSource.mend()
    this.#otherSource.mappingVersion = this.#source.mappingVersion
    this.#program.time.pass(25 * hour + this.#program.time.behind)
    checker.trace('calm')
    const delivery = this.#source.deliver(calm)
    const other = this.#swarm.twoFeeds ? this.#otherSource.deliver(calm) : null
    // Each of two programs takes its own copies off, and the one creates again a day after the other was stopped.
    if (this.#program.isNotAlone) {
      await this.#program.byAnother(delivery)
      await this.#program.run(delivery)
      this.#program.time.pass(25 * hour)
    }
    if (this.#happened('the clock is set')) {
      // A run takes what was noted by a wrong clock as of now, so that what waits does so for a day more.
      await this.#program.run(delivery)
      if (other !== null) await this.#program.run(other, {}, 'sync', otherFeed)
      this.#program.time.pass(25 * hour)
    }
    const foretold = planOf((await this.#program.run(delivery, {}, 'diff'))!)
    let isFirst = true
    let stuck = new Set<string>()
    let waited = false
    for (let counted = 0, approvals = 0, unknown = 0; counted < 2 && this.#fine;) {
      const report = (await this.#program.run(delivery, {}, 'sync'))!
      const planned = planOf(report)
      // The turn of a listing may come between the two.
      if (isFirst && planned.digest !== foretold.digest && planned.refreshed <= foretold.refreshed)
        return checker.fail(
          `6: the dry run foretold ${foretold.digest}, the run that followed planned ${planned.digest}`,
        )
      isFirst = false
      const changes = [...report.changes()]
      let holds = report.holds.length
      if (other !== null) {
        const others = (await this.#program.run(other, {}, 'sync', otherFeed))!
        changes.push(...others.changes())
        holds += others.holds.length
      }
      const vain = changes.filter(({ cause }) => cause === 'not-converging')
      stuck = new Set(vain.map(({ mlsNumber }) => mlsNumber))
      // A service that leaves the same listing out of its deletes three times is told so, too.
      const isLeftOut = this.#choices.happened.filter((text) => text.includes('delete leaves one out')).length >= 3
      const odd = vain.filter(({ why }) => !(isLeftOut && why.includes('the service goes on showing it')))
      if (odd.length > 0 && !persons)
        checker.fail(`4: not converging, though nobody meddled: ${odd.map(({ mlsNumber }) => mlsNumber).join()}`)
      const asked = holds > 0 || changes.some(({ cause }) => cause === 'guard')
      const waits = changes.some(({ cause }) => cause === 'in-flight' || cause === 'lost-store')
      if (waits && !waited) {
        waited = true
        this.#program.time.pass(20 * minute)
      } else if (asked && approvals++ < 4) await this.#program.approve()
      // What has no answer, or waits for one, only the next run can tell.
      else if (
        changes.some(({ outcome }) => outcome?.result === 'unknown' || outcome?.result === 'skipped') &&
        unknown++ < 2
      )
        waited = false
      else if (!changes.some(({ cause }) => cause === 'grace')) counted++
      this.#program.time.pass(minute)
    }
    if (!this.#fine) return
    const truth = this.#truth(this.#source, delivery)
    if (other === null) return this.#comeRight(feedName, delivery, truth, { stuck, others: new Set() })
    const others = this.#truth(this.#otherSource, other)
    await this.#comeRight(feedName, delivery, truth, { stuck, others: this.#otherSource.truth(other).holds })
    await this.#comeRight(otherFeed, other, others, { stuck, others: this.#source.truth(delivery).holds })
  }

  /** Whether anything of this name has gone wrong in this history. */
  #happened(name: string): boolean {
    return this.#choices.happened.some((text) => text.includes(name))
  }

  /** What has to be on the service in the end. What somebody else undoes, a delta that does not name it leaves so. */
  #truth(source: Source, delivery: Delivery): Delivery {
    // By a clock that was set forward a list is late that shows what was taken off before: nobody can wait for it.
    const isOld = this.#happened('the list is old') || this.#happened('rows of the list are old')
    const isLate = isOld && this.#happened('the clock is set')
    return isLate || undoing.some((name) => this.#happened(name)) ? delivery : source.truth(delivery)
  }

  /** What the service holds is what the feed holds, but for what another one has, and one more run of it writes nothing. */
  async #comeRight(
    name: string,
    delivery: Delivery,
    truth: Delivery,
    { stuck, others }: { stuck: ReadonlySet<string>; others: ReadonlySet<string> },
  ): Promise<void> {
    const { checker } = this.#program
    const last = (await this.#program.run(delivery, {}, 'sync', name))!
    const excepted = new Set(stuck)
    // That another one has let a listing go, a backup does not know, and no delta says it again.
    const isUndone = delivery.isDelta === true && this.#happened('is put back')
    for (const { cause, mlsNumber } of last.changes())
      if (cause === 'other-feed' && (isUndone || others.has(mlsNumber))) excepted.add(mlsNumber)
    // F49: what a person, a run that no store knows, or a create that nobody waited for any more made under another spelling looks
    // like the service's own. The report says what to do.
    const isMade = ['is put back', 'a person makes', 'lands after settle'].some((name) => this.#happened(name))
    const mayBeRespelled = isMade && this.#happened('feed spells MLSNumbers otherwise')
    const respelled = new Set<string>()
    for (const { mlsNumber, outcome } of mayBeRespelled ? last.changes() : [])
      if (outcome?.error?.startsWith('the service lists ') === true)
        respelled.add(mlsNumber).add(otherSpelling(mlsNumber))
    const held = [...last.changes()].filter(({ kind }) => kind === 'hold')
    const reported = new Set(held.map(({ cause, mlsNumber }) => `${cause} ${mlsNumber}`))
    // A delta need not name what another feed has.
    if (delivery.isDelta) for (const key of others) excepted.add(key)
    checker.converged(truth, this.#source.mappingVersion, new Set([...excepted, ...respelled]), reported)
    for (const { kind, cause, mlsNumber } of last.changes())
      if (
        (kind === 'create' || kind === 'update' || kind === 'delete') &&
        cause !== 'refresh' &&
        !respelled.has(mlsNumber)
      )
        checker.fail(`4: ${kind} of ${mlsNumber} (${cause}), though all had come right`)
  }

  /** A row made by hand in the place of ours: where others bear our mark, the lack of it tells. */
  #makeAnew(row: Row): void {
    const { service, checker } = this.#program
    const key = row.listing.MLSNumber
    if (row.by !== 'us' || (service.landing.get(key) ?? 0) > 0) return
    checker.trace(`  a person makes ${key} anew`)
    service.rows = service.rows.filter((candidate) => candidate !== row)
    const price = this.#choices.integer('price anew', 2000, 3000)
    const made = service.add(listingOf({ key, price, text: null, fee: null }, 1), 'person')
    if (row.seen) return
    this.#madeAnew.push(made)
    const marked = service.rows.filter((candidate) => candidate.by === 'us' && candidate.feed === row.feed)
    // Also those that were made before, if hardly one is left by the time that a list shows them.
    if (this.#swarm.ownership === 'snapshot' || marked.length < 3)
      for (const row of this.#madeAnew) row.tainted = judged
  }

  #people(): void {
    const choices = this.#choices
    const { human } = this.#swarm
    const service = this.#program.service
    if (service.rows.length === 0) return
    const row = choices.pick('whose', service.rows)
    const key = row.listing.MLSNumber
    if (choices.mishap('a person edits', human.edit)) {
      this.#program.checker.trace(`  a person edits ${key}`)
      const { SalePrice: price, Description: text } = row.listing
      const edit =
        choices.unit('edits') < 0.7
          ? { SalePrice: choices.integer('edited price', 2000, 3000) }
          : { Description: byHand }
      row.listing = { ...row.listing, ...edit }
      const isOther = row.listing.SalePrice !== price || row.listing.Description !== text
      Object.assign(row, { edited: true, editedAt: isOther ? this.#program.time.now : row.editedAt })
      if (!row.seen) row.tainted = [...row.tainted, ...(Object.keys(edit) as Judged[])]
    }
    if (choices.mishap('a person deletes', human.remove)) {
      this.#program.checker.trace(`  a person deletes ${key}`)
      service.rows = service.rows.filter((candidate) => candidate !== row)
      service.removedAt = this.#program.time.now
      service.removed.set(key, service.removedAt)
      if (!row.seen) {
        this.#goneUnseen.add(key)
        for (const left of service.living(key)) left.tainted = judged
      }
    }
    const by = (name: string, price: number) => listingOf({ key: name, price, text: null, fee: null }, 1)
    if (choices.mishap('a person makes', human.make)) {
      const name = choices.pick('made', [...feedKeys, 'H1'])
      // Nobody else makes the number that we are making (docs/faults.md, A5).
      const isMaking = (service.landing.get(name) ?? 0) > 0
      if (service.living(name).length === 0 && !isMaking) {
        const made = service.add(by(name, choices.integer('made price', 2000, 3000)), 'person')
        if (this.#goneUnseen.has(name)) made.tainted = judged
      }
      this.#program.checker.trace(`  a person makes ${name}`)
    }
    if (service.rows.length > 0 && choices.mishap('a person makes some anew', human.remake))
      for (const _ of [1, 2, 3]) this.#makeAnew(choices.pick('anew', service.rows))
    if (choices.mishap('a person makes again', human.double)) {
      const made = service.add(by(key, 5), 'person')
      if (this.#goneUnseen.has(key)) made.tainted = judged
      this.#program.checker.trace(`  a person makes ${key} again`)
    }
    service.remember()
  }
}

/** Its changes are to be read before the next run. */
function planOf(report: Report): { digest: string; refreshed: number } {
  const refreshed = [...report.changes()].filter(({ cause }) => cause === 'refresh').length
  return { digest: report.digest, refreshed }
}
