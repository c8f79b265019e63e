/** A source of the command line as a feed: one of the configuration by its name, or any other with every setting at its default. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { presetFileOf } from './config-mapping.ts'
import type { MappingParts } from './config-mapping.ts'
import { makeMapping, presetAt } from './config-preset.ts'
import { loadConfig } from './config.ts'
import type { Config, FeedConfig } from './config.ts'
import { ConfigError, UsageError } from './errors.ts'
import type { InspectParts } from './inspect/parts.ts'

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
export function givenPreset(name: string | undefined, parts: MappingParts | null): InspectParts['given'] {
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
