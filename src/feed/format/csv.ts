import type { ParseConfig, ParseResult, Parser } from 'papaparse'
import { z } from 'zod'
import { FeedError, messageOf } from '../../core/errors.ts'
import { headerColumns, positionColumns, requiredHeaders } from './columns.ts'
import type { Columns } from './columns.ts'
import { CsvSplitter } from './csv-splitter.ts'
import type { LastRow, Row } from './csv-splitter.ts'
import { decoded, withoutControls } from './encoding.ts'
import { looksLikeJson, refuseOthers } from './foreign.ts'
import { RecordError, brokenRecord, refuseBroken, tooLong } from './format.ts'
import type { Detected, Dialect, Format, RawRecord, ReadOptions, Reading, RecordFields } from './format.ts'

/** Bytes used to detect the dialect: the first few rows alone mislead. */
const sampleBytes = 128 * 1024

const options = () =>
  z
    .object({
      delimiter: z
        .string()
        .min(1)
        .max(4, 'takes up to four characters')
        .refine(
          (mark) => !mark.includes('\\'),
          'a tab is written "\\t" in double quotes; in others it is a backslash and a t',
        )
        .optional()
        .describe('The delimiter; found out where it is left out.'),
      quote: z
        .string()
        .max(1, "takes one character, or '' for none")
        .optional()
        .describe(
          "The quote character, or '' for none; left out: \", or none where most cells that begin with it do not end with it.",
        ),
      requiredHeaders: requiredHeaders(),
      columns: z
        .int()
        .min(2)
        .optional()
        .describe('Without a header row: columns are 1, 2, …; a row has at least so many.'),
    })
    .refine(({ columns, requiredHeaders }) => columns === undefined || requiredHeaders.length === 0, {
      path: ['requiredHeaders'],
      error: 'a file with columns by position has no headers',
    })
type CsvOptions = z.output<ReturnType<typeof options>>

/** Delimited text, with a header row or with columns by position. */
export const csv: Format<CsvOptions> = { title: 'CSV', hasEndMark: false, nested: false, options, detect, read }

/** A text whose first line has several cells. Other delimiters than the usual ones are only known from presets. */
function detect(head: Buffer, presets: readonly CsvOptions[]): Detected<CsvOptions> | null {
  const start = head.toString('latin1', 0, 4096).trimStart()
  if (start.startsWith('<') || looksLikeJson(start)) return null
  const [firstLine] = start.split(/[\r\n]/)
  const cells = (delimiter: string): number => firstLine.split(delimiter).length
  // Titles such as "# beds, # baths" have a mark many times that separates nothing.
  const least = Math.max(5, ...candidates.map(cells))
  const [rare = null] = presets
    .map(({ delimiter = ',' }) => delimiter)
    .filter((delimiter) => !candidates.includes(delimiter) && cells(delimiter) > least)
    .toSorted((a, b) => b.length - a.length)
  const dialect = dialectOf(head.subarray(0, sampleBytes), rare)
  const { delimiter, quote } = dialect
  return firstLine.includes(delimiter) ? { options: { delimiter, quote, requiredHeaders: [] }, dialect } : null
}

/**
 * Rows are cut on bytes; the parser, loaded with the first document, sees only those that are parsed.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & CsvOptions): Reading {
  const source = decoded(bytes, options)
  let dialect: Dialect | null = null
  let context: string | null = null
  let cells: ((raw: Buffer) => string[]) | null = null
  const rows = csvRecords((raw) => (cells ? cells(raw) : []), options)

  async function* records(): AsyncGenerator<RawRecord[]> {
    const { default: Papa } = await import('papaparse')
    let splitter: CsvSplitter | null = null
    for await (const block of source.blocks(sampleBytes, () => splitter?.waiting ?? 0)) {
      if (!splitter) {
        refuseOthers(block, 'CSV', ['an HTML page', 'XML', 'JSON'])
        dialect = dialectOf(block.subarray(0, sampleBytes), options.delimiter ?? null, options.quote)
        const parser = rowParser(new Papa.Parser(parserOptions(dialect)), options.columns !== undefined)
        const { quote } = dialect
        cells = (raw) => parser(withFewQuotes(withoutControls(source.text(raw)), quote, options.maxFields ?? Infinity))
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
    // Made once, as it is asked for with every batch, and a header may be long.
    context: () => (context ??= JSON.stringify([rows.names(), dialect])),
    end: () => ({ reasons: rows.reasons }),
    parse(record) {
      refuseBroken(record)
      return rows.parse(record.raw)
    },
  }
}

/**
 * Finds the records among a file's rows. The first row is the header, unless columns go by position; a row of one cell before
 * the first record or after the last is a remark (Redfin's row 2), and a repeated header is no record either. `cells` parses
 * one row; may throw `RecordError`.
 */
