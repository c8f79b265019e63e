import { many } from '../../core/text.ts'
import { brokenRecord, tooLong } from './format.ts'
import type { RawRecord } from './format.ts'
import { bang, greaterThan, lessThan, nameAt, question, slash, startsName, tagEnd } from './markup.ts'
import { XmlOutline } from './xml-outline.ts'
import { XmlRecordEnd } from './xml-record-end.ts'

/** How many bytes of a new block are copied behind the rest of the last one. The rest of the block is scanned in place. */
const joinBytes = 64 * 1024

export interface XmlSplitterOptions {
  /** Where the document's own count of records is: an attribute of the root, or a path from it. */
  counter?: string
  /** Path of the element before the records that says when the document was written. */
  written?: string
  /** Called for every start tag that may contain records, with the depth of its element, and for every end tag. */
  around?: {
    /** Gives the depth of the open element for whose records the text of this one is a value; null: it is no value. */
    opens(isAt: (path: readonly string[]) => boolean, tag: Buffer, depth: number): number | null
    /**
     * Takes the whole element that `opens` asked for; `isLate`: it stands after a record that it is for. Gives a reason why the document
     * is incomplete, or null.
     */
    element(raw: Buffer, isLate: boolean): string | null
    closes(depth: number): void
    parts(): NonNullable<RawRecord['parts']>
    now(): string | undefined
  }
  /** Called for every start tag before the first record; `isAt`: whether its element is at a path from the root. */
  beforeRecords?: (isAt: (path: readonly string[]) => boolean, tag: Buffer) => void
}

/**
 * Cuts an XML document, in UTF-8 or another encoding that keeps ASCII, into its record elements.
 *
 * Between records every tag is read (`XmlOutline` keeps the balance); within one, `XmlRecordEnd` looks only for its end.
 * A record longer than `maxRecordBytes` is read tag by tag like the space between records and returned as a broken one.
 * Records are views on the blocks pushed; only what lies across two blocks is copied.
 */
export class XmlSplitter {
  private buffer: Buffer = Buffer.alloc(0)
  /** Offset of `buffer[0]` in the document. */
  private base = 0
  /** Everything before is done; within a record, its first byte. */
  private position = 0
  private inRecord = false
  private recordPlace = ''
  /** Depth of the outline at which the current oversized record ends. */
  private oversizedDepth: number | null = null
  /** What ends the comment, CDATA section or instruction that `position` is in. */
  private skipping: { end: string; what: string } | null = null
  private count = 0
  private stopped = false
  private readonly outline: XmlOutline
  private readonly recordEnd = new XmlRecordEnd()
  private readonly maxRecordBytes: number
  /** The document's own count of records. */
  private readonly counter: Said | null
  private readonly writtenAt: Said | null
  private readonly statements: readonly Said[]
  private readonly beforeRecords: XmlSplitterOptions['beforeRecords']
  private readonly around: XmlSplitterOptions['around']

  /** The element around records that is being read for its text. */
  private reading: { depth: number; from: number; before: Buffer[]; bytes: number; isLate: boolean } | null = null
  /** For each open element: how many records there were before it. */
  private readonly before: number[] = []

  /** `records` are the paths of record elements from the root (`FormatOptions.record`). */
  constructor(records: readonly string[], maxRecordBytes: number, options: XmlSplitterOptions = {}) {
    this.outline = new XmlOutline(records)
    this.maxRecordBytes = maxRecordBytes
    this.counter = options.counter === undefined ? null : saidAt(options.counter)
    this.writtenAt = options.written === undefined ? null : saidAt(options.written)
    this.statements = [this.counter, this.writtenAt].filter((statement) => statement !== null)
    this.beforeRecords = options.beforeRecords
    this.around = options.around
  }

  /** Takes the next bytes and returns the records that end in them. Throws `FeedError` for another kind of document. */
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

