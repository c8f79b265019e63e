/**
 * Paths of CSV rows, and of the rows of RETS COMPACT and BLM: the header as it is; `URL*` any header beginning so,
 * `Photo{n}` numbered headers in the order of their numbers, `json:image[].url` values in flattened columns or in a cell of
 * JSON (`select-json.ts`).
 */
import type { RecordNode } from '../format/format.ts'
import { jsonHeaders, jsonPath, jsonSelect } from './path-json.ts'
import type { JsonPath } from './path-json.ts'
import { PathError, childrenOf, textOf } from './path.ts'
import type { Paths, Select } from './path.ts'
import { wordKey } from './vocabulary.ts'

interface Slot {
  select: Select
  headers: string[]
}

/**
 * Paths of CSV rows: header names. A header is looked for as it is spelled, and by `wordKey` where that spelling is not
 * there; which header a path means is worked out once for each set of headers.
 */
export function csvPaths(): Paths {
  const slots = new Map<string, Slot>()
  const known = new Map<string, string[][]>()
  let current: string[] = []

  function resolve(names: string[]): string[][] {
    const spelled = new Set(names.filter((name) => slots.has(name)))
    return [...slots.keys()].map((path) => {
      if (spelled.has(path)) return [path]
      const pattern = patternOf(path)
      if (pattern) {
        const found = names.filter((name) => pattern.test(name.trim()))
        return path.endsWith('*') ? found : found.toSorted(compareNumbersIn)
      }
      const key = wordKey(path)
      const alike = names.find((name) => wordKey(name) === key && perUnit.test(name) === perUnit.test(path))
      return alike === undefined ? [] : [alike]
    })
  }

  return {
    nested: false,
    compile(path) {
      const present = slots.get(path)
      if (present) return present.select
      if (path.trim() === '') throw new PathError('an empty header name')
      const slot: Slot = { headers: [], select: csvSelect(path, () => slot.headers) }
      slots.set(path, slot)
      return slot.select
    },
    prepare(record) {
      let count = 0
      let same = true
      for (const name in record) if (name !== current[count++]) same = false
      if (same && count === current.length) return
      current = Object.keys(record)
      const signature = current.join('\u0000')
      let headers = known.get(signature)
      if (headers === undefined) {
        headers = resolve(current)
        if (known.size < 100) known.set(signature, headers)
      }
      let index = 0
      for (const slot of slots.values()) slot.headers = headers[index++]
    },
  }
}

function csvSelect(path: string, headers: () => string[]): Select {
  const json = jsonPathOf(path)
  if (json !== null) return jsonSelect(path, json, headers)
  const nodes = (row: RecordNode) => headers().flatMap((name) => childrenOf(row, name))
  return {
    path,
    first(row) {
      for (const name of headers())
        for (const cell of childrenOf(row, name)) if (textOf(cell) !== '') return textOf(cell)
      return ''
    },
    all: (row) =>
      nodes(row)
        .map(textOf)
        .filter((text) => text !== ''),
    nodes,
  }
}

function jsonPathOf(path: string): JsonPath | null {
  if (!path.startsWith('json:')) return null
  const json = jsonPath(path.slice(5))
  if (json === null) throw new PathError(`"${path}" should be like json:image[].url or json:address.city`)
  return json
}

/** `$/SQUARE FEET` must not be taken for a missing `SQUARE FEET`: a price for each of them. */
const perUnit = /\p{Sc}\s*\//u

/** Writers that sort their columns by name have `image[10].url` before `image[2].url`. */
function compareNumbersIn(one: string, other: string): number {
  const [mine, others] = [one, other].map((name) => (name.match(/\d+/g) ?? []).map(Number))
  const differing = mine.findIndex((number, index) => number !== others[index])
  return differing < 0 ? mine.length - others.length : mine[differing] - (others[differing] ?? -1)
}

function patternOf(path: string): RegExp | null {
  const json = jsonPathOf(path)
  if (json !== null) return jsonHeaders(json)
  if (!path.endsWith('*') && !path.includes('{n}')) return null
  const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  const prefix = path.endsWith('*')
  const body = (prefix ? path.slice(0, -1) : path)
    .split('{n}')
    .map(literal)
    .join(String.raw`\d+`)
  return new RegExp(`^${body}${prefix ? '' : '$'}`, 'i')
}
