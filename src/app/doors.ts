/**
 * The three doors through which text leaves the program: log, store and output. Each removes known secrets by their values, as a
 * server may echo what it was sent, in its answer or in the feed.
 */
import { createWriteStream, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { UserError, messageOf } from '../core/errors.ts'
import { scrubbedPieces, scrubber } from '../core/secrets.ts'
import type { Report, ReportForm } from '../report/report.ts'
import type { Store } from '../store/store.ts'

export type Doors = ReturnType<typeof createDoors>
/** Standard output or standard error. */
export type Channel = Doors['out']

/** How many earlier secrets are remembered: a server may still echo them. */
const secretsKept = 100

/** Doors that know no secret yet. */
export function createDoors() {
  let secrets: readonly string[] = []
  let most = 0
  let scrubNow = scrubber(secrets)
  const scrub = (text: string): string => scrubNow(text)
  const clean = <T>(value: T): T => scrubbedTexts(value, scrub) as T

  const channel = (stream: () => NodeJS.WriteStream) => ({
    get isTTY() {
      return stream().isTTY
    },
    /** Writes a whole text, which the next one does not continue. */
    write: (text: string): void => void stream().write(scrub(text)),
    /** Writes plain data in a form. The data is cleaned first: a secret that a form has cut or escaped is not recognised. */
    document: <T>(value: T, form: (value: T) => string): void => void stream().write(form(clean(value))),
    /** For one text that comes in pieces. */
    pieces: () => scrubbedPieces(secrets, (text) => void stream().write(text)),
  })

  return {
    /** Learns secrets, for all that is written from now on. */
    learn: (found: readonly string[]): void => {
      const isNew = found.some((secret) => !secrets.includes(secret))
      most = Math.max(most, found.length + secretsKept)
      secrets = [...new Set([...found, ...secrets])].slice(0, most)
      if (isNew) scrubNow = scrubber(secrets)
    },
    /** For the log, which takes its lines apart. */
    scrub,
    /** Plain data with every text in it scrubbed; names of fields and keys of maps stay. */
    clean,
    out: channel(() => process.stdout),
    err: channel(() => process.stderr),
    /** Where reports go: a file, or standard output. */
    reports: (file?: string) =>
      reportStream(file === undefined ? process.stdout : createWriteStream(file), file, clean),
    /** Plain data, cleaned and in a form, as the answer to a request. */
    answer: <T>(value: T, form: (value: T) => string): string => form(clean(value)),
    /** A whole report as the answer to a request. */
    async answerReport(form: ReportForm, report: Report): Promise<string> {
      let text = form.document.before
      await form.write(cleanReport(report, clean), { write: (piece) => void (text += piece) })
      return text + form.document.after
    },
    /** Replaces a file: readers see the old one or the new one. */
    replace<T>(file: string, value: T, form: (value: T) => string): void {
      const unfinished = `${file}.${process.pid}.tmp`
      try {
        // Removed first, so as not to write through a link that somebody else put there.
        rmSync(unfinished, { force: true })
        writeFileSync(unfinished, form(clean(value)), { flag: 'wx' })
        renameSync(unfinished, file)
      } catch (error) {
        rmSync(unfinished, { force: true })
        throw error
      }
    },
    /** A store that scrubs the sentences which runs leave in it: `status` and `approve` show them. */
    store(store: Store): Store {
      const { runs, holds, changes } = store
      const kept = (text: string): string => JSON.stringify(clean(JSON.parse(text)))
      return {
        ...store,
        runs: {
          ...runs,
          record: ({ report, ...run }) =>
            runs.record({
              ...run,
              error: clean(run.error),
              figures: kept(run.figures),
              ...(report !== undefined && { report: kept(report) }),
            }),
          recordSettled: (feed, startedAt, { report, ...settled }) =>
            runs.recordSettled(feed, startedAt, { ...clean(settled), report: kept(report) }),
        },
        holds: {
          ...holds,
          replace(feed, held, run) {
            function* scrubbed() {
              for (const entry of held) yield { ...entry, why: scrub(entry.why) }
            }
            return holds.replace(feed, scrubbed(), run)
          },
        },
        changes: {
          ...changes,
          note: (feed, events) =>
            changes.note(
              feed,
              events.map(({ why, error, ...event }) => ({ ...event, why: scrub(why), error: clean(error) })),
            ),
        },
      }
    },
    /** Resolves once all that was written is out, or nobody reads it any more. */
    drained: () => new Promise<void>((done) => process.stdout.write('', () => process.stderr.write('', () => done()))),
  }
}

type Clean = <T>(value: T) => T

/**
 * Writes reports to a stream as fast as it takes them. A failure does not stop the runs: it is thrown at the end. A reader that has
 * gone away (`| head`) is no failure.
 */
function reportStream(stream: Writable, file: string | undefined, clean: Clean) {
  let failure: NodeJS.ErrnoException | null = null
  let goOn: () => void = () => undefined
  stream.on('drain', () => goOn())
  stream.on('close', () => goOn())
  stream.on('error', (error) => {
    failure ??= error
    goOn()
  })
  const output = {
    /** Writes text around the reports. */
    async write(text: string): Promise<void> {
      if (failure !== null || stream.write(text)) return
      await new Promise<void>((resolve) => (goOn = resolve))
    },
    /** The report is cleaned before the form writes it, so that no secret can lie across two pieces. */
    report: (form: ReportForm, report: Report): Promise<void> => form.write(cleanReport(report, clean), output),
    /** Ends the stream. Throws `UserError` if the report could not be written. */
    async end(): Promise<void> {
      if (file !== undefined && failure === null) {
        await new Promise<void>((resolve) => {
          goOn = resolve
          stream.end()
        })
      }
      if (failure === null || failure.code === 'EPIPE') return
      throw new UserError(`the report can't be written to ${file ?? 'standard output'}: ${messageOf(failure)}`)
    },
  }
  return output
}

/** The report with every sentence scrubbed. Values of fields are the feed's and the service's own, and stay. */
function cleanReport(report: Report, clean: Clean): Report {
  const { error, delivery, remote, notes, holds, verification } = report
  return {
    ...report,
    ...clean({ error, delivery, remote, notes, holds, verification }),
    *changes(kind) {
      for (const { why, outcome, ...change } of report.changes(kind))
        yield { ...change, why: clean(why), outcome: outcome && { ...outcome, error: clean(outcome.error) } }
    },
    *rejects() {
      for (const { problems, ...reject } of report.rejects()) yield { ...reject, problems: clean(problems) }
    },
  }
}

function scrubbedTexts(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') return scrub(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item) => scrubbedTexts(item, scrub))
  const entries = (pairs: Iterable<[unknown, unknown]>) =>
    Array.from(pairs, ([name, item]) => [name, scrubbedTexts(item, scrub)] as [string, unknown])
  return value instanceof Map ? new Map(entries(value)) : Object.fromEntries(entries(Object.entries(value)))
}
