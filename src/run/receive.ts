/** Turns the source's bytes into listings in the workspace. */
import { isUtf8 } from 'node:buffer'
import { FeedError, UserError, messageOf } from '../core/errors.ts'
import { contentHash, shortHash } from '../core/hash.ts'
import { caughtUp, emptyDelivery, listingAt, mlsNumberOf, movesAt } from '../core/listing.ts'
import type { Delivered, DeliverySummary, FieldName, ImagesLeftOut, MovingListing } from '../core/listing.ts'
import type { Runtime } from '../core/machine.ts'
import { many, printable, shorten } from '../core/text.ts'
import { readBudget } from '../feed/format/budget.ts'
import type { ReadBudget } from '../feed/format/budget.ts'
import type { RawRecord, Reading, Written } from '../feed/format/format.ts'
import { WholeWalk } from '../feed/api/proof.ts'
import type { Mirror } from '../feed/api/mirror.ts'
import type { Refreshed } from '../feed/api/source.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import { MojibakeCount, mayBeDoubled } from '../feed/mapping/mojibake.ts'
import { SurplusMarks, mayHoldMarks } from '../feed/mapping/surplus-marks.ts'
import { reasonsOf } from '../feed/transport/transport.ts'
import type { Besides, OlderFile, Opened, Validators } from '../feed/transport/transport.ts'
import type { NewDelivered, Workspace } from '../workspace/workspace.ts'
import { homeHashOf } from '../core/home-hash.ts'
import { minuteIn } from '../core/zone.ts'
import { hasPassed } from '../core/turn.ts'
import type { DeliveryMode, Keyless } from '../plan/proof.ts'
import type { Held } from '../store/store.ts'
import { filesBeside, noOther, readOf, reasonsByFile } from './files.ts'
import type { Beside } from './files.ts'
import { readJoins, withJoins } from './join.ts'
import type { Past } from './recall.ts'
import { approvedBeside, pendingBeside, waitsAsOlder } from './told.ts'
import type { Feed, Mode, Readers } from './tools.ts'
import { unreadCount } from './unread.ts'
import { isAfter, olderThan, writtenOf } from './written.ts'

type Source = Pick<
  Feed,
  'name' | 'chatbot' | 'source' | 'open' | 'live' | 'decompress' | 'format' | 'transport' | 'mapping' | 'plan' | 'joins'
>
type Tools = Pick<Readers, 'store' | 'workspace' | 'signal' | 'progress'> & { runtime: Pick<Runtime, 'clock'> }
type Known = Pick<Past, 'moment' | 'validators' | 'last' | 'saidBefore'>

/** What one delivery says, in figures; its listings and rejects are in the workspace. */
export interface Delivery {
  summary: DeliverySummary
  /** Its records without a readable MLSNumber. */
  keyless: readonly Keyless[]
  /** What absence means in it: as the document says, else the mapping; for a live source, as its walk proves. */
  mode: DeliveryMode
  /** How far a live source was read, for the store; null: the source is not live. */
  source: Pick<Refreshed, 'accepted' | 'carriedOut'> | null
  /** Fields from tables beside it (`join`) that are missing or not whole: they stay as they were. */
  lacking: readonly FieldName[]
  /** The last position of its own records: those behind it are what earlier deltas said; null: there are none of these. */
  own: number | null
  /** The last position before what was said before the store was put back from a backup; null: there is none of that. */
  outdated: number | null
  /** When the last of what earlier deltas said was said; null: nothing was. */
  saidTo: number | null
  /** If its end can't be proven: whether it ends like the one before; null: it can. */
  agrees: boolean | null
  /** The MLSNumber of its last record; '': it holds none; null: its format has an end mark. */
  lastKey: string | null
  /** Whether records name a time at which their listings come or go, so that an unchanged source gives other listings then. */
  endsLater: boolean
  /** When it says that it was written. */
  written: Written | null
  /** If it was written before the last one: when each was, as people read it; null: nothing says that it is older. */
  older: ReturnType<typeof olderThan>
  /** Its files, if a pattern chose them; of an incomplete delta, those before the first one that was not read whole. */
  besides: Besides | null
  /** Deltas beside the first one, which are not read. */
  passedBy: number
  /** What the source can be asked with next time, whether it has changed. */
  validators: Validators
  /** What a person should know of the records that were read, as sentences. */
  notes: string[]
}

