/** Compiles a written rule into the function that reads a record, once for each mapping. Throws for invalid rules. */
import { z } from 'zod'
import type { FieldRule, FieldValue, Listing } from '../../core/listing.ts'
import { later } from '../../core/setting-kinds.ts'
import type { RecordNode } from '../format/format.ts'
import { Unreadable, RuleError } from './converters/converter.ts'
import type { Converter, Making, Read } from './converters/converter.ts'
import { converters, usualConverter } from './converters/converters.ts'
import { readableLine, unreadableAddress, webAddress, isKey } from './converters/text.ts'
import { didYouMean, isFieldName } from './names.ts'
import type { Paths, Select } from './path.ts'
import { converterKeys, everyRule, pathSchema } from './rule-keys.ts'
import type { FieldMapping, Numbers, Rule, Statuses } from './rule-keys.ts'
import { saysNothing, wordKey } from './vocabulary.ts'
import { comparable } from './where.ts'

/** A rule in its long form: common keys, those shared by converters, and each converter's own. */
const ruleSchema: z.ZodType<Rule> = later(() =>
  z.strictObject({
    ...everyRule(),
    ...converterKeys(),
    as: z.enum(Object.keys(converters)).optional().describe('The converter; default: the usual one of the field'),
    get parts() {
      return z.array(ruleSchema).min(1).optional().describe('sum: the rules whose values are added')
    },
    ...z.object(Object.assign({}, ...Object.values(converters).map(({ keys }) => keys))).partial().shape,
  }),
)

export const fieldSchema: z.ZodType<FieldMapping> = z.union([
  pathSchema,
  ruleSchema,
  z.array(z.union([pathSchema, ruleSchema])).min(1),
])

export interface Surroundings {
  paths: Paths
  numbers: Numbers
  dates: readonly string[]
  statuses: Statuses
  /** The address before the names of image files. */
  imageBase?: string | undefined
  /** Fields that are read before this one: a template may name them. */
  before: ReadonlySet<string>
}

/** Defaults for a field's rule. */
export const usualArguments: Partial<Record<keyof Listing, Partial<Rule>>> = {
  PropertyType: { table: 'propertyTypes', otherwise: 'Other', keepWordAs: 'PropertyType' },
  SaleType: { table: 'saleTypes' },
  SpaceType: { table: 'spaceTypes' },
  AreaUnit: { table: 'areaUnits' },
}

/** Compiles the mapping of one field; `field` null: an ExtensionColumn entry. Throws `RuleError` or `PathError`. */
export function compileMapping(mapping: FieldMapping, field: FieldRule | null, surroundings: Surroundings): Read {
  const rules = (Array.isArray(mapping) ? mapping : [mapping]).map((rule) =>
    compileRule(typeof rule === 'string' ? { from: rule } : rule, field, surroundings),
  )
  if (rules.length === 1) return rules[0]
  return (node, making) => {
    for (const read of rules) {
      const value = read(node, making)
      if (value !== undefined) return value
    }
    return undefined
  }
}

function compileRule(rule: Rule, field: FieldRule | null, surroundings: Surroundings): Read {
  const ways = [rule.value, rule.template, rule.from].filter((way) => way !== undefined)
  if (ways.length > 1) throw new RuleError('a rule has one of from, value and template')
  const compile = rule.value !== undefined ? constant : rule.template !== undefined ? template : conversion
  const read = compile(rule, field, surroundings)
  const { when } = rule
  if (!when) return read
  const selects = [when.from ?? []].flat().map((path) => surroundings.paths.compile(path))
  const [is, not] = [when.is, when.not].map((words) => words && new Set(words.map(wordKey)))
  // A rule may be about a word that says nothing elsewhere, such as `None`.
  const named = new Set([...(is ?? []), ...(not ?? [])].filter((word) => word !== ''))
  const absent = new Set(when.missing?.map(wordKey))
  const isMissing = (text: string): boolean =>
    absent.has(wordKey(text)) || (saysNothing(text) && !named.has(wordKey(text)))
  return (node, making) => {
    const word = wordKey(firstText(selects, node, isMissing))
    if (is?.has(word) === false || not?.has(word) === true) return undefined
    if (when.SaleType !== undefined && when.SaleType !== making.listing.SaleType) return undefined
    if (when.Status !== undefined && when.Status !== making.listing.Status) return undefined
    return read(node, making)
  }
}

/** The first text at these paths that is not missing; empty: there is none. */
function firstText(paths: readonly Select[], node: RecordNode, isMissing: (text: string) => boolean): string {
  for (const path of paths) {
    const text = path.first(node)
    if (!isMissing(text)) return text
  }
  return ''
}

function constant(rule: Rule, field: FieldRule | null): Read {
  onlyKeys(rule, ['value', 'when'], 'a constant')
  const value = rule.value ?? ''
  const problem = field && wrongValue(field, value)
  if (problem) throw new RuleError(problem)
  return () => value
}

