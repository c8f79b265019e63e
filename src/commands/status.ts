import { styleText } from 'node:util'
import { openApp } from '../app.ts'
import type { App } from '../app.ts'
import type { FeedConfig } from '../config.ts'
import { aliveWithin } from '../daemon/heartbeat.ts'
import { exitStatus } from '../result.ts'
import type { RunResult } from '../run.ts'
import type { Held, OpenApproval } from '../store/store.ts'
import { escapeUnseen, printable } from '../text.ts'
import { chosenFeeds, withApp } from './command.ts'
import type { CommandContext } from './command.ts'

interface FeedStatus {
  feed: string
  chatbot: string
  listings: number
  lastRun: {
    command: string
    startedAt: string
    finishedAt: string
    result: RunResult
    interrupted: boolean
    error: string | null
  } | null
  lastSuccess: string | null
  /** Seconds since the last run that was not a failure; null: never. */
  age: number | null
  held: { mlsNumber: string; kind: string | null; why: string; since: string; hours: number }[]
  /** Approvals that no run has used yet. */
  approvals: { by: string; at: string; until: string; changes: number }[]
}

/** `status`: the last run of each feed, how fresh it is, what is held and since when. */
export function statusCommand(
  context: CommandContext,
  names: string[],
  options: { format: 'text' | 'json'; health?: true },
): Promise<number> {
  return withApp(openApp(context), async (app) => {
    if (options.health)
      return aliveWithin(app.config.store, app.runtime.clock.now()) ? exitStatus.right : exitStatus.failed
    const feeds = chosenFeeds(app.config, names)
    const statuses = feeds.map((feed) => statusOf(app, feed))
    if (options.format === 'json')
      process.stdout.write(`${escapeUnseen(JSON.stringify(statuses.length === 1 ? statuses[0] : statuses, null, 2))}\n`)
    else process.stdout.write(statuses.map(written).join('\n'))
    return exitStatus.right
  })
}

function statusOf(app: App, { name, chatbot }: FeedConfig): FeedStatus {
  const now = app.runtime.clock.now()
  const state = app.reader().feedState(name, chatbot, now)
  const iso = (at: number): string => new Date(at).toISOString()
  const heldEntry = ({ mlsNumber, kind, why, since }: Held): FeedStatus['held'][number] => {
    return { mlsNumber, kind, why, since: iso(since), hours: Math.floor((now - since) / 3_600_000) }
  }
  const approvalEntry = ({ by, at, expires, changes }: OpenApproval): FeedStatus['approvals'][number] => {
    return { by, at: iso(at), until: iso(expires), changes }
  }
  const { lastRun, lastSuccess } = state
  return {
    feed: name,
    chatbot,
    listings: state.owned,
    lastRun: lastRun && {
      command: lastRun.command,
      startedAt: iso(lastRun.startedAt),
      finishedAt: iso(lastRun.finishedAt),
      result: lastRun.result,
      interrupted: lastRun.interrupted,
      error: lastRun.error,
    },
    lastSuccess: lastSuccess === null ? null : iso(lastSuccess),
    age: lastSuccess === null ? null : Math.floor((now - lastSuccess) / 1000),
    held: app.reader().held(name).map(heldEntry),
    approvals: app.reader().openApprovals(name, now).map(approvalEntry),
  }
}

const heldShown = 50

function written({ feed, chatbot, listings, lastRun, age, held, approvals }: FeedStatus): string {
  const lines = [styleText('bold', `${feed} → chatbot ${printable(chatbot)}: ${listings} listings`)]
  if (lastRun === null) lines.push('  never run')
  else
    lines.push(
      `  last ${lastRun.command}: ${lastRun.result}${lastRun.interrupted ? ', interrupted' : ''}, ${lastRun.finishedAt}${lastRun.error === null ? '' : `: ${printable(lastRun.error)}`}`,
    )
  if (age !== null && lastRun?.result === 'failed') lines.push(`  last success ${Math.floor(age / 60)} minutes ago`)
  if (held.length > 0) lines.push(`  ${held.length} held:`)
  for (const one of held.slice(0, heldShown))
    lines.push(`    ${one.kind ?? 'hold'} ${printable(one.mlsNumber)}, for ${one.hours} h: ${printable(one.why)}`)
  if (held.length > heldShown) lines.push(`    and ${held.length - heldShown} more (see --format json)`)
  if (held.some((one) => one.kind !== null))
    lines.push(`  "listing-sync approve ${feed}" lets through what the guard holds`)
  for (const { by, at, until, changes } of approvals)
    lines.push(`  ${changes} approved by ${printable(by)} at ${at}, until ${until}; the next run carries them out`)
  return `${lines.join('\n')}\n`
}