  /** Ends the document and returns the unfinished record, if any; `reasons` is valid from here. */
  end(): RawRecord[] {
    if (this.stopped) return []
    const cut = this.inRecord || this.oversizedDepth !== null
    if (this.skipping) this.outline.doubt(`the document ends in the middle of ${this.skipping.what}`)
    else if (!cut && this.position < this.buffer.length) this.outline.doubt('the document ends in the middle of a tag')
    this.outline.end(this.base + this.buffer.length, cut ? this.recordPlace : null)
    // The count reveals a document that was cut off but still looks complete.
    const declared = this.counter === null ? '' : textOf(this.counter)
    if (!/^\d{0,15}$/.test(declared)) {
      this.outline.doubt(`${this.counter?.shown} is not a number of records`)
    } else if (declared !== '' && Number(declared) !== this.count) {
      this.outline.doubt(
        `${this.counter?.shown} is ${Number(declared)}, but the document holds ${many(this.count, 'record')}`,
      )
    }
    return cut ? [brokenRecord(this.recordPlace, 'the document ends in the middle of this record')] : []
  }

  /** When the document says that it was written, as it spells it; null: it does not say. Valid from the first record on. */
  get written(): string | null {
    return this.writtenAt === null ? null : textOf(this.writtenAt) || null
  }

  /** Bytes of a record or tag whose end has not come yet. */
  get waiting(): number {
    return this.buffer.length - this.position
  }

  /** Why the document may be incomplete or malformed. */
  get reasons(): string[] {
    return this.outline.reasons
  }

  /** Changes the window: the first byte of `buffer` is where `from` was in the old one. */
  private look(buffer: Buffer, from: number): void {
    if (this.reading !== null) {
      this.keep(this.reading, from)
      this.reading.from = 0
    }
    this.base += from
    this.position -= from
    this.buffer = buffer
    this.recordEnd.look(buffer, from)
  }

  private keep(reading: NonNullable<XmlSplitter['reading']>, to: number): void {
    const piece = this.buffer.subarray(reading.from, to)
    reading.bytes += piece.length
    if (reading.bytes <= longestElement) reading.before.push(Buffer.from(piece))
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
    const outside = this.around?.now()
    const parts = this.around?.parts()
    const hasParts = parts !== undefined && Object.keys(parts).length > 0
    const record = { at: this.recordPlace, raw, ...(outside !== undefined && { outside }), ...(hasParts && { parts }) }
    records.push(raw.length > this.maxRecordBytes ? this.oversized() : record)
    this.position = end
    this.inRecord = false
    return true
  }

  private oversized(): RawRecord {
    return brokenRecord(this.recordPlace, tooLong('the record', this.maxRecordBytes))
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
    // UTF-16 records must not pass as text; any other "<" outside a tag, as in "3 < 4", is allowed.
    if (second === 0) this.outline.doubt('there is text in another encoding between the records')
    this.text(open + 1)
    return true
  }

  /** A declaration within the root begins another document, whose records would not be found. */
  private instruction(open: number): boolean {
    const start = open + 2
    if (this.outline.depth > 0) {
      if (this.buffer.length < start + 4) return this.unfinished(open)
      if (/^xml\s/.test(this.buffer.toString('latin1', start, start + 4)))
        this.outline.doubt('there is a second XML declaration within the document')
    }
    return this.enter(start, '?>', 'a processing instruction')
  }

  /** Skips text up to `end`. Within the root it is harmless: real feeds have a stray `>` or date there. */
  private text(end: number): void {
    if (this.outline.depth === 0 && end > this.position) this.outline.outside(this.buffer.subarray(this.position, end))
    this.hear(end)
    this.position = end
  }

  /** Adds what is up to `end` to the value whose element is open, if one is. */
  private hear(end: number): void {
    for (const statement of this.statements)
      if (statement.depth === this.outline.depth && statement.text.length < longestSaid)
        statement.text += this.buffer.toString('latin1', this.position, Math.min(end, this.position + longestSaid))
  }

