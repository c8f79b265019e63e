import type { Dialect } from './format.ts'

/** One row of a file. */
export interface Row {
  /** The row's number as a spreadsheet shows it: the header is 1, blank rows count. */
  number: number
  /** Its bytes without the line end. */
  raw: Buffer
}

/** The last row if it has no line end. `open`: a quote in it is never closed; `blank`: it holds nothing but delimiters. */
export interface LastRow extends Row {
  open: boolean
  blank: boolean
}

/** Most quoted cells are shorter than this, and a loop beats a call for them. */
const nearby = 32
const carriageReturn = 13

/**
 * Cuts delimited text into rows without parsing them. A quote opens a cell only at the cell's start,
 * as in papaparse, so that 10' x 12" in a cell does no harm; line ends within quotes belong to the cell.
 * Blank rows, and rows of nothing but delimiters as spreadsheets leave them, are counted but not returned.
 */
export class CsvSplitter {
  /** The row that exceeds `maxRowBytes`, probably because a quote is never closed: what follows can't be cut. */
  lostAt: number | null = null
  private buffer: Buffer = Buffer.alloc(0)
  private rowStart = 0
  /** Where the search goes on within the row: a place outside quotes, or the quote that opened the cell. */
  private searchFrom = 0
  private count = 0
  private nextQuote = -1
  private nextEnd = -1
  private readonly delimiter: Buffer
  private readonly quote: number | null
  private readonly lineEnd: number
  /** By each byte: whether a blank row may have it. */
  private readonly isBlankByByte = new Uint8Array(256)
  private readonly maxRowBytes: number

  constructor(dialect: Dialect, maxRowBytes: number) {
    this.delimiter = Buffer.from(dialect.delimiter)
    this.quote = dialect.quote === '' ? null : dialect.quote.charCodeAt(0)
    this.lineEnd = dialect.lineEnd.charCodeAt(0)
    for (const byte of Buffer.from(` \t\r${dialect.quote}${dialect.delimiter}`)) this.isBlankByByte[byte] = 1
    this.maxRowBytes = maxRowBytes
  }

  /** Takes the next bytes and returns the rows that end in them. */
  push(block: Buffer): Row[] {
    const rows: Row[] = []
    for (let from = 0; this.lostAt === null && from < block.length;) {
      const to = this.pieceEnd(block, from)
      this.look(block.subarray(from, to))
      for (let end = this.findEnd(false); end >= 0; end = this.findEnd(false)) {
        this.take(end, rows)
        this.rowStart = end + 1
        this.searchFrom = end + 1
      }
      from = to
    }
    if (this.waiting > this.maxRowBytes) {
      this.lostAt = this.count + 1
      this.buffer = Buffer.alloc(0)
    }
    return rows
  }

  /**
   * How much of a block is looked at next: all of it; or, if the beginning of a row waits, only what may end that row, as that has to be
   * copied. Each piece is as long as what waits, so that a row of many lines is not copied for each of them.
   */
  private pieceEnd(block: Buffer, from: number): number {
    const end = this.waiting === 0 ? -1 : block.indexOf(this.lineEnd, from + this.waiting - 1)
    return end < 0 ? block.length : end + 1
  }

  /** Looks at the beginning of a row that waits, if there is one, and what comes after it. */
  private look(piece: Buffer): void {
    this.searchFrom -= this.rowStart
    const rest = this.buffer.subarray(this.rowStart)
    this.buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    this.rowStart = 0
    this.nextQuote = -1
    this.nextEnd = -1
  }

  /** Bytes of a row whose end has not come yet. */
  get waiting(): number {
    return this.buffer.length - this.rowStart
  }

  /** What follows the last line end, unless it is white space. */
  end(): LastRow | null {
    const raw = this.buffer.subarray(this.rowStart)
    if (this.lostAt !== null || raw.every((byte) => byte === 32 || (byte >= 9 && byte <= 13))) return null
    const open = this.findEnd(true) < 0
    return { number: this.count + 1, raw, open, blank: !open && this.isBlank(raw) }
  }

  private take(end: number, rows: Row[]): void {
    this.count++
    const carriage = this.lineEnd !== carriageReturn && end > this.rowStart && this.buffer[end - 1] === carriageReturn
    const raw = this.buffer.subarray(this.rowStart, carriage ? end - 1 : end)
    if (!this.isBlank(raw)) rows.push({ number: this.count, raw })
  }

  private isBlank(raw: Buffer): boolean {
    return raw.every((byte) => this.isBlankByByte[byte] === 1)
  }

  /** Index of the line end that ends the row at `rowStart`; -1: not in this window. At the file's end, its length. */
  private findEnd(last: boolean): number {
    const { buffer } = this
    while (true) {
      if (this.nextEnd < this.searchFrom) this.nextEnd = this.indexFrom(this.searchFrom, this.lineEnd)
      if (this.nextQuote < this.searchFrom) this.nextQuote = this.indexFrom(this.searchFrom, this.quote)
      const [end, quote] = [this.nextEnd, this.nextQuote]
      if (quote >= end) {
        if (end < Infinity) return end
        if (last) return buffer.length
        this.searchFrom = buffer.length
        return -1
      }
      if (!this.startsCell(quote)) {
        this.searchFrom = quote + 1
        continue
      }
      const close = this.closingQuote(quote, last)
      if (close < 0) {
        this.searchFrom = quote
        return -1
      }
      this.searchFrom = close + 1
    }
  }

  /** Index of the quote that closes the cell opened at `opening`: one before a delimiter, a line end or the file's end. */
  private closingQuote(opening: number, last: boolean): number {
    const { buffer } = this
    let index = opening + 1
    while (true) {
      const quote = this.indexOfNear(index)
      if (quote < 0) return -1
      if (buffer[quote + 1] === this.quote) {
        index = quote + 2
        continue
      }
      let after = quote + 1
      // A tab may be the delimiter itself.
      while (this.isBlankByte(buffer[after]) && !this.isDelimiter(after)) after++
      if (after + this.delimiter.length > buffer.length) {
        if (!last) return buffer[after] === this.lineEnd ? quote : -1
        if (after === buffer.length) return quote
      }
      if (buffer[after] === this.lineEnd || this.isDelimiter(after)) return quote
      index = quote + 1
    }
  }

  private isBlankByte(byte: number | undefined): boolean {
    return byte === 32 || byte === 9 || (byte === carriageReturn && this.lineEnd !== carriageReturn)
  }

  private indexOfNear(from: number): number {
    const { buffer, quote } = this
    const limit = Math.min(from + nearby, buffer.length)
    for (let index = from; index < limit; index++) if (buffer[index] === quote) return index
    return buffer.indexOf(quote ?? 0, limit)
  }

  private startsCell(index: number): boolean {
    if (index === this.rowStart) return true
    const from = index - this.delimiter.length
    return from >= this.rowStart && this.isDelimiter(from)
  }

  private isDelimiter(index: number): boolean {
    const { buffer, delimiter } = this
    if (delimiter.length === 1) return buffer[index] === delimiter[0]
    return (
      buffer.compare(delimiter, 0, delimiter.length, index, Math.min(index + delimiter.length, buffer.length)) === 0
    )
  }

  private indexFrom(index: number, byte: number | null): number {
    const found = byte === null ? -1 : this.buffer.indexOf(byte, index)
    return found < 0 ? Infinity : found
  }
}
