/** The invariants of DESIGN §3, judged as calls reach the service and when runs and histories end. */
import type { Report } from '../../src/report/report.ts'
import type { Disk } from './disk.ts'
import { feedKeys, listingOf } from './feed.ts'
import type { Delivery, Entry } from './feed.ts'
import { ownerOf } from './service.ts'
import type { ModelService, Row, Witness, WriteCall } from './service.ts'
import { feedName, hour, Violation } from './world.ts'
import type { Swarm } from './world.ts'

/** Most deletes in 24 hours: the guard's percentage of so few listings is always less than its floor. */
export const deleteFloor = 4

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
  /** Most deletes in 24 hours that no approval covers. */
  mostDeletes = deleteFloor
  #swarm!: Swarm
  #startedAt = 0
  /** When the calls of the last second went out. */
  #sent: number[] = []
  #waitUntil = 0
  #lostAt = 0
  /** In how many whole deliveries running a listing was absent: at least as many as the program can have counted. */
  #absences = new Map<string, number>()
  #everListed = new Set<string>()
  readonly #past = new Map<string, { absences: Map<string, number>; everListed: Set<string> }>()
  /** What was approved when a call arrived. */
  readonly #approvals = new WeakMap<WriteCall, ReadonlySet<string>>()
  /** Records of the smallest whole delivery so far, of each feed. */
  readonly #smallest = new Map<string, number>()
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
    for (const key of delivery.listings.keys()) this.#everListed.add(key)
    if (!delivery.whole) return
    for (const key of new Set([...feedKeys, ...this.#everListed]))
      if (!delivery.holds.has(key)) this.#absences.set(key, (this.#absences.get(key) ?? 0) + 1)
  }

  /** The store was lost, and the ledger with it. */
  storeLost(): void {
    this.#deleted = []
    this.#smallest.clear()
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
    this.#approvals.set(call, this.approved)
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

  /** Nothing may be taken for known of a listing while an earlier call may still change it (fault-model I5). */
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
    // What was sent before the store was lost is in no ledger.
    if (at <= this.#lostAt || this.#approvals.get(call)?.has(`delete ${key}`) === true) return
    this.#deleted.push({ feed, key, at })
    const inADay = this.#deletedInADay(feed, at)
    if (inADay.size > this.mostDeletes)
      this.fail(`5: ${inADay.size} deletes in 24 hours (${[...inADay].join()}), ${this.mostDeletes} allowed`)
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
    const { holds, saidGone, whole, records } = this.delivery
    if (holds.has(key)) this.fail(`2: delete of ${key}, which the feed holds`)
    if (!whole && !saidGone.has(key)) this.fail(`delete of ${key} by its absence from a delivery that is not whole`)
    const absent = this.#absences.get(key) ?? Infinity
    if (!saidGone.has(key) && absent < this.#swarm.grace)
      this.fail(`grace: delete of ${key}, absent from ${absent} deliveries of ${this.#swarm.grace}`)
    const isApproved = [...this.approved].some((one) => one.startsWith('delete '))
    if (!saidGone.has(key) && !isApproved && records * 2 < (this.#smallest.get(this.feed) ?? 0))
      this.fail(
        `shrink: delete of ${key} by its absence from ${records} records, of never less than ${this.#smallest.get(this.feed)}`,
      )
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
    // A run that never came to a plan remembers nothing of its delivery.
    if (this.delivery.whole && report.digest !== '' && report.command !== 'diff')
      this.#smallest.set(this.feed, Math.min(this.#smallest.get(this.feed) ?? Infinity, this.delivery.records))
    // Nor does a dry run.
    if (report.error === null && this.delivery.whole && report.command !== 'diff')
      for (const key of this.delivery.holds) this.#absences.set(key, 0)
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
    const lacksOurs = changes.some(({ kind, cause }) => kind === 'create' && cause === 'gone-from-service')
    const stillApproved = this.disk.approved(this.feed, this.#now())
    for (const { kind, mlsNumber, cause, outcome } of changes) {
      const isApproved = this.approved.has(`${kind} ${mlsNumber}`) && stillApproved.has(`${kind} ${mlsNumber}`)
      if (outcome?.result === 'done' && isApproved)
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

function differenceOf({ listing }: Row, entry: Entry, version: number): string | null {
  const wanted = listingOf(entry, version)
  for (const field of ['SalePrice', 'Url', 'Description'] as const)
    if ((listing[field] ?? '') !== (wanted[field] ?? '')) return `${field} is ${listing[field]}, not ${wanted[field]}`
  const fee = (one: typeof wanted): string =>
    (one.ExtensionColumn ?? []).map(({ Key, value }) => (Key === 'Fee' ? value : '')).join('')
  return fee(listing) === fee(wanted) ? null : `the fee is ${fee(listing)}, not ${fee(wanted)}`
}
