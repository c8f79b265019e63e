/**
 * Feeds that go wrong in size: histories of deliveries that shrink, flap, come back, are renumbered, cut, emptied,
 * filtered, or a stranger's, many a day over days. Nothing else fails, so every loss is the plan's own doing, and nothing
 * that is held goes without a person (`confirm: never`). A model counts what the service really lost and knows nothing of
 * ledger, guard or store.
 */
import type { Report } from '../../src/report/report.ts'
import { Choices } from './choices.ts'
import { listingOf } from './feed.ts'
import type { Delivery, Entry } from './feed.ts'
import { believes } from './guard-model.ts'
import { Program } from './program.ts'
import { calmed, drawSwarm, feedName } from './world.ts'
import { hour, minute } from './time.ts'

type State = 'listing' | 'removal' | 'filtered'
type Truth = Map<string, Entry & { state: State }>

export interface Drained {
  seed: number
  violation: string | null
  runs: number
  deletes: number
  /** Runs in which the guard held deletes. */
  heldRuns: number
  approvals: number
}

export const accidents = ['empty', 'cut', 'stranger'] as const
const moves = [
  'quiet',
  'trickle',
  'trickle',
  'shrink',
  'flap',
  'return',
  'renumber',
  'says gone',
  'filter',
  ...accidents,
]

const day = 24 * hour
/** A feed of nothing is no whole delivery, and one of three is too small to tell from a stranger's. */
const fewest = 4

/** Plays the deliveries of a seed. Throws the signal's reason where that ended it. */
export async function drain(
  seed: number,
  { trace = null, signal }: { trace?: string[] | null; signal: AbortSignal },
): Promise<Drained> {
  const history = new History(seed, trace, signal)
  return history.run()
}

class History {
  readonly #choices: Choices
  readonly #program: Program
  /** `limits.share`, in percent. */
  readonly #share: number
  /** When a whole delivery was last carried over. */
  #wholeAt = 0
  readonly #graceRuns: number
  /** In how many whole deliveries running a listing was absent. */
  readonly #absent = new Map<string, number>()
  #truth: Truth = new Map()
  readonly #gone = new Map<string, Entry>()
  #numbers = 0
  /** What the service lost without anybody's leave, and when. */
  #lost: { key: string; at: number }[] = []
  /** What a person saw held and let go: each once, until then, or until the feed says otherwise. */
  readonly #leave = new Set<string>()
  /** Held by the rule that counts what leaves, and not said otherwise since. */
  readonly #held = new Set<string>()
  readonly #told: Drained
  readonly #signal: AbortSignal

