/**
 * Sends one request and returns the answer, whole or streamed, without interpreting it. Uses undici; the simulation replaces
 * it.
 */
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'
import { codeOf, messageOf, ServiceError } from '../core/errors.ts'
import { gunzipped, gunzippedPieces, isGzip } from '../core/gzip.ts'
import type { Clock } from '../core/machine.ts'
import type { ServiceSettings } from './settings.ts'

/** A POST to `path` under the base address. */
export interface SendRequest {
  path: string
  headers: Record<string, string>
  body: string
  /** Milliseconds for the whole exchange; for a stream, until its first piece. */
  timeout: number
  /** Of a stream: the longest silence after its first piece; left out: `timeout`. */
  idle?: number | undefined
  /** Ends the exchange early. */
  signal: AbortSignal | undefined
  /** Called when the request is written to its connection. */
  sent?: (() => void) | undefined
}

/** Header names are in lower case. */
export interface SendResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

export interface StreamResponse {
  status: number
  headers: SendResponse['headers']
  /** The body. Throws `ServiceError` as `Send` does if it breaks off; leaving the loop ends the exchange. */
  chunks: AsyncIterable<Uint8Array>
}

/**
 * Resolves with any answer, whatever its status. Rejects with a `ServiceError` of kind `transient` without a complete answer:
 * effect `none` only if nothing of the request can have been written.
 * Never follows a redirect, never repeats a request.
 */
export type Send = (request: SendRequest) => Promise<SendResponse>

export interface Connections {
  /** Opens a connection for each request in flight: one that waited would be sent later than the limiter allowed. */
  send: Send
  /** Resolves once the answer begins, whatever its status; rejects as `Send` does. */
  stream(this: void, request: SendRequest): Promise<StreamResponse>
  /** Clears the timer of the last call, which would keep the process alive. */
  rest(): void
  close(): Promise<void>
}

export type ConnectionSettings = Pick<ServiceSettings, 'baseUrl' | 'ca' | 'maxAnswerBytes'>

/** Connections to the origin of `baseUrl`, one for each request in flight. */
export function openConnections(
  { baseUrl, ca, maxAnswerBytes: maxResponseSize }: ConnectionSettings,
  clock: Clock,
): Connections {
  const url = new URL(baseUrl)
  const prefix = url.pathname.replace(/\/+$/, '')
  // undici's timers are accurate to a second and none limits the whole exchange, as `Deadlines` does.
  const connect = ca === null ? {} : { ca }
  const options = { pipelining: 1, maxResponseSize, headersTimeout: 0, bodyTimeout: 0, connect }
  const pool = new Pool(url.origin, options)
  const deadlines = new Deadlines(clock)
  const begin = ({ path, headers, body }: SendRequest, exchange: Dispatcher.DispatchHandler): void =>
    void pool.dispatch({ path: prefix + path, method: 'POST', headers, body }, exchange)
  return {
    async send(request) {
      const { timeout, signal, sent } = request
      const exchange = new WholeExchange(clock, maxResponseSize, sent)
      const interrupt = () => exchange.end('The call was interrupted')
      signal?.addEventListener('abort', interrupt)
      deadlines.add(exchange, timeout)
      try {
        begin(request, exchange)
        return await exchange.response
      } finally {
        deadlines.remove(exchange)
        signal?.removeEventListener('abort', interrupt)
      }
    },
    async stream(request) {
      const exchange = new StreamExchange(clock, request, maxResponseSize)
      begin(request, exchange)
      return exchange.response
    },
    rest: () => deadlines.rest(),
    async close() {
      deadlines.close()
      await pool.destroy()
    },
  }
}

/** Our words for errors of which the library only says that something is too long. */
const longerThanAllowed = 'it is longer than maxAnswerBytes of the service'
const tooLong = new Map([
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', longerThanAllowed],
  ['ERR_BUFFER_TOO_LARGE', longerThanAllowed],
  ['UND_ERR_HEADERS_OVERFLOW', 'its headers are longer than 16 kB'],
])

const reasonOf = (error: Error): string => tooLong.get(codeOf(error)) ?? (messageOf(error) || codeOf(error))
const lostBy = (error: Error): string => `The answer was lost: ${reasonOf(error)}`

/** Milliseconds. The library gives a connection up after the same time, unless the process was frozen meanwhile. */
const longestConnect = 10_000

/** A dispatch handler needs half the processor time of `Pool.request` and knows whether writing has begun. */
abstract class Exchange<T> implements Dispatcher.DispatchHandler {
  readonly response: Promise<T>
  protected readonly clock: Clock
  protected resolve!: (response: T | PromiseLike<T>) => void
  readonly #begun: number
  #reject!: (error: ServiceError) => void
  #controller: Dispatcher.DispatchController | null = null
  #isOver = false
  readonly #sent: (() => void) | undefined

