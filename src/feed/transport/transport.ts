import type { Clock } from '../../core/machine.ts'
import type { TransportSettings } from './settings.ts'

/** HTTP validators of a delivery, kept so that an unchanged feed costs one request. */
export interface Validators {
  etag?: string
  lastModified?: string
}

export interface TransportOptions extends TransportSettings {
  /** Directory that relative paths and globs start from. */
  directory: string
  validators: Validators | null
  /** Folder for files of this run alone, thrown away with it. */
  scratch: string
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
