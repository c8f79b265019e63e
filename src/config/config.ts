/**
 * The configuration, read and checked whole before anything runs (DESIGN, "Configuration"). `config-schema.ts` says how
 * it is written; the types here are what the rest of the program gets: defaults filled in, times in milliseconds, sizes
 * in bytes, paths absolute.
 */
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { ConfigError, messageOf } from '../core/errors.ts'
import type { FieldName } from '../core/listing.ts'
import { issueSentence } from '../core/schema-words.ts'
import { withoutScheme } from '../core/secrets.ts'
import type { Mapping } from '../feed/mapping/mapping.ts'
import { transportSettings } from '../feed/transport/settings.ts'
import type { TransportSettings } from '../feed/transport/settings.ts'
import { sourceSecrets } from '../feed/transport/transports.ts'
import { serviceSchema } from '../service/settings-file.ts'
import type { ChatbotSettings, ServiceSettings } from '../service/settings-file.ts'
import { readSettingsFiles } from './chatbot-settings.ts'
import { inputProblems, keyProblems, mappingOf, mergeService, problemLines, schemaProblems } from './check.ts'
import { makeMappings } from './presets.ts'
import type { MappingMaker } from './presets.ts'
import { configSchema } from './schema.ts'
import { fillReferences, readDocument } from './text.ts'
import type { ReferenceSources } from './text.ts'
import { verifyProblems, verifySettings } from './verify.ts'
import type { VerifySettings } from './verify.ts'

/** A share of the listings that are ours, with a number that is always allowed. */
export interface Share {
  percent: number
  floor: number
}

/** What the guard lets through (DESIGN, "The guard"); shares and percentages from 0 to 100. */
export interface Limits {
  delete: Share
  update: Share
  recreate: Share
  shrink: number
  overlap: number
  lostField: Share
  /** How often and how long a listing must be absent before it is deleted. */
  grace: { runs: number; hours: number }
  onTrip: 'hold' | 'abort'
}

/** One feed, ready to run. */
export interface FeedConfig {
  name: string
  /** SerialNumber. */
  chatbot: string
  /**
   * As written: an http(s), sftp or ftp(s) address, `-` for standard input, or a path or glob relative to
   * `Config.directory`.
   */
  source: string
  /** How the source is fetched and read. */
  transport: TransportSettings
  /** null: as the preset says. */
  delivery: 'full' | 'delta' | null
  /** Cron expression; null: only run by hand. */
  schedule: string | null
  timezone: string
  /** The preset with the feed's own options over it. */
  mapping: Mapping
  limits: Limits
  ownership: 'tag' | 'snapshot' | 'mirror'
  drift: 'overwrite' | 'keep' | 'report'
  volatile: { fields: FieldName[]; refresh: number }
  settle: number
  /** How long a `sync` begins changes, once its plan is made. */
  deadline: number
  /** Of the chatbot, applied after each sync that changed them; their texts still hold `{figures}`. null: none. */
  settings: ChatbotSettings | null
  /** Whether the chatbot is asked after a sync about what it changed; null: it is not. */
  verify: VerifySettings | null
  /** The common service with this feed's differences put over it. */
  service: ServiceSettings
}

export interface Config {
  /** The file it was read from, absolute. */
  file: string
  /** The file's directory: relative paths start here. */
  directory: string
  /** Absolute path of the store. */
  store: string
  /** Whether it may lie on a network file system. */
  place: { allowNetwork: boolean }
  /** Absolute path of the metrics file; null: none. */
  metrics: string | null
  service: ServiceSettings
  feeds: FeedConfig[]
  /** Every text that no log, error or report may show; for the scrubber of `secrets.ts`. */
  secrets: string[]
}

