/** The client's operations on one chatbot, which needs no naming in each call then. */
import type { ChatAnswer, ChatEnd, ChatPiece, ChatQuestion } from './chat.ts'
import type { CallOptions, ListingInput, ServiceClient } from './client.ts'
import type { ListFilter, ListPage, RealEstateListItem } from './list-item.ts'
import { RequestError } from './operations.ts'
import type { KeyType } from './operations.ts'
import type { ChatbotSettings } from './settings.ts'

/**
 * One chatbot of a service: each method is the client's of the same name, with this chatbot's number, and throws the same. A
 * body with a number of its own is refused. Closing is the client's business, as all its chatbots share its connections.
 */
export class ChatbotClient {
  readonly serialNumber: string
  readonly #client: ServiceClient

  /** Use `forChatbot` of the client. Throws `RequestError` for an empty number. */
  constructor(client: ServiceClient, serialNumber: string) {
    if (typeof serialNumber !== 'string' || serialNumber.trim() === '')
      throw new RequestError('forChatbot', ['serialNumber: takes text that is not empty'])
    this.#client = client
    this.serialNumber = serialNumber
  }

  async edit(settings: ChatbotSettings, options?: CallOptions): Promise<void> {
    return this.#client.edit({ ...this.#own('Edit', settings), serialNumber: this.serialNumber }, options)
  }

  /** `sessionID`: a chat session of this chatbot, which the client can't check. */
  async ask(question: ChatQuestion, options?: CallOptions): Promise<ChatAnswer> {
    return this.#client.ask(question, options)
  }

  askStreaming(question: ChatQuestion, options?: CallOptions): AsyncGenerator<ChatPiece | ChatEnd, void, void> {
    return this.#client.askStreaming(question, options)
  }

  async create(listing: ListingInput, options?: CallOptions): Promise<string> {
    return this.#client.create({ ...this.#own('Create', listing), SerialNumber: this.serialNumber }, options)
  }

  async update(listing: ListingInput & { Key: string; KeyType: KeyType }, options?: CallOptions): Promise<number> {
    return this.#client.update({ ...this.#own('Update', listing), SerialNumber: this.serialNumber }, options)
  }

  async list(filter: Omit<ListFilter, 'SerialNumber'> = {}, options?: CallOptions): Promise<ListPage> {
    return this.#client.list({ ...this.#own('List', filter), SerialNumber: this.serialNumber }, options)
  }

  async *listAll(
    filter: Omit<ListFilter, 'SerialNumber' | 'PageNumber'> = {},
    options?: CallOptions,
  ): AsyncGenerator<RealEstateListItem, void, void> {
    yield* this.#client.listAll({ ...this.#own('List', filter), SerialNumber: this.serialNumber }, options)
  }

  async delete(body: { Keys: string[]; KeyType: KeyType }, options?: CallOptions): Promise<number> {
    return this.#client.delete({ ...this.#own('Delete', body), SerialNumber: this.serialNumber }, options)
  }

  /** The body, unless it names a chatbot: whether that or this one is meant would be a guess. */
  #own<T extends object>(operation: string, body: T): T {
    const name = Object.keys(body).find((each) => /^serialnumber$/i.test(each))
    if (name === undefined) return body
    throw new RequestError(operation, [`${name}: is that of forChatbot; leave it out`])
  }
}
