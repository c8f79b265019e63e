import type { z } from 'zod'

/** A record's bytes in UTF-8 (or, undeclared, in whatever they are), with its place for a person. */
export interface RawRecord {
  at: string
  raw: Buffer
}

/**
 * A parsed record: text, or named children. Attributes are named `@name`, the text beside them `#text`;
 * a repeated element is an array. What a record has from outside itself is named `@@name`: its own element's name where the
 * record path offers several, and the document's `header`. A CSV row is an object of header → cell. Objects have no prototype.
 * Every leaf is the text as found (entities decoded, not trimmed further): types come from the mapping.
 */
export type RecordNode = string | RecordFields

export interface RecordFields {
  [name: string]: RecordNode | RecordNode[]
}

/** When a delivery says that it was written, in milliseconds, and how far that may be off (`within`). */
export interface Written {
  by: 'document' | 'server'
  at: number
  within: number
}

/** How the document ended, valid after the last record. */
export interface FormatEnd {
  /** Why the document may not be whole or well formed, as sentences; empty: it ended as its format ends. */
  reasons: string[]
}

/** One reading of one document. */
export interface Reading {
  /** Raw records in batches, in order. Throws `FeedError` where the document is of another kind altogether (HTML, binary). */
  records: AsyncIterable<RawRecord[]>
  /**
   * What beside a record's own bytes decides what it says (a CSV's header and dialect); '' where nothing does. Valid from
   * the first batch on.
   */
  context(): string
  end(): FormatEnd
  /** The values of `FormatOptions.header` that the document has; valid from the first batch on, and part of `context()`. */
  header?(): Readonly<Record<string, string>>
  /** When the document says that it was written, as it spells it, null where it does not; valid from the first batch on. */
  written?(): string | null
  /** Parses one record; throws `RecordError` where that record is broken. */
  parse(record: RawRecord): RecordFields
}

/** How one document is to be read, whatever its format. */
export type ReadOptions = {
  /** Encoding to assume where neither BOM, HTTP header nor declaration says; null: UTF-8, else windows-1252 by record. */
  encoding: string | null
  /** Charset said by the transport. */
  charset: string | null
  /** Most bytes of one record. */
  maxRecordBytes: number
  /** Whether the transport vouches for the length: asked at the end, as a last CSV row without line break needs it. */
  lengthProven(): boolean
}

/** Preset keys of formats. These mean the same in every format that takes them; a format may take others of its own. */
export interface FormatOptions {
  /** Path of the record element from the root, such as `Listings/Listing`. */
  record?: string
  /** Facts that the document states before its records, name → path. Every record is given them as `@@name`. */
  header?: Readonly<Record<string, string>>
  /** What parts the cells of a row. */
  delimiter?: string
  /** Headers of which at least one must be there, so that another table is not taken for this feed. */
  requiredHeaders?: string[]
  /** Rows without a header: the least number of cells of a row, columns being called 1, 2, … by their place. */
  columns?: number
  readonly [own: string]: unknown
}

/** How a delimited file is written. `delimiter` may be longer than one byte (Poliris: `!#`). */
export interface Dialect {
  delimiter: string
  /** One character; empty: the file knows no quotes. */
  quote: string
  /** What ends a row; with `\n`, a `\r` before it belongs to it. */
  lineEnd: '\n' | '\r'
}

/** What the first bytes of a document show of how it is written. */
export interface Detected<Own extends FormatOptions = FormatOptions> {
  /** What reads the document without a preset; null: nothing in it looks like a record. */
  options: Own | null
  /** How rows and cells are parted, where that had to be found out. */
  dialect?: Dialect
}

/** What a run needs of a format. */
export interface Reader<Own extends FormatOptions = FormatOptions> {
  /** Begins to read a document; `bytes` are decompressed. A part that is large is loaded with the first document. */
  read(bytes: AsyncIterable<Buffer>, options: ReadOptions & Own): Reading
}

/** One container format: a file of this folder, and a line in `formats.ts`. */
export interface Format<Own extends FormatOptions = FormatOptions> extends Reader<Own> {
  /** What people call it. */
  title: string
  /** Whether its records have elements within elements; a flat record is a row, and paths are the names of its cells. */
  nested: boolean
  /** The preset keys that it takes. It is handed the whole preset, so it must let other keys be. */
  options: z.ZodType<Own> & { readonly shape: Readonly<Record<string, z.ZodType>> }
  /**
   * Whether a document is of this format, by its first bytes in UTF-8 (or in whatever they are, where nothing says it) and
   * without BOM; null: it is not. `presets`: the options of the presets that there are for this format.
   */
  detect(head: Buffer, presets: readonly Own[]): Detected<Own> | null
}

/** One record that can't be parsed; its message is the problem, its place is the record's. */
export class RecordError extends Error {
  override name = 'RecordError'
}

/** A record that could not be cut out or trusted. It holds no bytes; parsing it throws its problem. */
interface BrokenRecord extends RawRecord {
  problem: string
}

export function brokenRecord(at: string, problem: string): BrokenRecord {
  return { at, raw: Buffer.alloc(0), problem }
}

/** Throws the problem of a broken record as a `RecordError`. */
export function refuseBroken(record: RawRecord & Partial<BrokenRecord>): void {
  if (record.problem !== undefined) throw new RecordError(record.problem)
}
