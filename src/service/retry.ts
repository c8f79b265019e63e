/**
 * Repeats calls: a call is sent until its answer is certain or no further attempt is allowed, and all calls of a run end
 * together. Callers see no slots, waits or repetitions.
 */
import { ServiceError } from '../core/errors.ts'
import type { Effect } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import { TooLongPause } from '../core/limiter.ts'
import type { CallLimiter, Lane } from '../core/limiter.ts'
import type { Answer, BeforeSend, Calls } from './service.ts'
import type { ServiceSettings } from './settings.ts'

/** After so many failures in a row a run makes no more calls. */
const failuresInARow = 10

/**
 * The longest that a Retry-After beyond the caller's patience is obeyed, in milliseconds: after an hour one call tries again,
 * as a broken answer may ask for years.
 */
const longestPause = 3_600_000

/** Makes one attempt and reads its answer; `sent` is to be called when the request is written, as it may wait for a connection. */
export type Exchange<T> = (sent: () => void) => Promise<T>

export interface Repetition {
  /** How attempts are counted. */
  kind: keyof Calls | 'edit' | 'ask'
  /** Sent again even if it may have been carried out. */
  repeatable: boolean
}

/** The run ended before this attempt went out. */
export class NotSent extends ServiceError {}

/** Ends all calls of a run over a chatbot that fails, redirects or refuses the keys; calls in flight are completed. */
export class Breaker {
  #failures = 0
  #error: ServiceError | null = null
  readonly #stop = new AbortController()

  /** Aborted once no more calls may be sent. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Why no more calls may be sent; null: they may. */
  get error(): ServiceError | null {
    return this.#error
  }

  /** The service gave a definite answer, perhaps a refusal. */
  answered(): void {
    this.#failures = 0
  }

  /** Counts a failed call. Returns the error to throw: the same, or `stopped` after too many failures. */
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

/** The calls of a run to one chatbot or, without a breaker, single calls. */
export class Caller {
  /** Attempts sent. */
  readonly calls: Calls & Partial<Record<Repetition['kind'], number>> = { create: 0, update: 0, delete: 0, list: 0 }
  readonly #runtime: Runtime
  readonly #limiter: CallLimiter
  readonly #lane: Lane
  readonly #settings: Pick<ServiceSettings, 'attempts' | 'backoff' | 'patience'>
  readonly #signal: AbortSignal | undefined
  readonly #breaker: Breaker | null
  /** Ends waiting. When the breaker trips, a call in flight is completed, so that its answer is not lost. */
  readonly #ending: AbortSignal

  /** `signal` ends waiting and calls in flight; `stop` ends waiting only: no further attempt begins. */
  constructor(
    runtime: Runtime,
    limiter: CallLimiter,
    lane: Lane,
    settings: Pick<ServiceSettings, 'attempts' | 'backoff' | 'patience'>,
    { signal, stop }: { signal?: AbortSignal | undefined; stop?: AbortSignal | undefined },
    breaker: Breaker | null,
  ) {
    this.#runtime = runtime
    this.#limiter = limiter
    this.#lane = lane
    this.#settings = settings
    this.#signal = signal
    this.#breaker = breaker
    this.#ending = AbortSignal.any([signal, stop, breaker?.signal].filter((each) => each !== undefined))
  }

