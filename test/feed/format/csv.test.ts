import { describe, expect, test } from 'vitest'
import { CsvSplitter } from '../../../src/feed/format/csv-splitter.ts'
import { csv } from '../../../src/feed/format/csv.ts'
import { inChunks, mutated, randomFrom, read } from '../../contract/format.ts'

async function splitRows(text: string, size: number, longest = 1000) {
  const splitter = new CsvSplitter({ delimiter: '!#', quote: '"', lineEnd: '\n' }, longest)
  const rows: string[] = []
  for await (const chunk of inChunks(Buffer.from(text), size)) {
    for (const row of splitter.push(chunk)) rows.push(`${row.number}: ${row.raw.toString()}`)
  }
  const last = splitter.end()
  return { rows, last: last && `${last.number}: ${last.raw.toString()} ${last.open}`, lostAt: splitter.lostAt }
}

describe('rows', () => {
  test('are cut alike in every window, whatever is damaged', async () => {
    const text = `a!#b!#"c"\n"1!#\n""x"" "!#2 "!#"3" \r\n\n!#!#\nplain!#"open" x"!#4\n"5"!#"6`
    const random = randomFrom(99)
    for (let round = 0; round < 1500; round++) {
      const bytes = round === 0 ? Buffer.from(text) : mutated(Buffer.from(text), random)
      const whole = await splitRows(bytes.toString('latin1'), 10_000)
      if (round === 0) {
        expect(whole.rows).toEqual(['1: a!#b!#"c"', '2: "1!#\n""x"" "!#2 "!#"3" ', '5: plain!#"open" x"!#4'])
        expect(whole.last).toBe('6: "5"!#"6 true')
      }
      for (const size of [1, 2, 3, 7, 1 + Math.floor(random() * 30)]) {
        expect(await splitRows(bytes.toString('latin1'), size), `round ${round}, windows of ${size}`).toEqual(whole)
      }
    }
  })

  test.each([
    ['tabs', 'a\tb\tc\n1\t2,5\t3\n', undefined],
    ['semicolons', 'a;b;c\n"1;1";2,5;3\n', undefined],
    ['pipes', 'a|b|c\n1|2,5|3\n', undefined],
    ['a configured delimiter', 'a!#b!#c\n1!#2,5!#3\n', '!#'],
    ['old Mac line ends', 'a;b;c\r1;2,5;3\r', undefined],
  ])('%s', async (_, text, delimiter) => {
    const { records, reasons } = await read(csv, text, { delimiter })
    expect(records).toEqual([expect.objectContaining({ b: '2,5', c: '3' })])
    expect(reasons).toEqual([])
  })

  test('tabs between quoted cells, one with line breaks', async () => {
    const { records, reasons } = await read(csv, 'a\tb\tc\n"1"\t"2\n""x"""\t3\n4\t"5" \t6\n', {})
    expect(records).toEqual([
      { a: '1', b: '2\n"x"', c: '3' },
      { a: '4', b: '5', c: '6' },
    ])
    expect(reasons).toEqual([])
  })

  test('a file without quotes keeps them as text', async () => {
    expect((await read(csv, 'a,b\n"1,2\n', { quote: '' })).records).toEqual([{ a: '"1', b: '2' }])
  })

  test('stray quotes in a file without quotes are text', async () => {
    const rows =
      'id|remarks|city\n1|"Dream" home, 12" deck|Springfield\n2|a "b" c|Shelbyville\n3|"Cosy" and "quiet"|Ogdenville\n'
    const remarks = ['"Dream" home, 12" deck', 'a "b" c', '"Cosy" and "quiet"']
    const { records, reasons } = await read(csv, rows, {})
    expect(records).toMatchObject(remarks.map((text) => ({ remarks: text })))
    expect(reasons).toEqual([])
    expect((await read(csv, rows, { quote: '"' })).records).not.toMatchObject([{}, {}, {}])
    const quoted = 'id|remarks\n1|"a\nb|c"\n2|"d|e"\n3|"Dream" home\n'
    expect((await read(csv, quoted, {})).records.slice(0, 2)).toMatchObject([{ remarks: 'a\nb|c' }, { remarks: 'd|e' }])
  })

  test('have a context that changes with the names of the columns', async () => {
    const contextOf = async (text: string): Promise<string> => {
      const options = { quote: '"', maxRecordBytes: 1000, lengthProven: () => true, requiredHeaders: [] }
      const reading = csv.read(inChunks(Buffer.from(text), 100), options as never)
      for await (const _ of reading.records);
      return reading.context()
    }
    expect(await contextOf('a,b\n1,2\n')).toBe(await contextOf('a,b\n3,4\n'))
    expect(await contextOf('a,b\n1,2\n')).not.toBe(await contextOf('b,a\n1,2\n'))
  })

  test('short rows lack their last cells; one cell, or cells beyond the header, break the row', async () => {
    const { records, places } = await read(csv, 'a,b,c\n1,2\n1,2,3,,\n1,2,3,4\nalone\n1,2,3\n', {})
    expect(records).toEqual([
      { a: '1', b: '2' },
      { a: '1', b: '2', c: '3' },
      'the row has 4 cells where the header has 3',
      'the row has one cell where the header has 3',
      { a: '1', b: '2', c: '3' },
    ])
    expect(places).toEqual(['row 2', 'row 3', 'row 4', 'row 5', 'row 6'])
  })

  test('notices around the records, a header once more and rows of nothing are no records', async () => {
    const { records, places } = await read(csv, 'a,b\nA notice\n1,2\na,b\n,\n \n3,4\n"2 rows, all told"\n', {})
    expect(records).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ])
    expect(places).toEqual(['row 3', 'row 7'])
  })

  test('a file of one column has one-cell rows', async () => {
    expect((await read(csv, 'a\n1\n2\n', {})).records).toEqual([{ a: '1' }, { a: '2' }])
  })

  test('quotes that do not fit break their row', async () => {
    const { records } = await read(csv, 'a,b\n"1"x",2\n3,4\n', {})
    expect(records).toEqual(['a quoted cell is not closed where it should be', { a: '3', b: '4' }])
  })
})

