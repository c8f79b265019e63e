/**
 * The configuration, read and checked completely before anything runs. `schema.ts` defines how it is written; the types here
 * are what the program gets: defaults filled in, times in milliseconds, sizes in bytes, paths absolute.
 */
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { withHost } from '../core/database-address.ts'
import { ConfigError, codeOf, messageOf } from '../core/errors.ts'
import { issueSentence } from '../core/schema-words.ts'
import { withoutScheme } from '../core/secrets.ts'
import type { Mapping } from '../feed/mapping/mapping.ts'
import type { HttpSettings } from '../http/settings.ts'
import type { Target } from '../notify/settings.ts'
import { resoSecrets } from '../feed/api/settings.ts'
import type { ResoSettings } from '../feed/api/settings.ts'
import { webSecrets } from '../feed/transport/address.ts'
import { transportSettings } from '../feed/transport/settings.ts'
import type { TransportSettings } from '../feed/transport/settings.ts'
import { sourceSecrets } from '../feed/transport/transports.ts'
import { planSettings } from '../plan/settings.ts'
import type { PlanConfig } from '../plan/settings.ts'
import { serviceSchema } from '../service/settings-file.ts'
import type { ChatbotSettings, ServiceSettings } from '../service/settings.ts'
import { readSettingsFiles } from './chatbot-settings.ts'
import { isPlain } from './excerpt.ts'
import { literalSecrets } from './literal-secrets.ts'
import {
  formerlyProblems,
  inputProblems,
  keyProblems,
  mappingOf,
  mergeService,
  problemLines,
  schemaProblems,
} from './check.ts'
import { makeMappings } from './presets.ts'
import type { MappingMaker } from './presets.ts'
import { configSchema, feedSchema } from './schema.ts'
import { fillReferences, readDocument } from './text.ts'
import type { ReferenceSources } from './text.ts'
import { verifyProblems, verifySettings } from './verify.ts'
import type { VerifySettings } from '../verify/settings.ts'

/** One feed, ready to run. */
export interface FeedConfig {
  name: string
  /** What a person should know of it in each run, as sentences. Left out: nothing. */
  notes?: readonly string[]
  /** SerialNumber. */
  chatbot: string
  /**
   * As written: an http(s), sftp or ftp(s) address, `-` for standard input, or a path or glob relative to
   * `Config.directory`.
   */
  source: string
  /** The live source, whose root is `source`; null: it is none. */
  live: ResoSettings | null
  /** How the source is fetched and read. */
  transport: TransportSettings
  /** The settings that its plan goes by. */
  plan: PlanConfig
  /** What absence means in its deliveries; null: as the preset says. */
  delivery: 'full' | 'delta' | null
  /** Cron expression; null: only run by hand. */
  schedule: string | null
  /** How often the service's whole list is read, in milliseconds; 0: by every run; null: that depends on its length. */
  observe: number | null
  timezone: string
  /** The preset with the feed's own options over it. */
  mapping: Mapping
  /** Its former names. */
  formerly: readonly string[]
  /** For how many milliseconds, from when its plan is made, a `sync` begins changes. */
  deadline: number
  /** Settings of the chatbot, applied after a sync if they changed; texts still contain `{figures}`. null: none. */
  settings: ChatbotSettings | null
  /** Asks the chatbot after a sync about changed listings; null: off. */
  verify: VerifySettings | null
  /** Address that is called after each run; null: none. */
  heartbeat: string | null
  /** The common service with this feed's overrides. */
  service: ServiceSettings
}

export interface Config {
  /** The file it was read from, absolute. */
  file: string
  /** Base of relative paths. */
  directory: string
  /** Absolute path of the store or, if it is no file, its address. */
  store: string
  /** The store's file, beside which its daemon notes that it is alive; null: the store is no file. */
  beside: string | null
  /** Whether the store may lie on a network file system; present names of feeds by their former names. */
  place: { allowNetwork: boolean; formerly: ReadonlyMap<string, string> }
  /** The locale of the reports' readers, such as "en-US". */
  locale: string
  /** Who is told how feeds are. */
  notify: readonly Target[]
  /** null: no pages. */
  http: HttpSettings | null
  /** Absolute path of the metrics file; null: none. */
  metrics: string | null
  service: ServiceSettings
  feeds: FeedConfig[]
  /** Paths of secrets that stand in the file itself. */
  literalSecrets: string[]
}

