import { ServiceError } from '../core/errors.ts'

/** Failures in a row after which nothing more is asked of the service (DESIGN, "Apply"). */
const failuresInARow = 10

/**
 * Ends all calls to a service that fails, redirects or refuses the keys (fault-model F117, F118). Shared by all
 * chatbots; calls already under way are let through.
 */
export class Breaker {
  #failures = 0
  #error: ServiceError | null = null
  readonly #stop = new AbortController()

  /** Aborted once no more calls may go out. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Why no more calls may go out; null as long as they may. */
  get error(): ServiceError | null {
    return this.#error
  }

  /** The service gave a certain answer, be it a refusal. */
  answered(): void {
    this.#failures = 0
  }

  /** Counts a failed call. Gives the error to throw: the one given, or `stopped` where it was the last straw. */
  failed(error: ServiceError): ServiceError {
    if (error.kind === 'refused') {
      this.answered()
      return error
    }
    if (error.kind === 'transient') {
      this.#failures++
      if (this.#failures < failuresInARow) return error
    }
    const last =
      error.kind === 'transient'
        ? new ServiceError('stopped', `${failuresInARow} calls in a row failed; the last: ${error.message}`, error)
        : error
    this.#error ??= last
    this.#stop.abort(last)
    return last
  }
}