/**
 * Receives a delivery into the workspace, all files of it, or learns from the source that the last one is still current. Throws
 * `FeedError` if it can't be fetched or is another kind of document. Anything less becomes a reason (incomplete) or a reject.
 */
export async function receive(
  feed: Source,
  tools: Tools,
  past: Known,
  mirror: Mirror,
  mode: Mode = 'sync',
): Promise<Delivery> {
  const budget = readBudget(feed.plan.limits.read, tools.signal, tools.runtime.clock)
  try {
    return await received(feed, tools, past, mirror, mode, budget)
  } finally {
    budget.end()
  }
}

async function received(
  feed: Source,
  tools: Tools,
  past: Known,
  mirror: Mirror,
  mode: Mode,
  budget: ReadBudget,
): Promise<Delivery> {
  // That the source did not change says nothing of the tables beside it.
  const saved = (feed.joins ?? []).length > 0 ? null : past.validators
  if (feed.live !== undefined) {
    const refreshed = await feed.live(mirror, budget.signal, {
      isWaiting: await isLetGo(feed, tools),
      progress: (records) => tools.progress('records', records, null),
    })
    return read(feed, tools, past, refreshed.opened, noOther, budget, refreshed)
  }
  const opened = await feed.open(saved, budget.signal, tools.workspace.folder)
  if (opened !== 'not-modified') {
    const beside = await filesBeside(feed, tools.store, past, opened.besides, mode)
    return read(feed, tools, past, opened, beside, budget)
  }
  if (saved === null)
    throw new UserError(
      `${feed.name}: the source answered HTTP 304 to a request without validators; report this to whoever runs it`,
    )
  tools.workspace.addAllSeen()
  return {
    summary: { ...saved.summary, bytes: 0 },
    keyless: past.last.keyless,
    mode: 'full',
    source: null,
    own: null,
    outdated: null,
    saidTo: null,
    lacking: [],
    agrees: null,
    lastKey: past.last.lastKey,
    endsLater: false,
    written: null,
    older: null,
    besides: null,
    passedBy: 0,
    validators: saved,
    notes: [],
  }
}

/**
 * Whether a held delete may go now, or a create that may come in its place: a person approved it, or its clock has run out. Only
 * another walk over the keys of a live source can prove it.
 */
async function isLetGo({ name, plan: { limits } }: Source, { store, runtime }: Tools): Promise<boolean> {
  const now = runtime.clock.now()
  const held = await store.holds.held(name, now)
  const deletes = held.filter(({ part, decision }) => part === 'delete' && decision?.is !== 'refused')
  const isOver = ({ part, clock, decision }: Held): boolean =>
    (part === 'delete' || part === 'create') &&
    decision === null &&
    clock !== null &&
    hasPassed(clock, limits.confirm ?? Infinity, now)
  return deletes.length > 0 && (deletes.some(({ decision }) => decision !== null) || held.some(isOver))
}

/**
 * Bytes → raw records → listings. Of several files, what the later one says of an MLSNumber replaces what the others say. Which is
 * later, the documents tell; else the order of the files does.
 */
