import { z } from 'zod'
import { FeedError } from '../../core/errors.ts'
import { decoded } from './encoding.ts'
import { htmlPage } from './foreign.ts'
import { shortHash } from '../../core/hash.ts'
import { RecordError, hasOwnName, partsOf, refuseBroken } from './format.ts'
import type { Format, RawRecord, ReadOptions, Reading, RecordFields } from './format.ts'
import { xmlShape } from './xml-shape.ts'
import { XmlSplitter } from './xml-splitter.ts'
import type { XmlSplitterOptions } from './xml-splitter.ts'

const attribute = z
  .string()
  .regex(/^[^/@]+(?:\/[^/@]+)*\/@[^/@]+$/, 'a path from the root such as openimmo/uebertragung/@umfang')

const elementOrAttribute = z
  .string()
  .regex(
    /^[^/@\s]+(?:\/[^/@\s]+)*\/@?[^/@\s]+$/,
    'a path from the root such as file/section/@kind or file/section/town',
  )

const recordPath = z.string().min(1)
const outsideName = z
  .string()
  .regex(/^(?!name$)[a-zA-Z][a-zA-Z0-9]*$/, 'a name of letters and digits, and not "name", which is the record\'s own')

const options = () =>
  z
    .object({
      record: z
        .union([recordPath, z.array(recordPath).min(1)], {
          error: ({ input }) => (input === undefined ? 'an XML preset needs it' : undefined),
        })
        .describe('Path of the record element from the root, such as Listings/Listing, or several.'),
      counter: z
        .string()
        .regex(
          /^(?:@[^\s=/]+|[^\s=/@]+(?:\/[^\s=/@]+)*\/@?[^\s=/@]+)$/,
          "an attribute of the root, such as '@listing_count', or a path from it, such as feed/head/count",
        )
        .optional()
        .describe(
          'Attribute of the root, or path of an attribute or element, that says how many records there are; any other number makes the delivery incomplete.',
        ),
      header: z
        .record(outsideName, attribute)
        .optional()
        .describe('Attributes before the first record, name → path from the root; a record has them as @@name.'),
      around: z
        .record(outsideName, elementOrAttribute)
        .optional()
        .describe(
          'Attributes of elements around a record, or elements that stand before it in one of those, name → path from the root; a record has them as @@name.',
        ),
      parts: z
        .record(
          z.string().regex(/^[a-z][a-z0-9]*$/, 'lower-case letters and digits'),
          z.strictObject({
            at: elementOrAttribute.describe('Path of these elements from the root'),
            key: z.string().min(1).describe('Path in them of what names them'),
            by: z.string().min(1).describe("Path of the record's own value for that"),
          }),
        )
        .optional()
        .describe(
          'Elements before the records, in one that contains them, to which a record refers by a key, name → at, key, by; rules read what is in them as name:Path.',
        ),
      written: elementOrAttribute
        .optional()
        .describe('The attribute or element before the first record that says when the file was written.'),
    })
    .superRefine(({ record, counter = '', header = {}, around = {}, parts = {}, written = '' }, context) => {
      const isAround = (attribute: string): boolean => [record].flat().some((each) => mayComeAgain(attribute, each))
      const check = (path: string[], wrong: boolean, message: string): void => {
        if (wrong) context.addIssue({ code: 'custom', path, message })
      }
      // A wrong way, or a path that does not begin at the records' root, would silently match nothing.
      const checkWay = (path: string[], way: string): void => {
        check(path, /(?:^|\/)\.{1,2}(?:\/|$)/.test(way), `${way} can match nothing: a path goes down from the root`)
        const isElsewhere = /^[^@].*\//.test(way) && [record].flat().every((each) => !sharesRoot(way, each))
        const roots = [...new Set([record].flat().map((each) => each.split('/')[0]))].join(' or ')
        check(path, isElsewhere, `${way} can match nothing: the records are in ${roots}, so it begins there, too`)
      }
      for (const each of [record].flat()) checkWay(['record'], each)
      checkWay(['counter'], counter)
      checkWay(['written'], written)
      for (const [name, way] of Object.entries(header)) checkWay(['header', name], way)
      for (const [path, attribute] of [
        ...Object.entries(header).map(([name, attribute]) => [['header', name], attribute] as const),
        [['written'], written] as const,
      ]) {
        const why = 'belongs to an element that contains records and may repeat with another value'
        check(
          [...path],
          isAround(attribute),
          `${attribute} ${why}${path[0] === 'header' ? '; write it under around' : ''}`,
        )
      }
      const checkElement = (path: string[], element: string): void => {
        const records = [record].flat()
        const holds = records.some((each) => each === element || each.startsWith(`${element}/`))
        check(path, holds, `${element} is a record, or contains them`)
        check(
          path,
          records.some((each) => commonSteps(element, each) === 0),
          `${element} is in another document than the records`,
        )
      }
      if (written !== '' && !written.includes('@')) checkElement(['written'], written)
      for (const [name, { at }] of Object.entries(parts)) {
        checkElement(['parts', name, 'at'], at)
        check(['parts', name, 'at'], at.includes('@'), `${at} is an attribute, not an element`)
      }
      for (const [name, attribute] of Object.entries(around)) {
        const why = 'belongs to no element that contains records and may repeat; write it under header'
        const isAttribute = attribute.includes('@')
        check(['around', name], isAttribute && !isAround(attribute), `${attribute} ${why}`)
        if (!isAttribute) checkElement(['around', name], attribute)
        check(['around', name], name in header, 'has a name that header has, too')
      }
    })
