/**
 * Receives one delivery: bytes → raw records → listings, streamed into the workspace. A record whose bytes the snapshot
 * knows is only marked as seen: neither parser nor mapping sees it (performance.md).
 */
import { messageOf } from '../core/errors.ts'
import { contentHash, shortHash } from '../core/hash.ts'
import { emptyDelivery, filledFields, listingAt } from '../core/listing.ts'
import type { Delivered, DeliverySummary, FieldName, ImagesLeftOut } from '../core/listing.ts'
import type { Format, FormatOptions, RawRecord, Reading, Written } from '../feed/format/format.ts'
import type { KnownListing, Mapping, Moment } from '../feed/mapping/mapping.ts'
import { DoubledText, mayBeDoubled } from '../feed/mapping/mojibake.ts'
import type { Opened, TransportEnd } from '../feed/transport/transport.ts'
import type { StoreReader } from '../store/store.ts'
import type { NewDelivered, Workspace } from '../workspace/workspace.ts'
import { RecordsDigest, writtenOf } from './generation.ts'

/** Listings held before they go to the workspace: what lives longer than a moment is collected late, and memory grows. */
const rowsHeld = 32

export interface ReceiveParts {
  opened: Opened
  /** Takes compression off; `end` says whether the compressed form was whole. */
  decompress(opened: Opened): { bytes: AsyncIterable<Buffer>; end(): TransportEnd }
  format: Format
  formatOptions: Pick<FormatOptions, 'encoding' | 'maxRecordBytes'> & { endsWithLineBreak: boolean }
  mapping: Mapping
  store: StoreReader
  workspace: Workspace
  feed: string
  chatbot: string
  moment: Moment
  /** Completes records that tell only what changed. */
  known: KnownListing
  volatile: ReadonlySet<FieldName>
  signal: AbortSignal
  progress(records: number): void
}

export interface Received {
  summary: DeliverySummary
  /** Snapshot rows whose very bytes were delivered. */
  seen: SeenRows
  /** Rejects without a readable MLSNumber. */
  unreadable: number
  /** What absence means in this delivery, where the document says it itself (`Mapping.deliveryOf`); null: the mapping's word. */
  delivery: 'full' | 'delta' | null
  /** Whether listings end at a time that their records name: a source that did not change may mean other listings then. */
  endsLater: boolean
  /** A fingerprint of the records; null: there are none, or they were not sent. */
  digest: string | null
  /** When the delivery says that it was written. */
  written: Written | null
  /** What a person should know of the records that were read, as sentences. */
  notes: string[]
}

/** Throws `FeedError` where the document is of another kind altogether; anything less becomes a reason or a reject. */
export async function receive(parts: ReceiveParts): Promise<Received> {
  const { opened, workspace } = parts
  const source = parts.decompress(opened)
  const counter = new ByteCounter(source.bytes)
  const reading = parts.format(counter, {
    ...parts.mapping.formatOptions,
    ...parts.formatOptions,
    charset: opened.charset,
    lengthProven: () => !parts.formatOptions.endsWithLineBreak || source.end().proven,
  })
  const summary = emptyDelivery()
  const seen = new SeenRows()
  const doubled = new DoubledText()
  const digest = new RecordsDigest()
  let unreadable = 0
  let endsLater = false
  const leftOut = new ImagesCount()
  const known = parts.store.knownRecords(parts.feed, parts.chatbot, parts.mapping.version)
  for await (const batch of reading.records) {
    parts.signal.throwIfAborted()
    let rows: NewDelivered[] = []
    const context = contextHash(reading)
    for (const record of batch) {
      const raw = context + shortHash(record.raw)
      digest.add(raw)
      if (countSeen(known.find(raw), seen, summary)) continue
      const delivered = normalised(parts, reading, record, doubled)
      // A listing that ends by itself is looked at every time.
      const ending = delivered.some((one) => one.kind === 'listing' && one.endsLater)
      endsLater ||= ending
      const skippable = !ending && delivered.every((one) => one.kind === 'listing')
      for (const one of delivered) {
        summary.records++
        if (one.kind === 'reject' && one.mlsNumber === null) unreadable++
        count(summary, one)
        if (one.kind === 'listing') leftOut.add(one.imagesLeftOut)
        rows.push(newRow(parts, one, summary.records, skippable ? raw : null, delivered.length))
      }
      if (rows.length < rowsHeld) continue
      workspace.addDelivered(rows)
      rows = []
    }
    if (rows.length > 0) workspace.addDelivered(rows)
    parts.progress(summary.records)
  }
  const reasons = new Set([...source.end().reasons, ...reading.end().reasons])
  const delivery = parts.mapping.deliveryOf?.(reading.header?.() ?? {}) ?? null
  // A delta with nothing in it is a quiet day.
  const mayBeEmpty = (delivery ?? parts.mapping.delivery) === 'delta'
  if (summary.records === 0 && reasons.size === 0 && !mayBeEmpty) reasons.add('the delivery holds no record')
  return {
    summary: { ...summary, bytes: counter.bytes, reasons: [...reasons], complete: reasons.size === 0 },
    seen,
    unreadable,
    delivery,
    endsLater,
    digest: digest.value,
    written: writtenOf(reading.written?.() ?? null, opened),
    notes: [...leftOut.notes(), ...doubled.notes()],
  }
}

