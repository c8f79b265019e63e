import { FeedError } from '../../errors.ts'
import { RecordError } from '../feed.ts'
import type { Format, RawRecord } from '../feed.ts'
import { blocks } from './blocks.ts'
import { problemOf } from './broken.ts'
import { decoded } from './encoding.ts'
import { parseXmlRecord } from './xml-record.ts'
import { XmlHeader } from './xml-header.ts'
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
