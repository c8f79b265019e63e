import { styleText } from 'node:util'
import type { App, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import type { FeedConfig } from '../config/config.ts'
import { minuteIn } from '../core/zone.ts'
import { exitStatus } from '../core/exit.ts'
import { systemClock } from '../core/machine.ts'
import { jsonDocument, printable } from '../core/text.ts'
import { lastGood } from '../app/last-good.ts'
import { staleness } from '../daemon/health.ts'
import { dueTimes } from '../daemon/schedule.ts'
import { heartbeatFile, isFresh } from '../../bin/heartbeat.mjs'
import { isAlive } from '../daemon/one-daemon.ts'
import { approvalLasts } from '../store/holds.ts'
import type { Held } from '../store/store.ts'
import { chosenFeeds, withApp } from './command.ts'
import { byRule, groupInWords, isWaiting } from './held.ts'
import { countsInWords, endOf, isGone, underWayInWords } from './run-in-words.ts'

/**
 * `status`: the last run of each feed, how fresh it is, what is held and since when. `--ready` is for what alerts. `--health`
 * is for what restarts the daemon: a restart mends no feed, no service and no configuration, so none of them is looked at.
 */
export async function statusCommand(
  context: CommandContext,
  names: string[],
  options: { format: 'text' | 'json'; health?: true; ready?: true },
): Promise<number> {
  const { configFile, clock = systemClock } = context
  if (options.health) return isFresh(heartbeatFile(configFile), clock.now()) ? exitStatus.right : exitStatus.failed
  return withApp(openApp(context), async (app) => {
    const feeds = chosenFeeds(app.config, names)
    if (options.ready) {
      const problems = await notReady(app, feeds)
      app.doors.out.write(problems.map((problem) => `${problem}\n`).join(''))
      return problems.length === 0 ? exitStatus.right : exitStatus.failed
    }
    const left = await leftBehind(app)
    const statuses = await Promise.all(feeds.map(async (feed) => ({ ...(await statusOf(app, feed)), left })))
    if (options.format === 'json') app.doors.out.document(statuses.length === 1 ? statuses[0] : statuses, jsonDocument)
    else app.doors.out.write([...(await restarts(app)), ...statuses.map(written), ...left.map(leftInWords)].join('\n'))
    return exitStatus.right
  })
}

/** All that is wrong with the daemon and the feeds that it runs. */
async function notReady(app: App, feeds: readonly FeedConfig[]): Promise<string[]> {
  const now = app.runtime.clock.now()
  const problems = isAlive(app.config.beside, now) ? [] : ['no daemon is alive on this store']
  for (const feed of feeds) {
    const problem = await staleOf(app, feed)
    if (problem !== null) problems.push(`${feed.name}: ${problem}`)
    const waiting = (await app.reader().holds.held(feed.name, now)).filter(isWaiting)
    for (const [rules, held] of byRule(waiting))
      problems.push(`${feed.name}: ${groupInWords(rules, held, feed)}; now: listing-sync approve ${feed.name}`)
  }
  return problems
}

/** What feeds left in the store that are no longer in the configuration. */
async function leftBehind(app: App) {
  const { snapshot, runs, holds } = app.reader()
  const gone = (await runs.feeds()).filter((name) => !app.config.feeds.some((feed) => feed.name === name))
  const left = await Promise.all(
    gone.map(async (feed) => ({ feed, chatbots: await snapshot.chatbots(feed), holds: await holds.count(feed) })),
  )
  return left
    .filter(({ chatbots, holds: held }) => chatbots.length + held > 0)
    .map((one) => ({ ...one, todo: whatToDo(one.feed) }))
}

const whatToDo = (feed: string): string =>
  `Nothing is done with them. If a feed of another name has them now, write there: formerly: [${feed}]; else put ${feed} back, or delete them on the chatbot`

function leftInWords({ feed, chatbots, holds, todo }: Awaited<ReturnType<typeof leftBehind>>[number]): string {
  const listings = chatbots.map((one) => `${one.listings} listings in chatbot ${printable(one.chatbot)}`)
  if (holds > 0) listings.push(`${holds} held`)
  return `${styleText('bold', `${printable(feed)} is no longer in the configuration`)}\n  left: ${listings.join(', ')}\n  ${todo}\n`
}

/** A daemon that is started again and again, as a line. */
async function restarts(app: App): Promise<string[]> {
  const { times, at } = await app.reader().runs.starts()
  if (times < 2) return []
  const last = new Date(at).toISOString()
  return [`The daemon was started ${times} times, each time after one that ended without a word; last at ${last}\n`]
}

async function staleOf(app: App, feed: FeedConfig): Promise<string | null> {
  const { schedule, timezone } = feed
  if (schedule === null) return null
  const good = await lastGood(app.reader(), feed)
  return staleness({ expression: schedule, timezone }, good, app.runtime.clock.now())
}

async function statusOf(app: App, feed: FeedConfig) {
  const { name, chatbot } = feed
  const now = app.runtime.clock.now()
  const { snapshot, runs, holds } = app.reader()
  const iso = (at: number): string => new Date(at).toISOString()
  const held = await holds.held(name, now)
  const heldEntry = ({ mlsNumber, part, why, since }: Held) => {
    const kind = part?.split(' ')[0] ?? null
    return { mlsNumber, kind, why, since: iso(since), hours: Math.floor((now - since) / 3_600_000) }
  }
  const lastRun = await runs.last(name)
  const begun = await runs.underWay(name)
  const { schedule, timezone } = feed
  const next = schedule === null ? null : dueTimes({ expression: schedule, timezone }).next(now)
  const waiting = held.filter(isWaiting)
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
      inWords: endOf(lastRun, timezone),
      counts: countsInWords(lastRun.figures),
      command: lastRun.command,
      startedAt: iso(lastRun.startedAt),
      finishedAt: iso(lastRun.finishedAt),
      result: lastRun.result,
      interrupted: lastRun.interrupted,
      error: lastRun.error,
    },
    lastSuccess: lastSuccess === null ? null : iso(lastSuccess),
    /** Seconds since the last run that was not a failure; null: never. */
    age: lastSuccess === null ? null : Math.floor((now - lastSuccess) / 1000),
    /** What is wrong with the freshness of a feed with a schedule; null: nothing. */
    stale: await staleOf(app, feed),
    held: held.map(heldEntry),
    /** What the guard holds, by rule, in words. */
    heldByRule: Array.from(byRule(waiting), ([rules, some]) => groupInWords(rules, some, feed)),
    approvals: approvalsOf(held),
  }
}

