import type { z } from 'zod'

/** A record's bytes in UTF-8 (or, if undeclared, in the original encoding), with its place as text. */
export interface RawRecord {
  at: string
  raw: Buffer
  /** Values from around it that are part of its meaning, as JSON: name → text. */
  outside?: string
  /** Elements elsewhere in the document that it may refer to, by the name of `FormatOptions.parts`. */
  parts?: Readonly<Record<string, RecordNode[]>>
  /** Why it could not be cut out or trusted: it has no bytes then, and parsing it throws this. */
  problem?: string
}

/**
 * A parsed record: text, or named children. Attributes are named `@name`, the text beside them `#text`; a repeated element is an
 * array. Values from outside the record are named `@@name`: its element's name if the record path has alternatives, the document's
 * `header`, and those `around` the record. A CSV row is an object of header → cell. Objects have no prototype.
 * Every leaf is the text as found (entities decoded, not trimmed further): types come from the mapping.
 */
export type RecordNode = string | RecordFields

export interface RecordFields {
  [name: string]: RecordNode | RecordNode[]
}

/** When a delivery was written by its own account, in milliseconds, give or take `within`. */
export interface Written {
  by: 'document' | 'server'
  at: number
  within: number
}

/** One reading of one document. */
export interface Reading {
  /** Raw records in batches, in order. Throws `FeedError` for a document of another kind (HTML, binary). */
  records: AsyncIterable<RawRecord[]>
  /**
   * What else determines the meaning of a record's bytes (a CSV's header and dialect); '' for nothing. Valid from the first
   * batch on.
   */
  context(): string
  /** Why the document may be incomplete or malformed, as sentences; empty: it ended properly. Asked after all records. */
  end(): { reasons: string[] }
  /** The values of `FormatOptions.header` that the document has; valid from the first batch on, and part of `context()`. */
  header?(): Readonly<Record<string, string>>
  /** The same with the first values of `FormatOptions.around`: what a document says of itself. Asked after all records. */
  says?(): Readonly<Record<string, string>>
  /** When the document was written, as it spells it, or null; valid from the first batch on. */
  written?(): string | null
  /** Throws `RecordError` for a broken record. */
  parse(record: RawRecord): RecordFields
}

/** How one document is to be read, whatever its format. */
export type ReadOptions = {
  /** Encoding to assume without BOM, HTTP header or declaration; null: per record UTF-8, else windows-1252. */
  encoding: string | null
  /** Charset given by the transport. */
  charset: string | null
  /** Most bytes of one record. */
  maxRecordBytes: number
  /** Most values of one record: one of more may be refused before it is parsed. */
  maxFields?: number
  /** Whether a column of a table is read; left out: all are. Records may lack the others. */
  reads?: ((column: string) => boolean) | undefined
  /** Whether the transport guarantees the length; asked at the end, for a last CSV row without line break. */
  lengthProven(): boolean
}

/** Preset keys of formats. These mean the same in every format that takes them; a format may take others of its own. */
export interface FormatOptions {
  /** Path of the record element from the root, such as `Listings/Listing`, or several. */
  record?: string | readonly string[]
  /** Values before the first record, name → path. Every record gets them as `@@name`. */
  header?: Readonly<Record<string, string>>
  /** Values of elements around a record, name → path. */
  around?: Readonly<Record<string, string>>
  /** Elements that records refer to by a key. */
  parts?: Readonly<Record<string, { at: string; key: string; by: string }>>
  delimiter?: string
  /** Headers of which at least one must be present, so that another table is not mistaken for this feed. */
  requiredHeaders?: string[]
  /** For rows without a header: the least number of cells; columns are named 1, 2, … by position. */
  columns?: number
  readonly [own: string]: unknown
}

/** Whether records have their element's name as `@@name`: the record path has alternatives. */
export function hasOwnName(record: readonly string[]): boolean {
  return record.length > 1 || record.some((path) => path.split('/').at(-1)?.includes('|'))
}

/** Values that the records of a live source have, whatever their preset says. */
const liveNames = ['ListingNumber', 'Licensed']

/** The key under which a record has all parts of a name, one of which it refers to. Not enumerable. */
export const partsOf = (name: string): string => `@@${name}:all`

/** The names of values from outside that records have with these options. */
export function outsideNames({ record = [], header = {}, around = {} }: FormatOptions): ReadonlySet<string> {
  const own = hasOwnName([record].flat()) ? ['name'] : []
  return new Set([...own, ...liveNames, ...Object.keys(header), ...Object.keys(around)])
}

/** How a delimited file is written. `delimiter` may be longer than one byte (Poliris: `!#`). */
export interface Dialect {
  delimiter: string
  /** One character; empty: no quotes. */
  quote: string
  /** What ends a row; with `\n`, a `\r` before it belongs to it. */
  lineEnd: '\n' | '\r'
}

export interface Detected<Own extends FormatOptions = FormatOptions> {
  /** Options to read the document without a preset; null: nothing in it looks like a record. */
  options: Own | null
  /** How rows and cells are separated, if that was detected. */
  dialect?: Dialect
}

/** What a run needs of a format. */
export interface Reader<Own extends FormatOptions = FormatOptions> {
  /** Whether a whole document shows its end. If not, a cut between two records looks like one. */
  hasEndMark: boolean
  /** Reads a document; `bytes` are decompressed. Large libraries are loaded with the first document. */
  read(bytes: AsyncIterable<Buffer>, options: ReadOptions & Own): Reading
}

/** One container format: a file of this folder, and a line in `formats.ts`. */
export interface Format<Own extends FormatOptions = FormatOptions> extends Reader<Own> {
  title: string
  /** Whether records contain nested elements. If not, a record is a row and a path is the name of a cell. */
  nested: boolean
  /** Makes the type of its preset keys. It gets the whole preset, so it must ignore other keys. */
  options(): z.ZodType<Own> & { readonly shape: Readonly<Record<string, z.ZodType>> }
  /**
   * Recognises a document by its first bytes in UTF-8 (or the original encoding, if undeclared), without BOM; null: another
   * format. `presets`: the options of all presets of this format.
   */
  detect(head: Buffer, presets: readonly Own[]): Detected<Own> | null
}

/** A record that can't be parsed; the message is the problem. */
export class RecordError extends Error {
  override name = 'RecordError'
}

export const tooManyValues = (maxFields: number): RecordError =>
  new RecordError(`the record has more than ${maxFields} values (maxFields)`)

/** `what` is too long: "the row", "record 3". */
export const tooLong = (what: string, maxRecordBytes: number): string =>
  `${what} is longer than ${maxRecordBytes} bytes (maxRecordBytes)`

export function brokenRecord(at: string, problem: string): RawRecord {
  return { at, raw: Buffer.alloc(0), problem }
}

/** Throws the problem of a broken record as a `RecordError`. */
export function refuseBroken(record: RawRecord): void {
  if (record.problem !== undefined) throw new RecordError(record.problem)
}