type XmlOptions = z.output<ReturnType<typeof options>>

/** Whether the element may repeat, as it is around the records and not the root. Only its first attribute would be read. */
function mayComeAgain(path: string, record: string): boolean {
  const element = path.slice(0, path.lastIndexOf('/'))
  return element.includes('/') && record.startsWith(`${element}/`)
}

/** Most bytes of `parts` that are held at a time. */
const mostPartBytes = 32 * 1024 * 1024

const localOf = (name: string): string => name.slice(name.indexOf(':') + 1).trim()

/** Whether two paths begin at the same root. The record's path may name that by alternatives. */
function sharesRoot(path: string, record: string): boolean {
  return record
    .split('/')[0]
    .split('|')
    .map(localOf)
    .includes(localOf(path.split('/')[0]))
}

/** How many elements from the root contain both. */
function commonSteps(path: string, record: string): number {
  const names = record.split('/').map((step) => step.split('|').map(localOf))
  const steps = path.split('/').slice(0, -1)
  const parting = steps.findIndex((step, index) => index >= names.length - 1 || !names[index].includes(step))
  return parting < 0 ? steps.length : parting
}

/** XML documents with one element for each record. */
export const xml: Format<XmlOptions> = {
  hasEndMark: true,
  title: 'XML',
  nested: true,
  options,
  detect(head) {
    if (!head.toString('latin1', 0, 4096).trimStart().startsWith('<')) return null
    const { record } = xmlShape(head)
    return { options: record === null ? null : { record } }
  },
  read,
}

