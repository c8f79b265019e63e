/** The source: what it holds, how that changes, and how a delivery of it is spelled. One record is one line of JSON. */
import { isDeepStrictEqual } from 'node:util'
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
  /** The version of the mapping by which it was said; left out: the one of now. */
  version?: number
}

/** What a delta said of an MLSNumber; null: that it is gone. */
export type Said = Entry | null

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
  /** Of a delta: what it says of each MLSNumber, and what may be taken for said last of any. */
  says?: ReadonlyMap<string, readonly Said[]>
  said?: ReadonlyMap<string, readonly Said[]>
  /** MLSNumbers of which it tells the price alone: nobody knows whether the program knows the rest. */
  partly?: ReadonlySet<string>
  /** MLSNumbers of which something is pending, and whose home it brings in another spelling: what is pending may be replaced. */
  replaced?: ReadonlySet<string>
  /** It has no end mark and came without a length. `again`: what is sent when it is asked for once more. */
  isUnframed?: boolean
  /** The MLSNumbers that can be read in it then, as far as it goes. */
  arrives?: ReadonlySet<string>
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
  /** The line by which a delta has told last of each key, and what can be known of it: more than one thing while runs fail. */
  readonly #told = new Map<string, string>()
  readonly #said = new Map<string, readonly Said[]>()
  readonly #etags = new Set<string>()
  /** Whether the last delivery that a run took in was cut where nothing shows it. */
  #wasCut = false
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
      const isKnown = !feed.delta || this.#isSaid(this.#entries.get(key))
      if (state === 'listing' && isKnown && choices.mishap('feed tells only what changed', feed.partial)) {
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
    if (this.#states.size === 0) this.#put(this.#keys[0])
    for (const [key, state] of this.#states) if (state !== 'removal') this.#states.set(key, 'listing')
  }

  /** Whether a delta has told all of it, but for the price: what got lost on the way has to be told again. */
  #isSaid(entry: Entry | undefined): boolean {
    const [said, ...others] = entry === undefined ? [] : (this.#said.get(entry.key) ?? [])
    if (entry === undefined || !said || others.length > 0) return false
    const rest = ({ text, fee, status, listedOn, openUntil }: Entry) => [text, fee, status, listedOn, openUntil]
    return isDeepStrictEqual(rest(said), rest(entry))
  }

  deliver({ feed }: Swarm): Delivery {
    const choices = this.#choices
    const records: SourceRecord[] = []
    const tells = (record: SourceRecord): boolean => {
      if (feed.delta && this.#told.get(record.key) === record.line) return false
      this.#told.set(record.key, record.line)
      return records.push(record) > 0
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
        if (this.#told.has(key)) tells(recordOf({ ...entry, key }, 'removal'))
      }
    for (const [home, state] of this.#states) {
      const entry = this.#entries.get(home)!
      const { key } = entry
      const isPartial = this.#partial.delete(home) && state === 'listing'
      const isTold = tells(recordOf(entry, isPartial ? 'partial' : state))
      if (state === 'removal' || state === 'filtered') {
        delivery.saidGone.add(key)
        continue
      }
      delivery.holds.add(key)
      if (state === 'unreadable') delivery.unreadable.add(key)
      if (state !== 'listing' || !isTold) continue
      delivery.listings.set(key, { ...entry, ...(isPartial && { isPartial }) })
      if (choices.mishap('feed repeats', feed.twice)) records.push(recordOf(entry, state))
      if (choices.mishap('feed repeats differing', feed.twiceDiffering)) {
        records.push(recordOf({ ...entry, price: entry.price + 1 }, state))
        delivery.repeated.add(key)
        // Which one is right is not known until a delta says it again.
        this.#told.set(key, 'told twice')
      }
    }
    const lines = records.map(({ line }) => line)
    delivery.records = lines.length
    if (feed.unframed > 0 && !feed.delta) return this.#unframed(delivery, records, feed.unframed)
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
    return feed.delta ? this.#delta(delivery, records, document) : delivery
  }

  /** The same, as far as it arrives: what does not is told again by the next one. */
  #delta(delivery: Delivery, records: readonly SourceRecord[], document: string): Delivery {
    const lines = document.split('\n').slice(1, -1)
    const arrived = lines.filter((line) => line !== 'END').length
    for (const { key } of records.slice(arrived)) this.#told.set(key, 'lost')
    const says = new Map<string, Said[]>()
    const listings = new Map<string, Entry>()
    const [holds, saidGone, partly] = [new Set<string>(), new Set<string>(), new Set<string>()]
    for (const { key, state, entry } of records.slice(0, arrived)) {
      if (state === 'reject') holds.add(key)
      if (state === 'reject' || state === 'unreadable') continue
      const isGone = state === 'removal' || state === 'filtered'
      const said = isGone ? null : { ...entry, version: this.mappingVersion }
      says.set(key, [...(says.get(key) ?? []), said])
      if (state === 'partial') partly.add(key)
      if (isGone) saidGone.add(key)
      else {
        holds.add(key)
        listings.set(key, { ...entry, ...(state === 'partial' && { isPartial: true }) })
      }
    }
    for (const [key, said] of says) this.#said.set(key, [...(this.#said.get(key) ?? []), ...said])
    return { ...delivery, listings, holds, saidGone, unreadable: new Set(), says, said: this.#said, partly }
  }

  /** A run on a delivery is over. What nobody took in of a delta is sent again. `isLast`: no store knows anything older. */
  ended({ says, isUnframed, whole }: Delivery, isTaken: boolean, isLast: boolean): void {
    // A run that failed may have taken it in before that.
    this.#wasCut = isUnframed === true && !whole ? true : this.#wasCut && !isTaken
    for (const [key, said] of says ?? [])
      if (!isTaken) this.#told.set(key, 'lost')
      else if (isLast) this.#said.set(key, said)
  }

  /** A delivery as if it had said all that is so; a delta says only what changed. */
  truth(delivery: Delivery): Delivery {
    if (!delivery.isDelta) return delivery
    const last = [...this.#said].map(([key, said]) => [key, said.at(-1)!] as const)
    const listings = new Map(last.flatMap(([key, said]) => (said === null ? [] : [[key, said] as const])))
    const saidGone = new Set(last.flatMap(([key, said]) => (said === null ? key : [])))
    return { ...delivery, listings, holds: new Set(listings.keys()), saidGone }
  }

  /** A table without an end mark, over a connection that may break: cut at a line break it looks whole. Not twice running. */
  #unframed(delivery: Delivery, all: readonly SourceRecord[], share: number): Delivery {
    const asFarAs = (records: number) => {
      const some = all.slice(0, records)
      const arrives = new Set(some.flatMap(({ key, state }) => (state === 'unreadable' ? [] : key)))
      return { records, arrives, bytes: Buffer.from(`BEGIN\n${some.map(({ line }) => `${line}\n`).join('')}`) }
    }
    const whole = { ...delivery, isUnframed: true, ...asFarAs(all.length) }
    // Two that are cut alike with none taken in between are one to everybody.
    if (this.#wasCut || !this.#choices.mishap(cutUnseen, share)) return whole
    const records = this.#choices.integer('lines left', 0, Math.max(0, all.length - 1))
    return { ...whole, whole: false, ...asFarAs(records), again: whole }
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

interface SourceRecord {
  key: string
  state: State | 'partial'
  entry: Entry
  line: string
}

const recordOf = (entry: Entry, state: State | 'partial'): SourceRecord => ({
  key: entry.key,
  state,
  entry: { ...entry },
  line: lineOf(entry, state),
})

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
