/** The calls of a probe to one chatbot: a refusal is an answer, and a stop signal ends them step by step. */
import { ServiceError } from '../core/errors.ts'
import type { Listing, RemoteSummary } from '../core/listing.ts'
import type { Clock } from '../core/machine.ts'
import type { ListingCallOptions, ServiceClient } from '../service/client.ts'
import { walkPages } from '../service/observe.ts'
import type { Page, WalkOptions } from '../service/observe.ts'

/** How a call differs from one of a run: with keys of its own, with a body that the interface forbids. */
export type How = Pick<ListingCallOptions, 'keys' | 'unchecked'>

/** A no that is an answer. `status` is that of HTTP, `code` the envelope's or, without one, HTTP's. */
export interface Refusal {
  taken: false
  kind: 'refused' | 'credentials'
  status: number | null
  code: number | null
  /** Without control characters and secrets; may be empty. */
  message: string
}

export type Reply<T> = { taken: true; value: T } | Refusal

/** How long after a stop signal a call under way, and then the removal of the test listings, may take, in milliseconds. */
const patience = { call: 3000, removal: 8000 }

/**
 * Bodies are without SerialNumber. All calls throw `ServiceError` where there was no certain answer, where the program was
 * told to stop, and where keys that the call did not choose were refused: kind `credentials`.
 *
 * A stop signal ends waiting at once, a question's call under way after three seconds, and the removal of what is on the
 * service after eight, as a container kills after ten.
 */
export class Calls {
  /** Calls made so far. */
  sent = 0
  /** PageSize that walks begin with. */
  pageSize: number
  readonly #client: ServiceClient
  readonly #serialNumber: string
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #question = new AbortController()
  readonly #removal = new AbortController()
  readonly #finished = new AbortController()
  #isCleaning = false

  constructor(client: ServiceClient, chatbot: string, pageSize: number, clock: Clock, signal: AbortSignal) {
    this.#client = client
    this.#serialNumber = chatbot
    this.pageSize = pageSize
    this.#clock = clock
    this.#signal = signal
    if (signal.aborted) this.#beginToStop()
    else signal.addEventListener('abort', () => this.#beginToStop(), { once: true, signal: this.#finished.signal })
  }

  create(body: object, how?: How): Promise<Reply<string>> {
    const whole = { ...(body as Listing), SerialNumber: this.#serialNumber }
    return this.#reply(how, (options) => this.#client.create(whole, options))
  }

  update(body: object, how?: How): Promise<Reply<number>> {
    const whole = { ...(body as Parameters<ServiceClient['update']>[0]), SerialNumber: this.#serialNumber }
    return this.#reply(how, (options) => this.#client.update(whole, options))
  }

  remove(KeyType: 'MLSNumber' | 'NativeId', Keys: string[], how?: How): Promise<Reply<number>> {
    const body = { SerialNumber: this.#serialNumber, Keys, KeyType }
    return this.#reply(how, (options) => this.#client.delete(body, options))
  }

  list(filter: object, how?: How): Promise<Reply<Page>> {
    const whole = { SerialNumber: this.#serialNumber, ...filter }
    return this.#reply(how, async (options) => (await this.#client.list(whole, options)) as unknown as Page)
  }

  /** Every page, as a run walks them. */
  walk(filter: { MLSNumber?: string }, sink: Pick<WalkOptions, 'reset' | 'add'>): Promise<RemoteSummary> {
    return walkPages({
      list: async (PageNumber, PageSize) => {
        const page = await this.list({ ...filter, PageNumber, PageSize })
        if (page.taken) return page.value
        throw new ServiceError('refused', page.message, { code: page.code })
      },
      pageSize: this.pageSize,
      rememberPageSize: (taken) => (this.pageSize = taken),
      virtualCount: 'unknown',
      now: () => this.#clock.now(),
      ...sink,
    })
  }

  /** Waits. Throws `ServiceError` when told to stop. */
  async pause(milliseconds: number): Promise<void> {
    const signal = this.#isCleaning ? this.#removal.signal : this.#signal
    await this.#clock.sleep(milliseconds, signal).catch(() => {
      throw new ServiceError('stopped', 'The probe was told to stop')
    })
  }

  /** From now on being told to stop ends nothing, but a deadline does: what is on the service must go. */
  cleanUp(): void {
    this.#isCleaning = true
  }

  /** Nothing more is called: the stop signal is left alone. */
  end(): void {
    this.#finished.abort()
  }

  #beginToStop(): void {
    for (const [milliseconds, controller] of [
      [patience.call, this.#question],
      [patience.removal, this.#removal],
    ] as const)
      this.#clock.sleep(milliseconds, this.#finished.signal).then(
        () => controller.abort(),
        () => undefined,
      )
  }

  async #reply<T>(how: How | undefined, call: (options: ListingCallOptions) => Promise<T>): Promise<Reply<T>> {
    let status: number | null = null
    const ends = this.#isCleaning
      ? { signal: this.#removal.signal }
      : { signal: this.#question.signal, stop: this.#signal }
    this.sent++
    try {
      return { taken: true, value: await call({ ...ends, ...how, answered: (given) => (status = given) }) }
    } catch (error) {
      const isAnswer =
        error instanceof ServiceError &&
        (error.kind === 'refused' || (error.kind === 'credentials' && how?.keys !== undefined))
      if (isAnswer) return refusalOf(error, status)
      throw error
    }
  }
}

/** What the service said, without the sentence that the client puts around it. */
function refusalOf({ kind, code, message }: ServiceError, status: number | null): Refusal {
  if (kind !== 'credentials') return { taken: false, kind: 'refused', status, code, message }
  const [, own = ''] = /\(HTTP \d+(?:, Code -?\d+)?(?:: (.*))?\)$/s.exec(message) ?? []
  return { taken: false, kind, status, code, message: own }
}

/** How a refusal is told. */
export function refusalWords({ status, code, message }: Refusal): string {
  const by = status === code || status === null ? `code ${code}` : `HTTP ${status}, code ${code}`
  return message === '' ? by : `${by}: "${message}"`
}
