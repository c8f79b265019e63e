/** ExtensionColumn: the columns of a mapping, and the elements that become columns under their own names. */
import { z } from 'zod'
import { ownerKey } from '../../core/listing.ts'
import type { ExtensionEntry } from '../../core/listing.ts'
import type { RecordFields, RecordNode } from '../format/format.ts'
import { Unreadable } from './converters/converter.ts'
import type { Making, Read } from './converters/converter.ts'
import { readableLine } from './converters/text.ts'
import { childNames, childrenOf, textOf } from './path.ts'
import type { Paths } from './path.ts'
import { pathSchema } from './rule-keys.ts'
import { saysNothing } from './vocabulary.ts'

const longestKey = 100
const longestValue = 1000
const mostEntries = 200

export const groupsSchema = z.array(z.strictObject({ from: pathSchema, except: z.array(z.string()).default([]) }))

/** The columns of one record, and which of them could not be read. */
export interface Columns {
  entries: ExtensionEntry[]
  problems: { key: string; bad: Unreadable }[]
}

/**
 * Compiles ExtensionColumn: the named columns in the order written, then what fell off other fields, then the groups by
 * name, so that equal records give equal columns. Empty ones are left out, lengths are bounded.
 */
export function compileExtension(
  columns: ReadonlyMap<string, Read>,
  groups: z.infer<typeof groupsSchema>,
  paths: Paths,
): (record: RecordFields, making: Making) => Columns {
  const compiled = groups.map(({ from, except }) => ({ select: paths.compile(from), except: new Set(except) }))
  return (record, making) => {
    const entries = new Map<string, string>()
    const problems: Columns['problems'] = []
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
          // Most elements of a group are empty.
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