async function read(
  feed: Source,
  tools: Tools,
  past: Known,
  newest: Opened,
  beside: Beside,
  budget: ReadBudget,
  live: Refreshed | null = null,
): Promise<Delivery> {
  const { mapping } = feed
  const { files, passedBy, readTo } = beside
  const { moment, last } = past
  const joins = await readJoins(feed.joins ?? [], tools.workspace, budget, feed.transport.maxRecordBytes)
  const intake = await intakeOf(feed, tools, past, budget, files.length > 1)
  const { summary, ending } = intake
  let [bytes, isFull] = [0, false]
  let written: Written | null = null
  const missing = reasonsByFile()
  const whole = new Set<OlderFile | null>()
  let older: Delivery['older'] = null
  let [doubt, misdated]: (string | null)[] = [null, null]
  // The newest one is open, and only reading closes it.
  const close = async (): Promise<void> => {
    for await (const _ of newest.bytes) break
  }
  if (!files.includes(null)) await close()
  for (const file of files) {
    if (file !== null && budget.exceeded() !== null) continue
    const name = files.length === 1 ? null : (file ?? newest.besides!).name
    try {
      const opened = file === null ? newest : await file.open()
      const document = await readDocument(feed, tools, moment, opened, joins, budget, intake, name, file !== null)
      const { when } = document
      const said = mapping.deliveryOf?.(document.says) ?? mapping.delivery
      const isWholeFull = said === 'full' && document.reasons.length === 0
      if (isWholeFull && name !== null && intake.dropEarlier()) {
        missing.clear()
        doubt = null
      }
      isFull ||= said === 'full'
      bytes += document.bytes
      // Others of its folder may have been read by earlier runs.
      for (const reason of document.reasons)
        missing.add(name ?? (readTo === null ? null : newest.besides!.name), reason)
      if (document.reasons.length === 0 && budget.exceeded() === null) whole.add(file)
      doubt ??= document.doubt
      if (document.written?.trim() && when?.by !== 'document') misdated = document.written
      if (written === null || isAfter(when, written)) written = when
      // What is read again beside others lies in its place among them.
      const isAgain = readTo !== null && files.length > 1 && (file ?? newest.besides!).changedAt <= readTo
      if (!isAgain) older ??= olderThan(last.written, when, feed.source, moment)
    } catch (error) {
      if (name === null || !(error instanceof FeedError)) {
        if (file !== null) await close()
        throw error
      }
      missing.add(name, error.message)
    }
  }
  intake.end()
  const exceeded = budget.exceeded()
  if (exceeded !== null) missing.add(null, exceeded)
  const reasons = missing.all()
  const mode =
    live === null ? (isFull ? 'full' : 'delta') : live.walk !== null && WholeWalk.isOne(live.walk) ? 'full' : 'kept'
  const own = intake.position()
  const passed = mode === 'delta' && older !== null ? await passOver(feed, tools, written!, summary) : 0
  // An older delta is judged by what it says itself.
  const { pending, outdated, saidTo } =
    mode === 'delta' && older === null
      ? await addPending(feed, tools, past, summary, own, reasons.length === 0)
      : noPending
  const notes = [...(live?.notes ?? []), ...joins.notes, ...intake.notes()]
  if (pending > 0) {
    const said = many(pending, 'MLSNumber')
    notes.push(`What earlier deliveries said of ${said} was not carried out yet, and is planned again with this one`)
  }
  if (passed > 0) {
    const said = many(passed, 'MLSNumber')
    notes.push(
      `Of ${said} a later delivery said something that is not carried out yet: what this one says of ${passed === 1 ? 'it' : 'them'} is passed over`,
    )
  }
  if (misdated !== null)
    notes.push(
      `When this delivery was written can't be read ("${shorten(printable(misdated), 40)}"), so an older one may not be noticed: add the form of that time to dates in the preset`,
    )
  if (files.length === 0)
    notes.push(
      `No file of the source is newer than the last one that was read (${minuteIn(moment.timezone, readTo!)}), so nothing was read`,
    )
  if (passedBy > 0 && mode === 'delta') {
    const [those, say] =
      passedBy === 1
        ? ['1 older file of the source is', 'it says']
        : [`${passedBy} older files of the source are`, 'they say']
    notes.push(
      `${those} not read, as this is the first delivery. If ${say} something of listings that are still offered: listing-sync backfill ${feed.name} reads all files`,
    )
  }
  let agrees: boolean | null = null
  if (doubt !== null && !feed.format.hasEndMark && mode === 'full' && reasons.length === 0) {
    agrees = await endsLike(feed, tools, last, ending)
    if (!agrees) reasons.push("its end can't be proven, and the delivery before does not end like it")
    notes.push(
      `The end of this delivery can't be proven: ${doubt}. What it lacks goes only if the next one lacks it, too`,
    )
  }
  return {
    summary: { ...summary, bytes, reasons, complete: reasons.length === 0 },
    keyless: intake.keyless(),
    mode,
    source: live,
    own: pending > 0 ? own : null,
    outdated,
    saidTo,
    lacking: joins.known.flatMap(({ join, rowsOf }) => (rowsOf === null ? join.fields : [])),
    agrees,
    lastKey: feed.format.hasEndMark ? null : await lastKeyOf(tools, ending),
    endsLater: intake.endsLater(),
    written,
    older,
    besides:
      newest.besides === undefined
        ? null
        : readOf(beside, newest.besides, mode === 'delta' && reasons.length > 0 ? whole : null),
    passedBy: mode === 'delta' ? passedBy : 0,
    validators: newest.validators,
    notes,
  }
}