/** Reads and checks a configuration file, its mappings included. Throws `ConfigError` with every problem, each with its path and line. */
export function loadConfig(file: string, sources: ReferenceSources, make: MappingMaker): Config {
  const path = resolve(file)
  const directory = dirname(path)
  const document = readDocument(readConfigFile(file, path, sources))
  if (document.problems.length > 0) throw new ConfigError(file, document.problems)
  if ((document.value ?? null) === null) throw new ConfigError(file, [emptyFile])

  const { value, problems, filled } = fillReferences(document.value, {
    ...sources,
    readFile: (name) => sources.readFile(resolve(directory, name)),
  })
  sources.learn(filled.flatMap(({ value, isDefault, path }) => (isDefault || isPlain(path.at(-1)) ? [] : value)))
  const checking = { error: issueSentence, reportInput: true, jitless }
  const parsed = configSchema.safeParse(value, checking)
  // Zod does not look at a feed under a name that is none.
  const misnamed = (parsed.error?.issues ?? []).flatMap(({ code, path }) => {
    if (code !== 'invalid_key' || path.length !== 2 || path[0] !== 'feeds') return []
    const feed = feedSchema.safeParse(mappingOf(mappingOf(value).feeds)[String(path[1])], checking)
    return schemaProblems(feed.error, problems, ['feeds', String(path[1])])
  })
  const written = [...problems, ...schemaProblems(parsed.error, problems), ...misnamed]
  const made = makeMappings(value, written, directory, make)
  const files = readSettingsFiles(value, directory, (name) => sources.readFile(name))
  const located = [
    ...written,
    ...keyProblems(value, problems),
    ...inputProblems(value),
    ...formerlyProblems(value),
    ...verifyProblems(value),
    ...made.problems,
    ...files.problems,
  ]
  if (located.length > 0 || !parsed.success) {
    throw new ConfigError(file, problemLines(located, document.lineOf, filled))
  }
  const config = resolved(path, parsed.data, mappingOf(value), made.mappings, files.settings)
  sources.learn(secretsOf(config))
  return { ...config, literalSecrets: literalSecrets(document.value) }
}

/** zod can compile a type to code, which pays only for a type that checks many values. */
const jitless = true

const emptyFile = 'the file is empty; create one with: listing-sync --config FILE inspect --init SOURCE'

/** Why a file can't be read, by the system's code. */
const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; create one with: listing-sync --config FILE inspect --init SOURCE',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'this user may not read it; give it the right to',
  EPERM: 'this user may not read it; give it the right to',
}

function readConfigFile(file: string, path: string, sources: ReferenceSources): string {
  let text: string
  try {
    text = sources.readFile(path)
  } catch (error) {
    throw new ConfigError(file, [`can't be read: ${unreadable[codeOf(error)] ?? messageOf(error)}`])
  }
  // UTF-16 has a zero byte in every Latin letter.
  if (text.includes('\0'))
    throw new ConfigError(file, ['is not UTF-8 text, but UTF-16 or no text at all; save it as UTF-8 in your editor'])
  return text
}

/** `written`: the parsed YAML. Services are merged as written, so that a default never overrides a common setting. */
function resolved(
  file: string,
  data: z.output<typeof configSchema>,
  written: Record<string, unknown>,
  mappings: ReadonlyMap<string, Mapping>,
  settings: ReadonlyMap<string, ChatbotSettings>,
): Omit<Config, 'literalSecrets'> {
  const directory = dirname(file)
  const serviceOf = (settings: unknown): ServiceSettings => serviceSchema.parse(settings, { jitless })
  const service = serviceOf(written.service)
  const feeds = Object.entries(data.feeds).map(([name, feed]): FeedConfig => ({
    ...feed,
    name,
    source: typeof feed.source === 'string' ? feed.source : feed.source.reso,
    live: typeof feed.source === 'string' ? null : feed.source,
    transport: groupOf(feed, transportSettings.shape),
    plan: groupOf(feed, planSettings.shape),
    delivery: feed.delivery ?? null,
    heartbeat: feed.heartbeat ?? data.heartbeat ?? null,
    schedule: feed.schedule ?? null,
    observe: feed.observe ?? null,
    mapping: mappings.get(name)!,
    settings: typeof feed.settings === 'string' ? settings.get(name)! : (feed.settings ?? null),
    verify: verifySettings(written.verify, mappingOf(mappingOf(written.feeds)[name]).verify),
    service: serviceOf(mergeService(written.service, mappingOf(mappingOf(written.feeds)[name]).service)),
  }))
  return {
    file,
    directory,
    store: schemeOf(data.store) === null ? resolve(directory, data.store) : data.store,
    beside: schemeOf(data.store) === null ? resolve(directory, data.store) : null,
    place: {
      allowNetwork: data.allowNetworkStore,
      formerly: new Map(feeds.flatMap(({ name, formerly }) => formerly.map((old) => [old, name] as const))),
    },
    locale: data.locale,
    notify: data.notify,
    http: data.http ?? null,
    metrics: data.metrics === undefined ? null : resolve(directory, data.metrics),
    service,
    feeds,
  }
}

