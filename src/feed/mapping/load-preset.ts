import { isMap, parseDocument } from 'yaml'
import { ConfigError } from '../../core/errors.ts'
import { anyOf, issueSentence, located, unknownName } from '../../core/schema-words.ts'
import type { Format } from '../format/format.ts'
import { formats } from '../format/formats.ts'
import { createMapping } from './create-mapping.ts'
import { presetSchema } from './preset.ts'
import type { Preset } from './preset.ts'
import { unknownFields } from './names.ts'

/** Reads a preset. Throws `ConfigError` with every problem and its path: YAML, schema, invalid rules. */
export function loadPreset(yamlText: string, file: string): Preset {
  const document = parseDocument(yamlText, { uniqueKeys: true })
  const broken = document.errors.map((error) => error.message.split('\n')[0])
  if (broken.length > 0) throw new ConfigError(file, broken)
  if (!isMap(document.contents)) throw new ConfigError(file, ['a preset is a map of keys and values'])
  const value: Record<string, unknown> = document.toJS({ maxAliasCount: 100 })
  const { preset, problems } = checkedPreset(value)
  if (preset === null || problems.length > 0) throw new ConfigError(file, problems)
  // Compiled without a feed's options to check the preset itself.
  createMapping({ ...preset, file }, {}, file)
  return { ...preset, file }
}

/** Checks the keys of every preset and those of its format. */
function checkedPreset(value: Record<string, unknown>): { preset: Omit<Preset, 'file'> | null; problems: string[] } {
  const every = Object.entries(formats)
  const format = every.find(([name]) => name === value['format'])?.[1]
  const keysOf = ({ options }: Format): string[] => Object.keys(options.shape)
  // For an unknown format, the keys of every format are allowed.
  const taken = format === undefined ? every.flatMap(([, each]) => keysOf(each)) : keysOf(format)
  const known = [...Object.keys(presetSchema.shape), ...taken]

  const general = presetSchema.safeParse(value, { error: issueSentence, reportInput: true })
  const own = format?.options.safeParse(value, { error: issueSentence, reportInput: true })
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
  if (deliveryFrom && formatOptions.header?.[deliveryFrom.header] === undefined)
    problems.push(`deliveryFrom.header: there is no "${deliveryFrom.header}" in header`)
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
