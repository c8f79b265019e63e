/**
 * The client of the listing service as a library, exported by `listing-sync` and, as a package of its own with undici alone,
 * by `listing-sync-client`. Importing it has no side effects; on a Node that is too old it fails with a sentence.
 */
import { UserError } from './core/errors.ts'
export { ServiceError, UserError } from './core/errors.ts'
export type { ExtensionEntry, Listing } from './core/listing.ts'
import { systemClock, systemRandom } from './core/machine.ts'
import type { Runtime } from './core/machine.ts'
import { nodeProblem } from './core/node-version.ts'
export type { Clock, Log, Runtime } from './core/machine.ts'
import { baseUrlProblem } from './service/base-url.ts'
export { BrokenAnswerError } from './service/chat.ts'
export type { ChatAnswer, ChatAskType, ChatEnd, ChatPiece, ChatQuestion } from './service/chat.ts'
import { ServiceClient } from './service/client.ts'
import type { ClientSettings } from './service/client.ts'
import { optionProblems } from './service/option-problems.ts'
import { ChatbotClient } from './service/face.ts'
export type { ChatbotClient } from './service/face.ts'
export type { CallOptions, ListingCallOptions, ListingInput } from './service/client.ts'
export type { ListFilter, ListPage, RealEstateListItem } from './service/list-item.ts'
export { RequestError } from './service/operations.ts'
export type { KeyType } from './service/operations.ts'
export type { ChatbotSettings } from './service/settings.ts'

const tooOld = nodeProblem(process.versions.node)
if (tooOld !== null) throw new UserError(tooOld)

/**
 * How to reach a service: address, keys, and changes to the defaults. All times in milliseconds. `rate`: calls per second,
 * Infinity for no limit; `maxAnswerBytes`: most bytes of one answer; `ca`: certificates of your own authority as PEM;
 * `concurrency`: most calls in flight, a stream counting until its first piece; `attempts`: all attempts of one call;
 * `patience`: the longest Retry-After to wait for.
 */
export type ClientOptions = Pick<ClientSettings, 'baseUrl'> &
  Partial<Omit<ClientSettings, 'baseUrl'>> & {
    /** Default: the machine's clock and randomness, and no log. */
    runtime?: Partial<Runtime>
  }

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * A client with the defaults of the daemon: 5 calls per second, 4 at a time, 30 s for an answer (of the chatbot: 60 s until it
 * begins, 30 s of silence),
 * 5 attempts, waits of up to 30 s between them and of up to 5 minutes if the service asks for them.
 */
export class ListingServiceClient extends ServiceClient {
  /** Throws `UserError` for an invalid address or key. */
  constructor({ runtime, ...options }: ClientOptions) {
    const problem = baseUrlProblem(options.baseUrl)
    if (problem !== null) throw new UserError(`baseUrl ${problem}`)
    const { timeout } = options
    const settings = {
      secretKey: null,
      sessionKey: null,
      ca: null,
      maxAnswerBytes: 32 * 1024 * 1024,
      rate: 5,
      concurrency: 4,
      timeout: 30_000,
      patience: 300_000,
      attempts: 5,
      ...given(options),
      backoff: { base: 500, max: 30_000, ...given(options.backoff ?? {}) },
      // A time that is given for all calls applies to chat, too.
      chat: { first: timeout ?? 60_000, idle: timeout ?? 30_000, ...given(options.chat ?? {}) },
    }
    const problems = optionProblems(settings)
    if (problems.length > 0) throw new UserError(problems.join('; '))
    super(settings, { clock: systemClock, random: systemRandom, log: silent, ...given(runtime ?? {}) })
  }

  /**
   * The operations on one chatbot.
   * @throws RequestError for an empty number.
   * @example
   * const cedar = service.forChatbot('SN-1001')
   * for await (const listing of cedar.listAll()) console.log(listing.MLSNumber)
   */
  forChatbot(serialNumber: string): ChatbotClient {
    return new ChatbotClient(this, serialNumber)
  }
}

/**
 * The client of a service.
 * @throws UserError for an invalid address, key or number.
 * @example
 * const service = createService({ baseUrl: 'https://listings.example.com', secretKey: process.env.LISTING_SECRET_KEY })
 * for await (const listing of service.listAll({ SerialNumber: 'SN-1001' })) console.log(listing.MLSNumber)
 */
export function createService(options: ClientOptions): ListingServiceClient {
  return new ListingServiceClient(options)
}

/** Without the options that are undefined, which mean their default. */
function given<T extends object>(options: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
}
