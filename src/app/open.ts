/** Wiring: opens everything that a command needs, and closes it. */
import type { FeedConfig } from '../config/config.ts'
import { liveConfig } from '../config/live.ts'
import { ConfigError, FeedError, UserError, messageOf } from '../core/errors.ts'
import { systemClock, systemRandom } from '../core/machine.ts'
import type { Runtime } from '../core/machine.ts'
import type { Report } from '../report/report.ts'
import type { LastLists } from '../run/last-list.ts'
import { repair } from '../run/repair.ts'
import { reportOf } from '../run/report.ts'
import type { Run } from '../run/run.ts'
import type { Feed, Readers, Writers } from '../run/tools.ts'
import { Endpoint, ServiceClient } from '../service/client.ts'
import type { Chatbot } from '../service/service.ts'
import type { RunRecord, Store, StoreReader } from '../store/store.ts'
import { diff, sync } from '../sync.ts'
import { openWorkspace } from '../workspace/sqlite.ts'
import { reportForms, storeKind } from './adapters.ts'
import type { App, Finished, CommandContext, RefusedReload, RunMeter } from './app.ts'
import { readTextFile } from './text-file.ts'
import { createGates } from './gates.ts'
import { createLimiters } from './limiters.ts'
import { createLog, logLevelOf, withFacts } from './log.ts'
import type { LogOptions } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createNotifier } from './notify.ts'
import { progressOf } from './progress.ts'
import { withSettings } from './settings.ts'
import { noteLeaving, verifyRun } from './verify.ts'
import type { Leaving } from './verify.ts'
import { wire } from './wire.ts'