describe('headers', () => {
  test('that are there twice, or unnamed, or unsafe', async () => {
    const text = 'id,p,,p,p,__proto__,constructor,n,n\n1,x,u,x,y,bad,bad,,z\n'
    const { records } = await read(csv, text, {})
    expect(records).toEqual([{ id: '1', p: 'x', p_2: 'y', n: 'z' }])
    expect(Object.getPrototypeOf(records[0])).toBe(null)
    expect({}).not.toHaveProperty('bad')
  })

  test('that nobody reads are left out, but for those of a table in which a name comes twice', async () => {
    const reads = (name: string): boolean => name === 'b' || name === 'd'
    const { records } = await read(csv, 'a,b,c,d\n1,2,3,4\n1,2\n1,2,3,4,5\n', { reads })
    expect(records).toEqual([{ b: '2', d: '4' }, { b: '2' }, 'the row has 5 cells where the header has 4'])
    expect((await read(csv, 'a,a,b\n1,2,3\n', { reads })).records).toEqual([{ a: '1', a_2: '2', b: '3' }])
  })

  test('that nobody reads count as values of a row', async () => {
    const { records } = await read(csv, 'a,b,c,\n1,2\n1,2,3\n', { reads: (name) => name === 'a', maxFields: 2 })
    expect(records).toEqual([{ a: '1' }, 'the record has more than 2 values (maxFields)'])
  })

  test('of another table are refused by name', async () => {
    await expect(read(csv, 'Region,Median\n1,2\n', { requiredHeaders: ['MLS#'] })).rejects.toThrow(
      'the header row has none of the columns "MLS#"; it has "Region", "Median"',
    )
  })
})

describe('columns by position', () => {
  const options = { delimiter: '!#', columns: 3 }

  test('the first row is a record, and each row is told by its cells', async () => {
    const { records, places } = await read(csv, '1!#2!#3\n1!#2!#3\n\n4!#5\n"6"!#"7\n8"!#"9"!#"10"\n', options)
    expect(records).toEqual([
      { 1: '1', 2: '2', 3: '3' },
      { 1: '1', 2: '2', 3: '3' },
      'the row has 2 cells, at least 3 are expected',
      { 1: '6', 2: '7\n8', 3: '9', 4: '10' },
    ])
    expect(places).toEqual(['row 1', 'row 2', 'row 4', 'row 5'])
  })

  test('another table is refused', async () => {
    await expect(read(csv, 'Region,Median\n1,2\n', options)).rejects.toThrow('the first row has 1 cell, at least 3')
    expect((await read(csv, '1!#2', options)).reasons[0]).toMatch('the document ends in its first row')
  })

  test('a quote that is never closed still breaks its row', async () => {
    const { records, reasons } = await read(csv, '1!#2!#3\n"4!#5!#6\n', options)
    expect(records[1]).toMatch('a quote in it is never closed')
    expect(reasons).toHaveLength(1)
  })
})

describe('the end', () => {
  const whole = {
    records: [
      { a: '1', b: '2' },
      { a: '3', b: '45' },
    ],
    reasons: [],
  }

  test('a last row without line break counts only where the length is proven', async () => {
    expect(await read(csv, 'a,b\n1,2\n3,45', { lengthProven: () => true })).toMatchObject(whole)
    const cut = await read(csv, 'a,b\n1,2\n3,45', {})
    expect(cut.records).toEqual([
      { a: '1', b: '2' },
      expect.stringMatching(/^the document ends in row 3: no line break/),
    ])
    expect(cut.reasons).toEqual([expect.stringMatching(/^the document ends in row 3: no line break/)])
  })

  test('a quote never closed is told, and does not swallow the file', async () => {
    const { records, reasons } = await read(csv, 'a,b\n1,2\n3,"4\n5,6\n', { lengthProven: () => true })
    expect(records).toEqual([{ a: '1', b: '2' }, expect.stringMatching(/a quote in it is never closed/)])
    expect(reasons).toEqual(['the document ends in row 3: a quote in it is never closed'])
    const long = await read(csv, `a,b\n1,2\n3,"4\n${'5,6\n'.repeat(500)}`, { maxRecordBytes: 300 }, 10)
    expect(long.records).toHaveLength(2)
    expect(long.reasons).toEqual([
      expect.stringMatching(/^row 3 is longer than 300 bytes \(maxRecordBytes\).*the rest .* was not read$/),
    ])
  })

  test('within the header is no record', async () => {
    expect(await read(csv, 'a,b', {})).toEqual({
      records: [],
      places: [],
      reasons: [
        'the document ends in its header row: no line break shows that it is whole (if the sender never writes one: endsWithLineBreak: false)',
      ],
    })
  })
})
