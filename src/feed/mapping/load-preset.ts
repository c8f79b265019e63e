import { isMap, parseDocument } from 'yaml'
import { z } from 'zod'
import { ConfigError } from '../../core/errors.ts'
import { anyOf, issueSentence, located, unknownName } from '../../core/schema-words.ts'
import type { Format } from '../format/format.ts'
import { formats } from '../format/formats.ts'
import { createMapping } from './create-mapping.ts'
import { presetSchema } from './preset.ts'
import type { Preset } from './preset.ts'
import { unknownFields } from './names.ts'

/**
 * Reads a preset. Throws `ConfigError` with every problem and its path: YAML, schema, and rules that can't
 * work (unknown fields, paths, converters' arguments).
 */
export function loadPreset(yamlText: string, file: string): Preset {
  const document = parseDocument(yamlText, { uniqueKeys: true })
  if (document.errors.length > 0)
    throw new ConfigError(
      file,
      document.errors.map((error) => error.message.split('\n')[0]),
    )
  if (!isMap(document.contents)) throw new ConfigError(file, ['a preset is a map of keys and values'])
  const value: Record<string, unknown> = document.toJS({ maxAliasCount: 100 })
  const { preset, problems } = checkedPreset(value)
  if (preset === null || problems.length > 0) throw new ConfigError(file, problems)
  // A preset that can't be compiled is wrong by itself, whatever a feed adds.
  createMapping({ ...preset, file }, {}, file)
  return { ...preset, file }
}

/** Checks the keys that every preset may have, and those that its format takes beside them. */
function checkedPreset(value: Record<string, unknown>): { preset: Omit<Preset, 'file'> | null; problems: string[] } {
  const every = Object.entries(formats)
  const format = every.find(([name]) => name === value['format'])?.[1]
  const keysOf = ({ options }: Format): string[] => Object.keys(options.shape)
  // What an unknown format takes, nobody knows.
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
  if (!general.success) problems.push(...unknownFields(fieldsOf(value)))
  if (!general.success || !own?.success) return { preset: null, problems }
  const preset = { ...general.data, formatOptions: own.data }
  return { preset, problems: [...problems, ...togetherProblems(preset)] }
}

/** What does not fit together in a preset each of whose parts is right. */
function togetherProblems(preset: Omit<Preset, 'file'>): string[] {
  const { format, formatOptions, deliveryFrom, variants, extensionGroups } = preset
  const problems: string[] = []
  if (deliveryFrom && formatOptions.header?.[deliveryFrom.header] === undefined)
    problems.push(`deliveryFrom.header: there is no "${deliveryFrom.header}" in header`)
  if (new Set(variants.map(({ suffix }) => suffix)).size < variants.length) {
    problems.push('variants: each needs a suffix of its own, as two listings of a record need two numbers')
  }
  if (!formats[format].nested && extensionGroups.length > 0)
    problems.push(`extensionGroups: ${onlyFor(Object.values(formats).filter(({ nested }) => nested))}`)
  return problems
}

function onlyFor(takers: readonly Format[]): string {
  return `is for ${anyOf(takers.map(({ title }) => title))} only`
}

/** The fields of a preset that may be wrong elsewhere. */
function fieldsOf(value: unknown): Record<string, unknown> {
  const fields = z.looseObject({ fields: z.record(z.string(), z.unknown()) }).safeParse(value)
  return fields.success ? fields.data.fields : {}
}
