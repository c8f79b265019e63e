import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'
import type { App, Finished } from '../app/app.ts'
import type { FeedConfig } from '../config/config.ts'
import { UserError, messageOf } from '../core/errors.ts'
import type { RunResult } from '../core/exit.ts'
import { printable } from '../core/text.ts'

interface ReportOptions {
  format: string
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
  const form = await app.reportForm(format, { colour: out === undefined && process.stdout.isTTY })
  const around = feeds.length > 1 ? form.several : { before: '', between: '', after: '' }
  const results: RunResult[] = []
  try {
    await output.write(form.document.before + around.before)
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
    await output.write(around.after + form.document.after)
    return results
  } finally {
    await output.end()
  }
}

/**
 * Writes to a stream as fast as it takes it. A failure must not stop the runs whose reports are written: it is said at
 * the end, and a reader that has gone away (`| head`) is no failure.
 */
class StreamOutput {
  #stream: Writable
  #file: string | undefined
  #failure: NodeJS.ErrnoException | null = null
  #goOn: () => void = () => undefined

  constructor(stream: Writable, file: string | undefined) {
    this.#stream = stream
    this.#file = file
    stream.on('drain', () => this.#goOn())
    stream.on('close', () => this.#goOn())
    stream.on('error', (error) => {
      this.#failure ??= error
      this.#goOn()
    })
  }

  async write(text: string): Promise<void> {
    if (this.#failure !== null || this.#stream.write(text)) return
    await new Promise<void>((resolve) => (this.#goOn = resolve))
  }

  /** Throws `UserError` where the report could not be written. */
  async end(): Promise<void> {
    if (this.#file !== undefined && this.#failure === null) {
      await new Promise<void>((resolve) => {
        this.#goOn = resolve
        this.#stream.end()
      })
    }
    if (this.#failure === null || this.#failure.code === 'EPIPE') return
    const place = this.#file ?? 'standard output'
    throw new UserError(`the report can't be written to ${place}: ${messageOf(this.#failure)}`)
  }
}
