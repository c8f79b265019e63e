/** The message that a person reads: which feed, what and how many, three homes, where to look, what to type. */
import { many, shorten } from '../core/text.ts'
import type { EventName, News } from './news.ts'

/** What is known of a feed that a message may tell; texts are printable. */
export interface Facts {
  readonly feed: string
  readonly chatbot: string
  /** Why the last run failed; null: it did not. */
  readonly error: string | null
  /** Why the last run was not good although it did not fail, apart from holds; null: it was, or nobody knows. */
  readonly lack: string | null
  /** Why things are held, a sentence each, and how many changes. */
  readonly held: { readonly sentences: readonly string[]; readonly changes: number; readonly homes: readonly string[] }
  /** How holds ended. */
  readonly ended: 'let go' | 'approved' | 'ended'
  /** null: none; undefined: not known. */
  readonly lastGood: number | null | undefined
  readonly listings: number
  /** A time in the feed's own zone, in words. */
  time(this: void, at: number): string
}

export interface Message {
  readonly event: EventName
  readonly is: News['is']
  readonly feed: string
  readonly chatbot: string
  /** In milliseconds. */
  readonly at: number
  readonly since: number
  readonly title: string
  readonly lines: readonly string[]
  /** What to type; null: nothing need be done. */
  readonly command: string | null
}

const homesNamed = 3
/** Longer lines are cut, as receivers take a few thousand characters. */
const longestLine = 700

export function messageOf(news: News, facts: Facts, at: number): Message {
  const { feed, chatbot } = facts
  const { title, lines, command } = words(news, facts)
  const cut = (line: string): string => shorten(line, longestLine)
  return { ...news, feed, chatbot, at, title: cut(title), lines: lines.map(cut), command }
}

function words({ event, is, since }: News, facts: Facts): Pick<Message, 'title' | 'lines' | 'command'> {
  const { feed, chatbot, error, lack, held, listings, lastGood, time } = facts
  const still = is === 'reminder' ? 'still ' : ''
  const good =
    lastGood === undefined
      ? null
      : lastGood === null
        ? 'No run has been good yet.'
        : `The last good run was on ${time(lastGood)}.`
  const paragraphs = (...lines: (string | null)[]): string[] => lines.filter((line) => line !== null)
  if (event === 'failed') {
    const title = `${feed}: runs ${still}fail${is === 'reminder' ? ` since ${time(since)}` : ''}`
    return { title, lines: paragraphs(error ?? 'The last run failed.', good), command: `listing-sync check ${feed}` }
  }
  if (event === 'stale') {
    const title = `${feed} is ${still}stale: no run has been good for a while`
    return {
      title,
      lines: paragraphs(good, error, lack),
      command: `listing-sync status ${feed}`,
    }
  }
  if (event === 'recovered') {
    const lines = [
      `Trouble since ${time(since)} is over; chatbot ${chatbot} shows ${many(listings, 'listing')} of this feed.`,
    ]
    return { title: `${feed} is up to date again`, lines, command: null }
  }
  if (is === 'over') {
    const how = {
      'let go': 'it was carried out',
      approved: 'it was approved',
      ended: 'it is not to be done any more',
    }
    const lines = [`What was held since ${time(since)} is held no more: ${how[facts.ended]}.`]
    return { title: `${feed}: nothing is held any more (${facts.ended})`, lines, command: null }
  }
  const { changes, sentences, homes } = held
  const count = many(changes, 'change')
  const title = `${feed}: ${count} ${still}held${is === 'reminder' ? ` since ${time(since)}` : ''}`
  const more = changes > homesNamed ? `; and ${changes - homesNamed} more` : ''
  const named = homes.length === 0 ? [] : [`${homes.slice(0, homesNamed).join('; ')}${more}`]
  return { title, lines: [...sentences, ...named], command: `listing-sync approve ${feed}` }
}