function csvRecords(cells: (raw: Buffer) => string[], options: ReadOptions & CsvOptions) {
  const reasons: string[] = []
  let header: Columns | null = null
  let headerRow: Buffer = Buffer.alloc(0)
  let begun = false
  /** The last row so far: it is a closing remark, not a record, only if no other row follows. */
  let held: Row | null = null

  /** The records among the next rows. Throws `FeedError` for the header of another table. */
  function take(rows: Row[]): RawRecord[] {
    const records: RawRecord[] = []
    for (const row of rows) {
      if (!header) {
        header = columnsOf(row)
        if (options.columns === undefined) continue
      }
      if (!row.raw.equals(headerRow) && (begun || !isRemark(row))) {
        begun = true
        if (held) records.push(recordOf(held))
        held = row
      }
    }
    // A held row outlives its block: copied, so that it does not keep the block in memory.
    if (held) held = { number: held.number, raw: Buffer.from(held.raw) }
    return records
  }

  /** The last records. `last`: the row without line end; `lostAt`: the row from which nothing could be cut. */
  function end(last: LastRow | null, lostAt: number | null): RawRecord[] {
    const whole = last !== null && !last.open && options.lengthProven()
    const records = whole && !last.blank ? take([last]) : []
    if (held && !(isRemark(held) && (last === null || whole))) records.push(recordOf(held))
    if (last && !whole) {
      const why = last.open
        ? 'a quote in it is never closed'
        : 'no line break shows that it is whole (if the sender never writes one: endsWithLineBreak: false)'
      const first = options.columns === undefined ? 'header' : 'first'
      if (!header) reasons.push(`the document ends in its ${first} row: ${why}`)
      else records.push(broken(last.number, `the document ends in row ${last.number}: ${why}`))
    }
    if (lostAt !== null) {
      const why = `${tooLong(`row ${lostAt}`, options.maxRecordBytes)}, probably because a quote is never closed`
      records.push(broken(lostAt, `${why}; the rest of the document was not read`))
    }
    if (!header && reasons.length === 0) reasons.push('the document is empty')
    return records
  }

  function columnsOf(row: Row): Columns {
    let names: string[]
    try {
      names = cells(row.raw)
    } catch (error) {
      throw new FeedError(`the first row can't be read: ${messageOf(error)}`)
    }
    if (options.columns !== undefined) return positionColumns(names, options.columns)
    headerRow = Buffer.from(row.raw)
    return headerColumns(names, options)
  }

  function isRemark(row: Row): boolean {
    if (!header || header.size < 2) return false
    try {
      return cells(row.raw).length === 1
    } catch {
      // A row that can't be parsed is a broken record, not a remark.
      return false
    }
  }

  function recordOf({ number, raw }: Row): RawRecord {
    const at = `row ${number}`
    const longest = options.maxRecordBytes
    return raw.length <= longest ? { at, raw } : brokenRecord(at, tooLong('the row', longest))
  }

  function broken(number: number, reason: string): RawRecord {
    reasons.push(reason)
    return brokenRecord(`row ${number}`, reason)
  }

  return {
    reasons,
    take,
    end,
    /** null: not read yet, or by position. */
    names: (): Columns['names'] => header && header.names,
    /** Throws `RecordError`. */
    parse(raw: Buffer): RecordFields {
      if (!header) throw new RecordError('the row comes before the header')
      return header.fields(cells(raw))
    },
  }
}

function parserOptions({ delimiter, quote, lineEnd }: Dialect): ParseConfig {
  // papaparse has no option for "no quotes"; NUL never occurs in a row here.
  return { delimiter, newline: lineEnd, quoteChar: quote === '' ? '\u0000' : quote }
}

/**
 * Parses one row into its cells. Throws `RecordError` for quotes that don't fit together. `bareQuotes`: a quote in a quoted
 * cell is text unless a delimiter or the row's end follows it, as in the splitter; the number of cells then shows whether
 * that was right.
 */
function rowParser(parser: Parser, bareQuotes: boolean): (row: string) => string[] {
  return (row) => {
    const result: ParseResult<string[]> = parser.parse(row, 0, false)
    if (result.errors.some(({ code }) => !bareQuotes || code !== 'InvalidQuotes'))
      throw new RecordError('a quoted cell is not closed where it should be')
    if (result.data.length !== 1) throw new RecordError('the row splits into several')
    return result.data[0]
  }
}

