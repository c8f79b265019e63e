/** The client of the listing service (service-interface.md): one limiter and one connection pool for all its chatbots. */
import { ServiceError } from '../core/errors.ts'
import type { FieldName, Shown } from '../core/listing.ts'
import type { Runtime, Clock } from '../core/machine.ts'
import { Breaker } from './breaker.ts'
import { createItemReader } from './canonical.ts'
import type { ListItem } from './canonical.ts'
import { createCleaner } from './envelope.ts'
import { Limiter } from './limiter.ts'
import { createVersionCheck, headersOf } from './line.ts'
import { walkPages } from './observe.ts'
import type { WalkOptions } from './observe.ts'
import { createOperation, deleteOperation, listingBody, listOperation, updateOperation } from './operations.ts'
import { createCall } from './retry.ts'
import type { Persistence, Call } from './retry.ts'
import { createPoolSend } from './send.ts'
import type { Send } from './send.ts'
import type { ServiceProfile, ServiceWriter, Calls } from './service.ts'

/** How to reach one service. All times in milliseconds. */
export interface ServiceSettings extends Persistence {
  baseUrl: string
  /** Sent as Authorization, as it is (U1). */
  secretKey: string | null
  /** Sent as chatrobot-sessionkey (U1). */
  sessionKey: string | null
  /** Most calls under way at a time. */
  concurrency: number
  /** Calls a second; Infinity for no limit. */
  rate: number
  profile: ServiceProfile
  /** Fields that move by themselves: left out of the hash of what is shown. */
  volatile: ReadonlySet<FieldName>
  /** The pace, where feeds with keys of their own call one service; else an own one. */
  limiter?: Limiter
  /** Carries requests instead of an own connection pool. */
  send?: Send
}

/** What a service is doing at present, for progress and metrics. */
export interface ServiceState {
  /** Calls a second that are allowed now; less than configured after a 429 or 503. */
  rate: number
  running: number
  waiting: number
  /** PageSize in use, smaller than the profile's where that was refused (U8). */
  pageSize: number
  /** Why nothing more is sent; null where all is well. */
  stopped: string | null
}

export interface Service {
  /**
   * The client for one run over one chatbot. Aborting `signal` ends its waiting and its calls under way, aborting `stop`
   * its waiting only (fault-model F134: no new call after SIGTERM, while those under way are waited for).
   * Clients share limiter and breaker; one made after the breaker tripped belongs to a new run and starts with a new one.
   */
  forChatbot(serialNumber: string, signal?: AbortSignal, stop?: AbortSignal): ServiceWriter
  readonly state: ServiceState
  /** Closes the connections; calls under way are lost. */
  close(): Promise<void>
}

/** Throws `UserError` for a key that no header can carry. */
export function createService(settings: ServiceSettings, runtime: Runtime): Service {
  const { profile } = settings
  const headers = headersOf(settings)
  const clean = createCleaner([settings.secretKey, settings.sessionKey])
  const limiter = settings.limiter ?? new Limiter(runtime.clock, settings.rate, settings.concurrency)
  const pool = settings.send ? null : createPoolSend(settings.baseUrl, settings.concurrency, runtime.clock)
  const send = settings.send ?? pool!.send
  const readItem = createItemReader(settings.volatile, profile.saleTypeShown)
  const readItems = (items: ListItem[]) => items.map(readItem).filter((shown) => shown !== null)
  let breaker = new Breaker()
  const pageSize = { current: profile.pageSize }
  return {
    forChatbot(serialNumber, signal, stop) {
      if (breaker.error) breaker = new Breaker()
      const calls = { create: 0, update: 0, delete: 0, list: 0 }
      const persistence = settings
      const version = createVersionCheck(runtime, clean)
      const line = { runtime, persistence, send, headers, clean, limiter, breaker, signal, stop, calls, version }
      return createWriter({
        serialNumber,
        profile,
        pageSize,
        readItems,
        clock: runtime.clock,
        calls,
        call: createCall(line),
      })
    },
    get state() {
      const { rate, running, waiting } = limiter
      return { rate, running, waiting, pageSize: pageSize.current, stopped: breaker.error?.message ?? null }
    },
    async close() {
      await pool?.close()
    },
  }
}

/** The operations of one run over one chatbot, as the rest of the program sees them. */

interface WriterParts {
  serialNumber: string
  profile: ServiceProfile
  /** PageSize in use, shared by all writers of the service: smaller than the profile's once that was refused (U8). */
  pageSize: { current: number }
  readItems(this: void, items: ListItem[]): Shown[]
  clock: Clock
  calls: Calls
  call: Call
}

/** A million listings fit even where a service gives no more than ten a page. */
const maxPages = 100_000

export function createWriter(parts: WriterParts): ServiceWriter {
  const { serialNumber, profile, pageSize, readItems, call } = parts
  const walk = (filter: { MLSNumber?: string }, rest: Pick<WalkOptions, 'virtualCount' | 'reset' | 'add'>) =>
    walkPages({
      async list(PageNumber, PageSize) {
        const body = { SerialNumber: serialNumber, ...filter, PageNumber, PageSize }
        return (await call(listOperation, body)).value
      },
      pageSize: pageSize.current,
      rememberPageSize(accepted) {
        pageSize.current = accepted
      },
      maxPages,
      now: () => parts.clock.now(),
      ...rest,
    })

  return {
    calls: parts.calls,

    observe: (sink) => {
      const { virtualCount } = profile
      return walk({}, { virtualCount, reset: () => sink.reset(), add: (items) => sink.add(readItems(items)) })
    },

    async lookUp(mlsNumber) {
      let found: Shown[] = []
      const { complete, reasons } = await walk(
        { MLSNumber: mlsNumber },
        {
          // Under a filter VirtualCount may count all listings or the matching ones.
          virtualCount: profile.virtualCount === 'total' ? 'end' : 'unknown',
          reset: () => (found = []),
          // The filter may be ignored, or match a part of the number.
          add: (items) => found.push(...readItems(items).filter((shown) => shown.mlsNumber === mlsNumber)),
        },
      )
      if (complete) return found
      throw new ServiceError('transient', `The look-up of ${mlsNumber} is incomplete: ${reasons.join(' ')}`)
    },

    create: (listing, owner, beforeSend) =>
      call(createOperation, listingBody(serialNumber, listing, owner, [], profile), beforeSend),

    update(listing, owner, clear, beforeSend) {
      const body = listingBody(serialNumber, listing, owner, clear, profile)
      body.Key = listing.MLSNumber
      body.KeyType = 'MLSNumber'
      return call(updateOperation, body, beforeSend)
    },

    delete: (mlsNumbers, beforeSend) =>
      call(deleteOperation, { SerialNumber: serialNumber, Keys: mlsNumbers, KeyType: 'MLSNumber' }, beforeSend),

    deleteById: (id, beforeSend) =>
      call(deleteOperation, { SerialNumber: serialNumber, Keys: [String(id)], KeyType: 'NativeId' }, beforeSend),
  }
}
