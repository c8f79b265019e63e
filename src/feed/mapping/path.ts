/**
 * Paths into a record. A path starts at the record and names every step, so that nothing is found further down by accident
 * (ZIF has Office/City beside Location/City). Compiled once, used for every record.
 *
 * `Location/City`, `@status`, `price/@currency`, `Fees/Fee[FeeType=HOA]/FeeAmount`, `Picture[Caption!=Floor plan*]`,
 * `anhang[@gruppe=BILD|TITELBILD]`, `RichDetails/*`, `objektart/*` + `/name()` for the names themselves, `.` for the node,
 * `.[price/@display!=no]/priceView` on a condition about another node, `@@name` for values from outside the record.
 * `photo{n}` are children numbered by their names, `param[@name=photo{n}]` those numbered by a condition, in the order of
 * their numbers.
 * A name without a prefix is also that name under any prefix: `City` finds `commons:City`, `@currencyCode` its namesake.
 * With `names: loose` it is also that name in other case.
 * For paths into rows see `path-row.ts`.
 */
import type { RecordFields, RecordNode } from '../format/format.ts'
import { wordKey } from './vocabulary.ts'

/** A compiled path. */
export interface Select {
  path: string
  /** The first text that isn't blank, trimmed; '': none. */
  first: (node: RecordNode) => string
  /** Every text that isn't blank, trimmed, in order. */
  all: (node: RecordNode) => string[]
  nodes: (node: RecordNode) => RecordNode[]
}

/** Compiles paths into records of one kind. `prepare` must see each record before its paths are read. */
export interface Paths {
  /** Whether records have nodes below them (`each`). */
  nested: boolean
  /** Throws `PathError`. */
  compile: (path: string) => Select
  prepare: (record: RecordFields) => void
  /** Whether any path may mean a column of this name; left out: records are no rows. */
  means?: (column: string) => boolean
}

/** An invalid path. */
export class PathError extends Error {
  override name = 'PathError'
}

/** The text of a node: its own, or the text beside its children. */
export function textOf(node: RecordNode): string {
  if (typeof node === 'string') return node.trim()
  const text = node['#text']
  return typeof text === 'string' ? text.trim() : ''
}

export function textsOf(nodes: readonly RecordNode[]): string[] {
  return nodes.map(textOf).filter((text) => text !== '')
}

/** The names of a node's child elements, in order. */
export function childNames(node: RecordNode): string[] {
  if (typeof node === 'string') return []
  return Object.keys(node).filter((name) => !name.startsWith('@') && name !== '#text')
}

export function childrenOf(node: RecordNode, name: string): readonly RecordNode[] {
  if (typeof node === 'string') return []
  const child = node[name]
  if (child === undefined) return []
  return Array.isArray(child) ? child : [child]
}

/** Joins a path to the path of its base node. */
export function joined(base: string, path: string): string {
  if (base === '') return path
  return path === '.' ? base : `${base}/${path}`
}

/**
 * Paths into records of elements. `loose`: a name matches in any case if none is spelled exactly like it. `outside`: names of the values
 * from outside the record; null: any.
 */
export function elementPaths(loose = false, outside: ReadonlySet<string> | null = null): Paths {
  const compile = (path: string): Select => {
    refuseNothing(path, outside)
    return elementSelect(path, loose)
  }
  return { nested: true, compile, prepare: () => {} }
}

