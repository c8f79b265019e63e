import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { exitStatusOf } from '../core/exit.ts'
import { assertNamedRightly, chosenFeeds, withApp } from './command.ts'
import { writeReports } from './write-reports.ts'
import type { ReportOptions } from './write-reports.ts'

/** `diff`: reports the plan of each feed. Writes nothing, on the service or in the store. */
export function diffCommand(context: CommandContext, names: string[], options: ReportOptions): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const feeds = chosenFeeds(app.config, names)
    await assertNamedRightly(() => app.reader())
    const results = await writeReports(app, feeds, options, (feed) => app.diff(feed))
    return exitStatusOf(results)
  })
}
