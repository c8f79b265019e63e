/**
 * What the guard owes, told a second time: how many facts may change in 24 hours, how long a change waits, what an approval
 * covers, and that nothing goes out of a delivery that hardly anybody would recognise. It goes by deliveries, by calls and by
 * what reports say, and knows nothing of ledger, holds or plan.
 */
import type { Listing } from '../../src/core/listing.ts'
import type { Report } from '../../src/report/report.ts'
import { listingOf, otherSpelling } from './feed.ts'
import type { Delivery } from './feed.ts'
import type { WriteCall } from './service.ts'
import { hour, minute } from './time.ts'

/** `limits.share` of every feed, in percent. */
export const share = 20
/** After so long a feed is rare. */
export const rareAfter = 60 * hour
/** Where less of the site stays as it is, nobody would recognise it. */
const recognisable = 0.25

/** How many of so many may leave within 24 hours; `least`: of what is always allowed. */
export function allowed(ours: number, isRare: boolean, least = 3): number {
  if (ours < 3) return ours
  const times = isRare ? 2 : 1
  return Math.min(Math.max(least * times, Math.floor((ours * share * times) / 100)), Math.floor(ours / 2))
}

/** Whether a delivery shows an MLSNumber: one of no record lacks all. */
export function isIn({ holds, unreadable, records }: Delivery, key: string): boolean {
  return holds.has(key) && !unreadable.has(key) && records !== 0
}

/** Facts that change beyond belief, as the model's feeds have them. */
const facts = {
  price: ({ SalePrice: was = 0 }: Listing, { SalePrice: is = 0 }: Listing) =>
    was > 1 && (is <= 1 || Math.max(was / is, is / was) > 1.5),
  status: ({ Status: was }: Listing, { Status: is }: Listing) => was !== is,
  emptied: ({ Description: was = '' }: Listing, { Description: is = '' }: Listing) => was !== '' && is === '',
}
type Fact = keyof typeof facts
type Word = string | number | undefined
const kinds = Object.keys(facts) as Fact[]
/** What is said of a fact; a call clears a text by an empty one. */
const words: Record<Fact, (listing: Listing) => Word> = {
  price: ({ SalePrice }) => SalePrice,
  status: ({ Status }) => Status,
  emptied: ({ Description = '' }) => Description,
}
const wordOf = (fact: Fact, listing: Listing): Word => words[fact](listing)
/** How many may change it, however few there are. */
const least: Record<Fact, number> = { price: 1, status: 3, emptied: 1 }

/** Whether the delivery of a run was believed. */
export const believes = ({ holds }: Report): boolean =>
  !holds.some(({ rule }) => rule === 'older' || rule === 'unrecognisable')

/** Whether a report says that the clock was wrong, so that what was held before waits anew. */
export const tellsOfClock = ({ notes }: Report): boolean => notes.some((note) => note.startsWith('The clock was wrong'))

/** A run that has ended, and what it is judged by. */
export interface Judged {
  report: Report
  delivery: Delivery
  startedAt: number
  /** After so long what every delivery says is believed. */
  believedAfter: number
  /** What was approved as it began, as `part MLSNumber`. */
  approved: ReadonlySet<string>
  /** How many of ours there may be, with those that left within 24 hours: of fewer than three more may change than of three. */
  sizes: readonly number[]
  /** MLSNumbers that are this feed's; null: the list may show otherwise. */
  ours: ReadonlySet<string> | null
  /** Of those, the ones that surely are, are not there twice, and were shown in this run. */
  shown: readonly string[]
  /** MLSNumbers that the store knew for ours. */
  owned: ReadonlySet<string>
  /** No delivery was carried over whole before. */
  isFirstLoad: boolean
  isRare: boolean
}

/** Since when something is so, and how it is. */
type Since<How> = Map<string, Map<How, number>>

function begins<How>(all: Since<How>, key: string, how: How, at: number): void {
  const since = all.get(key) ?? new Map<How, number>()
  all.set(key, since)
  if (!since.has(how)) since.set(how, at)
}

/** When something was first so: in which run, and at what time by its clock. */
interface First {
  run: number
  at: number
}