/** Loads the configuration and wires every part. Throws `ConfigError` with every problem of it and its presets. */
export function openApp(context: CommandContext, { logLevel = 'warn' }: { logLevel?: LogOptions['level'] } = {}): App {
  const { configFile, doors, env, signal, onCrash, clock = systemClock, random = systemRandom } = context
  const sources = { env, readFile: readTextFile, learn: doors.learn }
  const live = liveConfig(configFile, sources)
  const level = context.logLevel ?? logLevelOf(env) ?? logLevel
  const log = createLog({ level, scrub: doors.scrub, pretty: doors.err.isTTY, clock, write: context.writeLog })
  const runtime: Runtime = { clock, random, log }
  /** The current runs of this process, so that a crash can be recorded for each (docs/faults.md, F137). */
  const underWay = new Set<Begun>()
  // The rate belongs to the service, whichever keys a feed uses; how many calls may be in flight, to the chatbot.
  const endpoints = new Map<string, { baseUrl: string; endpoint: Endpoint }>()
  const gates = createGates(clock, doors)
  const lists: LastLists = new Map()
  const limiters = createLimiters(live.config.store, clock)
  let meter: RunMeter | null = null
  let refusedReload: RefusedReload | null = null
  let refreshedAt = -Infinity
  let store: Store | null = null
  let reader: StoreReader | null = null

  const app: App = {
    get config() {
      return live.config
    },
    runtime,
    refreshSecrets() {
      const now = clock.now()
      // Of many feeds that are due at one time, the first looks for all.
      if (now >= refreshedAt && now < refreshedAt + 1000) return false
      refreshedAt = now
      return live.refresh()
    },
    async reload(problemsOf) {
      try {
        live.reload(problemsOf)
        refusedReload = null
        for (const { baseUrl, endpoint } of endpoints.values()) endpoint.retune(rateOf(baseUrl))
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        refusedReload = { at: clock.now(), problems: error.problems }
        throw error
      } finally {
        await metrics.write()
      }
    },
    get refusedReload() {
      return refusedReload
    },
    configText: () => ({ now: live.textNow(), read: live.textRead() }),
    store: () =>
      (store ??= doors.store(
        storeKind(live.config.store).open(live.config.store, {
          ...live.config.place,
          warn: (remark) => log.warn(remark),
        }),
      )),
    reader: () => (reader ??= storeKind(live.config.store).openReader(live.config.store, live.config.place)),
    queue: async () => (await storeKind(live.config.store).openQueue?.(live.config.store, log)) ?? null,
    diff: (feed) => run(feed, 'diff', (wired, readers) => diff(wired, { ...readers, store: app.reader() })),
    async sync(feed, command) {
      const begun = { feed: feed.name, chatbot: feed.chatbot, command, startedAt: clock.now() }
      underWay.add(begun)
      try {
        let leaving: Leaving = new Map()
        const planned: Writers['planned'] = async (workspace, digest) => {
          leaving = await noteLeaving(app, feed, workspace, digest)
        }
        const finished = await run(feed, command, (wired, readers, abandon, begun) =>
          sync(wired, { ...readers, store: app.store(), lists, planned, abandon, begun }, command),
        ).catch(async (error: unknown) => {
          await recordUnopened(begun, error)
          throw error
        })
        // What follows a run, once that is recorded, does not make it fail.
        const settled = await withSettings(app, feed, finished, signal)
        const verified = await verifyRun(app, feed, settled, leaving, signal)
        await metrics.write(verified.report)
        meter?.ran(verified.report)
        app.tell(feed, { report: verified.report })
        return verified
      } finally {
        underWay.delete(begun)
      }
    },
    tell: (feed, occasion) => notifier.tell(feed, occasion),
    measure(by) {
      meter = by
      runtime.meter = by
    },
    metrics: () => metrics.text(),
    testNotifications: () => notifier.test(),
    async repair(feedConfig, agree) {
      const { parts, wired, abandon, end } = open(feedConfig)
      try {
        return await repair(wired, { ...parts, store: app.store(), abandon }, (plan) => {
          // The question must not follow on a progress line.
          end()
          return agree(plan)
        })
      } finally {
        end()
        parts.workspace.close()
      }
    },
    client({ service }) {
      const { baseUrl, ca, maxAnswerBytes } = service
      const key = JSON.stringify([baseUrl, ca, maxAnswerBytes])
      const rate = Math.min(service.rate, rateOf(baseUrl))
      const endpoint =
        endpoints.get(key)?.endpoint ?? new Endpoint({ ...service, rate }, clock, undefined, limiters.of(baseUrl, rate))
      endpoints.set(key, { baseUrl, endpoint })
      return new ServiceClient(service, runtime, endpoint)
    },
    reportForm: async (name, options) => (await reportForms[name]())(options),
    doors,
    async close() {
      await notifier.idle()
      await store?.close()
      await reader?.close()
      await Promise.all([
        gates.close(),
        limiters.close(),
        ...Array.from(endpoints.values(), ({ endpoint }) => endpoint.close()),
      ])
    },
  }
  const metrics = createMetrics(app)
  const notifier = createNotifier(app)
  onCrash?.((thrown) => void recordCrash(thrown))
  return app

  /** The lowest rate that a feed gives a service; Infinity: no feed uses it. */
  function rateOf(address: string): number {
    return Math.min(
      ...live.config.feeds.flatMap(({ service: { baseUrl, rate } }) => (baseUrl === address ? [rate] : [])),
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

  /** Records a run that could not begin, as without room for its scratch file, so that `status` tells of it, too. */
  async function recordUnopened(begun: Begun, error: unknown): Promise<void> {
    if (!(error instanceof UserError)) return
    const end = { finishedAt: clock.now(), result: 'failed', interrupted: false, figures: '{}' } as const
    try {
      await app.store().runs.record({ ...begun, ...end, error: error.message })
    } catch (unwritten) {
      log.error(
        { feed: begun.feed, problem: messageOf(unwritten) },
        'could not record in the store that the run failed',
      )
    }
  }

  /** Gives a job its workspace and its service. A part that can't be opened also yields a failed report. */
  async function run(
    feedConfig: FeedConfig,
    command: Report['command'],
    job: (
      feed: Feed,
      parts: Parts,
      abandon: (reason: string) => void,
      begun: (number: number) => void,
    ) => Promise<Report>,
  ): Promise<Finished> {
    const startedAt = clock.now()
    const { parts, wired, abandon, begun, facts, end } = open(feedConfig, signal)
    const close = (): void => parts.workspace.close()
    try {
      return { report: await job(wired, parts, abandon, begun), run: facts.run ?? null, close }
    } catch (error) {
      if (error instanceof UserError)
        return {
          report: reportOf(command, wired, parts, startedAt, nothing, error.message),
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
    /** What every line of the run's log has. */
    const facts: { feed: string; run?: number } = { feed: feedConfig.name }
    const runtime: Runtime = { clock, random, log: withFacts(log, facts) }
    const begun = (number: number): void => void (facts.run = number)
    const tell = async (words: string): Promise<void> => {
      if (facts.run !== undefined) await app.store().runs.noteProgress(feedConfig.name, words, clock.now())
    }
    const progress = progressOf(feedConfig.name, doors.err, runtime, tell)
    const service = app.client(feedConfig).chatbot(feedConfig.chatbot, {
      profile: feedConfig.service.profile,
      volatile: feedConfig.plan.volatile.fields,
      mark: feedConfig.plan.ownership === 'snapshot' ? null : feedConfig.name,
      formerly: new Set(feedConfig.formerly),
      signal: calls.signal,
      stop,
    })
    const parts: Parts = {
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
    return { wired: wire(feedConfig, live.config, clock, gates), parts, abandon, begun, facts, end }
  }
}

const nothing: Run = { prepared: null, applied: null, notes: [] }

type Begun = Pick<RunRecord, 'feed' | 'chatbot' | 'command' | 'startedAt'>
type Parts = Omit<Readers, 'store' | 'service'> & { service: Chatbot }
