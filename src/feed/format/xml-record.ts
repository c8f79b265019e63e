/**
 * One record element as fields: a few times as fast as a parser for any document, as the tags are checked before, and nothing
 * is built but the fields.
 */
import { withoutControls } from './encoding.ts'
import { decodeEntities } from './entities.ts'
import { RecordError } from './format.ts'
import type { RecordFields, RecordNode } from './format.ts'
import { checkedRecord } from './xml-check.ts'

/** Names that would change an object's prototype; such elements are left out. */
const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** An element of which the end has not come yet. */
interface Open {
  name: string
  /** Attributes and children; null: it has none so far. */
  fields: RecordFields | null
  text: string
}

/** Parses the text of one record element. Throws `RecordError` where it is not well formed, or has more than `maxFields`. */
export function parseXmlRecord(text: string, maxFields: number): RecordFields {
  const content = contentOf(checkedRecord(withoutControls(text), maxFields).replaceAll(/\r\n?/g, '\n'))
  if (typeof content !== 'string') return content
  const fields = emptyFields()
  if (content.trim() !== '') fields['#text'] = content
  return fields
}

/** What the outermost element of a checked text holds. */
function contentOf(source: string): RecordNode {
  const around: Open[] = []
  let current: Open | null = null
  /** Text as it is written. A comment within it does not part a reference. */
  let written = ''
  for (let from = 0; ;) {
    const at = source.indexOf('<', from)
    if (at < 0) break
    if (current !== null && at > from) written += source.slice(from, at)
    const second = source.charCodeAt(at + 1)
    if (second === 33 && source.charCodeAt(at + 2) === 45) {
      from = source.indexOf('-->', at + 4) + 3
      continue
    }
    if (current !== null && written !== '') {
      current.text += decodeEntities(written)
      written = ''
    }
    if (second === 33) {
      from = source.indexOf(']]>', at + 9) + 3
      if (current !== null) current.text += source.slice(at + 9, from - 3)
      continue
    }
    let ended: Open
    if (second === 47) {
      from = source.indexOf('>', at) + 1
      ended = current!
      current = around.pop() ?? null
    } else {
      const end = tagEnd(source, at + 1)
      from = end + 1
      const isEmpty = source.charCodeAt(end - 1) === 47
      const opened = openedBy(source.slice(at + 1, isEmpty ? end - 1 : end))
      if (!isEmpty) {
        if (current !== null) around.push(current)
        current = opened
        continue
      }
      ended = opened
    }
    const node = nodeOf(ended)
    if (current === null) return node
    current.fields ??= emptyFields()
    if (!unsafeNames.has(ended.name)) add(current.fields, ended.name, node)
  }
  throw new RecordError('the record holds no element')
}

/** Index of the `>` that ends a tag. */
function tagEnd(source: string, from: number): number {
  for (let index = from; ; index++) {
    const code = source.charCodeAt(index)
    if (code === 62) return index
    if (code === 34 || code === 39) index = source.indexOf(source[index], index + 1)
  }
}

const attribute = /([^\s=]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'))?/g

function openedBy(tag: string): Open {
  const space = tag.search(/\s/)
  if (space < 0) return { name: tag, fields: null, text: '' }
  const opened: Open = { name: tag.slice(0, space), fields: null, text: '' }
  for (const [, name, double, single] of tag.slice(space).matchAll(attribute)) {
    const value = double ?? single
    if (value === undefined) continue
    opened.fields ??= emptyFields()
    opened.fields[`@${name}`] = decodeEntities(value)
  }
  return opened
}

function nodeOf({ fields, text }: Open): RecordNode {
  if (fields === null) return text
  // White space between elements is layout; next to text it belongs to it.
  if (text.trim() !== '') fields['#text'] = text
  return fields
}

function emptyFields(): RecordFields {
  return Object.create(null)
}

function add(fields: RecordFields, name: string, value: RecordNode): void {
  const present = fields[name]
  if (present === undefined) fields[name] = value
  else if (Array.isArray(present)) present.push(value)
  else fields[name] = [present, value]
}
