import { FeedError } from '../../core/errors.ts'
import { many } from '../../core/text.ts'
import { brokenRecord, tooLong } from './format.ts'
import type { RawRecord } from './format.ts'
import { lessThan, nameAt, slash, tagEnd } from './markup.ts'

/** ReplyCode for "no records found", which is not an error. */
const noRecords = '20201'
/** So many reasons of a server are kept. */
const mostReasons = 10

/**
 * Cuts a RETS COMPACT answer into its DATA rows and reads the elements between them. The document is flat: every element is
 * directly under RETS, and DATA holds nothing but text.
 */
export class RetsSplitter {
  /** The text of COLUMNS; null: not read yet. */
  columns: Buffer | null = null
  /** One character; tab unless declared. */
  delimiter = '\t'
  readonly reasons: string[] = []
  private buffer: Buffer = Buffer.alloc(0)
  private rows = 0
  private counted: number | null = null
  private opened = false
  private closed = false
  private isBlank = true
  /** The current row is too long: the rest of it is skipped. */
  private skipping = false
  private readonly maxRecordBytes: number

  constructor(maxRecordBytes: number) {
    this.maxRecordBytes = maxRecordBytes
  }

  /** Takes the next bytes and returns the rows that end in them. Throws `FeedError` for another kind of document. */
  push(block: Buffer): RawRecord[] {
    this.isBlank &&= block.toString('latin1').trim() === ''
    this.buffer = this.buffer.length === 0 ? block : Buffer.concat([this.buffer, block])
    const records: RawRecord[] = []
    let position = 0
    for (let next = 0; next >= 0; next = this.element(position, records)) position = next
    const open = this.skipping ? position : this.buffer.indexOf(lessThan, position)
    this.buffer = this.buffer.subarray(open < 0 ? this.buffer.length : open)
    if (this.buffer.length > this.maxRecordBytes + 1024) this.skipLongRow(records)
    return records
  }

  /** Bytes of an element whose end has not come yet. */
  get waiting(): number {
    return this.buffer.length
  }

  /** Ends the document and returns the unfinished row, if any; `reasons` is valid from here. */
  end(): RawRecord[] {
    if (this.isBlank) {
      this.reasons.push('the document is empty')
      return []
    }
    if (!this.opened) throw new FeedError('the document is not RETS: it has no element RETS')
    if (!this.closed) this.reasons.push('the document ends before </RETS>')
    if (this.counted !== null && this.counted !== this.rows) {
      this.reasons.push(`the server counts ${many(this.counted, 'record')}, the document holds ${this.rows}`)
    }
    if (this.columns === null && this.reasons.length === 0) {
      throw new FeedError('the document has no COLUMNS: it is not in one of the COMPACT forms')
    }
    const open = !this.closed && !this.skipping && this.buffer.subarray(0, 5).toString('latin1') === '<DATA'
    return open ? [brokenRecord(this.place(), 'the document ends in the middle of this row')] : []
  }

  /** Reads one element from a place between elements; returns the place after it, or -1 if it does not end here. */
  private element(from: number, records: RawRecord[]): number {
    const { buffer } = this
    if (this.skipping) {
      const close = buffer.indexOf('</DATA', from)
      const end = close < 0 ? -1 : this.after(close)
      if (end >= 0) this.skipping = false
      return end
    }
    const open = buffer.indexOf(lessThan, from)
    if (open < 0) return -1
    if (buffer.subarray(open, open + 4).toString('latin1') === '<!--') {
      const close = buffer.indexOf('-->', open + 4)
      return close < 0 ? -1 : close + 3
    }
    const afterTag = this.after(open)
    if (afterTag < 0) return -1
    const tag = buffer.toString('utf8', open + 1, afterTag - 1)
    const name = buffer[open + 1] === slash ? `/${nameAt(buffer, open + 2)}` : nameAt(buffer, open + 1)
    if (name !== 'DATA' && name !== 'COLUMNS') {
      this.control(name, tag)
      return afterTag
    }
    const empty = tag.endsWith('/')
    const close = empty ? afterTag : buffer.indexOf(`</${name}`, afterTag)
    const end = close < 0 || empty ? close : this.after(close)
    if (end < 0) return -1
    const text = withoutLineBreaks(buffer.subarray(afterTag, close))
    if (name === 'COLUMNS') this.take(text)
    else records.push(this.row(text))
    return end
  }