/** Each time that somebody approved something that no run has carried out yet. */
function approvalsOf(held: readonly Held[]) {
  const approvals = new Map<string, { by: string; at: string; until: string; changes: number }>()
  for (const { decision } of held) {
    if (decision?.is !== 'approved') continue
    const { by, at } = decision
    const name = `${at} ${by}`
    const until = new Date(at + approvalLasts).toISOString()
    const approval = approvals.get(name) ?? { by, at: new Date(at).toISOString(), until, changes: 0 }
    approval.changes++
    approvals.set(name, approval)
  }
  return [...approvals.values()]
}

const heldShown = 50

function written({
  feed,
  chatbot,
  listings,
  lastRun,
  age,
  stale,
  held,
  heldByRule,
  underWay,
  nextRun,
  approvals,
}: Awaited<ReturnType<typeof statusOf>>): string {
  const lines = [styleText('bold', `${feed} → chatbot ${printable(chatbot)}: ${listings} listings`)]
  if (underWay !== null) lines.push(`  ${underWay.inWords}`)
  if (lastRun === null) {
    if (underWay === null) lines.push('  never run')
  } else {
    lines.push(
      `  last ${lastRun.command}: ${lastRun.result}${lastRun.interrupted ? ', interrupted' : ''}, run ${lastRun.run}, ${lastRun.inWords}`,
    )
    if (lastRun.counts !== '') lines.push(`  changes: ${lastRun.counts}`)
  }
  if (nextRun !== null) lines.push(`  next run: ${nextRun.local}`)
  if (age !== null && lastRun?.result === 'failed') lines.push(`  last success ${Math.floor(age / 60)} minutes ago`)
  if (stale !== null && lastRun !== null) lines.push(`  stale: ${stale}`)
  for (const group of heldByRule) lines.push(`  ${group}; now: listing-sync approve ${feed}`)
  if (held.length > 0) lines.push(`  ${held.length} held:`)
  for (const one of held.slice(0, heldShown))
    lines.push(`    ${one.kind ?? 'hold'} ${printable(one.mlsNumber)}, for ${one.hours} h: ${printable(one.why)}`)
  if (held.length > heldShown) lines.push(`    and ${held.length - heldShown} more (see --format json)`)
  for (const { by, at, until, changes } of approvals)
    lines.push(`  ${changes} approved by ${printable(by)} at ${at}, until ${until}; the next run carries them out`)
  return `${lines.join('\n')}\n`
}
