import { z } from 'zod'
import { decoded } from './encoding.ts'
import { RecordError, refuseBroken } from './format.ts'
import type { Format, RawRecord, ReadOptions, Reading, RecordFields } from './format.ts'
import { xmlShape } from './xml-shape.ts'
import { XmlSplitter } from './xml-splitter.ts'

const attribute = z
  .string()
  .regex(/^[^/@]+(?:\/[^/@]+)*\/@[^/@]+$/, 'a path from the root such as openimmo/uebertragung/@umfang')

const options = z
  .object({
    record: z
      .string({ error: ({ input }) => (input === undefined ? 'an XML preset needs it' : undefined) })
      .min(1)
      .describe('Path of the record element from the root, such as Listings/Listing.'),
    counter: z
      .string()
      .regex(/^@[^\s=/]+$/, "an attribute of the root, such as '@listing_count'")
      .optional()
      .describe(
        'Attribute of the root that says how many records there are; any other number makes the delivery incomplete.',
      ),
    header: z
      .record(
        z
          .string()
          .regex(
            /^(?!name$)[a-zA-Z][a-zA-Z0-9]*$/,
            'a name of letters and digits, and not "name", which is the record\'s own',
          ),
        attribute,
      )
      .optional()
      .describe('Attributes before the first record, name → path from the root; a record has them as @@name.'),
    written: attribute
      .optional()
      .describe('The attribute before the first record that says when the file was written.'),
  })
  .superRefine(({ record, header = {}, written = '' }, context) => {
    const check = (path: string[], attribute: string): void => {
      if (!mayComeAgain(attribute, record)) return
      const message = `${attribute} belongs to an element that contains records and may repeat with another value`
      context.addIssue({ code: 'custom', path, message })
    }
    for (const [name, path] of Object.entries(header)) check(['header', name], path)
    check(['written'], written)
  })
type XmlOptions = z.output<typeof options>

/** Whether the element may repeat, being around the records but not the root: only its first attribute would be read. */
function mayComeAgain(path: string, record: string): boolean {
  const element = path.slice(0, path.lastIndexOf('/'))
  return element.includes('/') && record.startsWith(`${element}/`)
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
  const header = attributesBefore(options.header ?? {}, attributesOf)
  const written = attributesBefore(options.written === undefined ? {} : { written: options.written }, attributesOf)
  const splitter = new XmlSplitter(options.record, options.maxRecordBytes, {
    counter: options.counter,
    beforeRecords(isAt, tag) {
      header.read(isAt, tag)
      written.read(isAt, tag)
    },
  })
  const severalNames = options.record.split('/').at(-1)?.includes('|') ?? false
  async function* records(): AsyncGenerator<RawRecord[]> {
    parseRecord = (await import('./xml-record.ts')).parseXmlRecord
    for await (const block of source.blocks(undefined, () => splitter.waiting)) {
      const batch = splitter.push(block)
      if (batch.length > 0) yield batch
    }
    const last = splitter.end()
    if (last.length > 0) yield last
  }
  return {
    records: records(),
    context: () => (Object.keys(header.found).length === 0 ? '' : JSON.stringify(header.found)),
    header: () => header.found,
    written: () => written.found['written'] ?? null,
    end: () => ({ reasons: splitter.reasons }),
    parse(record) {
      refuseBroken(record)
      const text = source.text(record.raw)
      const fields = parseRecord(text, maxFields)
      if (severalNames) fields['@@name'] = /^<(?:[^\s:/>]*:)?([^\s/>]+)/.exec(text)?.[1] ?? ''
      for (const name of Object.keys(header.found)) fields[`@@${name}`] = header.found[name]
      return fields
    },
  }
}

/**
 * Attributes before the first record that determine what the records mean, such as OpenImmo's `umfang`. `paths`:
 * name → path from the root, `openimmo/uebertragung/@umfang`. The first one found counts; values are cut at 200 characters.
 */
function attributesBefore(paths: Readonly<Record<string, string>>, attributesOf: (tag: Buffer) => RecordFields) {
  const wanted = Object.entries(paths).map(([name, path]) => {
    const at = path.lastIndexOf('/')
    return { name, path: path.slice(0, at).split('/'), attribute: path.slice(at + 1) }
  })
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
