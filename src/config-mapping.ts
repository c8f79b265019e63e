/**
 * The part of a configuration that says how records become listings. Each feed's is tried with whatever of it is sound,
 * so that one mistake anywhere never hides another.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mappingOf } from './config-check.ts'
import { ConfigError } from './errors.ts'
import type { Mapping } from './feed/feed.ts'
import { mappingOptionsSchema } from './feed/mapping-schema.ts'
import type { MappingOptions } from './feed/mapping-schema.ts'
import type { Located, Path } from './schema-words.ts'

/** Presets that come with the program. */
export const presetDirectory = fileURLToPath(new URL('../config/presets/', import.meta.url))

/** A feed's preset and options: what its mapping is made from. */
export interface MappingParts {
  feed: string
  /** Absolute path; null where the configuration does not say it in a way that can be understood. */
  presetFile: string | null
  options: MappingOptions
}

/** Makes a feed's mapping. Throws `ConfigError` whose problems begin with their path in the feed (`fields.City: …`). */
export type MappingMaker = (parts: MappingParts) => Mapping

/** A path as it is (relative to the configuration), or the name of a preset that comes with the program. */
export function presetFileOf(preset: string, directory: string): string {
  return /[/\\]|\.ya?ml$/.test(preset) ? resolve(directory, preset) : resolve(presetDirectory, `${preset}.yaml`)
}

/** Every feed's mapping, by the feed's name, and what is wrong with them; `known` are places already complained about. */
export function makeMappings(tree: unknown, known: readonly Located[], directory: string, make: MappingMaker) {
  const problems: Located[] = []
  const mappings = new Map<string, Mapping>()
  for (const [name, written] of Object.entries(mappingOf(mappingOf(tree).feeds))) {
    const feed = mappingOf(written)
    const wrong = known.flatMap(({ path }) => (path[0] === 'feeds' && path[1] === name ? [path.slice(2)] : []))
    const { preset } = feed
    const named = typeof preset === 'string' && preset !== '' && !wrong.some(([key]) => key === 'preset')
    const options = soundOptions(feed, wrong)
    try {
      mappings.set(name, make({ feed: name, presetFile: named ? presetFileOf(preset, directory) : null, options }))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems.map((line) => placed(line, ['feeds', name], options)))
    }
  }
  return { problems, mappings }
}

/** A feed's mapping options without the entries that a problem is already known of. */
function soundOptions(feed: Record<string, unknown>, wrong: readonly Path[]): MappingOptions {
  const sound: Record<string, unknown> = {}
  for (const [section, schema] of Object.entries(mappingOptionsSchema.shape)) {
    const spoilt = new Set(wrong.filter(([first]) => first === section).map((path) => path.at(1)?.toString()))
    if (spoilt.has(undefined)) continue
    const parsed = schema.safeParse(withoutKeys(feed[section], spoilt))
    if (parsed.success && parsed.data !== undefined) sound[section] = parsed.data
  }
  return mappingOptionsSchema.parse(sound)
}

function withoutKeys(written: unknown, spoilt: ReadonlySet<string | undefined>): unknown {
  // The place of what is wrong in a list is its number, which must not shift.
  if (Array.isArray(written)) return spoilt.size === 0 ? written : []
  if (typeof written !== 'object') return written
  return Object.fromEntries(Object.entries(mappingOf(written)).filter(([key]) => !spoilt.has(key)))
}

/** `fields.City: words` as a place of the file. A key may hold dots and colons, so the keys there are decide. */
function placed(line: string, above: Path, options: MappingOptions): Located {
  const places = Object.entries({ preset: null, ...options }).flatMap(([section, entries]): Path[] => [
    [section],
    ...Object.keys(mappingOf(entries)).map((key) => [section, key]),
  ])
  const place = places.findLast((path) => line.startsWith(`${path.join('.')}: `))
  if (place === undefined) return { path: above, problem: line }
  return { path: [...above, ...place], problem: line.slice(place.join('.').length + 2) }
}
