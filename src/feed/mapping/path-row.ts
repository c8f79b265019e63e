/**
 * Paths into rows: the name of a header; `URL*` every header that begins so, `Photo{n}` numbered headers in the order of
 * their numbers. `json:image[].url` and `json:address.city` are values that a table has either in columns named by a path,
 * `image[0].url`, or as JSON in one cell, `[{"url": …}]`; one file may mix both (Meta).
 */
import type { RecordNode } from '../format/format.ts'
import { PathError, childrenOf, textsOf } from './path.ts'
import type { Paths, Select } from './path.ts'
import { unfinished } from './unfinished.ts'
import { wordKey } from './vocabulary.ts'

interface Slot {
  select: Select
  finder: Finder
  headers: string[]
}

/** How many names of headers are remembered at most. */
const mostKnown = 100_000

/**
 * A header is found by its exact spelling, else by `wordKey`. Which paths a header may be for is worked out once for each name and not
 * for each row, as rows without their last cells have different headers, and names may be long. `byPosition`: there is no header, and
 * columns are named 1, 2, …
 */
export function rowPaths(byPosition = false): Paths {
  const slots = new Map<string, Slot>()
  const known = new Map<string, readonly { slot: Slot; header: Header }[]>()
  let current: string[] = []

  function meaningsOf(name: string) {
    let meanings = known.get(name)
    if (meanings === undefined) {
      const written = { name, key: wordKey(name) }
      meanings = [...slots.values()].flatMap((slot) => {
        const header = slot.finder.look(written)
        return header === null ? [] : { slot, header }
      })
      if (known.size >= mostKnown) known.clear()
      known.set(name, meanings)
    }
    return meanings
  }

  return {
    nested: false,
    means: (name) => meaningsOf(name).length > 0,
    compile(path) {
      const present = slots.get(path)
      if (present) return present.select
      if (path.trim() === '') throw new PathError('an empty header name')
      if (byPosition && path !== unfinished && !/^[1-9]\d*$/.test(path))
        throw new PathError(`"${path}" can match nothing: columns are numbers here, from '1'`)
      const slot: Slot = { headers: [], finder: finderOf(path), select: rowSelect(path, () => slot.headers) }
      slots.set(path, slot)
      known.clear()
      current = []
      return slot.select
    },
    prepare(record) {
      let count = 0
      let same = true
      for (const name in record) if (name !== current[count++]) same = false
      if (same && count === current.length) return
      // Not before all is done: a reading may be ended here.
      current = []
      const found = new Map<Slot, Header[]>()
      for (const name in record) {
        for (const { slot, header } of meaningsOf(name)) {
          const headers = found.get(slot)
          if (headers === undefined) found.set(slot, [header])
          else headers.push(header)
        }
      }
      for (const slot of slots.values()) slot.headers = slot.finder.choose(found.get(slot) ?? [])
      current = Object.keys(record)
    },
  }
}

/** A header that may be for a path: spelled like it, or fitting; `numbers`: those in its name, by which they are sorted. */
interface Header {
  name: string
  isExact: boolean
  numbers: readonly number[]
}

/** Finds the headers of one path. */
interface Finder {
  /** A header as the path sees it, null if it is not for the path; `key`: its `wordKey`. */
  look(written: { name: string; key: string }): Header | null
  /** The headers that the path means, in reading order. */
  choose(headers: readonly Header[]): string[]
}

function finderOf(path: string): Finder {
  const pattern = patternOf(path)
  const key = wordKey(path)
  const isPerUnit = perUnit.test(path)
  const fits = (name: string, nameKey: string): boolean =>
    pattern === null ? nameKey === key && perUnit.test(name) === isPerUnit : pattern.test(name.trim())
  return {
    look({ name, key }) {
      const isExact = name === path
      if (!isExact && !fits(name, key)) return null
      return { name, isExact, numbers: pattern === null ? [] : (name.match(/\d+/g) ?? []).map(Number) }
    },
    choose(headers) {
      const exact = headers.find(({ isExact }) => isExact)
      if (exact !== undefined) return [exact.name]
      if (pattern === null) return headers.slice(0, 1).map(({ name }) => name)
      const sorted = path.endsWith('*') ? headers : headers.toSorted((a, b) => compareNumbers(a.numbers, b.numbers))
      return sorted.map(({ name }) => name)
    },
  }
}