/**
 * Reads one document into the intake. `name`: said in front of where its records are; null: it is the only one. `isEarlier`: not the
 * last one.
 */
async function readDocument(
  feed: Source,
  { workspace, progress }: Tools,
  { timezone }: Moment,
  opened: Opened,
  joins: Joins,
  budget: ReadBudget,
  intake: Intake,
  name: string | null,
  isEarlier: boolean,
) {
  const { mapping } = feed
  const source = feed.decompress(opened, workspace.folder)
  let bytes = 0
  async function* countedBytes(): AsyncGenerator<Buffer> {
    for await (const chunk of source.bytes) {
      bytes += chunk.length
      yield chunk
    }
  }
  const { encoding, maxRecordBytes, endsWithLineBreak } = feed.transport
  const own = feed.format.read(countedBytes(), {
    ...mapping.formatOptions,
    reads: mapping.reads,
    encoding,
    maxRecordBytes,
    charset: opened.charset,
    lengthProven: () => !endsWithLineBreak || source.end().proven,
  })
  const reading = withJoins(own, joins, isEarlier)
  const written = (): string | null => reading.written?.() ?? null
  let when: Written | null | undefined
  const begin = (): void => {
    if (when !== undefined) return
    when = writtenOf(written(), opened, timezone, mapping.dates ?? [])
    intake.begin(when)
  }
  try {
    reading: for await (const batch of reading.records) {
      const context = contextHash(reading)
      begin()
      if (name !== null) for (const record of batch) record.at = `${name}: ${record.at}`
      for (const records of budget.steps(batch)) {
        await budget.pause()
        if (budget.exceeded() !== null || !(await intake.take(reading, records, context))) break reading
      }
      progress('records', intake.summary.records, null)
    }
    begin()
  } finally {
    await opened.release?.()
  }
  return {
    bytes,
    reasons: [...reasonsOf(source.end(), feed.format), ...reading.end().reasons],
    doubt: source.end().doubt ?? null,
    says: reading.says?.() ?? {},
    written: written(),
    when: when ?? null,
  }
}

type Joins = Awaited<ReturnType<typeof readJoins>>
type Intake = Awaited<ReturnType<typeof intakeOf>>
const noneOf: ReadonlySet<Delivered> = new Set()

/**
 * Takes the records of a delivery into the workspace, and counts them. A record whose bytes the snapshot knows is only marked as seen:
 * nothing parses it. `areSeveral`: the delivery has several files. Then each record is parsed, as the MLSNumber has to be known.
 */
