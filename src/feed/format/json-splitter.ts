import { FeedError } from '../../core/errors.ts'
import { anyOf } from '../../core/schema-words.ts'
import { printable, shorten } from '../../core/text.ts'
import { brokenRecord, tooLong } from './format.ts'
import type { RawRecord } from './format.ts'

/** Deepest nesting outside records; an answer of a server has two or three levels. */
const deepest = 100
/** Longer names are of no member that anything here needs. */
const longestName = 200

const quote = 34
const comma = 44
const colon = 58
const openArray = 91
const backslash = 92
const closeArray = 93
const openObject = 123
const closeObject = 125

/** What a member for errors holds where there was none. */
const noError = /^\s*(?:null|false|0+|200|none|no[ _-]?errors?|ok|success)?\.?\s*$/i

interface Container {
  isArray: boolean
  /** Names from the root, joined by `/`; an array's elements have its own. */
  path: string
  /** The member that is being read. */
  name: string
}

/** What may come next between records. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing'

interface JsonSplitterOptions {
  maxRecordBytes: number
  /** Is told of each member outside records whose value is no object or array. */
  member(path: string, value: MemberValue): void
}

export interface MemberValue {
  /** As found, a text without its quotes: the first 1,000 bytes. */
  read: () => string
  /** It is in an object of some array. */
  isInArray: () => boolean
}

/**
 * Cuts a JSON document, in UTF-8 or another encoding that keeps ASCII, into the objects of its record arrays. Between records
 * every token is read and must be in its place; within one, only quotes and brackets are looked at: the parser checks the rest.
 * With `.` among the paths, a document that is one object, and has none of the other arrays, is a record itself.
 * Records are views on the blocks pushed; only what lies across two blocks is copied.
 */
export class JsonSplitter {
  /** Why the document may be incomplete or malformed. */
  readonly reasons: string[] = []
  /** Records so far. */
  count = 0
  private readonly paths: ReadonlySet<string>
  private readonly options: JsonSplitterOptions
  private readonly open: Container[] = []
  private buffer: Buffer = Buffer.alloc(0)
  /** Offset of `buffer[0]` in the document. */
  private base = 0
  /** Everything before this place is done. */
  private position = 0
  private expected: Expected = 'value'
  /** First byte of the record that is being read; -1: none is. */
  private recordStart = -1
  private place = ''
  private depth = 0
  private inText = false
  private oversized = false
  /** First byte of a root that may be the only record; -1: it can't be. */
  private rootStart = -1
  /** Whether the root has a value of its own: an answer's envelope may have none. */
  private hasValue = false
  private hasArray = false
  private hasError = false
  /** What the root's member `error` or `errors` says, if that is an error; null: nothing. */
  private saidError: string | null = null
  private stopped = false

  constructor(paths: readonly string[], options: JsonSplitterOptions) {
    this.paths = new Set(paths.map((path) => (path === '.' ? '' : path)))
    this.options = options
  }

  /** Takes the next bytes and returns the records that end in them. Throws `FeedError` for another kind of document. */
  push(block: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    if (this.stopped) return records
    const keptFrom = this.keptFrom()
    const kept = this.buffer.subarray(keptFrom)
    this.buffer = kept.length === 0 ? block : Buffer.concat([kept, block])
    this.base += keptFrom
    this.position -= keptFrom
    if (this.recordStart >= 0) this.recordStart -= keptFrom
    if (this.rootStart >= 0) this.rootStart -= keptFrom
    let going = true
    while (going) going = this.recordStart >= 0 ? this.finish(records) : this.token(records)
    if (this.buffer.length - this.position > this.options.maxRecordBytes && this.recordStart < 0)
      this.stop(`the text at byte ${this.base + this.position} does not end`)
    if (this.rootStart >= 0 && this.buffer.length - this.rootStart > this.options.maxRecordBytes) this.rootStart = -1
    return records
  }

  /** Bytes that wait for more. */
  get waiting(): number {
    return this.stopped ? 0 : this.buffer.length - this.keptFrom()
  }

