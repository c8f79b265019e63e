import { describe, expect, it } from 'vitest'
import { RecordError } from '../../../src/feed/format/format.ts'
import type { RecordFields } from '../../../src/feed/format/format.ts'
import { readingOf } from '../../support/reading.ts'

async function read(document: string | Buffer, { step = 7, maxRecordBytes = 1000 } = {}) {
  const bytes = Buffer.from(document)
  async function* source() {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
  }
  const formatOptions = { requiredHeaders: [] }
  const reading = readingOf({ format: 'rets-compact', formatOptions }, source(), { maxRecordBytes })
  const found: (RecordFields | string)[] = []
  let context = ''
  for await (const batch of reading.records) {
    context = reading.context()
    for (const record of batch) {
      try {
        found.push({ ...reading.parse(record) })
      } catch (error) {
        if (!(error instanceof RecordError)) throw error
        found.push(error.message)
      }
    }
  }
  return { found, context, reasons: reading.end().reasons }
}

const answer = (inside: string, root = 'ReplyCode="0" ReplyText="Success"') => `<RETS ${root}>\n${inside}\n</RETS>\n`
const columns = '<COLUMNS>\tID\tPrice\tRemarks\t</COLUMNS>'

describe('rets-compact', () => {
  it('reads rows that begin and end with the delimiter, or lack either', async () => {
    const { found, reasons } = await read(
      answer(
        `<COUNT Records="5"/><DELIMITER value = "09"/>${columns}
        <DATA>\t1\t100\tfull\t</DATA><DATA>2\t200\tnone</DATA><DATA>\t3\t300\tleading</DATA>
        <DATA>4\t400\ttrailing\t</DATA><DATA>\t5\t\t\t</DATA>`,
      ),
    )
    expect(found).toEqual([
      { ID: '1', Price: '100', Remarks: 'full' },
      { ID: '2', Price: '200', Remarks: 'none' },
      { ID: '3', Price: '300', Remarks: 'leading' },
      { ID: '4', Price: '400', Remarks: 'trailing' },
      { ID: '5', Price: '', Remarks: '' },
    ])
    expect(reasons).toEqual([])
  })

  it('takes the delimiter that is declared and tab where none is; decodes cells after they are parted', async () => {
    const other = `<DELIMITER value="7C"/><COLUMNS>|ID|Remarks|</COLUMNS><DATA>|1|a &amp; b&#124;c&#x9;&quot;d&quot;|</DATA>`
    expect((await read(answer(other))).found).toEqual([{ ID: '1', Remarks: 'a & b|c\t"d"' }])
    expect((await read(answer(`${columns}<DATA>\t1\t2\t&lt;b&gt;\t</DATA>`))).found).toEqual([
      { ID: '1', Price: '2', Remarks: '<b>' },
    ])
  })

  it('rejects a row with other cells than COLUMNS, not the rows beside it', async () => {
    const { found } = await read(
      answer(`${columns}<DATA>\t1\t2\t</DATA><DATA>\t2\ta\tb\tc\td\t</DATA><DATA>\t3\t3\tx\t</DATA>`),
    )
    expect(found).toEqual([
      'the row has 2 cells where COLUMNS has 3',
      'the row has 5 cells where COLUMNS has 3',
      { ID: '3', Price: '3', Remarks: 'x' },
    ])
  })

  it.each([
    ['a count that does not fit', '<COUNT Records="40"/>', '', 'the server counts 40 records, the document holds 1'],
    ['MAXROWS', '', '<MAXROWS/>', 'the server stopped at its row limit (MAXROWS): the other rows are on further pages'],
    [
      'a status at the end',
      '',
      '<RETS-STATUS ReplyCode="20208" ReplyText="Maximum Records Exceeded"/>',
      'the server answered with ReplyCode 20208: Maximum Records Exceeded',
    ],
  ])('takes %s for an answer that is not whole', async (_, before, after, reason) => {
    const { found, reasons } = await read(answer(`${before}${columns}<DATA>\t1\t2\tx\t</DATA>${after}`))
    expect(found).toHaveLength(1)
    expect(reasons).toEqual([reason])
  })

  it('says where the document was cut off', async () => {
    const { found, reasons } = await read(`<RETS ReplyCode="0">${columns}<DATA>\t1\t2\tx\t</DATA>\n<DATA>\t2\t`)
    expect(found).toEqual([{ ID: '1', Price: '2', Remarks: 'x' }, 'the document ends in the middle of this row'])
    expect(reasons).toEqual(['the document ends before </RETS>'])
  })

  it('skips a row that is too long and goes on behind it', async () => {
    const long = `<DATA>\t2\t${'x'.repeat(900_000)}\ty\t</DATA>`
    const { found, reasons } = await read(
      answer(`<COUNT Records="3"/>${columns}\n<DATA>\t1\t2\tx\t</DATA>\n${long}\n<DATA>\t3\t4\tz\t</DATA>`),
      { step: 100_003 },
    )
    expect(found).toEqual([
      { ID: '1', Price: '2', Remarks: 'x' },
      'the row is longer than 1000 bytes (maxRecordBytes)',
      { ID: '3', Price: '4', Remarks: 'z' },
    ])
    expect(reasons).toEqual([])
  })

  it('takes pages that follow one another, and refuses other columns among them', async () => {
    const page = (id: number) => answer(`<COUNT Records="2"/>${columns}<DATA>\t${id}\t2\tx\t</DATA>`)
    const { found, reasons } = await read(page(1) + page(2))
    expect(found).toHaveLength(2)
    expect(reasons).toEqual([])
    await expect(read(page(1) + page(2).replace('Price', 'Rent'))).rejects.toThrow('COLUMNS twice')
  })

  it('has a context that changes with the columns', async () => {
    const row = '<DATA>\t1\t2\tx\t</DATA>'
    const one = await read(answer(columns + row))
    const two = await read(answer(columns.replace('Price', 'Rent') + row))
    expect(one.context).not.toBe(two.context)
  })

  it('takes "no records found" for an empty answer', async () => {
    const { found, reasons } = await read('<RETS ReplyCode="20201" ReplyText="No Records Found."/>')
    expect(found).toEqual([])
    expect(reasons).toEqual(['the server answered with ReplyCode 20201: No Records Found.'])
  })

  it('keeps names that would touch a prototype out of the record', async () => {
    const { found } = await read(answer('<COLUMNS>\tID\t__proto__\t</COLUMNS><DATA>\t1\tx\t</DATA>'))
    expect(found).toEqual([{ ID: '1' }])
  })

  it.each([
    [
      'a refusal',
      '<?xml version="1.0"?><RETS ReplyCode="20514" ReplyText="Unknown DTD"/>',
      'ReplyCode 20514: Unknown DTD',
    ],
    ['another document', '<Listings><Listing/></Listings>', 'first element is "Listings"'],
    ['an HTML page', '<!DOCTYPE html><html><body>Log in</body></html>', 'HTML page'],
    ['STANDARD-XML', answer('<REData><REProperties/></REData>'), 'no COLUMNS'],
    ['metadata', answer('<METADATA-TABLE Resource="Property"><COLUMNS>\tA\t</COLUMNS></METADATA-TABLE>'), 'metadata'],
    ['a delimiter that is none', answer(`<DELIMITER value="zz"/>${columns}`), 'DELIMITER "zz"'],
  ])('refuses %s', async (_, document, message) => {
    await expect(read(document)).rejects.toThrow(message)
  })
})