async function intakeOf(feed: Source, tools: Tools, { moment, last }: Known, budget: ReadBudget, areSeveral: boolean) {
  const { mapping } = feed
  const { workspace } = tools
  const summary = emptyDelivery()
  const looks = { doubled: new MojibakeCount(), marks: new SurplusMarks() }
  const ending = endOf()
  const leftOut = imagesCount()
  const unread = unreadCount()
  const known = areSeveral ? null : await tools.store.snapshot.knownRecords(feed.chatbot, feed.name, mapping.version)
  const keyless = keylessRecords(last.keyless, moment.now)
  let [endsLater, skipped, position] = [false, 0, 0]
  /** In the order of the files: the documents before this one, and this one. */
  let documents: { from: number; to: number; written: Written | null }[] = []
  let current: { from: number; written: Written | null } | null = null
  /** When the latest whole full document was written. */
  let whole: Written | null = null
  const isLater = (at: number): boolean => {
    let [low, high] = [0, documents.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (documents[middle].to < at) low = middle + 1
      else high = middle
    }
    return isAfter(documents[low].written, current!.written)
  }
  const uncount = (kinds: readonly Delivered['kind'][]): void => {
    for (const kind of kinds) count(summary, kind, -1)
    summary.records -= kinds.length
  }
  /** Makes room for what is said now. Gives those of which a later document said something, if only by lacking them. */
  const overruledOf = (made: readonly { delivered: readonly Delivered[] }[]): ReadonlySet<Delivered> => {
    if (documents.length === 0) return noneOf
    const said = made.flatMap(({ delivered }) => delivered)
    if (isAfter(whole, current!.written)) return new Set(said)
    const named = said.flatMap((one) => {
      const key = mlsNumberOf(one)
      return key === null ? [] : { one, key, isReadable: one.kind !== 'reject' }
    })
    const replaced = workspace.replace(named, current!.from, isLater)
    for (const kinds of replaced) uncount(kinds ?? [])
    return new Set(named.flatMap(({ one }, at) => (replaced[at] === null ? one : [])))
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
        const endsByItself = delivered.some((one) => 'endsLater' in one && one.endsLater)
        endsLater ||= endsByItself
        const skippable = !endsByItself && delivered.every((one) => one.kind === 'listing')
        for (const one of delivered) {
          position++
          if (overruled.has(one)) continue
          summary.records++
          if (one.kind === 'reject' && one.mlsNumber === null) keyless.add(home, raw, position)
          count(summary, one.kind)
          ending.parsed(mlsNumberOf(one))
          if (one.kind === 'listing') {
            leftOut.add(one.imagesLeftOut, one.imageFiles)
            unread.add(one)
          }
          const bytes = skippable ? raw : null
          rows.push(newRow(feed.plan.volatile.fields, moment, one, position, bytes, delivered.length, home))
        }
      }
      // In small batches: garbage that lives longer is collected late, and memory grows.
      if (rows.length > 0) workspace.addDelivered(rows)
      return next === fresh.length
    },
    /** Begins the next document. */
    begin(written: Written | null): void {
      if (current !== null) documents.push({ ...current, to: position })
      current = { from: position, written }
    },
    /** Drops what was said before this document, which is full and whole. Gives whether nothing else is left. */
    dropEarlier(): boolean {
      if (whole === null || isAfter(current!.written, whole)) whole = current!.written
      const isOver = ({ written }: { written: Written | null }): boolean => isAfter(written, current!.written)
      uncount(workspace.drop(documents.flatMap((one) => (isOver(one) ? [] : [[one.from, one.to] as const]))))
      documents = documents.filter(isOver)
      if (documents.length > 0) return false
      keyless.drop(current!.from)
      return true
    },
    /** Sentences about the records that were read. */
    notes(): string[] {
      const others =
        skipped === 1
          ? '1 record that is as in the last run was'
          : `${skipped} records that are as in the last run were`
      return [...leftOut.notes(), ...unread.notes(), ...looks.doubled.notes(), ...looks.marks.notes()].map((note) =>
        // Or fewer than in the last run would look as if the feed had been put right.
        skipped === 0 ? note : `${note}; ${others} not read and not counted`,
      )
    },
    end: () => known?.end(),
  }
}

/**
 * Adds to a delta what is pending of earlier ones, as if it said that again. Left out are MLSNumbers of which it says something
 * itself, and what an older delta said and waits for a person. To a whole delta, deletes are added that a person approved after an
 * earlier full delivery. Gives of how many MLSNumbers something was added.
 * What was said before the store was put back comes last.
 */
async function addPending(
  feed: Source,
  tools: Tools,
  { moment, saidBefore }: Known,
  summary: DeliverySummary,
  position: number,
  isWhole: boolean,
): Promise<typeof noPending> {
  const { name, plan } = feed
  const { store, workspace } = tools
  const held = await store.holds.held(name, moment.now)
  const older = new Set(held.filter(waitsAsOlder).map(({ mlsNumber }) => mlsNumber))
  let pending = 0
  const add = (said: Iterable<readonly Delivered[]>): void => {
    const rows: NewDelivered[] = []
    for (const delivered of said) {
      pending++
      for (const one of delivered) {
        summary.records++
        count(summary, one.kind)
        rows.push(newRow(plan.volatile.fields, moment, one, ++position, null, 1))
      }
    }
    workspace.addDelivered(rows)
  }
  const absent = new Set(isWhole ? await approvedBeside(feed, tools, held) : [])
  let saidTo: number | null = null
  for await (const { untold } of pendingBeside(feed, tools)) {
    add(untold.filter(({ key, at }) => !older.has(key) && at > saidBefore).map(({ delivered }) => delivered))
    for (const { key, at } of untold) {
      absent.delete(key)
      saidTo = Math.max(at, saidTo ?? at)
    }
  }
  const why = 'gone from the last full delivery, and approved'
  add(Array.from(absent, (mlsNumber) => [{ kind: 'removal', at: 'the last full delivery', mlsNumber, why }]))
  const before = position
  if (saidBefore > -Infinity)
    for await (const { untold } of pendingBeside(feed, tools))
      add(untold.filter(({ key, at }) => !older.has(key) && at <= saidBefore).map(({ delivered }) => delivered))
  return { pending, outdated: position > before ? before : null, saidTo }
}

