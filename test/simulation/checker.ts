/** The invariants of docs/design.md, judged as calls reach the service and when runs and histories end. */
import type { Report } from '../../src/report/report.ts'
import type { Disk } from './disk.ts'
import { feedKeys, listingOf } from './feed.ts'
import type { Delivery, Entry } from './feed.ts'
import { GuardModel, allowed, believedAfter, isIn, rareAfter } from './guard-model.ts'
import { ownerOf } from './service.ts'
import type { ModelService, Row, Witness, WriteCall } from './service.ts'
import { feedName, hour, Violation } from './world.ts'
import type { Swarm } from './world.ts'

export class Checker implements Witness {
  /** The feed whose run is under way or was the last. */
  feed = feedName
  run = 0
  service!: ModelService
  disk!: Disk
  delivery!: Delivery
  dry = false
  /** The first violation; a run must not be able to swallow it. */
  violation: Violation | null = null
  writes = 0
  /** Whether deletes in 24 hours are counted at all. */
  countsDeletes = true
  #swarm!: Swarm
  #startedAt = 0
  /** MLSNumbers of the feed when its run began, at least and at most. */
  #ours: readonly Set<string>[] = []
  /** When the calls of the last second went out. */
  #sent: number[] = []
  #waitUntil = 0
  #lostAt = 0
  /** In how many whole deliveries running a listing was absent: at least as many as the program can have counted. */
  #absences = new Map<string, number>()
  #everListed = new Set<string>()
  readonly #past = new Map<string, { absences: Map<string, number>; everListed: Set<string> }>()
  /** What was approved when a call arrived, and how many were the feed's. */
  readonly #known = new WeakMap<WriteCall, { approved: ReadonlySet<string>; ours: readonly Set<string>[] }>()
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
  /** Since when each listing is gone from the whole deliveries of its feed. */
  readonly #goneSince = new Map<string, number>()
  #deleted: { feed: string; key: string; at: number }[] = []
  #keysRefused = false
  /** MLSNumbers on which a create or update of this run had an effect. */
  #affected = new Set<string>()
  /** MLSNumbers that this run looked up. */
  #lookedUp = new Set<string>()
  /** Approved deletes count for nothing. */
  approved: ReadonlySet<string> = new Set()
  readonly #trace: string[] | null
  readonly #now: () => number

  constructor(trace: string[] | null, now: () => number) {
    this.#trace = trace
    this.#now = now
  }

