/**
 * Tells people how a feed is (`notify`) and calls `heartbeat`, after each run and as time goes by. What was told is in the
 * store, so that a restart repeats nothing. Nothing here fails or delays a run.
 */
import type { FeedConfig } from '../config/config.ts'
import { messageOf as problemOf } from '../core/errors.ts'
import { shortHash } from '../core/hash.ts'
import type { Reader } from '../core/intl.ts'
import { printable } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import { forms } from '../notify/forms.ts'
import { messageOf } from '../notify/message.ts'
import type { Facts, Message } from '../notify/message.ts'
import { newsOf, nothingTold } from '../notify/news.ts'
import type { Condition, News, Told } from '../notify/news.ts'
import type * as Sending from '../notify/send.ts'
import type { Target } from '../notify/settings.ts'
import type { Report } from '../report/report.ts'
import { homePrice, placeText } from '../report/values.ts'
import type { Held, RunRecord, StoreReader } from '../store/store.ts'
import type { App, Occasion, Tested } from './app.ts'
import { byListing, isWaiting } from './held.ts'
import { lackOf, lastGood } from './last-good.ts'

/** Loads what sends only once there is anything to tell. */
const send: typeof Sending.send = async (...words) => (await import('../notify/send.ts')).send(...words)

/** By the fingerprint of each place, what it was told of a feed. */
type Memory = Record<string, Told>

export function createNotifier(app: App) {
  /** By feed, the end of what is being told of it: the next waits for that. */
  const last = new Map<string, Promise<void>>()
  const { clock, log } = app.runtime

  /** Begins to tell. Never throws. */
  function tell(feed: FeedConfig, occasion: Occasion): void {
    const { notify } = app.config
    if (notify.length === 0 && feed.heartbeat === null) return
    const before = last.get(feed.name) ?? Promise.resolve()
    const telling = before
      .then(() => told(feed, occasion))
      .catch((error: unknown) => {
        log.warn({ feed: feed.name, problem: problemOf(error) }, 'could not tell anybody how the feed is')
      })
    last.set(feed.name, telling)
  }

  async function told(feed: FeedConfig, { report, isStale = false }: Occasion): Promise<void> {
    const { notify } = app.config
    const store = app.store()
    const run = await store.runs.last(feed.name)
    // A run that is not on record does not count: another process has the store.
    if (report !== undefined && run?.startedAt !== report.startedAt) return
    const good = await lastGood(store, feed)
    const isGood = report !== undefined && good !== null && good >= report.startedAt
    const beats = feed.heartbeat === null || report === undefined ? [] : [beat(feed, feed.heartbeat, isGood)]
    const now = clock.now()
    const waiting = (await store.holds.held(feed.name, now)).filter(isWaiting)
    const condition: Condition = {
      at: now,
      // Whoever stopped the daemon knows, and the next run tells how the feed is.
      failed: run?.result === 'failed' && !run.interrupted,
      failure: shortHash(withoutNumbers(run?.error ?? '')),
      stale: isStale,
      good: isGood,
      held: [...new Set(waiting.flatMap(({ rules }) => rules))],
    }
    const memory = JSON.parse((await store.runs.told(feed.name)) ?? '{}') as Memory
    const facts = (news: News): Promise<Facts> =>
      factsOf(feed, store, { report, run, good, waiting, locale: app.config.locale }, news)
    const known = await Promise.all(
      notify.map(async (target, number) => {
        const place = shortHash(target.url)
        const before = memory[place] ?? nothingTold
        const { news, told } = newsOf(before, condition, target.on)
        for (const one of news)
          if (!(await deliver(target, number, messageOf(one, await facts(one), now)))) return [place, before] as const
        return [place, told] as const
      }),
    )
    const after = JSON.stringify(Object.fromEntries(known))
    if (notify.length > 0 && after !== JSON.stringify(memory)) await store.runs.noteTold(feed.name, after)
    await Promise.all(beats)
  }

  /** Why a message did not get there; null: it did. */
  const post = (target: Target, message: Message): Promise<string | null> =>
    send(target.url, clock, app.doors.clean(forms[target.form](message)))

  async function deliver(target: Target, number: number, message: Message): Promise<boolean> {
    const problem = await post(target, message)
    if (problem === null) return true
    const facts = { feed: message.feed, setting: `notify.${number}.url`, host: URL.parse(target.url)?.host, problem }
    log.warn(facts, `could not tell "${message.event}"; it is tried again after the next run`)
    return false
  }

  async function beat({ name }: FeedConfig, address: string, isGood: boolean): Promise<void> {
    const url = new URL(address)
    if (!isGood) url.pathname = `${url.pathname.replace(/\/$/, '')}/fail`
    const problem = await send(url.href, clock)
    if (problem !== null)
      log.warn({ feed: name, setting: 'heartbeat', host: url.host, problem }, 'could not call the heartbeat')
  }

  return {
    tell,
    /** Sends one message of each event to each place, as a test. Gives what became of each. */
    async test(): Promise<Tested[]> {
      const now = clock.now()
      const [feed] = app.config.feeds
      return Promise.all(
        app.config.notify.flatMap((target, number) =>
          target.on.map(async (event) => {
            const message = messageOf({ event, is: 'new', since: now }, example(feed, event), now)
            const test = {
              ...message,
              title: `Test: ${message.title}`,
              lines: ['This is a test of listing-sync; nothing has happened.', ...message.lines],
            }
            const problem = await post(target, test)
            return { setting: `notify.${number}.url`, host: URL.parse(target.url)?.host ?? '', event, problem }
          }),
        ),
      )
    },
    /** Resolves once all that was begun is told, or given up. */
    async idle(): Promise<void> {
      await Promise.all(last.values())
    },
  }
}

