/**
 * Guesses a first preset for a feed that no preset fits, from the names of its fields, by the spellings of the preset mls-csv. If a name
 * does not tell for certain (a currency, a key, a unit, a period, the order of day and month), no rule is made: a person has to add it,
 * and check the rest.
 */
import { stringify } from 'yaml'
import { printable } from '../core/text.ts'
import { formats } from '../feed/format/formats.ts'
import { currencyOfCountry, symbolOfCurrency } from '../feed/mapping/countries.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import type { FieldMapping, Rule } from '../feed/mapping/rule-keys.ts'
import { flow } from './facts.ts'
import type { FieldFacts, Findings } from './findings.ts'
import { isOfMedia, isOfOthers, unreadFlags, wordsOf } from './names.ts'

/** The preset with the spellings. */
const aliasingPreset = 'mls-csv'
/** How many names of a path are compared: outer elements say little about their children. */
const namesCompared = 2

/** The text of a preset file, with comments. */
export function guessedPreset({ document, fields }: Findings, presets: readonly Preset[], name: string): string {
  const aliases = presets.find((preset) => preset.name === aliasingPreset)
  if (aliases === undefined) throw new Error(`there is no preset ${aliasingPreset}`)
  const filled = fields.filter((field) => field.filled > 0 && !isOfOthers(field.path))
  const picture = /^https?:\/\/\S+\.(?:jpe?g|png|webp)\b/i
  const images = filled.filter(({ examples }) => examples.some((text) => picture.test(text)))
  const { nested } = formats[document.format]
  const names = new Names(filled, nested)
  // `photo/url` is not the page of a listing.
  const noImages = filled.filter((field) => !images.includes(field) && !isOfMedia(field.path))
  const others = new Names(noImages, nested)
  const keys = new Names(
    filled.filter(({ isKey }) => isKey && document.complete === true),
    nested,
  )
  const rules: Record<string, FieldMapping> = {}
  for (const [field, mapping] of Object.entries(aliases.fields)) {
    const of = field === 'Images' ? names : field === 'MLSNumber' ? keys : others
    const narrowed = narrowedMapping(certain(field, mapping), of)
    if (narrowed !== null) rules[field] = narrowed
  }
  if (rules['Images'] === undefined && images.length > 0) rules['Images'] = { from: images.map(({ path }) => path) }
  const number = rules['MLSNumber'] === undefined ? numberOf(noImages, document.complete === true) : null
  if (number !== null) rules['MLSNumber'] = number
  const currency = currencyOf(noImages)
  if (currency !== null) rules['CurrencySymbol'] = currency
  const hiding = unreadFlags(fields)
  const used = new Set([...names.taken, ...others.taken, ...keys.taken, ...hiding.map(({ from }) => from)])
  for (const rule of [currency ?? []].flat()) if (typeof rule === 'object') used.add(String(rule.from))
  for (const { path } of images) used.add(path)
  if (number !== null) used.add(number)

  const { numbers } = aliases
  const statuses = Object.fromEntries(Object.entries(aliases.statuses).filter(([word]) => isWord(word)))
  const headers = [rules['MLSNumber']]
    .flat()
    .flatMap((rule) => (typeof rule === 'string' ? [rule] : [rule?.from ?? []].flat()))
  const head = {
    name,
    title: `${name} (guessed)`,
    format: document.format,
    ...(document.record !== null && { record: document.record }),
    ...(nested && { names: 'loose' }),
    ...(document.dialect !== null && {
      delimiter: document.dialect.delimiter,
      requiredHeaders: headers.length > 0 ? headers : [filled[0]?.path ?? 'x'],
    }),
  }
  const rest = fields.filter(({ path, filled }) => filled > 0 && !used.has(path))
  return [
    '# Written by `listing-sync inspect --init`: guessed from the names of the fields. Check every line, then run',
    '# `listing-sync inspect FEED --preset THIS-FILE`. All keys: config/presets/README.md of the program.',
    stringify(head, { lineWidth: 0 }).trimEnd(),
    ...(document.siblings.length > 0
      ? [
          `# Beside these records there are others of other names: ${document.siblings.map(printable).join(', ')}.`,
          '# They are left out, unless record names them, too: a/b/This|That',
        ]
      : []),
    '# delta: listings that are not in the file stay. Set full only if the file always contains every listing:',
    '# listings that are not in it are then deleted.',
    'delivery: delta',
    flow({ numbers }),
    '# Add the order of day and month, if dates are not as ISO 8601 has them: D/M/YYYY or M/D/YYYY',
    'dates: [ISO]',
    ...(rules['MLSNumber'] === undefined
      ? ['# MLSNumber is missing: add the field that identifies a listing. Without it every record is rejected.']
      : []),
    'fields:',
    ...Object.entries(rules).map(([field, mapping]) => `  ${flow({ [field]: mapping })}`),
    ...(hiding.length > 0
      ? ['# The street of these is hidden: check that the flag means it.', flow({ hideAddress: hiding })]
      : []),
    '# Fields without a rule: percent of records that have them, and examples.',
    ...rest.map((field) => {
      const shown = field.examples.length === 0 ? '(not shown)' : field.examples.map(printable).join(' | ')
      return `#   ${printable(field.path)}: ${field.filled} %: ${shown}`
    }),
    '# Meanings of status words; a record with any other word is rejected.',
    stringify({ statuses }, { lineWidth: 110 }).trimEnd(),
    '',
  ].join('\n')
}

