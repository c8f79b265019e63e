/** Wiring of `inspect`: any source goes through the same transports and formats as a feed does. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig } from '../config/config.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { shippedPresets, presetFileOf, makeMapping, presetAt } from '../config/presets.ts'
import type { MappingParts } from '../config/presets.ts'
import { ConfigError, UsageError } from '../core/errors.ts'
import { systemClock } from '../core/machine.ts'
import { scrubber } from '../core/secrets.ts'
import { dayIn } from '../core/zone.ts'
import type { Findings } from '../inspect/findings.ts'
import { inspect } from '../inspect/inspect.ts'
import type { Inspected, Inspection } from '../inspect/inspect.ts'
import { findingsJson, findingsText } from '../inspect/text.ts'
import { openWorkspace } from '../workspace/sqlite.ts'
import type { CommandContext } from './app.ts'
import { progressLine } from './progress.ts'
import { scrubbedError, scrubbedTexts } from './scrubbed.ts'
import { wire } from './wire.ts'

/** How findings of `inspect` are written. */
export const findingsForms: Record<'text' | 'json', (findings: Findings, colour: boolean) => string> = {
  text: findingsText,
  json: findingsJson,
}

/** Reads a source for `inspect`: a feed of the configuration by its name, else any source, every setting at its default. */
export async function inspectSource(
  { env, signal, configFile, clock = systemClock }: CommandContext,
  source: string,
  { preset, limit }: { preset: string | undefined; limit: number | null },
): Promise<Inspected> {
  const { config, feed, parts } = sourceToInspect(source, configFile, env)
  const scrub = scrubber(config.secrets)
  const wired = wire(feed, config, clock)
  const moment = { now: clock.now(), today: dayIn(feed.timezone, clock.now()), timezone: feed.timezone }
  const workspace = openWorkspace()
  const progress = progressLine(feed.name, process.stderr)
  try {
    const inspected = await inspect({
      feed: wired,
      given: givenPreset(preset, parts),
      presets: shippedPresets(),
      limit,
      moment,
      scratch: workspace.folder,
      signal,
      progress: (records) => progress.show('records', records, null),
    })
    return { ...inspected, findings: scrubbedTexts(inspected.findings, scrub) }
  } catch (error) {
    throw scrubbedError(error, scrub)
  } finally {
    progress.end()
    workspace.close()
  }
}

/** A source of the command line as a feed: one of the configuration by its name, or any other with every setting at its default. */
interface Source {
  config: Config
  feed: FeedConfig
  /** What a configured feed's mapping is made of; null: the source is no feed of the configuration. */
  parts: MappingParts | null
}

/** Throws `ConfigError` where the configuration is wrong, `UsageError` for a source that can't be one. */
export function sourceToInspect(source: string, configFile: string, env: NodeJS.ProcessEnv): Source {
  return configuredFeed(source, configFile, env) ?? { ...anySource(source, env), parts: null }
}

/** A name is the configuration's only where no file has it. */
function configuredFeed(name: string, configFile: string, env: NodeJS.ProcessEnv): Source | null {
  if (!/^[A-Za-z0-9_.-]+$/.test(name) || name === '-' || existsSync(name) || !existsSync(configFile)) return null
  const made = new Map<string, MappingParts>()
  const config = loadConfig(configFile, { env, readFile: (path) => readFileSync(path, 'utf8') }, (parts) => {
    made.set(parts.feed, parts)
    return makeMapping(parts)
  })
  const feed = config.feeds.find((one) => one.name === name)
  return feed === undefined ? null : { config, feed, parts: made.get(name) ?? null }
}

/** The preset stands for none: `inspect` makes its own mapping. */
function anySource(source: string, env: NodeJS.ProcessEnv): { config: Config; feed: FeedConfig } {
  const written = stringify({
    service: { baseUrl: 'http://127.0.0.1' },
    feeds: { inspect: { chatbot: 'none', source: source.replaceAll('${', '$${'), preset: 'zillow' } },
  })
  const file = join(process.cwd(), 'inspect')
  const readFile = (path: string): string => (path === file ? written : readFileSync(path, 'utf8'))
  try {
    const config = loadConfig(file, { env, readFile }, makeMapping)
    return { config, feed: config.feeds[0] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const problems = error.problems.map((line) => line.replace(/^feeds\.inspect\./, '').replace(/ \(line \d+\)$/, ''))
    const hint = problems.some((line) => line.startsWith('login'))
      ? '\nwrite it in a feed of the configuration, and name that feed as SOURCE'
      : ''
    throw new UsageError(problems.join('\n') + hint)
  }
}

/** The preset of `--preset`, else the configured feed's. Throws `UsageError` for one that isn't there, `ConfigError` for a wrong one. */
export function givenPreset(name: string | undefined, parts: MappingParts | null): Inspection['given'] {
  if (name !== undefined) {
    const file = presetFileOf(name, process.cwd())
    if (!existsSync(file)) {
      const problem = /[/\\]|\.ya?ml$/.test(name) ? `${resolve(file)} does not exist` : missingPreset(file)
      throw new UsageError(`--preset: ${problem}`)
    }
    return { preset: presetAt(file), options: {}, how: 'given' }
  }
  if (parts?.presetFile == null) return null
  return { preset: presetAt(parts.presetFile), options: parts.options, how: 'configured' }
}

function missingPreset(file: string): string {
  try {
    presetAt(file)
    return ''
  } catch (error) {
    return error instanceof ConfigError ? error.problems.join('; ') : String(error)
  }
}
