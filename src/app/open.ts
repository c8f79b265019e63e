/**
 * Wiring: the only file that knows every concrete part. A transport, format or report form is one line in a map here,
 * and that line also puts it under its contract suite.
 */
import { readFileSync } from 'node:fs'
import type { FeedConfig, ServiceSettings } from '../config/config.ts'
import { liveConfig } from '../config/live.ts'
import { makeMapping } from '../config/presets.ts'
import { FeedError, UserError } from '../core/errors.ts'
import { systemClock, systemRandom } from '../core/machine.ts'
import type { Runtime } from '../core/machine.ts'
import { scrubber } from '../core/secrets.ts'
import type { Report } from '../report/report.ts'
import { repair } from '../run/repair.ts'
import { failedReport } from '../run/report.ts'
import type { Feed, Readers } from '../run/run.ts'
import { createService } from '../service/chatbot.ts'
import type { Service } from '../service/chatbot.ts'
import { ServiceClient } from '../service/client.ts'
import { Limiter } from '../service/limiter.ts'
import type { ServiceWriter } from '../service/service.ts'
import { openStore, openStoreReader } from '../store/sqlite.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { diff, sync } from '../sync.ts'
import { openWorkspace } from '../workspace/sqlite.ts'
import { reportForms } from './adapters.ts'
import { createFollowing } from './after-run.ts'
import type { App, AppOptions, Finished, CommandContext } from './app.ts'
import { createLog, logLevelOf } from './log.ts'
import { progressLine } from './progress.ts'
import { scrubbedError, scrubbedReport, scrubbedStore } from './scrubbed.ts'
import { UnderWay } from './under-way.ts'
import { wire } from './wire.ts'

/** Loads the configuration and wires every part. Throws `ConfigError` with everything wrong in the configuration and its presets. */
export function openApp({ configFile, env, signal, onCrash }: CommandContext, options: AppOptions = {}): App {
  const { logLevel = 'warn', clock = systemClock, random = systemRandom, writeLog: write } = options
  const live = liveConfig(configFile, { env, readFile: (path) => readFileSync(path, 'utf8') }, makeMapping)
  const level = logLevelOf(env) ?? logLevel
  let scrubNow = scrubber(live.config.secrets)
  const scrub = (text: string): string => scrubNow(text)
  const log = createLog({ level, scrub, pretty: process.stderr.isTTY, clock, write })
  const runtime: Runtime = { clock, random, log }
  const underWay = new UnderWay()
  const services = new Map<string, Service>()
  const clients = new Map<string, ServiceClient>()
  // The rate is the service's, whichever keys a feed calls it with.
  const limiters = new Map<string, Limiter>()
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
      // A client keeps the keys that it was made with; those at work are closed another time.
      if (underWay.isEmpty) void closeClients()
      return true
    },
    wasEdited: () => live.wasEdited(),
    store: () =>
      (store ??= scrubbedStore(
        openStore(live.config.store, undefined, { ...live.config.place, warn: (remark) => log.warn(remark) }),
        scrub,
      )),
    reader: () => (reader ??= openStoreReader(live.config.store)),
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
    client: ({ service }) =>
      shared(clients, [service], () => new ServiceClient({ ...service, limiter: limiterOf(service) }, runtime)),
    reportForm: (name, options) => reportForms[name](options),
    scrub,
    async close() {
      store?.close()
      reader?.close()
      await closeClients()
    },
  }
  const following = createFollowing(app, signal)
  onCrash?.((error) => {
    underWay.recordCrash(() => app.store(), clock.now(), error)
    return scrubbedError(error, scrub)
  })
  return app

  async function closeClients(): Promise<void> {
    const open = [...services.values(), ...clients.values()]
    services.clear()
    clients.clear()
    await Promise.all(open.map((service) => service.close()))
  }

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
        return { report: scrubbedReport(failedReport(command, wired, parts, startedAt, error.message), scrub), close }
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
    const service = serviceOf(feedConfig.service, feedConfig).forChatbot(feedConfig.chatbot, calls.signal, stop)
    const parts: Parts = { service, workspace: openWorkspace(), runtime, signal, progress: progress.show }
    const abandon = (reason: string): void => calls.abort(new FeedError(reason))
    const end = (): void => {
      progress.end()
      log.endRun()
    }
    return { wired: wire(feedConfig, live.config, clock), parts, abandon, end }
  }

  function serviceOf(settings: ServiceSettings, { volatile }: FeedConfig): Service {
    const limiter = limiterOf(settings)
    const make = (): Service => createService({ ...settings, limiter, volatile: new Set(volatile.fields) }, runtime)
    return shared(services, [settings, volatile.fields], make)
  }

  function limiterOf({ baseUrl, rate, concurrency }: ServiceSettings): Limiter {
    return shared(limiters, [baseUrl, rate, concurrency], () => new Limiter(clock, rate, concurrency))
  }
}

/** What a run is given beside its store. */
type Parts = Omit<Readers, 'store' | 'service'> & { service: ServiceWriter }

/** The one value of a key, made on first use: feeds that say the same share it. */
export function shared<T>(known: Map<string, T>, parts: unknown[], make: () => T): T {
  const key = JSON.stringify(parts)
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