/** Whether an unknown word is worth a rule. A single letter may mean anything, and so may New. */
const isWord = (word: string): boolean => word.length > 1 && word !== 'New'

/** The rules of a field that mean the same in feeds of every country and format. */
function certain(field: string, mapping: FieldMapping): FieldMapping {
  const rules = [mapping].flat().flatMap((written): (string | Rule)[] => {
    if (typeof written === 'string') return [written]
    const { per, unit, choices, ...rest } = written
    const sure: Rule = { ...rest }
    if (choices !== undefined)
      sure.choices = Object.fromEntries(Object.entries(choices).filter(([word]) => isWord(word)))
    // Kept if the name says it: `Monthly HOA` has its period and `Acres` its unit. A rent or a living area without one may be anything.
    if (per !== undefined && written.period === undefined) sure.per = per
    if (unit !== undefined && written.unitFrom === undefined) sure.unit = unit
    return [sure]
  })
  // No rule without the field that says month or year, metre or foot.
  return field === 'CurrencySymbol' ? rules.filter((rule) => typeof rule === 'object' && rule.by !== 'state') : rules
}

const currencyWord = /^(?:currency|waluta|waehrung|währung|moneda|devise|valuta|moeda)$/
const countryWord = /^(?:country|countrycode|laenderkennzeichen|pais|país|pays|paese|kraj)$/

/** A field that says a currency, else a country, by name and by what is in it; null: there is none. */
function currencyOf(fields: readonly FieldFacts[]): FieldMapping | null {
  const of = (word: RegExp, isOne: (text: string) => boolean) =>
    fields.find(({ path, examples }) => {
      const words = wordsOf(path.split('/').at(-1) ?? '')
      return words.some((candidate) => word.test(candidate)) && examples.length > 0 && examples.every(isOne)
    })
  const currency = of(currencyWord, (text) => symbolOfCurrency(text) !== undefined)
  const country = of(countryWord, (text) => currencyOfCountry(text) !== undefined)
  const rules: Rule[] = [
    ...(currency ? [{ from: currency.path, as: 'currency' }] : []),
    ...(country ? [{ from: country.path, as: 'currency', by: 'country' }] : []),
  ]
  return rules.length === 0 ? null : rules.length === 1 ? rules[0] : rules
}

const aboutElement = /\/@(?:type|name|id|status|value|code|unit)$/i

/** Which fields of the feed an alias means. */
class Names {
  /** Paths that a rule of the preset reads. */
  readonly taken = new Set<string>()
  #byKey = new Map<string, string>()

  constructor(fields: readonly FieldFacts[], nested: boolean) {
    const shallowFirst = nested ? fields.toSorted((a, b) => depth(a.path) - depth(b.path)) : fields
    for (const { path } of shallowFirst) {
      const steps = nested ? path.split('/').map((step) => step.replace(/^@?(?:[^:]*:)?/, '')) : [path]
      // The element tells what such an attribute means: `street/@type` is the type of a street, `size/@unit` that of a size.
      const fewest = nested && steps.length > 1 && aboutElement.test(path) ? 2 : 1
      for (let count = fewest; count <= Math.min(namesCompared, steps.length); count++) {
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
  // A rent without its period would be taken for a month's.
  const lacksPeriod = rule.period !== undefined && narrowed.period === undefined && narrowed.per === undefined
  const isEmpty =
    lacksFrom || lacksPeriod || narrowed.parts?.length === 0 || (rule.as === 'tours' && narrowed.virtual === undefined)
  // An area without a unit would be absent: better no rule than a useless one.
  const lacksUnit = rule.as === 'area' && narrowed.unit === undefined && narrowed.unitFrom === undefined
  if (isEmpty || lacksUnit) return null
  for (const path of read) names.taken.add(path)
  return narrowed
}

/** A field whose name suggests an identifier, and that is one in the whole file. */
function numberOf(fields: readonly FieldFacts[], isWhole: boolean): string | null {
  const likely = fields.filter(({ isKey }) => isKey && isWhole)
  return likely.toSorted((a, b) => depth(a.path) - depth(b.path))[0]?.path ?? null
}

function depth(path: string): number {
  return path.split('/').length
}

function keyOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}{}]+/gu, '')
}
