import type { Clock } from '../../core/machine.ts'
import type { TransportSettings } from './settings.ts'

/** HTTP validators of a delivery, kept so that an unchanged feed costs one request. */
export interface Validators {
  etag?: string
  lastModified?: string
}

export interface TransportOptions extends TransportSettings {
  /** Base of relative paths and globs. */
  directory: string
  validators: Validators | null
  /** Folder for temporary files of this run. */
  scratch: string
  clock: Clock
  signal: AbortSignal
}

/** How the bytes of a delivery ended. `proven`: the transport guarantees the length (Content-Length, chunked end). */
export interface TransportEnd {
  proven: boolean
  /** Why bytes may be missing, as sentences. */
  reasons: string[]
  /** Why a lost end would have looked the same, and what mends that, as a clause; left out: it would have been a reason. */
  doubt?: string | undefined
  /** Why the document was perhaps cut, if its format does not show its end, as a sentence. */
  surplus?: string | undefined
}

/** Why a document may lack something, as far as its bytes tell. */
export const reasonsOf = ({ reasons, surplus }: TransportEnd, { hasEndMark }: { hasEndMark: boolean }): string[] =>
  hasEndMark || surplus === undefined ? reasons : [...reasons, surplus]

/** Of a file that is the newest of those that match: when it changed, and those that are older. Milliseconds, by the folder's clock. */
export interface Besides extends FileInBrief {
  /** The oldest first. */
  readonly older: readonly OlderFile[]
}

interface FileInBrief {
  /** Its name without its folder, for people. */
  readonly name: string
  readonly changedAt: number
}

export interface OlderFile extends FileInBrief {
  /** Throws as a transport does, also if its marker is missing. */
  open(): Promise<Opened>
}

/** An open source. `bytes` are as sent, still compressed if the file is, and can be read once. */
export interface Opened {
  /** The source for people and logs: without credentials and query. */
  name: string
  /**
   * Never throws for a lost connection: the bytes end, and `end()` says why. A block of 1 MB may be overwritten once the
   * second one after it is requested; smaller blocks are never reused.
   */
  bytes: AsyncIterable<Buffer>
  /** Charset of a Content-Type header, where there is one. */
  charset: string | null
  /** Content-Encoding other than identity (gzip is also found by its first bytes). */
  contentEncoding: string | null
  validators: Validators
  /** Left out: its name is no pattern. */
  besides?: Besides | undefined
  /** A local file with exactly these bytes, if there is one: an archive is read from it. */
  file?: string
  /** Valid after the last byte. */
  end(): TransportEnd
  /** Removes what lies in the scratch folder for it, once it is read: a delivery may have many files. Left out: nothing does. */
  release?(): Promise<void>
}

/**
 * Opens a source. Throws `FeedError` if it can't be fetched (not found, refused, 4xx, 5xx, too many redirects).
 * Resolves to 'not-modified' on HTTP 304.
 */
export type Transport = (source: string, options: TransportOptions) => Promise<Opened | 'not-modified'>
