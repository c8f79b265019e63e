import { XMLParser } from 'fast-xml-parser'
import { messageOf } from '../../core/errors.ts'
import { withoutControls } from './encoding.ts'
import { entityDecoder } from './entities.ts'
import { RecordError } from './format.ts'
import type { RecordFields, RecordNode } from './format.ts'
import { checkedRecord } from './xml-check.ts'

/** Replaces element names that would change an object's prototype; such elements are left out. */
const leftOut = '\u0000left-out'
const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** A node as fast-xml-parser gives it in order: one key with its children, or the text; attributes beside it. */
interface OrderedNode {
  [name: string]: OrderedNode[] | Record<string, string> | string
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#text',
  // Types come from the mapping: by default 02134 and 1e5 become numbers.
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  jPath: false,
  transformTagName: (name) => (unsafeNames.has(name) ? leftOut : name),
  onDangerousProperty: (name) => name,
  entityDecoder: entityDecoder(),
})

/** Parses the text of one record element. Throws `RecordError` where it is not well formed, or has more than `maxFields`. */
export function parseXmlRecord(text: string, maxFields: number): RecordFields {
  const nodes = parseOrdered(checkedRecord(withoutControls(text), maxFields))
  const record = nodes.find((node) => nameOf(node) !== '#text')
  if (!record) throw new RecordError('the record holds no element')
  const content = contentOf(record, nameOf(record))
  if (typeof content !== 'string') return content
  const fields = emptyFields()
  if (content.trim() !== '') fields['#text'] = content
  return fields
}

function parseOrdered(text: string): OrderedNode[] {
  try {
    const nodes: OrderedNode[] = parser.parse(text)
    return nodes
  } catch (error) {
    throw new RecordError(`the record can't be parsed: ${messageOf(error).slice(0, 200)}`)
  }
}

function nameOf(node: OrderedNode): string {
  for (const key in node) if (key !== ':@') return key
  return leftOut
}

function contentOf(node: OrderedNode, name: string): RecordNode {
  const children = node[name]
  const attributes: OrderedNode[string] | undefined = node[':@']
  let fields: RecordFields | null = null
  if (typeof attributes === 'object' && !Array.isArray(attributes)) {
    fields = emptyFields()
    for (const key of Object.keys(attributes)) fields[key] = attributes[key]
  }
  let text = ''
  for (const child of Array.isArray(children) ? children : []) {
    const childName = nameOf(child)
    if (childName === '#text') {
      const piece = child['#text']
      if (typeof piece === 'string') text += piece
      continue
    }
    fields ??= emptyFields()
    if (childName !== leftOut) add(fields, childName, contentOf(child, childName))
  }
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
