/** The metrics file of `metrics: PATH`: gathered from the store, written whole after every run. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import type { FeedConfig } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { exposition } from '../report/metrics.ts'
import type { FeedMetrics } from '../report/metrics.ts'
import type { Report } from '../report/report.ts'
import type { RunRecord, StoreReader } from '../store/store.ts'
import type { App } from './app.ts'

/** What a run is to the metrics. */
type Ran = Pick<RunRecord, 'startedAt' | 'finishedAt' | 'result' | 'figures'>

export interface Metrics {
  /** Writes the file of all feeds, if the configuration names one. Never throws: the first failure of a kind is logged. */
  write(report: Report): Promise<void>
}

export function createMetrics(app: App): Metrics {
  // A run that could not even be recorded, as another holds the lease, is known to this process only.
  const ran = new Map<string, Ran>()
  let failure: string | null = null
  return {
    async write(report) {
      const file = app.config.metrics
      if (file === null) return
      ran.set(report.feed, ranOf(report))
      try {
        const metrics = app.config.feeds.map((feed) => metricsOf(app.store(), feed, ran.get(feed.name)))
        writeWhole(file, exposition(await Promise.all(metrics)))
        failure = null
      } catch (error) {
        const problem = app.scrub(messageOf(error))
        if (failure !== problem) app.runtime.log.warn({ file, problem }, 'the metrics could not be written')
        failure = problem
      }
    },
  }
}

/** Readers see the old file or the new one. */
function writeWhole(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(unfinished, text)
    renameSync(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

function ranOf({ startedAt, finishedAt, result, counts, applied, delivery }: Report): Ran {
  const figures = JSON.stringify({ counts, outcomes: applied?.outcomes, calls: applied?.calls, delivery })
  return { startedAt, finishedAt, result, figures }
}

async function metricsOf(
  { snapshot, runs, holds }: StoreReader,
  { name, chatbot }: FeedConfig,
  own: Ran | undefined,
): Promise<FeedMetrics> {
  const recorded = await runs.last(name)
  const last: Ran | null = own !== undefined && own.startedAt >= (recorded?.startedAt ?? 0) ? own : recorded
  return {
    feed: name,
    chatbot,
    lastRun: last && lastRunOf(last),
    lastSuccess: await runs.lastSuccess(name),
    lastAccepted: await runs.lastAccepted(name),
    listings: await snapshot.count(chatbot, name),
    held: await holds.count(name),
    lastVerified: await runs.lastVerified(name),
  }
}

function lastRunOf({ startedAt, finishedAt, result, figures }: Ran): NonNullable<FeedMetrics['lastRun']> {
  const { counts = {}, outcomes = {}, calls = {}, delivery } = JSON.parse(figures) as Figures
  return {
    at: finishedAt,
    seconds: Math.max(0, finishedAt - startedAt) / 1000,
    result,
    changes: counts,
    outcomes,
    calls,
    records: delivery?.records ?? null,
  }
}

/** `RunRecord.figures`; older runs may lack parts. */
interface Figures {
  counts?: Record<string, number>
  outcomes?: Record<string, number>
  calls?: Record<string, number>
  delivery?: { records: number }
}