/** Reads and checks a configuration file, its mappings included. Throws `ConfigError` with every problem, each with its path and line. */
export function loadConfig(file: string, sources: ReferenceSources, make: MappingMaker): Config {
  const path = resolve(file)
  const directory = dirname(path)
  const document = readDocument(readConfigFile(file, path, sources))
  if (document.problems.length > 0) throw new ConfigError(file, document.problems)

  const { value, problems, filled } = fillReferences(document.value, {
    env: sources.env,
    readFile: (name) => sources.readFile(resolve(directory, name)),
  })
  const parsed = configSchema.safeParse(value, { error: issueSentence, reportInput: true })
  const written = [...problems, ...schemaProblems(parsed.error, problems)]
  const made = makeMappings(value, written, directory, make)
  const files = readSettingsFiles(value, directory, (name) => sources.readFile(name))
  const located = [
    ...written,
    ...keyProblems(value, problems),
    ...inputProblems(value),
    ...verifyProblems(value),
    ...made.problems,
    ...files.problems,
  ]
  if (located.length > 0 || !parsed.success) {
    throw new ConfigError(file, problemLines(located, document.lineOf, filled))
  }
  const fromFiles = filled.filter(({ reference }) => reference.startsWith('${file:')).map((file) => file.value)
  return resolved(path, parsed.data, mappingOf(value), made.mappings, files.settings, fromFiles)
}

function readConfigFile(file: string, path: string, sources: ReferenceSources): string {
  try {
    return sources.readFile(path)
  } catch (error) {
    throw new ConfigError(file, [`can't be read: ${messageOf(error)}`])
  }
}

/** `written` is what was parsed: services are merged as written, so that a default never hides what was set above. */
function resolved(
  file: string,
  data: z.output<typeof configSchema>,
  written: Record<string, unknown>,
  mappings: ReadonlyMap<string, Mapping>,
  settings: ReadonlyMap<string, ChatbotSettings>,
  fromFiles: string[],
): Config {
  const directory = dirname(file)
  const service = serviceSchema.parse(written.service)
  const feeds = Object.entries(data.feeds).map(([name, feed]): FeedConfig => ({
    ...feed,
    name,
    transport: groupOf(feed, transportSettings.shape),
    delivery: feed.delivery ?? null,
    schedule: feed.schedule ?? null,
    mapping: mappings.get(name)!,
    settings: typeof feed.settings === 'string' ? settings.get(name)! : (feed.settings ?? null),
    verify: verifySettings(written.verify, mappingOf(mappingOf(written.feeds)[name]).verify),
    service: serviceSchema.parse(mergeService(written.service, mappingOf(mappingOf(written.feeds)[name]).service)),
  }))
  return {
    file,
    directory,
    store: resolve(directory, data.store),
    place: { allowNetwork: data.allowNetworkStore },
    metrics: data.metrics === undefined ? null : resolve(directory, data.metrics),
    service,
    feeds,
    secrets: secretsOf(service, feeds, fromFiles),
  }
}

/** The settings of one group out of a feed's, where they are written side by side. */
function groupOf<Feed extends object, Key extends keyof Feed>(
  feed: Feed,
  group: Record<Key, unknown>,
): Pick<Feed, Key> {
  return Object.fromEntries(Object.entries(feed).filter(([key]) => key in group)) as Pick<Feed, Key>
}

/** What secret files hold, keys, header values (also without a scheme word such as Bearer), and what the addresses carry. */
function secretsOf(service: ServiceSettings, feeds: FeedConfig[], fromFiles: string[]): string[] {
  const secrets = [...fromFiles]
  for (const { secretKey, sessionKey } of [service, ...feeds.map((feed) => feed.service)]) {
    secrets.push(...withoutScheme(secretKey ?? ''), ...withoutScheme(sessionKey ?? ''))
  }
  for (const feed of feeds) {
    const { login, headers } = feed.transport
    const { password = '', privateKey = '', passphrase = '' } = login
    secrets.push(...sourceSecrets(feed.source), password, privateKey, passphrase)
    for (const value of Object.values(headers)) secrets.push(...withoutScheme(value))
  }
  return [...new Set(secrets.filter((secret) => secret !== ''))]
}

/** The feeds of the same chatbot that come after one, and so before which it goes. */
export function outrankedBy({ feeds }: Config, { name, chatbot, service }: FeedConfig): ReadonlySet<string> {
  const after = feeds.slice(feeds.findIndex((other) => other.name === name) + 1)
  const isSame = (other: FeedConfig): boolean => other.chatbot === chatbot && other.service.baseUrl === service.baseUrl
  return new Set(after.filter(isSame).map((other) => other.name))
}
