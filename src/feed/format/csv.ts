import Papa from 'papaparse'
import { FeedError } from '../../core/errors.ts'
import { dialectOf } from './csv-dialect.ts'
import type { Dialect } from './csv-dialect.ts'
import { CsvRecords } from './csv-records.ts'
import { CsvSplitter } from './csv-splitter.ts'
import { decoded } from './encoding.ts'
import { looksLikeHtml } from './foreign.ts'
import { RecordError } from './format.ts'
import type { Format, RawRecord } from './format.ts'
import { blocks, problemOf } from './raw.ts'

/** Bytes looked at to find the dialect (dependencies, papaparse: the first chunk alone misleads). */
const sampleBytes = 128 * 1024

/**
 * Delimited text, with a header row or with columns by position. Rows are cut on bytes; papaparse sees only those that are
 * parsed.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
export const csv: Format = (bytes, options) => {
  const source = decoded(bytes, options)
  let dialect: Dialect | null = null
  let cells: ((raw: Buffer) => string[]) | null = null
  const rows = new CsvRecords((raw) => (cells ? cells(raw) : []), options)

  async function* records(): AsyncGenerator<RawRecord[]> {
    let splitter: CsvSplitter | null = null
    for await (const block of blocks(source.bytes, sampleBytes)) {
      if (!splitter) {
        refuseOthers(block)
        dialect = dialectOf(block.subarray(0, sampleBytes), options.delimiter, options.quote)
        cells = rowParser(dialect, options.columns !== undefined, (raw) => source.text(raw))
        splitter = new CsvSplitter(dialect, options.maxRecordBytes)
      }
      const batch = rows.take(splitter.push(block))
      if (batch.length > 0) yield batch
      if (splitter.lostAt !== null) break
    }
    const last = rows.end(splitter?.end() ?? null, splitter?.lostAt ?? null)
    if (last.length > 0) yield last
  }

  return {
    records: records(),
    context: () => JSON.stringify([rows.names, dialect]),
    end: () => ({ reasons: rows.reasons }),
    parse(record) {
      const problem = problemOf(record)
      if (problem !== null) throw new RecordError(problem)
      return rows.parse(record.raw)
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

/**
 * Parses one row. Throws `RecordError` for quotes that don't fit together. `bareQuotes`: a quote within a quoted cell is
 * taken for text where neither a delimiter nor the row's end follows it, as the splitter takes it; the number of cells
 * then tells whether it was right.
 */
function rowParser(dialect: Dialect, bareQuotes: boolean, text: (raw: Buffer) => string): (raw: Buffer) => string[] {
  const parser = new Papa.Parser({
    delimiter: dialect.delimiter,
    newline: dialect.lineEnd,
    // papaparse knows no "without quotes"; NUL is never in a row by then.
    quoteChar: dialect.quote === '' ? '\u0000' : dialect.quote,
  })
  return (raw) => {
    const row = withoutControls(text(raw))
    const result: Papa.ParseResult<string[]> = parser.parse(row, 0, false)
    if (result.errors.some(({ code }) => !bareQuotes || code !== 'InvalidQuotes'))
      throw new RecordError('a quoted cell is not closed where it should be')
    if (result.data.length !== 1) throw new RecordError('the row falls into several')
    return result.data[0]
  }
}

/** C0 controls break SQLite's length() and mean nothing in a listing (fault-model F40). */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
}