  constructor(clock: Clock, sent?: () => void) {
    this.clock = clock
    this.#sent = sent
    this.#begun = clock.now()
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.#reject = reject
    })
  }

  abstract onResponseStart(_: Dispatcher.DispatchController, status: number, headers: SendResponse['headers']): void
  abstract onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void
  /** Called once, when the answer is complete or has failed. */
  protected abstract finish(error: ServiceError | null): void

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A process that was frozen meanwhile may no longer have the right to make this call.
    if (this.clock.now() - this.#begun > longestConnect) this.end(`It took longer than ${longestConnect / 1000} s`)
    // Ended while waiting for the connection: abort() keeps undici from writing, so effect "none" stays true.
    if (this.#isOver) return controller.abort(new Error('ended before it was sent'))
    this.#controller = controller
    this.#sent?.()
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.finish(null)
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(
      this.#controller
        ? lostBy(error)
        : `No connection to the service: ${reasonOf(error)}; check service.baseUrl, and that the service is up`,
      error,
    )
  }

  /** Ends the exchange; `why` becomes the message. */
  end(why: string): void {
    if (this.#isOver) return
    this.#fail(this.#controller ? `${why} before the answer was complete` : `${why} before a connection was open`)
    this.#controller?.abort(new Error(why))
  }

  #fail(message: string, cause?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    const error = new ServiceError('transient', message, { effect: this.#controller ? 'unknown' : 'none', cause })
    this.#reject(error)
    this.finish(error)
  }
}

class WholeExchange extends Exchange<SendResponse> {
  #status = 0
  #headers: SendResponse['headers'] = {}
  readonly #chunks: Buffer[] = []
  readonly #maxBytes: number

  constructor(clock: Clock, maxBytes: number, sent?: () => void) {
    super(clock, sent)
    this.#maxBytes = maxBytes
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: SendResponse['headers']): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  protected finish(error: ServiceError | null): void {
    if (error !== null) return
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    // Nothing asks for it, but some proxies pack every answer.
    this.resolve(isGzip(bytes) ? this.#unpacked(bytes) : this.#answer(bytes))
  }

  #answer(body: Buffer): SendResponse {
    return { status: this.#status, headers: this.#headers, body: body.toString('utf8') }
  }

  async #unpacked(bytes: Buffer): Promise<SendResponse> {
    try {
      return this.#answer(await gunzipped(bytes, this.#maxBytes))
    } catch (error) {
      const cause = error as Error
      throw new ServiceError('transient', lostBy(cause), { effect: 'unknown', cause })
    }
  }
}

class StreamExchange extends Exchange<StreamResponse> {
  #error: ServiceError | null = null
  readonly #chunks: Buffer[] = []
  #wake: () => void = () => undefined
  #heardAt: number
  readonly #maxBytes: number
  readonly #begun = new AbortController()
  readonly #over = new AbortController()

  constructor(clock: Clock, { timeout, idle = timeout, signal }: SendRequest, maxBytes: number) {
    super(clock)
    this.#maxBytes = maxBytes
    this.#heardAt = clock.now()
    const interrupt = (): void => this.end('The call was interrupted')
    if (signal?.aborted) interrupt()
    signal?.addEventListener('abort', interrupt)
    // Not by the option `signal`: of several on one signal, Node forgets all but the last once it collects garbage.
    this.#over.signal.addEventListener('abort', () => signal?.removeEventListener('abort', interrupt))
    void this.#listen(timeout, idle)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: SendResponse['headers']): void {
    if (status >= 200) this.resolve({ status, headers, chunks: this.#unpacked() })
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#heardAt = this.clock.now()
    this.#begun.abort()
    this.#chunks.push(chunk)
    this.#wake()
  }

  protected finish(error: ServiceError | null): void {
    this.#error = error
    this.#begun.abort()
    this.#over.abort()
    this.#wake()
  }

  /** The pieces as they come. Nothing asks for gzip, but some proxies pack every answer. */
  async *#unpacked(): AsyncGenerator<Uint8Array> {
    try {
      while (this.#chunks.length === 0 && !this.#over.signal.aborted) await this.#heard()
      if (this.#chunks.length === 0 || !isGzip(this.#chunks[0])) {
        yield* this.#read()
        return
      }
      let length = 0
      for await (const piece of gunzippedPieces(this.#read())) {
        length += piece.length
        if (length > this.#maxBytes) throw new Error(longerThanAllowed)
        yield piece
      }
    } catch (error) {
      if (error instanceof ServiceError) throw error
      const cause = error as Error
      throw new ServiceError('transient', lostBy(cause), { effect: 'unknown', cause })
    } finally {
      this.end('The reader left')
    }
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) yield chunk
      else if (this.#error !== null) throw this.#error
      else if (this.#over.signal.aborted) return
      else await this.#heard()
    }
  }

  #heard(): Promise<void> {
    return new Promise<void>((resolve) => (this.#wake = resolve))
  }

  /** Ends the exchange after a silence of `first` or, once a piece has come, of `idle`. */
  async #listen(first: number, idle: number): Promise<void> {
    for (const [longest, until] of [[first, this.#begun.signal] as const, [idle, this.#over.signal] as const])
      while (!until.aborted) {
        const left = this.#heardAt + longest - this.clock.now()
        if (left <= 0) return this.end(`The service was silent for ${longest / 1000} s`)
        await this.clock.sleep(left, until).catch(() => undefined)
      }
  }
}

/** Ends exchanges at their deadline with one timer for all: a timer for each call costs as much as the call. */
class Deadlines {
  readonly #clock: Clock
  readonly #due = new Map<WholeExchange, { at: number; timeout: number }>()
  #wakeAt = Infinity
  #sleeping = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(exchange: WholeExchange, timeout: number): void {
    const at = this.#clock.now() + timeout
    this.#due.set(exchange, { at, timeout })
    if (at < this.#wakeAt) this.#sleepUntil(at)
  }

  remove(exchange: WholeExchange): void {
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
      else exchange.end(`The call took longer than ${timeout / 1000} s`)
    }
    if (next < Infinity) this.#sleepUntil(next)
  }
}
