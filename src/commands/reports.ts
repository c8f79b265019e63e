import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { App, Finished, FormName } from '../app.ts'
import type { FeedConfig } from '../config.ts'
import { UserError, messageOf } from '../errors.ts'
import type { RunResult } from '../run.ts'
import { printable } from '../text.ts'

interface ReportOptions {
  format: FormName
  out?: string
}

/** Runs each feed and writes its report: one document for one feed, an array for several. Gives the results. */
export async function writeReports(
  app: App,
  feeds: readonly FeedConfig[],
  { format, out }: ReportOptions,
  run: (feed: FeedConfig) => Promise<Finished>,
): Promise<RunResult[]> {
  const output = new StreamOutput(out === undefined ? process.stdout : createWriteStream(out), out)
  const form = app.reportForm(format, { colour: out === undefined && process.stdout.isTTY })
  const around = feeds.length > 1 ? form.several : { before: '', between: '', after: '' }
  const results: RunResult[] = []
  try {
    if (around.before !== '') await output.write(around.before)
    for (const [index, feed] of feeds.entries()) {
      if (index > 0) await output.write(around.between)
      const finished = await run(feed)
      try {
        await form.write(finished.report, output)
      } finally {
        finished.close()
      }
      results.push(finished.report.result)
      if (format === 'json' && finished.report.error !== null)
        process.stderr.write(`listing-sync: ${feed.name}: ${printable(finished.report.error)}\n`)
    }
    if (around.after !== '') await output.write(around.after)
    return results
  } finally {
    await output.end()
  }
}

/** Writes to a stream as fast as it takes it. */
class StreamOutput {
  #stream: Writable
  #file: string | undefined
  #failure: Error | null = null

  constructor(stream: Writable, file: string | undefined) {
    this.#stream = stream
    this.#file = file
    stream.on('error', (error) => (this.#failure = error))
  }

  async write(text: string): Promise<void> {
    this.#check()
    if (!this.#stream.write(text)) await Promise.race([once(this.#stream, 'drain'), once(this.#stream, 'close')])
    this.#check()
  }

  async end(): Promise<void> {
    if (this.#file === undefined) return
    this.#stream.end()
    if (this.#failure === null) await once(this.#stream, 'close')
    this.#check()
  }

  #check(): void {
    if (this.#failure !== null)
      throw new UserError(
        `the report can't be written to ${this.#file ?? 'standard output'}: ${messageOf(this.#failure)}`,
      )
  }
}
