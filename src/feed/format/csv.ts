import { z } from 'zod'
import { FeedError } from '../../core/errors.ts'
import { HeaderColumns, PositionColumns, requiredHeaders } from './columns.ts'
import type { Columns } from './columns.ts'
import { dialectOf } from './csv-dialect.ts'
import { CsvSplitter } from './csv-splitter.ts'
import type { LastRow, Row } from './csv-splitter.ts'
import { decoded } from './encoding.ts'
import { looksLikeJson, refuseOthers } from './foreign.ts'
import { RecordError, brokenRecord, refuseBroken } from './format.ts'
import type { Detected, Dialect, Format, RawRecord, ReadOptions, Reading, RecordFields } from './format.ts'

/** Bytes looked at to find the dialect: the first few rows alone mislead. */
const sampleBytes = 128 * 1024

const options = z
  .object({
    delimiter: z
      .string()
      .min(1)
      .max(4)
      .refine(
        (mark) => !mark.includes('\\'),
        'a tab is written "\\t" in double quotes; in others it is a backslash and a t',
      )
      .optional()
      .describe('The delimiter; found out where it is left out.'),
    quote: z.string().length(1).default('"').describe('The quote character.'),
    requiredHeaders,
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
type CsvOptions = z.output<typeof options>

/** Delimited text, with a header row or with columns by position. */
export const csv: Format<CsvOptions> = { title: 'CSV', nested: false, options, detect, read }

/** A text whose first line has several cells. Marks longer than a comma or a tab are only known from a preset. */
function detect(head: Buffer, presets: readonly CsvOptions[]): Detected<CsvOptions> | null {
  const start = head.toString('latin1', 0, 4096).trimStart()
  if (start.startsWith('<') || looksLikeJson(start)) return null
  const [firstLine] = start.split(/[\r\n]/)
  const rare = presets.find(({ delimiter = '' }) => delimiter.length > 1 && firstLine.split(delimiter).length > 5)
  const dialect = dialectOf(head.subarray(0, sampleBytes), rare?.delimiter ?? null, '"')
  const { delimiter, quote } = dialect
  return firstLine.includes(delimiter) ? { options: { delimiter, quote, requiredHeaders: [] }, dialect } : null
}

/**
 * Rows are cut on bytes; the parser, which is loaded with the first document, sees only those that are parsed.
 * Records are views on the blocks read: copy `raw` to keep it longer than its batch.
 */
function read(bytes: AsyncIterable<Buffer>, options: ReadOptions & CsvOptions): Reading {
  const source = decoded(bytes, options)
  let dialect: Dialect | null = null
  let cells: ((raw: Buffer) => string[]) | null = null
  const rows = new CsvRecords((raw) => (cells ? cells(raw) : []), options)

  async function* records(): AsyncGenerator<RawRecord[]> {
    const { rowParser } = await import('./csv-row.ts')
    let splitter: CsvSplitter | null = null
    for await (const block of source.blocks(sampleBytes)) {
      if (!splitter) {
        refuseOthers(block, 'CSV', ['an HTML page', 'XML', 'JSON'])
        dialect = dialectOf(block.subarray(0, sampleBytes), options.delimiter ?? null, options.quote)
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
      refuseBroken(record)
      return rows.parse(record.raw)
    },
  }
}

/**
 * Tells the records among a file's rows. The first row is the header, unless columns go by position; a row of one cell before
 * the first record or after the last is a remark (Redfin's row 2), and the header once more is no record either.
 */
class CsvRecords {
  readonly reasons: string[] = []
  private header: Columns | null = null
  private headerRow: Buffer = Buffer.alloc(0)
  private begun = false
  /** The last row so far: whether it is a record or a closing remark shows when it is known to be the last. */
  private held: Row | null = null
  private readonly cells: (raw: Buffer) => string[]
  private readonly options: ReadOptions & CsvOptions

  /** `cells` parses one row and throws `RecordError` where it can't. */
  constructor(cells: (raw: Buffer) => string[], options: ReadOptions & CsvOptions) {
    this.cells = cells
    this.options = options
  }

  /** The header's names; null: not read yet, or by position. */
  get names(): Columns['names'] {
    return this.header && this.header.names
  }

  /** The records among the next rows. Throws `FeedError` for a header that is not this feed's. */
  take(rows: Row[]): RawRecord[] {
    const records: RawRecord[] = []
    for (const row of rows) {
      if (!this.header) {
        this.header = this.columnsOf(row)
        if (this.options.columns === undefined) continue
      }
      if (!row.raw.equals(this.headerRow) && (this.begun || !this.isRemark(row))) {
        this.begun = true
        if (this.held) records.push(this.recordOf(this.held))
        this.held = row
      }
    }
    // A held row outlives its block, and must not keep it.
    if (this.held) this.held = { number: this.held.number, raw: Buffer.from(this.held.raw) }
    return records
  }

  /** The last records. `last`: the row without line end; `lostAt`: the row from which nothing could be cut. */
  end(last: LastRow | null, lostAt: number | null): RawRecord[] {
    const whole = last !== null && !last.open && this.options.lengthProven()
    const records = whole && !last.blank ? this.take([last]) : []
    if (this.held && !(this.isRemark(this.held) && (last === null || whole))) records.push(this.recordOf(this.held))
    if (last && !whole) {
      const why = last.open ? 'a quote in it is never closed' : 'no line break shows that it is whole'
      if (!this.header)
        this.reasons.push(
          `the document ends in its ${this.options.columns === undefined ? 'header' : 'first'} row: ${why}`,
        )
      else records.push(this.broken(last.number, `the document ends in row ${last.number}: ${why}`))
    }
    if (lostAt !== null) {
      const size = `longer than ${this.options.maxRecordBytes} bytes, most likely by a quote that is never closed`
      records.push(this.broken(lostAt, `row ${lostAt} is ${size}; the rest of the document was not read`))
    }
    if (!this.header && this.reasons.length === 0) this.reasons.push('the document is empty')
    return records
  }

  /** Throws `RecordError`. */
  parse(raw: Buffer): RecordFields {
    if (!this.header) throw new RecordError('the row comes before the header')
    return this.header.fields(this.cells(raw))
  }

  private columnsOf(row: Row): Columns {
    const { columns, requiredHeaders } = this.options
    let cells: string[]
    try {
      cells = this.cells(row.raw)
    } catch (error) {
      throw new FeedError(`the first row can't be read: ${error instanceof Error ? error.message : 'unknown'}`)
    }
    if (columns !== undefined) return new PositionColumns(cells, columns)
    this.headerRow = Buffer.from(row.raw)
    return new HeaderColumns(cells, requiredHeaders)
  }

  private isRemark(row: Row): boolean {
    if (!this.header || this.header.size < 2) return false
    try {
      return this.cells(row.raw).length === 1
    } catch {
      // A row that can't be parsed is a broken record, not a remark.
      return false
    }
  }

  private recordOf(row: Row): RawRecord {
    const longest = this.options.maxRecordBytes
    if (row.raw.length <= longest) return { at: `row ${row.number}`, raw: row.raw }
    return brokenRecord(`row ${row.number}`, `the row is longer than ${longest} bytes`)
  }

  private broken(number: number, reason: string): RawRecord {
    this.reasons.push(reason)
    return brokenRecord(`row ${number}`, reason)
  }
}
