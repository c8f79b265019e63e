/** `where` of a feed: filters records by a listing field or a path. */
import { z } from 'zod'
import { fieldNames, fieldRules } from '../../core/listing.ts'
import type { FieldRule, FieldValue, Listing, Moving } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import { didYouMean, isFieldName } from './names.ts'
import type { Paths } from './path.ts'
import { saysNothing, wordKey } from './vocabulary.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])
export const whereSchema = z.record(z.string(), z.union([scalar, z.array(scalar).min(1)]))
type Where = z.infer<typeof whereSchema>

/**
 * Conditions in `where` that no record can meet: a mistyped field would count as a path that no record has and leave out the
 * whole feed. `rules`: the JSON of the mapping's rules; a path in them is intended.
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

/** Stricter than for field names: headers such as `Suite` or `TotalArea` resemble fields, too. */
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

/** Whether the same record may meet the conditions at one time and not at another: an open house ends, days on the market pass. */
export function whereMoves(where: Where): (moving: Moving) => boolean {
  const [tours, days] = (['Tours', 'DaysOnMarket'] as const).map((name) => Object.hasOwn(where, name))
  return ({ openHouseUntil, listedOn }) => (tours && openHouseUntil !== undefined) || (days && listedOn !== undefined)
}

/** The compiled function returns the key that leaves a record out, and why; null for records that stay. */
export function compileWhere(where: Where, paths: Paths) {
  const tests = Object.entries(where).map(([name, wanted]) => {
    const values = [wanted].flat().map(String)
    const words = new Set(values.map(wordKey))
    const numbers = new Set(values.map(Number))
    const rule = fieldRules.find((field) => field.name === name)
    const select = rule ? null : paths.compile(name)
    const test = (record: RecordFields, listing: Partial<Listing>) => {
      const found = select ? select.first(record) : comparable(isFieldName(name) ? listing[name] : undefined)
      const stays = typeof found === 'number' ? numbers.has(found) : words.has(wordKey(found))
      if (stays) return null
      const is = found === '' ? 'is missing' : `is "${String(found).slice(0, 100)}"`
      return { name, why: `${name} ${is}; where wants ${values.slice(0, 10).join(', ')}` }
    }
    return { test, ofRecord: select }
  })
  return (record: RecordFields, listing: Partial<Listing>, isStub = false) => {
    for (const { test, ofRecord } of tests) {
      // Fields that a stub lacks are unchanged since its listing passed.
      if (isStub && ofRecord !== null && saysNothing(ofRecord.first(record))) continue
      const left = test(record, listing)
      if (left !== null) return left
    }
    return null
  }
}

/** A field as `where` and templates see it; '': it has no one value. */
export function comparable(value: FieldValue | undefined): string | number {
  return typeof value === 'string' || typeof value === 'number' ? value : ''
}