/**
 * The row itself. Throws `RecordError` if it has more than four quotes for each of `maxFields` values: two around it and one
 * in it, doubled. Papaparse makes an object of each quote that does not fit, which costs a hundred times its length.
 */
function withFewQuotes(row: string, quote: string, maxFields: number): string {
  const most = 4 * maxFields
  if (quote === '' || row.length <= most) return row
  let quotes = 0
  for (let at = row.indexOf(quote); at >= 0; at = row.indexOf(quote, at + 1))
    if (++quotes > most) throw new RecordError(`the row has more than ${most} quotes, four for each value (maxFields)`)
  return row
}

const candidates = [',', '\t', ';', '|']
/** Rows of the sample that are compared. */
const comparedRows = 200

/** Detects the dialect from the beginning of a file; a configured delimiter or quote is used as it is. */
function dialectOf(sample: Buffer, delimiter: string | null, quote?: string): Dialect {
  const text = sample.toString('latin1')
  const firstReturn = text.indexOf('\r')
  const lineEnd = !text.includes('\n') && firstReturn >= 0 && firstReturn < text.length - 1 ? '\r' : '\n'
  const found = delimiter ?? detectedDelimiter(text, quote ?? '"', lineEnd)
  return { delimiter: found, quote: quote ?? detectedQuote(text, found, lineEnd), lineEnd }
}

/**
 * Whether the table uses quotes. '': no, as most quotes that begin a cell end before it does (`|"Dream" home|`). A quote that is never
 * closed tells nothing, as the document may have been cut there. A table with commas always uses quotes, as texts have commas, too.
 */
function detectedQuote(text: string, delimiter: string, lineEnd: string): '"' | '' {
  return delimiter !== ',' && strayQuotesPrevail(text, delimiter, lineEnd) ? '' : '"'
}

function strayQuotesPrevail(text: string, delimiter: string, lineEnd: string): boolean {
  let [closed, stray] = [0, 0]
  for (let open = text.indexOf('"'); open >= 0; open = text.indexOf('"', open + 1)) {
    if (open > 0 && text[open - 1] !== lineEnd && !text.endsWith(delimiter, open)) continue
    const cell = text.slice(open, open + longestQuoted)
    const close = closingQuote(cell, 0, '"')
    if (close === cell.length) continue
    const after = cell.slice(close + 1).replace(/^[ \r]{1,9}/, '')
    if (after === '' || after.startsWith(delimiter) || after.startsWith(lineEnd)) {
      closed++
      open += close
    } else stray++
  }
  return stray > closed
}

/** How many characters are searched for the end of a quoted cell. */
const longestQuoted = 4096

/** The delimiter by which most rows have as many cells as the header; of equal ones, the one with more cells. */
function detectedDelimiter(text: string, quote: string, lineEnd: string): string {
  let best = { delimiter: ',', alike: 0, cells: 1 }
  for (const delimiter of candidates) {
    const counts = cellCounts(text, delimiter, quote, lineEnd)
    const cells = counts[0] ?? 1
    if (cells < 2) continue
    const alike = counts.filter((count) => count === cells).length / counts.length
    if (alike > best.alike + 0.1 || (alike > best.alike - 0.1 && cells > best.cells)) best = { delimiter, alike, cells }
  }
  return best.delimiter
}

/** The number of cells per row of the sample, without its last row, which may be cut, unless it is the only one. */
function cellCounts(text: string, delimiter: string, quote: string, lineEnd: string): number[] {
  const counts: number[] = []
  let cells = 1
  let cellStart = true
  for (let index = 0; index < text.length && counts.length < comparedRows; index++) {
    const character = text[index]
    if (cellStart && quote !== '' && character === quote) {
      index = closingQuote(text, index, quote)
      cellStart = false
    } else if (character === delimiter) {
      cells++
      cellStart = true
    } else if (character === lineEnd) {
      // One-cell rows are notices and blank lines, whatever the delimiter.
      if (cells > 1 || counts.length === 0) counts.push(cells)
      // A mark that does not separate the header's cells is no delimiter.
      if (counts[0] === 1) return counts
      cells = 1
      cellStart = true
    } else cellStart = false
  }
  if (counts.length === 0) counts.push(cells)
  return counts
}

function closingQuote(text: string, opening: number, quote: string): number {
  let index = text.indexOf(quote, opening + 1)
  while (index >= 0 && text[index + 1] === quote) index = text.indexOf(quote, index + 2)
  return index < 0 ? text.length : index
}
