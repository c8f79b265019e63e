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
  /** The value of `FormatOptions.written`, null where the document lacks it; valid from the first batch on. */
  written?(): string | null
  /** Parses one record; throws `RecordError` where that record is broken. */
  parse(record: RawRecord): RecordFields
}

/** What a preset and the feed's configuration say about the document. Formats take what concerns them. */
export interface FormatOptions {
  /** Encoding to assume where neither BOM, HTTP header nor declaration says; null: UTF-8, else windows-1252 by record. */
  encoding: string | null
  /** Charset said by the transport. */
  charset: string | null
  /** Most bytes of one record. */
  maxRecordBytes: number
  /** XML: path of the record element from the root, such as `Listings/Listing`. */
  record: string | null
  /** XML: attribute of the root that says how many records there are, such as `@listing_count`. */
  counter?: string
  /**
   * XML: attributes of elements before the first record, name → path from the root such as `openimmo/uebertragung/@umfang`.
   * Every record is given them as `@@name`.
   */
  header?: Readonly<Record<string, string>>
  /** XML: path of the attribute before the first record that says when the document was written. */
  written?: string
  /** CSV: delimiter, null to detect; quote character. */
  delimiter: string | null
  quote: string
  /** CSV: headers of which at least one must be there, so that another table is not taken for this feed. */
  requiredHeaders: string[]
  /** CSV without a header row: the least number of cells of a row, columns being called 1, 2, … by their place. */
  columns?: number
  /** Whether the transport vouches for the length: asked at the end, as a last CSV row without line break needs it. */
  lengthProven(): boolean
}

/** The container formats, by the name that a preset gives. */
export type FormatName = 'xml' | 'csv' | 'rets-compact' | 'blm'

/** Reads documents of one container format. `bytes` are decompressed. */
export type Format = (bytes: AsyncIterable<Buffer>, options: FormatOptions) => Reading

/** One record that can't be parsed; its message is the problem, its place is the record's. */
export class RecordError extends Error {
  override name = 'RecordError'
}
