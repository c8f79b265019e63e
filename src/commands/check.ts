import { styleText } from 'node:util'
import { heartbeatFile, isFresh } from '../../bin/heartbeat.mjs'
import type { CommandContext } from '../app/app.ts'
import {
  checkChatbots,
  checkLeft,
  checkMetrics,
  checkScratch,
  checkSecrets,
  checkService,
  checkSource,
  checkStore,
} from '../app/check.ts'
import type { Checked } from '../app/check.ts'
import { openApp } from '../app/open.ts'
import type { FeedConfig } from '../config/config.ts'
import { ConfigError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, many } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import { dueTimes } from '../daemon/schedule.ts'
import { checkPage } from '../pages/check.ts'
import { chosenFeeds, withApp } from './command.ts'

/**
 * `check`: tries out, without a trace, whether a daemon would run with this configuration. Tells all that is wrong at once, with what
 * to do. The exit status is 78 for a wrong configuration, else 1 if anything is wrong.
 */
export async function checkCommand(
  context: CommandContext,
  names: string[],
  { format }: { format: 'text' | 'json' },
): Promise<number> {
  const { out } = context.doors
  const print = (checks: Checked[]): void =>
    format === 'json'
      ? out.document({ ok: checks.every(({ ok }) => ok), checks }, jsonDocument)
      : out.document(checks, (clean) => clean.map((check) => lineOf(check, out.isTTY)).join(''))
  let app
  try {
    app = openApp(context)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    print(error.problems.map(problemOf))
    return exitStatus.configuration
  }
  return withApp(app, async (opened) => {
    const { config, runtime } = opened
    const feeds = chosenFeeds(config, names)
    const store = await checkStore(config)
    const checks = [
      checkedConfiguration(config.file, feeds),
      ...checkChatbots(config, feeds),
      checkSecrets(config),
      store,
      ...(store.ok ? await checkLeft(opened) : []),
      checkScratch(config),
      ...checkMetrics(config),
      ...(await checkPage(config, isFresh(heartbeatFile(config.file), runtime.clock.now()))),
    ]
    for (const feed of feeds) {
      checks.push(await checkSource(context, feed))
      checks.push(await checkService(opened, feed, context.signal))
      checks.push(nextRun(feed, runtime.clock.now()))
      // What it cut short says nothing about the source or the service.
      context.signal.throwIfAborted()
    }
    print(checks)
    return checks.every(({ ok }) => ok) ? exitStatus.right : exitStatus.failed
  })
}

function problemOf(problem: string): Checked {
  const isSecret = /environment variable \S+ is|file .* (is empty|can't be read)/.test(problem)
  const remedy = isSecret
    ? 'set it where the daemon runs; the rest is looked at once the configuration can be read'
    : 'mend the file; the rest is looked at once the configuration can be read'
  return { what: isSecret ? 'secrets' : 'configuration', feed: null, ok: false, found: problem, remedy }
}

function checkedConfiguration(file: string, feeds: readonly FeedConfig[]): Checked {
  const found = `${file}: ${many(feeds.length, 'feed')}, no problem`
  return { what: 'configuration', feed: null, ok: true, found, remedy: null }
}

/** When the daemon runs the feed next, in the feed's own time. */
function nextRun({ name, source, schedule, timezone }: FeedConfig, now: number): Checked {
  const about = { what: 'schedule', feed: name } as const
  if (schedule === null) {
    const add = source === '-' ? '' : '; for the daemon add: schedule: "*/30 * * * *"'
    const remedy = `the daemon leaves it out${add}`
    return { ...about, ok: true, found: 'runs by hand only', remedy }
  }
  const next = dueTimes({ expression: schedule, timezone }).next(now)
  if (next === null)
    return {
      ...about,
      ok: false,
      found: `"${schedule}" names no time`,
      remedy: 'check the day and the month of `schedule`',
    }
  return { ...about, ok: true, found: `next run ${minuteIn(timezone, next)} (${timezone})`, remedy: null }
}

function lineOf({ what, feed, ok, found, remedy }: Checked, colour: boolean): string {
  const mark = ok ? '✓' : '✗'
  const painted = colour ? styleText(ok ? 'green' : 'red', mark, { validateStream: false }) : mark
  const subject = feed === null ? what : `${what} ${feed}`
  return `${painted} ${subject}: ${found}${remedy === null ? '' : `\n    → ${remedy}`}\n`
}
