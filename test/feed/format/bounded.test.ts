import { expect, test } from 'vitest'
import { bounded } from '../../../src/feed/format/bounded.ts'
import { formats } from '../../../src/feed/format/formats.ts'
import type { RecordFields } from '../../../src/feed/format/format.ts'
import { messageOf } from '../../../src/core/errors.ts'

async function read(document: string, limits: { maxRecords: number; maxFields: number }, format = 'xml') {
  async function* bytes() {
    // In pieces, so that there are several batches.
    for (let at = 0; at < document.length; at += 50) yield Buffer.from(document.slice(at, at + 50))
  }
  const reading = bounded(formats[format], limits).read(bytes(), {
    record: 'L/R',
    quote: '"',
    requiredHeaders: [],
    encoding: null,
    charset: null,
    maxRecordBytes: 1_000_000,
    lengthProven: () => true,
  })
  const records: (RecordFields | string)[] = []
  for await (const batch of reading.records)
    for (const record of batch)
      try {
        records.push(reading.parse(record))
      } catch (error) {
        records.push(messageOf(error))
      }
  return { records, ...reading.end() }
}

const document = (...records: string[]): string => `<L>${records.join('')}</L>`

test('more records than maxRecords are not read', async () => {
  const ten = document(...Array.from({ length: 10 }, (_, i) => `<R><A>${i}</A><B>text of record ${i}</B></R>`))
  const limits = { maxRecords: 10, maxFields: 10 }
  const whole = await read(ten, limits)
  expect(whole).toMatchObject({ reasons: [] })
  expect(whole.records).toHaveLength(10)
  const cut = await read(ten, { ...limits, maxRecords: 9 })
  expect(cut.records).toEqual(whole.records.slice(0, 9))
  expect(cut.reasons).toEqual(['the document has more than 9 records (maxRecords); the rest was not read'])
})

test('a record of more elements and attributes than maxFields is broken, and those around it are not', async () => {
  const records = ['<R><A>1</A></R>', `<R x="1" >${'<A>1</A>'.repeat(7)}<B><C /></B></R>`, '<R><A>3</A></R>']
  const limits = { maxRecords: 10, maxFields: 10 }
  const { records: found, reasons } = await read(document(...records), limits)
  const why = 'the record has more than 10 elements and attributes (maxFields)'
  expect(found).toMatchObject([{ A: '1' }, why, { A: '3' }])
  expect(reasons).toEqual([])
  expect((await read(document(...records), { ...limits, maxFields: 11 })).records[1]).toMatchObject({ '@x': '1' })
})

test.each([
  ['of one name', ' x="1"'],
  ['without blanks', 'x="1"'],
  ['without a value', ' x'],
  ['without a name', ' ="1"x'],
  ['of no form', ' x=y=z'],
])('attributes %s count as the parser takes them, whatever it keeps', async (_, attribute) => {
  const many = `<R><A ${attribute.repeat(10)}/></R>`
  const limits = { maxRecords: 10, maxFields: 10 }
  const why = 'the record has more than 10 elements and attributes (maxFields)'
  expect((await read(document(many), limits)).records).toEqual([why])
  expect((await read(document(many), { ...limits, maxFields: 40 })).records).not.toEqual([why])
})

test('a row of more values than maxFields is broken, and those around it are not', async () => {
  const rows = 'a,b,c,d\n1,2,3\n1,2,3,4\n3,2,1\n'
  const { records, reasons } = await read(rows, { maxRecords: 10, maxFields: 3 }, 'csv')
  expect(records).toMatchObject([{ a: '1' }, 'the record has more than 3 values (maxFields)', { a: '3' }])
  expect(reasons).toEqual([])
})

test('an object of more values than maxFields is broken, however deep they are, and those around it are not', async () => {
  const objects = ['{"a":"1"}', '{"a":[{"b":"1","c":["2","3"]},"4"]}', '{"a":"3"}'].join('\n')
  const limits = { maxRecords: 10, maxFields: 3 }
  const { records, reasons } = await read(objects, limits, 'ndjson')
  expect(records).toMatchObject([{ a: '1' }, 'the record has more than 3 values (maxFields)', { a: '3' }])
  expect(reasons).toEqual([])
  expect((await read(objects, { ...limits, maxFields: 4 }, 'ndjson')).records[1]).toMatchObject({
    a: expect.anything(),
  })
})

test('a row of more quotes than maxFields values can have is broken before it is parsed', async () => {
  const row = (quotes: number): string => `a,b\n1,"${'""'.repeat(quotes / 2 - 1)}"\n`
  const limits = { maxRecords: 10, maxFields: 3 }
  expect((await read(row(12), limits, 'csv')).records).toMatchObject([{ a: '1' }])
  const why = 'the row has more than 12 quotes, four for each value (maxFields)'
  expect((await read(row(14), limits, 'csv')).records).toEqual([why])
})
