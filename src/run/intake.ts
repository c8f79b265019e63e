/** Takes the records of a delivery into the workspace as listings, and counts them. */
import { isUtf8 } from 'node:buffer'
import { messageOf } from '../core/errors.ts'
import { contentHash, shortHash } from '../core/hash.ts'
import { caughtUp, emptyDelivery, listingAt, mlsNumberOf, movesAt } from '../core/listing.ts'
import type { Delivered, DeliverySummary, FieldName, ImagesLeftOut, MovingListing } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import { many } from '../core/text.ts'
import type { ReadBudget } from '../feed/format/budget.ts'
import type { RawRecord, Reading, Written } from '../feed/format/format.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import { LowPrices } from '../feed/mapping/low-prices.ts'
import { MojibakeCount, mayBeDoubled } from '../feed/mapping/mojibake.ts'
import { SurplusMarks, mayHoldMarks } from '../feed/mapping/surplus-marks.ts'
import type { NewDelivered, Workspace } from '../workspace/workspace.ts'
import { homeHashOf } from '../core/home-hash.ts'
import type { Keyless } from '../plan/proof.ts'
import { endOf } from './ending.ts'
import type { Past } from './recall.ts'
import { waitsAsOlder } from './named.ts'
import type { Feed, Readers } from './tools.ts'
import { unreadCount } from './unread.ts'
import { isAfter } from './written.ts'

/** What of a feed its reading needs. */
export type Source = Pick<
  Feed,
  | 'name'
  | 'chatbot'
  | 'source'
  | 'identity'
  | 'open'
  | 'live'
  | 'decompress'
  | 'format'
  | 'transport'
  | 'mapping'
  | 'plan'
  | 'joins'
>
export type Tools = Pick<Readers, 'store' | 'workspace' | 'signal' | 'progress'> & { runtime: Pick<Runtime, 'clock'> }
/** What earlier runs leave to the reading. */
export type Known = Pick<Past, 'moment' | 'validators' | 'last'>

const noneOf: ReadonlySet<Delivered> = new Set()

/**
 * Takes the records of a delivery into the workspace, and counts them. A record whose bytes the snapshot knows is only marked as seen:
 * nothing parses it. `areSeveral`: the delivery has several files. Then each record is parsed, as the MLSNumber has to be known.
 */
