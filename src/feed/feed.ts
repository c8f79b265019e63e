/**
 * The feed stage's interfaces: bytes → raw records → record nodes → listings.
 * A transport yields bytes, a format cuts and parses them, a mapping normalises; none knows another.
 */
import type { Delivered, MovingListing } from '../listing.ts'
import type { Clock } from '../runtime.ts'

/** HTTP validators of a delivery, kept so that an unchanged feed costs one request. */
export interface Validators {
  etag?: string
  lastModified?: string
}

/** Who fetches from an SFTP or FTP server, where the address does not say, and who the server has to be. */
export interface Login {
  user?: string
  password?: string
  /** SFTP: text of the private key, and what it is encrypted with. */
  privateKey?: string
  passphrase?: string
  /** SFTP: fingerprints of the server's keys as `SHA256:…`, of which it has to show one. */
  hostKey?: string[]
  /** FTPS: certificates of the authority that vouches for the server, as PEM; else those of Node. */
  ca?: string
}

/** When a dropped file is taken for whole; what is left out is not asked for. */
export interface Readiness {
  /** Name of a file beside it: `{name}` stands for the file's own, `{stem}` for that without its last extension. */
  marker?: string
  /** Milliseconds in which neither size nor time may change. */
  unchanged?: number
}

export interface TransportOptions {
  /** Directory that relative paths and globs start from. */
  directory: string
  /** Most bytes accepted as sent, before decompression. */
  maxBytes: number
  /** Milliseconds for the whole transfer. */
  timeout: number
  /** Redirects followed at most. */
  maxRedirects: number
  /** Extra request headers (HTTP only); never sent to another origin than the configured one. */
  headers: Record<string, string>
  validators: Validators | null
  /** Folder for files of this run alone, thrown away with it. */
  scratch: string
  /** HTTP only: a source on the internet may redirect to loopback, private and link-local addresses, too. */
  allowPrivateRedirects: boolean
  /** SFTP and FTP only. */
  login: Login
  /** Files and folders only, here or on a server. */
  ready: Readiness
  clock: Clock
  signal: AbortSignal
}

/** Where the bytes of a delivery ended. `proven`: the transport itself vouches for the length (Content-Length, chunked end). */
export interface TransportEnd {
  proven: boolean
  /** Why the bytes may not be all there were, as sentences. */
  reasons: string[]
}

/** An open source. `bytes` are as sent, still compressed where the file is; it may be walked once. */
export interface Opened {
  /** The source for people and logs: without credentials and query. */
  name: string
  /**
   * Never throws for a lost connection: the bytes end, and `end()` says why. A block of 1 MB may be filled anew once the
   * second one after it is asked for; smaller ones are the reader's own.
   */
  bytes: AsyncIterable<Buffer>
  /** Charset of a Content-Type header, where there is one. */
  charset: string | null
  /** Content-Encoding other than identity (gzip is also found by its first bytes). */
  contentEncoding: string | null
  validators: Validators
  /** A regular file on this machine that holds exactly these bytes, where there is one: an archive is read from it. */
  file?: string
  /** Valid after the last byte. */
  end(): TransportEnd
}

/**
 * Opens a source. Throws `FeedError` where it can't be had at all (not found, refused, 4xx, 5xx, too many redirects).
 * Resolves to 'not-modified' on HTTP 304.
 */
export type Transport = (source: string, options: TransportOptions) => Promise<Opened | 'not-modified'>

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

/** Reads documents of one container format. `bytes` are decompressed. */
export type Format = (bytes: AsyncIterable<Buffer>, options: FormatOptions) => Reading

/** One record that can't be parsed; its message is the problem, its place is the record's. */
export class RecordError extends Error {
  override name = 'RecordError'
}

/** What moves: the instant and the day a record is normalised at. `today` is YYYY-MM-DD in the feed's time zone. */
export interface Moment {
  now: number
  today: string
  timezone: string
}

/** The listing of this feed that the service confirmed last under an MLSNumber; null where there is none. */
export type KnownListing = (mlsNumber: string) => MovingListing | null

/** A preset and the feed's own additions, ready to use. */
export interface Mapping {
  /** Changes whenever the same bytes could become another listing: preset, fields, defaults, where, code. */
  version: string
  delivery: 'full' | 'delta'
  /** The same where the document says it itself, in its header; `delivery` where it does not. */
  deliveryOf?(header: Readonly<Record<string, string>>): 'full' | 'delta'
  format: 'xml' | 'csv' | 'rets-compact' | 'blm'
  formatOptions: Pick<
    FormatOptions,
    'record' | 'counter' | 'header' | 'written' | 'delimiter' | 'quote' | 'requiredHeaders' | 'columns'
  >
  /** Whether text that was encoded twice is mended before it is read (`repair: double-utf8`). */
  mendsText?: boolean
  /**
   * Never throws: what is wrong becomes a reject with every problem. `known` completes records that tell only what
   * changed; without it they are rejects, too.
   */
  normalise(record: RecordFields, at: string, moment: Moment, known?: KnownListing): Delivered[]
}
