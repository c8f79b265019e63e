/** What people are told of an accident, and of what is let go. */
import { many, spanInWords } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import type { ActionKind } from '../plan/change.ts'
import { facts } from '../plan/guard/facts.ts'
import { endsOf } from '../plan/guard/hold.ts'
import type { Ends } from '../plan/guard/hold.ts'
import type { Trip } from '../plan/guard/rules.ts'

/** What one accident holds. */
export interface Held {
  /** How many actions of each kind. An update that goes on in part counts, too. */
  readonly counts: Readonly<Record<ActionKind, number>>
  /** When the earliest clock of these holds began, in milliseconds; null: none runs. */
  readonly clock: number | null
  /** When the latest of these clocks began. */
  readonly last: number
  /** How many of them a person refused. */
  readonly refused: number
  /** How many of them wait for a person, whatever the feed says. */
  readonly asking: number
  /** How many go with a full delivery only: deletes of what one lacked, where the next one may be a delta, which says nothing of that. */
  readonly absent: number
}

/** What the sentences need to know beside the holds. */
export interface About {
  readonly feed: string
  readonly timezone: string
  /** `limits.confirm` in milliseconds; null: nothing goes by itself. */
  readonly confirm: number | null
  readonly now: number
}

/** "14 deletes and 2 creates". */
export function countsInWords(counts: Held['counts']): string {
  const words = Object.entries(counts).flatMap(([kind, count]) =>
    count === 0 ? [] : [many(count, kind === 'adopt' ? 'adoption' : kind)],
  )
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

export const total = (counts: Held['counts']): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** `settle` in milliseconds: how long a call of which nothing is known may still land. */
export const createsWait = (settle: number): string =>
  `Creates wait ${many(Math.ceil(settle / 60_000), 'minute')} (settle)`

/** Of a store that was put back: nobody knows what was decided since. */
export const holdsWait = 'what is held waits longer, and what was approved more than a day ago has to be approved again'

/** The whole message of an accident: what, of how many, against which number, what happens next. */
export function sentenceOf(trip: Trip, held: Held, about: About): string {
  return `${trip.sentence}. ${endingOf(trip, held, about)}`
}

function endingOf({ name, waitsFor, fact, numbers }: Trip, held: Held, about: About): string {
  const { counts, clock, last, refused, asking } = held
  const { feed, timezone, confirm } = about
  if (waitsFor !== undefined) return `Nothing of it is carried out until ${waitsFor} or you approve it`
  const haveOneEnd = clock !== null && clock === last && confirm !== null && refused + asking === 0
  if ('renumbered' in numbers && haveOneEnd) {
    const until = minuteIn(timezone, clock + confirm)
    const end = held.absent === 0 ? until : `the first full delivery from ${until} on`
    return `Held with their old numbers until ${end}; the site keeps showing them`
  }
  const ofFact = fact === undefined || counts.update === 0 ? '' : ` of ${facts[fact].words[2]}`
  const end = endInWords(total(counts), endsOf(name), held, about)
  return `Held: ${countsInWords(counts)}${ofFact}. ${end[0].toUpperCase()}${end.slice(1)}; now: listing-sync approve ${feed}`
}

/** What ends so many holds, as a clause: "they go by themselves on Thu 3 Apr 02:00 if the feed still says so". */
export function endInWords(count: number, ends: Ends, held: Omit<Held, 'counts'>, about: About): string {
  const { clock, last, refused, asking, absent } = held
  const { timezone, confirm, now } = about
  const isOne = count === 1
  const isOfList = ends === 'listed again'
  if (refused === count) {
    const what = isOfList ? 'the feed, a later list of the chatbot' : 'the feed'
    return `${isOne ? 'it was' : 'they were'} refused, so that only ${what} or an approval ends ${isOne ? 'it' : 'them'}`
  }
  const exceptions = [
    ...(asking === 0 || clock === null ? [] : [`${asking} that ${asking === 1 ? 'waits' : 'wait'} for you`]),
    ...(refused === 0 ? [] : [`${refused} that ${refused === 1 ? 'was' : 'were'} refused`]),
  ]
  const but = exceptions.length === 0 ? '' : `, but for ${exceptions.join(' and ')}`
  const go = isOne ? 'it goes by itself' : 'they go by themselves'
  if (isOfList && clock !== null && confirm !== null)
    return `${go} once another complete list, an hour later or more, says the same${but}`
  if (confirm === null || clock === null) return `${isOne ? 'it waits' : 'they wait'} for you${but}`
  const areAll = absent === count
  const deletes = absent > 0 && !areAll ? '; deletes of what a full delivery lacked with a full one only' : ''
  if (last + confirm <= now)
    return `${go} with the next ${areAll ? 'full' : 'complete'} delivery that still says so${but}${deletes}`
  const until = minuteIn(timezone, Math.max(clock + confirm, now))
  if (areAll) return `${go} with the first full delivery from ${until} on, if it still says so${but}`
  return `${go} ${clock === last ? `on ${until}` : `from ${until} on,`} if the feed still says so${but}${deletes}`
}

export type LetGoVerb = 'would be carried out' | 'are being carried out' | 'were carried out'

/**
 * `since`: when the first of them was held, in milliseconds. `ends`: what let them go; `never`: no rule asks for them any more.
 * `saysOnce`: of a delta feed, whose later deliveries need not have named them.
 */
export function letGoSentence(
  counts: Held['counts'],
  since: number,
  ends: Ends,
  verb: LetGoVerb,
  { timezone, confirm }: About,
  saysOnce: boolean,
): string {
  const did = total(counts) === 1 ? verb.replace('were', 'was').replace('are', 'is') : verb
  const day = minuteIn(timezone, since).split(' ').slice(0, 3).join(' ')
  const span = spanInWords(confirm ?? 0)
  const byFeed = saysOnce ? `no delivery for ${span} said otherwise` : `every delivery for ${span} said the same`
  const byList = 'another complete list said the same'
  const why = { never: 'no rule holds this any more', 'listed again': byList, confirmed: byFeed }[ends]
  return `${countsInWords(counts)} held since ${day} ${did}: ${why}`
}
