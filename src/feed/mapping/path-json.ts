/**
 * Values that a CSV has either in columns named by a path, `image[0].url`, or as JSON in one cell, `[{"url": …}]`; one file
 * may mix both (Meta, formats.md §10). A path is written `json:image[].url` or `json:address.city`.
 */
import type { RecordNode } from '../format/format.ts'
import type { Select } from './path.ts'

/** A parsed path: the column that JSON is in, and the names below it. `names` '' stands for each element of a list. */
export interface JsonPath {
  column: string
  names: string[]
}

/** Reads `image[].url`; null where it is no such path. */
export function jsonPath(path: string): JsonPath | null {
  const match = /^([^.[\]]+)((?:\[\]|\.[^.[\]]+)+)$/.exec(path)
  if (!match) return null
  const names = [...match[2].matchAll(/\[\]|\.([^.[\]]+)/g)].map(([, name]) => name ?? '')
  return { column: match[1], names }
}

/** Which header names hold values of a path: its flattened columns, and the column of JSON. */
export function jsonHeaders({ column, names }: JsonPath): RegExp {
  const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  const flat = names.map((name) => (name === '' ? String.raw`\[\d+\]` : String.raw`\.` + literal(name))).join('')
  return new RegExp(`^${literal(column)}(?:${flat})?$`, 'i')
}

/** Compiles a path; `headers` are those of `jsonHeaders` that the row has, in order. */
export function jsonSelect(path: string, json: JsonPath, headers: () => string[]): Select {
  const all = (row: RecordNode): string[] => {
    if (typeof row === 'string') return []
    const texts = headers().flatMap((header) =>
      [row[header] ?? ''].flat().flatMap((cell) => jsonTexts(cell, header.trim(), json)),
    )
    return texts.flatMap((text) => (text.trim() === '' ? [] : [text.trim()]))
  }
  return { path, first: (row) => all(row)[0] ?? '', all, nodes: all }
}

/** The texts of one cell: the cell itself in a flattened column, those at the path where it is JSON. */
function jsonTexts(cell: RecordNode, header: string, { column, names }: JsonPath): string[] {
  const text = typeof cell === 'string' ? cell.trim() : ''
  if (header.toLowerCase() !== column.toLowerCase() || text === '') return [text]
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A plain list column (`neighborhood`) holds the text itself.
    return names.every((name) => name === '') ? [text] : []
  }
  return at(value, names).flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [String(one)] : []))
}

function at(value: unknown, names: string[]): unknown[] {
  const [name, ...rest] = names
  if (name === undefined) return [value]
  if (name === '') return Array.isArray(value) ? value.flatMap((one) => at(one, rest)) : at(value, rest)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return []
  return at(Reflect.get(value, name), rest)
}
