/** Wiring: opens everything that a command needs, and closes it. */
import { liveConfig } from '../config/live.ts'
import { ConfigError } from '../core/errors.ts'
import { systemClock, systemRandom } from '../core/machine.ts'
import type { Runtime } from '../core/machine.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { kindOf, reportForms, storeKind, stores } from './adapters.ts'
import type { App, CommandContext, Ended, RefusedReload, RunMeter } from './app.ts'
import type { Calls } from './calls.ts'
import { readTextFile } from './text-file.ts'
import { createLog, logLevelOf } from './log.ts'
import type { LogOptions } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createNotifier } from './notify.ts'

/** Loads the configuration and wires every part. Throws `ConfigError` with every problem of it and its presets. */
export function openApp(context: CommandContext, { logLevel = 'warn' }: { logLevel?: LogOptions['level'] } = {}): App {
  const { configFile, doors, env, signal, onCrash, clock = systemClock, random = systemRandom } = context
  const sources = { env, readFile: readTextFile, learn: doors.learn }
  const live = liveConfig(configFile, sources)
  const level = context.logLevel ?? logLevelOf(env) ?? logLevel
  const log = createLog({ level, scrub: doors.scrub, pretty: doors.err.isTTY, clock, write: context.writeLog })
  const runtime: Runtime = { clock, random, log }
  let meter: RunMeter | null = null
  const lostRuns = new Map<string, Ended>()
  let refusedReload: RefusedReload | null = null
  let refreshedAt = -Infinity
  let store: Store | null = null
  let reader: StoreReader | null = null
  let made: Promise<Calls> | null = null
  const calls = (): Promise<Calls> =>
    (made ??= import('./calls.ts')
      .then(({ createCalls }) =>
        createCalls(app, log, { signal, onCrash }, async (report) => {
          await metrics.write(report)
          meter?.ran(report)
        }),
      )
      .catch((error: unknown) => {
        // The next run tries again: what could not be loaded, as where too many files are open, may be read later.
        made = null
        throw error
      }))

  const app: App = {
    get config() {
      return live.config
    },
    runtime,
    refreshSecrets() {
      const now = clock.now()
      // If many feeds are due at one time, the first one looks for all.
      if (now >= refreshedAt && now < refreshedAt + 1000) return false
      refreshedAt = now
      return live.refresh()
    },
    async reload(problemsOf) {
      try {
        live.reload(problemsOf)
        refusedReload = null
        ;(await made)?.retune()
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
    ready: async () => void (await stores[kindOf(live.config.store)]?.load?.()),
    store: () =>
      (store ??= doors.store(
        storeKind(live.config.store).open(live.config.store, {
          ...live.config.place,
          warn: (remark) => log.warn(remark),
        }),
      )),
    reader: () => (reader ??= storeKind(live.config.store).openReader(live.config.store, live.config.place)),
    queue: async () => (await storeKind(live.config.store).openQueue?.(live.config.store, log)) ?? null,
    diff: async (feed) => (await calls()).diff(feed),
    sync: async (feed, command) => (await calls()).sync(feed, command),
    lostRun(feed, last) {
      const lost = lostRuns.get(feed)
      // Another process may have run it since.
      return lost === undefined || (last !== null && last.startedAt > lost.startedAt) ? null : lost
    },
    tell(feed, occasion) {
      const { ended } = occasion
      if (ended?.unrecorded === 'lost') lostRuns.set(feed.name, ended)
      else if (ended !== undefined) lostRuns.delete(feed.name)
      notifier.tell(feed, occasion)
    },
    measure(by) {
      meter = by
      runtime.meter = by
    },
    metrics: () => metrics.text(),
    testNotifications: () => notifier.test(),
    repair: async (feed, agree) => (await calls()).repair(feed, agree),
    client: async (feed) => (await calls()).client(feed),
    reportForm: async (name, options) => (await reportForms[name]())(options),
    doors,
    async close() {
      await notifier.idle()
      await store?.close()
      await reader?.close()
      await (await made)?.close()
    },
  }
  const metrics = createMetrics(app)
  const notifier = createNotifier(app, signal)
  return app
}
