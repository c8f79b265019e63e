/**
 * A first preset of one's own for a feed that none fits, guessed from the names of its fields. The spellings are those of
 * the aliasing preset (mls-csv); a person goes over all of it.
 */
import { stringify } from 'yaml'
import { printable } from '../core/text.ts'
import { formats } from '../feed/format/formats.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import type { FieldMapping, Rule } from '../feed/mapping/rule-keys.ts'
import { flow } from './facts.ts'
import type { FieldFacts, Findings } from './findings.ts'

/** Where the spellings are. */
const aliasingPreset = 'mls-csv'
/** Elements that only hold others say nothing of what their children are. */
const namesCompared = 2

/** The text of a preset file, with comments. `name` is the preset's. */
export function guessedPreset({ document, fields }: Findings, presets: readonly Preset[], name: string): string {
  const aliases = presets.find((preset) => preset.name === aliasingPreset)
  if (aliases === undefined) throw new Error(`there is no preset ${aliasingPreset}`)
  const filled = fields.filter((field) => field.filled > 0)
  const images = filled.filter(({ examples }) =>
    examples.some((text) => /^https?:\/\/\S+\.(?:jpe?g|png|webp)\b/i.test(text)),
  )
  const { nested } = formats[document.format]
  const names = new Names(filled, nested)
  // `photo/url` is not the page of a listing.
  const others = new Names(
    filled.filter((field) => !images.includes(field)),
    nested,
  )
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
    '# Written by `listing-sync inspect --init`: guessed from the names of the fields. Go over every line, then look at',
    '# `listing-sync inspect FEED --preset THIS-FILE`. What may be written: config/presets/README.md of the program.',
    stringify(head, { lineWidth: 0 }).trimEnd(),
    '# delta: a listing that is not in the file is left as it is. Say full only if the file always holds all of them:',
    '# what is not in it is then deleted.',
    'delivery: delta',
    flow({ numbers }),
    flow({ dates }),
    ...(rules['MLSNumber'] === undefined
      ? ['# MLSNumber is missing: which field tells the listings apart? Without it every record is rejected.']
      : []),
    'fields:',
    ...Object.entries(rules).map(([field, mapping]) => `  ${flow({ [field]: mapping })}`),
    '# Fields that no rule reads yet: percent of the records that fill them, and examples.',
    ...rest.map(
      ({ path, filled: share, examples }) =>
        `#   ${printable(path)}: ${share} %: ${examples.map(printable).join(' | ')}`,
    ),
    '# What the words of the status mean; a word that is not here rejects its record.',
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

/** The rule with the feed's own names; null where it has none of them. */
function narrowedMapping(mapping: FieldMapping, names: Names): FieldMapping | null {
  const rules = [mapping].flat().flatMap((rule) => {
    const narrowed = narrowedRule(typeof rule === 'string' ? { from: rule } : rule, names)
    return narrowed === null ? [] : [narrowed]
  })
  if (rules.length === 0) return null
  const written = rules.map((rule) =>
    Object.keys(rule).length === 1 && typeof rule.from === 'string' ? rule.from : rule,
  )
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
  const isEmpty =
    (rule.from !== undefined && narrowed.from === undefined) ||
    narrowed.parts?.length === 0 ||
    (rule.as === 'tours' && narrowed.virtual === undefined)
  // A lot without a unit anywhere says nothing: better no rule than one that looks like one.
  const lacksUnit = rule.as === 'area' && narrowed.unit === undefined && narrowed.unitFrom === undefined
  if (isEmpty || lacksUnit) return null
  for (const path of read) names.taken.add(path)
  return narrowed
}

/** A field that every record has and that is named like what tells records apart. */
function numberOf(fields: readonly FieldFacts[]): string | null {
  const likely = fields.filter(
    ({ path, filled }) =>
      filled > 99 && /(?:^|[^a-z])(?:id|ref|reference|referencia|code|codigo|number|nr|key|sku)$/i.test(spaced(path)),
  )
  return likely.toSorted((a, b) => depth(a.path) - depth(b.path))[0]?.path ?? null
}

/** `ListingId` as two words. */
function spaced(path: string): string {
  return path.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
}

function depth(path: string): number {
  return path.split('/').length
}

function keyOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}{}]+/gu, '')
}
