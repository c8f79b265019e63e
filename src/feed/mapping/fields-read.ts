/**
 * Which fields of a feed a mapping reads, found from its rules and the names of the fields, without a record. Conditions
 * count as met.
 */
import { fieldRules } from '../../core/listing.ts'
import type { FormatOptions, RecordFields, RecordNode } from '../format/format.ts'
import { formats } from '../format/formats.ts'
import { pathsOfFlags } from './compliance.ts'
import { converters, usualConverter } from './converters/converters.ts'
import { isFieldName } from './names.ts'
import { headersOf } from './path-row.ts'
import { elementPaths, joined, textOf } from './path.ts'
import type { Paths } from './path.ts'
import type { MappingOptions, Preset } from './preset.ts'
import type { FieldMapping, Rule } from './rule-keys.ts'

/** A path of a rule, from the record. */
interface WrittenPath {
  /** The listing field that it is for, `ExtensionColumn` or `record`. */
  owner: string
  path: string
  /** Whether everything below is read as well. */
  below: boolean
}

function writtenPaths(preset: Preset, options: MappingOptions): WrittenPath[] {
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
  for (const path of pathsOfFlags([preset, options])) add('record', path)
  for (const name of Object.keys(options.where ?? {})) if (!isFieldName(name)) add('record', name)
  return found
}

/**
 * The options of the format. If the feed configures the column of MLSNumber, that header also satisfies `requiredHeaders`.
 */
export function formatOptions(preset: Preset, { fields }: MappingOptions): FormatOptions {
  const { requiredHeaders = [] } = preset.formatOptions
  const number = fields?.['MLSNumber']
  if (requiredHeaders.length === 0 || number === undefined) return preset.formatOptions
  const own: string[] = []
  ofMapping(number, 'MLSNumber', (_, path) => void own.push(path))
  return { ...preset.formatOptions, requiredHeaders: [...own, ...requiredHeaders] }
}

type Add = (owner: string, path: string, below?: boolean) => void

function ofMapping(mapping: FieldMapping, owner: string, add: Add): void {
  for (const rule of [mapping].flat()) ofRule(typeof rule === 'string' ? { from: rule } : rule, '', owner, add)
}

function ofRule(rule: Rule, above: string, owner: string, add: Add): void {
  const base = rule.each === undefined ? above : joined(above, rule.each)
  const read = (paths: string | readonly string[] | undefined, below?: boolean): void => {
    for (const path of [paths ?? []].flat()) add(owner, joined(base, path), below)
  }
  const converter = converters[rule.as ?? usualConverter(fieldRules.find(({ name }) => name === owner) ?? null)]
  read(rule.from, converter.readsBelow)
  read(rule.unitFrom)
  read(rule.when?.from)
  read(rule.period)
  read(rule.to)
  read(converter.paths?.(rule))
  for (const [, piece] of (rule.template ?? '').matchAll(/\{([^{}]*)\}/g)) if (!isFieldName(piece)) read(piece)
  for (const part of rule.parts ?? []) ofRule(part, base, owner, add)
}

/** Every path that a preset with a feed's options reads, and which of the feed's fields it finds. */
export function fieldsRead(
  preset: Preset,
  options: MappingOptions,
  fields: readonly string[],
): (WrittenPath & { reads: string[] })[] {
  const written = writtenPaths(preset, options)
  const { nested } = formats[preset.format]
  const read = nested
    ? readOfElements(written, fields, elementPaths(preset.names === 'loose'))
    : written.map(({ path }) => headersOf(path, fields))
  return written.map((path, index) => ({ ...path, reads: read[index] }))
}

/** Reads a record in which each leaf contains its own path, to see which leaves a path finds. */
function readOfElements(written: readonly WrittenPath[], leaves: readonly string[], paths: Paths): string[][] {
  const record = skeleton(leaves)
  return written.map(({ path, below }) =>
    simplePaths(path).flatMap(({ simple, names }) => {
      // Values from outside the record are not fields.
      if (simple.startsWith('@@')) return []
      const nodes = paths.compile(simple).nodes(record)
      return nodes.flatMap((node) => (below || names ? leavesOf(node) : [textOf(node)].filter((text) => text !== '')))
    }),
  )
}

/** A path without its conditions, and the paths in these. */
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
