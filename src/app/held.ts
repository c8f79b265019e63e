/** What is held of a feed, as `approve`, `status` and the pages tell it. */
import type { FeedConfig } from '../config/config.ts'
import { printable } from '../core/text.ts'
import type { Reader } from '../core/intl.ts'
import { minuteIn } from '../core/zone.ts'
import { homePrice, placeText, saleText } from '../report/values.ts'
import type { Held } from '../store/store.ts'

/** Something that a person may let through. */
export type Approvable = Held & { part: NonNullable<Held['part']> }

export const isApprovable = (held: Held): held is Approvable => held.part !== null

/** Held by a rule of the guard, and not yet let through. */
export function isWaiting(held: Held): held is Approvable {
  return held.part !== null && held.rules.length > 0 && held.decision?.is !== 'approved'
}

const ofNoRule = 'a record without MLSNumber'

/** By the rules that hold them, in words. */
export function byRule(held: readonly Approvable[]): Map<string, Approvable[]> {
  return Map.groupBy(held, ({ rules }) => rules.join(' and ') || ofNoRule)
}

type Feed = Pick<FeedConfig, 'name' | 'timezone' | 'plan'>

/** "14 changes held by leaving since Mon 31 Mar 02:00; they go by themselves on Thu 3 Apr 02:00 if the feed still says so". */
export function groupInWords(rules: string, held: readonly Approvable[], { timezone, plan: { limits } }: Feed): string {
  const since = minuteIn(timezone, Math.min(...held.map((one) => one.since)))
  const clocks = held.flatMap(({ clock, decision }) => (clock === null || decision?.is === 'refused' ? [] : [clock]))
  const isRefused = held.every(({ decision }) => decision?.is === 'refused')
  const changes = `${held.length} ${held.length === 1 ? 'change' : 'changes'} held by ${rules} since ${since}`
  const approvers = new Set(held.map(({ decision }) => (decision?.is === 'approved' ? decision.by : null)))
  if (!approvers.has(null)) return `${changes}; approved by ${[...approvers].join(' and ')}`
  if (isRefused) return `${changes}; refused, so that only the feed or an approval ends it`
  if (rules === 'chatbot')
    return `${changes}; they go by themselves once another complete list says the same, unless the keys to the service were changed`
  if (clocks.length < held.length || limits.confirm === null) return `${changes}; waits for you`
  const until = minuteIn(timezone, Math.min(...clocks) + limits.confirm)
  return `${changes}; they go by themselves on ${until} if the feed still says so`
}

/** "delete M-1041: 101 Olive Street, Ames, for sale, $180,000; since Mon 31 Mar 02:00; gone from the feed". */
export function lineOf({ part, mlsNumber, why, home, since }: Approvable, reader: Reader): string {
  const which = [placeText(home), saleText(home), homePrice(home, reader)].filter((one) => one !== '').join(', ')
  const rest = [which, `since ${minuteIn(reader.timezone, since)}`, printable(why)].filter((one) => one !== '')
  return `${part} ${printable(mlsNumber)}: ${rest.join('; ')}`
}