  private take(columns: Buffer): void {
    if (this.columns?.equals(columns)) return
    if (this.columns !== null) {
      throw new FeedError('the document holds COLUMNS twice and they differ: give each answer its own feed')
    }
    this.columns = Buffer.from(columns)
  }

  private row(raw: Buffer): RawRecord {
    const at = this.place()
    this.rows++
    if (raw.length <= this.maxRecordBytes) return { at, raw }
    return brokenRecord(at, tooLong('the row', this.maxRecordBytes))
  }

  /** Reads the elements about the whole answer. */
  private control(name: string, tag: string): void {
    if (!this.opened && name !== 'RETS' && !/^[?!]/.test(tag)) {
      throw new FeedError(`the document is not RETS: its first element is ${JSON.stringify(name.slice(0, 40))}`)
    }
    if (name.startsWith('METADATA')) throw new FeedError('the document is RETS metadata, not listings')
    if (name === 'RETS') {
      this.opened = true
      this.closed = tag.endsWith('/')
      this.reply(tag, true)
    } else if (name === '/RETS') this.closed = true
    else if (name === 'RETS-STATUS') this.reply(tag, false)
    else if (name === 'COUNT') {
      const records = attribute(tag, 'Records')
      if (records !== null && /^\d{1,9}$/.test(records)) this.counted = Number(records)
    } else if (name === 'DELIMITER') this.delimiter = delimiterOf(attribute(tag, 'value') ?? '')
    else if (name === 'MAXROWS') {
      this.doubt('the server stopped at its row limit (MAXROWS): the other rows are on further pages')
    }
  }

  /** ReplyCode 0 is success. Any other is a refusal on the RETS element, and a reason after the rows. */
  private reply(tag: string, first: boolean): void {
    const code = attribute(tag, 'ReplyCode') ?? '0'
    if (/^0+$/.test(code)) return
    const reply = (attribute(tag, 'ReplyText') ?? '').replaceAll(/\p{Cc}+/gu, ' ').slice(0, 200)
    const text = `the server answered with ReplyCode ${code.slice(0, 10)}${reply === '' ? '' : `: ${reply}`}`
    if (first && code !== noRecords) throw new FeedError(text)
    this.doubt(text)
  }

  private doubt(reason: string): void {
    if (this.reasons.length < mostReasons && !this.reasons.includes(reason)) this.reasons.push(reason)
  }

  private skipLongRow(records: RawRecord[]): void {
    if (!this.skipping) {
      if (this.buffer.subarray(0, 5).toString('latin1') !== '<DATA') {
        throw new FeedError(`no element ends within ${this.maxRecordBytes} bytes: the document is not RETS`)
      }
      this.skipping = true
      records.push(this.row(this.buffer))
    }
    // The closing tag may lie across two blocks.
    this.buffer = this.buffer.subarray(-8)
  }

  private place(): string {
    return `row ${this.rows + 1}`
  }

  /** The place after the tag that begins at `open`; -1: it does not end in this buffer. */
  private after(open: number): number {
    const end = tagEnd(this.buffer, open + 1)
    return end < 0 ? -1 : end + 1
  }
}

function attribute(tag: string, name: string): string | null {
  const match = new RegExp(String.raw`\s${name}\s*=\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag)
  return match === null ? null : (match[1] ?? match[2])
}

/** DELIMITER's value is the character's code in hexadecimal. */
function delimiterOf(value: string): string {
  const code = /^\s*[0-9a-f]{1,2}\s*$/i.test(value) ? Number.parseInt(value, 16) : 0
  if (code === 0 || code > 127)
    throw new FeedError(`the DELIMITER ${JSON.stringify(value.slice(0, 20))} is not the code of one character`)
  return String.fromCharCode(code)
}

/** Trims line breaks only: blanks and tabs are cells. */
function withoutLineBreaks(text: Buffer): Buffer {
  const holds = (byte: number): boolean => byte !== 10 && byte !== 13
  return text.subarray(Math.max(0, text.findIndex(holds)), text.findLastIndex(holds) + 1)
}
