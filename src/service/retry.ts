/**
 * Sends one operation until its answer is certain or no further attempt is allowed (DESIGN, "Apply"; fault-model §3.5).
 * Callers know nothing of slots, waits and repetitions.
 */
import { ServiceError } from '../core/errors.ts'
import type { Effect } from '../core/errors.ts'
import type { Runtime } from '../core/machine.ts'
import type { Breaker } from './breaker.ts'
import { readAnswer } from './envelope.ts'
import type { Cleaner, DataReader } from './envelope.ts'
import type { Limiter } from './limiter.ts'
import type { Send } from './send.ts'
import type { Calls, Answer, BeforeSend } from './service.ts'

/**
 * How long a Retry-After that is beyond a run's patience is remembered at most, in milliseconds: no run calls before it is
 * over (U15), but after an hour one call asks whether it still holds, as a broken answer may ask for years.
 */
const longestPause = 3_600_000

/** What an attempt is counted as: what runs make, and the two operations that are not about listings. */
export type CallName = keyof Calls | 'edit' | 'ask'

/** What has to be known of an operation to send it again. `repeatable`: also where it was perhaps carried out (U16). */
export interface Repetition {
  kind: CallName
  repeatable: boolean
}

/** One operation of the interface. */
export interface Operation<T> extends Repetition {
  path: string
  read: DataReader<T>
}

/** How persistent a call is; all times in milliseconds. */
export interface Persistence {
  timeout: number
  /** Attempts of one call in all. */
  attempts: number
  backoff: { base: number; max: number }
  /** The longest Retry-After that is waited for. */
  patience: number
}

/** What all calls of one run share. */
export interface Line {
  runtime: Runtime
  persistence: Persistence
  send: Send
  headers: Record<string, string>
  clean: Cleaner
  limiter: Limiter
  breaker: Breaker
  /** The caller's; ends waiting and calls under way. */
  signal: AbortSignal | undefined
  /** The caller's; ends waiting only: no further attempt begins, and calls under way are let through. */
  stop: AbortSignal | undefined
  /** Counts attempts sent. */
  calls: Calls & Partial<Record<CallName, number>>
  /** Told the Version of every successful answer. */
  version(version: string | null): void
  /** Told the HTTP status of every answer. */
  answered?: (status: number) => void
}

/** A function that carries out operations over a line; it throws `ServiceError` whose effect covers every attempt. */
export type Call = <T>(operation: Operation<T>, body: object, beforeSend?: BeforeSend) => Promise<Answer<T>>

export function createCall(line: Line): Call {
  const persist = createPersist(line)
  return (operation, body, beforeSend) => {
    const { path, read } = operation
    const text = JSON.stringify(body)
    const exchange = async () => {
      const { timeout } = line.persistence
      const response = await line.send({ path, headers: line.headers, body: text, timeout, signal: line.signal })
      line.answered?.(response.status)
      const { value, version } = readAnswer(response, read, line.runtime.clock.now(), line.clean)
      line.version(version)
      return value
    }
    return persist(operation, exchange, beforeSend)
  }
}

/** Carries out exchanges over a line, each as often as it takes; throws as `Call` does. */
export type Persist = <T>(
  operation: Repetition,
  exchange: () => Promise<T>,
  beforeSend?: BeforeSend,
) => Promise<Answer<T>>

export function createPersist(line: Line): Persist {
  const { limiter, breaker, persistence } = line
  const { runtime } = line
  const { clock, log } = runtime
  // Waiting also ends when the breaker trips; a call under way does not, since its answer would be lost for nothing.
  const ending = AbortSignal.any([line.signal, line.stop, breaker.signal].filter((signal) => signal !== undefined))

  /** Whether the run is over, and why. */
  function ended(): ServiceError | null {
    if (breaker.error) return new ServiceError(breaker.error.kind, breaker.error.message, { code: breaker.error.code })
    return ending.aborted ? new ServiceError('stopped', 'The run was told to stop') : null
  }

  async function attempt<T>(kind: CallName, exchange: () => Promise<T>, beforeSend?: BeforeSend): Promise<T> {
    await limiter.take(ending, persistence.patience).catch(() => {
      throw ended() ?? breaker.failed(tooLong(limiter.paused))
    })
    try {
      // The breaker may have tripped between the limiter's word and this line.
      if (ending.aborted) throw ended()!
      beforeSend?.()
      line.calls[kind] = (line.calls[kind] ?? 0) + 1
      const sentAt = clock.now()
      try {
        const value = await exchange()
        breaker.answered()
        return value
      } catch (thrown) {
        throw judge(thrown, sentAt)
      }
    } finally {
      limiter.done()
    }
  }

  /** Draws the consequences of a failed attempt for every other call, before the next one starts. */
  function judge(thrown: unknown, sentAt: number): unknown {
    if (!(thrown instanceof ServiceError)) return thrown
    // That the call was interrupted is our doing and says nothing about the service.
    if (line.signal?.aborted && thrown.code === null) return withEffect(ended()!, thrown.effect)
    const tooMany = thrown.kind === 'transient' && thrown.code !== null && thrown.effect === 'none'
    if (tooMany || thrown.code === 503) limiter.slowDown(sentAt)
    if (thrown.retryAfter === null) return breaker.failed(thrown)
    if (thrown.retryAfter > persistence.patience) {
      const seconds = Math.ceil(thrown.retryAfter / 1000)
      const message = `The service asks to wait ${seconds} s, longer than this run may: ${thrown.message}`
      const stopped = breaker.failed(new ServiceError('stopped', message, thrown))
      limiter.pause(Math.min(thrown.retryAfter, longestPause))
      return stopped
    }
    limiter.pause(thrown.retryAfter)
    return breaker.failed(thrown)
  }

  return async (operation, exchange, beforeSend) => {
    let unsettled = false
    for (let number = 1; ; number++) {
      try {
        return { value: await attempt(operation.kind, exchange, beforeSend), unsettled }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        unsettled ||= error.effect === 'unknown'
        const last = number >= persistence.attempts || (unsettled && !operation.repeatable)
        if (error.kind !== 'transient' || last) throw withEffect(error, unsettled ? 'unknown' : 'none')
        log.warn({ operation: operation.kind, attempt: number, problem: error.message }, 'call failed, trying again')
        // With Retry-After the limiter makes everyone wait.
        if (error.retryAfter !== null) continue
        const longest = Math.min(persistence.backoff.max, persistence.backoff.base * 2 ** (number - 1))
        await clock.sleep(runtime.random() * longest, ending).catch(() => {
          throw withEffect(ended()!, unsettled ? 'unknown' : 'none')
        })
      }
    }
  }
}

/** A run that begins, or waits, while the service has asked another one to wait. */
function tooLong(paused: number): ServiceError {
  const seconds = Math.ceil(paused / 1000)
  return new ServiceError(
    'stopped',
    `The service has asked to wait, for another ${seconds} s: longer than this run may`,
  )
}

function withEffect(error: ServiceError, effect: Effect): ServiceError {
  if (error.effect === effect) return error
  const { kind, message, code, retryAfter, cause } = error
  return new ServiceError(kind, message, { effect, code, retryAfter, cause })
}