/** What one feed says, and what came of it. */
class OfFeed {
  /** Since when what is said of each `fact MLSNumber` is so. */
  readonly said: Since<Word> = new Map()
  /** What an approval covers. */
  covered = new Map<string, ReadonlySet<Word>>()
  /** What was sent last and surely arrived. */
  readonly sent = new Map<string, Listing>()
  /** The same, as the run began. */
  before = new Map<string, Listing>()
  changed: { fact: Fact; key: string; at: number }[] = []
  /** Since when runs say that a listing waits, for the price that it is to have. */
  readonly waiting: Since<number> = new Map()
  readonly keylessSince = new Map<string, First>()
  readonly goneSince = new Map<string, First>()
}

function waitsAnew({ waiting }: OfFeed, at: number, isAnew: (name: string) => boolean = () => true): void {
  for (const [name, since] of waiting) if (isAnew(name)) for (const price of since.keys()) since.set(price, at)
}

/** Whether what waits is the delete of a listing that this delivery has. */
const isLeavingIn = (name: string, delivery: Delivery): boolean =>
  name.startsWith('leaving ') && isIn(delivery, name.slice('leaving '.length))

interface Killed {
  delivery: Delivery
  held: ReadonlySet<string>
  owned: ReadonlySet<string>
  now: number
  isAnew: boolean
}

export class GuardModel {
  readonly #feeds = new Map<string, OfFeed>()
  /** The last call of this run for an MLSNumber, and what it carried. */
  #calls = new Map<string, Pick<WriteCall, 'kind' | 'listing'>>()
  #run = 0
  /** The store was put back, and no run has ended since. */
  #isPutBack = false
  readonly #fail: (what: string) => void

  constructor(fail: (what: string) => void) {
    this.#fail = fail
  }

