/**
 * Tells people how a feed is (`notify`) and calls `heartbeat`, after each run and as time goes by. What was told is in the
 * store, so that a restart repeats nothing. Nothing here fails or delays a run.
 */
import type { FeedConfig } from '../config/config.ts'
import { StoreError, messageOf as problemOf } from '../core/errors.ts'
import { shortHash } from '../core/hash.ts'
import type { Reader } from '../core/intl.ts'
import { printable } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import { forms } from '../notify/forms.ts'
import { messageOf } from '../notify/message.ts'
import type { Facts, Message } from '../notify/message.ts'
import { newsOf, nothingTold } from '../notify/news.ts'
import type { Condition, News, Notified } from '../notify/news.ts'
import type * as Sending from '../notify/send.ts'
import type { Target } from '../notify/settings.ts'
import { homePrice, placeText } from '../report/values.ts'
import type { Held, RunRecord, Store, StoreReader } from '../store/store.ts'
import type { App, Ended, Occasion, Tested } from './app.ts'
import { byListing, findingsOf, groupsOf, isWaiting, withoutHolds } from './held.ts'
import type { Approvable } from './held.ts'
import { lackOf, lastGood } from './last-good.ts'

/** Loads what sends only once there is anything to tell. */
const send: typeof Sending.send = async (...words) => (await import('../notify/send.ts')).send(...words)

/** By the fingerprint of each place, what it was told of a feed. An address that stands twice, for other events, is two places. */
type Memory = Record<string, Notified>

/** What this process remembers of a feed, for when the store can't be read or takes no writes. */
interface Remembered {
  /** The last good run; undefined: not known. */
  good: number | null | undefined
  memory: Memory
  /** The store has `memory`, too, or a newer one of another process. */
  isNoted: boolean
}

/** Milliseconds that what is being told is waited for after a stop signal, as calls are: a container has ten seconds in all. */
const patience = 8000

