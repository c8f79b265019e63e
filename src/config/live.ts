/** The configuration of a process that lives for long: what secret files hold is read anew, the rest is as at the start. */
import { loadConfig } from './config.ts'
import type { Config } from './config.ts'
import type { MappingMaker } from './presets.ts'
import type { ReferenceSources } from './text.ts'

export interface LiveConfig {
  /** As of the last `refresh`. */
  readonly config: Config
  /**
   * Reads what `${file:…}` names anew (docs/faults.md, F148); gives whether any of it is another than before. Throws
   * `ConfigError` where something is missing or wrong now; then all stays as it was.
   */
  refresh(): boolean
  /** Whether the configuration file is not what it was when this was last asked (at first: at the start). */
  wasEdited(): boolean
}

/** Secrets of earlier times that no output may show either: a server may still tell them. */
const secretsKept = 100

/** Loads a configuration. Throws `ConfigError`, as `loadConfig` does. */
export function liveConfig(file: string, sources: ReferenceSources, make: MappingMaker): LiveConfig {
  const { env, readFile } = sources
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

  function refresh(): boolean {
    const asAtStart = (path: string): string => (path === first.file ? text : readFile(path))
    const fresh = loadConfig(file, { env, readFile: asAtStart }, make)
    const secrets = [...new Set([...fresh.secrets, ...config.secrets])]
    const isSame = secrets.length === config.secrets.length && sameSecrets(fresh, config)
    if (isSame) return false
    // A preset or a file of settings that is edited meanwhile takes effect with the rest of the configuration.
    const feeds = fresh.feeds.map((feed, i) => ({
      ...feed,
      mapping: first.feeds[i].mapping,
      settings: first.feeds[i].settings,
    }))
    config = { ...fresh, store: first.store, feeds, secrets: secrets.slice(0, fresh.secrets.length + secretsKept) }
    return true
  }

  return {
    get config() {
      return config
    },
    refresh,
    wasEdited() {
      const before = seen
      seen = contentOf(first.file)
      return seen !== before
    },
  }
}

/** A secret may also go back to what it was before. */
function sameSecrets(one: Config, other: Config): boolean {
  const used = ({ service, feeds }: Config): string =>
    JSON.stringify([service, feeds.map(({ mapping: _mapping, settings: _settings, ...feed }) => feed)])
  return used(one) === used(other)
}
