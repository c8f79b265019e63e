/**
 * What a mapping checks beside single fields: flags, `where`, coordinates, ExtensionColumn.
 */
import { fieldRules, ownerKey } from '../../core/listing.ts'
import type { ExtensionEntry, FieldValue, Listing } from '../../core/listing.ts'
import type { RecordFields, RecordNode } from '../format/format.ts'
import type { Flag } from './compliance-schema.ts'
import { Unreadable } from './converters/converter.ts'
import type { Making, Read } from './converters/converter.ts'
import { readableLine } from './converters/text.ts'
import { childNames, childrenOf, textOf } from './path.ts'
import type { Paths } from './path.ts'
import type { Preset } from './preset.ts'
import { isFieldName } from './schema.ts'
import type { MappingOptions } from './schema.ts'
import { readBoolean, saysNothing, wordKey } from './vocabulary.ts'

const longestKey = 100
const longestValue = 1000
const mostEntries = 200

/** Compiles a flag: whether the record raises it, or why that can't be told. A record without a word does not. */
export function compileFlag(flag: Flag, paths: Paths): (record: RecordFields) => boolean | Unreadable {
  const select = paths.compile(flag.from)
  const words = new Set((flag.equals ?? []).map(wordKey))
  return (record) => {
    const text = select.first(record)
    if (saysNothing(text)) return false
    if (flag.is === undefined) return words.has(wordKey(text))
    const value = readBoolean(text)
    return value === null ? new Unreadable(text, `needs yes or no (${flag.from})`) : value === flag.is
  }
}

/** Which key of `where` leaves a record out, and why as a sentence. */
interface LeftOut {
  name: string
  why: string
}

/** Compiles `where`: null where the record stays. */
export function compileWhere(where: NonNullable<MappingOptions['where']>, paths: Paths) {
  const tests = Object.entries(where).map(([name, wanted]) => {
    const values = [wanted].flat().map(String)
    const words = new Set(values.map(wordKey))
    const numbers = new Set(values.map(Number))
    const rule = fieldRules.find((one) => one.name === name)
    const select = rule ? null : paths.compile(name)
    const test = (record: RecordFields, listing: Partial<Listing>): LeftOut | null => {
      const found = select ? select.first(record) : comparable(isFieldName(name) ? listing[name] : undefined)
      const stays = typeof found === 'number' ? numbers.has(found) : words.has(wordKey(found))
      if (stays) return null
      const said = found === '' ? 'is missing' : `is "${String(found).slice(0, 100)}"`
      return { name, why: `${name} ${said}; where wants ${values.slice(0, 10).join(', ')}` }
    }
    return { test, ofRecord: select }
  })
  return (record: RecordFields, listing: Partial<Listing>, isStub = false): LeftOut | null => {
    for (const { test, ofRecord } of tests) {
      // What a stub does not repeat is as it was when its listing was let through.
      if (isStub && ofRecord !== null && saysNothing(ofRecord.first(record))) continue
      const left = test(record, listing)
      if (left !== null) return left
    }
    return null
  }
}

function comparable(value: FieldValue | undefined): string | number {
  return typeof value === 'string' || typeof value === 'number' ? value : ''
}

/** Leaves out coordinates that are half there, or 0,0: null island is no address (domain trap 32). */
export function tidyCoordinates(listing: Partial<Listing>): void {
  const { Latitude, Longitude } = listing
  if (Latitude === undefined || Longitude === undefined || (Latitude === 0 && Longitude === 0)) {
    delete listing.Latitude
    delete listing.Longitude
  }
}

/**
 * Compiles ExtensionColumn: the named columns in the order written, then what fell off other fields, then the groups by
 * name, so that equal records give equal columns. Empty ones are left out, lengths are bounded.
 */
export function compileExtension(
  columns: ReadonlyMap<string, Read>,
  groups: Preset['extensionGroups'],
  paths: Paths,
): (
  record: RecordFields,
  making: Making,
) => { entries: ExtensionEntry[]; problems: { key: string; bad: Unreadable }[] } {
  const compiled = groups.map(({ from, except }) => ({ select: paths.compile(from), except: new Set(except) }))
  return (record, making) => {
    const entries = new Map<string, string>()
    const problems: { key: string; bad: Unreadable }[] = []
    for (const [key, read] of columns) {
      const value = read(record, making)
      if (value instanceof Unreadable) problems.push({ key, bad: value })
      else if (value !== undefined) entries.set(key, Array.isArray(value) ? value.join(', ') : String(value))
    }
    for (const { Key, value } of making.kept) {
      const present = entries.get(Key)
      entries.set(Key, present === undefined ? value : `${present}, ${value}`)
    }
    const named = new Set(entries.keys())
    const grouped = new Map<string, string[]>()
    for (const { select, except } of compiled) {
      for (const node of select.nodes(record)) {
        if (typeof node === 'string') continue
        for (const name in node) {
          // Most elements of a group are empty (formats.md §2: 60 % of the leaves).
          const child = node[name]
          if (child === '' || name.startsWith('@') || name === '#text') continue
          if (except.has(name) || named.has(name) || name === ownerKey) continue
          const texts = typeof child === 'string' ? leaves(child) : childrenOf(node, name).flatMap(leaves)
          if (texts.length > 0) grouped.set(name, [...(grouped.get(name) ?? []), ...texts])
        }
      }
    }
    for (const name of [...grouped.keys()].toSorted()) entries.set(name, (grouped.get(name) ?? []).join(', '))
    return { entries: [...entries].slice(0, mostEntries).map(bounded), problems }
  }
}

/** Every text in a node that says something, its own first. */
export function leaves(node: RecordNode): string[] {
  const own = readableLine(textOf(node))
  if (typeof node === 'string') return saysNothing(own) ? [] : [own]
  const inside = childNames(node).flatMap((name) => childrenOf(node, name).flatMap(leaves))
  return saysNothing(own) ? inside : [own, ...inside]
}

function bounded([key, value]: [string, string]): ExtensionEntry {
  return { Key: key.slice(0, longestKey).toWellFormed(), value: cut(value) }
}

function cut(value: string): string {
  if (value.length <= longestValue) return value
  const end = longestValue - 1
  // Never through the middle of a character.
  return `${value.slice(0, value.codePointAt(end - 1)! > 0xffff ? end - 1 : end)}…`
}
