/** What is told of fields, words and missing facts, with what to write about them in a configuration. */
import { stringify } from 'yaml'
import { FeedError } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import { printable, shorten } from '../core/text.ts'
import type { Dialect } from '../feed/format/csv-dialect.ts'
import { fieldsRead, writtenPaths } from '../feed/mapping/fields-read.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import { usualArguments } from '../feed/mapping/rule.ts'
import type { FieldMapping, MappingOptions, Rule } from '../feed/mapping/schema.ts'
import type { FieldFacts, MissingFacts, WordFacts } from './findings.ts'
import { firstFields } from './fit.ts'
import type { Beginning } from './fit.ts'
import type { InspectParts, FeedMapping } from './parts.ts'
import type { FieldProfile } from './profile.ts'

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
export function remedyOf(field: string, feed: FeedMapping): Remedy | null {
  const rule = fieldRules.find(({ name }) => name === field)
  if (rule === undefined || rule.name === 'MLSNumber') return null
  if (rule.type === 'number') return { section: 'defaults', value: 0 }
  if (rule.name === 'Url') {
    const template: Rule = { template: 'https://www.example.com/listings/{MLSNumber}' }
    const present = mappingOf(rule.name, feed)
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
  feed: FeedMapping | null,
): MissingFacts[] {
  if (feed === null) return []
  return missing.map(({ field, count }) => {
    const remedy = remedyOf(field, feed)
    const write =
      remedy === null
        ? `fields: { ${field}: NAME OF ITS FIELD }`
        : flow({ [remedy.section]: { [field]: remedy.value } })
    return { field, count, write }
  })
}

/** Words of ExtensionColumn are kept as they are. */
export function wordsMayBeMapped({ field }: { field: string }): boolean {
  return field !== 'ExtensionColumn'
}

export function wordFacts(words: readonly Omit<WordFacts, 'write'>[], feed: FeedMapping | null): WordFacts[] {
  if (feed === null) return []
  return words.map((one) => ({ ...one, write: wordRemedy(one, feed) }))
}

/** So many words are written out; the others are mapped in the same way. */
const wordsWritten = 12

function wordRemedy({ field, words }: Omit<WordFacts, 'write'>, feed: FeedMapping): string {
  const each = (value: string): Record<string, string> =>
    Object.fromEntries(words.slice(0, wordsWritten).map(({ word }) => [word, value]))
  if (field === 'Status') return flow({ statuses: each('Active') })
  const rule = fieldRules.find(({ name }) => name === field)
  const mapping = rule && mappingOf(rule.name, feed)
  if (rule === undefined || mapping === undefined) return ''
  const rules = [mapping].flat().map((one): Rule => (typeof one === 'string' ? { from: one } : one))
  const last = rules.at(-1) ?? {}
  const written = (rule: Rule): string =>
    flow({ fields: { [field]: rules.length > 1 ? [...rules.slice(0, -1), rule] : rule } })
  if (last.period !== undefined) return written({ ...last, periods: { ...last.periods, ...each('month') } })
  if (rule.type === 'number') return written({ from: last.from ?? 'PATH', as: 'area', unit: 'square feet' })
  const usual = last.table === undefined && last.choices === undefined ? usualArguments[rule.name] : undefined
  const value = rule.choices?.[0] ?? (rule.name === 'CurrencySymbol' ? '$' : 'Other')
  return written({ ...usual, ...last, choices: { ...last.choices, ...each(value) } })
}

/** The rule of a field, without the paths of which this feed has nothing. */
function mappingOf(field: FieldName, { preset, options, found }: FeedMapping): FieldMapping | undefined {
  const mapping = options.fields?.[field] ?? preset.fields[field]
  if (mapping === undefined) return undefined
  const rules = [mapping].flat().flatMap((rule): (string | Rule)[] => {
    if (typeof rule === 'string') return found.has(rule) ? [rule] : []
    if (!Array.isArray(rule.from) || rule.each !== undefined) return [rule]
    const from = rule.from.filter((path) => found.has(path))
    return from.length === 0 ? [] : [{ ...rule, from: from.length === 1 ? from[0] : from }]
  })
  return rules.length === 0 ? undefined : rules.length === 1 ? rules[0] : rules
}

export function feedMapping(preset: Preset, options: MappingOptions, profiles: readonly FieldProfile[]): FeedMapping {
  const written = writtenPaths(preset, options)
  const filled = profiles.filter((field) => field.filled > 0).map(({ path }) => path)
  const read = fieldsRead(preset.format === 'xml', written, filled)
  return {
    preset,
    options,
    found: new Set(written.filter((_, index) => read[index].length > 0).map(({ path }) => path)),
  }
}

/** One line of YAML. */
export function flow(value: Record<string, unknown>): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 })
    .trim()
    .replace(/^\{ | \}$/g, '')
}

/**
 * Throws `FeedError` for a table whose columns are not those of listings. One that no preset knows may still be one: a
 * column of addresses on the web, or of street addresses, tells.
 */
export async function looksLikeListings(
  { presets, formats }: InspectParts,
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
      "listings, as market statistics are: no column is a listing's number, its address or its page. If it is one all the " +
      'same, write a preset of your own and name it with --preset (config/presets/README.md)',
  )
}
