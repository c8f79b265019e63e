/**
 * Guesses a first preset for a feed that no preset fits, from the names of its fields, by the spellings of the preset
 * mls-csv. A person has to check it.
 */
import { stringify } from 'yaml'
import { printable } from '../core/text.ts'
import { formats } from '../feed/format/formats.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import type { FieldMapping, Rule } from '../feed/mapping/rule-keys.ts'
import { flow } from './facts.ts'
import type { FieldFacts, Findings } from './findings.ts'

/** The preset with the spellings. */
const aliasingPreset = 'mls-csv'
/** How many names of a path are compared: outer elements say little about their children. */
const namesCompared = 2

/** The text of a preset file, with comments. */
export function guessedPreset({ document, fields }: Findings, presets: readonly Preset[], name: string): string {
  const aliases = presets.find((preset) => preset.name === aliasingPreset)
  if (aliases === undefined) throw new Error(`there is no preset ${aliasingPreset}`)
  const filled = fields.filter((field) => field.filled > 0)
  const picture = /^https?:\/\/\S+\.(?:jpe?g|png|webp)\b/i
  const images = filled.filter(({ examples }) => examples.some((text) => picture.test(text)))
  const { nested } = formats[document.format]
  const names = new Names(filled, nested)
  // `photo/url` is not the page of a listing.
  const noImages = filled.filter((field) => !images.includes(field))
  const others = new Names(noImages, nested)
  const rules: Record<string, FieldMapping> = {}
  for (const [field, mapping] of Object.entries(aliases.fields)) {
    const narrowed = narrowedMapping(mapping, field === 'Images' ? names : others)
    if (narrowed !== null) rules[field] = narrowed
  }
  if (rules['Images'] === undefined && images.length > 0) rules['Images'] = { from: images.map(({ path }) => path) }
  const number = rules['MLSNumber'] === undefined ? numberOf(filled) : null
  if (number !== null) rules['MLSNumber'] = number
  const used = new Set([...names.taken, ...others.taken])
  for (const { path } of images) used.add(path)
  if (number !== null) used.add(number)

  const { numbers, dates, statuses } = aliases
  const headers = [rules['MLSNumber']]
    .flat()
    .flatMap((rule) => (typeof rule === 'string' ? [rule] : [rule?.from ?? []].flat()))
  const head = {
    name,
    title: `${name} (guessed)`,
    format: document.format,
    ...(document.record !== null && { record: document.record }),
    ...(document.dialect !== null && {
      delimiter: document.dialect.delimiter,
      requiredHeaders: headers.length > 0 ? headers : [filled[0]?.path ?? 'x'],
    }),
  }
  const rest = filled.filter(({ path }) => !used.has(path))
  return [
    '# Written by `listing-sync inspect --init`: guessed from the names of the fields. Check every line, then run',
    '# `listing-sync inspect FEED --preset THIS-FILE`. All keys: config/presets/README.md of the program.',
    stringify(head, { lineWidth: 0 }).trimEnd(),
    '# delta: listings that are not in the file stay. Set full only if the file always contains every listing:',
    '# listings that are not in it are then deleted.',
    'delivery: delta',
    flow({ numbers }),
    flow({ dates }),
    ...(rules['MLSNumber'] === undefined
      ? ['# MLSNumber is missing: add the field that identifies a listing. Without it every record is rejected.']
      : []),
    'fields:',
    ...Object.entries(rules).map(([field, mapping]) => `  ${flow({ [field]: mapping })}`),
    '# Fields without a rule: percent of records that have them, and examples.',
    ...rest.map((field) => {
      return `#   ${printable(field.path)}: ${field.filled} %: ${field.examples.map(printable).join(' | ')}`
    }),
    '# Meanings of status words; a record with any other word is rejected.',
    stringify({ statuses }, { lineWidth: 110 }).trimEnd(),
    '',
  ].join('\n')
}

/** Which fields of the feed an alias means. */
class Names {
  /** Paths that a rule of the preset reads. */
  readonly taken = new Set<string>()
  #byKey = new Map<string, string>()

  constructor(fields: readonly FieldFacts[], nested: boolean) {
    const shallowFirst = nested ? fields.toSorted((a, b) => depth(a.path) - depth(b.path)) : fields
    for (const { path } of shallowFirst) {
      const steps = nested ? path.split('/').map((step) => step.replace(/^@?(?:[^:]*:)?/, '')) : [path]
      for (let count = 1; count <= Math.min(namesCompared, steps.length); count++) {
        const key = keyOf(steps.slice(-count).join(''))
        if (!this.#byKey.has(key)) this.#byKey.set(key, path)
      }
    }
  }

  find(aliases: string | string[] | undefined): string[] {
    const found = [aliases ?? []].flat().flatMap((alias) => this.#byKey.get(keyOf(alias)) ?? [])
    return [...new Set(found)]
  }
}

/** The rule with the feed's names; null: it has none of them. */
function narrowedMapping(mapping: FieldMapping, names: Names): FieldMapping | null {
  const rules = [mapping].flat().flatMap((rule) => {
    const narrowed = narrowedRule(typeof rule === 'string' ? { from: rule } : rule, names)
    return narrowed === null ? [] : [narrowed]
  })
  if (rules.length === 0) return null
  const isPath = (rule: Rule) => Object.keys(rule).length === 1 && typeof rule.from === 'string'
  const written = rules.map((rule) => (isPath(rule) ? (rule.from as string) : rule))
  return written.length === 1 ? written[0] : written
}

function narrowedRule(rule: Rule, names: Names): Rule | null {
  const narrowed: Rule = { ...rule }
  const read: string[] = []
  for (const key of ['from', 'unitFrom', 'period', 'virtual'] as const) {
    if (rule[key] === undefined) continue
    const found = names.find(rule[key] as string | string[])
    read.push(...found)
    if (found.length === 0) delete narrowed[key]
    else if (key === 'virtual') narrowed.virtual = found
    else narrowed[key] = found.length === 1 ? found[0] : found
  }
  if (rule.parts !== undefined)
    narrowed.parts = rule.parts.map((part) => narrowedRule(part, names)).filter((part) => part !== null)
  const lacksFrom = rule.from !== undefined && narrowed.from === undefined
  const isEmpty = lacksFrom || narrowed.parts?.length === 0 || (rule.as === 'tours' && narrowed.virtual === undefined)
  // Without a unit the area would be absent: better no rule than a useless one.
  const lacksUnit = rule.as === 'area' && narrowed.unit === undefined && narrowed.unitFrom === undefined
  if (isEmpty || lacksUnit) return null
  for (const path of read) names.taken.add(path)
  return narrowed
}

/** A field that every record has and whose name suggests an identifier. */
function numberOf(fields: readonly FieldFacts[]): string | null {
  const identifier = /(?:^|[^a-z])(?:id|ref|reference|referencia|code|codigo|number|nr|key|sku)$/i
  // `ListingId` is two words.
  const words = (path: string): string => path.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  const likely = fields.filter(({ path, filled }) => filled > 99 && identifier.test(words(path)))
  return likely.toSorted((a, b) => depth(a.path) - depth(b.path))[0]?.path ?? null
}

function depth(path: string): number {
  return path.split('/').length
}

function keyOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}{}]+/gu, '')
}
