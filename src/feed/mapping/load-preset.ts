import { isMap, parseDocument } from 'yaml'
import { z } from 'zod'
import { ConfigError } from '../../core/errors.ts'
import { issueSentence, located } from '../../core/schema-words.ts'
import { createMapping } from './create-mapping.ts'
import { presetSchema } from './preset.ts'
import type { Preset } from './preset.ts'
import { unknownFields } from './schema.ts'

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
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  const checked = presetSchema.safeParse(value, { error: issueSentence, reportInput: true })
  if (!checked.success) {
    const problems = checked.error.issues.flatMap((issue) => located(issue))
    const lines = problems.map(({ path, problem }) => `${path.join('.')}: ${problem}`)
    throw new ConfigError(file, [...lines, ...unknownFields(fieldsOf(value))])
  }
  const problems = formatProblems(checked.data)
  if (problems.length > 0) throw new ConfigError(file, problems)
  const preset = { ...checked.data, file }
  // A preset that can't be compiled is wrong by itself, whatever a feed adds.
  createMapping(preset, {}, file)
  return preset
}

/** The fields of a preset that may be wrong elsewhere. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  const fields = z.looseObject({ fields: z.record(z.string(), z.unknown()) }).safeParse(value)
  return fields.success ? fields.data.fields : {}
}

/** Whether a header attribute is that of an element around the records, other than the root: only its first one would be read. */
export function mayComeAgain(path: string, record = ''): boolean {
  const element = path.slice(0, path.lastIndexOf('/'))
  return element.includes('/') && record.startsWith(`${element}/`)
}

export function formatProblems(preset: z.infer<typeof presetSchema>): string[] {
  const problems: string[] = []
  if (preset.format === 'xml' && preset.record === undefined) problems.push('record: an XML preset needs it')
  if (preset.format !== 'xml' && preset.record !== undefined) problems.push('record: is for XML only')
  if (preset.format !== 'xml' && preset.counter !== undefined) problems.push('counter: is for XML only')
  if (preset.format !== 'xml' && preset.header !== undefined) problems.push('header: is for XML only')
  for (const name of Object.keys(preset.header ?? {}).filter((one) => !/^(?!name$)[a-zA-Z][a-zA-Z0-9]*$/.test(one)))
    problems.push(`header.${name}: a name of letters and digits, and not "name", which is the record's own`)
  for (const [name, path] of Object.entries(preset.header ?? {}).filter(([, one]) => mayComeAgain(one, preset.record)))
    problems.push(`header.${name}: ${path} is of an element with records in it, which may come again and say otherwise`)
  if (preset.written !== undefined && (preset.format !== 'xml' || mayComeAgain(preset.written, preset.record)))
    problems.push('written: is for XML only, and an attribute that comes once')
  const { deliveryFrom } = preset
  if (deliveryFrom && preset.header?.[deliveryFrom.header] === undefined)
    problems.push(`deliveryFrom.header: there is no "${deliveryFrom.header}" in header`)
  if (preset.format !== 'csv' && preset.delimiter !== undefined) problems.push('delimiter: is for CSV only')
  if (preset.format !== 'csv' && preset.columns !== undefined) problems.push('columns: is for CSV only')
  if (preset.columns !== undefined && preset.requiredHeaders.length > 0) {
    problems.push('requiredHeaders: a file with columns by position has no headers')
  }
  if (new Set(preset.variants.map(({ suffix }) => suffix)).size < preset.variants.length) {
    problems.push('variants: each needs a suffix of its own, as two listings of a record need two numbers')
  }
  if (preset.format !== 'xml' && preset.extensionGroups.length > 0) problems.push('extensionGroups: is for XML only')
  return problems
}
