/** Wiring of all that makes calls (runs, repairs, clients of the service), apart from the rest as it loads much. */
import type { FeedConfig } from '../config/config.ts'
import { FeedError, UserError, messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { Report } from '../report/report.ts'
import type { LastLists } from '../run/last-list.ts'
import { repair } from '../run/repair.ts'
import { reportOf } from '../run/report.ts'
import type { Run } from '../run/run.ts'
import type { Feed, Readers, Writers } from '../run/tools.ts'
import { Endpoint, ServiceClient } from '../service/client.ts'
import type { Chatbot } from '../service/service.ts'
import type { RunRecord } from '../store/store.ts'
import { diff, sync } from '../sync.ts'
import { openWorkspace } from '../workspace/sqlite.ts'
import type { App, Finished, Machine } from './app.ts'
import { createGates } from './gates.ts'
import { createLimiters } from './limiters.ts'
import { withFacts } from './log.ts'
import type { RunLog } from './log.ts'
import { progressOf } from './progress.ts'
import { withSettings } from './settings.ts'
import { noteLeaving, verifyRun } from './verify.ts'
import type { Leaving } from './verify.ts'
import { wire } from './wire.ts'

export type Calls = ReturnType<typeof createCalls>

/** `afterwards` is called with the report of each run that may have written. */
export function createCalls(
  app: App,
  log: RunLog,
  { signal, onCrash }: Pick<Machine, 'signal' | 'onCrash'>,
  afterwards: (report: Report) => Promise<void>,
) {
  const { runtime, doors } = app
  const { clock } = runtime
  /** The current runs of this process, so that a crash can be recorded for each (docs/faults.md, F137). */
  const underWay = new Set<Begun>()
  // The rate is the service's, whichever keys a feed uses. How many calls may be in flight is the chatbot's.
  const endpoints = new Map<string, { baseUrl: string; endpoint: Endpoint }>()
  const gates = createGates(clock, doors)
  const lists: LastLists = new Map()
  const limiters = createLimiters(app.config.store, clock)
  onCrash?.((thrown) => void recordCrash(thrown))

  /** The client of a feed's service, which shares the rate with all others. */
  function client({ service }: FeedConfig): ServiceClient {
    const { baseUrl, ca, maxAnswerBytes } = service
    const key = JSON.stringify([baseUrl, ca, maxAnswerBytes])
    const rate = Math.min(service.rate, rateOf(baseUrl))
    const endpoint =
      endpoints.get(key)?.endpoint ?? new Endpoint({ ...service, rate }, clock, undefined, limiters.of(baseUrl, rate))
    endpoints.set(key, { baseUrl, endpoint })
    return new ServiceClient(service, runtime, endpoint)
  }

  return {
    client,
    diff: (feed: FeedConfig) => run(feed, 'diff', (wired, readers) => diff(wired, { ...readers, store: app.reader() })),
    async sync(feed: FeedConfig, command: 'sync' | 'backfill'): Promise<Finished> {
      const begun = { feed: feed.name, chatbot: feed.chatbot, command, startedAt: clock.now() }
      underWay.add(begun)
      try {
        let leaving: Leaving = new Map()
        const planned: Writers['planned'] = async (workspace, digest) => {
          leaving = await noteLeaving(app, feed, workspace, digest)
        }
        const finished = await run(feed, command, (wired, readers, abandon, begun) =>
          sync(wired, { ...readers, store: app.store(), lists, planned, abandon, begun }, command),
        ).catch(async (thrown: unknown) => {
          const error = thrown instanceof UserError ? thrown.message : `a defect ended this run: ${messageOf(thrown)}`
          const unrecorded = (await recordUnended(begun, error)) ? {} : { unrecorded: 'lost' as const }
          app.tell(feed, { ended: { ...begun, result: 'failed', error, ...unrecorded } })
          throw thrown
        })
        // What follows a recorded run does not make it fail.
        const settled = await withSettings(app, feed, finished, signal)
        const verified = await verifyRun(app, feed, settled, leaving, signal)
        await afterwards(verified.report)
        app.tell(feed, { ended: verified.report })
        return verified
      } finally {
        underWay.delete(begun)
      }
    },
    async repair(feedConfig: FeedConfig, agree: Parameters<App['repair']>[1]) {
      const { tools, wired, abandon, end } = open(feedConfig)
      try {
        return await repair(wired, { ...tools, store: app.store(), abandon }, (plan) => {
          // The question must not stand on the progress line.
          end()
          return agree(plan)
        })
      } finally {
        end()
        tools.workspace.close()
      }
    },
    /** Applies the rates as configured now. */
    retune(): void {
      for (const { baseUrl, endpoint } of endpoints.values()) endpoint.retune(rateOf(baseUrl))
    },
    async close(): Promise<void> {
      await Promise.all([
        gates.close(),
        limiters.close(),
        ...Array.from(endpoints.values(), ({ endpoint }) => endpoint.close()),
      ])
    },
  }

  /** The lowest rate that any feed sets for a service; Infinity: no feed uses it. */
  function rateOf(address: string): number {
    return Math.min(
      ...app.config.feeds.flatMap(({ service: { baseUrl, rate } }) => (baseUrl === address ? [rate] : [])),
    )
  }

  /** Records every current run as ended by a defect; errors of the store are ignored. */
  async function recordCrash(thrown: unknown): Promise<void> {
    const message = `a defect ended the program in the middle of this run: ${messageOf(thrown)}`
    const end = { finishedAt: clock.now(), result: 'failed', interrupted: true, error: message, figures: '{}' } as const
    try {
      // Written at once, before the first wait: the process ends without waiting for promises.
      await Promise.all(Array.from(underWay, (begun) => app.store().runs.record({ ...begun, ...end })))
    } catch {
      return
    }
  }

  /**
   * Records a run that could not begin, as without room for its scratch file, or that a defect ended, so that `status` tells of it.
   * Gives whether it could.
   */
  async function recordUnended(begun: Begun, error: string): Promise<boolean> {
    const end = { finishedAt: clock.now(), result: 'failed', interrupted: false, figures: '{}' } as const
    try {
      await app.store().runs.record({ ...begun, ...end, error })
      return true
    } catch (unwritten) {
      log.error(
        { feed: begun.feed, problem: messageOf(unwritten) },
        'could not record in the store that the run failed',
      )
      return false
    }
  }

  /** Gives a job its workspace and service. If a part can't be opened, there is a failed report, too. */
  async function run(
    feedConfig: FeedConfig,
    command: Report['command'],
    job: (
      feed: Feed,
      tools: Parts,
      abandon: (reason: string) => void,
      begun: (number: number) => void,
    ) => Promise<Report>,
  ): Promise<Finished> {
    const startedAt = clock.now()
    const { tools, wired, abandon, begun, facts, end } = open(feedConfig, signal)
    const close = (): void => tools.workspace.close()
    try {
      return { report: await job(wired, tools, abandon, begun), run: facts.run ?? null, close }
    } catch (error) {
      if (error instanceof UserError)
        return {
          report: {
            ...reportOf(command, wired, tools, startedAt, nothing, error.message),
            ...(command !== 'diff' && { unrecorded: 'lost' }),
          },
          run: facts.run ?? null,
          close,
        }
      close()
      throw error
    } finally {
      end()
    }
  }

  /** What a job on a feed needs; `end` closes it, except the workspace. `stop` ends waiting for a call. */
  function open(feedConfig: FeedConfig, stop?: AbortSignal) {
    const calls = new AbortController()
    /** Facts in every line of the run's log. */
    const facts: { feed: string; run?: number } = { feed: feedConfig.name }
    const runtime: Runtime = { clock, random: () => app.runtime.random(), log: withFacts(log, facts) }
    const begun = (number: number): void => void (facts.run = number)
    const tell = async (words: string): Promise<void> => {
      if (facts.run !== undefined) await app.store().runs.noteProgress(feedConfig.name, words, clock.now())
    }
    const progress = progressOf(feedConfig.name, doors.err, runtime, tell)
    const service = client(feedConfig).chatbot(feedConfig.chatbot, {
      profile: feedConfig.service.profile,
      volatile: feedConfig.plan.volatile.fields,
      mark: feedConfig.plan.ownership === 'snapshot' ? null : feedConfig.name,
      formerly: new Set(feedConfig.formerly),
      signal: calls.signal,
      stop,
    })
    const tools: Parts = {
      service,
      workspace: openWorkspace(undefined, feedConfig.transport),
      runtime,
      signal,
      progress: progress.show,
    }
    const abandon = (reason: string): void => calls.abort(new FeedError(reason))
    const end = (): void => {
      progress.end()
      log.endRun()
    }
    return { wired: wire(feedConfig, app.config, clock, gates), tools, abandon, begun, facts, end }
  }
}

const nothing: Run = { prepared: null, applied: null, notes: [] }

type Begun = Pick<RunRecord, 'feed' | 'chatbot' | 'command' | 'startedAt'>
type Parts = Omit<Readers, 'store' | 'service'> & { service: Chatbot }
