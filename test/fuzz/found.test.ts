/** What the broken feeds found, each as the shortest document that shows it. */
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { readingOf } from '../support/reading.ts'

/** What each record holds, or why it can't be read, and why the document may not be whole. */
async function read(format: string, document: Buffer): Promise<{ records: string[]; reasons: string[] }> {
  const formatOptions = { record: 'root/home', requiredHeaders: [] }
  const reading = readingOf({ format, formatOptions }, Readable.from([document]))
  const records: string[] = []
  for await (const batch of reading.records) {
    for (const record of batch) {
      try {
        records.push(JSON.stringify(reading.parse(record)))
      } catch (error) {
        records.push(String(error))
      }
    }
  }
  return { records, reasons: reading.end().reasons }
}

/** A part of an ASCII document in UTF-16, as a splice of two exports has it. */
const wide = (text: string): Buffer => Buffer.from(text, 'utf16le')

describe('XML', () => {
  test('seed 2918: records in another encoding between the others are no text: the document is not whole', async () => {
    const { records, reasons } = await read(
      'xml',
      Buffer.concat([
        Buffer.from('<root><home><id>1</id></home>'),
        wide('<home><id>2</id></home>'),
        Buffer.from('</root>'),
      ]),
    )
    expect(records).toEqual(['{"id":"1"}'])
    expect(reasons).toEqual(['there is text in another encoding between the records'])
  })

  test('seed 5107: two records that an end tag in another encoding made one are no record', async () => {
    const { records } = await read(
      'xml',
      Buffer.concat([
        Buffer.from('<root><home><id>1</id>'),
        wide('</home><home>'),
        Buffer.from('<id>2</id></home></root>'),
      ]),
    )
    expect(records).toEqual([expect.stringContaining('something follows the end of the record within it')])
  })

  test('seed 9956: a document within the document hides its records: it is not whole', async () => {
    const { reasons } = await read(
      'xml',
      Buffer.from('<root><home><id>1</id></home><?xml version="1.0"?><root><home><id>2</id></home></root></root>'),
    )
    expect(reasons).toEqual(['there is a second XML declaration within the document'])
  })

  test('seed 67520: a document within a record makes it no record', async () => {
    const { records } = await read(
      'xml',
      Buffer.from('<root><home><id>1</id><?xml version="1.0"?><root><home><id>2</id></home></root></home></root>'),
    )
    expect(records).toEqual([expect.stringContaining('there is a second XML declaration within it')])
  })
})

test('seed 702: a long run of line breaks in a BLM record costs what it is long', async () => {
  const run = '\r\n'.repeat(200_000)
  const began = process.cpuUsage()
  const { records } = await read(
    'blm',
    Buffer.from(`#HEADER#\nEOF : '^'\nEOR : '~'\n#DEFINITION#\nA^B^~\n#DATA#\n1${run}2^3^~\n#END#`),
  )
  expect(records).toHaveLength(1)
  // The careless expression took minutes.
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000)
})