  #of(feed: string): OfFeed {
    const known = this.#feeds.get(feed) ?? new OfFeed()
    this.#feeds.set(feed, known)
    return known
  }

  storeLost(): void {
    this.#feeds.clear()
  }

  /** Nobody knows what deliveries said since the backup, so what waits does so anew from the next run on. */
  storePutBack(): void {
    this.#isPutBack = true
  }

  /** What a store can know of it. */
  memory(): Map<string, OfFeed> {
    return this.#feeds
  }

  putBack(memory: Map<string, OfFeed>): void {
    this.#feeds.clear()
    for (const [feed, of] of memory) this.#feeds.set(feed, of)
  }

  begin(feed: string, delivery: Delivery, keys: Iterable<string>, now: number): void {
    this.#calls = new Map()
    this.#run++
    if (this.#isPutBack) for (const known of this.#feeds.values()) waitsAnew(known, now)
    const of = this.#of(feed)
    of.before = new Map(of.sent)
    for (const [key, entry] of delivery.listings)
      for (const fact of kinds) begins(of.said, `${fact} ${key}`, wordOf(fact, listingOf(entry, 1)), now)
    if (!delivery.whole) return
    for (const key of of.keylessSince.keys()) if (!delivery.unreadable.has(key)) of.keylessSince.delete(key)
    for (const key of keys)
      if (!isIn(delivery, key) && !of.goneSince.has(key)) of.goneSince.set(key, { run: this.#run, at: now })
  }

  /** A call reached the service: until its answer is known, nobody knows what was sent last. */
  arrived({ feed, kind, keys, listing }: WriteCall): void {
    for (const key of keys) {
      this.#calls.set(key, { kind, listing })
      this.#of(feed).sent.delete(key)
      // It was let go, and what the service leaves of it is held anew.
      if (kind === 'delete') this.#of(feed).waiting.delete(`leaving ${key}`)
    }
  }

  /** The call was confirmed and had no effect, so it changed no fact, and what was sent last did not arrive. */
  ignored({ kind, keys }: WriteCall): void {
    for (const key of keys) this.#calls.set(key, { kind, listing: null })
  }

  /**
   * A run that was killed told nobody which holds it had ended: their clocks are over, and those of deletes of what was delivered
   * may have begun anew. `held`: what the store holds. Nor did it tell what it forgot (`owned`: what the store has), or that a
   * clock was wrong: `isAnew`, all may wait from now on.
   */
  killed(feed: string, { delivery, held, owned, now, isAnew }: Killed): void {
    const of = this.#of(feed)
    for (const key of of.sent.keys()) if (!owned.has(key)) of.sent.delete(key)
    const { waiting } = of
    waitsAnew(of, now, (name) => isAnew || isLeavingIn(name, delivery))
    for (const name of waiting.keys()) {
      const [rule, key] = name.split(' ')
      if (!held.has(`${rule === 'facts' ? 'update price' : 'delete'} ${key}`)) waiting.delete(name)
    }
  }

  /** A person lets through what is held, as it was said last. */
  approves(feed: string): void {
    const of = this.#of(feed)
    of.covered = new Map([...of.said].map(([key, said]) => [key, new Set(said.keys())]))
  }

  ended(run: Judged): void {
    const { report, delivery } = run
    const of = this.#of(report.feed)
    if (tellsOfClock(report)) waitsAnew(of, run.startedAt)
    if (report.digest === '') return
    // A delete of what is delivered meanwhile, in whatever delivery but one of before, is said anew.
    if (report.holds.every(({ rule }) => rule !== 'older'))
      waitsAnew(of, run.startedAt, (name) => isLeavingIn(name, delivery))
    const isWhole = delivery.whole && report.remote.complete && report.command === 'sync'
    if (isWhole)
      for (const [name, said] of of.said) {
        const [fact, key] = name.split(' ') as [Fact, string]
        const entry = delivery.listings.get(key)
        // A record that can't be read says nothing of it.
        if (entry === undefined && delivery.holds.has(key)) continue
        for (const word of said.keys())
          if (entry === undefined || wordOf(fact, listingOf(entry, 1)) !== word) said.delete(word)
      }
    this.#judgeFacts(of, run)
    this.#judgeWaiting(of, run, isWhole)
    this.#judgeKeyless(of, run)
    if (isWhole) this.#judgeStrange(run)
    for (const { mlsNumber: key, kind, outcome } of report.changes()) {
      const listing = this.#calls.get(key)?.listing
      if (outcome?.result === 'done' && (kind === 'create' || kind === 'update') && listing) of.sent.set(key, listing)
      if (outcome?.result === 'done' && kind === 'forget') of.sent.delete(key)
      // It is as wanted already, whoever made it so.
      const wanted = delivery.listings.get(key)
      if (outcome?.result === 'done' && kind === 'adopt' && wanted) of.sent.set(key, listingOf(wanted, 1))
    }
  }

  /** No more listings change a fact beyond belief within 24 hours than may. What is approved or believed counts for nothing. */
  #judgeFacts(of: OfFeed, run: Judged): void {
    const { report, startedAt, believedAfter, approved, sizes, isFirstLoad, isRare } = run
    for (const { mlsNumber: key, kind, outcome } of report.changes()) {
      const before = of.before.get(key)
      const after = this.#calls.get(key)?.listing
      // A create, too: what vanished from the service comes again as it was sent last, or changes.
      if ((kind !== 'update' && kind !== 'create') || outcome?.result !== 'done' || !before || !after) continue
      for (const fact of kinds) {
        if (!facts[fact](before, after)) continue
        const [name, word] = [`${fact} ${key}`, wordOf(fact, after)]
        const isCovered = of.covered.get(name)?.has(word) === true
        const saidSince = of.said.get(name)?.get(word) ?? startedAt
        const names = [`update ${fact} ${key}`, `${kind} ${key}`]
        if (isCovered && names.some((part) => approved.has(part))) continue
        if (saidSince > startedAt - believedAfter) of.changed.push({ fact, key, at: startedAt })
      }
    }
    of.changed = of.changed.filter(({ at }) => at > startedAt - 24 * hour)
    for (const fact of isFirstLoad ? [] : kinds) {
      const most = Math.max(...sizes.map((size) => allowed(size, isRare, least[fact])))
      const recent = of.changed.filter((change) => change.fact === fact)
      const keys = new Set(recent.map(({ key }) => key))
      if (recent.some(({ at }) => at === startedAt) && keys.size > most)
        this.#fail(`facts: ${fact} of ${[...keys].join()} changed in 24 hours, ${most} allowed`)
    }
  }

  /** What every delivery says for long enough waits no more. */
  #judgeWaiting(of: OfFeed, { report, delivery, startedAt, believedAfter }: Judged, isWhole: boolean): void {
    if (report.error === null) this.#isPutBack = false
    const waits = new Map<string, number>()
    for (const { rule, numbers, keys } of report.holds) {
      if (rule !== 'leaving' && !(rule === 'facts' && numbers['kind'] === 'price')) continue
      for (const key of keys())
        waits.set(`${rule} ${key}`, rule === 'facts' ? (delivery.listings.get(key)?.price ?? 0) : 0)
    }
    // A record that can't be read, or comes twice, says nothing of what is held of its listing.
    const unclear = new Set(Array.from(report.rejects(), ({ mlsNumber }) => `facts ${mlsNumber}`))
    for (const { kind, cause, held, mlsNumber } of report.changes())
      if (kind === 'hold' && cause.startsWith('twice-') && held !== 'delete') unclear.add(`facts ${mlsNumber}`)
    // What a delivery that is not believed says of it ends nothing.
    const isBelieved = isWhole && believes(report)
    if (isBelieved)
      for (const [name, since] of of.waiting)
        for (const price of since.keys()) if (waits.get(name) !== price && !unclear.has(name)) since.delete(price)
    // A run that failed may have written down none of it.
    for (const [name, price] of report.error === null ? waits : []) {
      // Nor does it, or a list that is not whole, put another wish in the place of the one that waits.
      const waiting = of.waiting.get(name)
      if (isBelieved || waiting === undefined || waiting.size === 0 || waiting.has(price))
        begins(of.waiting, name, price, startedAt)
    }
    const asks = report.holds.some(({ rule }) => rule !== 'leaving' && rule !== 'arriving' && rule !== 'facts')
    if (!isWhole || asks) return
    for (const [name, price] of waits) {
      const since = of.waiting.get(name)?.get(price) ?? startedAt
      if (since + believedAfter + minute < startedAt)
        this.#fail(`confirm: ${name} is held since ${new Date(since).toISOString()}, and was said again ever since`)
    }
  }

  /** A record without MLSNumber can only be what went absent as it came: all other deletes go on. */
  #judgeKeyless(of: OfFeed, { report, delivery, startedAt, owned }: Judged): void {
    if (!delivery.whole) return
    for (const key of delivery.unreadable)
      if (!of.keylessSince.has(key)) of.keylessSince.set(key, { run: this.#run, at: startedAt })
    for (const key of of.goneSince.keys()) if (isIn(delivery, key)) of.goneSince.delete(key)
    for (const { mlsNumber: key, kind, cause } of report.changes()) {
      if (kind !== 'hold' || cause !== 'unreadable' || !owned.has(key)) continue
      const gone = of.goneSince.get(key) ?? { run: 0, at: 0 }
      // Where the clock was set meanwhile, the times alone do not tell which was first.
      if ([...of.keylessSince.values()].every(({ run, at }) => gone.run > run && gone.at > at))
        this.#fail(`keyless: ${key} is held, though it went after the records without MLSNumber had come`)
    }
  }

  /** Nothing of a delivery is carried out that leaves hardly anything as it is, but for the turn of what moves by itself. */
  #judgeStrange({ report, delivery, approved, ours, shown }: Judged): void {
    if (ours === null || delivery.unreadable.size > 0) return
    // A home under another number stays.
    const isHere = (key: string): boolean => isIn(delivery, key) || isIn(delivery, otherSpelling(key))
    const leaving = shown.filter((key) => !isHere(key) && !approved.has(`delete ${key}`))
    const staying = ours.size - leaving.length
    if (shown.length < 3 || staying >= ours.size * recognisable) return
    const turns = new Set(
      [...report.changes()].flatMap((change) => (change.cause === 'refresh' ? [change.mlsNumber] : [])),
    )
    for (const [key, { kind }] of this.#calls)
      if (!turns.has(key) && ![...approved].some((part) => part.endsWith(` ${key}`)))
        this.#fail(`unrecognisable: ${kind} of ${key}, though ${staying} of ${ours.size} would stay`)
  }
}