  private startTag(open: number): boolean {
    const end = tagEnd(this.buffer, open + 1)
    if (end < 0) return this.unfinished(open)
    const name = nameAt(this.buffer, open + 1)
    if (this.outline.isRecord(name) && this.oversizedDepth === null) {
      this.count++
      this.recordPlace = `record ${this.count}, byte ${this.base + open}`
      this.inRecord = true
      this.recordEnd.begin(open, name)
      return true
    }
    const isAt = (path: readonly string[]): boolean => this.outline.isAt(path, name)
    const isClosed = this.buffer[end - 1] === slash
    const tag = this.buffer.subarray(open, end + 1)
    const here = this.statements.filter(
      (statement) =>
        (statement.path === null ? this.outline.depth === 0 : isAt(statement.path)) &&
        (statement === this.counter || this.count === 0),
    )
    for (const statement of here)
      if (statement.attribute !== null)
        statement.text = declaredIn(tag.toString('latin1'), statement.attribute) || statement.text
    if (this.count === 0) this.beforeRecords?.(isAt, tag)
    const scope = isClosed ? null : (this.around?.opens(isAt, tag, this.outline.depth + 1) ?? null)
    this.outline.startTag(name, isClosed)
    if (!isClosed) this.before[this.outline.depth] = this.count
    if (scope !== null && this.reading === null) {
      const isLate = this.count > (this.before[scope] ?? 0)
      this.reading = { depth: this.outline.depth, from: open, before: [], bytes: 0, isLate }
    }
    // The first of several counts, as with attributes.
    for (const statement of here)
      if (statement.attribute === null && !isClosed && statement.text === '') statement.depth = this.outline.depth
    this.position = end + 1
    return true
  }

  private endTag(open: number, records: RawRecord[]): boolean {
    const end = this.buffer.indexOf(greaterThan, open)
    if (end < 0) return this.unfinished(open)
    this.outline.endTag(nameAt(this.buffer, open + 2))
    for (const statement of this.statements)
      if (statement.depth !== null && this.outline.depth < statement.depth) statement.depth = null
    const { reading } = this
    if (reading !== null && this.outline.depth < reading.depth) {
      this.keep(reading, end + 1)
      this.reading = null
      if (reading.bytes <= longestElement) {
        const reason = this.around?.element(Buffer.concat(reading.before), reading.isLate) ?? null
        if (reason !== null) this.outline.doubt(reason)
      } else this.outline.doubt(`an element that is named under around or parts is longer than ${longestElement} bytes`)
    }
    this.around?.closes(this.outline.depth)
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
      return this.enter(open + 9, ']]>', cdata)
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
    const { end, what } = this.skipping!
    const found = this.buffer.indexOf(end, this.position)
    const next = found < 0 ? Math.max(this.position, this.buffer.length - end.length + 1) : found
    if (what === cdata) this.hear(next)
    if (found < 0) {
      this.position = next
      return false
    }
    this.position = found + end.length
    this.skipping = null
    return true
  }

  /** A tag that does not end in this window: wait for more, unless it is too long for a tag. */
  private unfinished(open: number): false {
    if (this.buffer.length - open > this.maxRecordBytes) {
      this.outline.doubt(`the tag at byte ${this.base + open} does not end; the rest of the document was not read`)
      this.stopped = true
    }
    return false
  }
}

/** A longer element counts as no value of the records after it. */
const longestElement = 64 * 1024

const cdata = 'a CDATA section'

/** Longer text is neither a count nor a time. */
const longestSaid = 100

/** A value that the document says once, outside its records. */
interface Said {
  /** Names from the root in their bytes as Latin-1; null: the root, whatever its name. */
  path: readonly string[] | null
  /** Without the @; null: the element's text. */
  attribute: string | null
  /** For messages. */
  shown: string
  /** As found. */
  text: string
  /** Depth of the element whose text it is; null: it is not open. */
  depth: number | null
}

const textOf = ({ text }: Said): string => text.replaceAll('<![CDATA[', '').trim()

/** `@count`, `feed/head/@count` or `feed/head/count`. */
function saidAt(written: string): Said {
  const nothing = { text: '', depth: null }
  if (written.startsWith('@'))
    return { path: null, attribute: written.slice(1), shown: `the root's ${written.slice(1)}`, ...nothing }
  const names = written.split('/').map((name) => Buffer.from(name).toString('latin1'))
  const last = names.at(-1) ?? ''
  const attribute = last.startsWith('@') ? last.slice(1) : null
  return { path: attribute === null ? names : names.slice(0, -1), attribute, shown: written, ...nothing }
}

/** How many records the root's start tag declares in `attribute` (`listing_count`), as written; '': it does not say. */
function declaredIn(tag: string, attribute: string): string {
  // A match begins where a name does: tried within it, too, a long name would take quadratic time.
  const attributes = [...tag.matchAll(/(?<![^\s=<>"'])([^\s=<>"']+)\s*=\s*("[^"]*"|'[^']*')/g)]
  return (
    attributes
      .findLast(([, name]) => name === attribute)?.[2]
      .slice(1, -1)
      .trim() ?? ''
  )
}
