/** Tells what is held of a feed, for `approve`, `status` and the pages. */
import type { FeedConfig } from '../config/config.ts'
import { many, printable } from '../core/text.ts'
import type { Reader } from '../core/intl.ts'
import { minuteIn } from '../core/zone.ts'
import { askingRules, isPartOf } from '../plan/guard/hold.ts'
import type { Decision } from '../plan/guard/hold.ts'
import { isSaidOnce } from '../run/files.ts'
import { endInWords } from '../run/hold-sentences.ts'
import { isApprovable, isWaiting } from '../run/named.ts'
import type { Approvable } from '../run/named.ts'
import { homePrice, placeText, priceChange, saleText } from '../report/values.ts'
import type { Finding, Held, RunsReader, StoreReader } from '../store/store.ts'

export { isApprovable, isWaiting }
export { withoutHolds } from '../run/moved.ts'
export type { Approvable } from '../run/named.ts'

/** Holds by listing, in the order of each listing's first: people count listings, not the facts held of them. */
export function byListing<One extends Held>(held: readonly One[]): [One, ...One[]][] {
  return [...Map.groupBy(held, ({ mlsNumber }) => mlsNumber).values()] as [One, ...One[]][]
}

/** When the first of these was held, in milliseconds. */
export const sinceOf = (held: readonly Held[]): number =>
  held.reduce((first, { since }) => Math.min(first, since), Infinity)

/** "delete", "update price, size": what is held of a listing. */
export function partsInWords(held: readonly Held[]): string {
  return held
    .flatMap(({ part }) => part ?? [])
    .join(', ')
    .replaceAll(', update ', ', ')
}

export const ofNoRule = 'a record without MLSNumber'

/**
 * Groups holds by their rules (none: for a record without MLSNumber) and by the decision. While a rule asks about a listing, nothing
 * of it goes by itself, so all its holds come under the rules that ask.
 */
export function byRule(held: readonly Approvable[]): (readonly [rules: readonly string[], held: Approvable[]])[] {
  const asks = ({ rules, decision }: Approvable): boolean =>
    decision === null && rules.some((rule) => askingRules.has(rule))
  const asked = new Map(held.flatMap((change) => (asks(change) ? [[change.mlsNumber, change.rules]] : [])))
  const rulesOf = ({ mlsNumber, rules, decision }: Approvable): readonly string[] =>
    decision === null ? (asked.get(mlsNumber) ?? rules) : rules
  const groups = Map.groupBy(held, (change) => JSON.stringify([rulesOf(change), change.decision?.is]))
  return Array.from(groups.values(), (group) => [rulesOf(group[0]), group])
}

type Feed = Pick<FeedConfig, 'name' | 'timezone' | 'plan' | 'mapping'>

/** Whether the guard was switched off since: then it holds none of these any more but those that were refused. */
const isOver = ([{ rules, decision }]: readonly Approvable[], { limits }: Feed['plan']): boolean =>
  limits.isOff && rules.length > 0 && decision === null

/** "14 changes held by leaving since Mon 31 Mar 02:00; they go by themselves on Thu 3 Apr 02:00 if the feed still says so". */
export function groupInWords(rules: readonly string[], held: readonly Approvable[], feed: Feed, now: number): string {
  const count = byListing(held).length
  return `${many(count, 'change')} held by ${rules.join(' and ') || ofNoRule} since ${minuteIn(feed.timezone, sinceOf(held))}; ${endOf(count, held, feed, now)}`
}

/** How many of these go with a full delivery only: deletes of what one lacked, where the next delivery may be a delta. */
function absentOf(held: readonly Approvable[], { mapping }: Feed): number {
  const isAbsent = ({ part, why }: Approvable): boolean => part === 'delete' && /^(gone from|not in) the feed/.test(why)
  return isSaidOnce({ mapping }, mapping.delivery) ? held.filter(isAbsent).length : 0
}

const overInWords = (count: number): string =>
  `${count === 1 ? 'it goes' : 'they go'} with the next complete delivery that still says so, as limits is off`

function endOf(count: number, held: readonly Approvable[], feed: Feed, now: number): string {
  const { name, timezone, plan } = feed
  const [{ decision, rules }] = held as [Approvable]
  if (decision?.is === 'approved')
    return `approved by ${[...new Set(held.map((change) => change.decision?.by))].join(' and ')}`
  if (isOver(held, plan)) return overInWords(count)
  const isOfList = rules.includes('chatbot')
  const refused = decision?.is === 'refused' ? count : 0
  const clocks = held.flatMap(({ clock }) => clock ?? []).toSorted((a, b) => a - b)
  const [clock = null] = clocks
  const asked = byListing(held.filter((change) => change.clock === null)).length
  const ending = { clock, last: clocks.at(-1) ?? 0, refused, asking: asked, absent: absentOf(held, feed) }
  const about = { feed: name, timezone, confirm: plan.limits.confirm, now }
  const end = endInWords(count, isOfList && rules.length === 1 ? 'listed again' : 'confirmed', ending, about)
  const wait = count === 1 ? 'it waits' : 'they wait'
  return isOfList && refused === 0 && about.confirm !== null
    ? `${end}; if the keys to the service were changed, ${wait} for you`
    : end
}

