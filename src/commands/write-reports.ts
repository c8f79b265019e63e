import type { App, Finished } from '../app/app.ts'
import type { FeedConfig } from '../config/config.ts'
import type { RunResult } from '../core/exit.ts'
import { printable } from '../core/text.ts'

/** Runs each feed and writes its report: one document for one feed, an array for several. Returns the results. */
export async function writeReports(
  app: App,
  feeds: readonly FeedConfig[],
  { format, out }: { format: string; out?: string },
  run: (feed: FeedConfig) => Promise<Finished>,
): Promise<RunResult[]> {
  const output = app.doors.reports(out)
  const form = await app.reportForm(format, { colour: out === undefined && app.doors.out.isTTY })
  const around = feeds.length > 1 ? form.several : { before: '', between: '', after: '' }
  const results: RunResult[] = []
  try {
    await output.write(form.document.before + around.before)
    for (const [index, feed] of feeds.entries()) {
      if (index > 0) await output.write(around.between)
      const finished = await run(feed)
      try {
        await output.report(form, finished.report)
      } finally {
        finished.close()
      }
      results.push(finished.report.result)
      if (format === 'json' && finished.report.error !== null)
        app.doors.err.write(`listing-sync: ${feed.name}: ${printable(finished.report.error)}\n`)
    }
    await output.write(around.after + form.document.after)
    return results
  } finally {
    await output.end()
  }
}
