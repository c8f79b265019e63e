/** The invariants of docs/design.md, judged as calls reach the service and when runs and histories end. */
import type { Delivered, Listing } from '../../src/core/listing.ts'
import type { Report, ReportedChange } from '../../src/report/report.ts'
import type { Disk } from './disk.ts'
import { feedKeys, listingOf, otherSpelling, toursAt } from './feed.ts'
import type { Delivery, Entry, Said } from './feed.ts'
import { GuardModel, allowed, believes, isIn, rareAfter, tellsOfClock } from './guard-model.ts'
import { feeOf, judged, ownerOf } from './service.ts'
import { walks } from './service-mishaps.ts'
import type { Judged, ModelService, Row, Witness, WriteCall } from './service.ts'
import type { VirtualTime } from './time.ts'
import { feedName, otherFeed, Violation } from './world.ts'
import type { Swarm } from './world.ts'
import { hour, minute, settle } from './time.ts'

interface Deleted {
  feed: string
  key: string
  at: number
  clock: number
  /** What the clock said as its run began. */
  begun: number
  isRenumbered: boolean
  /** A person let it go, or every delivery said it for long enough: it counts for nothing. */
  isFree: boolean
}

/** What the checker goes by that a store can know, too, as of a moment. */
export interface Memory {
  held: Set<string>
  letGo: Set<string>
  deleted: Deleted[]
  wholeAt: Map<string, number>
  loaded: Set<string>
  goneSince: Map<string, number>
  absences: Map<string, Map<string, number>>
  arrived: Map<string, ReadonlySet<string>[]>
  guard: ReturnType<GuardModel['memory']>
}

/** Of a new store. */
export const noMemory: Memory = {
  held: new Set(),
  letGo: new Set(),
  deleted: [],
  wholeAt: new Map(),
  loaded: new Set(),
  goneSince: new Map(),
  absences: new Map(),
  arrived: new Map(),
  guard: new Map(),
}

/** What was so as a call was made. */
interface Known {
  approved: ReadonlySet<string>
  ours: readonly Set<string>[]
  delivery: Delivery
  place: { disk: Disk }
  /** It was sent before a delivery was carried over whole. */
  isFirstLoad: boolean
  /** The whole delivery before had come long before that run. */
  isRare: boolean
  /** What the clock said as the run began that sent it. */
  begun: number
}

export class Checker implements Witness {
  /** The feed whose run is under way or was the last. */
  feed = feedName
  run = 0
  service!: ModelService
  /** Where the store of the daemon at work lies: it may be another one after a power cut. */
  place!: { disk: Disk }
  delivery!: Delivery
  dry = false
  /** The first violation; a run must not be able to swallow it. */
  violation: Violation | null = null
  writes = 0
  /** Whether deletes in 24 hours are counted at all. */
  countsDeletes = true
  /** After so long what every delivery says is believed: `limits.confirm`, less the slack of a run by the clock. */
  believedAfter = 72 * hour - 5 * minute
  #swarm!: Swarm
  #startedAt = 0
  /** The same by the machine's clock, as all that the program itself can know. */
  #clockAtStart = 0
  /** MLSNumbers of the feed when its run began, at least and at most. */
  #ours: readonly Set<string>[] = []
  /** When the calls of the last second went out. */
  #sent: number[] = []
  #waitUntil = 0
  #lostAt = 0
  /** When the first run found the store put back; Infinity: it was, and none has since; null: it never was. */
  #putBackAt: number | null = null
  /** In how many whole deliveries running a listing was absent: at least as many as the program can have counted. */
  #absences = new Map<string, number>()
  #everListed = new Set<string>()
  readonly #past = new Map<string, { absences: Map<string, number>; everListed: Set<string> }>()
  /** What was approved when a call arrived, and how many were the feed's. */
  readonly #known = new WeakMap<WriteCall, Known>()
  /** When a whole delivery of each feed came last, as far as the program can know. */
  readonly #wholeAt = new Map<string, number>()
  /** Feeds of which a whole delivery was carried over. */
  readonly #loaded = new Set<string>()
  readonly #guard = new GuardModel((what) => this.fail(what))
  /** As the run began: MLSNumbers that the store knew for ours, and rows that were surely ours. */
  #owned: ReadonlySet<string> = new Set()
  #rows: readonly Row[] = []
  #isFirstLoad = true
  #isRare = false
  /** Deletes of this run that took something away. */
  #taken = new Set<string>()
  /** What each feed's deliveries showed, where nothing shows their ends, from the last one on that a run took in. */
  #arrived = new Map<string, ReadonlySet<string>[]>()
  /** Since when each listing is gone from the whole deliveries of its feed. */
  readonly #goneSince = new Map<string, number>()
  /** What left, and what came again under another number in the same delivery. */
  #deleted: Deleted[] = []
  /** Deletes that are held, and those that a person let go meanwhile, as `feed MLSNumber`. */
  #held = new Set<string>()
  #letGo = new Set<string>()
  #keysRefused = false
  #wasClockSet = false
  /** Lists of this history may hide rows. */
  #mayHide = false
  /** MLSNumbers on which a create or update of this run had an effect. */
  #affected = new Set<string>()
  /** MLSNumbers of which the last update was confirmed and not carried out: now, and as the run began. */
  readonly #ignored = new Set<string>()
  #wasIgnored: ReadonlySet<string> = new Set()
  readonly #everIgnored = new Set<string>()
  /** MLSNumbers of which its list showed what was there when an update of this run came. */
  #shownTruly = new Set<string>()
  /** MLSNumbers that this run looked up. */
  #lookedUp = new Set<string>()
  /** And the price that it sent last of each. */
  #prices = new Map<string, number | undefined>()
  /** Approved deletes count for nothing. */
  approved: ReadonlySet<string> = new Set()
  /** MLSNumbers that an effect twice or too late made a second listing of, perhaps. */
  readonly #mayBeTwice = new Set<string>()
  readonly #trace: string[] | null
  readonly #time: VirtualTime

