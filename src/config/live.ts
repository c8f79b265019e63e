/** The configuration of a long-running process: secret files are read again, the rest stays as at the start. */
import { loadConfig } from './config.ts'
import type { Config } from './config.ts'
import type { MappingMaker } from './presets.ts'
import type { ReferenceSources } from './text.ts'

/** Loads a configuration. Throws `ConfigError`, as `loadConfig` does. */
export function liveConfig(file: string, sources: ReferenceSources, make: MappingMaker) {
  const { readFile } = sources
  const first = loadConfig(file, sources, make)
  const text = readFile(first.file)
  let seen: string | null = text
  let config = first

  function contentOf(path: string): string | null {
    try {
      return readFile(path)
    } catch {
      return null
    }
  }

  /**
   * Reads the files of `${file:…}` again (docs/faults.md, F148) and returns whether any has changed. Throws `ConfigError` if
   * something is missing or wrong now; then everything stays as it was.
   */
  function refresh(): boolean {
    const asAtStart = (path: string): string => (path === first.file ? text : readFile(path))
    const fresh = loadConfig(file, { ...sources, readFile: asAtStart }, make)
    if (sameSecrets(fresh, config)) return false
    // A preset or a file of settings that is edited meanwhile takes effect with the rest of the configuration.
    const feeds = fresh.feeds.map((feed, i) => ({
      ...feed,
      mapping: first.feeds[i].mapping,
      settings: first.feeds[i].settings,
    }))
    config = { ...fresh, store: first.store, feeds }
    return true
  }

  return {
    /** As of the last `refresh`. */
    get config(): Config {
      return config
    },
    refresh,
    /** Whether the configuration file has changed since the last call or the start. */
    wasEdited(): boolean {
      const before = seen
      seen = contentOf(first.file)
      return seen !== before
    },
  }
}

function sameSecrets(one: Config, other: Config): boolean {
  const used = ({ service, feeds }: Config): string =>
    JSON.stringify([service, feeds.map(({ mapping: _mapping, settings: _settings, ...feed }) => feed)])
  return used(one) === used(other)
}