export async function intakeOf(
  feed: Source,
  tools: Tools,
  { moment, last }: Known,
  budget: ReadBudget,
  areSeveral: boolean,
) {
  const { mapping } = feed
  const { workspace } = tools
  const summary = emptyDelivery()
  const looks = { doubled: new MojibakeCount(), marks: new SurplusMarks() }
  const ending = endOf()
  const leftOut = imagesCount()
  const unread = unreadCount()
  const prices = new LowPrices()
  const known = areSeveral ? null : await tools.store.snapshot.knownRecords(feed.chatbot, feed.name, mapping.version)
  const keyless = keylessRecords(last.keyless, moment.now)
  let [endsLater, skipped, position] = [false, 0, 0]
  /** In the order of the files: the documents before this one, and this one. */
  let documents: { from: number; to: number; written: Written | null }[] = []
  let current: { from: number; written: Written | null } | null = null
  /** When the latest whole full document was written. */
  let whole: Written | null = null
  const documentAt = (at: number) => {
    let [low, high] = [0, documents.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (documents[middle].to < at) low = middle + 1
      else high = middle
    }
    return documents[low]
  }
  const writtenAt = (at: number): Written | null => documentAt(at).written
  const isLaterThanCurrent = (at: number): boolean => isAfter(writtenAt(at), current!.written)
  const endDocument = (): void => {
    if (current !== null) documents.push({ ...current, to: position })
  }
  const uncount = (kinds: readonly Delivered['kind'][]): void => {
    for (const kind of kinds) count(summary, kind, -1)
    summary.records -= kinds.length
  }
  /** Makes room for what is said now. Gives those of which a later document said something, if only by lacking them. */
  const overruledOf = (made: readonly { delivered: readonly Delivered[] }[]): ReadonlySet<Delivered> => {
    if (documents.length === 0) return noneOf
    const results = made.flatMap(({ delivered }) => delivered)
    if (isAfter(whole, current!.written)) return new Set(results)
    const named = results.flatMap((result) => {
      const key = mlsNumberOf(result)
      return key === null ? [] : { result, key, isReadable: result.kind !== 'reject' }
    })
    const replaced = workspace.replace(named, current!.from, isLaterThanCurrent)
    for (const kinds of replaced) uncount(kinds ?? [])
    return new Set(named.flatMap(({ result }, at) => (replaced[at] === null ? result : [])))
  }
  return {
    summary,
    ending,
    position: () => position,
    endsLater: () => endsLater,
    keyless: () => keyless.all(),
    /** Takes some records; gives whether the time sufficed for all of them. */
    async take(reading: Reading, records: readonly RawRecord[], context: string): Promise<boolean> {
      const rows: NewDelivered[] = []
      const looked = records.map((record) => {
        const raw = context + rawHash(record)
        return { record, raw, ids: known?.find(raw) ?? [] }
      })
      const fresh = looked.filter(({ ids }) => ids.length === 0).map(({ record }) => record)
      const confirmed = await confirmedFor(feed, tools, moment, reading, fresh, budget, areSeveral)
      const made = budget.each(fresh, (record) => {
        const delivered = normalised(mapping, moment, reading, record, confirmed, looks)
        const isRejected = delivered.some(({ kind }) => kind === 'reject')
        return { delivered, home: isRejected ? homeOfRecord(mapping, moment, reading, record) : null }
      })
      const overruled = overruledOf(made)
      let next = 0
      for (const { raw, ids } of looked) {
        if (countSeen(ids, workspace, summary)) {
          position += ids.length
          skipped++
          ending.seen(ids[ids.length - 1])
          continue
        }
        if (next === made.length) break
        const { delivered, home } = made[next++]
        // A listing that ends by itself must be parsed every time.
        const endsByItself = delivered.some((result) => 'endsLater' in result && result.endsLater)
        endsLater ||= endsByItself
        const skippable = !endsByItself && delivered.every((result) => result.kind === 'listing')
        for (const result of delivered) {
          position++
          if (overruled.has(result)) continue
          summary.records++
          if (result.kind === 'reject' && result.mlsNumber === null) keyless.add(home, raw, position)
          count(summary, result.kind)
          ending.parsed(mlsNumberOf(result))
          if (result.kind === 'listing') {
            leftOut.add(result.imagesLeftOut, result.imageFiles)
            unread.add(result)
            prices.look(result.listing)
          }
          const bytes = skippable ? raw : null
          rows.push(newRow(feed.plan.volatile.fields, moment, result, position, bytes, delivered.length, home))
        }
      }
      // In small batches: garbage that lives longer is collected late, and memory grows.
      if (rows.length > 0) workspace.addDelivered(rows)
      return next === fresh.length
    },
    /** Begins the next document. */
    begin(written: Written | null): void {
      endDocument()
      current = { from: position, written }
    },
    /** Drops what was said before this document, which is full and whole. Gives whether nothing else is left. */
    dropEarlier(): boolean {
      if (whole === null || isAfter(current!.written, whole)) whole = current!.written
      const isOver = ({ written }: { written: Written | null }): boolean => isAfter(written, current!.written)
      uncount(
        workspace.drop(
          documents.flatMap((document) => (isOver(document) ? [] : [[document.from, document.to] as const])),
        ),
      )
      documents = documents.filter(isOver)
      if (documents.length > 0) return false
      keyless.drop(current!.from)
      return true
    },
    /** Drops what this document said. */
    dropCurrent(): void {
      uncount(workspace.drop([[current!.from, position]]))
    },
    /** Whether nothing counts that was written then, as a whole full document was written after it. */
    isReplaced: (written: Written | null): boolean => isAfter(whole, written),
    /** Whether what stands at one position is the later word than what stands at another, as it is in a later document. */
    isLater: (position: number, other: number): boolean => {
      const [its, others] = [documentAt(position), documentAt(other)]
      return isAfter(its.written, others.written) || (its.from > others.from && !isAfter(others.written, its.written))
    },
    /** Drops what was said of an MLSNumber up to position `upTo`, unless its document says that it was written after `at`. */
    dropSaid(key: string, at: number, upTo: number): void {
      const isSince = (position: number): boolean => (writtenAt(position)?.at ?? 0) > at
      uncount(workspace.replace([{ key, isReadable: true }], upTo, isSince).flatMap((kinds) => kinds ?? []))
    },
    /** Sentences about the records that were read. */
    notes(): string[] {
      const others =
        skipped === 1
          ? '1 record that is as in the last run was'
          : `${skipped} records that are as in the last run were`
      const { doubled, marks } = looks
      return [leftOut, unread, prices, doubled, marks]
        .flatMap((each) => each.notes())
        .map((note) =>
          // Or fewer than in the last run would look as if the feed had been put right.
          skipped === 0 ? note : `${note}; ${others} not read and not counted`,
        )
    },
    end(): void {
      endDocument()
      known?.end()
    },
  }
}

