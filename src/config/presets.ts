/**
 * Builds the mappings of a configuration and finds the presets. Each mapping is tried with its valid parts, so that one mistake
 * never hides another.
 */
import { resolve, basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readFileSync, readdirSync } from 'node:fs'
import { ConfigError, messageOf } from '../core/errors.ts'
import type { Located, Path } from '../core/schema-words.ts'
import { nearestName } from '../core/text.ts'
import { createMapping, optionProblems } from '../feed/mapping/create-mapping.ts'
import { loadPreset } from '../feed/mapping/load-preset.ts'
import type { Mapping } from '../feed/mapping/mapping.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import { mappingOptionsSchema } from '../feed/mapping/preset.ts'
import type { MappingOptions } from '../feed/mapping/preset.ts'
import { mappingOf } from './check.ts'

/** Presets that come with the program. */
export const presetDirectory = fileURLToPath(new URL('../../config/presets/', import.meta.url))

/** What a feed's mapping is made from. */
export interface MappingParts {
  feed: string
  /** Absolute path; null: not readable from the configuration. */
  presetFile: string | null
  options: MappingOptions
}

/** Makes a feed's mapping. Throws `ConfigError` whose problems begin with their path in the feed (`fields.City: …`). */
export type MappingMaker = (recipe: MappingParts) => Mapping

/** The file of a preset, given by a path relative to the configuration or by the name of a shipped one. */
export function presetFileOf(preset: string, directory: string): string {
  return /[/\\]|\.ya?ml$/.test(preset) ? resolve(directory, preset) : resolve(presetDirectory, `${preset}.yaml`)
}

/** Every feed's mapping, by name, and their problems; `known`: problems found so far. */
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

/** A feed's mapping options without the entries that have a problem. */
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
  // Problems in a list refer to positions, which must not shift.
  if (Array.isArray(written)) return spoilt.size === 0 ? written : []
  if (typeof written !== 'object') return written
  return Object.fromEntries(Object.entries(mappingOf(written)).filter(([key]) => !spoilt.has(key)))
}

/** The place of `fields.City: words` in the file. A key may contain dots and colons, so the actual keys decide. */
function placed(line: string, above: Path, options: MappingOptions): Located {
  const places = Object.entries({ preset: null, ...options }).flatMap(([section, entries]): Path[] => [
    [section],
    ...Object.keys(mappingOf(entries)).map((key) => [section, key]),
  ])
  const place = places.findLast((path) => line.startsWith(`${path.join('.')}: `))
  if (place === undefined) return { path: above, problem: line }
  return { path: [...above, ...place], problem: line.slice(place.join('.').length + 2) }
}

/** Makes mappings, and reads each preset once, however many feeds have it. */
export function mappingMaker(): MappingMaker {
  const read = new Map<string, ReturnType<typeof presetOrProblems>>()
  return ({ feed, presetFile, options }) => {
    const known = presetFile === null ? noPreset : (read.get(presetFile) ?? presetOrProblems(presetFile))
    if (presetFile !== null) read.set(presetFile, known)
    const { preset, problems, isAsBuilt } = known
    if (preset === null) throw new ConfigError(feed, [...problems, ...optionProblems(options)])
    const isRight = isAsBuilt && JSON.stringify(options) === JSON.stringify(mappingOptionsSchema.parse({}))
    return createMapping(preset, options, feed, undefined, isRight)
  }
}

/** The mapping of one feed. Throws `ConfigError` with every problem of the preset and of the feed's options. */
export const makeMapping: MappingMaker = (recipe) => mappingMaker()(recipe)

interface Read {
  preset: Preset | null
  problems: readonly string[]
  /** The build has checked it. */
  isAsBuilt: boolean
}

const noPreset: Read = { preset: null, problems: [], isAsBuilt: false }

function presetOrProblems(file: string): Read {
  let found = ''
  try {
    const text = readPreset(file)
    found = `in ${basename(file)}, `
    const built = presetAsBuilt(text, file)
    return { preset: built ?? loadPreset(text, file, baseOf), problems: [], isAsBuilt: built !== null }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { preset: null, problems: error.problems.map((problem) => `preset: ${found}${problem}`), isAsBuilt: false }
  }
}

/** The folder beside the built program with the shipped presets as the build has read them. */
const builtDirectory = new URL('../presets/', import.meta.url)

/** A preset as the build has read and checked it; null: it is no shipped one, or its text has changed. */
function presetAsBuilt(text: string, file: string): Preset | null {
  if (dirname(file) !== resolve(presetDirectory)) return null
  try {
    const { of, preset } = JSON.parse(readFileSync(new URL(`${basename(file)}.json`, builtDirectory), 'utf8')) as Built
    return of === text ? { ...preset, file } : null
  } catch {
    return null
  }
}

/** A preset of the build; `of`: its text. */
interface Built {
  of: string
  preset: Omit<Preset, 'file'>
}

/** For the build: what `presetAsBuilt` reads, by file. Left out are presets that extend another, as their text is only a part. */
export function presetsToBuild(): Map<string, Built> {
  const files = presetFiles().map((name) => [name, readPreset(join(presetDirectory, name))] as const)
  return new Map(
    files
      .filter(([, text]) => !/^extends:/m.test(text))
      .map(([name, text]) => [`${name}.json`, { of: text, preset: loadPreset(text, '') }]),
  )
}

/** Every preset that comes with the program, by name. */
export function shippedPresets(): Preset[] {
  return presetFiles()
    .toSorted()
    .map((name) => presetAt(join(presetDirectory, name)))
}

function presetFiles(): string[] {
  return readdirSync(presetDirectory).filter((file) => file.endsWith('.yaml'))
}

/** Throws `ConfigError` if the preset can't be read or is wrong. */
export function presetAt(file: string): Preset {
  return loadPreset(readPreset(file), file, baseOf)
}

/** The preset that the one in `file` extends. */
function baseOf(name: string, file: string): { text: string; file: string } {
  const base = presetFileOf(name, dirname(file))
  return { text: readPreset(base), file: base }
}

function readPreset(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const isOurs = dirname(file) === resolve(presetDirectory)
    throw new ConfigError(file, [
      isOurs ? unknownPreset(basename(file, '.yaml')) : `can't be read: ${messageOf(error)}`,
    ])
  }
}

function unknownPreset(name: string): string {
  const known = presetFiles().map((file) => basename(file, '.yaml'))
  const near = nearestName(name, known)
  const hint = near === null ? '' : ` did you mean "${near}"?`
  return `there is no "${name}";${hint} there is ${known.join(', ')}`
}
