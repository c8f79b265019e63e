/**
 * The client of the listing service: every operation of the interface, one method each, with bodies and answers as the
 * document spells them, and the same operations bound to one chatbot, for runs.
 */
import { ServiceError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import { askBody, askOperation, chatParts } from './chat.ts'
import type { ChatAnswer, ChatEnd, ChatPiece, ChatQuestion } from './chat.ts'
import { bindChatbot } from './chatbot.ts'
import type { Binding } from './chatbot.ts'
import { Endpoint } from './endpoint.ts'
import { createCleaner, readAnswer } from './envelope.ts'
import type { Cleaner } from './envelope.ts'
import { createVersionCheck, headersOf } from './headers.ts'
import type { ServiceKeys, VersionCheck } from './headers.ts'
import type { ListFilter, ListPage } from './list-item.ts'
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
import type { SendRequest } from './send.ts'
import type { Chatbot } from './service.ts'
import type { ChatbotSettings, ServiceSettings } from './settings-file.ts'

/** How to reach a service; `ClientOptions` of the library says more. */
export type ClientSettings = Omit<ServiceSettings, 'profile'>

/** What any call takes beside its body. */
export interface CallOptions {
  /** Ends the call and its waiting. */
  signal?: AbortSignal
}

/** What a call about listings takes beside that; the last three are for learning what a service does (`probe`). */
export interface ListingCallOptions extends CallOptions {
  /** Ends its waiting only: once the call is under way, its answer is waited for. */
  stop?: AbortSignal
  /** Sent with this call instead of the client's keys: a service says by its answer which of them it takes. */
  keys?: ServiceKeys
  /** Sends a body that the document forbids, to learn what the service says to it. */
  unchecked?: true
  /** Told the HTTP status of every answer, also of those that are no success. */
  answered?: (status: number) => void
}

/**
 * All calls throw `RequestError` for a body that the document forbids, before anything is sent, and `ServiceError` where the
 * service says no or gives no answer; its `effect` says whether the call was perhaps carried out all the same.
 */
export class ServiceClient {
  readonly #settings: ClientSettings
  readonly #runtime: Runtime
  readonly #endpoint: Endpoint
  readonly #headers: SendRequest['headers']
  readonly #clean: Cleaner
  readonly #heardVersion: VersionCheck
  /** Of the runs; a call that is made by itself is tried whatever failed before it. */
  #breaker = new Breaker()

  /** `endpoint` is for clients that share one. Throws `UserError` for a key that no header can carry. */
  constructor(settings: ClientSettings, runtime: Runtime, endpoint = new Endpoint(settings, runtime.clock)) {
    this.#settings = settings
    this.#runtime = runtime
    this.#endpoint = endpoint
    this.#headers = headersOf(settings)
    this.#clean = createCleaner([settings.secretKey, settings.sessionKey])
    this.#heardVersion = createVersionCheck(runtime, this.#clean)
  }

  /**
   * The client for one run over one chatbot. Aborting `signal` ends its waiting and its calls under way, aborting `stop`
   * its waiting only. Runs end together: what trips the breaker ends the calls of every chatbot of this client; one that is
   * bound after that may try again.
   * @internal
   */
  chatbot(
    serialNumber: string,
    { signal, stop, ...binding }: Binding & Pick<ListingCallOptions, 'signal' | 'stop'>,
  ): Chatbot {
    if (this.#breaker.error) this.#breaker = new Breaker()
    const caller = this.#caller({ signal, stop }, this.#breaker)
    const heardVersion = createVersionCheck(this.#runtime, this.#clean)
    return bindChatbot(serialNumber, binding, {
      call: async (operation, body, beforeSend) =>
        caller.carryOut(operation, await this.#exchange(operation, body, { signal }, heardVersion), beforeSend),
      calls: caller.calls,
      endpoint: this.#endpoint,
      clock: this.#runtime.clock,
    })
  }

  /** Changes settings of a chatbot (interface, "1. Edit"); what is left out stays. Sent again where an answer was lost. */
  async edit(settings: ChatbotSettings & { serialNumber: string }, options?: CallOptions): Promise<void> {
    const { serialNumber, ...fields } = settings
    const problems = typeof serialNumber === 'string' ? [] : ['serialNumber: takes text']
    // Loaded when it is needed: it leaves something in the process's globals, and importing a client should not.
    problems.push(...(await import('./settings-file.ts')).settingsProblems(fields))
    if (problems.length > 0) throw new RequestError('Edit', problems)
    const answer = await this.#call(editOperation, { serialNumber, ...fields }, options)
    if (answer !== 1) throw new ServiceError('refused', `The service answered ${answer} to Edit, and 1 means success`)
  }

  /**
   * Asks the chatbot and waits for the whole answer (interface, "2. Message a chatbot"). Sent again only where it surely
   * was not taken; where the answer was lost the error says so.
   */
  async ask(question: ChatQuestion, options?: CallOptions): Promise<ChatAnswer> {
    return this.#call(askOperation, askBody(question, false), options)
  }

  /**
   * The same, streamed: pieces `{ content }` as they come, then the final object with `Answer`. Throws `BrokenAnswerError`
   * where that does not come. Leaving the loop early ends the call, but not what the chatbot does.
   */
  async *askStreaming(
    question: ChatQuestion,
    options: CallOptions = {},
  ): AsyncGenerator<ChatPiece | ChatEnd, void, void> {
    const request = this.#request(askOperation, askBody(question, true), options)
    const { stream } = await this.#endpoint.connect()
    const { parts, first } = await this.#once(askOperation, options, async () => {
      const parts = chatParts(await stream(request), () => this.#runtime.clock.now(), this.#clean)
      return { parts, first: await parts.next() }
    })
    try {
      if (first.done) return
      yield first.value
      yield* parts
    } finally {
      await parts.return()
    }
  }

  /**
   * Creates a listing (interface, "3. Create") and gives its identifier, which need not be the ID that List shows. Sent
   * again only where it surely was not carried out: after a lost answer look the listing up first.
   */
  async create(body: Listing & { SerialNumber: string }, options?: ListingCallOptions): Promise<string> {
    return this.#checkedCall(createOperation, body, options)
  }

  /**
   * Updates the listings that a key names (interface, "4. Update") and gives how many. What happens to fields that are left
   * out is not documented; a key that names nothing may give 0 or a refusal.
   */
  async update(
    body: Listing & { SerialNumber: string; Key: string; KeyType: KeyType },
    options?: ListingCallOptions,
  ): Promise<number> {
    return this.#checkedCall(updateOperation, body, options)
  }

  /**
   * One page of listings (interface, "5. List"). Order and the meaning of VirtualCount are not documented: pages may
   * overlap, and only an empty page says that there are no more.
   */
  async list(filter: ListFilter, options?: ListingCallOptions): Promise<ListPage> {
    return (await this.#checkedCall(listOperation, filter, options)) as unknown as ListPage
  }

  /** Deletes listings by their keys (interface, "6. Delete") and gives SuccessCount; it may be less than the keys. */
  async delete(
    body: { SerialNumber: string; Keys: string[]; KeyType: KeyType },
    options?: ListingCallOptions,
  ): Promise<number> {
    return this.#checkedCall(deleteOperation, body, options)
  }

  /** Closes the connections; calls under way are lost. */
  async close(): Promise<void> {
    await this.#endpoint.close()
  }

  async #checkedCall<T>(operation: ListingOperation<T>, body: object, options?: ListingCallOptions): Promise<T> {
    if (!options?.unchecked) checkBody(operation, body)
    return this.#call(operation, body, options)
  }

  async #call<T>(operation: Operation<T>, body: object, options: ListingCallOptions = {}): Promise<T> {
    return this.#once(operation, options, await this.#exchange(operation, body, options, this.#heardVersion))
  }

  /** Carries out a call that is made by itself. */
  async #once<T>(operation: Operation<unknown>, options: ListingCallOptions, exchange: () => Promise<T>): Promise<T> {
    try {
      return (await this.#caller(options, null).carryOut(operation, exchange)).value
    } catch (error) {
      if (operation.lost !== undefined && error instanceof ServiceError && error.effect === 'unknown')
        error.message = `${error.message}; ${operation.lost}`
      throw error
    } finally {
      ;(await this.#endpoint.connect()).rest()
    }
  }

  #caller(options: Pick<ListingCallOptions, 'signal' | 'stop'>, breaker: Breaker | null): Caller {
    return new Caller(this.#runtime, this.#endpoint.limiter, this.#settings, options, breaker)
  }

  /** What makes one attempt of a call and reads its answer. */
  async #exchange<T>(
    operation: Operation<T>,
    body: object,
    options: ListingCallOptions,
    heardVersion: VersionCheck,
  ): Promise<() => Promise<T>> {
    const request = this.#request(operation, body, options)
    const { send } = await this.#endpoint.connect()
    return async () => {
      const response = await send(request)
      options.answered?.(response.status)
      const { value, version } = readAnswer(response, operation.read, this.#runtime.clock.now(), this.#clean)
      heardVersion(version)
      return value
    }
  }

  /** What a call carries, the same in each of its attempts. */
  #request({ path }: Operation<unknown>, body: object, { signal, keys }: ListingCallOptions): SendRequest {
    const headers = keys === undefined ? this.#headers : headersOf(keys)
    return { path, headers, body: JSON.stringify(body), timeout: this.#settings.timeout, signal }
  }
}