  constructor(trace: string[] | null, time: VirtualTime) {
    this.#trace = trace
    this.#time = time
  }

  get disk(): Disk {
    return this.place.disk
  }

  trace(line: string): void {
    this.#trace?.push(`${new Date(this.#time.now).toISOString().slice(5, 19)} ${line}`)
  }

  fail(what: string): void {
    this.violation ??= new Violation(what)
    this.trace(`VIOLATION ${what}`)
  }

  /** A run begins on this delivery. */
  begin(delivery: Delivery, swarm: Swarm, dry: boolean, feed = feedName): void {
    this.feed = feed
    this.run++
    const past = this.#past.get(feed) ?? { absences: new Map(), everListed: new Set() }
    this.#past.set(feed, past)
    this.#absences = past.absences
    this.#everListed = past.everListed
    this.#swarm = swarm
    this.#mayHide ||= swarm.service.glitch > 0
    this.#startedAt = this.#time.now
    this.#clockAtStart = this.#time.clock
    this.#sent = []
    this.#waitUntil = 0
    this.dry = dry
    this.delivery = delivery.isDelta ? this.#withPending(delivery) : delivery
    this.#keysRefused = false
    this.#affected = new Set()
    this.#shownTruly = new Set()
    this.#lookedUp = new Set()
    this.#prices = new Map()
    this.#wasIgnored = new Set(this.#ignored)
    // Of deletes the program's own word is not enough: a person must have seen this one held, and nothing said otherwise since.
    const isTrue = (part: string): boolean =>
      !part.startsWith('delete ') || this.#letGo.has(`${feed} ${part.slice('delete '.length)}`)
    this.approved = new Set([...this.disk.approved(this.feed, this.#time.clock)].filter(isTrue))
    const keysOf = (rows: readonly Row[]): Set<string> => new Set(rows.map(({ listing }) => listing.MLSNumber))
    const isOurs = ({ by, feed: whose }: Row): boolean =>
      swarm.ownership === 'mirror' || (by === 'us' && whose === feed)
    const ours = this.service.rows.filter(isOurs)
    // What a person made in the place of ours is taken for ours where nothing says whose it is.
    const maybeCreated = new Set(this.disk.maybeCreated(feed))
    const inPlace = this.service.rows.filter(
      ({ by, listing: { MLSNumber: key } }) => by === 'person' && (this.#everListed.has(key) || maybeCreated.has(key)),
    )
    // Without marks nothing tells whose it is that came when nobody waited any more.
    const known = ours.filter(({ onlyByMark }) => !onlyByMark || swarm.ownership !== 'snapshot')
    // Under an incomplete list the program goes by what it remembers.
    const created = inPlace.filter(({ listing }) => maybeCreated.has(listing.MLSNumber))
    const remembered = new Set([...keysOf([...ours, ...created]), ...this.disk.owned(feed)])
    this.#ours = [keysOf(known), keysOf([...this.service.mayShow().filter(isOurs), ...inPlace]), remembered]
    this.#owned = new Set(this.disk.owned(feed))
    const hasMark = (row: Row): boolean => swarm.ownership === 'snapshot' || ownerOf(row) === feed
    const isSure = (row: Row): boolean => {
      const key = row.listing.MLSNumber
      return row.by === 'us' && this.#owned.has(key) && hasMark(row) && this.service.living(key).length === 1
    }
    this.#rows = ours.filter(isSure)
    this.#isFirstLoad = !this.#loaded.has(feed)
    this.#isRare = this.#clockAtStart - (this.#wholeAt.get(feed) ?? Infinity) > rareAfter
    this.#taken = new Set()
    // What a clock that was ahead noted counts from the next run on.
    for (const deleted of dry ? [] : this.#deleted)
      if (deleted.feed === feed) deleted.clock = Math.min(deleted.clock, this.#clockAtStart)
    for (const key of this.delivery.listings.keys()) this.#everListed.add(key)
    // What people made in a chatbot that belongs to the feed alone leaves like its own, and waits as long.
    const theirs = swarm.ownership === 'mirror' ? keysOf(ours) : []
    const keys = new Set([...feedKeys, ...this.#everListed, ...theirs])
    this.#guard.begin(feed, this.delivery, keys, this.#time.clock)
    const isGone = (key: string): void => {
      if (!this.#goneSince.has(`${feed} ${key}`)) this.#goneSince.set(`${feed} ${key}`, this.#time.clock)
    }
    if (delivery.isDelta) for (const key of this.delivery.saidGone) isGone(key)
    if (delivery.arrives !== undefined && !dry)
      this.#arrived.set(feed, [...(this.#arrived.get(feed) ?? []), delivery.arrives])
    // Of one whose end nothing shows that counts in which a listing was not, once the next one lacks it, too.
    for (const key of delivery.isUnframed ? keys : [])
      if (!delivery.arrives!.has(key)) this.#absences.set(key, (this.#absences.get(key) ?? 0) + 1)
    if (!delivery.whole) return
    for (const key of keys)
      if (!isIn(delivery, key)) {
        if (!delivery.isUnframed) this.#absences.set(key, (this.#absences.get(key) ?? 0) + 1)
        isGone(key)
      }
  }

  /** A delta, and what earlier ones said that is still to be done: the run has to carry out both. */
  #withPending(delivery: Delivery): Delivery {
    const { records, listings, holds, saidGone, says, said } = delivery
    const all = { listings: new Map(listings), holds: new Set(holds), saidGone: new Set(saidGone) }
    let pending = 0
    const replaced = new Set<string>()
    const { clock } = this.#time
    const foundAt = this.#putBackAt === null ? -Infinity : Math.min(this.#putBackAt, clock)
    if (!this.dry && this.#putBackAt !== null) this.#putBackAt = foundAt
    // A dry run that finds it out leaves to the next run what has to be approved again.
    const isLeft = this.dry && this.#putBackAt === Infinity
    const approvedSince = Math.max(clock - 30 * 24 * hour, isLeft ? -Infinity : foundAt - 24 * hour)
    for (const [key, some] of this.disk.pending(this.feed, approvedSince)) {
      if (says!.has(key)) continue
      pending += some.length
      // A home that comes in another spelling says anew that the old one is gone.
      if (listings.has(otherSpelling(key))) replaced.add(key)
      for (const delivered of some) {
        const last = said!.get(key)?.find((entry) => isSaidBy(delivered, entry))
        if (last === undefined) this.fail(`pending: ${key} is planned otherwise than it was said last`)
        else if (last === null) all.saidGone.add(key)
        else {
          all.listings.set(key, last)
          all.holds.add(key)
        }
      }
    }
    return { ...delivery, ...all, replaced, records: records < 0 ? records : records + pending }
  }

  /** A person lets through what is held. */
  approves(feed: string): void {
    this.#guard.approves(feed)
    if (feed === this.feed) this.#takeHeld()
    for (const key of this.#held) if (key.startsWith(`${feed} `)) this.#letGo.add(key)
  }

  /** The process died in a run. */
  killed(): void {
    const [held, owned] = [this.disk.held(this.feed), new Set(this.disk.owned(this.feed))]
    this.#guard.killed(this.feed, {
      delivery: this.delivery,
      held,
      owned,
      now: this.#time.clock,
      isAnew: this.#wasClockSet,
    })
    this.#takeHeld()
    for (const row of this.service.rows) {
      const noted = this.disk.row(row.listing.MLSNumber)
      // It took this one over, and was not told so.
      if (noted?.flight === 'update' && noted.feed !== row.feed) row.onlyByMark = true
    }
  }

  /** A run that was killed told nobody what it held; who approves is shown it all the same. */
  #takeHeld(): void {
    for (const what of this.disk.held(this.feed)) {
      const [part, key] = what.split(' ')
      if (part === 'delete' && !isIn(this.delivery, key)) this.#held.add(`${this.feed} ${key}`)
    }
  }

  /**
   * The clock was set. By one that is ahead, a list of before is late enough to prove that what has no answer never came:
   * then only a mark tells whose it is.
   */
  clockSet(): void {
    this.#wasClockSet = true
    for (const key of [feedName, otherFeed].flatMap((feed) => this.disk.maybeCreated(feed)))
      for (const row of this.service.living(key)) row.onlyByMark = true
  }

  /** What the store can know at most. */
  memory(): Memory {
    const { deleted, wholeAt, loaded, goneSince } = {
      deleted: this.#deleted,
      wholeAt: this.#wholeAt,
      loaded: this.#loaded,
      goneSince: this.#goneSince,
    }
    const absences = new Map([...this.#past].map(([feed, past]) => [feed, past.absences]))
    return structuredClone({
      held: this.#held,
      letGo: this.#letGo,
      deleted,
      wholeAt,
      loaded,
      goneSince,
      absences,
      arrived: this.#arrived,
      guard: this.#guard.memory(),
    })
  }

  /** The store is what it was then; what came since is in none. */
  storePutBack(memory: Memory): void {
    this.recall(memory)
    this.#guard.storePutBack()
    this.#putBackAt = Infinity
    this.#lost()
    // What came after the backup the store does not know: if a list hides it, nobody can.
    for (const row of this.service.rows)
      if (row.by === 'us' && this.disk.row(row.listing.MLSNumber) === null) row.onlyByMark = true
  }

  /** From now on it judges by what a store of that time knows. */
  recall(memory: Memory): void {
    const { held, letGo, deleted, wholeAt, loaded, goneSince, absences, arrived, guard } = structuredClone(memory)
    this.#deleted = deleted
    this.#held = held
    this.#letGo = letGo
    for (const [all, then] of [
      [this.#wholeAt, wholeAt],
      [this.#goneSince, goneSince],
    ] as const) {
      all.clear()
      for (const [key, at] of then) all.set(key, at)
    }
    this.#arrived = arrived
    this.#loaded.clear()
    for (const feed of loaded) this.#loaded.add(feed)
    for (const [feed, past] of this.#past) past.absences = absences.get(feed) ?? new Map()
    this.#guard.putBack(guard)
  }

  /** The store was lost, and the ledger with it. */
  storeLost(): void {
    this.#deleted = []
    this.#wholeAt.clear()
    this.#loaded.clear()
    this.#held.clear()
    this.#letGo.clear()
    this.#guard.storeLost()
    this.#lost()
  }

  #lost(): void {
    this.#lostAt = this.#time.now
    for (const row of this.service.rows) row.seen = false
  }

  /** Nobody can know it before the listing is looked at; it is to be sent again then. */
  ignored(call: WriteCall): void {
    this.#guard.ignored(call)
    for (const key of call.keys) {
      this.#ignored.add(key)
      this.#everIgnored.add(key)
      // Sent again as nobody had looked, and shown as before: nothing tells that from the service's own form. Without marks
      // nor does anything where a person edited it within the run.
      const isSinceEdited = ({ editedAt }: Row): boolean =>
        this.#swarm.ownership === 'snapshot' && editedAt >= this.#startedAt
      for (const row of this.service.living(key)) if (!row.seen || isSinceEdited(row)) row.tainted = judged
    }
  }

  affected(key: string): void {
    this.#affected.add(key)
    this.#ignored.delete(key)
  }

  lookedUp(key: string): void {
    this.#lookedUp.add(key)
  }

  refusedKeys(): void {
    this.#keysRefused = true
  }

  sent(kind: string): void {
    const { now } = this.#time
    if (this.#keysRefused) this.fail(`credentials: a ${kind} went out after the service had refused the keys`)
    if (now < this.#waitUntil)
      this.fail(`8: a ${kind} went out ${this.#waitUntil - now} ms before the service's Retry-After`)
    this.#sent = [...this.#sent.filter((at) => at > now - 1000), now]
    if (this.#sent.length > this.#swarm.rate + 1)
      this.fail(`8: ${this.#sent.length} calls within a second, ${this.#swarm.rate} allowed`)
  }

  toldToWait(until: number): void {
    this.#waitUntil = Math.max(this.#waitUntil, until)
  }

  arrived(call: WriteCall): void {
    const { kind, keys } = call
    const { approved, delivery, place } = this
    const [ours, isFirstLoad, isRare, begun] = [this.#ours, this.#isFirstLoad, this.#isRare, this.#clockAtStart]
    this.#known.set(call, { approved, ours, delivery, place, isFirstLoad, isRare, begun })
    this.#guard.arrived(call)
    this.writes++
    this.trace(`  ${kind} ${keys.join()}`)
    if (this.dry) this.fail(`6: a dry run called ${kind}`)
    for (const key of keys) {
      if (kind !== 'delete') this.#prices.set(key, call.listing?.SalePrice)
      if (this.disk.row(key)?.flight !== kind) this.fail(`mark: ${kind} of ${key} without its mark in the store`)
      const alone = this.#swarm.ownership === 'mirror'
      if (!this.#everListed.has(key) && !alone) this.fail(`1: ${kind} of ${key}, which the feed never held`)
      if (!alone && this.service.living(key).some((row) => row.by === 'south' && ownerOf(row) === 'south'))
        this.fail(`1: ${kind} of ${key}, which another feed has`)
      // Without marks nothing tells whose it is that came when nobody waited any more, or was taken over without effect.
      const byStore = this.#swarm.ownership === 'snapshot'
      const isKnown = ({ onlyByMark }: Row): boolean => !byStore || (!onlyByMark && !this.#ignored.has(key))
      const others = this.service
        .living(key)
        .find((row) => row.by === 'us' && row.feed !== this.feed && isKnown(row) && !this.#isHidden(row))
      const mayTake = this.#swarm.isRanked && feedName === this.feed && kind === 'update'
      if (others !== undefined && !mayTake)
        this.fail(`1: ${kind} of ${key} by ${this.feed}, though ${others.feed} has it`)
      // Of a copy it is judged what it leaves, once it has gone.
      if (kind === 'delete' && call.rows === undefined) this.#judgeDelete(key)
      else if (kind !== 'delete' && !this.delivery.holds.has(key))
        this.fail(`${kind} of ${key}, which the feed does not hold`)
      if (kind === 'create') this.#judgeCreate(key)
      else if (kind === 'update' && this.service.living(key).every(({ shownAt }) => shownAt >= this.#startedAt))
        this.#shownTruly.add(key)
      const entry = this.delivery.listings.get(key)
      // What is held comes again as it was sent last.
      const isHeld = (): boolean => [...this.disk.held(this.feed)].some((what) => what.endsWith(` ${key}`))
      if (call.listing !== null && entry !== undefined && !entry.isPartial && !isHeld())
        this.#judgeMoving(entry, call.listing)
    }
  }

  /** What moves by itself goes out as it is that day, in the feed's own zone. */
  #judgeMoving(entry: Entry, { DaysOnMarket, Tours }: Listing): void {
    const today = dayIn(this.#swarm.timezone, this.#clockAtStart)
    const days = (Date.parse(today) - Date.parse(entry.listedOn ?? '2026-11-01')) / (24 * hour)
    if (DaysOnMarket !== Math.max(0, days))
      this.fail(`moving: ${entry.key} is ${days} days on the market, not ${DaysOnMarket}`)
    const tours = [this.#clockAtStart, this.#time.clock].map((at) => toursAt(entry, at))
    if (!tours.includes(Tours || undefined))
      this.fail(`moving: the tours of ${entry.key} are ${tours[0]}, not ${Tours}`)
  }

  /** Nothing may be taken for known of a listing while an earlier call may still change it. */
  landsLate(call: WriteCall): void {
    const { kind, keys, at } = call
    if (at <= this.#lostAt) return
    if (!this.#mayLand(call)) return
    for (const key of keys) {
      // What lands on nothing changes nothing; a delete of a copy by its identifier hits no other.
      const isMeant = ({ id }: Row): boolean => call.rows?.includes(id) ?? true
      if (kind !== 'create' && !this.service.living(key).some(isMeant)) continue
      const row = this.#known.get(call)!.place.disk.row(key)
      const expected =
        row !== null && row.suspectUntil !== null && row.suspectUntil > this.#time.clock && row.baseline === null
      if (row === null || (row.flight === null && !expected))
        this.fail(`late: a ${kind} of ${key} lands, and the store does not expect it`)
    }
  }

  /** Whether a call may still take effect, as far as the program has to reckon with it (docs/faults.md, A1). */
  #mayLand({ at, clock }: WriteCall): boolean {
    // What a clock that was set forward and back has told to be over stays so.
    if (this.#time.now >= at + settle || this.#time.latestSince(at) >= clock + settle) return false
    // Set back and, less far, forward again, it is behind as before: nobody can tell how much time that was.
    return this.#time.behind === 0 || this.#time.comeSince(at) < settle
  }

  /**
   * A1 does not hold for this call, so nobody could wait for it. What it does is done as by a person: an update is an edit, a
   * delete takes a listing that comes again, a create may make it a second one. That one has to be told from then on, and
   * all else about it stays as strict.
   */
  landed(call: WriteCall, isOther: boolean): void {
    const { kind, keys, program } = call
    const isAnothers = (row: Row): boolean => row.by === 'us' && row.program !== program
    // What Create answered never came, so neither of two programs can take this copy off: it has to be told.
    if (kind === 'create')
      for (const key of keys) if (this.service.living(key).some(isAnothers)) this.#mayBeTwice.add(key)
    if (this.#mayLand(call)) return
    for (const key of keys) {
      if (kind === 'create') this.#mayBeTwice.add(key)
      const rows = this.service.living(key)
      if (kind === 'create') rows.at(-1)!.onlyByMark = true
      // What it brings back looks as if our later update had been ignored.
      if (kind === 'update') this.#ignored.add(key)
      for (const row of kind === 'update' ? rows : []) {
        Object.assign(row, { edited: true, editedAt: isOther ? this.#time.now : row.editedAt })
        if (!row.seen) row.tainted = judged
      }
    }
  }

  repeated({ kind, keys }: WriteCall): void {
    // Without an idempotency key nobody can prevent it.
    if (kind === 'create') for (const key of keys) this.#mayBeTwice.add(key)
  }

  deleted(key: string, call: WriteCall): void {
    const { feed, at, clock } = call
    if (call.rows !== undefined) {
      if (this.service.living(key).length === 0) this.fail(`2: the last copy of ${key} is taken off`)
      return
    }
    const known = this.#known.get(call)!
    if (feed === this.feed && at >= this.#startedAt) this.#taken.add(key)
    this.#letGo.delete(`${feed} ${key}`)
    // What was sent before the store was lost, or by another program, is in no ledger of this one.
    if (at <= this.#lostAt || call.program !== this.place) return
    const isBelieved = (this.#goneSince.get(`${feed} ${key}`) ?? clock) <= clock - this.believedAfter
    const isFree = isBelieved || known.approved.has(`delete ${key}`)
    const isRenumbered = known.delivery.holds.has(otherSpelling(key))
    this.#deleted.push({ feed, key, at, clock, begun: known.begun, isRenumbered, isFree })
    if (isFree) return
    // The first load is no loss, whatever it lacks, and however late.
    if (known.isFirstLoad || !this.#loaded.has(feed) || !this.countsDeletes) return
    const counts = ({ isFree: is, begun }: Deleted): boolean => !is && begun > known.begun - 24 * hour + 5 * minute
    const inADay = this.#deletedInADay(feed, call, counts)
    const left = this.#deletedInADay(feed, call, (deleted) => counts(deleted) && !deleted.isRenumbered)
    const mostOf = (isRare: boolean): number =>
      Math.max(...this.#sizesWith(known.ours, inADay).map((ours) => allowed(ours, isRare)))
    const most = mostOf(known.isRare)
    // What comes again under another number counts apart, where both are in one plan, and went when more may have gone.
    const tooMany = left.size > most ? left : inADay.size > most + mostOf(true) ? inADay : null
    if (tooMany !== null) this.fail(`5: ${tooMany.size} deletes in 24 hours (${[...tooMany].join()}), ${most} allowed`)
  }

  /** How many listings of a feed there may be, with those that left: all that lies between the least and the most. */
  #sizesWith(ours: readonly ReadonlySet<string>[], left: ReadonlySet<string>): number[] {
    const sizes = ours.map((some) => new Set([...some, ...left]).size)
    // Of so few that a list shows, all may change.
    const least = Math.min(...sizes, this.#isListTrue ? Infinity : 2)
    // The list of the run shows also what a person made since it began.
    const made = this.service.rows.filter(({ by, writtenAt }) => by === 'person' && writtenAt >= this.#startedAt)
    return Array.from({ length: Math.max(...sizes) + made.length - least + 1 }, (_, more) => least + more)
  }

  /** What left up to a moment and within 24 hours before it: after the clock was set back, also what it says is still to come. */
  #deletedInADay(
    feed: string,
    now: Pick<WriteCall, 'at' | 'clock'>,
    counts: (deleted: Deleted) => boolean = () => true,
  ): Set<string> {
    const isLate = ({ at, clock }: Deleted): boolean => clock > now.clock - 24 * hour && at <= now.at
    const some = this.#deleted.filter((deleted) => deleted.feed === feed && isLate(deleted) && counts(deleted))
    return new Set(some.map(({ key }) => key))
  }

  /** Made by a person after our delete, before the program looked: it can't tell that from a delete that did nothing. */
  #isMadeAgain(key: string): boolean {
    const { at } = this.#deleted.findLast((deleted) => deleted.key === key)!
    return this.service.living(key).some(({ by, writtenAt }) => by === 'person' && writtenAt >= at)
  }

  /** Whether lists show what is there in this history. */
  get #isListTrue(): boolean {
    const { service, mishaps } = this.#swarm
    return service.glitch === 0 && service.order !== 'shifting' && !walks.some(({ name }) => mishaps[name] > 0)
  }

  /**
   * What another program made, or what landed when nobody waited any more (docs/faults.md, A1), and the list of this run did not
   * show nobody can know of; it has to be told from then on. Nor of what a look-up by pages misses, as somebody makes a listing
   * anew meanwhile, or deletes one: the others move up.
   */
  #isHidden({ program, onlyByMark, shownAt }: Row): boolean {
    if (this.#isMovingUp || this.#isLossHidden) return true
    return (program !== this.place || onlyByMark) && shownAt < Math.max(this.#startedAt + 1, this.service.walkedAt)
  }

  /** Whether the store was lost, and the list of this run showed no mark of the feed: nobody can know that it was. */
  get #isLossHidden(): boolean {
    const from = Math.max(this.#startedAt, this.service.walkedAt)
    const isMarkShown = ({ by, feed, shownAt }: Row): boolean => by === 'us' && feed === this.feed && shownAt >= from
    return this.#lostAt > 0 && !this.#loaded.has(this.feed) && !this.service.rows.some(isMarkShown)
  }

  /** Whether rows may have moved up under a look-up by pages, as a person made a listing anew, or deleted one, in this run. */
  get #isMovingUp(): boolean {
    const isNew = ({ by, writtenAt }: Row): boolean => by === 'person' && writtenAt >= this.#startedAt
    const isMoved = this.service.removedAt >= this.#startedAt || this.service.rows.some(isNew)
    return this.#swarm.service.lookUp !== 'exact' && isMoved
  }

  #judgeCreate(key: string): void {
    const there = this.service.living(key).filter(({ by }) => by === 'us')
    if (there.some((row) => !this.#isHidden(row))) this.fail(`3: ${key} created, though ours is there`)
    else if (there.length > 0) this.#mayBeTwice.add(key)
    const landing = [...this.service.underWay].filter(
      ({ kind, keys, program }) => kind === 'create' && keys.includes(key) && program === this.place,
    )
    if (landing.some((call) => this.#mayLand(call)))
      this.fail(`3: ${key} created, though an earlier create may still land`)
  }

  /** Where nothing shows its end, the delivery before has to lack it, too: any that came since a run took the last one in. */
  #lackedBefore(key: string): boolean {
    return this.#arrived
      .get(this.feed)!
      .slice(0, -1)
      .some((keys) => !keys.has(key))
  }

  #judgeDelete(key: string): void {
    const { holds, unreadable, saidGone, whole, isUnframed } = this.delivery
    // What a person let go, or every delivery lacked for long enough, goes though this one is empty.
    const isBelieved = (this.#goneSince.get(`${this.feed} ${key}`) ?? Infinity) <= this.#time.clock - this.believedAfter
    const isApproved = this.approved.has(`delete ${key}`)
    const isLetGo = this.delivery.records === 0 ? isBelieved || isApproved : isApproved && unreadable.has(key)
    const cameBack = unreadable.has(key) && this.disk.cameKeylessAfter(this.feed, key)
    // Cut where nothing shows it, one that came back just now looks as the delivery before did, which lacked it.
    const isCutAway = isUnframed === true && !this.delivery.arrives!.has(key) && this.#lackedBefore(key)
    // A run that was killed did it, and the next one, which can't know, does it again.
    const isDone = this.service.living(key).length === 0
    if (holds.has(key) && !isLetGo && !cameBack && !isCutAway && !isDone)
      this.fail(`2: delete of ${key}, which the feed holds`)
    const isProven = isUnframed ? this.#lackedBefore(key) : whole
    if (!isProven && !saidGone.has(key)) this.fail(`delete of ${key} by its absence from a delivery that is not whole`)
    const absent = this.#absences.get(key) ?? Infinity
    // A home that came under another number is not absent, and must not be there twice for a time of grace. What was approved
    // needs none.
    if (!saidGone.has(key) && !isApproved && !holds.has(otherSpelling(key)) && absent < this.#swarm.grace)
      this.fail(`grace: delete of ${key}, absent from ${absent} deliveries of ${this.#swarm.grace}`)
    const rows = this.service.living(key)
    // F123: a look-up of this run showed what its list had not.
    const isKnown = ({ shownAt, editedAt, lookedUpAt }: Row): boolean =>
      editedAt > shownAt && lookedUpAt > Math.max(editedAt, this.#startedAt)
    if (rows.some(isKnown)) this.fail(`delete of ${key}, which a person edited after the list, as a look-up had shown`)
    if (this.#isListTrue && rows.length > 1 && rows.every(({ shownAt }) => shownAt >= this.#startedAt))
      this.fail(`1: delete of ${key}, which the list showed ${rows.length} times`)
  }

  /** A run has ended and says so. */
  ended(report: Report): void {
    const [startedAt, clockAtStart] = [this.#startedAt, this.#clockAtStart]
    const present = { at: this.#time.now, clock: this.#time.clock }
    const { delivery, counts } = report
    // One whose end nothing shows says nothing until the next one ends like it.
    if (this.delivery.arrives && report.error === null && report.command !== 'diff')
      this.#arrived.set(this.feed, [this.delivery.arrives])
    if (this.delivery.isUnframed && !delivery.complete) this.delivery = { ...this.delivery, whole: false }
    const { records, listings, removals, filtered, duplicates, rejects } = delivery
    this.trace(
      `  ended ${report.result} ${report.digest}${report.error === null ? '' : `: ${report.error}`} ${JSON.stringify(counts)}`,
    )
    if (report.notes.length > 0) this.trace(`  ${report.notes.join('\n    ')}`)
    const changes = [...report.changes()]
    for (const { kind, mlsNumber, why, outcome } of changes)
      this.trace(`    ${kind} ${mlsNumber}: ${why}${outcome ? `: ${outcome.result} ${outcome.error ?? ''}` : ''}`)
    if (tellsOfClock(report) && !this.#wasClockSet) this.fail('clock: it is said to be wrong, and was always right')
    if (records !== listings + removals + filtered + duplicates + rejects)
      this.fail(`7: records ${JSON.stringify(delivery)}`)
    const { records: all, partly, replaced } = this.delivery
    const least = all - (replaced?.size ?? 0)
    // What tells the price alone of what is not known is a reject, and no new word on what is pending.
    if (delivery.complete && (records < least || records > all + (partly?.size ?? 0)))
      this.fail(`7: ${records} records of ${all} delivered`)
    const isListTrue = this.#isListTrue && this.#swarm.ownership !== 'mirror'
    // What a wrong clock noted counts from this run on.
    const counted = tellsOfClock(report) ? { ...present, clock: present.clock - 24 * hour } : present
    const leftInADay = this.#deletedInADay(this.feed, counted, (deleted) => !deleted.isFree)
    if (report.command !== 'diff')
      this.#guard.ended({
        report,
        delivery: this.delivery,
        startedAt: clockAtStart,
        believedAfter: this.believedAfter,
        approved: this.approved,
        sizes: this.#sizesWith(this.#ours, leftInADay),
        // What left and is back within a day stays.
        ours: isListTrue
          ? new Set([...this.#ours[2], ...[...leftInADay].filter((key) => isIn(this.delivery, key))])
          : null,
        shown: this.#rows.flatMap(({ shownAt, listing: { MLSNumber: key } }) =>
          shownAt >= startedAt && this.service.living(key).length < 2 ? key : [],
        ),
        owned: this.#owned,
        isFirstLoad: this.#isFirstLoad,
        isRare: this.#isRare,
      })
    const isBelieved = believes(report)
    const isComplete = this.delivery.whole || (this.delivery.isDelta === true && this.delivery.records >= 0)
    if (isComplete && report.error === null && report.command !== 'diff') {
      const { done = 0, unknown = 0, skipped = 0 } = report.applied?.outcomes ?? {}
      if (unknown + skipped <= Math.max(2, done)) this.#wholeAt.set(this.feed, clockAtStart)
      if (isBelieved && report.applied?.outcomes.skipped === 0 && delivery.listings > 0) this.#loaded.add(this.feed)
    }
    // Only what a whole run was told ends what was said before.
    const isTold = this.delivery.whole || (this.delivery.isDelta === true && delivery.complete)
    if (isTold && report.digest !== '' && report.remote.complete && report.command === 'sync')
      for (const key of this.delivery.holds) if (isIn(this.delivery, key)) this.#goneSince.delete(`${this.feed} ${key}`)
    // A dry run remembers nothing.
    if (report.error === null && this.delivery.whole && report.command !== 'diff')
      for (const key of this.delivery.holds) if (isIn(this.delivery, key)) this.#absences.set(key, 0)
    if (report.remote.pages > 0 && counts.create + counts.update + counts.adopt + counts.hold + counts.unchanged > 0) {
      const entries = changes.filter(
        ({ kind, cause, held }) =>
          kind === 'create' ||
          kind === 'update' ||
          kind === 'adopt' ||
          (kind === 'hold' && held !== 'forget' && !(held === 'delete' && cause !== 'in-flight')),
      )
      if (delivery.complete && entries.length + counts.unchanged !== listings)
        this.fail(`7: ${listings} listings, but ${entries.length} changes and ${counts.unchanged} unchanged`)
      for (const { kind, outcome, mlsNumber } of changes)
        if (report.applied !== null && report.error === null && kind !== 'hold' && outcome === null)
          this.fail(`7: no outcome for ${kind} ${mlsNumber}`)
    }
    const inADay = new Set([...this.#deletedInADay(this.feed, present)].filter((key) => !this.#isMadeAgain(key)))
    if (inADay.size > 0 && this.disk.deletedSince(this.feed, this.#time.clock - 24 * hour) < inADay.size)
      this.fail(`5: ${[...inADay].join()} were deleted in 24 hours, and the ledger has fewer`)
    for (const { kind, mlsNumber: key, outcome } of changes)
      if (
        kind === 'delete' &&
        outcome?.result === 'done' &&
        this.#taken.has(key) &&
        !this.disk.hasLeft(this.feed, key, clockAtStart)
      )
        this.fail(`ledger: ${key} was taken off, and nothing says that it left`)
    const created = changes.filter(({ kind, outcome }) => kind === 'create' && outcome?.result === 'done')
    for (const { mlsNumber } of created) {
      const old = changes.find((change) => change.mlsNumber === otherSpelling(mlsNumber))
      if (old?.kind === 'hold' && old.held === 'delete' && old.cause === 'guard')
        this.fail(`home: ${mlsNumber} was created, and the same home stays as ${old.mlsNumber}`)
    }
    // A run that is not whole ends no hold: an approval of what the feed no longer wants stays. A delete wants nothing else.
    const isWhole = this.delivery.whole && report.remote.complete && report.command === 'sync'
    // Where the disk was full, what is approved of a change that the feed wants otherwise by now could not be ended.
    const mayBeEnded = isWhole && !/disk is full/.test(report.error ?? '')
    if (report.digest !== '' && report.command !== 'diff') this.#noteHeld(changes, mayBeEnded && isBelieved)
    const lacksOurs = changes.some(({ kind, cause }) => kind === 'create' && cause === 'gone-from-service')
    const stillApproved = this.disk.approved(this.feed, this.#time.clock)
    for (const { kind, mlsNumber, cause, outcome } of changes) {
      const isApproved = this.approved.has(`${kind} ${mlsNumber}`) && stillApproved.has(`${kind} ${mlsNumber}`)
      if (outcome?.result === 'done' && isApproved && (mayBeEnded || kind === 'delete'))
        this.fail(`approval: ${kind} of ${mlsNumber} is done, and approved once more`)
      // What an old list shows once more looks as if our update had been ignored, too.
      const isSentAgain = this.#wasIgnored.has(mlsNumber) || !this.#shownTruly.has(mlsNumber)
      if (kind === 'update' && cause === 'drifted' && this.#swarm.drift !== 'overwrite' && !isSentAgain)
        this.fail(`drift: update of ${mlsNumber} against drift: ${this.#swarm.drift}`)
      // How it is shown could not be noted, so what a person makes of it looks the same.
      if (kind === 'update' && outcome?.result === 'done' && /disk is full/.test(report.error ?? ''))
        this.#ignored.add(mlsNumber)
      if (kind === 'delete' && cause === 'absent' && !report.remote.complete)
        this.fail(`delete of ${mlsNumber} by its absence under an incomplete list`)
      if (kind === 'delete' && report.command === 'backfill') this.fail(`delete of ${mlsNumber} by a backfill`)
      const isOurs = ({ by, feed, writtenAt }: Row): boolean =>
        by === 'us' && feed === this.feed && writtenAt < startedAt
      if (kind === 'forget' && outcome?.result === 'done' && this.service.living(mlsNumber).some(isOurs))
        this.fail(`${mlsNumber} forgotten, though it is there`)
      // A look-up by pages missed it, as others moved up meanwhile.
      if (kind === 'delete' && outcome?.result === 'done' && this.#isMovingUp)
        for (const row of this.service.living(mlsNumber)) row.onlyByMark = true
      const isCreated = kind === 'create' && outcome?.result === 'done'
      if (isCreated && (lacksOurs || !report.remote.complete) && !this.#lookedUp.has(mlsNumber))
        this.fail(`3: ${mlsNumber} created without a look-up, though the list is in doubt`)
      const isDone = (kind === 'create' || kind === 'update') && outcome?.result === 'done'
      // Of what is held in part the rest alone is sent.
      const price = this.#prices.get(mlsNumber)
      const isSo = ({ by, listing }: Row): boolean => by === 'person' || listing.SalePrice === price
      const isThere =
        this.#affected.has(mlsNumber) || this.#ignored.has(mlsNumber) || this.service.living(mlsNumber).some(isSo)
      // What another program had made was found, and a person took it off since.
      const isOff = (this.service.removed.get(mlsNumber) ?? -Infinity) >= startedAt
      if (isDone && !isThere && !isOff) this.fail(`done: ${kind} of ${mlsNumber} had no effect`)
    }
    const named = new Set(changes.filter(({ kind }) => kind !== 'adopt').map(({ mlsNumber }) => mlsNumber))
    for (const row of this.service.rows) {
      const key = row.listing.MLSNumber
      // Of several walks that contradict each other only the last one counts, and it need not have shown the row.
      const isTold = report.delivery.complete && report.remote.complete && report.result !== 'failed'
      const looked = isTold && row.shownAt >= startedAt && row.writtenAt < startedAt
      if (looked && !named.has(key) && this.delivery.listings.has(key) && report.applied !== null) row.seen = true
    }
  }

  /**
   * A whole run that is believed says which deletes are held, and an approval ends where the listing is there again; any
   * other run adds to them.
   */
  #noteHeld(changes: readonly ReportedChange[], isTold: boolean): void {
    const isOfFeed = (key: string): boolean => key.startsWith(`${this.feed} `)
    if (isTold) for (const key of this.#held) if (isOfFeed(key)) this.#held.delete(key)
    for (const { kind, cause, held, mlsNumber } of changes) {
      const canBeApproved = cause === 'guard' || cause === 'unreadable'
      if (kind === 'hold' && held === 'delete' && canBeApproved) this.#held.add(`${this.feed} ${mlsNumber}`)
    }
    if (!isTold) return
    for (const key of this.delivery.holds) if (isIn(this.delivery, key)) this.#letGo.delete(`${this.feed} ${key}`)
  }

  /** Invariant 4, on a clean delivery: what the service holds is what the feed holds. `told`: the holds, as `cause MLSNumber`. */
  converged(delivery: Delivery, version: number, stuck: ReadonlySet<string>, reported: ReadonlySet<string>): void {
    const { ownership, drift } = this.#swarm
    const alone = ownership === 'mirror'
    const isAnothers = ({ by, feed }: Row): boolean => by === 'us' && feed !== this.feed
    // Where a run was killed before it could look, or an old list came after it, an update that was ignored and an edit of it look
    // the same to the next one.
    // A create that landed when nobody waited any more looks like an edit of the one that took its place.
    const mayDiffer = ({ by, edited, onlyByMark, listing: { MLSNumber: key } }: Row): boolean => {
      const isTold = reported.has(`drifted ${key}`)
      const isLate = onlyByMark && (isTold || drift === 'keep')
      return drift !== 'overwrite' && (edited || by === 'person' || isLate || (this.#everIgnored.has(key) && isTold))
    }
    for (const [key, entry] of delivery.listings) {
      const rows = this.service.living(key)
      if (stuck.has(key) || rows.some((row) => (row.by === 'south' && !alone) || isAnothers(row))) continue
      if (rows.length > 1 && rows.some(({ by }) => by === 'person')) continue
      if (rows.length > 1 && this.#mayBeTwice.has(key)) {
        if (!reported.has(`twice-shown ${key}`)) this.fail(`4: ${rows.length} rows for ${key}, and nobody is told`)
        continue
      }
      const old = otherSpelling(key)
      // It waits for its old number, which nothing but a person's repair can delete; where another feed has that, it says so itself.
      const isToldOf = reported.has(`twice-shown ${old}`) || reported.has(`other-number ${key}`)
      if (rows.length === 0 && isToldOf && this.service.living(old).length > 1) continue
      if (rows.length !== 1) this.fail(`4: ${rows.length} rows for ${key}`)
      else {
        // What a person changed before anybody saw it is taken for the service's own form: of that field alone nobody is told.
        const difference = differenceOf(rows[0], entry, entry.version ?? version)
        if (difference !== null && !mayDiffer(rows[0])) this.fail(`4: ${key} is not as in the feed: ${difference}`)
        if (ownership !== 'snapshot' && rows[0].by === 'us' && ownerOf(rows[0]) !== this.feed)
          this.fail(`4: ${key} has lost its mark`)
      }
    }
    const owned = new Set(this.disk.owned(this.feed))
    for (const row of this.service.rows) {
      const { by, listing, onlyByMark } = row
      // A delta that has said it says nothing of it again, so no mark is looked at.
      if (onlyByMark && (ownership === 'snapshot' || delivery.isDelta)) continue
      const key = listing.MLSNumber
      // Nor of what a create without answer made, and the one list that settled it hid.
      if (delivery.isDelta && this.#mayHide && by === 'us' && !owned.has(key)) continue
      // What a delta does not say to be gone stays, whoever made it.
      if (
        isAnothers(row) ||
        (by !== 'us' && (!alone || delivery.isDelta)) ||
        (delivery.isDelta && !delivery.saidGone.has(key)) ||
        delivery.listings.has(key) ||
        stuck.has(key)
      )
        continue
      if (this.service.living(key).length === 1) this.fail(`4: ${key} was left behind`)
    }
  }
}

/** Whether a record that is pending is what the source said. */
function isSaidBy(record: Delivered, said: Said): boolean {
  if (record.kind !== 'listing' || said === null) return record.kind !== 'listing' && said === null
  const { SalePrice, Description = null } = record.listing
  return SalePrice === said.price && Description === said.text
}

const calendars = new Map<string, Intl.DateTimeFormat>()
/** The day in a zone, YYYY-MM-DD. */
function dayIn(timezone: string, instant: number): string {
  const calendar = calendars.get(timezone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: timezone })
  calendars.set(timezone, calendar)
  return calendar.format(instant)
}

function differenceOf({ listing, tainted }: Row, entry: Entry, version: number): string | null {
  const wanted = listingOf(entry, version)
  const valueOf = (listing: typeof wanted, field: Judged): string | number | undefined =>
    field === 'Fee' ? feeOf(listing) : listing[field]
  for (const field of judged) {
    const [is, should] = [listing, wanted].map((listing) => valueOf(listing, field) ?? '')
    if (is !== should && !tainted.includes(field))
      return `${field} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}`
  }
  return null
}