  /** Ends the document; `reasons` is valid from here. Throws `FeedError` if it is whole and holds no array of records. */
  end(): RawRecord[] {
    if (this.stopped) return []
    const cut = this.recordStart >= 0
    if (cut) this.doubt(`the document ends in the middle of ${this.place}`)
    else if (this.position < this.buffer.length) {
      // A number, or a word, at the very end has nothing behind it that ends it.
      this.doubt('the document ends in the middle of a value')
    } else if (this.open.length > 0) this.doubt('the document ends before it is closed')
    else if (this.expected !== 'nothing') this.doubt('the document is empty')
    else if (this.hasError && !this.hasArray) {
      throw new FeedError('the document is the error message of a server (its member "error"), not a feed')
    } else if (!this.hasArray && this.count === 0) {
      const wanted = [...this.paths].map((path) => (path === '' ? 'that it is itself' : JSON.stringify(path)))
      throw new FeedError(`the document is JSON without an array of records ${anyOf(wanted)}`)
    } else if (this.saidError !== null) {
      this.doubt(`the document says beside its records that something went wrong ("${this.saidError}")`)
    }
    return cut ? [brokenRecord(this.place, 'the document ends in the middle of this record')] : []
  }

  private keptFrom(): number {
    // An escape may end behind the window.
    let from = Math.min(this.position, this.buffer.length)
    if (this.recordStart >= 0 && !this.oversized) from = Math.min(from, this.recordStart)
    return this.rootStart >= 0 ? Math.min(from, this.rootStart) : from
  }

  /** Reads on to the end of the record; false: more bytes are needed. */
  private finish(records: RawRecord[]): boolean {
    const end = this.recordEnd()
    if (end < 0) {
      // What was read of such a record is not kept.
      if (!this.oversized && this.buffer.length - this.recordStart > this.options.maxRecordBytes) this.oversized = true
      return false
    }
    const isLong = this.oversized || end - this.recordStart > this.options.maxRecordBytes
    const problem = tooLong('the record', this.options.maxRecordBytes)
    const raw = isLong ? null : this.buffer.subarray(this.recordStart, end)
    records.push(raw === null ? brokenRecord(this.place, problem) : { at: this.place, raw })
    this.recordStart = -1
    this.oversized = false
    this.expected = 'comma or end'
    return true
  }

  private recordEnd(): number {
    const { buffer } = this
    let { position, depth, inText } = this
    let end = -1
    for (; position < buffer.length; position++) {
      const byte = buffer[position]
      if (inText) {
        if (byte === backslash) position++
        else if (byte === quote) inText = false
      } else if (byte === quote) inText = true
      else if (byte === openObject || byte === openArray) depth++
      else if ((byte === closeObject || byte === closeArray) && --depth === 0) {
        end = ++position
        break
      }
    }
    this.position = position
    this.depth = depth
    this.inText = inText
    return end
  }

  /** Reads one token between records; false: more bytes are needed, or nothing more is read. */
  private token(records: RawRecord[]): boolean {
    const { buffer } = this
    while (this.position < buffer.length && isBlank(buffer[this.position])) this.position++
    if (this.position >= buffer.length) return false
    const byte = buffer[this.position]
    const isOutside = this.open.length === 0
    if (isOutside && (this.expected === 'nothing' || (byte !== openObject && byte !== openArray)))
      return this.misplaced()
    if (byte === comma) return this.mark('comma or end', this.open.at(-1)?.isArray === true ? 'value' : 'name')
    if (byte === colon) return this.mark('colon', 'value')
    if (byte === openObject || byte === openArray) return this.opening(byte === openArray)
    if (byte === closeObject || byte === closeArray) return this.closing(byte === closeArray, records)
    const end = byte === quote ? textEnd(buffer, this.position) : wordEnd(buffer, this.position)
    return end < 0 ? false : this.scalar(byte === quote, end, records)
  }

  private mark(wanted: Expected, next: Expected): boolean {
    if (this.expected !== wanted) return this.misplaced()
    this.expected = next
    this.position++
    return true
  }

  private opening(isArray: boolean): boolean {
    if (!this.takesValue()) return this.misplaced()
    const parent = this.open.at(-1)
    const path = this.pathOfValue()
    if (!isArray && parent?.isArray === true && this.paths.has(path)) {
      this.begin()
      return true
    }
    if (this.open.length >= deepest) return this.stop(`the document nests deeper than ${deepest}`)
    if (parent === undefined && !isArray && this.paths.has('')) this.rootStart = this.position
    if (isArray && this.paths.has(path)) {
      this.hasArray = true
      this.rootStart = -1
    }
    this.open.push({ isArray, path, name: '' })
    this.expected = isArray ? 'value or end' : 'name or end'
    this.position++
    return true
  }

  private begin(): void {
    this.count++
    this.place = `record ${this.count}, byte ${this.base + this.position}`
    this.recordStart = this.position
    this.depth = 0
    this.inText = false
  }

