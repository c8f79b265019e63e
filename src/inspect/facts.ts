/** What is told of fields, words and missing facts, with what to write about them in a configuration. */
import { stringify } from 'yaml'
import { fieldRules } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import { fieldsRead } from '../feed/mapping/fields-read.ts'
import type { MappingOptions, Preset } from '../feed/mapping/preset.ts'
import type { FieldMapping, Rule } from '../feed/mapping/rule-keys.ts'
import { usualArguments } from '../feed/mapping/rule.ts'
import type { FieldFacts, MissingFacts, WordFacts } from './findings.ts'
import type { FieldProfile } from './profile.ts'

/** A preset with the feed's own options, and which of its paths the feed has anything of. */
export interface FeedMapping {
  preset: Preset
  options: MappingOptions
  found: ReadonlySet<string>
}

/** The fields of a feed and what uses them. */
export function fieldFacts(
  profiles: readonly FieldProfile[],
  records: number,
  preset: Preset | null,
  options: MappingOptions,
): FieldFacts[] {
  const paths = profiles.map(({ path }) => path)
  const users = new Map<string, Set<string>>()
  for (const { owner, reads } of preset === null ? [] : fieldsRead(preset, options, paths))
    for (const field of reads) users.set(field, (users.get(field) ?? new Set()).add(owner))
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
  return words.map((group) => ({ ...group, write: wordRemedy(group, feed) }))
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
  const rules = [mapping].flat().map((rule): Rule => (typeof rule === 'string' ? { from: rule } : rule))
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
  const filled = profiles.filter((field) => field.filled > 0).map(({ path }) => path)
  const found = fieldsRead(preset, options, filled).filter(({ reads }) => reads.length > 0)
  return { preset, options, found: new Set(found.map(({ path }) => path)) }
}

/** One line of YAML. */
export function flow(value: Record<string, unknown>): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 })
    .trim()
    .replace(/^\{ | \}$/g, '')
}
