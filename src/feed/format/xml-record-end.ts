import { bang, endsName, greaterThan, mayBeQuoted, markupAt, slash, tagEnd } from './markup.ts'

const commentStart = Buffer.from('<!--')
const cdataStart = Buffer.from('<![CDATA[')

/** Next place of one needle in the window: searched once for a whole stretch, not once a record. */
class Cursor {
  readonly needle: Buffer
  private found = -1

  constructor(needle: Buffer) {
    this.needle = needle
  }

  from(buffer: Buffer, index: number): number {
    if (this.found < index) {
      const found = buffer.indexOf(this.needle, index)
      this.found = found < 0 ? Infinity : found
    }
    return this.found
  }

  forget(): void {
    this.found = -1
  }
}

/**
 * Finds where record elements end without reading their tags (performance.md, P1). Four needles are enough: the record's
 * own end tag, its own name once more (nested), `<!` and `<?`. What lies in a comment, a CDATA section, an instruction or
 * a quoted value is passed over.
 */
export class XmlRecordEnd {
  private buffer: Buffer = Buffer.alloc(0)
  private name = ''
  private endTag = new Cursor(Buffer.from('</'))
  private startTag = new Cursor(Buffer.from('<'))
  private readonly declaration = new Cursor(Buffer.from('<!'))
  private readonly instruction = new Cursor(Buffer.from('<?'))
  private depth = 0
  /** A place known to be between tags; nothing before it needs to be looked at again. */
  private between = 0
  private searchFrom = 0

  /** Changes the window: the first byte of `buffer` is where `from` was in the old one. */
  look(buffer: Buffer, from: number): void {
    this.buffer = buffer
    this.between -= from
    this.searchFrom -= from
    for (const cursor of [this.endTag, this.startTag, this.declaration, this.instruction]) cursor.forget()
  }

  /** Begins with the record whose start tag is at `start`; `name` is its name as written, its bytes as Latin-1. */
  begin(start: number, name: string): void {
    if (name !== this.name) {
      this.name = name
      this.endTag = new Cursor(Buffer.from(`</${name}`, 'latin1'))
      this.startTag = new Cursor(Buffer.from(`<${name}`, 'latin1'))
    }
    this.depth = 0
    this.between = start
    this.searchFrom = start
  }

  /** Index after the record's end tag; -1: not in this window. */
  find(): number {
    const { buffer } = this
    while (true) {
      const ends = this.endTag.from(buffer, this.searchFrom)
      const starts = this.startTag.from(buffer, this.searchFrom)
      const declares = this.declaration.from(buffer, this.searchFrom)
      const instructs = this.instruction.from(buffer, this.searchFrom)
      const at = Math.min(ends, starts, declares, instructs)
      if (at === Infinity) {
        this.searchFrom = Math.max(this.searchFrom, buffer.length - this.endTag.needle.length + 1)
        return -1
      }
      const next =
        at === ends
          ? this.end(at)
          : at === starts
            ? this.start(at)
            : this.pass(at, at === instructs ? this.instruction : this.declaration)
      this.searchFrom = next < 0 ? at : next
      if (next < 0) return -1
      if (this.depth === 0) return next
    }
  }

  private end(at: number): number {
    const after = this.buffer[at + this.endTag.needle.length]
    if (after === undefined) return -1
    if (!endsName(after)) return at + 1
    const quoted = this.quoted(at)
    if (quoted !== at) return quoted
    const close = this.buffer.indexOf(greaterThan, at)
    if (close < 0) return -1
    this.depth--
    return this.reach(close + 1)
  }

  private start(at: number): number {
    const after = this.buffer[at + this.startTag.needle.length]
    if (after === undefined) return -1
    if (!endsName(after)) return at + 1
    const quoted = this.quoted(at)
    if (quoted !== at) return quoted
    const close = tagEnd(this.buffer, at + 1)
    if (close < 0) return -1
    if (this.buffer[close - 1] !== slash) this.depth++
    return this.reach(close + 1)
  }

  private pass(at: number, kind: Cursor): number {
    const { buffer } = this
    const quoted = this.quoted(at)
    if (quoted !== at) return quoted
    if (kind === this.instruction) return this.reach(after(buffer, '?>', at + 2))
    // `<!` alone at the window's end may become either.
    if (buffer.length < at + cdataStart.length && beginsAlike(buffer.subarray(at))) return -1
    if (buffer[at + 1] === bang && startsWith(buffer, at, commentStart)) return this.reach(after(buffer, '-->', at + 4))
    if (startsWith(buffer, at, cdataStart)) return this.reach(after(buffer, ']]>', at + 9))
    return at + 2
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

function startsWith(buffer: Buffer, at: number, mark: Buffer): boolean {
  return buffer.compare(mark, 0, mark.length, at, Math.min(at + mark.length, buffer.length)) === 0
}

function beginsAlike(rest: Buffer): boolean {
  return [commentStart, cdataStart].some(
    (mark) =>
      rest.compare(mark, 0, Math.min(mark.length, rest.length), 0, Math.min(mark.length, rest.length)) === 0 &&
      rest.length < mark.length,
  )
}