/** Why a constant does not fit a field; null: it does. */
export function wrongValue(field: FieldRule, value: FieldValue): string | null {
  const type = { text: 'a text', number: 'a number', images: 'a list of addresses', extension: 'set with extension' }
  const fits =
    field.type === 'images'
      ? Array.isArray(value) && value.every((item) => typeof item === 'string' && webAddress(item) !== null)
      : field.type === 'number'
        ? typeof value === 'number' && Number.isFinite(value)
        : field.type === 'text' && typeof value === 'string' && value !== ''
  if (!fits) return `${field.name} is ${type[field.type]}`
  if (field.choices && typeof value === 'string' && !field.choices.includes(value)) {
    return `${field.name} is one of ${field.choices.join(', ')}`
  }
  if (field.name === 'Url' && typeof value === 'string' && webAddress(value) === null) {
    return 'Url is an address that begins with http:// or https://'
  }
  return null
}

function template(rule: Rule, field: FieldRule | null, { paths, before }: Surroundings): Read {
  onlyKeys(rule, ['template', 'when'], 'a template')
  if (field && field.type !== 'text') throw new RuleError(`a template gives text, ${field.name} does not take it`)
  const pieces = (rule.template ?? '').split(/\{([^{}]*)\}/)
  if (pieces.some((piece, index) => index % 2 === 0 && /[{}]/.test(piece))) {
    throw new RuleError(`an unmatched brace in "${rule.template}"`)
  }
  if (pieces.length === 1) throw new RuleError('a template needs a {Field} or {path}; a constant is written as value')
  const isUrl = field?.name === 'Url'
  const readers = pieces.map((piece, index) => {
    if (index % 2 === 0) return piece
    if (!isFieldName(piece)) {
      const select = paths.compile(piece)
      return (node: RecordNode) => readableLine(select.first(node))
    }
    if (!before.has(piece)) throw new RuleError(`{${piece}} is not available yet when ${field?.name} is made`)
    return (_: RecordNode, making: Making) => String(comparable(making.listing[piece]))
  })
  return (node, making) => {
    let text = ''
    for (const reader of readers) {
      if (typeof reader === 'string') {
        text += reader
        continue
      }
      const part = reader(node, making)
      if (saysNothing(part)) return undefined
      text += isUrl ? encodeURIComponent(part.toWellFormed()) : part
    }
    if (isUrl) return webAddress(text) ?? unreadableAddress(text)
    if (field?.name === 'MLSNumber' && !isKey(text)) return new Unreadable(text, 'needs 1 to 500 characters')
    return text
  }
}

function conversion(given: Rule, field: FieldRule | null, surroundings: Surroundings): Read {
  const name = given.as ?? usualConverter(field)
  const converter = converters[name]
  const choosesItself = !converter.takes.includes('table') || given.table !== undefined || given.choices !== undefined
  const rule: Rule = { ...(field && !choosesItself && usualArguments[field.name]), ...given }
  const own = Object.keys(converter.keys ?? {})
  onlyKeys(rule, ['from', 'each', 'as', 'when', 'missing', ...converter.takes, ...own], name)
  const piece = pieceOf(rule, converter)
  if (field && converter.yields !== field.type) {
    throw new RuleError(`${name} gives ${converter.yields}, ${field.name} takes ${field.type}`)
  }
  if (rule.each !== undefined && !surroundings.paths.nested)
    throw new RuleError('each is for nested records only, not for rows')
  const select = (path: string): Select => {
    if (rule.each !== undefined && path !== rule.each && path.startsWith('@@'))
      throw new RuleError(`"${path}" can match nothing under each, whose paths start at its nodes`)
    return surroundings.paths.compile(path)
  }
  const from = (rule.from === undefined ? [] : [rule.from].flat()).map(select)
  if (converter.needsFrom && from.length === 0) throw new RuleError(`${name} needs from`)
  const missing: ReadonlySet<string> = new Set((rule.missing ?? []).map((word) => word.trim().toLowerCase()))
  const isMissing = (text: string) => saysNothing(text) || (missing.size > 0 && missing.has(text.toLowerCase()))
  const read = converter.build({
    rule,
    field,
    preset: surroundings,
    statuses: surroundings.statuses,
    select,
    from,
    isMissing,
    firstOf(paths) {
      const selects = [paths].flat().map(select)
      return (node) => firstText(selects, node, saysNothing)
    },
    inner: (part) => compileRule(part, null, surroundings),
    texts: (node) => from.map((path) => piece(path.first(node))).filter((text) => !isMissing(text)),
    text(node) {
      for (const path of from) {
        const text = piece(path.first(node))
        if (!isMissing(text)) return text
      }
      return undefined
    },
  })
  if (rule.each === undefined || converter.takes.includes('each')) return read
  const each = select(rule.each)
  return (node, making) => {
    for (const inner of each.nodes(node)) {
      const value = read(inner, making)
      if (value !== undefined) return value
    }
    return undefined
  }
}

/** One part of a text by `split` and `nth`; without them, the whole text. */
function pieceOf({ split, nth }: Rule, { takes }: Converter): (text: string) => string {
  if (!takes.includes('nth') || (split === undefined && nth === undefined)) return (text) => text
  if (typeof split !== 'string' || nth === undefined) {
    throw new RuleError("split and nth go together: split: ',' with nth: 2 takes the text after the first comma")
  }
  return (text) => text.split(split)[nth - 1]?.trim() ?? ''
}

function onlyKeys(rule: Rule, allowed: readonly string[], owner: string): void {
  const others = Object.keys(rule).filter((key) => !allowed.includes(key))
  if (others.length === 0) return
  throw new RuleError(others.map((key) => `${key} does not apply to ${owner}${didYouMean(key, allowed)}`).join('; '))
}