export type Intake = Awaited<ReturnType<typeof intakeOf>>

/** What stands around a record counts as part of it. */
function rawHash({ raw, outside }: RawRecord): string {
  return shortHash(outside === undefined ? raw : `${outside}${shortHash(raw)}`)
}

type Confirmed = ReadonlyMap<string, MovingListing>

/** By MLSNumber, the earlier state of listings of which records tell only what changed. Few presets have such records. */
async function confirmedFor(
  { mapping, chatbot, name }: Source,
  { store, workspace }: Tools,
  moment: Moment,
  reading: Reading,
  fresh: readonly RawRecord[],
  budget: ReadBudget,
  areSeveral: boolean,
): Promise<Confirmed> {
  if (mapping.asksFor === undefined) return new Map()
  const asked = budget.each(fresh, (record) => {
    try {
      return mapping.asksFor?.(reading.parse(record), moment) ?? []
    } catch {
      // Such a record is parsed once more, and rejected.
      return []
    }
  })
  const keys = asked.flat()
  if (keys.length === 0) return new Map()
  const sent = await store.snapshot.confirmed(chatbot, name, keys)
  const confirmed = new Map(Array.from(sent, ([key, listing]) => [key, caughtUp(listing)]))
  // A later record changes what is still pending, rather than what was sent. What an older delivery said of a listing that is on
  // the service does not count.
  const pending = await store.deliveries.pendingOf(name, keys)
  const there = [...pending.keys()].filter((key) => confirmed.has(key))
  const held = there.length === 0 ? [] : await store.holds.held(name, moment.now, { keys: there })
  const older = new Set(held.filter(waitsAsOlder).map(({ mlsNumber }) => mlsNumber))
  for (const [key, { delivered }] of pending) {
    if (older.has(key)) continue
    for (const result of delivered) if (result.kind === 'listing') confirmed.set(key, result)
  }
  // So does what an earlier file of the same delivery says.
  for (const key of areSeveral ? new Set(keys) : [])
    for (const result of workspace.deliveredAs(key)) if (result.kind === 'listing') confirmed.set(key, result)
  return confirmed
}

function normalised(
  mapping: Mapping,
  moment: Moment,
  reading: Reading,
  record: RawRecord,
  confirmed: Confirmed,
  { doubled, marks }: { doubled: MojibakeCount; marks: SurplusMarks },
): Delivered[] {
  try {
    const fields = reading.parse(record)
    const delivered = mapping.normalise(fields, record.at, moment, (key) => confirmed.get(key) ?? null)
    if (!mapping.mendsText && mayBeDoubled(record.raw)) doubled.look(fields, delivered[0])
    // Records may take values from the document's header, too.
    const hasHeader = Object.keys(reading.header?.() ?? {}).length > 0
    if (hasHeader || mayHoldMarks(record)) marks.look(fields, delivered[0])
    return delivered
  } catch (error) {
    const problems = [{ field: 'record', value: null, problem: messageOf(error) }]
    return numbersOf(mapping, moment, reading, record).map((mlsNumber) => ({
      kind: 'reject',
      at: record.at,
      mlsNumber,
      problems,
    }))
  }
}

