import type { App, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { storedReport } from '../app/stored-report.ts'
import type { Config } from '../config/config.ts'
import { UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, printable } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import type { NumberedRun } from '../store/store.ts'
import { failureOf } from '../report/report.ts'
import type { Failure, Report } from '../report/report.ts'
import { chosenFeeds, withApp } from './command.ts'
import { countsInWords, endInWords, endOf, failureInWords, failuresIn } from '../daemon/run-in-words.ts'
import { formOptions } from './write-reports.ts'
import type { ReportOptions } from './write-reports.ts'

/** How many runs are shown. */
const shown = 30

/** `runs`: the latest runs, of one feed or all, or one of them by its number. */
export function runsCommand(
  context: CommandContext,
  feed: string | undefined,
  options: ReportOptions & { run?: string },
): Promise<number> {
  const { format, out } = options
  const number = numberOf(options.run)
  const isReport = format !== 'text' && format !== 'json'
  if (number === null && (isReport || out !== undefined))
    throw new UsageError('the report of a run needs its number: --run N; the latest are: listing-sync runs')
  return withApp(openApp(context), async (app) => {
    const { config, doors } = app
    if (feed !== undefined) chosenFeeds(config, [feed])
    const { runs } = app.reader()
    let found: NumberedRun[]
    if (number === null) found = await runs.latest(feed ?? null, shown)
    else {
      const run = await runs.numbered(number)
      if (run === null || (feed !== undefined && run.feed !== feed))
        throw new UserError(
          `run ${number}${feed === undefined ? '' : ` of ${feed}`} is not on record; the latest are: listing-sync runs`,
        )
      found = [run]
    }
    let failures: Failure[] = []
    if (number !== null) {
      const report = await storedReport(app.reader(), number)
      if (isReport || out !== undefined) return writeReport(app, report, number, options)
      if (format === 'json') {
        const whole = { ...tellable(found[0]), report: report === null ? null : await asJson(app, report) }
        doors.out.document(whole, jsonDocument)
        return exitStatus.right
      }
      failures = report === null ? failuresIn(found[0].figures).failures : Array.from(report.changes('open'), failureOf)
    }
    const entries = found.map(tellable)
    if (format === 'json') doors.out.document(entries, jsonDocument)
    else if (found.length === 0) doors.out.write('no run is on record\n')
    else if (number === null) doors.out.document(found, (clean) => clean.map((run) => lineOf(run, config)).join(''))
    else doors.out.document({ run: found[0], failures }, (clean) => whole(clean, config))
    return exitStatus.right
  })
}

/** Throws `UserError` where nothing is kept of it. */
async function writeReport(app: App, report: Report | null, run: number, options: ReportOptions): Promise<number> {
  if (report === null)
    throw new UserError(`of run ${run} no report is kept: the store has those of the last 30 runs of each feed`)
  const form = await app.reportForm(options.format, formOptions(app, options, 1))
  const output = app.doors.reports(options.out)
  try {
    await output.write(form.document.before)
    await output.report(form, report)
    await output.write(form.document.after)
  } finally {
    await output.end()
  }
  return exitStatus.right
}

async function asJson(app: App, report: Report): Promise<unknown> {
  const form = await app.reportForm('json', { colour: false })
  let text = ''
  await form.write(report, { write: (piece) => void (text += piece) })
  return JSON.parse(text)
}

function numberOf(run: string | undefined): number | null {
  if (run === undefined) return null
  if (!/^[1-9]\d{0,11}$/.test(run)) throw new UsageError(`--run takes the number of a run, not "${run}"`)
  return Number(run)
}

/** As data for programs. */
function tellable({ figures, startedAt, finishedAt, number, ...run }: NumberedRun) {
  const iso = (at: number): string => new Date(at).toISOString()
  const seconds = Math.max(0, finishedAt - startedAt) / 1000
  const numbers = JSON.parse(figures) as Record<string, unknown>
  return { run: number, ...run, startedAt: iso(startedAt), finishedAt: iso(finishedAt), seconds, ...numbers }
}

const zoneOf = ({ feeds }: Config, feed: string): string => feeds.find(({ name }) => name === feed)?.timezone ?? 'UTC'

/** "41  Sat 21 Nov 12:00  north  sync: ok in 3 s; 2 created, 218 unchanged". */
function lineOf(run: NumberedRun, config: Config): string {
  const at = minuteIn(zoneOf(config, run.feed), run.startedAt)
  const counts = countsInWords(run.figures)
  return `${String(run.number).padStart(5)}  ${at}  ${printable(run.feed)}  ${run.command}: ${endInWords(run, zoneOf(config, run.feed))}${counts === '' ? '' : `; ${counts}`}\n`
}

function whole({ run, failures }: { run: NumberedRun; failures: Failure[] }, config: Config): string {
  const zone = zoneOf(config, run.feed)
  const { delivery, outcomes, calls } = JSON.parse(run.figures) as Record<string, unknown>
  const rows: [string, string][] = [
    ['began', `${minuteIn(zone, run.startedAt)} (${zone})`],
    ['ended', endOf(run, zone)],
    ['changes', countsInWords(run.figures)],
    ['outcomes', pairs(outcomes)],
    ['calls', pairs(calls)],
    ['delivery', pairs(delivery)],
  ]
  const lines = rows.filter(([, text]) => text !== '').map(([name, text]) => `  ${name.padEnd(9)} ${text}\n`)
  const { count } = failuresIn(run.figures)
  if (count > 0)
    lines.push(`  not carried out (${count}):\n`, ...failures.map((failure) => `    ${failureInWords(failure)}\n`))
  if (count > failures.length) lines.push(`    and ${count - failures.length} more, of which nothing is kept\n`)
  return `run ${run.number}: ${run.command} of ${printable(run.feed)} → chatbot ${printable(run.chatbot)}: ${run.result}\n${lines.join('')}`
}

/** Figures of an object, as "created 2, failed 1"; what is no number is left out. */
function pairs(figures: unknown): string {
  return Object.entries(Object(figures))
    .filter((entry): entry is [string, number] => typeof entry[1] === 'number')
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
