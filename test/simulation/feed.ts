/** The source: what it holds, how that changes, and how a delivery of it is spelled. One record is one line of JSON. */
import type { Delivered, Listing } from '../../src/core/listing.ts'
import { RecordError } from '../../src/feed/format/format.ts'
import type { Reader, Reading, RecordFields } from '../../src/feed/format/format.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import type { Opened } from '../../src/feed/transport/transport.ts'
import type { Choices } from './choices.ts'
import type { Swarm } from './world.ts'

/** One listing of the source. */
export interface Entry {
  key: string
  price: number
  text: string | null
  fee: number | null
}

type State = 'listing' | 'removal' | 'filtered' | 'reject' | 'unreadable'

/** A delivery with the truth about it, which the program under test is not told. */
export interface Delivery {
  bytes: Buffer
  records: number
  /** What the source wants each listing to be. */
  listings: Map<string, Entry>
  /** Every MLSNumber that the source holds, readable or not, delivered whole or not. */
  holds: Set<string>
  /** Those of which the MLSNumber can't be read. */
  unreadable: Set<string>
  /** Said by the feed itself to be gone. */
  saidGone: Set<string>
  /** Delivered more than once. */
  repeated: Set<string>
  /** Whether absence from it means anything. */
  whole: boolean
}

export const feedKeys = Array.from({ length: 12 }, (_, index) => `K${index}`)

/** What the other feed of the chatbot may hold: the last of it is a number of the first feed as well. */
export const otherKeys = ['W0', 'W1', 'W2', 'W3', feedKeys[2]]

/** The source over time. */
export class Source {
  readonly #choices: Choices
  readonly #keys: readonly string[]
  readonly #states = new Map<string, State>()
  readonly #entries = new Map<string, Entry>()
  mappingVersion = 1

  constructor(choices: Choices, keys: readonly string[]) {
    this.#choices = choices
    this.#keys = keys
    for (const key of keys) if (choices.mishap(`feed begins with ${key}`, 0.6)) this.#put(key)
  }

