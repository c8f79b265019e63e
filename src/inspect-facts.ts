/** What is told of fields, words and missing facts, with what to write about them in a configuration. */
import { stringify } from 'yaml'
import { FeedError } from './errors.ts'
import type { Dialect } from './feed/format/csv-dialect.ts'
import { usualArguments } from './feed/mapping-compile.ts'
import { fieldsRead, writtenPaths } from './feed/mapping-paths.ts'
import type { FieldMapping, MappingOptions, Rule } from './feed/mapping-schema.ts'
import type { Preset } from './feed/preset.ts'
import { firstFields } from './inspect-fit.ts'
import type { Beginning } from './inspect-fit.ts'
import type { InspectParts } from './inspect.ts'
import type { FieldFacts, MissingFacts, WordFacts } from './inspect/findings.ts'
import type { FieldProfile } from './inspect/profile.ts'
import { fieldRules } from './listing.ts'
import type { FieldName } from './listing.ts'
import { printable, shorten } from './text.ts'

/** The fields of a feed and what uses them. */
export function fieldFacts(
  profiles: readonly FieldProfile[],
  records: number,
  preset: Preset | null,
  options: MappingOptions,
): FieldFacts[] {
  const written = preset === null ? [] : writtenPaths(preset, options)
  const paths = profiles.map(({ path }) => path)
  const read = preset === null ? [] : fieldsRead(preset.format === 'xml', written, paths)
  const users = new Map<string, Set<string>>()
  for (const [index, fields] of read.entries()) {
    for (const field of fields) {
      const known = users.get(field)
      if (known === undefined) users.set(field, new Set([written[index].owner]))
      else known.add(written[index].owner)
    }
  }
  return profiles.map(({ path, filled, examples }) => ({
    path,
    filled: Math.round((1000 * filled) / Math.max(1, records)) / 10,
    examples,
    usedFor: [...(users.get(path) ?? [])],
  }))
}

/** What gives a required field to the records that lack it: a part of a feed's configuration. */
export interface Remedy {
  section: 'defaults' | 'fields'
  value: FieldMapping | number
}

/** Values that say nothing (0, Other), or a placeholder that a person has to replace; null for an MLSNumber: each has its own. */
export function remedyOf(field: string, preset: Preset, options: MappingOptions): Remedy | null {
  const rule = fieldRules.find(({ name }) => name === field)
  if (rule === undefined || rule.name === 'MLSNumber') return null
  if (rule.type === 'number') return { section: 'defaults', value: 0 }
  if (rule.name === 'Url') {
    const template: Rule = { template: 'https://www.example.com/listings/{MLSNumber}' }
    const present = mappingOf(rule.name, preset, options)
    return { section: 'fields', value: present === undefined ? template : [...[present].flat(), template] }
  }
  const values: Partial<Record<FieldName, string>> = {
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'Other',
    AreaUnit: 'Square Feet',
  }
  const value = values[rule.name]
  return value === undefined ? null : { section: 'defaults', value }
}

export function missingFacts(
  missing: readonly { field: string; count: number }[],
  preset: Preset | null,
  options: MappingOptions,
): MissingFacts[] {
  if (preset === null) return []
  return missing.map(({ field, count }) => {
    const remedy = remedyOf(field, preset, options)
    const write = remedy === null ? `fields: { ${field}: NAME OF ITS FIELD }` : flow(remedy.section, field, remedy.value)
    return { field, count, write }
  })
}

/** Words of ExtensionColumn are kept as they are. */
export function wordsMayBeMapped({ field }: { field: string }): boolean {
  return field !== 'ExtensionColumn'
}

export function wordFacts(
  words: readonly { field: string; word: string; count: number }[],
  preset: Preset | null,
  options: MappingOptions,
): WordFacts[] {
  if (preset === null) return []
  return words.map((one) => ({ ...one, write: wordRemedy(one.field, one.word, preset, options) }))
}

function wordRemedy(field: string, word: string, preset: Preset, options: MappingOptions): string {
  if (field === 'Status') return flow('statuses', word, 'Active')
  const rule = fieldRules.find(({ name }) => name === field)
  const mapping = rule && mappingOf(rule.name, preset, options)
  if (rule === undefined || mapping === undefined) return `fields: { ${field}: … }`
  const rules = [mapping].flat().map((one): Rule => (typeof one === 'string' ? { from: one } : one))
  const last = rules.at(-1) ?? {}
  if (last.period !== undefined) return flow('fields', field, [...rules.slice(0, -1), { ...last, periods: { ...last.periods, [word]: 'month' } }])
  if (rule.type === 'number') return flow('fields', field, { from: last.from ?? 'PATH', as: 'area', unit: 'square feet' })
  const usual = last.table === undefined && last.choices === undefined ? usualArguments[rule.name] : undefined
  const value = rule.choices?.[0] ?? (rule.name === 'CurrencySymbol' ? '$' : 'Other')
  return flow('fields', field, [...rules.slice(0, -1), { ...usual, ...last, choices: { ...last.choices, [word]: value } }])
}

function mappingOf(field: FieldName, preset: Preset, options: MappingOptions): FieldMapping | undefined {
  return options.fields?.[field] ?? preset.fields[field]
}

/** One line of YAML. */
export function flow(section: string, key: string, value: unknown): string {
  const single = Array.isArray(value) && value.length === 1 ? value[0] : value
  return stringify({ [section]: { [key]: single } }, { collectionStyle: 'flow', lineWidth: 0 }).trim().replace(/^\{ | \}$/g, '')
}

/**
 * Throws `FeedError` for a table whose columns are not those of listings. One that no preset knows may still be one: a
 * column of addresses on the web, or of street addresses, tells.
 */
export async function looksLikeListings(
  { presets, formats, moment }: InspectParts,
  dialect: Dialect,
  beginning: Beginning,
): Promise<void> {
  const formatOptions = { record: null, delimiter: dialect.delimiter, quote: '"', requiredHeaders: [] }
  const fields = await firstFields(formatOptions, beginning, formats.csv)
  const names = fields.map(({ path }) => path)
  const known = presets
    .filter(({ format, columns }) => format === 'csv' && columns === undefined)
    .map((preset) => {
      const written = writtenPaths(preset)
      const read = fieldsRead(false, written, names)
      return new Set(written.flatMap(({ owner }, index) => (read[index].length > 0 ? [owner] : [])))
    })
  const has = (...owners: string[]): boolean => known.some((found) => owners.every((owner) => found.has(owner)))
  if (has('MLSNumber') || has('Address') || has('Url') || has('Bedrooms', 'SalePrice')) return
  if (fields.some(({ examples }) => examples.some((example) => /^https?:\/\//i.test(example)))) return
  const shown = names.slice(0, 6).map((name) => JSON.stringify(shorten(printable(name), 40)))
  throw new FeedError(
    `the document is a table of ${names.length} columns (${shown.join(', ')}${names.length > 6 ? ' …' : ''}), but not of ` +
      'listings, as market statistics are: no column is a listing\'s number, its address or its page. If it is one all the ' +
      'same, write a preset of your own and name it with --preset (config/presets/README.md)',
  )
}