/** `signal` stops the program. */
export function createNotifier(app: App, signal: AbortSignal) {
  /** By feed, the end of what is being told of it: the next waits for that. */
  const last = new Map<string, Promise<void>>()
  const remembered = new Map<string, Remembered>()
  const { clock, log } = app.runtime
  /** When the program was told to stop. */
  const stopped = new Promise<number>((resolve) => {
    const stop = (): void => resolve(clock.now())
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

  /** Begins to tell. Never throws. */
  function tell(feed: FeedConfig, occasion: Occasion): void {
    const { notify } = app.config
    if (notify.length === 0 && feed.heartbeat === null) return
    // Another process has the right to run, and tells of its own run.
    if (occasion.ended?.unrecorded === 'elsewhere') return
    const before = last.get(feed.name) ?? Promise.resolve()
    const telling = before
      .then(() => notifyOf(feed, occasion))
      .catch((error: unknown) => {
        log.warn({ feed: feed.name, problem: problemOf(error) }, 'could not tell anybody how the feed is')
      })
    last.set(feed.name, telling)
  }

  async function notifyOf(feed: FeedConfig, { ended, isStale = false }: Occasion): Promise<void> {
    const { notify } = app.config
    const now = clock.now()
    const { store, run, good, waiting, memory, noted } = await known(feed, now)
    const lost = app.lostRun(feed.name, run)
    const isGood = ended !== undefined && lost === null && typeof good === 'number' && good >= ended.startedAt
    const beats = feed.heartbeat === null || ended === undefined ? [] : [beat(feed, feed.heartbeat, isGood)]
    // Whoever stopped the daemon knows, and the next run tells how the feed is.
    const failed = lost ?? (run?.result === 'failed' && !run.interrupted ? run : null)
    const condition: Condition = {
      at: now,
      failed: failed !== null,
      failure: shortHash(withoutNumbers(failed?.error ?? '')),
      stale: isStale,
      good: isGood,
      held: [...new Set(waiting.flatMap(({ rules }) => rules))],
    }
    const of = { failed, ended, run, good, waiting, locale: app.config.locale, now }
    const facts = (news: News): Promise<Facts> => factsOf(feed, store, of, news)
    const after = await Promise.all(
      notify.map(async (target, number) => {
        const sameBefore = notify.slice(0, number).filter(({ url }) => url === target.url).length
        const place = shortHash(sameBefore === 0 ? target.url : `${sameBefore} ${target.url}`)
        const before = memory[place] ?? nothingTold
        // Without the store nobody knows what is held.
        const on = store === null ? target.on.filter((event) => event !== 'held') : target.on
        const { news, after } = newsOf(before, condition, on)
        for (const event of news) {
          if (await deliver(target, number, messageOf(event, await facts(event), now))) continue
          // What is held is told last: the place has taken the rest.
          const but = on.filter((event) => event !== 'held')
          return [place, event.event === 'held' ? newsOf(before, condition, but).after : before] as const
        }
        return [place, after] as const
      }),
    )
    await remember(feed.name, store, noted, { good, memory: Object.fromEntries(after), isNoted: false })
    await Promise.all(beats)
  }

  /** How a feed is by the store; if that can't be read, by what this process remembers. */
  async function known(feed: FeedConfig, now: number) {
    const { name } = feed
    const own = remembered.get(name)
    try {
      const store = app.store()
      const noted = (await store.runs.notified(name)) ?? '{}'
      // After the loss of a store there may be a hold for each of a million listings, and nobody is told of those.
      const { holds } = await withoutHolds(feed, store)
      const isAnyWaiting = (await holds.waiting(name, now)) > 0
      const memory = own?.isNoted === false ? own.memory : (JSON.parse(noted) as Memory)
      return {
        store,
        run: await store.runs.last(name),
        good: await lastGood(store, feed),
        waiting: isAnyWaiting ? (await holds.held(name, now)).filter(isWaiting) : [],
        memory,
        noted,
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return { store: null, run: null, good: own?.good, waiting: [], memory: own?.memory ?? {}, noted: null }
    }
  }

  /** `noted`: what the store has of it. */
  async function remember(feed: string, store: Store | null, noted: string | null, now: Remembered): Promise<void> {
    remembered.set(feed, now)
    if (app.config.notify.length === 0 || store === null) return
    try {
      const text = JSON.stringify(now.memory)
      if (text !== noted) await store.runs.noteTold(feed, text)
      now.isNoted = true
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      log.warn(
        { feed, problem: error.message },
        'could not note in the store what was told: a restart may tell it again',
      )
    }
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
    /** Resolves once all that was begun is told, or given up: a place that hangs does not keep a program that was told to stop. */
    async idle(): Promise<void> {
      const over = new AbortController()
      const allSent = Promise.all(last.values()).finally(() => over.abort())
      const late = stopped
        .then((at) => clock.sleep(Math.max(0, at + patience - clock.now()), over.signal))
        .then(
          () => log.warn('stopped before everybody was told: what is left is told after the next run'),
          () => undefined,
        )
      await Promise.race([allSent, late])
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
  /** Why runs fail now; null: they don't. */
  failed: Pick<RunRecord, 'error'> | null
  ended: Ended | undefined
  run: Pick<RunRecord, 'result' | 'error' | 'figures'> | null
  good: number | null | undefined
  waiting: readonly Approvable[]
  locale: string
  now: number
}

/** `store` null: it can't be read. Then only failures are told, and what they need no store for. */
async function factsOf(
  feed: FeedConfig,
  store: StoreReader | null,
  { failed, ended, run, good, waiting, locale, now }: Known,
  { since }: News,
): Promise<Facts> {
  const { name, chatbot, timezone } = feed
  const sentences = ended?.holds?.map(({ sentence }) => sentence) ?? []
  const listings = byListing(waiting)
  const events = (await store?.holds.events(name, since)) ?? []
  // What a run held after an approval is not covered by it.
  const decided = events.findLast(({ what }) => what !== 'let go' && what !== 'ended')
  // What became of most holds in the last run that ended any.
  const ends = events.filter(({ what }) => what === 'let go' || what === 'ended')
  const [end] = ends.filter(({ at }) => at === ends.at(-1)!.at).toSorted((a, b) => b.holds - a.holds)
  return {
    feed: name,
    chatbot,
    error: failed?.error ?? null,
    lack: run === null ? null : lackOf(run, name),
    held: {
      sentences:
        sentences.length > 0
          ? sentences
          : groupsOf(waiting, feed, now, store === null ? new Map() : await findingsOf(store.runs, name)).map(
              ({ sentence }) => sentence,
            ),
      changes: listings.length,
      homes: listings.slice(0, homesNamed).map(([held]) => homeText(held, { locale, timezone })),
    },
    ended:
      end?.what !== 'ended' && decided?.what === 'approved' ? 'approved' : end?.what === 'let go' ? 'let go' : 'ended',
    lastGood: good,
    listings: (await store?.snapshot.count(chatbot, name)) ?? 0,
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
