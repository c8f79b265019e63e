/**
 * What is wrong with a feed's own options, as far as no path has to be compiled to tell.
 */
import { fieldNames, fieldRules, ownerKey } from '../../core/listing.ts'
import type { FieldRule } from '../../core/listing.ts'
import type { Value } from './converters/converter.ts'
import { outOfLimits } from './converters/number.ts'
import { wrongValue } from './rule.ts'
import { didYouMean, isFieldName, unknownFields } from './schema.ts'
import type { MappingOptions } from './schema.ts'
import { wordKey } from './vocabulary.ts'

/** The problems of options whose preset can't be read; where it can, `createMapping` names these and more. */
export function optionProblems({ fields = {}, defaults = {}, where = {}, extension = {} }: MappingOptions): string[] {
  const problems = [...unknownFields(fields), ...unknownFields(defaults, 'defaults')]
  for (const rule of fieldRules) {
    const byDefault = defaults[rule.name]
    const wrong = byDefault === undefined ? null : wrongDefault(rule, byDefault)
    if (wrong !== null) problems.push(`defaults.${rule.name}: ${wrong}`)
  }
  if (ownerKey in extension) problems.push(`extension.${ownerKey}: this key is our own`)
  return [...problems, ...whereProblems(where, '')]
}

/** Why a value can't be a field's default; null where it can. */
export function wrongDefault(rule: FieldRule, value: Value): string | null {
  if (rule.name === 'MLSNumber') return 'every listing has its own'
  const wrong = wrongValue(rule, value)
  return wrong ?? (typeof value === 'number' ? outOfLimits(rule.name, value) : null)
}

/**
 * What in `where` could never let a record stay: a mistyped field would be taken for a path that no record has, and the
 * whole feed would be left out. `rules` is the JSON of the rules of the mapping: a path that they name is meant as it is.
 */
export function whereProblems(where: NonNullable<MappingOptions['where']>, rules: string): string[] {
  return Object.entries(where).flatMap(([name, wanted]) => {
    const rule = fieldRules.find((one) => one.name === name)
    if (rule === undefined) {
      const meant = rules.includes(JSON.stringify(name)) ? '' : nearField(name)
      return meant === '' ? [] : [`where.${name}: is not a listing field${meant}`]
    }
    return [wanted].flat().flatMap((value) => {
      const wrong = neverEqual(rule, String(value))
      return wrong === null ? [] : [`where.${name}: ${wrong}`]
    })
  })
}

/** Nearer than for a name that must be a field: headers such as `Suite` or `TotalArea` are near to fields, too. */
function nearField(name: string): string {
  return /^[\w-]+$/.test(name) && !isFieldName(name) ? didYouMean(name, fieldNames, name.length < 6 ? 1 : 2) : ''
}

function neverEqual(rule: FieldRule, wanted: string): string | null {
  if (rule.type !== 'text' && rule.type !== 'number') return "can't be compared"
  if (rule.type === 'number' && !Number.isFinite(Number(wanted))) return `${rule.name} is a number, never "${wanted}"`
  if (rule.choices && !rule.choices.some((choice) => wordKey(choice) === wordKey(wanted))) {
    return `${rule.name} is one of ${rule.choices.join(', ')}, never "${wanted}"`
  }
  return null
}
