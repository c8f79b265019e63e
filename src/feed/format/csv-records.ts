import { FeedError } from '../../core/errors.ts'
import { CsvHeader } from './csv-header.ts'
import { CsvPositions } from './csv-positions.ts'
import type { CsvColumns } from './csv-positions.ts'
import type { LastRow, Row } from './csv-splitter.ts'
import { RecordError } from './format.ts'
import type { FormatOptions, RawRecord, RecordFields } from './format.ts'
import { brokenRecord } from './raw.ts'

/**
 * Tells the records among a file's rows. The first row is the header, unless columns go by position; a row of one cell before
 * the first record or after the last is a remark (Redfin's row 2), and the header once more is no record either.
 */
export class CsvRecords {
  readonly reasons: string[] = []
  private header: CsvColumns | null = null
  private headerRow: Buffer = Buffer.alloc(0)
  private begun = false
  /** The last row so far: whether it is a record or a closing remark shows when it is known to be the last. */
  private held: Row | null = null
  private readonly cells: (raw: Buffer) => string[]
  private readonly options: FormatOptions

  /** `cells` parses one row and throws `RecordError` where it can't. */
  constructor(cells: (raw: Buffer) => string[], options: FormatOptions) {
    this.cells = cells
    this.options = options
  }

  /** The header's names; null: not read yet, or by position. */
  get names(): CsvColumns['names'] {
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

  private columnsOf(row: Row): CsvColumns {
    const { columns, requiredHeaders } = this.options
    let cells: string[]
    try {
      cells = this.cells(row.raw)
    } catch (error) {
      throw new FeedError(`the first row can't be read: ${error instanceof Error ? error.message : 'unknown'}`)
    }
    if (columns !== undefined) return new CsvPositions(cells, columns)
    this.headerRow = Buffer.from(row.raw)
    return new CsvHeader(cells, requiredHeaders)
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
