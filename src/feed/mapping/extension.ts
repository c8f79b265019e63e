/** ExtensionColumn: the columns of a mapping, and elements that become columns by name. */
import { z } from 'zod'
import { ownerKey } from '../../core/listing.ts'
import type { ExtensionEntry } from '../../core/listing.ts'
import { later } from '../../core/setting-kinds.ts'
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

export const groupsSchema = z.array(
  later(() => z.strictObject({ from: pathSchema, except: z.array(z.string()).default([]) })),
)

/** The columns of one record, and the unreadable ones. */
export interface Columns {
  entries: ExtensionEntry[]
  problems: { key: string; bad: Unreadable }[]
}

/**
 * Compiles ExtensionColumn: named columns as written, then entries from other fields, then groups by name, so that equal
 * records yield equal columns. Empty ones are left out, long ones cut.
 */
export function compileExtension(
  columns: ReadonlyMap<string, Read>,
  groups: z.infer<typeof groupsSchema>,
  paths: Paths,
): (record: RecordFields, making: Making) => Columns {
  const compiled = groups.map(({ from, except }) => ({ select: paths.compile(from), except: new Set(except) }))
  return (record, making) => {
    const entries: ExtensionEntry[] = []
    const problems: Columns['problems'] = []
    for (const [key, read] of columns) {
      const value = read(record, making)
      if (value instanceof Unreadable) problems.push({ key, bad: value })
      else if (value !== undefined)
        entries.push({ Key: key, value: Array.isArray(value) ? value.join(', ') : String(value) })
    }
    for (const { Key, value } of making.kept) {
      const present = entries.find((entry) => entry.Key === Key)
      if (present === undefined) entries.push({ Key, value })
      else present.value += `, ${value}`
    }
    if (compiled.length === 0) return { entries: entries.slice(0, mostEntries).map(bounded), problems }
    const named = new Set(entries.map(({ Key }) => Key))
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
          const present = grouped.get(name)
          if (present !== undefined) for (const text of texts) present.push(text)
          else if (texts.length > 0) grouped.set(name, texts)
        }
      }
    }
    for (const Key of [...grouped.keys()].toSorted()) entries.push({ Key, value: (grouped.get(Key) ?? []).join(', ') })
    return { entries: entries.slice(0, mostEntries).map(bounded), problems }
  }
}

/** All texts with a value in a node, its own first. */
export function leaves(node: RecordNode): string[] {
  const own = readableLine(textOf(node))
  if (typeof node === 'string') return saysNothing(own) ? [] : [own]
  const inside = childNames(node).flatMap((name) => childrenOf(node, name).flatMap(leaves))
  return saysNothing(own) ? inside : [own, ...inside]
}

function bounded({ Key: key, value }: ExtensionEntry): ExtensionEntry {
  const Key = key.slice(0, longestKey).toWellFormed()
  if (value.length <= longestValue) return { Key, value }
  // Never within a surrogate pair.
  const end = value.codePointAt(longestValue - 2)! > 0xffff ? longestValue - 2 : longestValue - 1
  return { Key, value: `${value.slice(0, end)}…` }
}
