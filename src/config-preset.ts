/**
 * Where presets come from, and what is said where they don't.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { presetDirectory } from './config-mapping.ts'
import type { MappingParts } from './config-mapping.ts'
import { ConfigError, messageOf } from './errors.ts'
import type { Mapping } from './feed/feed.ts'
import { optionProblems } from './feed/mapping-options.ts'
import { createMapping } from './feed/mapping.ts'
import { loadPreset } from './feed/preset.ts'
import type { Preset } from './feed/preset.ts'
import { nearestName } from './text.ts'

/** The mapping of a feed. Throws `ConfigError` with every problem of the preset and of the feed's options. */
export function makeMapping({ feed, presetFile, options }: MappingParts): Mapping {
  const problems: string[] = []
  const preset = presetFile === null ? null : presetOrProblems(presetFile, problems)
  if (preset === null) throw new ConfigError(feed, [...problems, ...optionProblems(options)])
  return createMapping(preset, options, feed)
}

function presetOrProblems(file: string, problems: string[]): Preset | null {
  let found = ''
  try {
    const text = readPreset(file)
    found = `in ${basename(file)}, `
    return loadPreset(text, file)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems.map((problem) => `preset: ${found}${problem}`))
    return null
  }
}

/** Every preset that comes with the program, by name. */
export function shippedPresets(): Preset[] {
  const files = readdirSync(presetDirectory).filter((file) => file.endsWith('.yaml'))
  return files.toSorted().map((name) => presetAt(join(presetDirectory, name)))
}

/** One preset. Throws `ConfigError` where it can't be read or is wrong. */
export function presetAt(file: string): Preset {
  return loadPreset(readPreset(file), file)
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
  const files = readdirSync(presetDirectory).filter((file) => file.endsWith('.yaml'))
  const known = files.map((file) => basename(file, '.yaml'))
  const near = nearestName(name, known)
  const hint = near === null ? '' : ` did you mean "${near}"?`
  return `there is no "${name}";${hint} there is ${known.join(', ')}`
}
