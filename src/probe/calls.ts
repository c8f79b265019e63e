/** The calls of a probe to one chatbot. A refusal is an answer; a stop signal ends them step by step. */
import { ServiceError } from '../core/errors.ts'
import type { Listing, RemoteSummary } from '../core/listing.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Clock } from '../core/machine.ts'
import type { ListingCallOptions, ServiceClient } from '../service/client.ts'
import { walkPages } from '../service/observe.ts'
import type { Page, WalkOptions } from '../service/observe.ts'

/** Differences from a call of a run: other keys, an invalid body. */
export type How = Pick<ListingCallOptions, 'keys' | 'unchecked'>

/** `status`: of HTTP; `code`: of the envelope, else of HTTP. */
export interface Refusal {
  taken: false
  kind: 'refused' | 'credentials'
  status: number | null
  code: number | null
  /** Without control characters and secrets; may be empty. */
  message: string
}

export type Reply<T> = { taken: true; value: T } | Refusal

/** How long a call in flight, and then the removal of test listings, may take after a stop signal, in milliseconds. */
const patience = { call: 3000, removal: 8000 }

/**
 * Bodies are without SerialNumber. All calls throw `ServiceError` without a definite answer, after a stop signal, and, with kind
 * `credentials`, if the configured keys are refused.
 *
 * A stop signal ends waiting at once, a call in flight after three seconds, and the removal of test listings after eight, as a
 * container kills after ten.
 */
export class Calls {
  /** Calls made so far. */
  sent = 0
  /** First PageSize of a walk. */
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

  list(filter: object, how?: How): Promise<Reply<Page & { List: ListItem[] }>> {
    const whole = { SerialNumber: this.#serialNumber, ...filter }
    return this.#reply(
      how,
      async (options) => (await this.#client.list(whole, options)) as unknown as Page & { List: ListItem[] },
    )
  }

  /** Reads every page, like a run. */
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

  /** Throws `ServiceError` when stopped. */
  async pause(milliseconds: number): Promise<void> {
    const signal = this.#isCleaning ? this.#removal.signal : this.#signal
    await this.#clock.sleep(milliseconds, signal).catch(() => {
      throw new ServiceError('stopped', 'The probe was stopped')
    })
  }

  /** From now on the stop signal is ignored and a deadline applies: the test listings must be removed. */
  cleanUp(): void {
    this.#isCleaning = true
  }

  /** After the last call: detaches from the stop signal. */
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

/** The service's own words, without the client's sentence around them. */
function refusalOf({ kind, code, message }: ServiceError, status: number | null): Refusal {
  if (kind !== 'credentials') return { taken: false, kind: 'refused', status, code, message }
  const [, own = ''] = /\(HTTP \d+(?:, Code -?\d+)?(?:: (.*))?\)$/s.exec(message) ?? []
  return { taken: false, kind, status, code, message: own }
}

export function refusalWords({ status, code, message }: Refusal): string {
  const by = status === code || status === null ? `code ${code}` : `HTTP ${status}, code ${code}`
  return message === '' ? by : `${by}: "${message}"`
}

/** The rest of a sentence about an Update or a Delete. */
export function resultWords(reply: Reply<number>): string {
  return reply.taken ? `counts ${reply.value}` : `is refused (${refusalWords(reply)})`
}
