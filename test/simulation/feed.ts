/** The source: what it holds, how that changes, and how a delivery of it is spelled. One record is one line of JSON. */
import type { Delivered, Listing } from '../../src/core/listing.ts'
import { RecordError } from '../../src/feed/format/format.ts'
import type { Reader, Reading, RecordFields } from '../../src/feed/format/format.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import type { Opened } from '../../src/feed/transport/transport.ts'
import type { Choices } from './choices.ts'
import { hour } from './time.ts'
import type { VirtualTime } from './time.ts'
import type { Swarm } from './world.ts'

/** One listing of the source. */
export interface Entry {
  key: string
  price: number
  text: string | null
  fee: number | null
  status?: Listing['Status']
  /** The day that DaysOnMarket is counted from, YYYY-MM-DD. */
  listedOn?: string
  /** When its open house ends, in milliseconds. */
  openUntil?: number
  /** Told by its price alone, the rest as it was told before. */
  isPartial?: boolean
  /** What stays when the source spells its MLSNumber otherwise; left out: that. */
  home?: string
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
  /** It tells only what changed: absence from it means nothing, though nothing is missing. */
  isDelta?: boolean
  /** It has no end mark and came without a length. `again`: what is sent when it is asked for once more. */
  isUnframed?: boolean
  again?: Delivery
  /** What an HTTP server calls this version of the document, whether or not all of it arrives; left out: nothing. */
  etag?: string
}

export const feedKeys = Array.from({ length: 12 }, (_, index) => `K${index}`)

/** What the other feed of the chatbot may hold: the last of it is a number of the first feed as well. */
export const otherKeys = ['W0', 'W1', 'W2', 'W3', feedKeys[2]]

/** The mishap of a document whose end nothing proves. */
const cutUnseen = 'a document without an end is cut at a line break'

/** The source over time. */
export class Source {
  readonly #choices: Choices
  readonly #keys: readonly string[]
  readonly #states = new Map<string, State>()
  readonly #entries = new Map<string, Entry>()
  /** Of which only the price has changed since it was told whole. */
  readonly #partial = new Set<string>()
  /** What a delta has told last of each key. */
  readonly #told = new Map<string, string>()
  readonly #etags = new Set<string>()
  #isCut = false
  readonly #time: VirtualTime
  mappingVersion = 1

  constructor(choices: Choices, keys: readonly string[], time: VirtualTime) {
    this.#choices = choices
    this.#keys = keys
    this.#time = time
    for (const key of keys) if (choices.mishap(`feed begins with ${key}`, 0.6)) this.#put(key)
  }

