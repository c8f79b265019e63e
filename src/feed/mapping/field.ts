/** One field of the listing: the order in which fields are read, and how a value is set or becomes a problem. */
import { fieldRules } from '../../core/listing.ts'
import type { FieldName, FieldRule, Problem } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import { Unreadable, problemOf } from './converters/converter.ts'
import type { Making, Read, Value } from './converters/converter.ts'
import { outOfLimits } from './converters/number.ts'
import { isKey } from './converters/text.ts'
import { isHome } from './kinds.ts'
import type { FieldMapping } from './rule-keys.ts'
import { wrongValue } from './rule.ts'
import { wordKey } from './vocabulary.ts'

/** How one field gets its value: the record's, else the default. */
export interface FieldStep {
  rule: FieldRule
  read: Read | null
  byDefault: readonly ByDefault[]
  /** A template makes it of the MLSNumber. */
  isOfNumber: boolean
}

/** A default; `kinds`: the PropertyTypes that it is for (`wordKey`), null for all. */
export interface ByDefault {
  kinds: ReadonlySet<string> | null
  value: Value
}

/** The templates that make a field. */
export const templatesOf = (mapping: FieldMapping | undefined): string[] =>
  [mapping].flat().flatMap((rule) => (typeof rule === 'object' ? (rule.template ?? []) : []))

/** Fields in reading order: those that others depend on first, templates after what they may use, Tours last. */
export function inOrder(fields: Readonly<Record<string, FieldMapping>>): FieldRule[] {
  const early = ['MLSNumber', 'SaleType', 'Status', 'AreaUnit', 'City', 'State', 'ZIP']
  const rank = ({ name }: FieldRule): number => {
    const place = early.indexOf(name)
    if (place !== -1 && place < 3) return place
    if (name === 'Tours') return 1000
    if (templatesOf(fields[name]).length > 0) return 900
    return place === -1 ? 100 : place
  }
  return fieldRules.filter((rule) => rule.name !== 'ExtensionColumn').toSorted((a, b) => rank(a) - rank(b))
}

/** The MLSNumber with the feed's prefix and a variant's suffix, which together must be a valid key. */
export function withAffixes(read: Read, prefix: string, suffix: string): Read {
  if (prefix + suffix === '') return read
  const places = [prefix && `${prefix} before it`, suffix && `${suffix} behind it`].filter(Boolean).join(' and ')
  return (record, making) => {
    const number = read(record, making)
    if (typeof number !== 'string') return number
    const whole = prefix + number + suffix
    return isKey(whole) ? whole : new Unreadable(number, `is too long with ${places}`)
  }
}

/** What to do about a lack of fields that everybody takes for facts, so that they get no placeholders. */
const factRemedies: Partial<Record<FieldName, string>> = {
  MLSNumber: 'give it with fields',
  SaleType: 'give it with defaults or fields',
  Status: 'give it with defaults or fields',
  CurrencySymbol: 'the feed names neither a currency nor a country: give one with currency: EUR (ISO 4217)',
}
export const isFact = (name: FieldName): boolean => factRemedies[name] !== undefined

function remedyFor(name: FieldName, { listing }: Making): string {
  const isRoomsOfHome = name === 'Bedrooms' && isHome(listing.PropertyType ?? 'Other')
  const fallback = isRoomsOfHome ? 'give it with defaults or fields' : 'give it with defaults, fields or placeholders'
  return factRemedies[name] ?? fallback
}

/** Optional fields are left out if they can't be read. Not a price: without it a listing says something else. */
const neverLeftOut: readonly FieldName[] = ['SalePrice', 'RentPrice']

/** Sets the field's value in the listing, or adds to `problems`. A value that can be left out is added to `making.unread`. */
export function readField(step: FieldStep, record: RecordFields, making: Making, problems: Problem[]): void {
  const { name, choices, required } = step.rule
  const wrongGoesTo = () => (required || neverLeftOut.includes(name) ? problems : making.unread)
  const found = step.read?.(record, making)
  if (found instanceof Unreadable) {
    const goesWithout = found.isNone && !required
    ;(goesWithout ? making.unread : wrongGoesTo()).push(problemOf(name, found))
    return
  }
  const value = found ?? defaultFor(step.byDefault, making)
  if (value === undefined) {
    if (!required || (name === 'Status' && making.removal !== null)) return
    // It is there once the number is, of which the record is told already.
    if (step.isOfNumber && making.listing.MLSNumber === undefined) return
    problems.push({
      field: name,
      value: null,
      problem: `is missing; ${remedyFor(name, making)}`,
    })
    return
  }
  const isOther = choices && !(typeof value === 'string' && choices.includes(value))
  const limits = typeof value === 'number' ? outOfLimits(name, value) : null
  const wrong = limits ?? (isOther ? `needs one of ${choices.join(', ')}` : null)
  if (wrong !== null) wrongGoesTo().push(problemOf(name, new Unreadable(String(value), wrong)))
  // The type of the value was checked against the field's when the rule was compiled.
  else (making.listing as Partial<Record<FieldName, Value>>)[name] = value
}

function defaultFor(byDefault: readonly ByDefault[], { listing }: Making): Value | undefined {
  if (byDefault.length === 0) return undefined
  const kind = wordKey(listing.PropertyType ?? '')
  return byDefault.find(({ kinds }) => kinds?.has(kind) !== false)?.value
}

/** Why a value can't be a field's default; null: it can. */
export function wrongDefault(rule: FieldRule, value: Value): string | null {
  if (rule.name === 'MLSNumber') return 'every listing has its own'
  const wrong = wrongValue(rule, value)
  return wrong ?? (typeof value === 'number' ? outOfLimits(rule.name, value) : null)
}
