import { resolve } from 'node:path'
import type { CommandContext } from '../app/app.ts'
import { runFinished } from '../app/log.ts'
import { openApp } from '../app/open.ts'
import { readTextFile } from '../app/text-file.ts'
import { savedFeed } from '../config/saved.ts'
import { UsageError } from '../core/errors.ts'
import { exitStatusOf } from '../core/exit.ts'
import { assertNamedRightly, chosenFeeds, withApp } from './command.ts'
import { writeReports } from './write-reports.ts'
import type { ReportOptions } from './write-reports.ts'

interface SyncOptions extends ReportOptions {
  /** Of `backfill`: one more feed. */
  feed?: string
  /** Of `backfill`: a folder that `export` wrote, in place of the feed's source. */
  from?: string
}

/** `sync` and `backfill`: run each feed once, one after another. What is held is logged, too: nobody may read the report. */
export function syncCommand(
  context: CommandContext,
  names: string[],
  { feed, from, ...options }: SyncOptions,
  command: 'sync' | 'backfill',
): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const named = feed === undefined ? names : [...names, feed]
    let feeds = chosenFeeds(app.config, named)
    if (from !== undefined) {
      if (named.length === 0 || feeds.length > 1) throw new UsageError('--from fills one feed; name it with --feed')
      feeds = [await savedFeed(feeds[0], resolve(from), readTextFile, context.signal)]
    }
    await assertNamedRightly(() => app.store())
    const results = await writeReports(app, feeds, options, async (feed) => {
      const finished = await app.sync(feed, command)
      const facts = { run: finished.run, feed: feed.name, result: finished.report.result }
      if (facts.result === 'held')
        app.runtime.log.warn({ ...facts, approve: `listing-sync approve ${feed.name}` }, runFinished)
      return finished
    })
    return exitStatusOf(results)
  })
}