  private closing(isArray: boolean, records: RawRecord[]): boolean {
    const last = this.open.at(-1)
    const fits = this.expected === 'comma or end' || this.expected === (isArray ? 'value or end' : 'name or end')
    if (last?.isArray !== isArray || !fits) return this.misplaced()
    this.open.pop()
    this.position++
    this.expected = this.open.length === 0 ? 'nothing' : 'comma or end'
    if (this.open.length === 0 && this.rootStart >= 0) {
      if (this.hasValue && !this.hasError) {
        this.count++
        const at = `record 1, byte ${this.base + this.rootStart}`
        records.push({ at, raw: this.buffer.subarray(this.rootStart, this.position) })
      }
      this.rootStart = -1
    }
    return true
  }

  private scalar(isText: boolean, end: number, records: RawRecord[]): boolean {
    const { expected, position } = this
    const last = this.open.at(-1)
    if (expected === 'name' || expected === 'name or end') {
      if (!isText || last === undefined) return this.misplaced()
      const length = end - position - 2
      // A name that no path has, so that it can't be taken for the document itself.
      last.name = length === 0 || length > longestName ? '\u0000' : this.buffer.toString('utf8', position + 1, end - 1)
      if (this.open.length === 1 && last.name === 'error') this.hasError = true
      this.expected = 'colon'
    } else if (this.takesValue() && last !== undefined && (isText || this.isWord(end))) {
      const path = this.pathOfValue()
      if (last.isArray && this.paths.has(path)) {
        this.count++
        const at = `record ${this.count}, byte ${this.base + position}`
        records.push(brokenRecord(at, 'the record is no object'))
      } else if (!last.isArray) {
        const length = isText ? 1 : 0
        this.options.member(path, {
          read: () => this.buffer.toString('utf8', position + length, Math.min(end - length, position + 1000)),
          isInArray: () => this.open.some(({ isArray }) => isArray),
        })
      }
      const { name } = this.open[0]
      if (name === 'error' || name === 'errors') this.noteError(isText, end)
      if (this.open.length === 1) this.hasValue = true
      this.expected = 'comma or end'
    } else return this.misplaced()
    this.position = end
    return true
  }

  /** Some servers answer with what they have of the records, and say beside them that they failed. */
  private noteError(isText: boolean, end: number): void {
    const [from, to] = isText ? [this.position + 1, end - 1] : [this.position, end]
    const value = this.buffer.toString('utf8', from, Math.min(to, from + longestName))
    if (!noError.test(value)) this.saidError ??= shorten(printable(value), 60)
  }

  private isWord(end: number): boolean {
    const word = this.buffer.toString('latin1', this.position, Math.min(end, this.position + longestName))
    return /^(?:true|false|null|-?\d[\d.eE+-]*)$/.test(word)
  }

  private takesValue(): boolean {
    return this.expected === 'value' || this.expected === 'value or end'
  }

  /** The path of the value that begins here. */
  private pathOfValue(): string {
    const parent = this.open.at(-1)
    if (parent === undefined) return ''
    if (parent.isArray) return parent.path
    return parent.path === '' ? parent.name : `${parent.path}/${parent.name}`
  }

  private misplaced(): false {
    const at = this.base + this.position
    if (this.open.length === 0 && this.expected === 'value')
      throw new FeedError('the document is not JSON: it begins with neither { nor [')
    return this.stop(`byte ${at} of the document is not as JSON has it`)
  }

  private stop(reason: string): false {
    this.doubt(`${reason}; the rest of the document was not read`)
    this.stopped = true
    this.buffer = Buffer.alloc(0)
    this.position = 0
    return false
  }

  private doubt(reason: string): void {
    this.reasons.push(reason)
  }
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9
}

/** Index after the closing quote of the text that begins at `from`; -1: not in this buffer. */
function textEnd(buffer: Buffer, from: number): number {
  for (let index = from + 1; index < buffer.length; index++) {
    if (buffer[index] === backslash) index++
    else if (buffer[index] === quote) return index + 1
  }
  return -1
}

/** Index after a number, `true`, `false` or `null`; -1: more bytes may belong to it. Anything else ends at once. */
function wordEnd(buffer: Buffer, from: number): number {
  let index = from
  while (index < buffer.length && isOfWord(buffer[index])) index++
  return index === buffer.length ? -1 : Math.max(index, from + 1)
}

function isOfWord(byte: number): boolean {
  return (
    (byte >= 48 && byte <= 57) ||
    (byte >= 97 && byte <= 122) ||
    byte === 43 ||
    byte === 45 ||
    byte === 46 ||
    byte === 69
  )
}
