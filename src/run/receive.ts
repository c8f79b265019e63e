/** From the source's bytes to listings in the workspace. */
import { UserError, messageOf } from '../core/errors.ts'
import { contentHash, shortHash } from '../core/hash.ts'
import { emptyDelivery, listingAt, movesAt } from '../core/listing.ts'
import type { Delivered, DeliverySummary, FieldName, ImagesLeftOut, MovingListing } from '../core/listing.ts'
import type { RawRecord, Reading, Written } from '../feed/format/format.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import { MojibakeCount, mayBeDoubled } from '../feed/mapping/mojibake.ts'
import type { Opened, Validators } from '../feed/transport/transport.ts'
import type { NewDelivered, Workspace } from '../workspace/workspace.ts'
import { homeOf } from '../plan/guard/home.ts'
import type { Keyless } from '../plan/proof.ts'
import type { Past } from './recall.ts'
import type { Feed, Readers } from './tools.ts'
import { writtenOf } from './written.ts'

/** Rows go to the workspace in small batches: what lives longer than a moment is collected late, and memory grows. */
const rowsHeld = 32

type Source = Pick<
  Feed,
  'name' | 'chatbot' | 'source' | 'open' | 'decompress' | 'format' | 'transport' | 'mapping' | 'plan'
>
type Tools = Pick<Readers, 'store' | 'workspace' | 'signal' | 'progress'>
type Known = Pick<Past, 'moment' | 'validators' | 'lastResult' | 'last' | 'held'>

/** What one delivery says, in figures; its listings and rejects are in the workspace. */
export interface Delivery {
  summary: DeliverySummary
  /** Its records without a readable MLSNumber. */
  keyless: readonly Keyless[]
  /** What absence means in it: the document's own word, where it has one, else the mapping's. */
  mode: 'full' | 'delta'
  /** Whether records name a time at which their listings end: an unchanged source means other listings then. */
  endsLater: boolean
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
    // A held change waits until the feed says it again, and an answer without records says nothing.
    past.held === 0 &&
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
    keyless: past.last.keyless,
    mode: feed.mapping.delivery,
    endsLater: false,
    written: null,
    validators: saved,
    notes: [],
  }
}

/** Bytes → raw records → listings. A record whose bytes the snapshot knows is only marked as seen: nothing parses it. */
async function read(feed: Source, tools: Tools, { moment, last }: Known, opened: Opened): Promise<Delivery> {
  const { mapping } = feed
  const { workspace, signal, progress } = tools
  const source = feed.decompress(opened, workspace.folder)
  let bytes = 0
  async function* countedBytes(): AsyncGenerator<Buffer> {
    for await (const chunk of source.bytes) {
      bytes += chunk.length
      yield chunk
    }
  }
  const { encoding, maxRecordBytes, endsWithLineBreak } = feed.transport
  const reading = feed.format.read(countedBytes(), {
    ...mapping.formatOptions,
    encoding,
    maxRecordBytes,
    charset: opened.charset,
    lengthProven: () => !endsWithLineBreak || source.end().proven,
  })
  const summary = emptyDelivery()
  const doubled = new MojibakeCount()
  const keyless = keylessRecords(last.keyless, moment.now)
  let endsLater = false
  const leftOut = imagesCount()
  const known = await tools.store.snapshot.knownRecords(feed.chatbot, feed.name, mapping.version)
  for await (const batch of reading.records) {
    signal.throwIfAborted()
    let rows: NewDelivered[] = []
    const context = contextHash(reading)
    const isNew = (record: RawRecord): boolean => known.find(context + shortHash(record.raw)).length === 0
    const confirmed = await confirmedFor(feed, tools, moment, reading, batch, isNew)
    for (const record of batch) {
      const raw = context + shortHash(record.raw)
      if (countSeen(known.find(raw), workspace, summary)) continue
      const delivered = normalised(mapping, moment, reading, record, confirmed, doubled)
      // A listing that ends by itself is looked at every time.
      const ending = delivered.some((one) => one.kind === 'listing' && one.endsLater)
      endsLater ||= ending
      const skippable = !ending && delivered.every((one) => one.kind === 'listing')
      for (const one of delivered) {
        summary.records++
        if (one.kind === 'reject' && one.mlsNumber === null)
          keyless.add(homeOfRecord(mapping, moment, reading, record), raw)
        count(summary, one)
        if (one.kind === 'listing') leftOut.add(one.imagesLeftOut)
        rows.push(
          newRow(feed.plan.volatile.fields, moment, one, summary.records, skippable ? raw : null, delivered.length),
        )
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
  // A document without a record may be whole: the last listing was sold. One without a byte is none.
  if (bytes === 0 && reasons.size === 0 && mode === 'full') reasons.add('the delivery is empty: it holds no byte')
  return {
    summary: { ...summary, bytes, reasons: [...reasons], complete: reasons.size === 0 },
    keyless: keyless.all(),
    mode,
    endsLater,
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
    const problems = [{ field: 'record', value: null, problem: messageOf(error) }]
    return [{ kind: 'reject', at: record.at, mlsNumber: null, problems }]
  }
}

/** Where a record's home is; null: it can't be read, or names none. */
function homeOfRecord(mapping: Mapping, moment: Moment, reading: Reading, record: RawRecord): string | null {
  try {
    return homeOf(mapping.placeOf(reading.parse(record), moment))
  } catch {
    return null
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
    return { position, delivered, content: null, raw: null, parts, home: null, movesAt: null }
  const listing = listingAt(delivered, moment.now, moment.today)
  const content = contentHash(listing, volatile)
  const ends = movesAt(delivered.moving, moment.now)
  return { position, delivered, content, raw, parts, home: homeOf(listing), movesAt: ends }
}

/** At most so many records without MLSNumber are told apart: with more of them the feed has lost the column. */
const mostKeyless = 10_000

/** The records of a delivery without a readable MLSNumber; one that came before is as it was noted then. */
function keylessRecords(before: readonly Keyless[], now: number) {
  const known = new Map(before.map((record) => [record.identity, record]))
  const found = new Map<string, Keyless>()
  return {
    /** `raw`: a hash of its bytes. */
    add(home: string | null, raw: string): void {
      const isTold = found.size < mostKeyless
      const identity = isTold ? (home ?? raw) : 'more'
      const record = { identity, home: isTold ? home : null, since: now, notedAt: null }
      found.set(identity, known.get(identity) ?? record)
    },
    all: (): Keyless[] => [...found.values()],
  }
}

/** Counts images that may not be passed on. Records that are skipped as unchanged are not read, and not counted. */
function imagesCount() {
  let listings = 0
  const hosts = new Map<string, number>()
  return {
    add(left: ImagesLeftOut | undefined): void {
      if (left === undefined) return
      listings++
      for (const [host, images] of Object.entries(left)) hosts.set(host, (hosts.get(host) ?? 0) + images)
    },
    /** One sentence, or none where nothing was left out. */
    notes(): string[] {
      if (listings === 0) return []
      const total = [...hosts.values()].reduce((sum, one) => sum + one, 0)
      const images = total === 1 ? '1 image' : `${total} images`
      const of = listings === 1 ? '1 listing' : `${listings} listings`
      const where = [...hosts].map(([host, times]) => `${host} ${times}`).join(', ')
      return [
        `imagesNotFrom: ${images} of ${of} left out (${where}); records that are as in the last run were not read and are not counted`,
      ]
    },
  }
}
