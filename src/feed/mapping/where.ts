/** `where` of a feed: which records it takes, by a field of the listing or a path of the record. */
import { z } from 'zod'
import { fieldNames, fieldRules } from '../../core/listing.ts'
import type { FieldRule, FieldValue, Listing } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import { didYouMean, isFieldName } from './names.ts'
import type { Paths } from './path.ts'
import { saysNothing, wordKey } from './vocabulary.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])
export const whereSchema = z.record(z.string(), z.union([scalar, z.array(scalar).min(1)]))
type Where = z.infer<typeof whereSchema>

/**
 * What in `where` could never let a record stay: a mistyped field would be taken for a path that no record has, and the
 * whole feed would be left out. `rules` is the JSON of the rules of the mapping: a path that they name is meant as it is.
 */
export function whereProblems(where: Where, rules: string): string[] {
  return Object.entries(where).flatMap(([name, wanted]) => {
    const rule = fieldRules.find((field) => field.name === name)
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

/** Which key of `where` leaves a record out, and why as a sentence. */
interface LeftOut {
  name: string
  why: string
}

/** Compiles `where`: null where the record stays. */
export function compileWhere(where: Where, paths: Paths) {
  const tests = Object.entries(where).map(([name, wanted]) => {
    const values = [wanted].flat().map(String)
    const words = new Set(values.map(wordKey))
    const numbers = new Set(values.map(Number))
    const rule = fieldRules.find((field) => field.name === name)
    const select = rule ? null : paths.compile(name)
    const test = (record: RecordFields, listing: Partial<Listing>): LeftOut | null => {
      const found = select ? select.first(record) : comparable(isFieldName(name) ? listing[name] : undefined)
      const stays = typeof found === 'number' ? numbers.has(found) : words.has(wordKey(found))
      if (stays) return null
      const is = found === '' ? 'is missing' : `is "${String(found).slice(0, 100)}"`
      return { name, why: `${name} ${is}; where wants ${values.slice(0, 10).join(', ')}` }
    }
    return { test, ofRecord: select }
  })
  return (record: RecordFields, listing: Partial<Listing>, isStub = false): LeftOut | null => {
    for (const { test, ofRecord } of tests) {
      // What a stub does not repeat is as it was when its listing was let through.
      if (isStub && ofRecord !== null && saysNothing(ofRecord.first(record))) continue
      const left = test(record, listing)
      if (left !== null) return left
    }
    return null
  }
}

function comparable(value: FieldValue | undefined): string | number {
  return typeof value === 'string' || typeof value === 'number' ? value : ''
}
