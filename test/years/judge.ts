/** The judge knows what the office truly has, and says what the chatbot shows wrong and what was held in vain. */
import { fieldNames } from '../../src/core/listing.ts'
import type { Listing } from '../../src/core/listing.ts'
import { askingRules } from '../../src/plan/guard/hold.ts'
import type { Ran } from './program.ts'
import { day, hour } from './office.ts'
import type { Entry } from './office.ts'

const moving = new Set(['DaysOnMarket', 'Url', 'ExtensionColumn'])
const compared = fieldNames.filter((name) => !moving.has(name))
const looks = new WeakMap<Listing, readonly string[]>()

const inWords = (value: Listing[keyof Listing]): string =>
  value === undefined || (Array.isArray(value) && value.length === 0) ? '' : JSON.stringify(value)

/** All that a visitor sees of a listing, field by field; nothing of what moves by itself. */
function lookOf(listing: Listing): readonly string[] {
  let look = looks.get(listing)
  if (look === undefined) looks.set(listing, (look = compared.map((name) => inWords(listing[name]))))
  return look
}

const looksLike = (listing: Listing, other: Listing): boolean =>
  compared.every((name) => listing[name] === other[name] || inWords(listing[name]) === inWords(other[name]))

type Shown = ReadonlyMap<string, { readonly listing: Listing }>

/** Whether the chatbot shows just what the office has. */
export function isEqual(shown: Shown, truth: readonly Entry[]): boolean {
  if (shown.size !== truth.length) return false
  return truth.every(({ listing }) => {
    const row = shown.get(listing.MLSNumber)
    return row !== undefined && looksLike(row.listing, listing)
  })
}

/**
 * Counts what an incident made the chatbot show wrong: a field that was never so since the last right delivery, what nobody
 * has, and what is missing although it was there and still is. What is only as it was before, because it is held, is not
 * wrong: a listing may show an old price beside a new text.
 */
export class Damage {
  /** Of each MLSNumber all values that each field has had. */
  readonly #right = new Map<string, Set<string>[]>()
  readonly #size: number
  /** MLSNumbers that were on the chatbot at the last right delivery and that the office has had ever since. */
  #stays: Set<string>
  /** The most listings that were wrong at once. */
  worst = 0

  constructor(shown: Shown, truth: readonly Entry[]) {
    this.#size = truth.length
    this.#stays = new Set(shown.keys())
    for (const { listing } of shown.values()) this.#allow(listing)
    this.learn(truth)
  }

  /** What the office has now. */
  learn(truth: readonly Entry[]): void {
    const now = new Set(truth.map(({ listing }) => listing.MLSNumber))
    this.#stays = new Set([...this.#stays].filter((key) => now.has(key)))
    for (const { listing } of truth) this.#allow(listing)
  }

  look(shown: Shown): void {
    let wrong = 0
    let strange = 0
    let missing = 0
    for (const [key, { listing }] of shown) {
      const right = this.#right.get(key)
      if (right === undefined) strange++
      else if (!lookOf(listing).every((value, i) => right[i].has(value))) wrong++
    }
    for (const key of this.#stays) if (!shown.has(key)) missing++
    // One home under another number is one listing that is wrong.
    this.worst = Math.max(this.worst, wrong + Math.max(strange, missing))
  }

  get isVisible(): boolean {
    return this.worst > 1 && this.worst > this.#size * 0.05
  }

  #allow(listing: Listing): void {
    const look = lookOf(listing)
    const right = this.#right.get(listing.MLSNumber)
    if (right === undefined)
      this.#right.set(
        listing.MLSNumber,
        look.map((value) => new Set([value])),
      )
    else for (const [i, value] of look.entries()) right[i].add(value)
  }
}

/** Whether nothing but a person, or another delivery, ends what is held. */
export const isAsking = ({ held }: Ran): boolean =>
  held.some(({ rules, decision }) => decision === null && rules.some((rule) => askingRules.has(rule)))

/** Whether the guard holds anything that nobody has decided about. */
export const isHolding = ({ held }: Ran): boolean => held.some(({ decision }) => decision === null)

/** Hours that the oldest hold with a clock has waited. */
export function oldestHold({ held }: Ran, now: number): number {
  const clocks = held.flatMap(({ decision, clock }) => (decision !== null || clock === null ? [] : [clock]))
  return clocks.length === 0 ? 0 : (now - Math.min(...clocks)) / hour
}

/** A hold that began while the feed was right. */
export interface HoldEvent {
  at: number
  rules: string[]
  /** The mass changes of that day or since the delivery before; none: ordinary life. */
  because: string[]
}

/** Watches the runs of an office whose feed is right. */
export class Watch {
  readonly events: HoldEvent[] = []
  /** Holds beyond 72 hours and a run, unready ones that ask, and runs that hold nothing and show other than the office has. */
  readonly faults: string[] = []
  isAsking = false
  #before = new Set<string>()

  /** `interval`: since the run before. `changed`: mass changes of the office so far. */
  see(ran: Ran, now: number, interval: number, changed: readonly { at: number; kind: string }[]): void {
    const holds = isHolding(ran) ? ran.report.holds : []
    const rules = new Set(holds.map(nameOf))
    // What waits for the end of its time began before.
    const found = new Set(holds.filter(({ numbers }) => !('waiting' in numbers)).map(nameOf))
    const fresh = [...found].filter((rule) => !this.#before.has(rule))
    // Where nothing is carried out until somebody looks, what piles up behind it is no hold of its own.
    const isStanding = this.isAsking
    this.#before = rules
    this.isAsking = isAsking(ran)
    if (fresh.length > 0 && !(isStanding && this.isAsking)) {
      const since = now - Math.max(day, interval) - interval
      const because = changed.filter(({ at }) => at > since && at <= now).map(({ kind }) => kind)
      this.events.push({ at: now, rules: fresh, because })
    }
    const hours = oldestHold(ran, now)
    if (hours > 72 + interval / hour + 1) this.faults.push(`${dateOf(now)}: held for ${Math.round(hours)} hours`)
    if (isHolding(ran) && ran.report.result !== 'held')
      this.faults.push(`${dateOf(now)}: held, and the run is ${ran.report.result}`)
  }

  /** A run that holds nothing must have shown what the office has. */
  compare(ran: Ran, now: number, shown: Shown, truth: readonly Entry[]): void {
    if (ran.held.length === 0 && !isEqual(shown, truth))
      this.faults.push(
        `${dateOf(now)}: nothing is held, and the chatbot shows other than the office has (${ran.report.result})`,
      )
  }
}

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function nameOf({ rule, numbers }: Ran['report']['holds'][number]): string {
  const { kind, renumbered, allowed } = numbers
  if (rule === 'leaving' && allowed === 0) return 'leaving, the last one'
  return kind !== undefined ? `${rule} ${kind}` : renumbered !== undefined ? 'renumbered' : rule
}