/** Throws `PathError` for a path that can't match in any record: it would look like a value that the feed lacks. */
function refuseNothing(path: string, outside: ReadonlySet<string> | null): void {
  const nothing = (step: string, why: string): never => {
    throw new PathError(`"${step}" in the path "${path}" can match nothing: ${why}`)
  }
  const above = 'a path goes down from the record; name what is above it under around, and read it as @@name'
  const steps = path.split(/\/(?![^[]*\])/)
  for (const [index, step] of steps.entries()) {
    const name = step.replace(/\[[^]*$/, '').trim()
    if (name === '..') nothing(name, above)
    if (name.includes('|')) nothing(name, 'one of several names is written as several paths, [a/b, a/c]')
    if (name.startsWith('@') && index < steps.length - 1)
      nothing(steps[index + 1], 'an attribute holds nothing below it')
    for (const [, inner] of step.matchAll(/\[([^=!\]]+)!?=/g)) refuseNothing(inner.trim(), outside)
    if (!name.startsWith('@@')) continue
    if (steps.slice(0, index).some((before) => !before.startsWith('.')))
      nothing(name, 'values from outside stand in the record itself')
    if (outside?.has(name.slice(2)) === false) nothing(name, 'the preset has no such name under header or around')
  }
}

interface Step {
  name: string
  /** The end of the name under any prefix; '': it has a prefix, or is not a name. */
  anyPrefix: string
  /** The name in lower case, without the @, if it counts in any case; '': it does not. */
  anyCase: string
  /** Finds the number in the names of numbered children; null: the name has none. */
  numbered: ((name: string) => number | null) | null
  holds: ((node: RecordNode) => boolean) | null
  /** The number of a node by a condition that numbers them; null: there is none. */
  numberOf: ((node: RecordNode) => number) | null
}

function elementSelect(path: string, loose = false): Select {
  const steps = path === '.' ? [] : stepsOf(path, loose)

  function first(node: RecordNode, index: number): string {
    if (index === steps.length) return textOf(node)
    if (typeof node === 'string') return ''
    const step = steps[index]
    const child = step.name === '*' || step.name === 'name()' ? undefined : node[step.name]
    if (child !== undefined && !Array.isArray(child)) {
      return step.holds === null || step.holds(child) ? first(child, index + 1) : ''
    }
    if (child === undefined && step.anyPrefix !== '' && !hasOther(node, step)) return ''
    for (const child of candidates(node, step)) {
      const text = first(child, index + 1)
      if (text !== '') return text
    }
    return ''
  }

  function collect(node: RecordNode, index: number, found: RecordNode[]): void {
    if (index === steps.length) found.push(node)
    else for (const child of candidates(node, steps[index])) collect(child, index + 1, found)
  }

  const nodes = (node: RecordNode): RecordNode[] => {
    const found: RecordNode[] = []
    collect(node, 0, found)
    return found
  }
  return {
    path,
    first: (node) => first(node, 0),
    all: (node) => textsOf(nodes(node)),
    nodes,
  }
}

function candidates(node: RecordNode, step: Step): readonly RecordNode[] {
  if (step.name === 'name()') return childNames(node)
  if (step.name === '.') return step.holds === null || step.holds(node) ? [node] : []
  const { holds, numberOf } = step
  const children =
    step.name === '*' ? childNames(node).flatMap((name) => childrenOf(node, name)) : childrenNamed(node, step)
  const found = holds === null ? children : children.filter(holds)
  return numberOf === null ? found : inOrder(found, numberOf)
}

function inOrder<Item>(items: readonly Item[], numberOf: (item: Item) => number): Item[] {
  return items
    .map((item) => ({ item, number: numberOf(item) }))
    .toSorted((a, b) => a.number - b.number)
    .map(({ item }) => item)
}

/** Children of the step's name, else those of that name under a prefix or in another case. */
function childrenNamed(node: RecordNode, step: Step): readonly RecordNode[] {
  const { numbered } = step
  if (numbered !== null) {
    const names = typeof node === 'string' ? [] : Object.keys(node).filter((name) => numbered(name) !== null)
    return inOrder(names, (name) => numbered(name) ?? 0).flatMap((name) => childrenOf(node, name))
  }
  const exact = childrenOf(node, step.name)
  if (exact.length > 0 || typeof node === 'string' || step.anyPrefix === '') return exact
  return Object.keys(node)
    .filter((name) => isOther(name, step))
    .flatMap((name) => childrenOf(node, name))
}

function hasOther(node: RecordFields, step: Step): boolean {
  for (const name in node) if (isOther(name, step)) return true
  return false
}

/** Whether a name is the step's under a prefix, or in another case. */
function isOther(name: string, { anyPrefix, anyCase, name: wanted }: Step): boolean {
  if (name.length < wanted.length || name.startsWith('@') !== wanted.startsWith('@')) return false
  if (name.length > wanted.length && name.endsWith(anyPrefix)) return true
  if (anyCase === '' || name.startsWith('@@')) return false
  const end = name.slice(-anyCase.length)
  const before = name.at(-anyCase.length - 1)
  return end.toLowerCase() === anyCase && (before === undefined || before === ':' || before === '@')
}

/** Finds the number at `{n}`; null: the pattern has none. */
function numberIn(pattern: string): ((text: string) => number | null) | null {
  const [before, after, more] = pattern.split('{n}')
  if (after === undefined || more !== undefined) return null
  return (text) => {
    if (!text.startsWith(before) || !text.endsWith(after)) return null
    const digits = text.slice(before.length, text.length - after.length)
    return /^\d{1,9}$/.test(digits) ? Number(digits) : null
  }
}

function stepsOf(path: string, loose: boolean): Step[] {
  const steps: Step[] = []
  for (const part of path.split(/\/(?![^[]*\])/)) {
    const match = /^([^[\]]+)((?:\[[^[\]]+\])*)$/.exec(part.trim())
    if (!match) throw new PathError(`${part === '' ? 'an empty step' : `"${part}"`} in the path "${path}"`)
    if (match[1].endsWith('()') && match[1] !== 'name()') {
      const why = 'a path that ends at an element yields its text'
      throw new PathError(`${match[1]} in the path "${path}" is not needed: ${why}`)
    }
    const conditions = [...match[2].matchAll(/\[([^\]]+)\]/g)].map(([, text]) => conditionOf(text, path, loose))
    const numbered = numberIn(match[1])
    const bare = match[1] === '.' || numbered !== null || /[*:()]|^@@/.test(match[1]) ? '' : match[1].replace(/^@/, '')
    steps.push({
      name: match[1],
      anyPrefix: bare === '' ? '' : `:${bare}`,
      anyCase: loose ? bare.toLowerCase() : '',
      numbered,
      holds: conditions.length === 0 ? null : (node) => conditions.every(({ holds }) => holds(node)),
      numberOf: conditions.find(({ numberOf }) => numberOf !== null)?.numberOf ?? null,
    })
  }
  // `objektart/*/name()` needs the parent, for the names of its children.
  const last = steps.length - 1
  if (steps[last].name === 'name()') {
    if (steps[last - 1]?.name !== '*') throw new PathError(`name() must follow */ in the path "${path}"`)
    steps.splice(last - 1, 1)
  }
  return steps
}

