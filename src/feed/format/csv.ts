import Papa from 'papaparse'
import { FeedError } from '../../errors.ts'
import { RecordError } from '../feed.ts'
import type { Format, RawRecord } from '../feed.ts'
import { blocks } from './blocks.ts'
import { brokenRecord, problemOf } from './broken.ts'
import { dialectOf } from './csv-dialect.ts'
import type { Dialect } from './csv-dialect.ts'
import { CsvHeader } from './csv-header.ts'
import { CsvSplitter } from './csv-splitter.ts'
import type { Row } from './csv-splitter.ts'
import { decoded } from './encoding.ts'
import { looksLikeHtml } from './foreign.ts'

/** Bytes looked at to find the dialect (dependencies, papaparse: the first chunk alone misleads). */
const sampleBytes = 128 * 1024

/**
 * Delimited text with a header row. Rows are cut on bytes; papaparse sees only those that are parsed.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
export const csv: Format = (bytes, options) => {
  const source = decoded(bytes, options)
  const reasons: string[] = []
  let parse: (raw: Buffer) => string[] = () => []
  let header: CsvHeader | null = null

  async function* records(): AsyncGenerator<RawRecord[]> {
    let splitter: CsvSplitter | null = null
    let headerRow: Buffer | null = null
    let dialect: Dialect | null = null
    /** The last row so far: whether it is a record or a closing notice shows when it is known to be the last. */
    let held: Row | null = null
    let begun = false

    const records = (rows: Row[]): RawRecord[] => {
      const batch: RawRecord[] = []
      for (const row of rows) {
        if (headerRow === null) {
          headerRow = Buffer.from(row.raw)
          header = new CsvHeader(parse(row.raw), options.requiredHeaders)
        } else if (row.raw.equals(headerRow) || (!begun && isNotice(row))) continue
        else {
          begun = true
          if (held) batch.push(recordOf(held))
          held = row
        }
      }
      return batch
    }
    /** A row of one cell before the first record or after the last is a remark (Redfin's row 2), not a record. */
    const isNotice = (row: Row): boolean => header !== null && header.size > 1 && cellsOf(parse, row.raw) === 1
    const recordOf = (row: Row): RawRecord =>
      row.raw.length > options.maxRecordBytes
        ? brokenRecord(`row ${row.number}`, `the row is longer than ${options.maxRecordBytes} bytes`)
        : { at: `row ${row.number}`, raw: row.raw }

    for await (const block of blocks(source.bytes, sampleBytes)) {
      if (!splitter) {
        refuseOthers(block)
        dialect = dialectOf(block.subarray(0, sampleBytes), options.delimiter, options.quote)
        splitter = new CsvSplitter(dialect, options.maxRecordBytes)
        parse = rowParser(dialect, (raw) => source.text(raw))
      }
      const batch = records(splitter.push(block))
      // A held row outlives its batch, and so must not be a view on a block.
      if (held) held = { number: held.number, raw: Buffer.from(held.raw) }
      if (batch.length > 0) yield batch
      if (splitter.lostAt !== null) break
    }
    if (!splitter) {
      reasons.push('the document is empty')
      return
    }
    const last = splitter.end()
    const lastWhole = last !== null && !last.open && options.lengthProven()
    const batch = lastWhole ? records([last.row]) : []
    if (held && !(isNotice(held) && (last === null || lastWhole))) batch.push(recordOf(held))
    if (last && !lastWhole && headerRow === null) reasons.push('the document ends in its header row')
    else if (last && !lastWhole) {
      const at = `row ${last.row.number}`
      const why = last.open
        ? 'a quote in it is never closed'
        : 'it has no line break, so that nothing shows whether it is whole'
      reasons.push(`the document ends in ${at}: ${why}`)
      batch.push(brokenRecord(at, `the document ends in this row: ${why}`))
    }
    if (last === null && headerRow === null && splitter.lostAt === null) reasons.push('the document is empty')
    if (splitter.lostAt !== null) {
      const at = `row ${splitter.lostAt}`
      const problem = `longer than ${options.maxRecordBytes} bytes, most likely by a quote that is never closed`
      reasons.push(`${at} is ${problem}; the rest of the document was not read`)
      batch.push(brokenRecord(at, `the row is ${problem}`))
    }
    if (batch.length > 0) yield batch
  }

  return {
    records: records(),
    end: () => ({ reasons }),
    parse(record) {
      const problem = problemOf(record)
      if (problem !== null) throw new RecordError(problem)
      if (!header) throw new RecordError('the row comes before the header')
      return header.fields(parse(record.raw))
    },
  }
}

function refuseOthers(block: Buffer): void {
  const start = block.toString('latin1', 0, 1024).trimStart()
  if (looksLikeHtml(start)) throw new FeedError('the document is an HTML page, not CSV')
  if (start.startsWith('<?xml') || /^<[A-Za-z_][^,;|\t\n]*>/.test(start))
    throw new FeedError('the document is XML, not CSV')
  if (start.startsWith('{')) throw new FeedError('the document is JSON, not CSV')
}

function cellsOf(parse: (raw: Buffer) => string[], raw: Buffer): number {
  try {
    return parse(raw).length
  } catch {
    return 0
  }
}

/** Parses one row. Throws `RecordError` for quotes that don't fit together. */
function rowParser(dialect: Dialect, text: (raw: Buffer) => string): (raw: Buffer) => string[] {
  const parser = new Papa.Parser({
    delimiter: dialect.delimiter,
    newline: dialect.lineEnd,
    // papaparse knows no "without quotes"; NUL is never in a row by then.
    quoteChar: dialect.quote === '' ? '\u0000' : dialect.quote,
  })
  return (raw) => {
    const row = withoutControls(text(raw))
    const result: Papa.ParseResult<string[]> = parser.parse(row, 0, false)
    if (result.errors.length > 0) throw new RecordError('a quoted cell is not closed where it should be')
    if (result.data.length !== 1) throw new RecordError('the row falls into several')
    return result.data[0]
  }
}

/** C0 controls break SQLite's length() and mean nothing in a listing (fault-model F40). */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
}
