import { bang, endsName, greaterThan, lessThan, markupAt, mayBeQuoted, question, slash, tagEnd } from './markup.ts'

const commentStart = '<!--'
const cdataStart = '<![CDATA['

/**
 * Next place of one needle in the window: searched once for a whole stretch, not once a record. Needles do not begin with
 * `<`, which is the most frequent byte of all: the search would stop at each, and take several times as long.
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
 * own name in a tag, `<!` and `<?`. What lies in a comment, a CDATA section, an instruction or a quoted value is passed over.
 */
export class XmlRecordEnd {
  private buffer: Buffer = Buffer.alloc(0)
  private name = ''
  private tag = new Cursor(slash)
  private readonly declaration = new Cursor(bang)
  private readonly instruction = new Cursor(question)
  private depth = 0
  /** A place known to be between tags; nothing before it needs to be looked at again. */
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
      const next =
        at === tag ? this.passTag(at) : at === declaration ? this.passDeclaration(at) : this.passInstruction(at)
      this.searchFrom = next < 0 ? at : next
      if (next < 0) return -1
      if (this.depth === 0) return next
    }
  }

  /** The tag whose name is at `index`. */
  private passTag(index: number): number {
    const { buffer } = this
    if (buffer.length === index + this.tag.length) return -1
    const closes = buffer[index - 1] === slash
    const at = closes ? index - 2 : index - 1
    const quoted = this.quoted(at)
    if (quoted !== at) return quoted
    const end = closes ? buffer.indexOf(greaterThan, index) : tagEnd(buffer, index)
    if (end < 0) return -1
    if (closes) this.depth--
    else if (buffer[end - 1] !== slash) this.depth++
    return this.reach(end + 1)
  }

  private passInstruction(index: number): number {
    const quoted = this.quoted(index - 1)
    return quoted === index - 1 ? this.reach(after(this.buffer, '?>', index + 1)) : quoted
  }

  private passDeclaration(index: number): number {
    const { buffer } = this
    const at = index - 1
    const quoted = this.quoted(at)
    if (quoted !== at) return quoted
    const mark = buffer.toString('latin1', at, at + cdataStart.length)
    if (mark.startsWith(commentStart)) return this.reach(after(buffer, '-->', at + commentStart.length))
    if (mark === cdataStart) return this.reach(after(buffer, ']]>', at + cdataStart.length))
    // At the window's end it may still become either.
    if (commentStart.startsWith(mark) || cdataStart.startsWith(mark)) return -1
    return this.reach(index + 1)
  }

  /** `at` where markup begins there; past the tag that holds it where it lies in a value; -1: more bytes are needed. */
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
