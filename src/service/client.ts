/**
 * The client of the listing service: one method for each operation, with bodies and answers as documented (docs/service.md),
 * and the same operations bound to one chatbot, for runs.
 */
import { ServiceError, UserError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import type { Clock, Runtime } from '../core/machine.ts'
import { askBody, askOperation, chatParts } from './chat.ts'
import type { ChatAnswer, ChatEnd, ChatPiece, ChatQuestion } from './chat.ts'
import { bindChatbot } from './chatbot.ts'
import type { Binding } from './chatbot.ts'
import { createCleaner, readAnswer } from './envelope.ts'
import type { Cleaner } from './envelope.ts'
import { createVersionCheck, headersOf } from './headers.ts'
import type { ServiceKeys, VersionCheck } from './headers.ts'
import { Lane, Limiter } from '../core/limiter.ts'
import type { CallLimiter } from '../core/limiter.ts'
import type { ListFilter, ListPage, RealEstateListItem } from './list-item.ts'
import type { ListItem } from './canonical.ts'
import { listingsOf, walkPages } from './observe.ts'
import { timeoutProblem } from './option-problems.ts'
import {
  checkBody,
  createOperation,
  deleteOperation,
  editOperation,
  listOperation,
  RequestError,
  updateOperation,
} from './operations.ts'
import type { KeyType, ListingOperation, Operation } from './operations.ts'
import { Breaker, Caller } from './retry.ts'
import type { Exchange } from './retry.ts'
import type { ConnectionSettings, Connections, SendRequest } from './send.ts'
import type { Chatbot } from './service.ts'
import { settingsProblems } from './settings.ts'
import type { ChatbotSettings, ServiceSettings } from './settings.ts'

/** One service, shared by all its callers: connections, rate, and accepted page size. */
export class Endpoint {
  readonly limiter: CallLimiter
  readonly #lanes = new Map<string, Lane>()
  /** The PageSize that it accepted after refusing a larger one. */
  pageSize = Infinity
  readonly #open: () => Promise<Connections>
  #connections: Promise<Connections> | null = null

  /**
   * The network library is loaded with the first call: it changes the process's globals, and importing a client should not.
   * `limiter`: one that several processes share.
   */
  constructor(
    { rate, ...connection }: ConnectionSettings & Pick<ServiceSettings, 'rate'>,
    clock: Clock,
    open = async (): Promise<Connections> => (await import('./send.ts')).openConnections(connection, clock),
    limiter: CallLimiter = new Limiter(clock, rate),
  ) {
    this.limiter = limiter
    this.#open = open
  }

  /** The lane of a chatbot; '': of calls without one. The first caller's `concurrency` counts. */
  lane(serialNumber: string, concurrency: number): Lane {
    const lane = this.#lanes.get(serialNumber) ?? new Lane(concurrency)
    this.#lanes.set(serialNumber, lane)
    return lane
  }

  /**
   * Sets another rate, also for runs under way. Infinity: the rate stays as it is, as no later run uses it. Later callers get new
   * lanes.
   */
  retune(rate: number): void {
    if (rate !== Infinity) this.limiter.retune(rate)
    this.#lanes.clear()
  }

  connect(): Promise<Connections> {
    return (this.#connections ??= this.#open())
  }

  /** Closes the connections; calls in flight are lost. */
  async close(): Promise<void> {
    const open = this.#connections
    this.#connections = null
    await (await open)?.close()
  }
}

/** How to reach a service; `ClientOptions` of the library says more. */
export type ClientSettings = Omit<ServiceSettings, 'profile'>

/** A listing as Create and Update take it: an empty text in an optional field of few values clears it. */
export type ListingInput = Omit<Listing, 'Tours' | 'SpaceType'> & {
  Tours?: Listing['Tours'] | ''
  SpaceType?: Listing['SpaceType'] | ''
}

export interface CallOptions {
  /** Ends the call and its waiting. */
  signal?: AbortSignal
  /** Milliseconds for an answer (for a stream: of silence) in place of the client's. */
  timeout?: number
}

/** The last three are for learning what a service does (`probe`). */
export interface ListingCallOptions extends CallOptions {
  /** Ends its waiting only: a call in flight is completed. */
  stop?: AbortSignal
  /** Replaces the client's keys in this call. */
  keys?: ServiceKeys
  /** Sends the body even if it is invalid. */
  unchecked?: true
  /** Called with the HTTP status of every answer. */
  answered?: (status: number) => void
}

/**
 * All calls throw `RequestError` for an invalid body before anything is sent, and `ServiceError` if the service refuses or
 * does not answer; its `effect` says whether the call may have been carried out.
 */
export class ServiceClient {
  readonly #settings: ClientSettings
  readonly #runtime: Runtime
  readonly #endpoint: Endpoint
  readonly #headers: SendRequest['headers']
  readonly #clean: Cleaner
  readonly #heardVersion: VersionCheck

  /** `endpoint`: to share one between clients. Throws `UserError` for a key that a header cannot carry. */
  constructor(settings: ClientSettings, runtime: Runtime, endpoint = new Endpoint(settings, runtime.clock)) {
    this.#settings = settings
    this.#runtime = runtime
    this.#endpoint = endpoint
    this.#headers = headersOf(settings)
    this.#clean = createCleaner([settings.secretKey, settings.sessionKey])
    this.#heardVersion = createVersionCheck(runtime, this.#clean)
  }

  /**
   * The client for one run over one chatbot, with a breaker of its own: a chatbot that fails stops no other. Aborting `signal`
   * ends waiting and calls in flight, aborting `stop` waiting only.
   * @internal
   */
  chatbot(
    serialNumber: string,
    { signal, stop, ...binding }: Binding & Pick<ListingCallOptions, 'signal' | 'stop'>,
  ): Chatbot {
    const caller = this.#caller(serialNumber, { signal, stop }, new Breaker())
    const heardVersion = createVersionCheck(this.#runtime, this.#clean)
    return bindChatbot(serialNumber, binding, {
      call: async (operation, body, beforeSend) => {
        const exchange = await this.#exchange(operation, body, { signal }, heardVersion)
        return caller.carryOut(operation, exchange, beforeSend).catch(tell(operation))
      },
      calls: caller.calls,
      endpoint: this.#endpoint,
      clock: this.#runtime.clock,
    })
  }

  /** Changes settings of a chatbot; what is left out stays. Sent again if the answer was lost. */
  async edit(settings: ChatbotSettings & { serialNumber: string }, options?: CallOptions): Promise<void> {
    const { serialNumber, ...fields } = settings
    const problems =
      typeof serialNumber !== 'string'
        ? ['serialNumber: takes text']
        : serialNumber.trim() === ''
          ? ['serialNumber: must not be empty']
          : []
    problems.push(...settingsProblems(fields))
    if (problems.length > 0) throw new RequestError('Edit', problems)
    const answer = await this.#call(editOperation, { serialNumber, ...fields }, options)
    if (answer !== 1)
      tell(editOperation)(
        new ServiceError('refused', `The service answered ${answer} to Edit; only 1 means success`, { code: 200 }),
      )
  }

  /**
   * Asks the chatbot and waits for the whole answer. Sent again only if the question was certainly not received; the error
   * says if the answer was lost.
   */
  async ask(question: ChatQuestion, options?: CallOptions): Promise<ChatAnswer> {
    return this.#call(askOperation, askBody(question, false), options)
  }

  /**
   * The same, streamed: pieces `{ content }`, then the final object with `Answer`. Throws `BrokenAnswerError` without it.
   * Leaving the loop early ends the call; the chatbot may go on answering.
   */
  async *askStreaming(
    question: ChatQuestion,
    options: CallOptions = {},
  ): AsyncGenerator<ChatPiece | ChatEnd, void, void> {
    const request = this.#request(askOperation, askBody(question, true), options)
    const { stream } = await this.#endpoint.connect()
    const { pieces, first } = await this.#once(askOperation, {}, options, async () => {
      const pieces = chatParts(await stream(request), () => this.#runtime.clock.now(), this.#clean)
      return { pieces, first: await pieces.next() }
    })
    try {
      if (first.done) return
      yield first.value
      yield* pieces
    } catch (error) {
      tell(askOperation)(error)
    } finally {
      await pieces.return()
    }
  }

  /**
   * Creates a listing and returns its identifier, which need not be the ID that List shows. Sent again only if it was
   * certainly not carried out: after a lost answer look the listing up first.
   */
  async create(body: ListingInput & { SerialNumber: string }, options?: ListingCallOptions): Promise<string> {
    return this.#checkedCall(createOperation, body, options)
  }

  /**
   * Updates the listings with a key and returns their number. What happens to fields that are left out is not documented; a
   * key without listings may yield 0 or a refusal.
   */
  async update(
    body: ListingInput & { SerialNumber: string; Key: string; KeyType: KeyType },
    options?: ListingCallOptions,
  ): Promise<number> {
    return this.#checkedCall(updateOperation, body, options)
  }

  /**
   * One page of listings. Order and the meaning of VirtualCount are not documented: pages may overlap, and only an empty page
   * means that there are no more.
   */
  async list(filter: ListFilter, options?: ListingCallOptions): Promise<ListPage> {
    const page = await this.#checkedCall(listOperation, filter, options)
    const { PageNumber = 1, PageSize = 20 } = filter
    try {
      const List = listingsOf(page, (PageNumber - 1) * PageSize)
      return { List: List as unknown as RealEstateListItem[], VirtualCount: page.VirtualCount }
    } catch (error) {
      return tell(listOperation)(error)
    }
  }

  /**
   * Every listing that the filter names, each once. The first comes when the whole list was read and no page contradicted
   * another one, so all of them are in memory; otherwise it throws a `ServiceError` that says what was wrong.
   */
  async *listAll(
    filter: Omit<ListFilter, 'PageNumber'>,
    options?: CallOptions,
  ): AsyncGenerator<RealEstateListItem, void, void> {
    const { PageSize = 100, ...named } = filter
    let found: ListItem[] = []
    const { complete, reasons } = await walkPages({
      list: async (PageNumber, PageSize) =>
        this.#checkedCall(listOperation, { ...named, PageNumber, PageSize }, options),
      pageSize: Math.min(PageSize, this.#endpoint.pageSize),
      rememberPageSize: (taken) => (this.#endpoint.pageSize = taken),
      virtualCount: 'unknown',
      now: () => this.#runtime.clock.now(),
      reset: () => (found = []),
      add: (items) => void found.push(...items),
    }).catch(tell(listOperation))
    if (!complete) {
      tell(listOperation)(new ServiceError('transient', `The list is incomplete: ${reasons.join(' ')}`))
    }
    yield* found as unknown as RealEstateListItem[]
  }

  /** Deletes listings by their keys and returns SuccessCount, perhaps fewer than the keys. */
  async delete(
    body: { SerialNumber: string; Keys: string[]; KeyType: KeyType },
    options?: ListingCallOptions,
  ): Promise<number> {
    return this.#checkedCall(deleteOperation, body, options)
  }

  /** Closes the connections; calls in flight are lost. */
  async close(): Promise<void> {
    await this.#endpoint.close()
  }

  async #checkedCall<T>(operation: ListingOperation<T>, body: object, options?: ListingCallOptions): Promise<T> {
    if (!options?.unchecked) checkBody(operation, body)
    return this.#call(operation, body, options)
  }

  async #call<T>(operation: Operation<T>, body: object, options: ListingCallOptions = {}): Promise<T> {
    return this.#once(operation, body, options, await this.#exchange(operation, body, options, this.#heardVersion))
  }

  /** A single call, outside of runs: it is tried whatever failed before. */
  async #once<T>(
    operation: Operation<unknown>,
    body: { SerialNumber?: unknown; serialNumber?: unknown },
    options: ListingCallOptions,
    exchange: Exchange<T>,
  ): Promise<T> {
    const chatbot = body.SerialNumber ?? body.serialNumber
    try {
      const caller = this.#caller(typeof chatbot === 'string' ? chatbot : '', options, null)
      return (await caller.carryOut(operation, exchange).catch(tell(operation))).value
    } catch (error) {
      if (operation.lost !== undefined && error instanceof ServiceError && error.effect === 'unknown')
        error.message = `${error.message}; ${operation.lost}`
      throw error
    } finally {
      ;(await this.#endpoint.connect()).rest()
    }
  }

  #caller(serialNumber: string, options: Pick<ListingCallOptions, 'signal' | 'stop'>, breaker: Breaker | null): Caller {
    const lane = this.#endpoint.lane(serialNumber, this.#settings.concurrency)
    return new Caller(this.#runtime, this.#endpoint.limiter, lane, this.#settings, options, breaker)
  }

  /** Returns the function that makes one attempt and reads its answer. */
  async #exchange<T>(
    operation: Operation<T>,
    body: object,
    options: ListingCallOptions,
    heardVersion: VersionCheck,
  ): Promise<Exchange<T>> {
    const request = this.#request(operation, body, options)
    const { send } = await this.#endpoint.connect()
    return async (sent) => {
      const response = await send({ ...request, sent })
      options.answered?.(response.status)
      const { value, version } = readAnswer(response, operation, this.#runtime.clock.now(), this.#clean)
      heardVersion(version)
      return value
    }
  }

  /** The request, the same in every attempt. */
  #request({ path, kind }: Operation<unknown>, body: object, options: ListingCallOptions): SendRequest {
    const { signal, keys } = options
    const { first, idle } = this.#waits(kind)
    const timeout = options.timeout ?? first
    const problem = timeoutProblem(timeout)
    if (problem !== null) throw new UserError(`timeout ${problem}`)
    const headers = keys === undefined ? this.#headers : headersOf(keys)
    return { path, headers, body: JSON.stringify(body), timeout, idle: options.timeout ?? idle, signal }
  }

  #waits(kind: Operation<unknown>['kind']): { first: number; idle: number } {
    const { timeout, chat = { first: timeout, idle: timeout } } = this.#settings
    return kind === 'ask' ? chat : { first: timeout, idle: timeout }
  }
}

/** Rethrows the failure of a call, with what only the client knows of it. */
function tell({ name, repeatable }: Operation<unknown>): (error: unknown) => never {
  return (error) => {
    if (error instanceof ServiceError) {
      error.operation = name
      error.retryable = error.kind === 'transient' && (repeatable || error.effect === 'none')
    }
    throw error
  }
}