  /** Lets the source change as it does between two deliveries. */
  move({ feed }: Swarm, underWay: Iterable<string>): void {
    const choices = this.#choices
    for (const key of [...underWay].map(homeKey)) {
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
      if (state === 'listing' && choices.mishap('feed tells only what changed', feed.partial)) {
        this.#entries.get(key)!.price = choices.integer('only the price', 1, 1000)
        this.#partial.add(key)
        continue
      }
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
    if (choices.mishap('feed spells MLSNumbers otherwise', feed.respelled)) this.#respell()
  }

  /** All of them, or half: the homes stay what they are. */
  #respell(): void {
    const share = this.#choices.pick('respelled', [0.5, 1])
    for (const entry of this.#entries.values())
      if (this.#choices.unit('is respelled') < share) entry.key = otherSpelling(entry.key)
  }

  /** Everything readable again, for the end of a history; and at least one record, as an empty delivery proves nothing. */
  mend(): void {
    this.#partial.clear()
    this.#told.clear()
    if (this.#states.size === 0) this.#put(this.#keys[0])
    for (const [key, state] of this.#states) if (state !== 'removal') this.#states.set(key, 'listing')
  }

  deliver({ feed }: Swarm): Delivery {
    const choices = this.#choices
    const lines: string[] = []
    // At first, and once it is mended, it tells all there is.
    const isAll = this.#told.size === 0
    const tells = (key: string, line: string): boolean => {
      if (feed.delta && this.#told.get(key) === line) return false
      this.#told.set(key, line)
      return lines.push(line) > 0
    }
    const delivery: Delivery = {
      bytes: Buffer.alloc(0),
      records: 0,
      listings: new Map(),
      holds: new Set(),
      unreadable: new Set(),
      saidGone: new Set(),
      repeated: new Set(),
      whole: !feed.delta,
      isDelta: feed.delta,
    }
    for (const [home, entry] of feed.delta ? this.#entries : [])
      for (const key of [home, otherSpelling(home)]) {
        if (this.#states.has(home) && entry.key === key) continue
        delivery.saidGone.add(key)
        if (this.#told.has(key) || isAll) tells(key, lineOf({ ...entry, key }, 'removal'))
      }
    for (const [home, state] of this.#states) {
      const entry = this.#entries.get(home)!
      const { key } = entry
      const isPartial = this.#partial.delete(home) && state === 'listing'
      const isTold = tells(key, lineOf(entry, isPartial ? 'partial' : state))
      if (state === 'removal' || state === 'filtered') {
        delivery.saidGone.add(key)
        continue
      }
      delivery.holds.add(key)
      if (state === 'unreadable') delivery.unreadable.add(key)
      if (state !== 'listing' || !isTold) continue
      delivery.listings.set(key, { ...entry, ...(isPartial && { isPartial }) })
      if (choices.mishap('feed repeats', feed.twice)) lines.push(lineOf(entry, state))
      if (choices.mishap('feed repeats differing', feed.twiceDiffering)) {
        lines.push(lineOf({ ...entry, price: entry.price + 1 }, state))
        delivery.repeated.add(key)
      }
    }
    delivery.records = lines.length
    if (feed.unframed > 0) return this.#unframed(delivery, lines, feed.unframed)
    if (feed.validators) delivery.etag = lines.join()
    // Of a version that was sent before a server says that it is the same, and cuts nothing.
    const isKnown = feed.validators && this.#etags.has(lines.join())
    this.#etags.add(lines.join())
    let document = `BEGIN\n${lines.map((line) => `${line}\n`).join('')}END\n`
    if (choices.mishap('delivery is empty', feed.empty)) document = 'BEGIN\nEND\n'
    else if (choices.mishap('delivery is cut', isKnown ? 0 : feed.cut))
      document = document.slice(0, 6 + Math.floor(choices.unit('cut at') * (document.length - 8)))
    if (document === 'BEGIN\nEND\n') {
      delivery.records = 0
      if (feed.validators) delivery.etag = ''
    } else if (!document.endsWith('END\n')) {
      delivery.whole = false
      delivery.records = -1
    }
    delivery.bytes = Buffer.from(document)
    return delivery
  }

  /** A table without an end mark, over a connection that may break: cut at a line break it looks whole. Not twice running. */
  #unframed(delivery: Delivery, lines: readonly string[], share: number): Delivery {
    const bytesOf = (some: readonly string[]): Buffer =>
      Buffer.from(`BEGIN\n${some.map((line) => `${line}\n`).join('')}`)
    const whole = { ...delivery, isUnframed: true, bytes: bytesOf(lines) }
    this.#isCut = !this.#isCut && this.#choices.mishap(cutUnseen, share)
    if (!this.#isCut) return whole
    const records = this.#choices.integer('lines left', 0, Math.max(0, lines.length - 1))
    return { ...whole, whole: false, records, bytes: bytesOf(lines.slice(0, records)), again: whole }
  }

  #put(key: string): void {
    const choices = this.#choices
    const text = choices.unit('has text') < 0.6 ? `Sun & moon ${choices.integer('text', 0, 3)}` : null
    const fee = choices.unit('has fee') < 0.4 ? choices.integer('fee', 1, 3) : null
    const status = choices.unit('is pending') < 0.2 ? 'PreOnMarket' : 'Active'
    const listed = choices.integer('listed', 0, 20)
    const listedOn = new Date(this.#time.now - listed * 24 * hour).toISOString().slice(0, 10)
    const openUntil = this.#time.now + choices.integer('open house', 1, 24) * hour
    this.#partial.delete(key)
    this.#entries.set(key, {
      key: this.#entries.get(key)?.key ?? key,
      home: key,
      price: choices.integer('price', 1, 1000),
      text,
      fee,
      status,
      listedOn,
      ...(choices.unit('has open house') < 0.2 && { openUntil }),
    })
    this.#states.set(key, 'listing')
  }
}

/** Which home a source's MLSNumber is of, however it spells it. */
export const homeKey = (key: string): string => key.replace(/^0/, '')
/** The same MLSNumber with a leading zero, or without it. */
export const otherSpelling = (key: string): string => (key.startsWith('0') ? homeKey(key) : `0${key}`)

function lineOf(entry: Entry, state: State | 'partial'): string {
  if (state === 'partial') return JSON.stringify({ key: entry.key, price: entry.price, state })
  return state === 'unreadable' ? `{broken ${entry.key}` : JSON.stringify({ ...entry, state })
}

export function openDelivery({ bytes, etag, isUnframed }: Delivery): Opened {
  const unproven = { proven: false, reasons: [], doubt: 'it came without a length' }
  const proven = { proven: true, reasons: [] }
  return {
    name: 'the source',
    bytes: (async function* () {
      yield bytes
    })(),
    charset: null,
    contentEncoding: null,
    validators: etag === undefined ? {} : { etag },
    end: () => (isUnframed ? unproven : proven),
  }
}

/** Lines between BEGIN and END; anything else at the end is a cut. */
const framed = { hasEndMark: true, read: (bytes: AsyncIterable<Buffer>) => readLines(bytes, true) }
export const lineFormat: Reader = framed

/** Lines after BEGIN, as far as they go. */
const unframed = { hasEndMark: false, read: (bytes: AsyncIterable<Buffer>) => readLines(bytes, false) }
export const openEndedFormat: Reader = unframed

function readLines(bytes: AsyncIterable<Buffer>, hasEnd: boolean): Reading {
  let whole = false
  return {
    records: (async function* () {
      const chunks: Buffer[] = []
      for await (const chunk of bytes) chunks.push(chunk)
      const lines = Buffer.concat(chunks).toString().split('\n')
      whole = lines.at(-1) === '' && (!hasEnd || lines.at(-2) === 'END')
      const records = lines.slice(1, whole && hasEnd ? -2 : -1)
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

export function mappingOf(version: number, isDelta = false): Mapping {
  return {
    version: `v${version}`,
    delivery: isDelta ? 'delta' : 'full',
    format: 'xml',
    formatOptions: {},
    placeOf: () => ({}),
    asksFor(record) {
      const { state, key } = record as unknown as { state: string; key: string }
      return state === 'partial' ? [key] : []
    },
    normalise(record, at, _, known): Delivered[] {
      const { state, ...entry } = record as unknown as Entry & { state: State | 'partial' }
      const { key: mlsNumber } = entry
      if (state === 'removal' || state === 'filtered') return [{ kind: state, at, mlsNumber, why: `state ${state}` }]
      const before = state === 'partial' ? (known?.(mlsNumber) ?? null) : null
      if (state === 'reject' || (state === 'partial' && before === null))
        return [
          { kind: 'reject', at, mlsNumber, problems: [{ field: 'Bedrooms', value: null, problem: 'is missing' }] },
        ]
      if (before !== null)
        return [{ kind: 'listing', at, listing: { ...before.listing, SalePrice: entry.price }, moving: before.moving }]
      const { listedOn = '2026-11-01', openUntil, fee } = entry
      const open = openUntil === undefined ? {} : { openHouseUntil: openUntil, ...(fee !== null && afterwards) }
      return [{ kind: 'listing', at, listing: listingOf(entry, version), moving: { listedOn, ...open } }]
    },
  }
}

const afterwards = { toursAfter: '3D' as const }

/** What an entry's Tours are at a moment. */
export function toursAt({ openUntil, fee }: Entry, now: number): Listing['Tours'] {
  if (openUntil === undefined) return undefined
  if (openUntil > now) return 'OpenHouse'
  return fee === null ? undefined : '3D'
}

/** The listing that an entry is, under a version of the mapping; its open house may be over by then. */
export function listingOf({ key, price, text, fee, status, openUntil, home }: Entry, version: number): Listing {
  return {
    MLSNumber: key,
    SaleType: 'for_sale',
    Status: status ?? 'Active',
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
    Address: `${home ?? key} Main Street`,
    City: 'Springfield',
    ...(openUntil !== undefined && { Tours: 'OpenHouse' as const }),
    ...(text !== null && { Description: text }),
    ...(fee !== null && { ExtensionColumn: [{ Key: 'Fee', value: String(fee) }] }),
  }
}