/**
 * A name of `options.record` without a prefix matches any prefix, and `a|b` either of two: the record then has its
 * element's name as `@@name`. Records are cut on bytes; the parser is loaded with the first document.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & XmlOptions): Reading {
  const source = decoded(bytes, options)
  const { maxFields = Infinity } = options
  let parseRecord: (text: string, maxFields: number) => RecordFields
  const attributesOf = (tag: Buffer): RecordFields => {
    try {
      return parseRecord(source.text(tag).replace(/\/?>$/, '/>'), maxFields)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      // An unreadable header, as in another encoding than declared, leaves the decision to the preset.
      return {}
    }
  }
  const nodeIn = (element: Buffer): RecordFields => parseRecord(source.text(element), maxFields)
  const header = attributesBefore(options.header ?? {}, attributesOf)
  const records = [options.record].flat()
  const { around: values = {}, parts = {} } = options
  const hasAround = Object.keys(values).length + Object.keys(parts).length > 0
  const around = hasAround ? valuesAround(values, parts, records, attributesOf, nodeIn) : undefined
  const splitter = new XmlSplitter(records, options.maxRecordBytes, {
    counter: options.counter,
    written: options.written,
    around,
    beforeRecords: header.read,
  })
  const severalNames = hasOwnName(records)
  async function* batches(): AsyncGenerator<RawRecord[]> {
    parseRecord = (await import('./xml-record.ts')).parseXmlRecord
    let isFirst = true
    for await (const block of source.blocks(undefined, () => splitter.waiting)) {
      // The page's title is in the first bytes; the outline refuses the rest, unless the preset's own root is named so.
      if (isFirst && /^\s*<(?:!doctype\s+)?html\b/i.test(block.toString('latin1', 0, 1024)))
        throw new FeedError(htmlPage(block))
      isFirst = false
      const batch = splitter.push(block)
      if (batch.length > 0) yield batch
    }
    const last = splitter.end()
    if (last.length > 0) yield last
  }
  return {
    records: batches(),
    context: () => (Object.keys(header.found).length === 0 ? '' : JSON.stringify(header.found)),
    header: () => header.found,
    says: () => ({ ...around?.firsts, ...header.found }),
    written: () => splitter.written,
    end: () => ({ reasons: splitter.reasons }),
    parse(record) {
      refuseBroken(record)
      const text = source.text(record.raw)
      const fields = parseRecord(text, maxFields)
      if (severalNames) fields['@@name'] = /^<(?:[^\s:/>]*:)?([^\s/>]+)/.exec(text)?.[1] ?? ''
      const outside: Record<string, string> = record.outside === undefined ? {} : JSON.parse(record.outside)
      for (const values of [header.found, outside])
        for (const name of Object.keys(values)) fields[`@@${name}`] = values[name]
      // Not enumerable, so that whatever walks through a record does not walk through these, too.
      for (const [name, nodes] of Object.entries(record.parts ?? {}))
        Object.defineProperty(fields, partsOf(name), { value: nodes })
      return fields
    },
  }
}

/**
 * Attributes before the first record that determine what the records mean, such as OpenImmo's `umfang`. `paths`:
 * name → path from the root, `openimmo/uebertragung/@umfang`. The first one found counts; values are cut at 200 characters.
 */
function attributesBefore(paths: Readonly<Record<string, string>>, attributesOf: (tag: Buffer) => RecordFields) {
  const wanted = wantedAt(paths)
  /** Name → value as found, without names that the document lacks. */
  const found: Record<string, string> = Object.create(null)
  /** Takes a start tag before the first record; `isAt`: whether its element is at a path from the root, without prefixes. */
  function read(isAt: (path: readonly string[]) => boolean, tag: Buffer): void {
    const here = wanted.filter((each) => found[each.name] === undefined && isAt(each.path))
    if (here.length === 0) return
    const attributes = attributesOf(tag)
    for (const { name, attribute } of here) {
      const value = attributes[attribute]
      if (typeof value === 'string') found[name] = value.trim().slice(0, 200)
    }
  }
  return { found, read }
}

function wantedAt(paths: Readonly<Record<string, string>>) {
  return Object.entries(paths).map(([name, path]) => {
    const at = path.lastIndexOf('/')
    return { name, path: path.slice(0, at).split('/'), attribute: path.slice(at + 1) }
  })
}

/**
 * Values of elements around the records, such as the section that they are in. An attribute holds until its element closes; the text of
 * an element until the one with the records does. The first of several counts, and none of them if another one stands behind a record.
 * Values are cut at 200 characters. Elements to which records refer (`parts`) are kept whole, for as long.
 */
