import { bang, endsName, greaterThan, lessThan, markupAt, mayBeQuoted, question, slash, tagEnd } from './markup.ts'

const commentStart = '<!--'
const cdataStart = '<![CDATA['

/**
 * Next place of one needle in the window: searched once for many records. Needles do not begin with `<`, the most frequent
 * byte: the search would stop at each one and take several times as long.
 */
class Cursor {
  readonly length: number
  private readonly needle: Buffer | number
  private found = -1

  constructor(needle: Buffer | number) {
    this.needle = needle
    this.length = typeof needle === 'number' ? 1 : needle.length
  }

  /** First needle at or after `index` that follows `<`, or `</` if it is a name; Infinity: none in the window. */
  from(buffer: Buffer, index: number): number {
    if (this.found >= index) return this.found
    let found = buffer.indexOf(this.needle, index)
    while (found >= 0 && !this.isMarkup(buffer, found)) found = buffer.indexOf(this.needle, found + 1)
    this.found = found < 0 ? Infinity : found
    return this.found
  }

  forget(): void {
    this.found = -1
  }

  private isMarkup(buffer: Buffer, index: number): boolean {
    const before = buffer[index - 1]
    if (typeof this.needle === 'number') return before === lessThan
    if (before !== lessThan && !(before === slash && buffer[index - 2] === lessThan)) return false
    const after = buffer[index + this.length]
    return after === undefined || endsName(after)
  }
}

/**
 * Finds where record elements end without reading their tags. Three needles are enough: the record's
 * own name in a tag, `<!` and `<?`. Comments, CDATA sections, instructions and quoted values are skipped.
 */
export class XmlRecordEnd {
  private buffer: Buffer = Buffer.alloc(0)
  private name = ''
  private tag = new Cursor(slash)
  private readonly declaration = new Cursor(bang)
  private readonly instruction = new Cursor(question)
  private depth = 0
  /** A place known to be between tags; everything before it is done. */
  private between = 0
  private searchFrom = 0

  /** Changes the window: the first byte of `buffer` is where `from` was in the old one. */
  look(buffer: Buffer, from: number): void {
    this.buffer = buffer
    this.between -= from
    this.searchFrom -= from
    for (const cursor of [this.tag, this.declaration, this.instruction]) cursor.forget()
  }

  /** Begins with the record whose start tag is at `start`; `name` is its name as written, its bytes as Latin-1. */
  begin(start: number, name: string): void {
    if (name !== this.name) {
      this.name = name
      this.tag = new Cursor(Buffer.from(name, 'latin1'))
    }
    this.depth = 0
    this.between = start
    this.searchFrom = start
  }

  /** Index after the record's end tag; -1: not in this window. */
  find(): number {
    const { buffer } = this
    while (true) {
      const tag = this.tag.from(buffer, this.searchFrom)
      const declaration = this.declaration.from(buffer, this.searchFrom)
      const instruction = this.instruction.from(buffer, this.searchFrom)
      const at = Math.min(tag, declaration, instruction)
      if (at === Infinity) {
        this.searchFrom = Math.max(this.searchFrom, buffer.length - this.tag.length)
        return -1
      }
      const open = buffer[at - 1] === slash ? at - 2 : at - 1
      const quoted = this.quoted(open)
      const next = quoted === open ? this.reach(at === tag ? this.afterTag(at) : this.afterOther(open)) : quoted
      this.searchFrom = next < 0 ? at : next
      if (next < 0) return -1
      if (this.depth === 0) return next
    }
  }

  /** The place after the tag whose name is at `index`; -1: more bytes are needed. */
  private afterTag(index: number): number {
    const { buffer } = this
    if (buffer.length === index + this.tag.length) return -1
    const closes = buffer[index - 1] === slash
    const end = closes ? buffer.indexOf(greaterThan, index) : tagEnd(buffer, index)
    if (end < 0) return -1
    if (closes) this.depth--
    else if (buffer[end - 1] !== slash) this.depth++
    return end + 1
  }

  /** The same for an instruction, comment, CDATA section or other declaration, which begins at `at`. */
  private afterOther(at: number): number {
    const { buffer } = this
    if (buffer[at + 1] === question) return after(buffer, '?>', at + 2)
    const mark = buffer.toString('latin1', at, at + cdataStart.length)
    if (mark.startsWith(commentStart)) return after(buffer, '-->', at + commentStart.length)
    if (mark === cdataStart) return after(buffer, ']]>', at + cdataStart.length)
    // At the end of the window it may still become either.
    return commentStart.startsWith(mark) || cdataStart.startsWith(mark) ? -1 : at + 2
  }

  /** `at` if markup begins there; the place after the tag if it lies in a value; -1: more bytes are needed. */
  private quoted(at: number): number {
    if (!mayBeQuoted(this.buffer, this.between, at)) return at
    const index = markupAt(this.buffer, this.between, at)
    return index === at ? at : this.reach(index)
  }

  private reach(index: number): number {
    if (index >= 0) this.between = index
    return index
  }
}

function after(buffer: Buffer, end: string, from: number): number {
  const found = buffer.indexOf(end, from)
  return found < 0 ? -1 : found + end.length
}
