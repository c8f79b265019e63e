import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { exitStatusOf } from '../core/exit.ts'
import { assertNamedRightly, chosenFeeds, withApp } from './command.ts'
import { writeReports } from './write-reports.ts'
import type { ReportOptions } from './write-reports.ts'

/** `sync` and `backfill`: run each feed once, one after another. */
export function syncCommand(
  context: CommandContext,
  names: string[],
  options: ReportOptions,
  command: 'sync' | 'backfill',
): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const feeds = chosenFeeds(app.config, names)
    await assertNamedRightly(() => app.store())
    const results = await writeReports(app, feeds, options, (feed) => app.sync(feed, command))
    return exitStatusOf(results)
  })
}