  /** Lets the source change as it does between two deliveries. */
  move({ feed }: Swarm, underWay: Iterable<string>): void {
    const choices = this.#choices
    for (const key of underWay) {
      if (!this.#keys.includes(key) || !choices.mishap('feed changes its mind', feed.flip)) continue
      if (this.#states.has(key)) this.#states.delete(key)
      else this.#put(key)
    }
    if (choices.mishap('feed stands still', feed.still)) return
    if (choices.mishap('feed drops most', feed.sweep))
      for (const key of this.#keys) if (choices.unit('feed drops') < 0.7) this.#states.delete(key)
    for (const key of this.#keys) {
      if (!choices.mishap('feed changes', feed.change)) continue
      const state = this.#states.get(key)
      if (state === undefined || choices.unit('feed change') < 0.55) this.#put(key)
      else this.#states.delete(key)
      if (choices.mishap('feed says removed', feed.removal)) this.#states.set(key, 'removal')
      else if (choices.mishap('feed filters', feed.filtered)) this.#states.set(key, 'filtered')
    }
    for (const [key, state] of this.#states) {
      if (state === 'reject' || state === 'unreadable') this.#states.set(key, 'listing')
      if (state !== 'listing') continue
      if (choices.mishap('feed spoils', feed.reject)) this.#states.set(key, 'reject')
      else if (choices.mishap('feed spoils the number', feed.unreadable)) this.#states.set(key, 'unreadable')
    }
    if (choices.mishap('mapping changes', feed.mapping)) this.mappingVersion++
  }

  /** Everything readable again, for the end of a history; and at least one record, as an empty delivery proves nothing. */
  mend(): void {
    if (this.#states.size === 0) this.#put(this.#keys[0])
    for (const [key, state] of this.#states) if (state !== 'removal') this.#states.set(key, 'listing')
  }

  deliver({ feed }: Swarm): Delivery {
    const choices = this.#choices
    const lines: string[] = []
    const delivery: Delivery = {
      bytes: Buffer.alloc(0),
      records: 0,
      listings: new Map(),
      holds: new Set(),
      unreadable: new Set(),
      saidGone: new Set(),
      repeated: new Set(),
      whole: true,
    }
    for (const [key, state] of this.#states) {
      const entry = this.#entries.get(key)!
      lines.push(lineOf(entry, state))
      if (state === 'removal' || state === 'filtered') {
        delivery.saidGone.add(key)
        continue
      }
      delivery.holds.add(key)
      if (state === 'unreadable') delivery.unreadable.add(key)
      if (state !== 'listing') continue
      delivery.listings.set(key, entry)
      if (choices.mishap('feed repeats', feed.twice)) lines.push(lineOf(entry, state))
      if (choices.mishap('feed repeats differing', feed.twiceDiffering)) {
        lines.push(lineOf({ ...entry, price: entry.price + 1 }, state))
        delivery.repeated.add(key)
      }
    }
    delivery.records = lines.length
    let document = `BEGIN\n${lines.map((line) => `${line}\n`).join('')}END\n`
    if (choices.mishap('delivery is empty', feed.empty)) document = 'BEGIN\nEND\n'
    else if (choices.mishap('delivery is cut', feed.cut))
      document = document.slice(0, 6 + Math.floor(choices.unit('cut at') * (document.length - 8)))
    if (document === 'BEGIN\nEND\n') delivery.records = 0
    else if (!document.endsWith('END\n')) {
      delivery.whole = false
      delivery.records = -1
    }
    delivery.bytes = Buffer.from(document)
    return delivery
  }

  #put(key: string): void {
    const choices = this.#choices
    const text = choices.unit('has text') < 0.6 ? `Sun & moon ${choices.integer('text', 0, 3)}` : null
    const fee = choices.unit('has fee') < 0.4 ? choices.integer('fee', 1, 3) : null
    this.#entries.set(key, { key, price: choices.integer('price', 1, 1000), text, fee })
    this.#states.set(key, 'listing')
  }
}

function lineOf(entry: Entry, state: State): string {
  return state === 'unreadable' ? `{broken ${entry.key}` : JSON.stringify({ ...entry, state })
}

export function openDelivery({ bytes }: Delivery): Opened {
  return {
    name: 'the source',
    bytes: (async function* () {
      yield bytes
    })(),
    charset: null,
    contentEncoding: null,
    validators: {},
    end: () => ({ proven: true, reasons: [] }),
  }
}

/** Lines between BEGIN and END; anything else at the end is a cut. */
export const lineFormat: Reader = { read: readLines }

function readLines(bytes: AsyncIterable<Buffer>): Reading {
  let whole = false
  return {
    records: (async function* () {
      const chunks: Buffer[] = []
      for await (const chunk of bytes) chunks.push(chunk)
      const lines = Buffer.concat(chunks).toString().split('\n')
      whole = lines.at(-1) === '' && lines.at(-2) === 'END'
      const records = lines.slice(1, whole ? -2 : -1)
      yield records.map((line, index) => ({ at: `line ${index + 2}`, raw: Buffer.from(line) }))
    })(),
    context: () => '',
    end: () => ({ reasons: whole ? [] : ['the document does not end with END'] }),
    parse({ raw }) {
      try {
        return JSON.parse(raw.toString()) as RecordFields
      } catch (error) {
        throw new RecordError(String(error))
      }
    },
  }
}

export function mappingOf(version: number): Mapping {
  return {
    version: `v${version}`,
    delivery: 'full',
    format: 'xml',
    formatOptions: {},
    placeOf: () => ({}),
    normalise(record, at): Delivered[] {
      const { state, ...entry } = record as unknown as Entry & { state: State }
      const { key: mlsNumber } = entry
      if (state === 'removal' || state === 'filtered') return [{ kind: state, at, mlsNumber, why: `state ${state}` }]
      if (state === 'reject')
        return [
          { kind: 'reject', at, mlsNumber, problems: [{ field: 'Bedrooms', value: null, problem: 'is missing' }] },
        ]
      return [{ kind: 'listing', at, listing: listingOf(entry, version), moving: { listedOn: '2026-11-01' } }]
    },
  }
}

/** The listing that an entry is, under a version of the mapping. */
export function listingOf({ key, price, text, fee }: Entry, version: number): Listing {
  return {
    MLSNumber: key,
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'House',
    Bedrooms: 3,
    Bathrooms: 2,
    Url: `https://example.com/${version}/${key}`,
    YearBuilt: 1990,
    DaysOnMarket: 0,
    LotArea: 500,
    BuildingArea: 150,
    AreaUnit: 'Square Feet',
    ParkingSpots: 1,
    SalePrice: price,
    ...(text !== null && { Description: text }),
    ...(fee !== null && { ExtensionColumn: [{ Key: 'Fee', value: String(fee) }] }),
  }
}
