/** Wiring: opens everything that a command works with, and closes it. Which parts there are is in `adapters.ts`. */
import { readFileSync } from 'node:fs'
import type { FeedConfig } from '../config/config.ts'
import { liveConfig } from '../config/live.ts'
import { makeMapping } from '../config/presets.ts'
import { FeedError, UserError } from '../core/errors.ts'
import { systemClock, systemRandom } from '../core/machine.ts'
import type { Runtime } from '../core/machine.ts'
import { scrubber } from '../core/secrets.ts'
import type { Report } from '../report/report.ts'
import { repair } from '../run/repair.ts'
import { reportOf } from '../run/report.ts'
import type { Run } from '../run/run.ts'
import type { Feed, Readers } from '../run/tools.ts'
import { ServiceClient } from '../service/client.ts'
import { Endpoint } from '../service/endpoint.ts'
import type { Chatbot } from '../service/service.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { diff, sync } from '../sync.ts'
import { openWorkspace } from '../workspace/sqlite.ts'
import { reportForms, stores } from './adapters.ts'
import { createFollowing } from './after-run.ts'
import type { App, Finished, CommandContext } from './app.ts'
import { createLog, logLevelOf } from './log.ts'
import type { LogOptions } from './log.ts'
import { progressLine } from './progress.ts'
import { scrubbedError, scrubbedReport, scrubbedStore } from './scrubbed.ts'
import { UnderWay } from './under-way.ts'
import { wire } from './wire.ts'

/** Loads the configuration and wires every part. Throws `ConfigError` with everything wrong in the configuration and its presets. */
export function openApp(context: CommandContext, { logLevel = 'warn' }: { logLevel?: LogOptions['level'] } = {}): App {
  const { configFile, env, signal, onCrash, clock = systemClock, random = systemRandom, writeLog: write } = context
  const live = liveConfig(configFile, { env, readFile: (path) => readFileSync(path, 'utf8') }, makeMapping)
  const level = logLevelOf(env) ?? logLevel
  let scrubNow = scrubber(live.config.secrets)
  const scrub = (text: string): string => scrubNow(text)
  const log = createLog({ level, scrub, pretty: process.stderr.isTTY, clock, write })
  const runtime: Runtime = { clock, random, log }
  const underWay = new UnderWay()
  // The rate is the service's, whichever keys a feed calls it with.
  const endpoints = new Map<string, Endpoint>()
  let store: Store | null = null
  let reader: StoreReader | null = null

  const app: App = {
    get config() {
      return live.config
    },
    runtime,
    refreshSecrets() {
      if (!live.refresh()) return false
      scrubNow = scrubber(live.config.secrets)
      return true
    },
    wasEdited: () => live.wasEdited(),
    store: () =>
      (store ??= scrubbedStore(
        stores.file.open(live.config.store, undefined, { ...live.config.place, warn: (remark) => log.warn(remark) }),
        scrub,
      )),
    reader: () => (reader ??= stores.file.openReader(live.config.store)),
    diff: (feed) => run(feed, 'diff', (wired, readers) => diff(wired, { ...readers, store: app.reader() })),
    sync(feed, command) {
      const begun = { feed: feed.name, chatbot: feed.chatbot, command, startedAt: clock.now() }
      return underWay.during(begun, async () => {
        const { planned, end } = following(feed)
        const finished = await run(feed, command, (wired, readers, abandon) =>
          sync(wired, { ...readers, store: app.store(), planned, abandon }, command),
        )
        return end(finished)
      })
    },
    async repair(feedConfig, agree) {
      const { parts, wired, abandon, end } = open(feedConfig)
      try {
        return await repair(wired, { ...parts, store: app.store(), abandon }, (plan) => {
          // The question must not stand behind a line of progress.
          end()
          return agree(plan)
        })
      } finally {
        end()
        parts.workspace.close()
      }
    },
    client({ service }) {
      const { baseUrl, rate, concurrency } = service
      const key = JSON.stringify([baseUrl, rate, concurrency])
      const endpoint = endpoints.get(key) ?? new Endpoint(service, clock)
      endpoints.set(key, endpoint)
      return new ServiceClient(service, runtime, endpoint)
    },
    reportForm: async (name, options) => (await reportForms[name]())(options),
    scrub,
    async close() {
      await store?.close()
      await reader?.close()
      await Promise.all(Array.from(endpoints.values(), (endpoint) => endpoint.close()))
    },
  }
  const following = createFollowing(app, signal)
  onCrash?.((error) => {
    underWay.recordCrash(() => app.store(), clock.now(), error)
    return scrubbedError(error, scrub)
  })
  return app

  /** Gives a job its workspace and its line to the service. A part that can't even be opened makes a failed report, too. */
  async function run(
    feedConfig: FeedConfig,
    command: Report['command'],
    job: (feed: Feed, parts: Parts, abandon: (reason: string) => void) => Promise<Report>,
  ): Promise<Finished> {
    const startedAt = clock.now()
    const { parts, wired, abandon, end } = open(feedConfig, signal)
    const close = (): void => parts.workspace.close()
    try {
      return { report: scrubbedReport(await job(wired, parts, abandon), scrub), close }
    } catch (error) {
      if (error instanceof UserError)
        return {
          report: scrubbedReport(reportOf(command, wired, parts, startedAt, nothing, error.message), scrub),
          close,
        }
      close()
      throw error
    } finally {
      end()
    }
  }

  /** What a job on a feed works with; `end` when it is through, but for the workspace. `stop` ends waiting for a call. */
  function open(feedConfig: FeedConfig, stop?: AbortSignal) {
    const calls = new AbortController()
    const progress = progressLine(feedConfig.name, process.stderr)
    const service = app.client(feedConfig).chatbot(feedConfig.chatbot, {
      profile: feedConfig.service.profile,
      volatile: new Set(feedConfig.volatile.fields),
      mark: feedConfig.ownership === 'snapshot' ? null : feedConfig.name,
      signal: calls.signal,
      stop,
    })
    const parts: Parts = { service, workspace: openWorkspace(), runtime, signal, progress: progress.show }
    const abandon = (reason: string): void => calls.abort(new FeedError(reason))
    const end = (): void => {
      progress.end()
      log.endRun()
    }
    return { wired: wire(feedConfig, live.config, clock), parts, abandon, end }
  }
}

const nothing: Run = { prepared: null, applied: null, notes: [] }

/** What a run is given beside its store. */
type Parts = Omit<Readers, 'store' | 'service'> & { service: Chatbot }
