/** How feeds are and what is wrong with them, for `status`, the pages and alerts. */
import type { App } from '../app/app.ts'
import {
  byListing,
  byRule,
  findingsOf,
  groupInWords,
  groupsOf,
  isApprovable,
  sinceOf,
  waitingInWords,
  withoutHolds,
} from '../app/held.ts'
import { figuresOf, lackOf, lastGood } from '../app/last-good.ts'
import { listsInWords } from '../app/lists.ts'
import type { FeedConfig } from '../config/config.ts'
import { heartbeatFile, isFresh } from '../../bin/heartbeat.mjs'
import { minuteIn } from '../core/zone.ts'
import { approvalLasts } from '../store/holds.ts'
import { observedText } from '../report/headline.ts'
import type { Observed } from '../report/report.ts'
import type { Held, HoldsReader, NumberedRun, StoreReader } from '../store/store.ts'
import { staleness } from './health.ts'
import { isAlive } from './one-daemon.ts'
import { countsInWords, endOf, failuresIn, isGone, underWayInWords } from './run-in-words.ts'
import { dueTimes } from './schedule.ts'

/** Something that is wrong; `feed` null: it concerns them all. */
export interface Unready {
  feed: string | null
  what: 'daemon' | 'configuration' | 'stale' | 'held'
  /** A sentence. */
  text: string
}

/** All that is wrong with the daemon, its configuration and these feeds. */
export async function readinessOf(app: App, store: StoreReader, feeds: readonly FeedConfig[]): Promise<Unready[]> {
  const now = app.runtime.clock.now()
  const problems: Unready[] = []
  const dead = noDaemon(app.config, now)
  if (dead !== null) problems.push({ feed: null, what: 'daemon', text: dead })
  for (const problem of app.refusedReload?.problems ?? [])
    problems.push({
      feed: null,
      what: 'configuration',
      text: `the changed configuration has problems, and the one before is in use: ${problem}`,
    })
  for (const feed of feeds) {
    const problem = await staleOf(app, store, feed)
    if (problem !== null) problems.push({ feed: feed.name, what: 'stale', text: problem })
    const approve = `; now: listing-sync approve ${feed.name}`
    for (const text of await waitingInWords(await withoutHolds(feed, store), feed, now))
      problems.push({ feed: feed.name, what: 'held', text: text.endsWith(approve) ? text : text + approve })
  }
  return problems
}

/** That no daemon is alive, as a clause; null: one is. */
export function noDaemon({ beside, file }: App['config'], now: number): string | null {
  if (beside === null) return isFresh(heartbeatFile(file), now) ? null : 'no daemon is alive on this machine'
  return isAlive(beside, now) ? null : 'no daemon is alive on this store'
}

async function staleOf(app: App, store: StoreReader, feed: FeedConfig): Promise<string | null> {
  const { schedule, timezone } = feed
  if (schedule === null) return null
  const good = await lastGood(store, feed)
  return staleness({ expression: schedule, timezone }, good, app.runtime.clock.now())
}

