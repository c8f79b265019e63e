/**
 * What a run tells and what the store keeps of it, with secrets out by value: a server may echo in its answer, or in the
 * feed, what it was sent.
 */
import type { Report, ReportedChange } from '../report/report.ts'
import type { Store } from '../store/store.ts'

type Scrub = (text: string) => string

/** The report with every sentence in it scrubbed. The values of fields are the feed's and the service's own. */
export function scrubbedReport(report: Report, scrub: Scrub): Report {
  const { error, delivery, remote, notes } = report
  return {
    ...report,
    error: error === null ? null : scrub(error),
    delivery: { ...delivery, reasons: delivery.reasons.map(scrub) },
    remote: { ...remote, reasons: remote.reasons.map(scrub) },
    notes: notes.map(scrub),
    *changes() {
      for (const change of report.changes()) yield scrubbedChange(change, scrub)
    },
    *rejects() {
      for (const { problems, ...reject } of report.rejects()) yield { ...reject, problems: problems.map(scrub) }
    },
  }
}

function scrubbedChange(change: ReportedChange, scrub: Scrub): ReportedChange {
  const { why, outcome } = change
  const error = outcome?.error ?? null
  return {
    ...change,
    why: scrub(why),
    outcome: outcome === null || error === null ? outcome : { ...outcome, error: scrub(error) },
  }
}

/** The store with the sentences that runs leave in it scrubbed; `status` and `approve` show them. */
export function scrubbedStore(store: Store, scrub: Scrub): Store {
  const { runs, holds } = store
  return {
    ...store,
    runs: {
      ...runs,
      record: (run) =>
        runs.record({ ...run, error: run.error === null ? null : scrub(run.error), figures: scrub(run.figures) }),
    },
    holds: {
      ...holds,
      replace(feed, held, now) {
        function* scrubbed() {
          for (const one of held) yield { ...one, why: scrub(one.why) }
        }
        return holds.replace(feed, scrubbed(), now)
      },
    },
  }
}

/** The same error, safe to be shown whole. */
export function scrubbedError(error: unknown, scrub: Scrub): unknown {
  if (!(error instanceof Error)) return error
  error.message = scrub(error.message)
  if (error.stack !== undefined) error.stack = scrub(error.stack)
  if (error.cause !== undefined) error.cause = scrubbedError(error.cause, scrub)
  return error
}

/** Plain data with every text in it scrubbed; names of fields stay. */
export function scrubbedTexts<T>(value: T, scrub: Scrub): T
export function scrubbedTexts(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item) => scrubbedTexts<unknown>(item, scrub))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, scrubbedTexts<unknown>(item, scrub)]))
}
