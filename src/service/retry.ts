/**
 * Decides what is sent again: a call is carried out until its answer is certain or no further attempt is allowed, and a
 * run's calls end together. Callers know nothing of slots, waits and repetitions.
 */
import { ServiceError } from '../core/errors.ts'
import type { Effect } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { Limiter } from './limiter.ts'
import type { Answer, BeforeSend, Calls } from './service.ts'
import type { ServiceSettings } from './settings-file.ts'

/** Failures in a row after which a run asks nothing more of the service. */
const failuresInARow = 10

/**
 * How long a Retry-After that is beyond the caller's patience is remembered at most, in milliseconds: nobody calls before
 * it is over, but after an hour one call asks whether it still holds, as a broken answer may ask for years.
 */
const longestPause = 3_600_000

/** What has to be known of an operation to send it again. */
export interface Repetition {
  /** What an attempt is counted as. */
  kind: keyof Calls | 'edit' | 'ask'
  /** Sent again even where it was perhaps carried out. */
  repeatable: boolean
}

/** Ends all calls of a run to a service that fails, redirects or refuses the keys; calls under way are let through. */
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

/** Whose calls these are: a run's over one chatbot, or (without a breaker) whoever makes a single one. */
export class Caller {
  /** Attempts sent. */
  readonly calls: Calls & Partial<Record<Repetition['kind'], number>> = { create: 0, update: 0, delete: 0, list: 0 }
  readonly #runtime: Runtime
  readonly #limiter: Limiter
  readonly #settings: Pick<ServiceSettings, 'attempts' | 'backoff' | 'patience'>
  readonly #signal: AbortSignal | undefined
  readonly #breaker: Breaker | null
  /** Ends waiting. A call under way is let through when the breaker trips, since its answer would be lost for nothing. */
  readonly #ending: AbortSignal

  /** `signal` ends waiting and calls under way; `stop` ends waiting only: no further attempt begins. */
  constructor(
    runtime: Runtime,
    limiter: Limiter,
    settings: Pick<ServiceSettings, 'attempts' | 'backoff' | 'patience'>,
    { signal, stop }: { signal?: AbortSignal | undefined; stop?: AbortSignal | undefined },
    breaker: Breaker | null,
  ) {
    this.#runtime = runtime
    this.#limiter = limiter
    this.#settings = settings
    this.#signal = signal
    this.#breaker = breaker
    this.#ending = AbortSignal.any([signal, stop, breaker?.signal].filter((one) => one !== undefined))
  }

  /**
   * Makes an exchange as often as it takes. Throws `ServiceError` whose effect covers every attempt, and what `beforeSend`
   * throws.
   */
  async carryOut<T>(
    { kind, repeatable }: Repetition,
    exchange: () => Promise<T>,
    beforeSend?: BeforeSend,
  ): Promise<Answer<T>> {
    const { attempts, backoff } = this.#settings
    const { clock, log } = this.#runtime
    let unsettled = false
    for (let attempt = 1; ; attempt++) {
      try {
        return { value: await this.#attempt(kind, exchange, beforeSend), unsettled }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        unsettled ||= error.effect === 'unknown'
        const effect = unsettled ? 'unknown' : 'none'
        const last = attempt >= attempts || (unsettled && !repeatable)
        if (error.kind !== 'transient' || last) throw withEffect(error, effect)
        log.warn({ operation: kind, attempt, problem: error.message }, 'call failed, trying again')
        // With Retry-After the limiter makes everyone wait.
        if (error.retryAfter !== null) continue
        const longest = Math.min(backoff.max, backoff.base * 2 ** (attempt - 1))
        await clock.sleep(this.#runtime.random() * longest, this.#ending).catch(() => {
          throw withEffect(this.#ended()!, effect)
        })
      }
    }
  }

  async #attempt<T>(
    kind: Repetition['kind'],
    exchange: () => Promise<T>,
    beforeSend: BeforeSend | undefined,
  ): Promise<T> {
    const limiter = this.#limiter
    await limiter.take(this.#ending, this.#settings.patience).catch(() => {
      throw this.#ended() ?? this.#failed(this.#tooLong(limiter.paused))
    })
    try {
      // The breaker may have tripped between the limiter's word and this line, or a stop come while the mark was written.
      if (this.#ending.aborted) throw this.#ended()!
      await beforeSend?.()
      if (this.#ending.aborted) throw this.#ended()!
      this.calls[kind] = (this.calls[kind] ?? 0) + 1
      const sentAt = this.#runtime.clock.now()
      try {
        const value = await exchange()
        this.#breaker?.answered()
        return value
      } catch (thrown) {
        throw this.#judge(thrown, sentAt)
      }
    } finally {
      limiter.done()
    }
  }

  /** Draws the consequences of a failed attempt for every other call, before the next one starts. */
  #judge(thrown: unknown, sentAt: number): unknown {
    if (!(thrown instanceof ServiceError)) return thrown
    const limiter = this.#limiter
    // That the call was interrupted is our doing and says nothing about the service.
    if (this.#signal?.aborted && thrown.code === null) return withEffect(this.#ended()!, thrown.effect)
    const tooMany = thrown.kind === 'transient' && thrown.code !== null && thrown.effect === 'none'
    if (tooMany || thrown.code === 503) limiter.slowDown(sentAt)
    if (thrown.retryAfter === null) return this.#failed(thrown)
    if (thrown.retryAfter > this.#settings.patience) {
      const stopped = this.#failed(this.#tooLong(thrown.retryAfter, thrown))
      limiter.pause(Math.min(thrown.retryAfter, longestPause))
      return stopped
    }
    limiter.pause(thrown.retryAfter)
    return this.#failed(thrown)
  }

  /** The service asks for too long a wait: by its `answer` to this call, or earlier by one to another. */
  #tooLong(wait: number, answer?: ServiceError): ServiceError {
    const length = `${answer ? '' : 'another '}${Math.ceil(wait / 1000)} s`
    const message = `The service asks to wait ${length}, longer than service.patience (${this.#settings.patience / 1000} s)`
    return new ServiceError('stopped', answer ? `${message}: ${answer.message}` : message, answer)
  }

  #failed(error: ServiceError): ServiceError {
    return this.#breaker?.failed(error) ?? error
  }

  /** Whether no more calls may go out, and why. */
  #ended(): ServiceError | null {
    const error = this.#breaker?.error
    if (error) return new ServiceError(error.kind, error.message, { code: error.code })
    return this.#ending.aborted ? new ServiceError('stopped', 'The run was told to stop') : null
  }
}

function withEffect(error: ServiceError, effect: Effect): ServiceError {
  if (error.effect === effect) return error
  const { kind, message, code, retryAfter, cause } = error
  return new ServiceError(kind, message, { effect, code, retryAfter, cause })
}
