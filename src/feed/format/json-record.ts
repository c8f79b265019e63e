import { withoutControls } from './encoding.ts'
import { RecordError } from './format.ts'
import type { RecordFields, RecordNode } from './format.ts'

/** Deepest nesting of a record. */
const deepest = 100
const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Parses the text of one JSON object into a record: members are children, an array is a repeated child, numbers, `true` and
 * `false` are their text; `null` and an empty array or object are absent. Throws `RecordError`.
 */
export function parseJsonRecord(text: string): RecordFields {
  const value = parsed(text)
  const record = fieldsOf(value, 0)
  if (membersIn(text) !== Object.keys(value as object).length)
    throw new RecordError('the record has two members of one name; the end of another record may be missing in it')
  // JavaScript would change a number with more digits, and identifiers are often long numbers.
  return /\d{16}/.test(text) ? fieldsOf(parsed(text, exactNumbers), 0) : record
}

function parsed(text: string, reviver?: typeof exactNumbers): unknown {
  try {
    return JSON.parse(text, reviver)
  } catch {
    throw new RecordError('the record is not as JSON has it')
  }
}

/** How many members the object in a text has; several with one name count each. */
function membersIn(text: string): number {
  let [count, depth] = [0, 0]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 34) {
      for (index++; text.charCodeAt(index) !== 34; index++) if (text.charCodeAt(index) === 92) index++
    } else if (code === 123 || code === 91) depth++
    else if (code === 125 || code === 93) depth--
    else if (code === 58 && depth === 1) count++
  }
  return count
}

/** For `JSON.parse`: keeps numbers as they are written. */
function exactNumbers(this: unknown, _name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? value) : value
}

function fieldsOf(value: unknown, depth: number): RecordFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RecordError('the record is no object')
  if (depth > deepest) throw new RecordError(`the record nests deeper than ${deepest}`)
  const fields: RecordFields = Object.create(null)
  for (const [name, child] of Object.entries(value)) {
    // Names of values from outside the record.
    if (unsafeNames.has(name) || name.startsWith('@@')) continue
    const nodes = nodesOf(child, depth + 1)
    if (nodes.length > 0) fields[name] = nodes.length === 1 ? nodes[0] : nodes
  }
  return fields
}

function nodesOf(value: unknown, depth: number): RecordNode[] {
  if (value === null) return []
  if (typeof value === 'string') return [withoutControls(value).toWellFormed()]
  if (typeof value !== 'object') return [JSON.stringify(value)]
  if (!Array.isArray(value)) {
    const fields = fieldsOf(value, depth)
    return Object.keys(fields).length === 0 ? [] : [fields]
  }
  if (depth > deepest) throw new RecordError(`the record nests deeper than ${deepest}`)
  return value.flatMap((inner) => nodesOf(inner, depth + 1))
}
