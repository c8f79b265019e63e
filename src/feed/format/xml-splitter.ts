import { FeedError } from '../../core/errors.ts'
import { brokenRecord } from './format.ts'
import type { RawRecord } from './format.ts'
import { bang, endsName, greaterThan, lessThan, question, slash, startsName, tagEnd } from './markup.ts'
import { XmlOutline } from './xml-outline.ts'
import { XmlRecordEnd } from './xml-record-end.ts'

/** So much of a new block is joined to what was left over before the rest of it is scanned where it lies. */
const joinBytes = 64 * 1024

/** What of a document is read beside its records. */
interface XmlSplitterOptions {
  /** The root's own count of records (`FormatOptions.counter`). */
  counter?: string
  /** Is shown every start tag before the first record, with the element's path from the root. */
  beforeRecords?: (path: string, tag: Buffer) => void
}

/**
 * Cuts an XML document, in UTF-8 or another encoding that keeps ASCII, into its record elements.
 *
 * Between records every tag is read (`XmlOutline` keeps the balance); within one, `XmlRecordEnd` looks only for its end.
 * A record longer than `maxRecordBytes` is read tag by tag like the space between records and given as a broken one.
 * Records are views on the blocks pushed: nothing is copied but what lies across two blocks.
 */
export class XmlSplitter {
  private buffer: Buffer = Buffer.alloc(0)
  /** Offset of `buffer[0]` in the document. */
  private base = 0
  /** Everything before is dealt with; in a record, its first byte. */
  private position = 0
  private inRecord = false
  private recordPlace = ''
  /** Depth of the outline at which the oversized record under way is over. */
  private oversizedDepth: number | null = null
  /** What ends the comment, CDATA section or instruction that `position` is in. */
  private skipping: { end: string; what: string } | null = null
  private count = 0
  private stopped = false
  private readonly outline: XmlOutline
  private readonly recordEnd = new XmlRecordEnd()
  private readonly maxRecordBytes: number
  private readonly declared: DeclaredCount | null
  private readonly beforeRecords: XmlSplitterOptions['beforeRecords']

  /** `record` is the path of the record element from the root (`FormatOptions.record`). */
  constructor(record: string, maxRecordBytes: number, { counter, beforeRecords }: XmlSplitterOptions = {}) {
    this.outline = new XmlOutline(record)
    this.maxRecordBytes = maxRecordBytes
    this.declared = counter === undefined ? null : new DeclaredCount(counter)
    this.beforeRecords = beforeRecords
  }

  /** Takes the next bytes and gives the records that end in them. Throws `FeedError` where this is no such document. */
  push(block: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    if (this.position === this.buffer.length) {
      this.look(block, this.position)
      this.scan(records)
      return records
    }
    const joined = Math.min(block.length, joinBytes)
    this.look(Buffer.concat([this.buffer.subarray(this.position), block.subarray(0, joined)]), this.position)
    this.scan(records)
    if (joined === block.length) return records
    const blockStart = this.buffer.length - joined
    if (this.position >= blockStart) this.look(block, blockStart)
    else this.look(Buffer.concat([this.buffer.subarray(this.position), block.subarray(joined)]), this.position)
    this.scan(records)
    return records
  }

  /** Ends the document and gives the record that it left open, if any; `reasons` is valid from here. */
  end(): RawRecord[] {
    if (this.stopped) return []
    const cut = this.inRecord || this.oversizedDepth !== null
    if (this.skipping) this.outline.doubt(`the document ends in the middle of ${this.skipping.what}`)
    else if (!cut && this.position < this.buffer.length) this.outline.doubt('the document ends in the middle of a tag')
    this.outline.end(this.base + this.buffer.length, cut ? this.recordPlace : null)
    const doubt = this.declared?.doubt(this.count) ?? null
    if (doubt !== null) this.outline.doubt(doubt)
    return cut ? [brokenRecord(this.recordPlace, 'the document ends in the middle of this record')] : []
  }

  /** Why the document may not be whole or well formed. */
  get reasons(): string[] {
    return this.outline.reasons
  }

  /** Changes the window: the first byte of `buffer` is where `from` was in the old one. */
  private look(buffer: Buffer, from: number): void {
    this.base += from
    this.position -= from
    this.buffer = buffer
    this.recordEnd.look(buffer, from)
  }

  private scan(records: RawRecord[]): void {
    let going = !this.stopped
    while (going) going = this.skipping ? this.skip() : this.inRecord ? this.finish(records) : this.markup(records)
    if (this.stopped) this.position = this.buffer.length
  }

  private finish(records: RawRecord[]): boolean {
    const end = this.recordEnd.find()
    if (end < 0) {
      if (this.buffer.length - this.position <= this.maxRecordBytes) return false
      this.inRecord = false
      this.oversizedDepth = this.outline.depth
      return this.startTag(this.position)
    }
    const raw = this.buffer.subarray(this.position, end)
    records.push(raw.length > this.maxRecordBytes ? this.oversized() : { at: this.recordPlace, raw })
    this.position = end
    this.inRecord = false
    return true
  }

  private oversized(): RawRecord {
    return brokenRecord(this.recordPlace, `the record is longer than ${this.maxRecordBytes} bytes`)
  }