const homesNamed = 3

/** "12 Oak St, Raleigh ($320,000)". */
function homeText({ mlsNumber, home }: Held, reader: Reader): string {
  const price = homePrice(home, reader)
  return `${placeText(home) || printable(mlsNumber)}${price === '' ? '' : ` (${price})`}`
}

/** The text of an error without what differs each time. */
const withoutNumbers = (error: string): string => error.replaceAll(/"[^"]*"|\d+/g, '…')

interface Known {
  report: Report | undefined
  run: Pick<RunRecord, 'result' | 'error' | 'figures'> | null
  good: number | null
  waiting: readonly Held[]
  locale: string
}

async function factsOf(
  { name, chatbot, timezone }: FeedConfig,
  { snapshot, holds }: StoreReader,
  { report, run, good, waiting, locale }: Known,
  { since }: News,
): Promise<Facts> {
  const sentences = report?.holds.map(({ sentence }) => sentence) ?? []
  const listings = byListing(waiting)
  const events = await holds.events(name, since)
  const decided = events.findLast(({ what }) => what === 'approved' || what === 'refused' || what === 'revoked')
  // What became of most holds in the last run that ended any.
  const ends = events.filter(({ what }) => what === 'let go' || what === 'ended')
  const [end] = ends.filter(({ at }) => at === ends.at(-1)!.at).toSorted((one, other) => other.holds - one.holds)
  return {
    feed: name,
    chatbot,
    error: run?.result === 'failed' ? run.error : null,
    lack: run === null ? null : lackOf(run, name),
    held: {
      sentences:
        sentences.length > 0
          ? sentences
          : [...new Set(waiting.flatMap(({ rules }) => rules))].map((rule) => `Held by the rule "${rule}".`),
      changes: listings.length,
      homes: listings.slice(0, homesNamed).map(([held]) => homeText(held, { locale, timezone })),
    },
    ended:
      end?.what !== 'ended' && decided?.what === 'approved' ? 'approved' : end?.what === 'let go' ? 'let go' : 'ended',
    lastGood: good,
    listings: await snapshot.count(chatbot, name),
    time: (at) => minuteIn(timezone, at),
  }
}

/** What `notify --test` tells. */
function example({ name, chatbot, timezone }: FeedConfig, event: string): Facts {
  return {
    feed: name,
    chatbot,
    error: event === 'failed' ? 'The source answered HTTP 503.' : null,
    lack: null,
    held: {
      sentences: [
        '52 of 220 listings would leave the site; up to 44 may in 24 hours (limits.share). Held: 52 deletes.',
      ],
      changes: 52,
      homes: [
        '1 Test Street, Springfield ($320,000)',
        '2 Test Street, Springfield ($280,000)',
        '3 Test Street, Springfield ($1,900/month)',
      ],
    },
    ended: 'ended',
    lastGood: null,
    listings: 220,
    time: (at) => minuteIn(timezone, at),
  }
}
