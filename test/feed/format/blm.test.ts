import { describe, expect, it } from 'vitest'
import { RecordError } from '../../../src/feed/format/format.ts'
import type { RecordFields } from '../../../src/feed/format/format.ts'
import { readingOf } from '../../support/reading.ts'

const head = "#HEADER#\nVERSION : 3\nEOF : '|'\nEOR : '~'\n\n#DEFINITION#\nAGENT_REF|PRICE|DESCRIPTION|~\n\n#DATA#\n"

async function read(document: string | Buffer, { step = 7, maxRecordBytes = 1000 } = {}) {
  const bytes = Buffer.from(document)
  async function* source() {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
  }
  const formatOptions = { requiredHeaders: ['AGENT_REF'] }
  const reading = readingOf({ format: 'blm', formatOptions }, source(), { maxRecordBytes })
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

describe('blm', () => {
  it('cuts by the separators that the header declares, over lines', async () => {
    const { found, reasons } = await read(`${head}A_1|1,000|one\r\n"two" ^|~\r\nA_2|2|#END of it|~\n#END#\n`)
    expect(found).toEqual([
      { AGENT_REF: 'A_1', PRICE: '1,000', DESCRIPTION: 'one\r\n"two" ^' },
      { AGENT_REF: 'A_2', PRICE: '2', DESCRIPTION: '#END of it' },
    ])
    expect(reasons).toEqual([])
  })

  it('takes other separators, without quotes, of several characters and beyond ASCII', async () => {
    const other = head.replace("'|'", '!#').replace("'~'", "'¬'").replaceAll('|', '!#').replaceAll('~', '¬')
    const { found } = await read(`${other}A_1!#1!#a|b~c!#¬\n#END#`)
    expect(found).toEqual([{ AGENT_REF: 'A_1', PRICE: '1', DESCRIPTION: 'a|b~c' }])
  })

  it('reads windows-1252 that nobody declares', async () => {
    const { found } = await read(Buffer.from(`${head}A_1|1|\xa3100|~\n#END#`, 'latin1'))
    expect(found).toEqual([{ AGENT_REF: 'A_1', PRICE: '1', DESCRIPTION: '£100' }])
  })

  it('says where a document was cut off', async () => {
    const cut = await read(`${head}A_1|1|x|~\nA_2|2|y`)
    expect(cut.found).toEqual([
      { AGENT_REF: 'A_1', PRICE: '1', DESCRIPTION: 'x' },
      'the document ends in the middle of this record',
    ])
    expect(cut.reasons).toEqual(['the document ends before #END#'])
    expect((await read(`${head}A_1|1|x|~\n#END#\r\n\u001a`)).reasons).toEqual([])
    expect((await read(`${head}A_1|1|x|~\n#END#\r\n${head}A_2|1|x|~\n#END#`)).reasons).toEqual([
      'there is text after #END#',
    ])
    expect((await read(`${head}A_1|1|x|~\n`)).reasons).toEqual(['the document ends before #END#'])
  })

  it('compares Property Count with what is there', async () => {
    const counted = head.replace('VERSION', 'Property Count : 2\nVERSION')
    expect((await read(`${counted}A_1|1|x|~\nA_2|1|x|~\n#END#`)).reasons).toEqual([])
    expect((await read(`${counted}A_1|1|x|~\n#END#`)).reasons).toEqual([
      'the header counts 2 properties, the document holds 1',
    ])
  })

  it('rejects records that a separator within a text has broken', async () => {
    const { found } = await read(`${head}A_1|1|fine ~ home|~\nA_2|1|a|b|c|~\nA | 3|1||~\nA_4|1|~\n#END#`)
    expect(found).toEqual([
      { AGENT_REF: 'A_1', PRICE: '1', DESCRIPTION: 'fine ' },
      'the record has 2 fields where the definition has 3',
      'the record has 5 fields where the definition has 3',
      // What is cut off at the end is blank, so only the number of fields tells that the rest is shifted.
      'the record has 4 fields where the definition has 3',
      { AGENT_REF: 'A_4', PRICE: '1', DESCRIPTION: '' },
    ])
  })

  it('stops at a record without end', async () => {
    const { found, reasons } = await read(`${head}A_1|1|${'x'.repeat(3000)}`, { step: 500_000 })
    expect(found).toEqual(['record 1 is longer than 1000 bytes (maxRecordBytes); the rest was not read'])
    expect(reasons).toEqual(found)
  })

  it('has a context that changes with the columns', async () => {
    const one = await read(`${head}A_1|1|x|~\n#END#`)
    const two = await read(`${head.replace('PRICE', 'RENT')}A_1|1|x|~\n#END#`)
    expect(one.context).not.toBe(two.context)
  })

  it.each([
    ['XML', '<?xml version="1.0"?><clients/>', 'is XML, not BLM'],
    ['a header without separators', head.replace("EOF : '|'", ''), 'does not declare'],
    ['other columns', head.replace('AGENT_REF', 'CLIENT'), 'none of the columns'],
    ['a definition without end', `#HEADER#\n${'x'.repeat(70_000)}`, 'no #HEADER#'],
  ])('refuses %s', async (_, document, message) => {
    await expect(read(document)).rejects.toThrow(message)
  })
})
