/**
 * One request to the service and its answer, without any opinion about either. The port that the simulation replaces;
 * the real one is an undici Pool.
 */
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { messageOf, ServiceError } from '../core/errors.ts'
import type { Effect } from '../core/errors.ts'
import type { Clock } from '../core/machine.ts'

/** A POST to `path` under the base address. `timeout` is milliseconds for the whole exchange. */
export interface SendRequest {
  path: string
  headers: Record<string, string>
  body: string
  timeout: number
  /** Ends the exchange before its time. */
  signal: AbortSignal | undefined
}

/** Header names are in lower case. */
export interface SendResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/**
 * Resolves with whatever the service answered, any status. Rejects with a `ServiceError` of kind `transient` where there
 * was no whole answer: effect `none` only if nothing of the request can have been written (fault-model §3.5).
 * Never follows a redirect, never repeats a request.
 */
export type Send = (request: SendRequest) => Promise<SendResponse>

/** Largest answer read, in bytes (fault-model F127). */
const maxResponseSize = 32 * 1024 * 1024

/**
 * `Send` over a pool of at most `concurrency` connections to the origin of `baseUrl`. Callers must not have more than
 * that many requests under way: one that waits for a connection would go out later than the limiter allowed it.
 * `rest` takes the timer away that may still run from the last call: it keeps a process up that has nothing else to do.
 */
export function createPoolSend(
  baseUrl: string,
  concurrency: number,
  clock: Clock,
): { send: Send; rest(this: void): void; close(): Promise<void> } {
  const url = new URL(baseUrl)
  const prefix = url.pathname.replace(/\/+$/, '')
  const pool = new Pool(url.origin, {
    connections: concurrency,
    pipelining: 1,
    maxResponseSize,
    // undici's timers are a second coarse and none of them bounds the whole exchange: `Deadlines` does.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const deadlines = new Deadlines(clock)
  return {
    async send({ path, headers, body, timeout, signal }) {
      const exchange = new Exchange()
      const interrupt = () => exchange.end('The call was interrupted')
      signal?.addEventListener('abort', interrupt)
      deadlines.add(exchange, timeout)
      try {
        pool.dispatch({ path: prefix + path, method: 'POST', headers, body }, exchange)
        return await exchange.response
      } finally {
        deadlines.remove(exchange)
        signal?.removeEventListener('abort', interrupt)
      }
    },
    rest: () => deadlines.rest(),
    async close() {
      deadlines.close()
      await pool.destroy()
    },
  }
}

/** The dispatch handler: half the processor time of `Pool.request`, and it knows whether writing has begun. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<SendResponse>
  #resolve!: (response: SendResponse) => void
  #reject!: (error: ServiceError) => void
  #controller: Dispatcher.DispatchController | null = null
  #ended = false
  #status = 0
  #headers: SendResponse['headers'] = {}
  readonly #chunks: Buffer[] = []

  constructor() {
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Ended while it waited for the connection: abort() here keeps undici from writing it, so "none" stays true.
    if (this.#ended) controller.abort(new Error('ended before it was sent'))
    else this.#controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: SendResponse['headers']): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#ended = true
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    this.#resolve({ status: this.#status, headers: this.#headers, body: bytes.toString('utf8') })
  }

  onResponseError(_: unknown, error: Error): void {
    // An AggregateError of several addresses has no message of its own.
    const said = messageOf(error) || String((error as NodeJS.ErrnoException).code)
    this.#fail(this.#controller ? `The answer was lost: ${said}` : `No connection to the service: ${said}`, error)
  }

  /** Ends the exchange from our side; `why` becomes the message. */
  end(why: string): void {
    this.#fail(this.#controller ? `${why} before the answer was there` : `${why} before a connection was there`)
    this.#controller?.abort(new Error(why))
  }

  #fail(message: string, cause?: Error): void {
    if (this.#ended) return
    this.#ended = true
    const effect: Effect = this.#controller ? 'unknown' : 'none'
    this.#reject(new ServiceError('transient', message, { effect, cause }))
  }
}

/** Ends exchanges at their deadline with one timer for all of them: a timer a call costs as much as the call. */
class Deadlines {
  readonly #clock: Clock
  readonly #due = new Map<Exchange, { at: number; timeout: number }>()
  #wakeAt = Infinity
  #sleeping = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(exchange: Exchange, timeout: number): void {
    const at = this.#clock.now() + timeout
    this.#due.set(exchange, { at, timeout })
    if (at < this.#wakeAt) this.#sleepUntil(at)
  }

  remove(exchange: Exchange): void {
    this.#due.delete(exchange)
  }

  rest(): void {
    if (this.#due.size > 0) return
    this.#sleeping.abort()
    this.#wakeAt = Infinity
  }

  close(): void {
    this.#sleeping.abort()
  }

  #sleepUntil(at: number): void {
    this.#sleeping.abort()
    this.#sleeping = new AbortController()
    this.#wakeAt = at
    this.#clock.sleep(at - this.#clock.now(), this.#sleeping.signal).then(
      () => this.#endDue(),
      () => {},
    )
  }

  #endDue(): void {
    this.#wakeAt = Infinity
    let next = Infinity
    for (const [exchange, { at, timeout }] of this.#due) {
      if (at > this.#clock.now()) next = Math.min(next, at)
      else exchange.end(`The ${timeout / 1000} s for a call were over`)
    }
    if (next < Infinity) this.#sleepUntil(next)
  }
}
