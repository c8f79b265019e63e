import type { App, Finished } from '../app/app.ts'
import type { FeedConfig } from '../config/config.ts'
import type { RunResult } from '../core/exit.ts'
import { UsageError } from '../core/errors.ts'
import { printable } from '../core/text.ts'
import type { FormOptions } from '../report/report.ts'

/** Options of commands that write reports. */
export interface ReportOptions {
  format: string
  out?: string
  /** Hosts, with commas between them. */
  images?: string
}

/** Reads the options of a form. Throws `UsageError` for pictures in a form that has none, and for what is no host. */
export function formOptions(app: App, { format, out, images }: ReportOptions, feeds: number): FormOptions {
  const hosts = images === undefined ? [] : images.split(',').map((host) => host.trim().toLowerCase())
  if (hosts.length > 0 && format !== 'html') throw new UsageError('--images goes with --format html')
  const strange = hosts.find((host) => !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/.test(host))
  if (strange !== undefined)
    throw new UsageError(`--images takes names of hosts, such as photos.example.com, not "${strange}"`)
  return { colour: out === undefined && app.doors.out.isTTY, images: hosts, feeds }
}

/** Runs each feed and writes its report: one document for one feed, an array for several. Returns the results. */
export async function writeReports(
  app: App,
  feeds: readonly FeedConfig[],
  options: ReportOptions,
  run: (feed: FeedConfig) => Promise<Finished>,
): Promise<RunResult[]> {
  const { format, out } = options
  const form = await app.reportForm(format, formOptions(app, options, feeds.length))
  const output = app.doors.reports(out)
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
