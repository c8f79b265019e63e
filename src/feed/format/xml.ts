import { FeedError } from '../../core/errors.ts'
import { decoded } from './encoding.ts'
import { RecordError } from './format.ts'
import type { Format, RawRecord } from './format.ts'
import { blocks, problemOf } from './raw.ts'
import { parseXmlRecord } from './xml-record.ts'
import { XmlSplitter } from './xml-splitter.ts'

/**
 * XML documents. `options.record` is the record element's path from the root, `Listings/Listing`; a name without a prefix
 * matches any prefix, and `a|b` either of two: the record then has its element's name as `@@name`. Throws `FeedError`
 * where the path is missing.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
export const xml: Format = (bytes, options) => {
  if (options.record === null) throw new FeedError('an XML feed needs the path of its record element (record: …)')
  const source = decoded(bytes, options)
  const header = new XmlHeader(options.header ?? {}, (raw) => source.text(raw))
  const written = new XmlHeader(options.written === undefined ? {} : { written: options.written }, (raw) =>
    source.text(raw),
  )
  const splitter = new XmlSplitter(options.record, options.maxRecordBytes, {
    counter: options.counter,
    beforeRecords(path, tag) {
      header.read(path, tag)
      written.read(path, tag)
    },
  })
  const severalNames = options.record.split('/').at(-1)?.includes('|') ?? false
  async function* records(): AsyncGenerator<RawRecord[]> {
    for await (const block of blocks(source.bytes)) {
      const batch = splitter.push(block)
      if (batch.length > 0) yield batch
    }
    const last = splitter.end()
    if (last.length > 0) yield last
  }
  return {
    records: records(),
    context: () => (header.isEmpty ? '' : JSON.stringify(header.found)),
    header: () => header.found,
    written: () => written.found['written'] ?? null,
    end: () => ({ reasons: splitter.reasons }),
    parse(record) {
      const problem = problemOf(record)
      if (problem !== null) throw new RecordError(problem)
      const text = source.text(record.raw)
      const fields = parseXmlRecord(text)
      if (severalNames) fields['@@name'] = /^<(?:[^\s:/>]*:)?([^\s/>]+)/.exec(text)?.[1] ?? ''
      for (const name of Object.keys(header.found)) fields[`@@${name}`] = header.found[name]
      return fields
    },
  }
}

/**
 * Attributes that a document has before its records and that decide what these mean (`FormatOptions.header`), such as
 * OpenImmo's `umfang`. The first one found counts; values are cut at 200 characters.
 */
export class XmlHeader {
  /** Name → value as found; a name that the document does not have is not here. */
  readonly found: Record<string, string> = Object.create(null)
  private readonly wanted: { name: string; path: string; attribute: string }[]
  private readonly text: (raw: Buffer) => string

  /** `paths`: name → path of the attribute from the root, `openimmo/uebertragung/@umfang`. */
  constructor(paths: Readonly<Record<string, string>>, text: (raw: Buffer) => string) {
    this.text = text
    this.wanted = Object.entries(paths).map(([name, path]) => {
      const at = path.lastIndexOf('/')
      return { name, path: path.slice(0, at), attribute: path.slice(at + 1) }
    })
  }

  get isEmpty(): boolean {
    for (const _ in this.found) return false
    return true
  }

  /** Takes a start tag before the first record; `path` is the element's, from the root and without prefixes. */
  readonly read = (path: string, tag: Buffer): void => {
    const wanted = this.wanted.filter((one) => one.path === path && this.found[one.name] === undefined)
    if (wanted.length === 0) return
    const attributes = this.attributesOf(tag)
    for (const { name, attribute } of wanted) {
      const value = attributes[attribute]
      if (typeof value === 'string') this.found[name] = value.trim().slice(0, 200)
    }
  }

  private attributesOf(tag: Buffer) {
    try {
      return parseXmlRecord(this.text(tag).replace(/\/?>$/, '/>'))
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      // What the header can't say, as when its encoding is another than declared, the preset's own word decides.
      return {}
    }
  }
}