  /** Reads one piece of markup between records; false: more bytes are needed. */
  private markup(records: RawRecord[]): boolean {
    const { buffer } = this
    const open = buffer.indexOf(lessThan, this.position)
    this.text(open < 0 ? buffer.length : open)
    if (open < 0) return false
    const second = buffer[open + 1]
    if (second === undefined) return false
    if (second === slash) return this.endTag(open, records)
    if (startsName(second)) return this.startTag(open)
    if (second === question) return this.instruction(open)
    if (second === bang) return this.declaration(open)
    // Records in UTF-16 must not pass for text; any other "<" that begins no tag, as in "3 < 4", is let pass.
    if (second === 0) this.outline.doubt('there is text in another encoding between the records')
    this.text(open + 1)
    return true
  }

  /** A declaration within the root is another document's, whose records lie where none are looked for. */
  private instruction(open: number): boolean {
    const start = open + 2
    if (this.outline.depth > 0) {
      if (this.buffer.length < start + 4) return this.unfinished(open)
      if (/^xml\s/.test(this.buffer.toString('latin1', start, start + 4)))
        this.outline.doubt('there is a second XML declaration within the document')
    }
    return this.enter(start, '?>', 'a processing instruction')
  }

  /** Passes over text up to `end`. Within the root it is no matter: real feeds have a stray `>` or date there. */
  private text(end: number): void {
    if (this.outline.depth === 0 && end > this.position) this.outline.outside(this.buffer.subarray(this.position, end))
    this.position = end
  }

  private startTag(open: number): boolean {
    const end = tagEnd(this.buffer, open + 1)
    if (end < 0) return this.unfinished(open)
    const name = this.nameAt(open + 1)
    if (this.outline.isRecord(name) && this.oversizedDepth === null) {
      this.count++
      this.recordPlace = `record ${this.count}, byte ${this.base + open}`
      this.inRecord = true
      this.recordEnd.begin(open, name)
      return true
    }
    if (this.declared && this.outline.depth === 0) this.declared.root(this.buffer.toString('latin1', open, end + 1))
    if (this.count === 0) this.beforeRecords?.(this.outline.pathTo(name), this.buffer.subarray(open, end + 1))
    this.outline.startTag(name, this.buffer[end - 1] === slash)
    this.position = end + 1
    return true
  }

  private endTag(open: number, records: RawRecord[]): boolean {
    const end = this.buffer.indexOf(greaterThan, open)
    if (end < 0) return this.unfinished(open)
    this.outline.endTag(this.nameAt(open + 2))
    this.position = end + 1
    if (this.oversizedDepth !== null && this.outline.depth <= this.oversizedDepth) {
      this.oversizedDepth = null
      records.push(this.oversized())
    }
    return true
  }

  private declaration(open: number): boolean {
    const mark = this.buffer.toString('latin1', open, open + 9).toUpperCase()
    if (mark.startsWith('<!--')) return this.enter(open + 4, '-->', 'a comment')
    if (mark.length < 9 && ['<!--', '<![CDATA[', '<!DOCTYPE'].some((whole) => whole.startsWith(mark))) return false
    if (mark === '<![CDATA[') {
      this.text(open + 9)
      return this.enter(open + 9, ']]>', 'a CDATA section')
    }
    if (mark !== '<!DOCTYPE') {
      this.text(open + 2)
      return true
    }
    const end = this.outline.doctypeEnd(this.buffer, open)
    if (end < 0) return this.unfinished(open)
    this.position = end + 1
    return true
  }

  private enter(position: number, end: string, what: string): boolean {
    this.position = position
    this.skipping = { end, what }
    return true
  }

  private skip(): boolean {
    const { end } = this.skipping!
    const found = this.buffer.indexOf(end, this.position)
    if (found < 0) {
      this.position = Math.max(this.position, this.buffer.length - end.length + 1)
      return false
    }
    this.position = found + end.length
    this.skipping = null
    return true
  }

  /** A tag that does not end in this window: wait for more, unless it is too long to be one. */
  private unfinished(open: number): false {
    if (this.buffer.length - open > this.maxRecordBytes) {
      this.outline.doubt(`the tag at byte ${this.base + open} does not end; the rest of the document was not read`)
      this.stopped = true
    }
    return false
  }

  private nameAt(from: number): string {
    let to = from
    while (to < this.buffer.length && !endsName(this.buffer[to])) to++
    return this.buffer.toString('latin1', from, to)
  }
}

/**
 * The number of records that a document's root declares (`counter: '@listing_count'`). A document
 * that is cut where it still looks whole, or filled in by halves, is told by it.
 */
export class DeclaredCount {
  private readonly attribute: string
  private declared: string | null = null

  /** Throws `FeedError` where `counter` is no attribute, `@name`. */
  constructor(counter: string) {
    if (!/^@[^\s=/]+$/.test(counter)) {
      throw new FeedError(`the counter ${JSON.stringify(counter)} should be an attribute of the root, like @count`)
    }
    this.attribute = counter.slice(1)
  }

  /** Takes the root's start tag, `<name …>`. */
  root(tag: string): void {
    for (const [, name, value] of tag.matchAll(/([^\s=<>"']+)\s*=\s*("[^"]*"|'[^']*')/g)) {
      if (name === this.attribute) this.declared = value.slice(1, -1).trim()
    }
  }

  /** Why a document that holds so many records is not what its root says; null: it is, or the root says nothing. */
  doubt(records: number): string | null {
    if (this.declared === null || this.declared === '') return null
    const count = /^\d{1,15}$/.test(this.declared) ? Number(this.declared) : null
    if (count === null) return `the root's ${this.attribute} is not a number of records`
    return count === records
      ? null
      : `the root's ${this.attribute} is ${count}, but the document holds ${records} records`
  }
}