/**
 * The MLSNumbers of a record that can't be read; null: one that can't be told. Bytes of another encoding than the document's spoil
 * texts, but seldom the number: if it could not be told either, the listing would count as absent.
 */
function numbersOf(mapping: Mapping, moment: Moment, reading: Reading, record: RawRecord): (string | null)[] {
  if (isUtf8(record.raw)) return [null]
  try {
    const fields = reading.parse({ ...record, raw: Buffer.from(record.raw.toString('utf8')) })
    const numbers = mapping.normalise(fields, record.at, moment, () => null).map(mlsNumberOf)
    return numbers.map((number) => (number?.includes('\ufffd') === true ? null : number))
  } catch {
    return [null]
  }
}

/** A record's home; null: it can't be read, or the record names none. */
function homeOfRecord(mapping: Mapping, moment: Moment, reading: Reading, record: RawRecord): string | null {
  try {
    return homeHashOf(mapping.placeOf(reading.parse(record), moment))
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

const countedAs = { listing: 'listings', removal: 'removals', filtered: 'filtered', reject: 'rejects' } as const

export function count(summary: DeliverySummary, kind: Delivered['kind'], by: 1 | -1 = 1): void {
  summary[countedAs[kind]] += by
}

export function newRow(
  volatile: ReadonlySet<FieldName>,
  moment: Moment,
  delivered: Delivered,
  position: number,
  raw: string | null,
  parts: number,
  home: string | null = null,
): NewDelivered {
  if (delivered.kind !== 'listing') return { position, delivered, content: null, raw: null, parts, home, movesAt: null }
  const listing = listingAt(delivered, moment.now, moment.today)
  const content = contentHash(listing, volatile)
  const ends = movesAt(delivered.moving, moment.now)
  return { position, delivered, content, raw, parts, home: homeHashOf(listing), movesAt: ends }
}

/** How many records without MLSNumber are told apart. With more of them, the feed has lost the column. */
const mostKeyless = 10_000

/** Collects the records without a readable MLSNumber. One that came before stays as it was noted then. */
function keylessRecords(before: readonly Keyless[], now: number) {
  const known = new Map(before.map((record) => [record.identity, record]))
  const found = new Map<string, { record: Keyless; position: number }>()
  return {
    /** Forgets those up to a position. */
    drop(upTo: number): void {
      for (const [identity, { position }] of found) if (position <= upTo) found.delete(identity)
    },
    /** `raw`: a hash of its bytes. */
    add(home: string | null, raw: string, position: number): void {
      const isTold = found.size < mostKeyless
      const identity = isTold ? (home ?? raw) : 'more'
      const record = { identity, home: isTold ? home : null, since: now, notedAt: null }
      found.set(identity, { record: known.get(identity) ?? record, position })
    },
    all: (): Keyless[] => Array.from(found.values(), ({ record }) => record),
  }
}

/** Counts images that may not be passed on, except in records that are skipped as unchanged: they are not read. */
function imagesCount() {
  let listings = 0
  const hosts = new Map<string, number>()
  const files = { images: 0, listings: 0 }
  return {
    add(left: ImagesLeftOut | undefined, fileNames = 0): void {
      files.images += fileNames
      if (fileNames > 0) files.listings++
      if (left === undefined) return
      listings++
      for (const [host, images] of Object.entries(left)) hosts.set(host, (hosts.get(host) ?? 0) + images)
    },
    /** A sentence for each reason; none if nothing was left out. */
    notes(): string[] {
      return [...fileNotes(), ...hostNotes()]
    },
  }

  function fileNotes(): string[] {
    if (files.images === 0) return []
    const left = `${many(files.images, 'image')} of ${many(files.listings, 'listing')} left out`
    return [`${left}: the feed names their files only; say the address before them with imageBase`]
  }

  function hostNotes(): string[] {
    if (listings === 0) return []
    const total = [...hosts.values()].reduce((sum, count) => sum + count, 0)
    const where = [...hosts].map(([host, times]) => `${host} ${times}`).join(', ')
    return [`imagesNotFrom: ${many(total, 'image')} of ${many(listings, 'listing')} left out (${where})`]
  }
}