const noPending = { pending: 0, outdated: null as number | null, saidTo: null as number | null }

/**
 * Drops what an older delta says of an MLSNumber of which something is pending that was said later. Gives of how many MLSNumbers
 * something was dropped.
 */
async function passOver(
  { name, chatbot }: Source,
  { store, workspace }: Tools,
  written: Written,
  summary: DeliverySummary,
): Promise<number> {
  let passed = 0
  for await (const { told } of pendingBeside({ name, chatbot }, { store, workspace })) {
    const keys = told.flatMap(({ key, at }) => (at > written.at ? key : []))
    const ids = await store.snapshot.ids(chatbot, name, keys)
    for (const key of keys)
      for (const kind of workspace.takeBack(key, ids.get(key) ?? null)) {
        summary.records--
        count(summary, kind, -1)
      }
    passed += keys.length
  }
  return passed
}

/** What stands around a record counts as part of it. */
function rawHash({ raw, outside }: RawRecord): string {
  return shortHash(outside === undefined ? raw : `${outside}${shortHash(raw)}`)
}

/** A hash of the header: under another one a row of the same bytes says something else. */
function contextHash(reading: Reading): string {
  const context = reading.context()
  return context === '' ? '' : shortHash(context).slice(0, 8)
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
    for (const one of delivered) if (one.kind === 'listing') confirmed.set(key, one)
  }
  // So does what an earlier file of the same delivery says.
  const said = areSeveral ? keys.flatMap((key) => workspace.deliveredAs(key).map((one) => ({ key, one }))) : []
  for (const { key, one } of said) if (one.kind === 'listing') confirmed.set(key, one)
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

function count(summary: DeliverySummary, kind: Delivered['kind'], by: 1 | -1 = 1): void {
  summary[countedAs[kind]] += by
}

function newRow(
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

/** How many of the last parsed records are remembered. If a delivery grew by more, its end can't be compared. */
const endKept = 1000

/** Follows the records, to know with which the delivery ends. */
function endOf() {
  const end = {
    /** The snapshot row of the last record that was known by its bytes; null: none was. */
    row: null as number | null,
    /** The MLSNumbers of records parsed after it, as far as they are remembered. */
    keys: [] as string[],
    seen(id: number): void {
      end.row = id
      end.keys = []
    },
    parsed(key: string | null): void {
      if (key === null) return
      end.keys.push(key)
      if (end.keys.length === 2 * endKept) end.keys = end.keys.slice(-endKept)
    },
  }
  return end
}
type End = ReturnType<typeof endOf>

/**
 * Whether a delivery ends like the one before: the last record of the earlier one is in this one, and the last listing of ours in
 * this one was in the earlier one. Two that were cut at different places never do.
 */
async function endsLike(
  { chatbot, name }: Source,
  { store, workspace }: Tools,
  { lastKey, completeAt, mapping }: Past['last'],
  end: End,
): Promise<boolean> {
  // Without a last key this is the first delivery, or an earlier version of the program read the one before.
  if (lastKey === null) return completeAt === null && mapping === null
  if (lastKey === '' || isEmpty(end)) return lastKey === '' && isEmpty(end)
  const ids = await store.snapshot.ids(chatbot, name, [...end.keys, lastKey])
  const before = ids.get(lastKey)
  const holdsLast = workspace.isDelivered(lastKey) || (before !== undefined && workspace.isSeen(before))
  const own = end.keys.findLast((key) => ids.has(key)) ?? (await keyOf(store, end.row))
  return holdsLast && own !== null && !(await store.history.isAbsent(chatbot, name, own))
}

const isEmpty = ({ row, keys }: End): boolean => row === null && keys.length === 0

async function lastKeyOf({ store }: Tools, { row, keys }: End): Promise<string> {
  return keys.at(-1) ?? (await keyOf(store, row)) ?? ''
}

async function keyOf(store: Tools['store'], row: number | null): Promise<string | null> {
  return row === null ? null : (await store.snapshot.recall([row])).get(row)!.listing.MLSNumber
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
    const total = [...hosts.values()].reduce((sum, one) => sum + one, 0)
    const where = [...hosts].map(([host, times]) => `${host} ${times}`).join(', ')
    return [`imagesNotFrom: ${many(total, 'image')} of ${many(listings, 'listing')} left out (${where})`]
  }
}
