/** The configuration of a long-running process: secret files are read again before each run, and all of it on request. */
import { resolve } from 'node:path'
import { ConfigError } from '../core/errors.ts'
import { loadConfig } from './config.ts'
import type { Mapping } from '../feed/mapping/mapping.ts'
import type { Config } from './config.ts'
import { mappingMaker } from './presets.ts'
import type { ReferenceSources } from './text.ts'

/** Loads a configuration. Throws `ConfigError`, as `loadConfig` does. */
export function liveConfig(file: string, sources: ReferenceSources) {
  const { readFile } = sources
  const path = resolve(file)
  /** The configuration as of the last time that all of it was read. */
  let whole = readWhole()
  let config = whole.config

  /** The files named by `${file:…}`, and files of settings, as they were read last. */
  let named = whole.named

  function readWhole(): { config: Config; text: string; named: Map<string, string> } {
    let text = ''
    const files = new Map<string, string>()
    const noting = (name: string): string => {
      const found = readFile(name)
      if (name === path) text = found
      else files.set(name, found)
      return found
    }
    const read = loadConfig(file, { ...sources, readFile: noting }, mappingMaker())
    return { config: read, text, named: files }
  }

  const isAsRead = (name: string, text: string): boolean => {
    try {
      return readFile(name) === text
    } catch {
      return false
    }
  }

  /**
   * Reads the files of `${file:…}` again (docs/faults.md, F148) and returns whether any has changed. Throws `ConfigError` if
   * something is missing or wrong now; then everything stays as it was.
   */
  function refresh(): boolean {
    // Nothing to do if no text has changed: a thousand feeds come here before each of their runs.
    if ([...named].every(([name, text]) => isAsRead(name, text))) return false
    const files = new Map<string, string>()
    const asRead = (name: string): string => {
      if (name === path) return whole.text
      const found = readFile(name)
      files.set(name, found)
      return found
    }
    const fresh = loadConfig(file, { ...sources, readFile: asRead }, mappingMaker())
    named = files
    if (sameSecrets(fresh, config)) return false
    // A preset or a file of settings that is edited meanwhile takes effect with the rest of the configuration.
    const feeds = fresh.feeds.map((feed, i) => {
      const { mapping, settings } = whole.config.feeds[i]
      return { ...feed, mapping: withSources(mapping, feed.mapping), settings }
    })
    config = { ...fresh, store: whole.config.store, feeds }
    return true
  }

  /**
   * Reads all of it again: the file, presets, settings and secrets. Throws `ConfigError` with every problem, `problemsOf` the
   * new one included; then everything stays as it was.
   */
  function reload(problemsOf: (fresh: Config) => string[]): void {
    const fresh = readWhole()
    const problems = [...fixed(whole.config, fresh.config), ...problemsOf(fresh.config)]
    if (problems.length > 0) throw new ConfigError(file, problems)
    whole = fresh
    named = fresh.named
    config = fresh.config
  }

  return {
    /** The configuration as of the last `refresh` or `reload`. */
    get config(): Config {
      return config
    },
    refresh,
    reload,
    /** What the file holds now, for comparisons; null: it can't be read. */
    textNow(): string | null {
      try {
        return readFile(path)
      } catch {
        return null
      }
    },
    /** What it held when all of it was read. */
    textRead: (): string => whole.text,
  }
}

/** What can't be changed under an open store, as problems. */
function fixed(before: Config, after: Config): string[] {
  const restart = 'takes effect when the daemon is started again; put the earlier value back, or restart the daemon'
  const problems: string[] = []
  if (before.store !== after.store) problems.push(`store: ${restart}`)
  if (before.place.allowNetwork !== after.place.allowNetwork) problems.push(`allowNetworkStore: ${restart}`)
  if (before.http?.listen !== after.http?.listen) problems.push(`http.listen: ${restart}`)
  for (const [old, name] of after.place.formerly)
    if (before.place.formerly.get(old) !== name) problems.push(`feeds.${name}.formerly: ${restart}`)
  return problems
}

/** A mapping with the second tables of a later one, as their addresses may have passwords in them. */
function withSources(mapping: Mapping, { joins: later }: Mapping): Mapping {
  const { joins } = mapping
  if (joins === undefined || later === undefined) return mapping
  return { ...mapping, joins: joins.map((join, i) => ({ ...join, source: later[i].source })) }
}

function sameSecrets(config: Config, other: Config): boolean {
  const used = ({ service, http, notify, feeds }: Config): string =>
    JSON.stringify([service, http, notify, feeds.map(({ mapping: _mapping, settings: _settings, ...feed }) => feed)])
  return used(config) === used(other)
}