/** A delivery that the source says is the last one (HTTP 304): every listing of the snapshot is seen. */
export function receivedUnchanged(summary: DeliverySummary): Received {
  return {
    summary: { ...summary, bytes: 0 },
    seen: new SeenRows(true),
    unreadable: 0,
    delivery: null,
    endsLater: false,
    digest: null,
    written: null,
    notes: [],
  }
}

/** A row of the same bytes under another header says something else. */
function contextHash(reading: Reading): string {
  const context = reading.context()
  return context === '' ? '' : shortHash(context).slice(0, 8)
}

function normalised(
  { mapping, moment, known }: ReceiveParts,
  reading: Reading,
  record: RawRecord,
  doubled: DoubledText,
): Delivered[] {
  try {
    const fields = reading.parse(record)
    const delivered = mapping.normalise(fields, record.at, moment, known)
    if (!mapping.mendsText && mayBeDoubled(record.raw)) doubled.look(fields, delivered[0])
    return delivered
  } catch (error) {
    return [
      {
        kind: 'reject',
        at: record.at,
        mlsNumber: null,
        problems: [{ field: 'record', value: null, problem: messageOf(error) }],
      },
    ]
  }
}

function countSeen(ids: readonly number[], seen: SeenRows, summary: DeliverySummary): boolean {
  for (const id of ids) {
    summary.records++
    if (seen.has(id)) summary.duplicates++
    else {
      seen.add(id)
      summary.listings++
    }
  }
  return ids.length > 0
}

function count(summary: DeliverySummary, { kind }: Delivered): void {
  if (kind === 'listing') summary.listings++
  else if (kind === 'removal') summary.removals++
  else if (kind === 'filtered') summary.filtered++
  else summary.rejects++
}

function newRow(
  { volatile, moment }: ReceiveParts,
  delivered: Delivered,
  position: number,
  raw: string | null,
  parts: number,
): NewDelivered {
  if (delivered.kind !== 'listing')
    return { position, delivered, content: null, raw: null, parts, filled: 0, movesAt: null }
  const { openHouseUntil } = delivered.moving
  const movesAt = openHouseUntil !== undefined && openHouseUntil > moment.now ? openHouseUntil : null
  const listing = listingAt(delivered, moment.now, moment.today)
  return {
    position,
    delivered,
    content: contentHash(listing, volatile),
    raw,
    parts,
    filled: filledFields(listing),
    movesAt,
  }
}

/** A set of snapshot ids as bits: a million listings need an eighth of a megabyte. */
export class SeenRows {
  #bits = new Uint8Array(1024)
  readonly #all: boolean

  constructor(all = false) {
    this.#all = all
  }

  add(id: number): void {
    const index = id >>> 3
    if (index >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(index + 1, this.#bits.length * 2))
      larger.set(this.#bits)
      this.#bits = larger
    }
    this.#bits[index] |= 1 << (id & 7)
  }

  has(id: number): boolean {
    return this.#all || ((this.#bits[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0
  }
}

/** Counts the bytes of a document as they pass. */
export class ByteCounter implements AsyncIterable<Buffer> {
  bytes = 0
  #source: AsyncIterable<Buffer>

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const chunk of this.#source) {
      this.bytes += chunk.length
      yield chunk
    }
  }
}

/** Counts images that may not be passed on. Records that are skipped as unchanged are not read, and not counted. */
export class ImagesCount {
  #listings = 0
  readonly #hosts = new Map<string, number>()

  add(left: ImagesLeftOut | undefined): void {
    if (left === undefined) return
    this.#listings++
    for (const [host, images] of Object.entries(left)) this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + images)
  }

  /** One sentence, or none where nothing was left out. */
  notes(): string[] {
    if (this.#listings === 0) return []
    const total = [...this.#hosts.values()].reduce((sum, one) => sum + one, 0)
    const images = total === 1 ? '1 image' : `${total} images`
    const listings = this.#listings === 1 ? '1 listing' : `${this.#listings} listings`
    const hosts = [...this.#hosts].map(([host, times]) => `${host} ${times}`).join(', ')
    return [
      `imagesNotFrom: ${images} of ${listings} left out (${hosts}); records that are as in the last run were not read and are not counted`,
    ]
  }
}
