/** The metrics file of `metrics: PATH`: collected from the store and written after every run. */
import type { FeedConfig } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { ruleNames } from '../plan/guard/hold.ts'
import { exposition } from '../report/metrics.ts'
import type { FeedMetrics } from '../report/metrics.ts'
import type { Report } from '../report/report.ts'
import type { RunRecord, StoreReader } from '../store/store.ts'
import type { App } from './app.ts'
import { withoutHolds } from './held.ts'

type Ran = Pick<RunRecord, 'startedAt' | 'finishedAt' | 'result' | 'figures'>

/**
 * How often the figures of all feeds are looked up for the file, in milliseconds. With a thousand feeds that run every minute, doing
 * so after each run would take longer than the runs.
 */
const lookEvery = 5000

/** Never throws: the first failure of a kind is logged. */
export function createMetrics(app: App) {
  // Runs that could not be recorded, as another process had the lease.
  const ran = new Map<string, Ran>()
  let failure: string | null = null
  let known = new Map<string, FeedMetrics>()
  let lookedAt = -Infinity
  /** `changed`: only this feed's figures must be looked up; left out: those of all. */
  const figures = async (changed?: string) => {
    const now = app.runtime.clock.now()
    if (changed === undefined || now >= lookedAt + lookEvery || now < lookedAt) {
      known = new Map()
      lookedAt = now
    }
    const into = known
    const metrics = app.config.feeds.map(async (feed) => {
      const before = feed.name === changed ? undefined : into.get(feed.name)
      const found = before ?? (await metricsOf(app.store(), feed, ran.get(feed.name), now))
      into.set(feed.name, found)
      return found
    })
    return { feeds: await Promise.all(metrics), isConfigRefused: app.refusedReload !== null }
  }
  return {
    /** The same as text. Rejects with `StoreError`. */
    text: async (): Promise<string> => app.doors.answer(await figures(), exposition),
    /** Writes the file, if the configuration names one. `report`: of a run that has just ended. */
    async write(report?: Report): Promise<void> {
      const file = app.config.metrics
      if (report !== undefined) ran.set(report.feed, ranOf(report))
      if (file === null) return
      try {
        app.doors.replace(file, await figures(report?.feed), exposition)
        failure = null
      } catch (error) {
        const problem = messageOf(error)
        if (failure !== problem) app.runtime.log.warn({ file, problem }, 'could not write the metrics file')
        failure = problem
      }
    },
  }
}

function ranOf({ startedAt, finishedAt, result, counts, applied, delivery }: Report): Ran {
  const figures = JSON.stringify({ counts, outcomes: applied?.outcomes, calls: applied?.calls, delivery })
  return { startedAt, finishedAt, result, figures }
}

async function metricsOf(
  store: StoreReader,
  feed: FeedConfig,
  own: Ran | undefined,
  now: number,
): Promise<FeedMetrics> {
  const { name, chatbot } = feed
  const { snapshot, runs, holds, deliveries } = await withoutHolds(feed, store)
  const recorded = await runs.last(name)
  const last: Ran | null = own !== undefined && own.startedAt >= (recorded?.startedAt ?? 0) ? own : recorded
  return {
    feed: name,
    chatbot,
    lastRun: last && lastRunOf(last),
    lastSuccess: await runs.lastSuccess(name),
    lastAccepted: await runs.lastAccepted(name),
    written: (await deliveries.last(name)).written?.at ?? null,
    listings: await snapshot.count(chatbot, name),
    held: await holds.count(name),
    // Every rule has a figure, so that an alert sees it go to 0.
    heldByRule: {
      ...Object.fromEntries(ruleNames.map((rule) => [rule, 0])),
      ...Object.fromEntries(await holds.waitingByRule(name, now)),
    },
    lastVerified: await runs.lastVerified(name),
  }
}

function lastRunOf({ startedAt, finishedAt, result, figures }: Ran): NonNullable<FeedMetrics['lastRun']> {
  const { counts = {}, outcomes = {}, calls = {}, delivery } = JSON.parse(figures) as Figures
  const seconds = Math.max(0, finishedAt - startedAt) / 1000
  const { records = null, bytes = null } = delivery ?? {}
  return { at: finishedAt, seconds, result, changes: counts, outcomes, calls, records, bytes }
}

/** `RunRecord.figures`; older runs may lack parts. */
interface Figures {
  counts?: Record<string, number>
  outcomes?: Record<string, number>
  calls?: Record<string, number>
  delivery?: { records?: number; bytes?: number }
}
