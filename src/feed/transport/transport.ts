import type { Clock } from '../../core/machine.ts'

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
