/** The client of the listing service (service-interface.md): one limiter and one connection pool for all its chatbots. */
import { ServiceError, UserError } from '../errors.ts'
import type { FieldName, Shown } from '../listing.ts'
import type { Runtime } from '../runtime.ts'
import { Breaker } from './breaker.ts'
import { createItemReader } from './canonical.ts'
import type { ListItem } from './canonical.ts'
import { createCleaner } from './envelope.ts'
import { Limiter } from './limiter.ts'
import { walkPages } from './observe.ts'
import type { WalkOptions } from './observe.ts'
import { createOperation, deleteOperation, listingBody, listOperation, updateOperation } from './operations.ts'
import { createCall } from './retry.ts'
import type { Persistence } from './retry.ts'
import { createPoolSend } from './send.ts'
import type { Send } from './send.ts'
import type { ServiceProfile, ServiceWriter } from './service.ts'

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
   * The client for one run over one chatbot. Aborting `signal` ends its waiting and its calls under way.
   * Clients share limiter and breaker; one made after the breaker tripped belongs to a new run and starts with a new one.
   */
  forChatbot(serialNumber: string, signal?: AbortSignal): ServiceWriter
  readonly state: ServiceState
  /** Closes the connections; calls under way are lost. */
  close(): Promise<void>
}

/** The API version this client was written for (interface, "Versioning"). */
const knownVersion = '1.0.0'
/** A million listings fit even where a service gives no more than ten a page. */
const maxPages = 100_000

/** Throws `UserError` for a key that no header can carry. */
export function createService(settings: ServiceSettings, runtime: Runtime): Service {
  const { profile } = settings
  const headers = headersOf(settings)
  const clean = createCleaner([settings.secretKey, settings.sessionKey])
  const limiter = new Limiter(runtime.clock, settings.rate, settings.concurrency)
  const pool = settings.send ? null : createPoolSend(settings.baseUrl, settings.concurrency, runtime.clock)
  const send = settings.send ?? pool!.send
  const readItem = createItemReader(settings.volatile)
  const readItems = (items: ListItem[]) => items.map(readItem).filter((shown) => shown !== null)
  let breaker = new Breaker()
  let { pageSize } = profile
  return {
    forChatbot(SerialNumber, signal) {
      if (breaker.error) breaker = new Breaker()
      const calls = { create: 0, update: 0, delete: 0, list: 0 }
      let versionWarned = false
      const version = (version: string | null) => {
        if (version === knownVersion || versionWarned) return
        versionWarned = true
        runtime.log.warn(
          { version: version && clean(version), known: knownVersion },
          'the service speaks another version than this program knows',
        )
      }
      const call = createCall({
        runtime,
        persistence: settings,
        send,
        headers,
        clean,
        limiter,
        breaker,
        signal,
        calls,
        version,
      })
      const walk = (filter: { MLSNumber?: string }, rest: Pick<WalkOptions, 'virtualCount' | 'reset' | 'add'>) =>
        walkPages({
          async list(PageNumber, PageSize) {
            const { value } = await call(listOperation, { SerialNumber, ...filter, PageNumber, PageSize })
            return value
          },
          pageSize,
          rememberPageSize(size) {
            pageSize = size
          },
          maxPages,
          now: () => runtime.clock.now(),
          ...rest,
        })
      return {
        calls,
        observe: (sink) =>
          walk(
            {},
            {
              virtualCount: profile.virtualCount,
              reset: () => sink.reset(),
              add: (items) => sink.add(readItems(items)),
            },
          ),
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
          if (!complete)
            throw new ServiceError('transient', `The look-up of ${mlsNumber} is incomplete: ${reasons.join(' ')}`)
          return found
        },
        create: (listing, owner, beforeSend) =>
          call(createOperation, listingBody(SerialNumber, listing, owner, [], profile), beforeSend),
        update(listing, owner, clear, beforeSend) {
          const body = listingBody(SerialNumber, listing, owner, clear, profile)
          body.Key = listing.MLSNumber
          body.KeyType = 'MLSNumber'
          return call(updateOperation, body, beforeSend)
        },
        delete: (mlsNumbers, beforeSend) =>
          call(deleteOperation, { SerialNumber, Keys: mlsNumbers, KeyType: 'MLSNumber' }, beforeSend),
      }
    },
    get state() {
      const { rate, running, waiting } = limiter
      return { rate, running, waiting, pageSize, stopped: breaker.error?.message ?? null }
    },
    async close() {
      await pool?.close()
    },
  }
}

/** Which key is accepted where is not documented, so every call carries each key that is configured (U1). */
function headersOf({
  secretKey,
  sessionKey,
}: Pick<ServiceSettings, 'secretKey' | 'sessionKey'>): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (secretKey !== null) headers.authorization = secretKey
  if (sessionKey !== null) headers['chatrobot-sessionkey'] = sessionKey
  for (const [name, value] of Object.entries(headers))
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new UserError(
        `service: the key for the ${name} header holds a character that no header can carry, perhaps a line break at its end`,
      )
  return headers
}
