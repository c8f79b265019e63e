/** The chatbot of an office in memory: what runs see of a service that answers everything, without HTTP, pages and retries. */
import type { Glimpse, Listing, Shown } from '../../src/core/listing.ts'
import { createItemReader } from '../../src/service/canonical.ts'
import { listingBody } from '../../src/service/chatbot.ts'
import type { Answer, BeforeSend, Chatbot } from '../../src/service/service.ts'
import { listItem } from '../../src/stand-in/pages.ts'
import { profileSchema } from '../../src/stand-in/profile.ts'

export const volatile = new Set(['DaysOnMarket'] as const)

interface Row {
  readonly listing: Listing
  readonly shown: Shown
  /** As a list shows it. */
  readonly item: Glimpse
}

const profile = profileSchema.parse({})
const readItem = createItemReader(volatile)
const pageSize = 500

const settled = <T>(value: T): Answer<T> => ({ value, unsettled: false })

export class MemoryChatbot implements Chatbot {
  readonly calls = { create: 0, update: 0, delete: 0, list: 0 }
  readonly mark: string
  readonly stamp = null
  readonly #rows: Map<string, Row>
  readonly #now: () => number
  #lastId: number

  /** `rows`: of an earlier one, which stays as it is. */
  constructor(mark: string, now: () => number, from: MemoryChatbot | null = null) {
    this.mark = mark
    this.#now = now
    this.#rows = new Map(from === null ? [] : from.#rows)
    this.#lastId = from === null ? 100 : from.#lastId
  }

  get shown(): ReadonlyMap<string, { readonly listing: Listing }> {
    return this.#rows
  }

  /** Nobody else fills this chatbot. */
  sign(): void {}

  async observe(sink: Parameters<Chatbot['observe']>[0]) {
    const items = Array.from(this.#rows.values(), ({ item }) => item)
    for (let i = 0; i < items.length; i += pageSize) await sink.add(items.slice(i, i + pageSize), [])
    const pages = Math.ceil(items.length / pageSize)
    return { complete: true, reasons: [], pages, listings: items.length, startedAt: this.#now() }
  }

  lookUp(mlsNumber: string): Promise<Shown[]> {
    const row = this.#rows.get(mlsNumber)
    return Promise.resolve(row === undefined ? [] : [row.shown])
  }

  async create(listing: Listing, beforeSend: BeforeSend): Promise<Answer<string>> {
    await beforeSend()
    if (this.#rows.has(listing.MLSNumber)) throw new Error(`${listing.MLSNumber} was created a second time`)
    this.#put(listing, ++this.#lastId)
    return settled(`id-${this.#lastId}`)
  }

  async update(listing: Listing, _: unknown, beforeSend: BeforeSend): Promise<Answer<number>> {
    await beforeSend()
    const row = this.#rows.get(listing.MLSNumber)
    if (row === undefined) return settled(0)
    this.#put(listing, row.shown.id!)
    return settled(1)
  }

  async delete(mlsNumbers: readonly string[], beforeSend: BeforeSend): Promise<Answer<number>> {
    await beforeSend()
    return settled(mlsNumbers.filter((key) => this.#rows.delete(key)).length)
  }

  deleteByNativeId(): Promise<never> {
    throw new Error('nothing is repaired here')
  }

  #put(listing: Listing, id: number): void {
    const body = listingBody(listing, this.mark, [], 'omit') as unknown as Listing
    const page = listItem({ id, listing: body } as unknown as Parameters<typeof listItem>[0], profile)
    const shown = readItem(page)!.whole()
    this.#rows.set(listing.MLSNumber, { listing, shown, item: { ...shown, whole: () => shown } })
  }
}
