/** The mapping of listings that `export` saved: each record is the listing itself, by the service's own names. */
import { shortHash } from '../../core/hash.ts'
import { fieldRules } from '../../core/listing.ts'
import type { ExtensionEntry, FieldRule, FieldValue, Listing, Problem } from '../../core/listing.ts'
import type { RecordFields, RecordNode } from '../format/format.ts'
import type { Mapping } from './mapping.ts'

/** Raise it when this code makes another listing of the same record. */
const CODE = 1

/**
 * Takes every field as it was saved, or rejects the listing with every problem. It is a delta: a saved listing says nothing of
 * those that were made since.
 */
export const savedListing: Mapping = {
  version: shortHash(`saved listing ${CODE}`),
  delivery: 'delta',
  format: 'ndjson',
  formatOptions: {},
  normalise(record, at) {
    const problems: Problem[] = []
    const fields: Record<string, FieldValue> = {}
    for (const rule of fieldRules) {
      const value = valueOf(rule, record)
      if (typeof value === 'object' && 'problem' in value) problems.push(value)
      else if (value !== undefined) fields[rule.name] = value
      else if (rule.required)
        problems.push({ field: rule.name, value: null, problem: 'is missing; the service requires it' })
    }
    const listing = fields as unknown as Listing
    if (problems.length > 0) return [{ kind: 'reject', at, mlsNumber: listing.MLSNumber ?? null, problems }]
    return [{ kind: 'listing', at, listing, moving: {} }]
  },
  placeOf(record) {
    const place: Record<string, string> = {}
    for (const name of ['Address', 'City', 'ZIP'])
      if (typeof record[name] === 'string' && record[name] !== '') place[name] = record[name]
    return place
  },
}

/** The value of a field; undefined: the record has none. */
function valueOf(rule: FieldRule, record: RecordFields): FieldValue | Problem | undefined {
  const found = record[rule.name]
  if (found === undefined || found === '') return undefined
  const wrong = (problem: string): Problem => ({
    field: rule.name,
    value: (typeof found === 'string' ? found : JSON.stringify(found)).slice(0, 200),
    problem,
  })
  const nodes = Array.isArray(found) ? found : [found]
  if (rule.type === 'images')
    return nodes.every((node) => typeof node === 'string') ? nodes : wrong('takes a list of addresses')
  if (rule.type === 'extension') {
    const entries = nodes.map(entryOf)
    return entries.every((entry) => entry !== null) ? entries : wrong('takes a list of objects with Key and value')
  }
  if (typeof found !== 'string') return wrong(`takes ${rule.type === 'number' ? 'a number' : 'text'}`)
  if (rule.type === 'number') {
    const number = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(found) ? Number(found) : NaN
    return Number.isFinite(number) ? number : wrong('takes a number')
  }
  if (rule.choices !== undefined && !rule.choices.includes(found)) return wrong(`takes ${rule.choices.join(', ')}`)
  return found
}

function entryOf(node: RecordNode): ExtensionEntry | null {
  if (typeof node === 'string') return null
  const { Key, value } = node
  return typeof Key === 'string' && typeof value === 'string' ? { Key, value } : null
}