/** The scheme of a store's address, such as `postgres` of `postgres://…`; null: it is a path. */
export function schemeOf(address: string): string | null {
  return /^([a-z][a-z0-9+.-]*):\/\//.exec(address)?.[1] ?? null
}

/** Picks the settings of one group. */
function groupOf<Feed extends object, Key extends keyof Feed>(
  feed: Feed,
  group: Record<Key, unknown>,
): Pick<Feed, Key> {
  return Object.fromEntries(Object.entries(feed).filter(([key]) => key in group)) as Pick<Feed, Key>
}

/** Keys, header values (also without a scheme word such as Bearer), and what the addresses carry. */
function secretsOf({ service, feeds, store, notify, http }: Omit<Config, 'literalSecrets'>): string[] {
  const secrets = schemeOf(store) === null ? [] : webSecrets(withHost(store))
  for (const { baseUrl, secretKey, sessionKey } of [service, ...feeds.map((feed) => feed.service)]) {
    secrets.push(...webSecrets(baseUrl), ...withoutScheme(secretKey ?? ''), ...withoutScheme(sessionKey ?? ''))
  }
  for (const feed of feeds) {
    const { login, headers } = feed.transport
    const { password = '', privateKey = '', passphrase = '' } = login
    for (const { value } of resoSecrets(feed.live)) secrets.push(...withoutScheme(value))
    for (const join of feed.mapping.joins ?? []) secrets.push(...sourceSecrets(join.source))
    secrets.push(...sourceSecrets(feed.source), password, privateKey, passphrase)
    for (const value of Object.values(headers)) secrets.push(...withoutScheme(value))
  }
  if (http?.token !== undefined) secrets.push(http.token)
  const addresses = [...notify.map(({ url }) => url), ...feeds.map(({ heartbeat }) => heartbeat ?? '')]
  const names = new Set(feeds.map(({ name }) => name))
  secrets.push(...addresses.flatMap((address) => callSecrets(address, names)))
  return [...new Set(secrets.filter((secret) => secret !== ''))]
}

/**
 * The secrets of an address that messages go to: all but the host, as whoever knows it can write there. A path that is one short word,
 * or the name of a feed, is one only with its host: without it all reports, messages and metrics would have a hole for that word.
 */
function callSecrets(address: string, names: ReadonlySet<string>): string[] {
  const url = URL.parse(address)
  if (url === null) return []
  const path = `${url.pathname}${url.search}`
  if (path === '/') return []
  const word = path.slice(1)
  return names.has(word) || /^[a-z]{1,8}$/.test(word) ? [address] : [address, path, word]
}

/** The names of the feeds of this one's chatbot, its own among them, in the order of precedence. */
export function feedsOfChatbot({ feeds }: Pick<Config, 'feeds'>, { chatbot, service }: FeedConfig): string[] {
  const isSame = (other: FeedConfig): boolean => other.chatbot === chatbot && other.service.baseUrl === service.baseUrl
  return feeds.filter(isSame).map(({ name }) => name)
}

/** Feeds that fill a chatbot of the same SerialNumber at another service. The store tells chatbots apart by that number alone. */
export function confusedWith({ feeds }: Pick<Config, 'feeds'>, { chatbot, service }: FeedConfig): string[] {
  return feeds.flatMap((other) =>
    other.chatbot === chatbot && other.service.baseUrl !== service.baseUrl ? other.name : [],
  )
}

/** Says that this feed is confused with these. */
export const confusedInWords = (feeds: readonly string[]): string =>
  `The store can't tell this chatbot from that of ${feeds.join(', ')}, which has the same SerialNumber at another service`
export const confusedRemedy = 'give the feeds of one of the two services a configuration and a store of their own'
