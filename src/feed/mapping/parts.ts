/** Elements elsewhere in the document that records refer to by a key: their children stand in the record as `name:Child`. */
import { partsOf } from '../format/format.ts'
import type { FormatOptions, RecordFields, RecordNode } from '../format/format.ts'
import type { Paths } from './path.ts'

/** Adds to a record what it refers to. A reference that leads nowhere adds nothing. Throws `PathError`. */
export function compileParts({ parts = {} }: FormatOptions, paths: Paths): (record: RecordFields) => void {
  const known = Object.entries(parts).map(([name, { key, by }]) => {
    return { name, key: paths.compile(key), by: paths.compile(by) }
  })
  /** An index for each list of parts, which all records of an element share. To search the list for each record would take quadratic time. */
  const indices = new WeakMap<object, Map<string, RecordNode>>()
  return (record) => {
    for (const { name, key, by } of known) {
      const parts = record[partsOf(name)]
      const wanted = by.first(record)
      if (!Array.isArray(parts) || wanted === '') continue
      let index = indices.get(parts)
      // The first of several with one key counts.
      if (index === undefined) index = new Map(parts.map((part) => [key.first(part), part] as const).toReversed())
      indices.set(parts, index)
      for (const [child, value] of Object.entries(childrenIn(index.get(wanted)))) record[`${name}:${child}`] = value
    }
  }
}

function childrenIn(node: RecordNode | undefined): RecordFields {
  return node === undefined || typeof node === 'string' ? {} : node
}