function valuesAround(
  paths: Readonly<Record<string, string>>,
  parts: NonNullable<XmlOptions['parts']>,
  records: readonly string[],
  attributesOf: (tag: Buffer) => RecordFields,
  nodeIn: (element: Buffer) => RecordFields,
): NonNullable<XmlSplitterOptions['around']> & { firsts: Readonly<Record<string, string>> } {
  const all = Object.entries(paths)
  const wanted = wantedAt(Object.fromEntries(all.filter(([, path]) => path.includes('@'))))
  const elementAt = (name: string, path: string, isPart: boolean) => {
    const scope = Math.min(...records.map((record) => commonSteps(path, record)))
    return { name, path: path.split('/'), scope, isPart }
  }
  const elements = [
    ...all.filter(([, path]) => !path.includes('@')).map(([name, path]) => elementAt(name, path, false)),
    ...Object.entries(parts).map(([name, { at }]) => elementAt(name, at, true)),
  ]
  /** All parts that are open. Records refer to this object, so it is replaced once an element has closed. */
  let open: Record<string, RecordFields[]> = {}
  let bytes = 0
  const found = new Map<string, { depth: number; value: string }>()
  let reading: typeof elements = []
  /** The JSON of the present values; null: they have changed since. */
  let written: string | null = '{}'
  /** The first value of each name in the document. */
  const firsts: Record<string, string> = Object.create(null)
  const valueOf = (text: string): string => text.trim().slice(0, 200).toWellFormed()
  const set = (name: string, depth: number, value: string): void => {
    found.set(name, { depth, value: valueOf(value) })
    if (Object.hasOwn(paths, name)) firsts[name] ??= valueOf(value)
    written = null
  }
  return {
    firsts,
    opens(isAt, tag, depth) {
      const here = wanted.filter(({ path }) => isAt(path))
      const attributes = here.length === 0 ? {} : attributesOf(tag)
      for (const { name, attribute } of here) {
        const value = attributes[attribute]
        if (typeof value === 'string') set(name, depth, value)
      }
      const asked = elements.filter(({ path }) => isAt(path))
      if (asked.length === 0) return null
      reading = asked
      return asked[0].scope
    },
    element(raw, isLate) {
      let node: RecordFields
      try {
        node = nodeIn(raw)
      } catch (error) {
        if (!(error instanceof RecordError)) throw error
        return `an element that is named under around or parts can't be read: ${error.message}`
      }
      const text = typeof node['#text'] === 'string' ? valueOf(node['#text']) : ''
      for (const { name, scope, isPart } of reading) {
        if (!isPart && (text === '' || text === found.get(name)?.value)) continue
        if (isLate) {
          // Nobody knows which of two holds for the records behind it.
          if (found.delete(name)) written = null
          return 'an element that is named under around or parts stands after a record that it is for; it must come before'
        }
        if (!isPart && !found.has(name)) set(name, scope, text)
        if (!isPart) continue
        bytes += raw.length
        if (bytes > mostPartBytes) return `the elements that are named under parts are more than ${mostPartBytes} bytes`
        // Not added to the object that earlier records hold.
        if (open[name] === undefined) open = { ...open, [name]: [node] }
        else open[name].push(node)
        // A hash of all of them counts as part of each record.
        set(`${name}:hash`, scope, shortHash(`${found.get(`${name}:hash`)?.value ?? ''}${shortHash(raw)}`))
      }
      return null
    },
    closes(depth) {
      for (const [name, value] of found) {
        if (value.depth <= depth) continue
        found.delete(name)
        const part = name.slice(0, -5)
        if (name.endsWith(':hash')) open = { ...open, [part]: [] }
        if (name.endsWith(':hash')) bytes = 0
        written = null
      }
    },
    parts: () => open,
    now() {
      written ??= JSON.stringify(Object.fromEntries([...found].map(([name, { value }]) => [name, value])))
      return written
    },
  }
}