/** Such a group for programs, with what the rules found. Times are ISO 8601. */
export interface HeldGroup {
  rules: readonly string[]
  changes: number
  since: string
  /** When the first of them goes by itself; null: no time lets any of them go, or the guard is off and the next run does. */
  goesAt: string | null
  /** A person has to end all of them, or some. */
  asks: boolean
  decision: Decision | null
  /** Who decided. */
  by: string[]
  sentence: string
}

export function groupsOf(held: readonly Approvable[], feed: Feed, now: number, findings: Findings): HeldGroup[] {
  const { confirm } = feed.plan.limits
  return Array.from(byRule(held), ([rules, group]) => {
    const decision = group[0].decision?.is ?? null
    const clocks = group.flatMap(({ clock }) => clock ?? [])
    const isOpen = decision === null && !isOver(group, feed.plan)
    const isTimed = isOpen && confirm !== null && clocks.length > 0 && rules.join() !== 'chatbot'
    const first = clocks.reduce((least, other) => Math.min(least, other), Infinity)
    return {
      rules,
      changes: byListing(group).length,
      since: new Date(sinceOf(group)).toISOString(),
      goesAt: isTimed ? new Date(first + confirm).toISOString() : null,
      asks: isOpen ? confirm === null || clocks.length < group.length : decision === 'refused',
      decision,
      by: [...new Set(group.flatMap((change) => change.decision?.by ?? []))],
      // When they go is worked out anew, as somebody may have decided since the run that found this.
      sentence: [...foundIn(findings, rules, group), groupInWords(rules, group, feed, now)].join('. '),
    }
  })
}

export const capital = (text: string): string => text[0].toUpperCase() + text.slice(1)

/** How many runs are looked at. Each whole run notes anew what its rules found, so more are seldom needed; and probes ask often. */
const runsLookedAt = 50

export type Findings = ReadonlyMap<string, readonly Finding[]>

/** Of how many listings holds are read to tell of them. The rest is counted. */
export const mostRead = 5000

/** What waits, a sentence for each rule. */
export async function waitingInWords(store: StoreReader, feed: Feed, now: number): Promise<string[]> {
  if ((await store.holds.count(feed.name)) > mostRead)
    return (await manyInWords(store, feed, now)).map(({ sentence }) => sentence)
  const waiting = (await store.holds.held(feed.name, now)).filter(isWaiting)
  if (waiting.length === 0) return []
  return groupsOf(waiting, feed, now, await findingsOf(store.runs, feed.name)).map(({ sentence }) => sentence)
}

/** The same of so many that they are not all read, with how many listings each rule holds. */
export async function manyInWords({ holds, runs }: StoreReader, feed: Feed, now: number) {
  const counted = await holds.waitingByRule(feed.name, now)
  if (counted.size === 0) return []
  const findings = await findingsOf(runs, feed.name)
  const waiting = (await holds.held(feed.name, now, { most: mostRead })).filter(isWaiting)
  const { isOff } = feed.plan.limits
  return Array.from(counted, ([rule, listings]) => {
    // A decision is about all that is held at its time.
    const isRefused = waiting.some(({ rules, decision }) => decision !== null && rules.includes(rule))
    const texts = [`${many(listings, 'change')} held by ${rule}`]
    for (const { found, sentence } of findings.get(rule) ?? [])
      texts.push(capital(isRefused || isOff ? found : sentence))
    if (isRefused) texts.push('No time lets go of what was refused of them')
    else if (isOff) texts.push(capital(overInWords(listings)))
    return { rule, listings, sentence: texts.join('. ') }
  })
}

/** What these rules found of what is held so, a sentence each, without its full stop. */
export function foundIn(findings: Findings, rules: readonly string[], held: readonly Approvable[]): string[] {
  const isOf = ({ fact }: Finding): boolean => held.some(({ part }) => isPartOf(part, fact))
  return rules
    .flatMap((rule) => findings.get(rule) ?? [])
    .filter(isOf)
    .map(({ found }) => capital(found))
}

/** What each rule of the guard found in the last run in which it found anything. */
export async function findingsOf(runs: RunsReader, feed: string): Promise<Findings> {
  const found = new Map<string, readonly Finding[]>()
  for (const { figures } of await runs.latest(feed, runsLookedAt)) {
    const { holds = [] } = JSON.parse(figures) as { holds?: readonly Finding[] }
    for (const [rule, these] of Map.groupBy(holds, (hold) => hold.rule)) if (!found.has(rule)) found.set(rule, these)
  }
  return found
}

/**
 * The price of a listing as what is held of it would have it. It may be several: an approval covers also what one delivery said that was
 * held whole, and what another one said after it.
 */
export function pricesOf(held: readonly [Held, ...Held[]], reader: Reader): string {
  const changes = new Set(held.flatMap(({ home }) => priceChange(home, reader)))
  return changes.size === 0 ? homePrice(held[0].home, reader) : [...changes].join(' or ')
}

/** What is held of one listing: "delete M-1041: 101 Olive Street, Ames, for sale, $180,000; since Mon 31 Mar 02:00; gone from the feed". */
export function lineOf(held: readonly [Approvable, ...Approvable[]], reader: Reader): string {
  const [{ mlsNumber, why, home }] = held
  const which = [placeText(home), saleText(home), pricesOf(held, reader)].filter((piece) => piece !== '').join(', ')
  const rest = [which, `since ${minuteIn(reader.timezone, sinceOf(held))}`, printable(why)].filter(
    (piece) => piece !== '',
  )
  return `${partsInWords(held)} ${printable(mlsNumber)}: ${rest.join('; ')}`
}