interface Condition {
  holds: (node: RecordNode) => boolean
  /** The number of a node in the place of `{n}`; null: the condition has none. */
  numberOf: ((node: RecordNode) => number) | null
}

function conditionOf(text: string, path: string, loose: boolean): Condition {
  const match = /^([^=!]+)(!?=)(.+)$/.exec(text)
  if (!match) throw new PathError(`"[${text}]" in the path "${path}" should be like [FeeType=HOA]`)
  const select = elementSelect(match[1].trim(), loose)
  const wanted = match[2] === '='
  const written = match[3].split('|')
  const words = new Set(written.map(wordKey))
  const beginnings = written.filter((word) => word.endsWith('*')).map(wordKey)
  const patterns = written.flatMap((word) => numberIn(word.split('{n}').map(wordKey).join('{n}')) ?? [])
  const numberOf = (node: RecordNode): number | null => {
    const key = wordKey(select.first(node))
    return patterns.map((numbered) => numbered(key)).find((number) => number !== null) ?? null
  }
  const fits = (key: string): boolean => words.has(key) || beginnings.some((beginning) => key.startsWith(beginning))
  return {
    holds: (node) => {
      const text = select.first(node)
      return (text !== '' && (fits(wordKey(text)) || (patterns.length > 0 && numberOf(node) !== null))) === wanted
    },
    numberOf: patterns.length === 0 || !wanted ? null : (node) => numberOf(node) ?? 0,
  }
}
