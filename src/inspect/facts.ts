/** Findings about fields, words and missing values, with what to write in a configuration. */
import { stringify } from 'yaml'
import { fieldRules } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import { fieldsRead } from '../feed/mapping/fields-read.ts'
import { isHome } from '../feed/mapping/kinds.ts'
import type { MappingOptions, Preset } from '../feed/mapping/preset.ts'
import type { FieldMapping, Rule } from '../feed/mapping/rule-keys.ts'
import { usualArguments } from '../feed/mapping/rule.ts'
import { unfinished } from '../feed/mapping/unfinished.ts'
import type { FieldFacts, MissingFacts, WordFacts } from './findings.ts'
import { examplesOf, isLike, isOfOthers } from './names.ts'
import type { FieldProfile } from './profile.ts'

/** A preset with the feed's options, and which of its paths have values in the feed. */
export interface FeedMapping {
  preset: Preset
  options: MappingOptions
  found: ReadonlySet<string>
  /** By field of a listing, what the rules read it from. */
  reads: ReadonlyMap<string, string[]>
}

/** The fields of a feed and what they are used for. */
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
  return profiles.map(({ path, filled, examples, isKey }) => ({
    path,
    filled: Math.round((1000 * filled) / Math.max(1, records)) / 10,
    examples: examplesOf(path, examples),
    isKey: isKey && filled === records && records > 1,
    usedFor: [...(users.get(path) ?? [])],
  }))
}

/** A configuration entry that supplies a missing required field, or is to be filled in (`unfinished`). */
export interface Remedy {
  section: 'currency' | 'defaults' | 'fields' | 'placeholders'
  value: FieldMapping | number
  /** What a person should know about it. */
  hint: string
}

const unfinishedFacts: Partial<Record<FieldName, Omit<Remedy, 'value'>>> = {
  SaleType: { section: 'defaults', hint: 'for_sale or for_rent, if all are the same; else fields: { SaleType: … }' },
  Status: { section: 'defaults', hint: 'Active, if the feed holds nothing else; else fields: { Status: … }' },
  AreaUnit: { section: 'defaults', hint: 'Square Feet or Square Meters' },
  CurrencySymbol: { section: 'currency', hint: 'ISO 4217, such as USD or EUR' },
  MLSNumber: { section: 'fields', hint: 'the field that identifies a listing, as long as it is there' },
  Url: { section: 'fields', hint: "the listing's page, such as { template: 'https://www.example.com/{MLSNumber}' }" },
}

/** The remedy for a missing field: a fact is left to be filled in, others get a placeholder. null: it is no field of a listing. */
export function remedyOf(field: string, feed: FeedMapping): Remedy | null {
  const rule = fieldRules.find(({ name }) => name === field)
  if (rule === undefined) return null
  const open = unfinishedFacts[rule.name]
  if (open !== undefined) {
    const present = open.section === 'fields' ? mappingOf(rule.name, feed) : undefined
    return { ...open, value: present === undefined ? unfinished : [...[present].flat(), unfinished] }
  }
  return { section: 'placeholders', value: rule.type === 'number' ? 0 : 'Other', hint: 'a placeholder, no fact' }
}

type Missing = Omit<MissingFacts, 'reads' | 'perhaps' | 'write'>

/** `wanted`: how many records should be listings. `unused`: fields of the feed with values that nothing uses. */
export function missingFacts(
  missing: readonly Missing[],
  feed: FeedMapping | null,
  wanted: number,
  unused: readonly FieldFacts[],
): MissingFacts[] {
  if (feed === null) return []
  return missing.map((lack) => {
    const reads = feed.reads.get(lack.field) ?? []
    const isAbsent = lack.count >= wanted * hardlyAny
    const perhaps = isAbsent && reads.length > 0 ? mayHave(lack.field, reads, unused) : []
    return { ...lack, reads, perhaps, write: missingRemedy(lack, perhaps, feed) }
  })
}

