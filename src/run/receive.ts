/** The first step of a run: from the source's bytes to listings in the workspace. */
import { UserError, messageOf } from '../core/errors.ts'
import { contentHash, shortHash } from '../core/hash.ts'
import { emptyDelivery, filledFields, listingAt } from '../core/listing.ts'
import type { Delivered, DeliverySummary, FieldName, ImagesLeftOut, MovingListing } from '../core/listing.ts'
import type { RawRecord, Reading, Written } from '../feed/format/format.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import { MojibakeCount, mayBeDoubled } from '../feed/mapping/mojibake.ts'
import type { Opened, Validators } from '../feed/transport/transport.ts'
import type { NewDelivered, Workspace } from '../workspace/workspace.ts'
import { RecordsDigest, writtenOf } from './generation.ts'
import type { Past } from './recall.ts'
import type { Feed, Readers } from './tools.ts'

/** Listings held before they go to the workspace: what lives longer than a moment is collected late, and memory grows. */
const rowsHeld = 32

type Source = Pick<
  Feed,
  'name' | 'chatbot' | 'source' | 'open' | 'decompress' | 'format' | 'transport' | 'mapping' | 'volatile'
>
type Tools = Pick<Readers, 'store' | 'workspace' | 'signal' | 'progress'>
type Known = Pick<Past, 'moment' | 'validators' | 'lastResult'>

/** What one delivery says, in figures; its listings and rejects are in the workspace. */
export interface Delivery {
  summary: DeliverySummary
  /** Rejects without a readable MLSNumber. */
  unreadable: number
  /** What absence means in it: the document's own word, where it has one, else the mapping's. */
  mode: 'full' | 'delta'
  /** Whether listings end at a time that their records name: a source that did not change may mean other listings then. */
  endsLater: boolean
  /** A fingerprint of the records; null: there are none, or they were not sent. */
  digest: string | null
  /** When it says that it was written. */
  written: Written | null
  /** What the source can be asked by whether it has changed. */
  validators: Validators
  /** What a person should know of the records that were read, as sentences. */
  notes: string[]
}

/**
 * Receives a delivery into the workspace, or learns from the source that it is the last one still. Throws `FeedError` where
 * it can't be had, or is of another kind altogether; anything less becomes a reason or a reject.
 */
export async function receive(feed: Source, tools: Tools, past: Known): Promise<Delivery> {
  const saved = past.validators
  const mayBeUnchanged =
    // A delta that is not modified says nothing of the listings that are not in it.
    feed.mapping.delivery === 'full' &&
    saved !== null &&
    saved.source === feed.source &&
    saved.mapping === feed.mapping.version &&
    past.lastResult === 'ok'
  const opened = await feed.open(mayBeUnchanged ? saved : null, tools.signal, tools.workspace.folder)
  if (opened !== 'not-modified') return read(feed, tools, past, opened)
  if (!mayBeUnchanged)
    throw new UserError(
      `${feed.name}: the source answered HTTP 304 to a request without validators; report this to whoever runs it`,
    )
  tools.workspace.addAllSeen()
  return {
    summary: { ...saved.summary, bytes: 0 },
    unreadable: 0,
    mode: feed.mapping.delivery,
    endsLater: false,
    digest: null,
    written: null,
    validators: saved,
    notes: [],
  }
}