/** The headers that a path means, in reading order. */
export function headersOf(path: string, names: readonly string[]): string[] {
  const finder = finderOf(path)
  return finder.choose(names.flatMap((name) => finder.look({ name, key: wordKey(name) }) ?? []))
}

function rowSelect(path: string, headers: () => string[]): Select {
  const json = jsonPathOf(path)
  if (json !== null) return jsonSelect(path, json, headers)
  const nodes = (row: RecordNode) => headers().flatMap((name) => childrenOf(row, name))
  return {
    path,
    first(row) {
      if (typeof row === 'string') return ''
      for (const name of headers()) {
        const cell = row[name]
        const text = typeof cell === 'string' ? cell.trim() : (textsOf(childrenOf(row, name))[0] ?? '')
        if (text !== '') return text
      }
      return ''
    },
    all: (row) => (headers().length === 0 ? [] : textsOf(nodes(row))),
    nodes,
  }
}

/** `$/SQUARE FEET` is a price and must not stand in for a missing `SQUARE FEET`. */
const perUnit = /\p{Sc}\s*\//u

/** Sorted by name, `image[10].url` would come before `image[2].url`. */
function compareNumbers(mine: readonly number[], others: readonly number[]): number {
  const differing = mine.findIndex((number, index) => number !== others[index])
  return differing < 0 ? mine.length - others.length : mine[differing] - (others[differing] ?? -1)
}

function patternOf(path: string): RegExp | null {
  const json = jsonPathOf(path)
  if (json !== null) return jsonHeaders(json)
  if (!path.endsWith('*') && !path.includes('{n}')) return null
  const prefix = path.endsWith('*')
  const body = (prefix ? path.slice(0, -1) : path)
    .split('{n}')
    .map(literal)
    .join(String.raw`\d+`)
  return new RegExp(`^${body}${prefix ? '' : '$'}`, 'i')
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

type JsonPath = NonNullable<ReturnType<typeof jsonPathOf>>

/**
 * Parses `json:image[].url` into the column with the JSON and the names below it, '' for each element of a list; null: not
 * a path into JSON.
 */
function jsonPathOf(path: string) {
  if (!path.startsWith('json:')) return null
  const match = /^([^.[\]]+)((?:\[\]|\.[^.[\]]+)+)$/.exec(path.slice(5))
  if (!match) throw new PathError(`"${path}" should be like json:image[].url or json:address.city`)
  const names = [...match[2].matchAll(/\[\]|\.([^.[\]]+)/g)].map(([, name]) => name ?? '')
  return { column: match[1], names }
}

/** Matches the headers with values of a path: flattened columns and the JSON column. */
function jsonHeaders({ column, names }: JsonPath): RegExp {
  const flat = names.map((name) => (name === '' ? String.raw`\[\d+\]` : String.raw`\.` + literal(name))).join('')
  return new RegExp(`^${literal(column)}(?:${flat})?$`, 'i')
}

/** `headers`: the matching headers of the row, in order. */
function jsonSelect(path: string, json: JsonPath, headers: () => string[]): Select {
  const all = (row: RecordNode): string[] => {
    return textsOf(
      headers().flatMap((name) => childrenOf(row, name).flatMap((cell) => jsonTexts(cell, name.trim(), json))),
    )
  }
  return { path, first: (row) => all(row)[0] ?? '', all, nodes: all }
}

/** The texts of one cell: the cell itself in a flattened column, else those at the path in its JSON. */
function jsonTexts(cell: RecordNode, header: string, { column, names }: JsonPath): string[] {
  const text = typeof cell === 'string' ? cell.trim() : ''
  if (header.toLowerCase() !== column.toLowerCase() || text === '') return [text]
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A plain list column (`neighborhood`) has the text itself.
    return names.every((name) => name === '') ? [text] : []
  }
  return at(value, names).flatMap((leaf) =>
    typeof leaf === 'string' || typeof leaf === 'number' ? [String(leaf)] : [],
  )
}

function at(value: unknown, names: string[]): unknown[] {
  const [name, ...rest] = names
  if (name === undefined) return [value]
  if (name === '') return Array.isArray(value) ? value.flatMap((item) => at(item, rest)) : at(value, rest)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return []
  return at(Reflect.get(value, name), rest)
}
