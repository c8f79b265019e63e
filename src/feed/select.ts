/**
 * Paths into a record. A path starts at the record and names every step: nothing is ever found further down by chance
 * (ZIF has Office/City beside Location/City). Compiled once, read for every record.
 *
 * XML: `Location/City`, `@status`, `price/@currency`, `Fees/Fee[FeeType=HOA]/FeeAmount`, `Picture[Caption!=Floorplan]`,
 * `anhang[@gruppe=BILD|TITELBILD]`, `RichDetails/*`, `objektart/*` + `/name()` for the names themselves, `.` for the node,
 * `.[price/@display!=no]/priceView` only where something else in the node is so, `@@name` for what is outside the record.
 * CSV: the header as it is; `URL*` any header beginning so, `Photo{n}` numbered headers in the order of the file,
 * `json:image[].url` values in flattened columns or in a cell of JSON (`select-json.ts`).
 */
import type { RecordFields, RecordNode } from './feed.ts'
import { jsonHeaders, jsonPath, jsonSelect } from './select-json.ts'
import type { JsonPath } from './select-json.ts'
import { wordKey } from './vocabulary.ts'

/** A compiled path. */
export interface Select {
  path: string
  /** The first text that isn't blank, trimmed; '' where there is none. */
  first: (node: RecordNode) => string
  /** Every text that isn't blank, trimmed, in order. */
  all: (node: RecordNode) => string[]
  nodes: (node: RecordNode) => RecordNode[]
}

/** Compiles paths of one format. `prepare` must see each record before its paths are read. */
export interface Paths {
  /** Whether records have nodes below them (`each`). */
  nested: boolean
  /** Throws `PathError` where the path can't be read. */
  compile: (path: string) => Select
  prepare: (record: RecordFields) => void
}

/** A path that says nothing; its message says why. */
export class PathError extends Error {
  override name = 'PathError'
}

/** The text of a node: its own, or the text beside its children. */
export function textOf(node: RecordNode): string {
  if (typeof node === 'string') return node.trim()
  const text = node['#text']
  return typeof text === 'string' ? text.trim() : ''
}

/** The names of a node's child elements, in order. */
export function childNames(node: RecordNode): string[] {
  if (typeof node === 'string') return []
  return Object.keys(node).filter((name) => !name.startsWith('@') && name !== '#text')
}

/** Every value under a name: one, many or none. */
export function childrenOf(node: RecordNode, name: string): readonly RecordNode[] {
  if (typeof node === 'string') return []
  const child = node[name]
  if (child === undefined) return []
  return Array.isArray(child) ? child : [child]
}

/** Paths of XML records. */
export function xmlPaths(): Paths {
  return { nested: true, compile: (path) => xmlSelect(path), prepare: () => {} }
}

interface Step {
  name: string
  holds: ((node: RecordNode) => boolean) | null
}

function xmlSelect(path: string): Select {
  const steps = path === '.' ? [] : stepsOf(path)

  function first(node: RecordNode, index: number): string {
    if (index === steps.length) return textOf(node)
    if (typeof node === 'string') return ''
    const step = steps[index]
    const child = step.name === '*' || step.name === 'name()' ? undefined : node[step.name]
    if (child !== undefined && !Array.isArray(child)) {
      return step.holds === null || step.holds(child) ? first(child, index + 1) : ''
    }
    for (const one of candidates(node, step)) {
      const text = first(one, index + 1)
      if (text !== '') return text
    }
    return ''
  }

  function collect(node: RecordNode, index: number, found: RecordNode[]): void {
    if (index === steps.length) found.push(node)
    else for (const one of candidates(node, steps[index])) collect(one, index + 1, found)
  }

  const nodes = (node: RecordNode): RecordNode[] => {
    const found: RecordNode[] = []
    collect(node, 0, found)
    return found
  }
  return {
    path,
    first: (node) => first(node, 0),
    all: (node) =>
      nodes(node)
        .map(textOf)
        .filter((text) => text !== ''),
    nodes,
  }
}

function candidates(node: RecordNode, step: Step): readonly RecordNode[] {
  if (step.name === 'name()') return childNames(node)
  if (step.name === '.') return step.holds === null || step.holds(node) ? [node] : []
  const { holds } = step
  const children =
    step.name === '*' ? childNames(node).flatMap((name) => childrenOf(node, name)) : childrenOf(node, step.name)
  return holds === null ? children : children.filter(holds)
}

function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  for (const part of path.split(/\/(?![^[]*\])/)) {
    const match = /^([^[\]]+)((?:\[[^[\]]+\])*)$/.exec(part.trim())
    if (!match) throw new PathError(`${part === '' ? 'an empty step' : `"${part}"`} in the path "${path}"`)
    const conditions = [...match[2].matchAll(/\[([^\]]+)\]/g)].map(([, text]) => conditionOf(text, path))
    steps.push({
      name: match[1],
      holds: conditions.length === 0 ? null : (node) => conditions.every((holds) => holds(node)),
    })
  }
  // `objektart/*/name()` asks the parent for the names of its children.
  const last = steps.length - 1
  if (steps[last].name === 'name()') {
    if (steps[last - 1]?.name !== '*') throw new PathError(`name() must follow */ in the path "${path}"`)
    steps.splice(last - 1, 1)
  }
  return steps
}

function conditionOf(text: string, path: string): (node: RecordNode) => boolean {
  const match = /^([^=!]+)(!?=)(.+)$/.exec(text)
  if (!match) throw new PathError(`"[${text}]" in the path "${path}" should be like [FeeType=HOA]`)
  const select = xmlSelect(match[1].trim())
  const words = new Set(match[3].split('|').map(wordKey))
  const wanted = match[2] === '='
  return (node) => {
    const text = select.first(node)
    return (text !== '' && words.has(wordKey(text))) === wanted
  }
}

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
      if (pattern) return names.filter((name) => pattern.test(name.trim()))
      const key = wordKey(path)
      // `$/SQUARE FEET` must not be taken for a missing `SQUARE FEET` where another rule names it.
      const alike = names.find((name) => !spelled.has(name) && wordKey(name) === key)
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
