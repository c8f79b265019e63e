/**
 * Wiring: the only file that knows every concrete part. A transport, format or report form is one line in a map here,
 * and that line also puts it under its contract suite.
 */
import { readFileSync } from 'node:fs'
import { createFollowing } from './after-run.ts'
import type { App, AppOptions, Finished, FormName } from './app-interface.ts'
import { schemeOf } from './config-address.ts'
import { makeMapping } from './config-preset.ts'
import { liveConfig } from './config-live.ts'
import { outrankedBy } from './config.ts'
import type { Config, FeedConfig, ServiceSettings } from './config.ts'
import { FeedError, UserError } from './errors.ts'
import type { CommandContext } from './commands/command.ts'
import type { Format, Mapping, Transport } from './feed/feed.ts'
import { blm } from './feed/format/blm.ts'
import { csv } from './feed/format/csv.ts'
import { retsCompact } from './feed/format/rets.ts'
import { xml } from './feed/format/xml.ts'
import { file } from './feed/transport/file.ts'
import { glob } from './feed/transport/glob.ts'
import { decompressed } from './feed/transport/gunzip.ts'
import { http } from './feed/transport/http.ts'
import { standardInput } from './feed/transport/stdin.ts'
import { fingerprint } from './hash.ts'
import { createLog, logLevelOf } from './log.ts'
import { systemClock, systemRandom } from './machine.ts'
import type { Feed, Readers } from './prepare.ts'
import { progressLine } from './progress.ts'
import { repair } from './repair.ts'
import { htmlForm } from './report/html.ts'
import { jsonForm } from './report/json.ts'
import { markdownForm } from './report/markdown.ts'
import type { FormOptions, ReportForm } from './report/report.ts'
import { textForm } from './report/text.ts'
import { failedReport } from './reported.ts'
import { scrubbedError, scrubbedReport, scrubbedStore } from './scrubbed.ts'
import { scrubber } from './secrets.ts'
import { shared } from './shared.ts'
import type { Report } from './run.ts'
import type { Clock, Runtime } from './runtime.ts'
import { createService } from './service/client.ts'
import type { Service } from './service/client.ts'
import { Limiter } from './service/limiter.ts'
import { ServiceClient } from './service/service-client.ts'
import type { ServiceWriter } from './service/service.ts'
import { UnderWay } from './under-way.ts'
import { openStore, openStoreReader } from './store/sqlite.ts'
import type { Store, StoreReader } from './store/store.ts'
import { diff, sync } from './sync.ts'
import { openWorkspace } from './workspace/sqlite.ts'

export type { App, AppOptions, Finished, FormName } from './app-interface.ts'

/** A transport whose library is loaded once a feed needs it: most runs need none of them. */
const lazily =
  (load: () => Promise<Transport>): Transport =>
  async (source, options) =>
    (await load())(source, options)
const sftp = lazily(async () => (await import('./feed/transport/sftp.ts')).sftp)
const ftp = lazily(async () => (await import('./feed/transport/ftp.ts')).ftp)
const stdin = standardInput(() => process.stdin)
const transports: Record<string, Transport> = { file, glob, http, https: http, sftp, ftp, ftps: ftp, '-': stdin }
export const formats: Record<Mapping['format'], Format> = { xml, csv, 'rets-compact': retsCompact, blm }
const reportForms: Record<FormName, (options: FormOptions) => ReportForm> = {
  text: textForm,
  json: jsonForm,
  markdown: markdownForm,
  html: htmlForm,
}

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

/** A feed with its parts. */
export function wire(feed: FeedConfig, config: Config, clock: Clock): Feed {
  const scheme = schemeOf(feed.source)
  const { maxBytes, maxRecordBytes, endsWithLineBreak, encoding, headers, transferTimeout: timeout } = feed
  const { rate, concurrency, profile, secretKey, sessionKey } = feed.service
  const { name, chatbot, timezone, mapping, limits, ownership, drift, settle, deadline } = feed
  const { source, member, login, ready } = feed
  return {
    name,
    chatbot,
    timezone,
    mapping,
    source: member === null ? source : `${source}#${member}`,
    open: (validators, signal, scratch) =>
      transports[scheme](source, {
        directory: config.directory,
        maxBytes,
        timeout,
        maxRedirects: 3,
        headers,
        validators,
        scratch,
        allowPrivateRedirects: feed.allowPrivateRedirects,
        login,
        ready,
        clock,
        signal,
      }),
    decompress: (opened, scratch) => decompressed(opened, { maxBytes: maxBytes * 20, scratch, member }),
    format: formats[mapping.format],
    formatOptions: { encoding, maxRecordBytes, endsWithLineBreak },
    limits,
    ownership,
    outranks: outrankedBy(config, feed),
    drift,
    volatile: new Set(feed.volatile.fields),
    refresh: feed.volatile.refresh,
    settle,
    deadline,
    rate,
    concurrency,
    deleteBatch: profile.deleteBatch,
    keys: fingerprint([secretKey, sessionKey]),
  }
}
