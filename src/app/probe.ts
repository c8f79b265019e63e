/** Wiring of `probe`: the questions' calls over a feed's client, under the chatbot's lease, and what a stop signal does. */
import type { FeedConfig } from '../config/config.ts'
import { ServiceError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import type { Clock } from '../core/machine.ts'
import { askAll } from '../probe/ask.ts'
import type { How, KeyChoice, ListItem, ProbeCalls, Refusal, Reply } from '../probe/calls.ts'
import { probedJson, probedText, resultOf } from '../probe/report.ts'
import type { Probed } from '../probe/report.ts'
import type { ServiceClient, ListingCallOptions } from '../service/client.ts'
import type { ServiceKeys } from '../service/line.ts'
import { walkPages } from '../service/observe.ts'
import type { App } from './app.ts'
import { scrubbedTexts } from './scrubbed.ts'

/** How a finished probe is written, and its one word. */
export const probedForms: Record<'text' | 'json', (probed: Probed) => string> = { text: probedText, json: probedJson }
export { resultOf }

/** How long after a stop signal a call under way, and then the removal of the test listings, may take, in milliseconds. */
const patience = { call: 3000, removal: 8000 }
const maxPages = 100_000

/** One probe of the feed's service. Throws `UserError` where it can't even begin. */
export async function probe(
  app: App,
  feed: FeedConfig,
  signal: AbortSignal,
  progress: (title: string) => void,
): Promise<Probed> {
  const { runtime, scrub } = app
  const { clock } = runtime
  const startedAt = clock.now()
  const lease = app.store().lease(feed.chatbot, startedAt)
  const stopping = new Stopping(clock, signal)
  try {
    const { secretKey, sessionKey } = feed.service
    const asked = await askAll({
      feed: feed.name,
      calls: callsOf(app.client(feed), feed, stopping, clock),
      runtime,
      keys: { secret: secretKey !== null, session: sessionKey !== null },
      progress,
    })
    const { left, lost, ...rest } = asked
    return {
      ...scrubbedTexts(rest, scrub),
      error: signal.aborted ? 'it was stopped by a signal' : asked.error && scrub(asked.error),
      left: new Map([...left].map(([mlsNumber, why]) => [mlsNumber, scrub(why)])),
      lost,
      feed: feed.name,
      chatbot: feed.chatbot,
      startedAt,
      finishedAt: clock.now(),
      settle: feed.settle,
    }
  } finally {
    stopping.end()
    lease.release()
  }
}

/**
 * What a stop signal ends, and when: waiting at once, a question's call under way after three seconds, the removal of what is
 * on the service after eight, as a container kills after ten.
 */
class Stopping {
  readonly #finished = new AbortController()
  readonly #question = new AbortController()
  readonly #removal = new AbortController()
  readonly #signal: AbortSignal
  #isCleaning = false

  constructor(clock: Clock, signal: AbortSignal) {
    this.#signal = signal
    const after = (milliseconds: number, controller: AbortController): void => {
      clock.sleep(milliseconds, this.#finished.signal).then(
        () => controller.abort(),
        () => undefined,
      )
    }
    const begin = (): void => {
      after(patience.call, this.#question)
      after(patience.removal, this.#removal)
    }
    if (signal.aborted) begin()
    else signal.addEventListener('abort', begin, { once: true, signal: this.#finished.signal })
  }

  cleanUp(): void {
    this.#isCleaning = true
  }

  end(): void {
    this.#finished.abort()
  }

  /** For the next call. */
  get options(): Pick<ListingCallOptions, 'signal' | 'stop'> {
    return this.#isCleaning ? { signal: this.#removal.signal } : { signal: this.#question.signal, stop: this.#signal }
  }

  /** For the next wait. */
  get waiting(): AbortSignal {
    return this.#isCleaning ? this.#removal.signal : this.#signal
  }
}

function callsOf(client: ServiceClient, feed: FeedConfig, stopping: Stopping, clock: Clock): ProbeCalls {
  const SerialNumber = feed.chatbot
  const { profile, secretKey, sessionKey } = feed.service
  const keySets: Record<KeyChoice, ServiceKeys> = {
    secret: { secretKey, sessionKey: null },
    session: { secretKey: null, sessionKey },
    none: { secretKey: null, sessionKey: null },
    'wrong secret': { secretKey: 'listing-sync-probe-wrong-key', sessionKey: null },
    'wrong session': { secretKey: null, sessionKey: 'listing-sync-probe-wrong-key' },
  }
  let sent = 0
  let pageSize = profile.pageSize

  async function reply<T>(how: How | undefined, call: (options: ListingCallOptions) => Promise<T>): Promise<Reply<T>> {
    let status: number | null = null
    sent++
    try {
      const value = await call({
        ...stopping.options,
        ...(how?.keys !== undefined && { keys: keySets[how.keys] }),
        ...(how?.unchecked && { unchecked: true }),
        answered: (said) => (status = said),
      })
      return { taken: true, value }
    } catch (error) {
      const isAnswer =
        error instanceof ServiceError &&
        (error.kind === 'refused' || (error.kind === 'credentials' && how?.keys !== undefined))
      if (isAnswer) return refusalOf(error, status)
      throw error
    }
  }

  const list = (filter: object, how?: How): Promise<Reply<{ items: ListItem[]; virtualCount: number | null }>> =>
    reply(how, async (options) => {
      const { List, VirtualCount } = await client.list({ SerialNumber, ...filter }, options)
      return { items: List as unknown as ListItem[], virtualCount: VirtualCount }
    })

  return {
    list,
    create: (body, how) => reply(how, (options) => client.create({ ...(body as Listing), SerialNumber }, options)),
    update: (body, how) =>
      reply(how, (options) =>
        client.update({ ...(body as Parameters<ServiceClient['update']>[0]), SerialNumber }, options),
      ),
    remove: (KeyType, Keys, how) => reply(how, (options) => client.delete({ SerialNumber, Keys, KeyType }, options)),
    walk: (filter, sink) =>
      walkPages({
        async list(PageNumber, PageSize) {
          const page = await list({ ...filter, PageNumber, PageSize })
          if (page.taken) return { items: page.value.items, virtualCount: page.value.virtualCount }
          throw new ServiceError('refused', page.message, { code: page.code })
        },
        pageSize,
        rememberPageSize: (accepted) => (pageSize = accepted),
        maxPages,
        virtualCount: 'unknown',
        now: () => clock.now(),
        reset: () => sink.reset(),
        add: (items) => sink.add(items),
      }),
    pause: (milliseconds) =>
      clock.sleep(milliseconds, stopping.waiting).catch(() => {
        throw new ServiceError('stopped', 'The probe was told to stop')
      }),
    cleanUp: () => stopping.cleanUp(),
    get sent() {
      return sent
    },
    get pageSize() {
      return pageSize
    },
  }
}

/** What the service said, without the sentence that the client puts around it. */
function refusalOf({ kind, code, message }: ServiceError, status: number | null): Refusal {
  const said =
    kind === 'credentials' ? (/\(HTTP \d+(?:, Code -?\d+)?(?:: (.*))?\)$/s.exec(message)?.[1] ?? '') : message
  return { taken: false, kind: kind === 'credentials' ? kind : 'refused', status, code, message: said }
}