function missingRemedy({ field, kinds }: Missing, perhaps: readonly string[], feed: FeedMapping): string {
  const remedy = remedyOf(field, feed)
  const ownField = `fields: { ${field}: NAME OF ITS FIELD }`
  if (remedy === null) return ownField
  const { section, value } = remedy
  if (section === 'currency') return flow({ currency: value })
  if (section !== 'placeholders') return flow({ [section]: { [field]: value } })
  // A placeholder would stand in place of what the feed says.
  if (perhaps.length > 0) {
    const from = perhaps.length === 1 ? perhaps[0] : [...perhaps]
    const isArea = field === 'BuildingArea' || field === 'LotArea'
    return flow({ fields: { [field]: isArea ? { from, as: 'area', unit: unfinished } : from } })
  }
  const when = { PropertyType: Object.keys(kinds).filter((kind) => field !== 'Bedrooms' || !isHome(kind)) }
  if (field === 'Bedrooms' && when.PropertyType.length === 0) return ownField
  return flow({ placeholders: field === 'Bedrooms' ? [{ when, [field]: value }] : { [field]: value } })
}

/** What so many records lack, the feed may have under another name; and there so many have it, in percent. */
const hardlyAny = 0.9
const mostlyFilled = 50

/** Unused fields that may have a number that records lack. */
function mayHave(field: string, reads: readonly string[], unused: readonly FieldFacts[]): string[] {
  const rule = fieldRules.find(({ name }) => name === field)
  if (rule?.type !== 'number') return []
  const isNumber = (text: string): boolean => /^\d[\d.,]*$/.test(text)
  return unused
    .filter(
      ({ filled, examples }) =>
        filled >= mostlyFilled && 2 * examples.filter(isNumber).length >= Math.max(1, examples.length),
    )
    .flatMap(({ path }) => (!isOfOthers(path) && isLike(path, [field, ...reads]) ? path : []))
}

export function wordFacts(words: readonly Omit<WordFacts, 'write'>[], feed: FeedMapping | null): WordFacts[] {
  if (feed === null) return []
  // Words of ExtensionColumn are not mapped.
  const mapped = words.filter(({ field }) => field !== 'ExtensionColumn')
  return mapped.map((group) => ({ ...group, write: wordRemedy(group, feed) }))
}

/** How many words are written out as examples. */
const wordsWritten = 12

function wordRemedy({ field, words }: Omit<WordFacts, 'write'>, feed: FeedMapping): string {
  const each = (value: string): Record<string, string> =>
    Object.fromEntries(words.slice(0, wordsWritten).map(({ word }) => [word, value]))
  if (field === 'Status') return flow({ statuses: each(unfinished) })
  const rule = fieldRules.find(({ name }) => name === field)
  const mapping = rule && mappingOf(rule.name, feed)
  if (rule === undefined || mapping === undefined) return ''
  const rules = [mapping].flat().map((rule): Rule => (typeof rule === 'string' ? { from: rule } : rule))
  const last = rules.at(-1) ?? {}
  const written = (rule: Rule): string =>
    flow({ fields: { [field]: rules.length > 1 ? [...rules.slice(0, -1), rule] : rule } })
  if (last.period !== undefined) return written({ ...last, periods: { ...last.periods, ...each(unfinished) } })
  if (rule.type === 'number') return written({ from: last.from ?? 'PATH', as: 'area', unit: unfinished })
  const usual = last.table === undefined && last.choices === undefined ? usualArguments[rule.name] : undefined
  // A person has to say what a word means. Only an unknown kind of home may become Other.
  const value = rule.name === 'PropertyType' ? 'Other' : unfinished
  return written({ ...usual, ...last, choices: { ...last.choices, ...each(value) } })
}

/** The rule of a field, without paths that have no value in this feed. */
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
  const paths = fieldsRead(preset, options, filled)
  const found = new Set(paths.flatMap(({ path, reads }) => (reads.length > 0 ? path : [])))
  const byOwner = [...Map.groupBy(paths, ({ owner }) => owner)]
  const reads = new Map(byOwner.map(([owner, written]) => [owner, [...new Set(written.map(({ path }) => path))]]))
  return { preset, options, found, reads }
}

/** One line of YAML. */
export function flow(value: Record<string, unknown>): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 })
    .trim()
    .replace(/^\{ | \}$/g, '')
}