  /**
   * Repeats an exchange as needed. Throws a `ServiceError` whose effect covers every attempt, and what `beforeSend` throws.
   */
  async carryOut<T>(
    { kind, repeatable }: Repetition,
    exchange: Exchange<T>,
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
        // With Retry-After the limiter makes the calls wait.
        if (error.retryAfter !== null) continue
        const longest = Math.min(backoff.max, backoff.base * 2 ** (attempt - 1))
        await clock.sleep(this.#runtime.random() * longest, this.#ending).catch(() => {
          throw withEffect(this.#ended()!, effect)
        })
      }
    }
  }

  async #attempt<T>(kind: Repetition['kind'], exchange: Exchange<T>, beforeSend: BeforeSend | undefined): Promise<T> {
    const [limiter, lane] = [this.#limiter, this.#lane]
    const { clock, meter } = this.#runtime
    const cameAt = clock.now()
    const prepare = beforeSend === undefined ? null : async (): Promise<void> => beforeSend()
    const { patience } = this.#settings
    const sent = await limiter.take(lane, this.#ending, patience, prepare).catch((error: unknown) => {
      if (error instanceof TooLongPause) throw this.#failed(this.#tooLong(limiter.paused(lane)))
      throw error === this.#ending.reason ? this.#ended() : error
    })
    meter?.waited(Math.max(0, clock.now() - cameAt) / 1000)
    try {
      // The breaker may have tripped since the limiter let the call through.
      if (this.#ending.aborted) throw this.#ended()!
      this.calls[kind] = (this.calls[kind] ?? 0) + 1
      const sentAt = clock.now()
      const measure = (answer: string): void => meter?.called(kind, answer, Math.max(0, clock.now() - sentAt) / 1000)
      try {
        const value = await exchange(sent)
        measure('ok')
        this.#breaker?.answered()
        return value
      } catch (thrown) {
        measure(answerOf(thrown))
        throw this.#judge(thrown, sentAt)
      }
    } finally {
      limiter.done(lane)
    }
  }

  /**
   * Applies a failed attempt to the other calls before the next one starts: to all of the service if it limits calls, else to
   * those of the chatbot, as another one may well be served.
   */
  #judge(thrown: unknown, sentAt: number): unknown {
    if (!(thrown instanceof ServiceError)) return thrown
    const limiter = this.#limiter
    // We interrupted the call ourselves, which says nothing about the service.
    if (this.#signal?.aborted && thrown.code === null) return withEffect(this.#ended()!, thrown.effect)
    const tooMany = thrown.kind === 'transient' && thrown.code !== null && thrown.effect === 'none'
    if (tooMany || thrown.code === 503) limiter.slowDown(sentAt)
    if (thrown.retryAfter === null) return this.#failed(thrown)
    const whose = tooMany ? null : this.#lane
    if (thrown.retryAfter > this.#settings.patience) {
      const stopped = this.#failed(this.#tooLong(thrown.retryAfter, thrown))
      limiter.pause(Math.min(thrown.retryAfter, longestPause), whose)
      return stopped
    }
    limiter.pause(thrown.retryAfter, whose)
    return this.#failed(thrown)
  }

  /** The service asks for too long a wait, in its `answer` to this call or in one to an earlier call. */
  #tooLong(wait: number, answer?: ServiceError): ServiceError {
    const length = `${answer ? '' : 'another '}${Math.ceil(wait / 1000)} s`
    const patience = `${this.#settings.patience / 1000} s`
    const message = `The service asks for a wait of ${length}, longer than service.patience (${patience}); the run stops, and the next one goes on`
    if (answer === undefined) return new NotSent('stopped', message)
    return new ServiceError('stopped', `${message} (${answer.message})`, answer)
  }

  #failed(error: ServiceError): ServiceError {
    return this.#breaker?.failed(error) ?? error
  }

  /** Why no more calls may be sent, or null. */
  #ended(): NotSent | null {
    const error = this.#breaker?.error
    if (error) return new NotSent(error.kind, error.message, { code: error.code })
    return this.#ending.aborted ? new NotSent('stopped', 'The run was told to stop') : null
  }
}

/** What came of a call, in few words: a service can't make more of them than there are statuses of HTTP. */
function answerOf(thrown: unknown): string {
  const code = thrown instanceof ServiceError ? thrown.code : null
  if (code === null) return 'none'
  return code >= 100 && code <= 599 ? String(code) : 'other'
}

function withEffect(error: ServiceError, effect: Effect): ServiceError {
  if (error.effect === effect) return error
  const { kind, message, code, retryAfter, cause } = error
  return new ServiceError(kind, message, { effect, code, retryAfter, cause })
}