/** The state of a feed, as plain data and in words. `most`: if more listings are held, so many are told of, and the rest is counted. */
export async function statusOf(app: App, store: StoreReader, feed: FeedConfig, most = Infinity) {
  const { name, chatbot } = feed
  const now = app.runtime.clock.now()
  const own = await withoutHolds(feed, store)
  const { snapshot, runs, holds } = own
  const iso = (at: number): string => new Date(at).toISOString()
  const count = await holds.count(name)
  const isMany = count > most
  const held = await holds.held(name, now, isMany ? { most } : {})
  const heldEntry = (some: [Held, ...Held[]]) => {
    // If the guard holds something of the listing, that is told, and not why an incomplete delivery does nothing.
    const { mlsNumber, part, why } = some.find((entry) => entry.part !== null) ?? some[0]
    const kind = part?.split(' ')[0] ?? null
    const since = sinceOf(some)
    // This machine's clock may be behind that of the run.
    const hours = Math.max(0, Math.floor((now - since) / 3_600_000))
    return { mlsNumber, kind, why, since: iso(since), hours }
  }
  const lastRun = await runs.last(name)
  const { failures, count: failed } = failuresIn(lastRun?.figures ?? '{}')
  const begun = await runs.underWay(name)
  const { schedule, timezone } = feed
  const next = schedule === null ? null : dueTimes({ expression: schedule, timezone }).next(now)
  const open = held.filter(isApprovable).filter(({ decision }) => decision?.is !== 'approved')
  const lastSuccess = await runs.lastSuccess(name)
  return {
    feed: name,
    chatbot,
    listings: await snapshot.count(chatbot, name),
    /** The run that has begun and not ended; `ended`: its process is gone. */
    underWay: begun && {
      run: begun.number,
      command: begun.command,
      startedAt: iso(begun.startedAt),
      seenAt: iso(begun.seenAt),
      progress: begun.progress,
      ended: isGone(begun, now),
      inWords: underWayInWords(begun, timezone, now),
    },
    nextRun: next === null ? null : { at: iso(next), local: `${minuteIn(timezone, next)} (${timezone})` },
    lastRun: lastRun && {
      run: lastRun.number,
      // What is lacking ends with a full stop.
      inWords: [endOf(lastRun, timezone), figuresOf(lastRun).unsettled ?? [], lackOf(lastRun, name) ?? []]
        .flat()
        .join('. '),
      counts: countsInWords(lastRun.figures),
      /** Changes that failed, or of which nobody knows: the first few, and how many there are. */
      failures,
      failed,
      command: lastRun.command,
      startedAt: iso(lastRun.startedAt),
      finishedAt: iso(lastRun.finishedAt),
      result: lastRun.result,
      interrupted: lastRun.interrupted,
      error: lastRun.error,
    },
    /** How often the service's whole list is read; if not by every run, also when it was last and is next. */
    list: listOf(feed, lastRun),
    lastSuccess: lastSuccess === null ? null : iso(lastSuccess),
    /** Seconds since the last run that was not a failure; null: never. */
    age: lastSuccess === null ? null : Math.max(0, Math.floor((now - lastSuccess) / 1000)),
    /** What is wrong with the freshness of a feed with a schedule; null: nothing. */
    stale: await staleOf(app, store, feed),
    /** One entry for each listing, however much of it is held. */
    held: byListing(held).map(heldEntry),
    heldCount: count,
    /** What a person may let through, by what holds it, in words. */
    heldByRule: isMany
      ? await waitingInWords(own, feed, now)
      : Array.from(byRule(open), ([rules, some]) => groupInWords(rules, some, feed, now)),
    /** The same, with what the rules found, for programs. */
    holds: groupsOf(open, feed, now, open.length === 0 ? new Map() : await findingsOf(runs, name)),
    approvals: approvalsOf(await holds.approvals(name, now), timezone),
  }
}

function listOf(feed: FeedConfig, lastRun: NumberedRun | null) {
  const { observed = null } = JSON.parse(lastRun?.figures ?? '{}') as { observed?: Observed | null }
  const text = observedText({ reader: { locale: '', timezone: feed.timezone }, ...(observed && { observed }) })
  return {
    every: listsInWords(feed),
    readAt: observed && new Date(observed.at).toISOString(),
    nextAt: observed && new Date(observed.next).toISOString(),
    // Not told if every run reads it.
    inWords:
      feed.observe || observed
        ? `the service's list is read whole ${listsInWords(feed)}${text === '' ? '' : `; ${text}`}`
        : null,
  }
}

/** Approvals that no run has carried out yet, one for each time that somebody approved. */
function approvalsOf(approvals: Awaited<ReturnType<HoldsReader['approvals']>>, timezone: string) {
  return approvals.map(({ by, at, listings: changes }) => {
    const until = at + approvalLasts
    const [day, end] = [minuteIn(timezone, at), minuteIn(timezone, until)]
    return {
      by,
      at: new Date(at).toISOString(),
      until: new Date(until).toISOString(),
      changes,
      inWords: `${changes} approved by ${by} on ${day}; the next run carries ${changes === 1 ? 'it' : 'them'} out if the feed still says so; the approval ends on ${end}`,
    }
  })
}
