/**
 * Every operation of the interface (service-interface.md), one method each, with bodies and answers as the document spells
 * them. The same rate, envelope and repetition as the runs of the daemon have.
 */
import { ServiceError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import { Breaker } from './breaker.ts'
import { askBody, askOperation, askPath, chatParts } from './chat.ts'
import type { ChatAnswer, ChatEnd, ChatPiece, ChatQuestion } from './chat.ts'
import { createCleaner } from './envelope.ts'
import { Limiter } from './limiter.ts'
import { createVersionCheck, headersOf } from './line.ts'
import type { ServiceKeys } from './line.ts'
import type { ListFilter, ListPage, RealEstateListItem } from './list-item.ts'
import { createOperation, deleteOperation, editOperation, listOperation, updateOperation } from './operations.ts'
import { checkBody, createRules, deleteRules, listRules, RequestError, updateRules } from './request.ts'
import type { KeyType } from './request.ts'
import { createCall, createPersist } from './retry.ts'
import type { Line, Operation, Persistence } from './retry.ts'
import type { StreamSend } from './send-stream.ts'
import type { Send } from './send.ts'
import type { ChatbotSettings } from './settings.ts'

/** How to reach a service. All times in milliseconds. */
export interface ClientSettings extends ServiceKeys, Persistence {
  baseUrl: string
  /** Most calls under way at a time; a stream is one until its first piece has come. */
  concurrency: number
  /** Calls a second; Infinity for no limit. */
  rate: number
  /** The pace, where others call the same service; else an own one. */
  limiter?: Limiter
}

/** What any call takes beside its body. */
export interface CallOptions {
  /** Ends the call and its waiting. */
  signal?: AbortSignal
}

/** What a call about listings takes beside that; the last three are for learning what a service does (`probe`). */
export interface ListingCallOptions extends CallOptions {
  /** Ends its waiting only: once the call is under way, its answer is waited for. */
  stop?: AbortSignal
  /** Sent with this call instead of the client's keys: a service says by its answer which of them it takes (U1). */
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
  readonly #headers: Record<string, string>
  readonly #limiter: Limiter
  readonly #clean: (text: string) => string
  readonly #version: (version: string | null) => void
  #pools: Promise<{ send: Send; stream: StreamSend; rest(this: void): void; close(): Promise<void> }> | null = null

  /** Throws `UserError` for a key that no header can carry. */
  constructor(settings: ClientSettings, runtime: Runtime) {
    this.#settings = settings
    this.#runtime = runtime
    this.#headers = headersOf(settings)
    this.#limiter = settings.limiter ?? new Limiter(runtime.clock, settings.rate, settings.concurrency)
    this.#clean = createCleaner([settings.secretKey, settings.sessionKey])
    this.#version = createVersionCheck(runtime, this.#clean)
  }

  /** Changes settings of a chatbot (interface, "1. Edit"); what is left out stays. Sent again where an answer was lost. */
  async edit(settings: ChatbotSettings & { serialNumber: string }, options?: CallOptions): Promise<void> {
    const { serialNumber, ...fields } = settings
    const problems = typeof serialNumber === 'string' ? [] : ['serialNumber: takes text']
    problems.push(...(await import('./settings.ts')).settingsProblems(fields))
    if (problems.length > 0) throw new RequestError('Edit', problems)
    const answer = await this.#call(editOperation, { serialNumber, ...fields }, options)
    if (answer !== 1) throw new ServiceError('refused', `The service answered ${answer} to Edit, and 1 means success`)
  }

  /**
   * Asks the chatbot and waits for the whole answer (interface, "2. Message a chatbot"). Sent again only where it surely was not taken;
   * where the answer was lost the error says so.
   */
  async ask(question: ChatQuestion, options?: CallOptions): Promise<ChatAnswer> {
    return this.#call(askOperation, askBody(question, false), options, lostMessage)
  }

  /**
   * The same, streamed: pieces `{ content }` as they come, then the final object with `Answer`. Throws `BrokenAnswerError`
   * where that does not come. Leaving the loop early ends the call, but not what the chatbot does.
   */
  async *askStreaming(
    question: ChatQuestion,
    { signal }: CallOptions = {},
  ): AsyncGenerator<ChatPiece | ChatEnd, void, void> {
    const body = JSON.stringify(askBody(question, true))
    const { send, stream } = await this.#connect()
    const { clock } = this.#runtime
    const { timeout } = this.#settings
    const persist = createPersist(this.#line(send, { signal }))
    const begin = async () => {
      const response = await stream({ path: askPath, headers: this.#headers, body, timeout, signal })
      const parts = chatParts(response, () => clock.now(), this.#clean)
      return { parts, first: await parts.next() }
    }
    const { parts, first } = (await persist(askOperation, begin).catch(saying(lostMessage))).value
    try {
      if (first.done) return
      yield first.value
      yield* parts
    } finally {
      await parts.return()
    }
  }

  /**
   * Creates a listing (interface, "3. Create") and gives its identifier, which need not be the ID that List shows (U2). Sent
   * again only where it surely was not carried out: after a lost answer look the listing up first.
   */
  async create(body: Listing & { SerialNumber: string }, options?: ListingCallOptions): Promise<string> {
    if (!options?.unchecked) checkBody('Create', body, createRules)
    return this.#call(createOperation, body, options, lostCreate)
  }

  /**
   * Updates the listings that a key names (interface, "4. Update") and gives how many. What happens to fields that are left out is
   * not documented (U4); a key that names nothing may give 0 or a refusal (U5).
   */
  async update(
    body: Listing & { SerialNumber: string; Key: string; KeyType: KeyType },
    options?: ListingCallOptions,
  ): Promise<number> {
    if (!options?.unchecked) checkBody('Update', body, updateRules)
    return this.#call(updateOperation, body, options)
  }

  /**
   * One page of listings (interface, "5. List"). Order and the meaning of VirtualCount are not documented (U9): pages may
   * overlap, and only an empty page says that there are no more.
   */
  async list(filter: ListFilter, options?: ListingCallOptions): Promise<ListPage> {
    if (!options?.unchecked) checkBody('List', filter, listRules)
    const { items, virtualCount } = await this.#call(listOperation, filter, options)
    return { List: items as unknown as RealEstateListItem[], VirtualCount: virtualCount }
  }

  /** Deletes listings by their keys (interface, "6. Delete") and gives SuccessCount; it may be less than the keys (U6). */
  async delete(
    body: { SerialNumber: string; Keys: string[]; KeyType: KeyType },
    options?: ListingCallOptions,
  ): Promise<number> {
    if (!options?.unchecked) checkBody('Delete', body, deleteRules)
    return this.#call(deleteOperation, body, options)
  }

  /** Closes the connections; calls under way are lost. */
  async close(): Promise<void> {
    const pools = this.#pools
    this.#pools = null
    await (await pools)?.close()
  }

  async #call<T>(operation: Operation<T>, body: object, options: ListingCallOptions = {}, lost?: string): Promise<T> {
    const { send, rest } = await this.#connect()
    try {
      return (await createCall(this.#line(send, options))(operation, body).catch(saying(lost))).value
    } finally {
      rest()
    }
  }

  /** What one call goes over. A client lives for long, so that no call is refused for the failures of those before it. */
  #line(send: Send, { signal, stop, keys, answered }: ListingCallOptions): Line {
    return {
      runtime: this.#runtime,
      persistence: this.#settings,
      send,
      headers: keys === undefined ? this.#headers : headersOf(keys),
      clean: this.#clean,
      limiter: this.#limiter,
      breaker: new Breaker(),
      signal,
      stop,
      calls: { create: 0, update: 0, delete: 0, list: 0 },
      version: this.#version,
      ...(answered !== undefined && { answered }),
    }
  }

  /**
   * The network's library is loaded with the first call, as that of the settings is: each leaves something in the
   * process's globals, and importing a client should not.
   */
  #connect() {
    this.#pools ??= (async () => {
      const { baseUrl, concurrency } = this.#settings
      const [{ createPoolSend }, { createStreamSend }] = await Promise.all([
        import('./send.ts'),
        import('./send-stream.ts'),
      ])
      const pool = createPoolSend(baseUrl, concurrency, this.#runtime.clock)
      const streams = createStreamSend(baseUrl, this.#runtime.clock)
      return {
        send: pool.send,
        stream: streams.send,
        rest: pool.rest,
        close: async () => void (await Promise.all([pool.close(), streams.close()])),
      }
    })()
    return this.#pools
  }
}

const lostMessage = 'the chatbot may have taken the message all the same, so it was not sent again'
const lostCreate = 'the listing may be there all the same, so it was not sent again; look it up first'

/** Adds a sentence to an error where it is not known whether the call was carried out. */
function saying(lost: string | undefined): (error: unknown) => never {
  return (error) => {
    if (lost !== undefined && error instanceof ServiceError && error.effect === 'unknown')
      error.message = `${error.message}; ${lost}`
    throw error
  }
}