/** Bytes → raw records → listings. A record whose bytes the snapshot knows is only marked as seen: nothing parses it. */
async function read(feed: Source, tools: Tools, { moment }: Known, opened: Opened): Promise<Delivery> {
  const { mapping, volatile } = feed
  const { workspace, signal, progress } = tools
  const source = feed.decompress(opened, workspace.folder)
  const counter = new ByteCounter(source.bytes)
  const { encoding, maxRecordBytes, endsWithLineBreak } = feed.transport
  const reading = feed.format.read(counter, {
    ...mapping.formatOptions,
    encoding,
    maxRecordBytes,
    charset: opened.charset,
    lengthProven: () => !endsWithLineBreak || source.end().proven,
  })
  const summary = emptyDelivery()
  const doubled = new MojibakeCount()
  const digest = new RecordsDigest()
  let unreadable = 0
  let endsLater = false
  const leftOut = new ImagesCount()
  const known = await tools.store.snapshot.knownRecords(feed.chatbot, feed.name, mapping.version)
  for await (const batch of reading.records) {
    signal.throwIfAborted()
    let rows: NewDelivered[] = []
    const context = contextHash(reading)
    const isNew = (record: RawRecord): boolean => known.find(context + shortHash(record.raw)).length === 0
    const confirmed = await confirmedFor(feed, tools, moment, reading, batch, isNew)
    for (const record of batch) {
      const raw = context + shortHash(record.raw)
      digest.add(raw)
      if (countSeen(known.find(raw), workspace, summary)) continue
      const delivered = normalised(mapping, moment, reading, record, confirmed, doubled)
      // A listing that ends by itself is looked at every time.
      const ending = delivered.some((one) => one.kind === 'listing' && one.endsLater)
      endsLater ||= ending
      const skippable = !ending && delivered.every((one) => one.kind === 'listing')
      for (const one of delivered) {
        summary.records++
        if (one.kind === 'reject' && one.mlsNumber === null) unreadable++
        count(summary, one)
        if (one.kind === 'listing') leftOut.add(one.imagesLeftOut)
        rows.push(newRow(volatile, moment, one, summary.records, skippable ? raw : null, delivered.length))
      }
      if (rows.length < rowsHeld) continue
      workspace.addDelivered(rows)
      rows = []
    }
    if (rows.length > 0) workspace.addDelivered(rows)
    progress('records', summary.records, null)
  }
  const reasons = new Set([...source.end().reasons, ...reading.end().reasons])
  const mode = mapping.deliveryOf?.(reading.header?.() ?? {}) ?? mapping.delivery
  // A delta with nothing in it is a quiet day.
  if (summary.records === 0 && reasons.size === 0 && mode === 'full') reasons.add('the delivery holds no record')
  return {
    summary: { ...summary, bytes: counter.bytes, reasons: [...reasons], complete: reasons.size === 0 },
    unreadable,
    mode,
    endsLater,
    digest: digest.value,
    written: writtenOf(reading.written?.() ?? null, opened),
    validators: opened.validators,
    notes: [...leftOut.notes(), ...doubled.notes()],
  }
}

/** A row of the same bytes under another header says something else. */
function contextHash(reading: Reading): string {
  const context = reading.context()
  return context === '' ? '' : shortHash(context).slice(0, 8)
}

type Confirmed = ReadonlyMap<string, MovingListing>

/** The listings, by MLSNumber, of which records of a batch tell only what changed; few presets have such records. */
async function confirmedFor(
  { mapping, chatbot, name }: Source,
  { store }: Tools,
  moment: Moment,
  reading: Reading,
  batch: readonly RawRecord[],
  isNew: (record: RawRecord) => boolean,
): Promise<Confirmed> {
  if (mapping.asksFor === undefined) return new Map()
  const keys: string[] = []
  for (const record of batch.filter(isNew)) {
    try {
      keys.push(...mapping.asksFor(reading.parse(record), moment))
    } catch {
      // It is parsed once more, and rejected.
    }
  }
  return keys.length === 0 ? new Map() : store.snapshot.confirmed(chatbot, name, keys)
}

function normalised(
  mapping: Mapping,
  moment: Moment,
  reading: Reading,
  record: RawRecord,
  confirmed: Confirmed,
  doubled: MojibakeCount,
): Delivered[] {
  try {
    const fields = reading.parse(record)
    const delivered = mapping.normalise(fields, record.at, moment, (key) => confirmed.get(key) ?? null)
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

function countSeen(ids: readonly number[], workspace: Workspace, summary: DeliverySummary): boolean {
  for (const id of ids) {
    summary.records++
    if (workspace.addSeen(id)) summary.listings++
    else summary.duplicates++
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
  volatile: ReadonlySet<FieldName>,
  moment: Moment,
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
