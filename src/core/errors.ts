/** Errors stop a run. What concerns one listing only is an outcome, not an error. */
/** Something the user can correct; the message is shown without a stack. */
export class UserError extends Error {
  override name = 'UserError'
  readonly exitStatus: number = 1
}

/** A command line that is not understood. */
export class UsageError extends UserError {
  override name = 'UsageError'
  override readonly exitStatus = 64
}

/** Everything wrong with the configuration at once; each problem starts with its path. */
export class ConfigError extends UserError {
  override name = 'ConfigError'
  override readonly exitStatus = 78
  readonly problems: string[]
  constructor(file: string, problems: string[]) {
    super(
      `${file}: ${problems.length === 1 ? 'one problem' : `${problems.length} problems`}\n${problems.map((line) => `  ${line}`).join('\n')}`,
    )
    this.problems = problems
  }
}

/** The feed cannot be fetched or is not a feed; nothing is planned. */
export class FeedError extends UserError {
  override name = 'FeedError'
}

/** The store can't be used: newer version, corrupt, read-only, held by another run. */
export class StoreError extends UserError {
  override name = 'StoreError'
}

/** What is configured can't be used as a store: another one has to be named, or this one made fit. */
export class StoreConfigError extends StoreError {
  override readonly exitStatus = 78
}

/** The store is away now, or its disk full, and it may be back later: what waits for it may go on then. */
export class StoreAwayError extends StoreError {
  override name = 'StoreAwayError'
}

/** Another process has the right to run, or has it now: its run is the one that counts. */
export class StoreTakenError extends StoreError {
  override name = 'StoreTakenError'
}

/** Whether a failed call may have changed something on the service. */
export type Effect = 'none' | 'unknown'

/**
 * A call to the listing service that did not succeed (docs/service.md, "Errors" and S14).
 * - `refused`: the service rejected this request; `effect` is none.
 * - `transient`: may work later; `effect` says whether it may have been carried out.
 * - `credentials`: 401 or 403, by HTTP or envelope; the run stops.
 * - `stopped`: ten transient failures in a row, a wait longer than the run's patience, or a redirect; the run stops.
 */
export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly kind: 'refused' | 'transient' | 'credentials' | 'stopped'
  readonly effect: Effect
  /** HTTP status, or the envelope's Code where HTTP said 200. */
  readonly code: number | null
  /** Milliseconds the service asked to wait. */
  readonly retryAfter: number | null
  /** The operation, by its name in docs/service.md; '' until the client fills it in. */
  operation = ''
  /** Whether the same call may be sent again later: it may work then, and would not be carried out twice. */
  retryable = false
  constructor(
    kind: ServiceError['kind'],
    message: string,
    details: { effect?: Effect; code?: number | null; retryAfter?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.kind = kind
    this.effect = details.effect ?? 'none'
    this.code = details.code ?? null
    this.retryAfter = details.retryAfter ?? null
  }
}

/** The text of anything thrown. For an error of the system: what it means, where, and its code in brackets. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Of a name with several addresses: the error about all of them has no text of its own.
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0)
    return messageOf(error.errors[0])
  const reason = systemReason(error)
  // Libraries use the same codes, with words of their own.
  if (reason === null || !('syscall' in error)) return error.message
  const { path, hostname, address, port } = error as {
    path?: string
    hostname?: string
    address?: string
    port?: number
  }
  const place = path ?? hostname ?? (address === undefined ? '' : `${address}:${port}`)
  return `${place === '' ? '' : `${place}: `}${reason}`
}

/** What an error of system or network means, with its code, for a message that names the place; null: its code is unknown. */
export function systemReason(error: unknown): string | null {
  const words = systemErrors[codeOf(error)]
  return words === undefined ? null : `${words} (${codeOf(error)})`
}

const systemErrors: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is of no authority that is known here; name yours with ca',
  EACCES: 'this user has no right to',
  EADDRINUSE: 'another program has this port',
  EAI_AGAIN: 'its name cannot be looked up at the moment',
  ECONNREFUSED: 'nothing takes connections there',
  ECONNRESET: 'the other side ended the connection',
  EDQUOT: 'the quota of this user is used up',
  EEXIST: 'it is there already',
  EHOSTUNREACH: 'no way leads to this host',
  EIO: 'the disk or volume failed',
  EISDIR: 'it is a folder',
  EMFILE: 'this process has too many files open',
  ENETUNREACH: 'there is no network',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ENOTFOUND: 'there is no host of this name',
  EPERM: 'this user has no right to',
  EPIPE: 'the other side ended the connection',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  EROFS: 'it is on a volume that is read-only',
  ETIMEDOUT: 'it did not answer in time',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of no authority that is known here; name yours with ca',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of no authority that is known here; name yours with ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the chain of its certificate is not whole, or of no authority known here',
  UND_ERR_BODY_TIMEOUT: 'nothing more came in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_SOCKET: 'the connection broke',
}

/** The code of a system or library error, such as ENOENT; '' if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