  trace(line: string): void {
    this.#trace?.push(`${new Date(this.#now()).toISOString().slice(5, 19)} ${line}`)
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
    this.#startedAt = this.#now()
    this.#sent = []
    this.#waitUntil = 0
    this.delivery = delivery
    this.dry = dry
    this.#keysRefused = false
    this.#affected = new Set()
    this.#lookedUp = new Set()
    this.approved = this.disk.approved(this.feed, this.#now())
    const keysOf = (rows: readonly Row[]): Set<string> => new Set(rows.map(({ listing }) => listing.MLSNumber))
    const isOurs = ({ by, feed: whose }: Row): boolean =>
      swarm.ownership === 'mirror' || (by === 'us' && whose === feed)
    const ours = this.service.rows.filter(isOurs)
    // What a person made in the place of ours is taken for ours where nothing says whose it is.
    const inPlace = this.service.rows.filter(
      ({ by, listing }) => by === 'person' && this.#everListed.has(listing.MLSNumber),
    )
    // Under an incomplete list the program goes by what it remembers.
    this.#ours = [keysOf(ours), keysOf([...ours, ...inPlace]), new Set([...keysOf(ours), ...this.disk.owned(feed)])]
    this.#owned = new Set(this.disk.owned(feed))
    const hasMark = (row: Row): boolean => swarm.ownership === 'snapshot' || ownerOf(row) === feed
    const isSure = (row: Row): boolean => {
      const key = row.listing.MLSNumber
      return row.by === 'us' && this.#owned.has(key) && hasMark(row) && this.service.living(key).length === 1
    }
    this.#rows = ours.filter(isSure)
    this.#isFirstLoad = !this.#loaded.has(feed)
    this.#isRare = this.#startedAt - (this.#wholeAt.get(feed) ?? Infinity) > rareAfter
    this.#taken = new Set()
    for (const key of delivery.listings.keys()) this.#everListed.add(key)
    const keys = new Set([...feedKeys, ...this.#everListed])
    this.#guard.begin(feed, delivery, keys, this.#now())
    if (!delivery.whole) return
    for (const key of keys)
      if (!isIn(delivery, key)) {
        this.#absences.set(key, (this.#absences.get(key) ?? 0) + 1)
        if (!this.#goneSince.has(`${feed} ${key}`)) this.#goneSince.set(`${feed} ${key}`, this.#now())
      }
  }

  /** A person lets through what is held. */
  approves(feed: string): void {
    this.#guard.approves(feed)
  }

  /** The store was lost, and the ledger with it. */
  storeLost(): void {
    this.#deleted = []
    this.#wholeAt.clear()
    this.#loaded.clear()
    this.#guard.storeLost()
    this.#lostAt = this.#now()
  }

  affected(key: string): void {
    this.#affected.add(key)
  }

  lookedUp(key: string): void {
    this.#lookedUp.add(key)
  }

  refusedKeys(): void {
    this.#keysRefused = true
  }

  sent(kind: string): void {
    const now = this.#now()
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
    this.#known.set(call, { approved: this.approved, ours: this.#ours })
    this.#guard.arrived(call)
    this.writes++
    this.trace(`  ${kind} ${keys.join()}`)
    if (this.dry) this.fail(`6: a dry run called ${kind}`)
    for (const key of keys) {
      if (this.disk.row(key)?.flight !== kind) this.fail(`mark: ${kind} of ${key} without its mark in the store`)
      const alone = this.#swarm.ownership === 'mirror'
      if (!this.#everListed.has(key) && !alone) this.fail(`1: ${kind} of ${key}, which the feed never held`)
      if (!alone && this.service.living(key).some((row) => row.by === 'south' && ownerOf(row) === 'south'))
        this.fail(`1: ${kind} of ${key}, which another feed has`)
      const others = this.service.living(key).find((row) => row.by === 'us' && row.feed !== this.feed)
      if (others !== undefined) this.fail(`1: ${kind} of ${key} by ${this.feed}, though ${others.feed} has it`)
      if (kind === 'delete') this.#judgeDelete(key)
      else if (!this.delivery.holds.has(key)) this.fail(`${kind} of ${key}, which the feed does not hold`)
      if (kind === 'create') this.#judgeCreate(key)
    }
  }

  /** Nothing may be taken for known of a listing while an earlier call may still change it. */
  landsLate({ kind, keys, at }: WriteCall): void {
    if (at <= this.#lostAt) return
    for (const key of keys) {
      // What lands on nothing changes nothing.
      if (kind !== 'create' && this.service.living(key).length === 0) continue
      const row = this.disk.row(key)
      const expected =
        row !== null && row.suspectUntil !== null && row.suspectUntil > this.#now() && row.baseline === null
      if (row === null || (row.flight === null && !expected))
        this.fail(`late: a ${kind} of ${key} lands, and the store does not expect it`)
    }
  }

  deleted(key: string, call: WriteCall): void {
    const { feed, at } = call
    const known = this.#known.get(call)!
    if (feed === this.feed && at >= this.#startedAt) this.#taken.add(key)
    // What was sent before the store was lost is in no ledger.
    if (at <= this.#lostAt || known.approved.has(`delete ${key}`)) return
    if ((this.#goneSince.get(`${feed} ${key}`) ?? at) <= at - believedAfter) return
    this.#deleted.push({ feed, key, at })
    // The first load is no loss, whatever it lacks.
    if (!this.#loaded.has(feed) || !this.countsDeletes) return
    const inADay = this.#deletedInADay(feed, at)
    const wholeAt = this.#wholeAt.get(feed) ?? at
    const most = Math.max(...sizesWith(known.ours, inADay).map((ours) => allowed(ours, at - wholeAt > rareAfter)))
    if (inADay.size > most) this.fail(`5: ${inADay.size} deletes in 24 hours (${[...inADay].join()}), ${most} allowed`)
  }

  #deletedInADay(feed: string, at: number): Set<string> {
    const counted = this.#deleted.filter((one) => one.feed === feed && one.at > at - 24 * hour && one.at <= at)
    return new Set(counted.map(({ key }) => key))
  }

  /** Made by a person after our delete, before the program looked: it can't tell that from a delete that did nothing. */
  #isMadeAgain(key: string): boolean {
    const { at } = this.#deleted.findLast((one) => one.key === key)!
    return this.service.living(key).some(({ by, writtenAt }) => by === 'person' && writtenAt >= at)
  }

  #judgeCreate(key: string): void {
    if (this.service.living(key).some((row) => row.by === 'us')) this.fail(`3: ${key} created, though ours is there`)
    if ((this.service.landing.get(key) ?? 0) > 0)
      this.fail(`3: ${key} created, though an earlier create may still land`)
  }

  #judgeDelete(key: string): void {
    const { holds, unreadable, saidGone, whole } = this.delivery
    // What a person let go, or every delivery lacked for long enough, goes though this one is empty.
    const isBelieved = (this.#goneSince.get(`${this.feed} ${key}`) ?? Infinity) <= this.#now() - believedAfter
    const isApproved = this.approved.has(`delete ${key}`)
    const isLetGo = this.delivery.records === 0 ? isBelieved || isApproved : isApproved && unreadable.has(key)
    const cameBack = unreadable.has(key) && this.disk.cameKeylessAfter(this.feed, key)
    if (holds.has(key) && !isLetGo && !cameBack) this.fail(`2: delete of ${key}, which the feed holds`)
    if (!whole && !saidGone.has(key)) this.fail(`delete of ${key} by its absence from a delivery that is not whole`)
    const absent = this.#absences.get(key) ?? Infinity
    if (!saidGone.has(key) && absent < this.#swarm.grace)
      this.fail(`grace: delete of ${key}, absent from ${absent} deliveries of ${this.#swarm.grace}`)
    const rows = this.service.living(key)
    // F123: a look-up of this run showed what its list had not.
    if (rows.some(({ shownAt, editedAt, lookedUpAt }) => editedAt > shownAt && lookedUpAt > editedAt))
      this.fail(`delete of ${key}, which a person edited after the list, as a look-up had shown`)
    const isListTrue = this.#swarm.service.glitch === 0 && this.#swarm.service.order !== 'shifting'
    if (isListTrue && rows.length > 1 && rows.every(({ shownAt }) => shownAt >= this.#startedAt))
      this.fail(`1: delete of ${key}, which the list showed ${rows.length} times`)
  }

  /** A run has ended and says so. */
  ended(report: Report, startedAt: number): void {
    const { delivery, counts } = report
    const { records, listings, removals, filtered, duplicates, rejects } = delivery
    this.trace(
      `  ended ${report.result} ${report.digest}${report.error === null ? '' : `: ${report.error}`} ${JSON.stringify(counts)}`,
    )
    if (report.notes.length > 0) this.trace(`  ${report.notes.join('\n    ')}`)
    const changes = [...report.changes()]
    for (const { kind, mlsNumber, why, outcome } of changes)
      this.trace(`    ${kind} ${mlsNumber}: ${why}${outcome ? `: ${outcome.result} ${outcome.error ?? ''}` : ''}`)
    if (records !== listings + removals + filtered + duplicates + rejects)
      this.fail(`7: records ${JSON.stringify(delivery)}`)
    if (delivery.complete && records !== this.delivery.records)
      this.fail(`7: ${records} records of ${this.delivery.records} delivered`)
    const { glitch, order } = this.#swarm.service
    const isListTrue = glitch === 0 && order !== 'shifting' && this.#swarm.ownership !== 'mirror'
    if (report.command !== 'diff')
      this.#guard.ended({
        report,
        delivery: this.delivery,
        startedAt,
        approved: this.approved,
        sizes: sizesWith(this.#ours, this.#deletedInADay(this.feed, this.#now())),
        ours: isListTrue ? this.#ours[2] : null,
        rows: this.#rows.filter(({ listing }) => this.service.living(listing.MLSNumber).length < 2),
        owned: this.#owned,
        isFirstLoad: this.#isFirstLoad,
        isRare: this.#isRare,
      })
    if (this.delivery.whole && report.error === null && report.command !== 'diff') {
      this.#wholeAt.set(this.feed, startedAt)
      const asks = report.holds.some(({ rule }) => rule === 'older' || rule === 'unrecognisable')
      if (!asks && report.applied?.outcomes.skipped === 0 && delivery.listings > 0) this.#loaded.add(this.feed)
    }
    // Only what a whole run was told ends what was said before.
    if (this.delivery.whole && report.digest !== '' && report.remote.complete && report.command === 'sync')
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
    const inADay = new Set([...this.#deletedInADay(this.feed, this.#now())].filter((key) => !this.#isMadeAgain(key)))
    if (inADay.size > 0 && this.disk.deletedSince(this.feed, this.#now() - 24 * hour) < inADay.size)
      this.fail(`5: ${[...inADay].join()} were deleted in 24 hours, and the ledger has fewer`)
    for (const { kind, mlsNumber: key, outcome } of changes)
      if (
        kind === 'delete' &&
        outcome?.result === 'done' &&
        this.#taken.has(key) &&
        !this.disk.hasLeft(this.feed, key, startedAt)
      )
        this.fail(`ledger: ${key} was taken off, and nothing says that it left`)
    const lacksOurs = changes.some(({ kind, cause }) => kind === 'create' && cause === 'gone-from-service')
    // A run that is not whole ends no hold: an approval of what the feed no longer wants stays. A delete wants nothing else.
    const isWhole = delivery.complete && report.remote.complete && report.command === 'sync'
    const stillApproved = this.disk.approved(this.feed, this.#now())
    for (const { kind, mlsNumber, cause, outcome } of changes) {
      const isApproved = this.approved.has(`${kind} ${mlsNumber}`) && stillApproved.has(`${kind} ${mlsNumber}`)
      if (outcome?.result === 'done' && isApproved && (isWhole || kind === 'delete'))
        this.fail(`approval: ${kind} of ${mlsNumber} is done, and approved once more`)
      if (kind === 'update' && cause === 'drifted' && this.#swarm.drift !== 'overwrite')
        this.fail(`drift: update of ${mlsNumber} against drift: ${this.#swarm.drift}`)
      if (kind === 'delete' && cause === 'absent' && !report.remote.complete)
        this.fail(`delete of ${mlsNumber} by its absence under an incomplete list`)
      if (kind === 'delete' && report.command === 'backfill') this.fail(`delete of ${mlsNumber} by a backfill`)
      const isOurs = ({ by, writtenAt }: Row): boolean => by === 'us' && writtenAt < startedAt
      if (kind === 'forget' && outcome?.result === 'done' && this.service.living(mlsNumber).some(isOurs))
        this.fail(`${mlsNumber} forgotten, though it is there`)
      const isCreated = kind === 'create' && outcome?.result === 'done'
      if (isCreated && (lacksOurs || !report.remote.complete) && !this.#lookedUp.has(mlsNumber))
        this.fail(`3: ${mlsNumber} created without a look-up, though the list is in doubt`)
      const isDone = (kind === 'create' || kind === 'update') && outcome?.result === 'done'
      const price = this.delivery.listings.get(mlsNumber)?.price
      const isSo = ({ by, listing }: Row): boolean => by === 'person' || listing.SalePrice === price
      const isThere = this.#affected.has(mlsNumber) || this.service.living(mlsNumber).some(isSo)
      if (isDone && !isThere) this.fail(`done: ${kind} of ${mlsNumber} had no effect`)
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

  /** Invariant 4, on a clean delivery: what the service holds is what the feed holds. */
  converged(delivery: Delivery, version: number, stuck: ReadonlySet<string>): void {
    const { ownership, drift } = this.#swarm
    const alone = ownership === 'mirror'
    const isAnothers = ({ by, feed }: Row): boolean => by === 'us' && feed !== this.feed
    const mayDiffer = ({ by, edited }: Row): boolean => drift !== 'overwrite' && (edited || by === 'person')
    for (const [key, entry] of delivery.listings) {
      const rows = this.service.living(key)
      if (stuck.has(key) || rows.some((row) => (row.by === 'south' && !alone) || row.tainted || isAnothers(row)))
        continue
      if (rows.length > 1 && rows.some(({ by }) => by === 'person')) continue
      if (rows.length !== 1) this.fail(`4: ${rows.length} rows for ${key}`)
      else {
        const difference = differenceOf(rows[0], entry, version)
        if (difference !== null && !mayDiffer(rows[0])) this.fail(`4: ${key} is not as in the feed: ${difference}`)
        if (ownership !== 'snapshot' && rows[0].by === 'us' && ownerOf(rows[0]) !== this.feed)
          this.fail(`4: ${key} has lost its mark`)
      }
    }
    for (const row of this.service.rows) {
      const { by, listing, countedAsGone } = row
      if (countedAsGone && ownership === 'snapshot') continue
      const key = listing.MLSNumber
      if (isAnothers(row) || (by !== 'us' && !alone) || delivery.listings.has(key) || stuck.has(key)) continue
      if (this.service.living(key).length === 1) this.fail(`4: ${key} was left behind`)
    }
  }
}

/** How many listings of a feed there may be, with those that left: all that lies between the least and the most. */
function sizesWith(ours: readonly ReadonlySet<string>[], left: ReadonlySet<string>): number[] {
  const sizes = ours.map((some) => new Set([...some, ...left]).size)
  const least = Math.min(...sizes)
  return Array.from({ length: Math.max(...sizes) - least + 1 }, (_, more) => least + more)
}

function differenceOf({ listing }: Row, entry: Entry, version: number): string | null {
  const wanted = listingOf(entry, version)
  for (const field of ['SalePrice', 'Url', 'Description'] as const)
    if ((listing[field] ?? '') !== (wanted[field] ?? '')) return `${field} is ${listing[field]}, not ${wanted[field]}`
  const fee = (one: typeof wanted): string =>
    (one.ExtensionColumn ?? []).map(({ Key, value }) => (Key === 'Fee' ? value : '')).join('')
  return fee(listing) === fee(wanted) ? null : `the fee is ${fee(listing)}, not ${fee(wanted)}`
}
