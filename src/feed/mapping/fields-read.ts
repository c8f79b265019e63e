/**
 * Which fields of a feed the rules of a mapping read, told from the rules as they are written and the names of the fields:
 * conditions are taken as met. No record is needed for it.
 */
import type { RecordFields, RecordNode } from '../format/format.ts'
import { csvPaths } from './path-csv.ts'
import { jsonHeaders, jsonPath } from './path-json.ts'
import { textOf, xmlPaths } from './path.ts'
import type { Preset } from './preset.ts'
import { isFieldName } from './schema.ts'
import type { FieldMapping, MappingOptions, Rule } from './schema.ts'

/** A path of a rule, from the record on. */
export interface WrittenPath {
  /** The listing field that it is for, `ExtensionColumn` or `record`. */
  owner: string
  path: string
  /** Whether everything below what it finds is read as well. */
  below: boolean
}

/** Every path that a preset with a feed's own options reads. */
export function writtenPaths(preset: Preset, options: MappingOptions = {}): WrittenPath[] {
  const found: WrittenPath[] = []
  const add = (owner: string, path: string, below = false): void => void found.push({ owner, path, below })
  const named = (fields: Record<string, FieldMapping>, owner?: string): void => {
    for (const [name, mapping] of Object.entries(fields)) ofMapping(mapping, owner ?? name, add)
  }
  named({ ...preset.fields, ...options.fields })
  for (const { when, fields } of preset.variants) {
    ofMapping(when, 'record', add)
    named(fields)
  }
  named({ ...preset.extension, ...options.extension }, 'ExtensionColumn')
  for (const { from } of preset.extensionGroups) add('ExtensionColumn', from, true)
  for (const { hideAddress = [], removeWhen = [] } of [preset, options]) {
    for (const { from } of hideAddress) add('record', from)
    for (const { flag, past } of removeWhen) add('record', flag?.from ?? past ?? '')
  }
  for (const name of Object.keys(options.where ?? {})) if (!isFieldName(name)) add('record', name)
  return found
}

/**
 * The headers of which a table needs one to be this feed's. Where the feed says itself which column the MLSNumber is in,
 * that one will do as well.
 */
export function requiredHeaders(preset: Preset, { fields }: MappingOptions): string[] {
  const number = fields?.['MLSNumber']
  const named = preset.requiredHeaders
  if (named.length === 0 || number === undefined) return named
  const own: string[] = []
  ofMapping(number, 'MLSNumber', (_, path) => void own.push(path))
  return [...own, ...named]
}

type Add = (owner: string, path: string, below?: boolean) => void

function ofMapping(mapping: FieldMapping, owner: string, add: Add): void {
  for (const rule of [mapping].flat()) ofRule(typeof rule === 'string' ? { from: rule } : rule, '', owner, add)
}

function ofRule(rule: Rule, above: string, owner: string, add: Add): void {
  const base = rule.each === undefined ? above : joined(above, rule.each)
  const read = (paths: string | string[] | undefined, below = false, from = base): void => {
    for (const path of [paths ?? []].flat()) add(owner, joined(from, path), below)
  }
  read(rule.from, rule.as === 'flags')
  read(rule.unitFrom)
  read(rule.period)
  read(rule.orderBy)
  read(rule.virtual)
  for (const [, piece] of (rule.template ?? '').matchAll(/\{([^{}]*)\}/g)) if (!isFieldName(piece)) read(piece)
  for (const part of rule.parts ?? []) ofRule(part, base, owner, add)
  for (const house of rule.openHouses ?? []) {
    const from = house.each === undefined ? base : joined(base, house.each)
    for (const path of [house.date, house.start, house.end]) read(path, false, from)
  }
}

function joined(base: string, path: string): string {
  if (base === '' || path === '.') return base === '' ? path : base
  return `${base}/${path}`
}

/** For each path, the fields that it reads, of those that the feed has. */
export function fieldsRead(isXml: boolean, written: readonly WrittenPath[], fields: readonly string[]): string[][] {
  return isXml ? readOfXml(written, fields) : readOfRows(written, fields)
}

/** A row in which each cell holds its own header tells which headers a path reads. */
function readOfRows(written: readonly WrittenPath[], headers: readonly string[]): string[][] {
  const paths = csvPaths()
  const readers = written.map(({ path }) => {
    const json = path.startsWith('json:') ? jsonPath(path.slice(5)) : null
    if (json === null) return paths.compile(path).nodes
    const named = jsonHeaders(json)
    return () => headers.filter((header) => named.test(header.trim()))
  })
  const row: RecordFields = Object.create(null)
  for (const header of headers) row[header] = header
  paths.prepare(row)
  return readers.map((nodes) => nodes(row).flatMap((node) => (typeof node === 'string' ? [node] : [])))
}

/** A record in which each leaf holds its own path tells which leaves a path reads. */
function readOfXml(written: readonly WrittenPath[], leaves: readonly string[]): string[][] {
  const record = skeleton(leaves)
  const paths = xmlPaths()
  return written.map(({ path, below }) =>
    simplePaths(path).flatMap(({ simple, names }) => {
      // What lies outside the record is none of its fields.
      if (simple.startsWith('@@')) return []
      const nodes = paths.compile(simple).nodes(record)
      return nodes.flatMap((node) => (below || names ? leavesOf(node) : [textOf(node)].filter((text) => text !== '')))
    }),
  )
}

/** A path without its conditions, and the paths that these look at. */
function simplePaths(path: string): { simple: string; names: boolean }[] {
  const bare = path.replaceAll(/\[[^\]]*\]/g, '')
  const names = bare.endsWith('/name()')
  const looked = [...path.matchAll(/\[([^=!\]]+)!?=/g)].map(({ 1: inside, index }) => ({
    simple: joined(path.slice(0, index).replaceAll(/\[[^\]]*\]/g, ''), inside.trim()),
    names: false,
  }))
  return [{ simple: names ? bare.slice(0, -7) : bare, names }, ...looked]
}

function skeleton(leaves: readonly string[]): RecordFields {
  const record: RecordFields = Object.create(null)
  for (const leaf of leaves) {
    const names = leaf.split('/')
    let node = record
    for (const name of names.slice(0, -1)) {
      const child = node[name]
      if (typeof child === 'object' && !Array.isArray(child)) node = child
      else {
        const made: RecordFields = Object.create(null)
        if (typeof child === 'string') made['#text'] = child
        node[name] = made
        node = made
      }
    }
    const last = names.at(-1) ?? ''
    const present = node[last]
    if (typeof present === 'object' && !Array.isArray(present)) present['#text'] = leaf
    else node[last] = leaf
  }
  return record
}

function leavesOf(node: RecordNode): string[] {
  if (typeof node === 'string') return [node]
  return Object.values(node).flatMap((child) => [child].flat().flatMap(leavesOf))
}
