/** Whatever a document is made of, no reader keeps more of it than a record may have. */
import { expect, test } from 'vitest'
import { FeedError } from '../../../src/core/errors.ts'
import { CsvSplitter } from '../../../src/feed/format/csv-splitter.ts'
import { formats } from '../../../src/feed/format/formats.ts'
import { JsonSplitter } from '../../../src/feed/format/json-splitter.ts'
import { RetsSplitter } from '../../../src/feed/format/rets-splitter.ts'
import { XmlSplitter } from '../../../src/feed/format/xml-splitter.ts'
import { readingOf } from '../../support/reading.ts'

const maxRecordBytes = 64 * 1024
const block = 16 * 1024

interface Splitter {
  push(block: Buffer): unknown
  readonly waiting: number
}

const xml = (): Splitter => new XmlSplitter(['L/R'], maxRecordBytes)
const json = (): Splitter => new JsonSplitter(['value'], { maxRecordBytes, member: () => undefined })
const root = (): Splitter => new JsonSplitter(['.'], { maxRecordBytes, member: () => undefined })
const rets = (): Splitter => new RetsSplitter(maxRecordBytes)
const csv = (): Splitter => new CsvSplitter({ delimiter: ',', quote: '"', lineEnd: '\n' }, maxRecordBytes)

/** A beginning, and what goes on without an end. */
const endless: [string, () => Splitter, string, string][] = [
  ['an XML record', xml, '<L><R>', '<a>1</a>'],
  ['an XML record of text', xml, '<L><R>', 'x'],
  ['an XML tag', xml, '<L><R><a>1</a></R>', '<a b="'],
  ['an XML tag of one name', xml, '<L><', 'a'],
  ['an XML comment', xml, '<L><!--', ' x'],
  ['text between XML records', xml, '<L>', 'x'],
  ['a DOCTYPE', xml, '<!DOCTYPE L', ' x'],
  ['a JSON record', json, '{"value":[{"a":"', 'x'],
  ['a JSON record of brackets', json, '{"value":[{"a":', '['],
  ['a JSON text between records', json, '{"value":[],"b":"', 'x'],
  ['a JSON number between records', json, '{"value":[],"b":', '1'],
  ['a JSON document that is a record', root, '{"a":1,"b":[', '1,'],
  ['a row of RETS', rets, '<RETS ReplyCode="0"><COLUMNS>\tA\t</COLUMNS><DATA>', '\t1'],
  ['the columns of RETS', rets, '<RETS ReplyCode="0"><COLUMNS>', '\tA'],
  ['a row of CSV', csv, 'A,B\n', '1,'],
  ['a quoted cell of CSV', csv, 'A,B\n"', 'x\n'],
]

test.each(endless)('%s without an end is not kept', (_, create, beginning, piece) => {
  const splitter = create()
  const more = Buffer.from(piece.repeat(block / piece.length))
  let most = 0
  const push = (bytes: Buffer): void => {
    splitter.push(bytes)
    most = Math.max(most, splitter.waiting)
  }
  try {
    push(Buffer.from(beginning))
    for (let blocks = 0; blocks < 64; blocks++) push(more)
  } catch (error) {
    expect(error).toBeInstanceOf(FeedError)
  }
  expect(most).toBeLessThan(maxRecordBytes + 2 * block)
})

const blmHead = "#HEADER#\nVERSION : 3\nEOF : '^'\nEOR : '~'\n#DEFINITION#\nA^B^~\n#DATA#\n"

test.each([
  ['blm', '', 'x'],
  ['blm', blmHead, 'x'],
  ['blm', '#HEADER#\n', 'VERSION : 3\n'],
  ['csv', '', 'x'],
  ['ndjson', '', 'x'],
])('%s that begins with %j and goes on for ever: the reading ends', async (name, beginning, piece) => {
  let blocks = 0
  async function* bytes() {
    yield Buffer.from(beginning)
    const more = Buffer.from(piece.repeat(block / piece.length))
    for (; blocks < 2000; blocks++) yield more
  }
  const usual = { encoding: null, charset: null, quote: '"', requiredHeaders: [], lengthProven: () => true }
  try {
    const { records } = formats[name].read(bytes(), { ...usual, maxRecordBytes, record: 'L/R' })
    for await (const _ of records) void _
  } catch (error) {
    expect(error).toBeInstanceOf(FeedError)
  }
  expect(blocks).toBeLessThan(200)
})

test('a source that reads into two blocks in turn is read as it is', async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `${i},Home ${i * 7919}`)
  const document = Buffer.from(`Id,Name\n${rows.join('\n')}\n`)
  async function* inTurn(): AsyncGenerator<Buffer> {
    const blocks = [Buffer.alloc(block), Buffer.alloc(block)]
    for (let from = 0; from < document.length; from += block) {
      const next = blocks.shift()!
      blocks.push(next)
      yield next.subarray(0, document.copy(next, 0, from))
    }
  }
  const read: string[] = []
  const formatOptions = { requiredHeaders: [] }
  for await (const records of readingOf({ format: 'csv', formatOptions }, inTurn()).records)
    for (const { raw } of records) read.push(raw.toString())
  expect(read).toHaveLength(rows.length)
  expect(rows.find((row, i) => row !== read[i])).toBeUndefined()
})
