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
  /** The operation that was called, as docs/service.md calls it; '' until the client knows it. */
  operation = ''
  /** Whether the same call may be sent again later: it may work then, and can't be carried out twice. */
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

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of a system or library error, such as ENOENT; '' if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
