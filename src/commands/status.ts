import { styleText } from 'node:util'
import type { App, CommandContext } from '../app/app.ts'
import { leftBehind, leftOf } from '../app/left-behind.ts'
import type { Left } from '../app/left-behind.ts'
import { openApp } from '../app/open.ts'
import { exitStatus } from '../core/exit.ts'
import { systemClock } from '../core/machine.ts'
import { jsonDocument, many, printable, spanInWords } from '../core/text.ts'
import { heartbeatFile, isFresh } from '../../bin/heartbeat.mjs'
import { noDaemon, readinessOf, statusOf } from '../daemon/status.ts'
import { failureInWords } from '../daemon/run-in-words.ts'
import type { Unready } from '../daemon/status.ts'
import { chosenFeeds, withApp } from './command.ts'

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
      const problems = await readinessOf(app, app.reader(), feeds)
      const ready = problems.length === 0
      if (options.format === 'json') app.doors.out.document({ ready, reasons: problems }, jsonDocument)
      else app.doors.out.write(problems.map(problemInWords).join(''))
      return ready ? exitStatus.right : exitStatus.failed
    }
    const left = await leftBehind(app.config, app.reader())
    const again = await restarts(app)
    const dead = noDaemon(app.config, clock.now())
    const statuses = await Promise.all(
      feeds.map(async (feed) => ({
        ...(await statusOf(app, app.reader(), feed)),
        left,
        /** Of the daemon, whatever the feed: null unless it is started again and again. */
        restarts: again,
        /** That no daemon is alive, as a clause, whatever the feed; null: one is. */
        noDaemon: dead,
      })),
    )
    if (options.format === 'json') app.doors.out.document(statuses.length === 1 ? statuses[0] : statuses, jsonDocument)
    else
      app.doors.out.write(
        [...(again === null ? [] : [restartsInWords(again)]), ...statuses.map(written), ...left.map(leftInWords)].join(
          '\n',
        ),
      )
    return exitStatus.right
  })
}

function problemInWords({ feed, text }: Unready): string {
  return `${feed === null ? '' : `${feed}: `}${printable(text)}\n`
}

function leftInWords(left: Left): string {
  return `${styleText('bold', left.what)}\n  left: ${leftOf(left)}\n  ${left.todo}\n`
}

/** A daemon that is started again and again; null: it is not. */
async function restarts(app: App): Promise<{ times: number; at: string } | null> {
  const { times, at } = await app.reader().runs.starts()
  return times < 2 ? null : { times, at: new Date(at).toISOString() }
}

function restartsInWords({ times, at }: { times: number; at: string }): string {
  return `The daemon was started ${times} times, each time after one that ended without a word; last at ${at}\n`
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
  list,
  approvals,
  noDaemon: dead,
}: Awaited<ReturnType<typeof statusOf>> & { noDaemon: string | null }): string {
  const lines = [styleText('bold', `${feed} → chatbot ${printable(chatbot)}: ${many(listings, 'listing')}`)]
  if (underWay !== null) lines.push(`  ${underWay.inWords}`)
  if (lastRun === null) {
    if (underWay === null) lines.push('  never run')
  } else {
    lines.push(
      `  last ${lastRun.command}: ${lastRun.result}${lastRun.interrupted ? ', interrupted' : ''}, run ${lastRun.run}, ${lastRun.inWords}`,
    )
    if (lastRun.counts !== '') lines.push(`  changes: ${lastRun.counts}`)
    if (lastRun.failed > 0) {
      const left = lastRun.failed - lastRun.failures.length
      lines.push(
        `  ${lastRun.failed} not carried out:`,
        ...lastRun.failures.map((failure) => `    ${failureInWords(failure)}`),
      )
      if (left > 0) lines.push(`    and ${left} more; all of them: listing-sync runs --run ${lastRun.run}`)
    }
  }
  if (nextRun !== null) lines.push(`  next run: ${nextRun.local}${dead === null ? '' : `, but ${dead}`}`)
  if (list.inWords !== null) lines.push(`  ${list.inWords}`)
  if (age !== null && lastRun?.result === 'failed') lines.push(`  last success ${spanInWords(age * 1000)} ago`)
  if (stale !== null && lastRun !== null) lines.push(`  stale: ${stale}`)
  for (const group of heldByRule) lines.push(`  ${group}; now: listing-sync approve ${feed}`)
  if (held.length > 0) lines.push(`  ${held.length} held:`)
  for (const entry of held.slice(0, heldShown))
    lines.push(
      `    ${entry.kind ?? 'hold'} ${printable(entry.mlsNumber)}, for ${entry.hours} h: ${printable(entry.why)}`,
    )
  if (held.length > heldShown) lines.push(`    and ${held.length - heldShown} more (see --format json)`)
  for (const { inWords } of approvals) lines.push(`  ${printable(inWords)}`)
  return `${lines.join('\n')}\n`
}
