/**
 * The listing service's client as a library: `import { ListingServiceClient } from 'listing-sync'`. Importing it does
 * nothing: no connection, no timer, no file.
 */
import { UserError } from './core/errors.ts'
export { ServiceError, UserError } from './core/errors.ts'
export type { ExtensionEntry, Listing } from './core/listing.ts'
import { systemClock, systemRandom } from './core/machine.ts'
import type { Runtime } from './core/machine.ts'
export type { Clock, Log, Runtime } from './core/machine.ts'
import { baseUrlProblem } from './service/base-url.ts'
export { BrokenAnswerError } from './service/chat.ts'
export type { ChatAnswer, ChatAskType, ChatEnd, ChatPiece, ChatQuestion } from './service/chat.ts'
import { ServiceClient } from './service/client.ts'
import type { ClientSettings } from './service/client.ts'
export type { CallOptions, ListingCallOptions } from './service/client.ts'
export type { ListFilter, ListPage, RealEstateListItem } from './service/list-item.ts'
export { RequestError } from './service/operations.ts'
export type { KeyType } from './service/operations.ts'
export type { ChatbotSettings } from './service/settings-file.ts'

/**
 * How to reach a service: its address, its keys, and what differs from the defaults. All times in milliseconds. `rate` is in
 * calls a second, Infinity for no limit; `concurrency` the most calls under way at a time, of which a stream is one until its
 * first piece has come; `attempts` are all of one call; `patience` is the longest Retry-After that is waited for.
 */
export type ClientOptions = Pick<ClientSettings, 'baseUrl'> &
  Partial<Omit<ClientSettings, 'baseUrl'>> & {
    /** Clock, randomness and log, where they are not to be the machine's and none. */
    runtime?: Partial<Runtime>
  }

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * A client with the defaults of the daemon: 5 calls a second, 4 at a time, 30 s for an answer (of a stream: of silence),
 * 5 attempts, waits of up to 30 s between them and of up to 5 minutes where the service asks for them.
 */
export class ListingServiceClient extends ServiceClient {
  /** Throws `UserError` for an address or a key that can't be used. */
  constructor({ runtime, ...options }: ClientOptions) {
    const problem = baseUrlProblem(options.baseUrl)
    if (problem !== null) throw new UserError(`baseUrl ${problem}`)
    super(
      {
        secretKey: null,
        sessionKey: null,
        rate: 5,
        concurrency: 4,
        timeout: 30_000,
        patience: 300_000,
        attempts: 5,
        backoff: { base: 500, max: 30_000 },
        ...options,
      },
      { clock: systemClock, random: systemRandom, log: silent, ...runtime },
    )
  }
}