  constructor(seed: number, trace: string[] | null, signal: AbortSignal) {
    this.#signal = signal
    this.#choices = new Choices(seed)
    const swarm = calmed(drawSwarm(this.#choices))
    // Where the last page is full and the next one refused, nobody can know that a list is whole.
    const service = { ...swarm.service, afterLastPage: 'empty' as const }
    const ownership = swarm.ownership === 'mirror' ? 'tag' : swarm.ownership
    // What a delta does not name says nothing of its size.
    const feed = { ...swarm.feed, delta: false }
    const plain = { ...swarm, feed, ownership, drift: 'overwrite', grace: 1, rate: Infinity } as const
    this.#program = new Program(this.#choices, { ...plain, service }, trace, { signal })
    this.#program.mostRows = 200
    const { checker } = this.#program
    checker.countsDeletes = false
    checker.believedAfter = Infinity
    this.#share = this.#choices.pick('percent', [0, 5, 20, 40])
    this.#graceRuns = this.#choices.pick('grace', [1, 1, 3])
    const grace = { runs: this.#graceRuns, hours: 0 }
    Object.assign(this.#program.limits, { share: this.#share, growth: 100, confirm: null, grace })
    this.#told = { seed, violation: null, runs: 0, deletes: 0, heldRuns: 0, approvals: 0 }
    checker.trace(`limits.share ${this.#share}, grace ${this.#graceRuns}`)
  }

  async run(): Promise<Drained> {
    const choices = this.#choices
    const { checker, service, time } = this.#program
    try {
      for (const key of ['H0', 'H1', 'H2'])
        service.add(listingOf({ key, price: 7, text: 'by hand', fee: null }, 1), 'person')
      this.#add(choices.integer('begins with', fewest, 40))
      for (let run = 0; run < 2; run++) await this.#deliver(this.#truth)
      const steps = choices.integer('steps', 4, 14)
      for (let step = 0; step < steps && checker.violation === null; step++) {
        time.pass(choices.pick('next run after', [10 * minute, hour, 3 * hour, 9 * hour]))
        await this.#step(choices.pick('move', moves))
      }
      if (checker.violation === null) await this.#letsGo()
    } catch (error) {
      this.#signal.throwIfAborted()
      checker.fail(`threw ${error instanceof Error ? error.stack : String(error)}`)
    } finally {
      await this.#program.close()
    }
    return { ...this.#told, violation: checker.violation?.message ?? null }
  }

  async #step(move: string): Promise<void> {
    const choices = this.#choices
    const before = new Map(this.#truth)
    this.#program.checker.trace(`--- ${move}`)
    const share = choices.pick('share', [0.05, 0.2, 0.6, 0.95])
    if (move === 'trickle') {
      this.#drop(choices.integer('fewer', 0, 2))
      this.#add(choices.integer('more', 0, 2))
    } else if (move === 'shrink' || move === 'flap') this.#drop(Math.ceil(this.#truth.size * share))
    else if (move === 'return') for (const entry of this.#gone.values()) this.#put(entry)
    else if (move === 'renumber') {
      const dropped = this.#drop(Math.ceil(this.#truth.size * share))
      this.#add(dropped)
    } else if (move === 'says gone' || move === 'filter') {
      const state = move === 'filter' ? 'filtered' : 'removal'
      for (const entry of this.#truth.values())
        if (choices.unit('says so') < share) this.#truth.set(entry.key, { ...entry, state })
    }
    if (move === 'empty' || move === 'cut') await this.#deliver(this.#truth, move)
    else if (move === 'stranger') await this.#deliver(this.#strangers())
    else await this.#deliver(this.#truth)
    if (move === 'flap') this.#truth = before
  }

  /**
   * The guard lets go. First with a person who approves what is held: whatever the feed is by now is reached. Then without
   * one: a delivery that keeps within every limit goes through at once, though the feed went through all this.
   */
  async #letsGo(): Promise<void> {
    const { checker, time } = this.#program
    checker.trace('--- a person approves')
    this.#add(fewest)
    time.pass(hour)
    await this.#again()
    // The feed goes on losing one a day, which no approval names, and of which no more may leave than is allowed.
    for (let run = 0; run < 5; run++) {
      await this.#deliver(this.#truth, null, true)
      time.pass(run === 0 ? hour : day + hour)
      if (run < 4 && this.#allowed(this.#living().length - 3) >= 3) this.#drop(1)
    }
    await this.#again()
    this.#isReached('with a person')
    checker.trace('--- nothing suspicious any more, and nobody to approve')
    time.pass(day + hour)
    const ours = this.#ours().length
    this.#drop(Math.min(this.#allowed(ours), Math.floor(ours / 3)))
    this.#add(1)
    await this.#again()
    const report = await this.#deliver(this.#truth, null, false)
    if (report.result !== 'ok') checker.fail(`lets go: ${report.result} (${report.notes.join('; ')})`)
    this.#isReached('alone')
  }

  /** As many runs as it takes until the next one finds the grace of what is absent over. */
  async #again(): Promise<void> {
    for (let run = 1; run < this.#graceRuns; run++) await this.#deliver(this.#truth, null, false)
  }

  #isReached(how: string): void {
    const wanted = this.#living()
      .map(({ key }) => key)
      .toSorted()
    const found = this.#ours().toSorted()
    if (found.join() !== wanted.join())
      this.#program.checker.fail(`lets go ${how}: the service has ${found.join()}, the feed ${wanted.join()}`)
  }

  /** One run on this delivery, judged by what the service had before it and has after it. */
  async #deliver(
    truth: Truth,
    accident: 'empty' | 'cut' | null = null,
    approves: boolean | null = null,
  ): Promise<Report> {
    const { checker, service, time } = this.#program
    const before = this.#ours()
    const byHand = service.rows.filter(({ by }) => by === 'person').length
    const { now } = time
    const delivery = deliveryOf(truth, accident)
    const report = (await this.#program.run(delivery))!
    const left = new Set(this.#ours())
    const lost = before.filter((key) => !left.has(key))
    if (service.rows.filter(({ by }) => by === 'person').length !== byHand)
      checker.fail('1: a hand-made listing is gone')
    const recent = new Set(this.#lost.filter(({ at }) => at > now - day + 5 * minute).map(({ key }) => key))
    const ours = new Set([...before, ...recent])
    const most = this.#allowed(ours.size, now - this.#wholeAt > 60 * hour)
    const letGo = new Set<string>()
    for (const key of lost) {
      if (this.#leave.has(key)) letGo.add(key)
      else {
        if (this.#held.has(key)) checker.fail(`held: ${key} lost, and nobody let it go`)
        recent.add(key)
        this.#lost.push({ key, at: now })
        if (recent.size > most)
          checker.fail(`5: ${recent.size} lost in 24 hours (${[...recent].join()}), ${most} allowed`)
      }
    }
    const { saidGone, holds, whole } = delivery
    if (whole) this.#wholeAt = now
    const absent = lost.filter((key) => !saidGone.has(key) && !letGo.has(key))
    for (const key of before) {
      if (accident === null && (holds.has(key) || saidGone.has(key))) this.#absent.delete(key)
      else if (whole) this.#absent.set(key, (this.#absent.get(key) ?? 0) + 1)
      const times = this.#absent.get(key) ?? 0
      if (absent.includes(key) && times < this.#graceRuns) checker.fail(`grace: ${key} lost, absent ${times} times`)
    }
    for (const key of lost) this.#absent.delete(key)
    const isBelieved = whole && believes(report)
    const saysOtherwise = new Set(isBelieved ? holds : [])
    for (const { kind, cause, mlsNumber } of report.changes())
      if (kind === 'hold' && cause === 'grace' && isBelieved) saysOtherwise.add(mlsNumber)
    const isOver = (key: string): boolean => lost.includes(key) || saysOtherwise.has(key)
    for (const keys of [this.#held, this.#leave]) for (const key of keys) if (isOver(key)) keys.delete(key)
    for (const { rule, keys } of report.holds) if (rule === 'leaving') for (const key of keys()) this.#held.add(key)
    if (accident !== null && absent.length > 0) checker.fail(`2: a delivery (${accident}) lost ${absent.join()}`)
    this.#told.runs++
    this.#told.deletes += lost.length
    const held = [...report.changes()].filter(({ kind, cause }) => kind === 'hold' && cause === 'guard')
    if (held.length > 0) this.#told.heldRuns++
    const mayApprove = accident === null && truth === this.#truth
    if (held.length > 0 && (approves ?? (mayApprove && this.#choices.unit('approve') < 0.2))) await this.#approve()
    return report
  }

  async #approve(): Promise<void> {
    this.#program.checker.trace('--- approved')
    // A person sees all that waits, also what an earlier delivery said and one that is not believed did not end.
    const held = this.#program.checker.place.disk.held(feedName)
    await this.#program.approve()
    this.#told.approvals++
    this.#leave.clear()
    for (const what of held) if (what.startsWith('delete ')) this.#leave.add(what.slice('delete '.length))
  }

  /** How many of so many may leave within 24 hours. */
  #allowed(ours: number, isRare = false): number {
    if (ours < 3) return ours
    const times = isRare ? 2 : 1
    return Math.min(Math.max(3 * times, Math.floor((ours * this.#share * times) / 100)), Math.floor(ours / 2))
  }

  #living(): Entry[] {
    return [...this.#truth.values()].filter(({ state }) => state === 'listing')
  }

  #ours(): string[] {
    return this.#program.service.rows.flatMap(({ by, listing }) => (by === 'us' ? [listing.MLSNumber] : []))
  }

  #put(entry: Entry): void {
    this.#truth.set(entry.key, {
      key: entry.key,
      price: entry.price,
      text: entry.text,
      fee: entry.fee,
      state: 'listing',
    })
    this.#gone.delete(entry.key)
  }

  #add(count: number): void {
    for (let i = 0; i < count; i++)
      this.#put({ key: `K${this.#numbers++}`, price: this.#choices.integer('price', 1, 1000), text: 'Sun', fee: null })
  }

  #drop(count: number): number {
    for (let i = 0; i < count; i++) {
      const living = this.#living()
      if (living.length <= fewest) break
      const entry = this.#choices.pick('drop', living)
      this.#truth.delete(entry.key)
      this.#gone.set(entry.key, entry)
    }
    return count
  }

  /** As many listings of somebody else, whole and well formed. */
  #strangers(): Truth {
    const some = Array.from({ length: Math.max(4, this.#truth.size) }, (_, index) => `S${index}`)
    return new Map(some.map((key) => [key, { key, price: 5, text: null, fee: null, state: 'listing' }]))
  }
}

function deliveryOf(truth: Truth, accident: 'empty' | 'cut' | null): Delivery {
  const all = [...truth.values()]
  const lines = all.map((entry) => `${JSON.stringify(entry)}\n`)
  const shown = accident === 'empty' ? [] : accident === 'cut' ? lines.slice(0, lines.length >> 1) : lines
  const isWhole = accident !== 'cut'
  const living = all.filter(({ state }) => state === 'listing')
  return {
    bytes: Buffer.from(`BEGIN\n${shown.join('')}${accident === 'cut' ? '' : 'END\n'}`),
    records: isWhole ? shown.length : -1,
    listings: new Map(living.map((entry) => [entry.key, entry])),
    holds: new Set(living.map(({ key }) => key)),
    unreadable: new Set(),
    saidGone: new Set(all.flatMap(({ key, state }) => (state === 'listing' ? [] : [key]))),
    repeated: new Set(),
    whole: isWhole,
  }
}
