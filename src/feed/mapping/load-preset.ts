import { isMap, parseDocument } from 'yaml'
import { ConfigError } from '../../core/errors.ts'
import { anyOf, issueSentence, located } from '../../core/schema-words.ts'
import { unknownName } from '../../core/text.ts'
import type { Format } from '../format/format.ts'
import { formats } from '../format/formats.ts'
import { createMapping } from './create-mapping.ts'
import { presetSchema } from './preset.ts'
import type { Preset } from './preset.ts'
import { unknownFields } from './names.ts'

/** Reads the preset that the one in `file` extends, by its name: gives its text and file. */
export type BaseOf = (name: string, file: string) => { text: string; file: string }

/** How many presets may extend one another in a chain. */
const mostBases = 5

/**
 * Reads a preset. Throws `ConfigError` with every problem and its path: YAML, schema, invalid rules. `baseOf` is asked for the
 * one that it extends; it may throw.
 */
export function loadPreset(yamlText: string, file: string, baseOf?: BaseOf): Preset {
  const { preset, problems } = checkedPreset(extended(yamlText, file, baseOf))
  if (preset === null || problems.length > 0) throw new ConfigError(file, problems)
  // Compiled without a feed's options, only to check the preset itself.
  createMapping({ ...preset, file }, {}, file)
  return { ...preset, file }
}

/** The keys of a preset, laid over those of the one that it extends. */
function extended(text: string, file: string, baseOf: BaseOf | undefined, bases = 0): Record<string, unknown> {
  const { extends: name, ...own } = writtenPreset(text, file)
  if (name === undefined) return own
  if (typeof name !== 'string' || name === '' || baseOf === undefined)
    throw new ConfigError(file, ['extends: takes the name of a preset, or the path of its file'])
  if (bases === mostBases) throw new ConfigError(file, [`extends: more than ${mostBases} presets extend one another`])
  const base = baseOf(name, file)
  return merged(extended(base.text, base.file, baseOf, bases + 1), own)
}

/** Lays keys over those of the base. Maps keep their other entries, all else is replaced, and null removes a key. */
function merged(base: Record<string, unknown>, own: Record<string, unknown>): Record<string, unknown> {
  // Keys of the base for another format do not apply.
  const isSame = own['format'] === undefined || own['format'] === base['format']
  const result = Object.fromEntries(Object.entries(base).filter(([key]) => isSame || key in presetSchema().shape))
  for (const [key, value] of Object.entries(own)) {
    const before = result[key]
    const isOpen = openMaps.has(key) && isMapping(before) && isMapping(value)
    result[key] = isOpen ? withoutNull({ ...before, ...value }) : value
  }
  return withoutNull(result)
}

const openMaps: ReadonlySet<string> = new Set(['fields', 'extension', 'statuses', 'header'])

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutNull(map: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null))
}

function writtenPreset(yamlText: string, file: string): Record<string, unknown> {
  const document = parseDocument(yamlText, { uniqueKeys: true })
  const broken = document.errors.map((error) => error.message.split('\n')[0])
  if (broken.length > 0) throw new ConfigError(file, broken)
  if (!isMap(document.contents)) throw new ConfigError(file, ['a preset is a map of keys and values'])
  const value: Record<string, unknown> = document.toJS({ maxAliasCount: 100 })
  return value
}

/** Checks the keys of every preset and those of its format. */
function checkedPreset(value: Record<string, unknown>): { preset: Omit<Preset, 'file'> | null; problems: string[] } {
  const every = Object.entries(formats)
  const format = every.find(([name]) => name === value['format'])?.[1]
  const keysOf = (format: Format): string[] => Object.keys(format.options().shape)
  // For an unknown format, the keys of every format are allowed.
  const taken = format === undefined ? every.flatMap(([, each]) => keysOf(each)) : keysOf(format)
  const known = ['extends', ...Object.keys(presetSchema().shape), ...taken]

  const general = presetSchema().safeParse(value, { error: issueSentence, reportInput: true })
  const own = format?.options().safeParse(value, { error: issueSentence, reportInput: true })
  const problems = [general, own]
    .flatMap((parsed) => parsed?.error?.issues ?? [])
    .flatMap((issue) => located(issue))
    .map(({ path, problem }) => `${path.join('.')}: ${problem}`)
  for (const key of Object.keys(value).filter((each) => !known.includes(each))) {
    const elsewhere = every.flatMap(([, each]) => (keysOf(each).includes(key) ? [each] : []))
    problems.push(`${key}: ${elsewhere.length > 0 ? onlyFor(elsewhere) : unknownName(key, known, 'key')}`)
  }
  const { fields } = value
  if (!general.success && fields instanceof Object && !Array.isArray(fields)) problems.push(...unknownFields(fields))
  if (!general.success || !own?.success) return { preset: null, problems }
  const preset = { ...general.data, formatOptions: own.data }
  return { preset, problems: [...problems, ...togetherProblems(preset)] }
}

/** Keys of a preset that are valid but do not fit together. */
function togetherProblems(preset: Omit<Preset, 'file'>): string[] {
  const { format, formatOptions, deliveryFrom, variants, extensionGroups } = preset
  const problems: string[] = []
  const { header, around } = formatOptions
  if (deliveryFrom && { ...around, ...header }[deliveryFrom.header] === undefined)
    problems.push(`deliveryFrom.header: there is no "${deliveryFrom.header}" in header or around`)
  if (new Set(variants.map(({ suffix }) => suffix)).size < variants.length) {
    problems.push('variants: each needs its own suffix, because two listings of a record need two MLSNumbers')
  }
  if (!formats[format].nested && extensionGroups.length > 0)
    problems.push(`extensionGroups: ${onlyFor(Object.values(formats).filter(({ nested }) => nested))}`)
  return problems
}

function onlyFor(takers: readonly Format[]): string {
  return `is for ${anyOf(takers.map(({ title }) => title))} only`
}
