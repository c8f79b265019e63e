/** What people are told of an accident, and of what is let go. */
import { minuteIn } from '../../core/zone.ts'
import type { ActionKind } from '../change.ts'
import { facts } from './facts.ts'
import type { Ends } from './hold.ts'
import type { Trip } from './rules.ts'

/** What one accident holds. */
export interface Held {
  /** How many actions of each kind, updates of which something goes on among them. */
  readonly counts: Readonly<Record<ActionKind, number>>
  /** When the earliest clock of these holds began, in milliseconds; null: none runs. */
  readonly clock: number | null
  /** When the latest of them began. */
  readonly last: number
  /** How many of them a person refused. */
  readonly refused: number
}

export interface About {
  readonly feed: string
  readonly timezone: string
  /** Milliseconds; null: nothing goes by itself. */
  readonly confirm: number | null
  /** The mapping is not the one of the last run: that is why, more often than not. */
  readonly isNewMapping: boolean
}

/** "14 deletes and 2 creates". */
export function countsInWords(counts: Held['counts']): string {
  const words = Object.entries(counts).flatMap(([kind, count]) =>
    count === 0 ? [] : [`${count} ${kind === 'adopt' ? 'adoption' : kind}${count === 1 ? '' : 's'}`],
  )
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

export const total = (counts: Held['counts']): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** "72 hours", or minutes where it is less than two hours. */
function spanInWords(span: number): string {
  const minutes = Math.round(span / 60_000)
  return minutes >= 120 ? `${Math.round(minutes / 60)} hours` : minutes === 1 ? '1 minute' : `${minutes} minutes`
}

/** The whole message of an accident: what, of how many, against which number, what happens next. */
export function sentenceOf(trip: Trip, held: Held, about: About): string {
  const before = about.isNewMapping ? 'The mapping changed since the last run: ' : ''
  return `${before}${trip.sentence}. ${endingOf(trip, held, about)}`
}

function endingOf({ ends, waitsFor, fact, numbers }: Trip, held: Held, about: About): string {
  const { counts, clock, last, refused } = held
  const { feed, timezone, confirm } = about
  if (waitsFor !== undefined) return `Nothing of it is carried out until ${waitsFor} or you approve it`
  const until = clock === null || confirm === null ? null : minuteIn(timezone, clock + confirm)
  if ('renumbered' in numbers && until !== null && refused === 0)
    return `Held with their old numbers until ${until}; the site keeps showing them`
  const of = fact === undefined ? '' : ` of ${facts[fact].words[2]}`
  return `Held: ${countsInWords(counts)}${of}. ${next()} listing-sync approve ${feed}`

  function next(): string {
    const isOne = total(counts) === 1
    if (refused === total(counts))
      return `${isOne ? 'It was refused' : 'They were refused'}, so that only the feed or an approval ends it:`
    if ((ends === 'listed again' ? clock : until) === null)
      return `${isOne ? 'It waits' : 'They wait'} until you decide:`
    const go = isOne ? 'It goes by itself' : 'They go by themselves'
    const but = refused === 0 ? '' : `, but for ${refused} that ${refused === 1 ? 'was' : 'were'} refused`
    if (ends === 'listed again')
      return `${go} once another complete list, an hour later or more, says the same${but}; now:`
    return `${go} ${clock === last ? `on ${until}` : `from ${until} on,`} if the feed still says so${but}; now:`
  }
}

export type LetGoVerb = 'would be carried out' | 'are being carried out' | 'were carried out'

/** `since`: when the first of them was held, in milliseconds; `ends`: what let them go; never: that no rule asks any more. */
export function letGoSentence(
  counts: Held['counts'],
  since: number,
  ends: Ends,
  verb: LetGoVerb,
  about: About,
): string {
  const did = total(counts) === 1 ? verb.replace('were', 'was').replace('are', 'is') : verb
  const day = minuteIn(about.timezone, since).split(' ').slice(0, 3).join(' ')
  const who =
    ends === 'listed again' ? 'another complete list' : `every delivery for ${spanInWords(about.confirm ?? 0)}`
  const why = ends === 'never' ? 'no rule holds this any more' : `${who} said the same`
  return `${countsInWords(counts)} held since ${day} ${did}: ${why}`
}
