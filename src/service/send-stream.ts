/** One request whose answer is read as it comes; beside `send.ts`, which reads it whole. */
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { messageOf, ServiceError } from '../core/errors.ts'
import type { Clock } from '../core/machine.ts'
import type { SendRequest, SendResponse } from './send.ts'

/** An answer that has begun. */
export interface StreamResponse {
  status: number
  headers: SendResponse['headers']
  /** The body's bytes; throws `ServiceError` as `send` does where it does not come to its end. Leaving it ends the exchange. */
  chunks: AsyncIterable<Uint8Array>
}

/**
 * Resolves once the answer begins, whatever its status; rejects as `Send` does. The request's `timeout` is the longest
 * silence, in milliseconds: a stream may go on for longer.
 */
export type StreamSend = (request: SendRequest) => Promise<StreamResponse>

/** Largest answer read, in bytes. */
const maxResponseSize = 32 * 1024 * 1024

/** `StreamSend` over connections of its own: streams must not keep other calls waiting for one. */
export function createStreamSend(baseUrl: string, clock: Clock): { send: StreamSend; close(): Promise<void> } {
  const url = new URL(baseUrl)
  const prefix = url.pathname.replace(/\/+$/, '')
  const pool = new Pool(url.origin, { pipelining: 1, maxResponseSize, headersTimeout: 0, bodyTimeout: 0 })
  return {
    async send({ path, headers, body, timeout, signal }) {
      const exchange = new StreamExchange(clock, timeout, signal)
      pool.dispatch({ path: prefix + path, method: 'POST', headers, body }, exchange)
      return exchange.response
    },
    close: () => pool.destroy(),
  }
}

class StreamExchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<StreamResponse>
  #resolve!: (response: StreamResponse) => void
  #reject!: (error: ServiceError) => void
  #controller: Dispatcher.DispatchController | null = null
  #error: ServiceError | null = null
  readonly #chunks: Uint8Array[] = []
  #wake: () => void = () => undefined
  readonly #clock: Clock
  #heardAt: number
  readonly #over = new AbortController()

  constructor(clock: Clock, timeout: number, signal: AbortSignal | undefined) {
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#clock = clock
    this.#heardAt = clock.now()
    const interrupt = (): void => this.#end('The call was interrupted')
    if (signal?.aborted) interrupt()
    signal?.addEventListener('abort', interrupt)
    this.#over.signal.addEventListener('abort', () => signal?.removeEventListener('abort', interrupt))
    this.#listen(timeout).catch(() => undefined)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over.signal.aborted) controller.abort(new Error('ended before it was sent'))
    else this.#controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: SendResponse['headers']): void {
    this.#heardAt = this.#clock.now()
    if (status >= 200) this.#resolve({ status, headers, chunks: this.#read() })
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#heardAt = this.#clock.now()
    this.#chunks.push(chunk)
    this.#wake()
  }

  onResponseEnd(): void {
    this.#over.abort()
    this.#wake()
  }

  onResponseError(_: unknown, error: Error): void {
    const said = messageOf(error) || String((error as NodeJS.ErrnoException).code)
    this.#fail(this.#controller ? `The answer was lost: ${said}` : `No connection to the service: ${said}`, error)
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) yield chunk
        else if (this.#error !== null) throw this.#error
        else if (this.#over.signal.aborted) return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.#end('The reader left')
    }
  }

  /** Ends the exchange once nothing was heard for `timeout`. */
  async #listen(timeout: number): Promise<void> {
    for (;;) {
      const left = this.#heardAt + timeout - this.#clock.now()
      if (left <= 0) return this.#end(`The service was silent for ${timeout / 1000} s`)
      await this.#clock.sleep(left, this.#over.signal)
    }
  }

  #end(why: string): void {
    if (this.#over.signal.aborted) return
    this.#fail(this.#controller ? `${why} before the answer was whole` : `${why} before a connection was there`)
    this.#controller?.abort(new Error(why))
  }

  #fail(message: string, cause?: Error): void {
    if (this.#over.signal.aborted) return
    const effect = this.#controller ? 'unknown' : 'none'
    this.#error = new ServiceError('transient', message, { effect, cause })
    this.#over.abort()
    this.#reject(this.#error)
    this.#wake()
  }
}
