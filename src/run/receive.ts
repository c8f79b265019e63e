/** Turns the source's bytes into listings in the workspace. */
import { FeedError, UserError } from '../core/errors.ts'
import { shortHash } from '../core/hash.ts'
import type { Delivered, DeliverySummary } from '../core/listing.ts'
import { many, printable, shorten } from '../core/text.ts'
import { readBudget } from '../feed/format/budget.ts'
import type { ReadBudget } from '../feed/format/budget.ts'
import type { Reading, Written } from '../feed/format/format.ts'
import { WholeWalk } from '../feed/api/proof.ts'
import type { Mirror } from '../feed/api/mirror.ts'
import type { Refreshed } from '../feed/api/source.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import { reasonsOf } from '../feed/transport/transport.ts'
import type { OlderFile, Opened } from '../feed/transport/transport.ts'
import type { NewDelivered } from '../workspace/workspace.ts'
import { minuteIn } from '../core/zone.ts'
import { hasPassed } from '../core/turn.ts'
import type { Held, Pending } from '../store/store.ts'
import type { DeliveryMode } from '../plan/proof.ts'
import type { Delivery } from './delivery.ts'
import { endsLike, lastKeyOf } from './ending.ts'
import { filesBeside, isOvertaken, isSaidOnce, noOther, readOf, reasonsByFile } from './files.ts'
import type { Beside } from './files.ts'
import { count, intakeOf, newRow } from './intake.ts'
import type { Intake, Known, Source, Tools } from './intake.ts'
import { readJoins, withJoins } from './join.ts'
import { approvedBeside, pendingBeside, waitsAsOlder } from './named.ts'
import type { Mode } from './tools.ts'
import { noneRespelled, respelledIn } from './respelled.ts'
import { isAfter, olderThan, writtenOf } from './written.ts'

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
    try {
      const beside = await filesBeside(feed, tools.store, past, opened.besides, mode)
      return await read(feed, tools, past, opened, beside, budget)
    } catch (error) {
      await close(opened).catch(() => undefined)
      throw error
    }
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
    outdated: noPending.outdated,
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

/** Closes what was opened: only reading does that. */
async function close({ bytes }: Opened): Promise<void> {
  for await (const _ of bytes) break
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
  let [bytes, isFull, isOnlyAgain, againTo] = [0, false, true, 0]
  let written: Written | null = null
  const [missing, overtaken] = [reasonsByFile(), [] as string[]]
  const whole = new Set<OlderFile | null>()
  let older: Delivery['older'] = null
  let [doubt, misdated]: (string | null)[] = [null, null]
  if (!files.includes(null)) await close(newest)
  for (const file of files) {
    if (file !== null && budget.exceeded() !== null) continue
    const name = files.length === 1 ? null : (file ?? newest.besides!).name
    const isAgain = readTo !== null && (file ?? newest.besides!).changedAt <= readTo
    try {
      const opened = file === null ? newest : await file.open()
      const document = await readDocument(feed, tools, moment, opened, joins, budget, intake, name, file !== null)
      const { when } = document
      const stopped = file === null ? null : budget.goOn()
      const reasons = stopped === null ? document.reasons : [...document.reasons, stopped]
      const deliveryMode = mapping.deliveryOf?.(document.says) ?? mapping.delivery
      const isWholeFull = deliveryMode === 'full' && reasons.length === 0
      if (isAgain && name !== null && deliveryMode !== 'full' && isOvertaken(when, last.written, beside)) {
        intake.dropCurrent()
        overtaken.push(name)
      }
      if (isWholeFull && name !== null) {
        older = null
        if (intake.dropEarlier()) {
          missing.clear()
          doubt = null
        }
      }
      isFull ||= deliveryMode === 'full'
      bytes += document.bytes
      // Others of its folder may have been read by earlier runs.
      for (const reason of reasons) missing.add(name ?? (readTo === null ? null : newest.besides!.name), reason)
      if (reasons.length === 0 && budget.exceeded() === null) whole.add(file)
      doubt ??= document.doubt
      if (document.written?.trim() && when?.by !== 'document') misdated = document.written
      if (written === null || isAfter(when, written)) written = when
      // What is read again beside others lies in its place among them.
      const isHeard = (!isAgain || files.length === 1) && !intake.isReplaced(when)
      if (isHeard) older ??= olderThan(last.written, when, feed, moment)
      isOnlyAgain &&= isAgain
    } catch (error) {
      if (name === null || !(error instanceof FeedError)) throw error
      missing.add(name, error.message)
    }
    if (isAgain) againTo = intake.position()
  }
  intake.end()
  const exceeded = budget.exceeded()
  if (exceeded !== null) missing.add(null, exceeded)
  const reasons = missing.all()
  const mode =
    live === null ? (isFull ? 'full' : 'delta') : live.walk !== null && WholeWalk.isOne(live.walk) ? 'full' : 'kept'
  if (mode === 'delta' && files.length > 1 && againTo > 0) await dropOlder(feed, tools, moment.now, againTo, intake)
  const passed = mode === 'delta' && older !== null ? await passOver(feed, tools, written!, summary) : 0
  const isLater = files.length > 1 ? intake.isLater : null
  const respelled =
    mode === 'delta' && last.loaded !== null
      ? await respelledIn(feed, tools, summary, older !== null, isLater)
      : noneRespelled
  const from = intake.position()
  tools.workspace.addDelivered(
    respelled.gone.map((gone, at) => newRow(feed.plan.volatile.fields, moment, gone, from + 1 + at, null, 1)),
  )
  const own = from + respelled.gone.length
  // An older delta is judged by what it says itself. Where no other comes, it is read again each night, and what is pending goes on.
  const { pending, outdated } =
    isSaidOnce(feed, mode) &&
    (mode === 'delta' ? older === null || isOnlyAgain : older === null && reasons.length === 0)
      ? await addPending(feed, tools, past, summary, own, reasons.length === 0, mode)
      : noPending
  const notes = [...(live?.notes ?? []), ...joins.notes, ...intake.notes(), ...respelled.notes]
  if (pending > 0) {
    const numbers = many(pending, 'MLSNumber')
    notes.push(`What earlier deliveries said of ${numbers} was not carried out yet, and is planned again with this one`)
  }
  if (passed > 0) {
    const numbers = many(passed, 'MLSNumber')
    notes.push(
      `Of ${numbers} a later delivery said something that is not carried out yet: what this one says of ${passed === 1 ? 'it' : 'them'} is passed over`,
    )
  }
  if (overtaken.length > 0) {
    const more = overtaken.length - 1
    const [others, was, says] =
      more === 0 ? ['', 'was', 'it says'] : [` and ${many(more, 'other file')}`, 'were', 'they say']
    notes.push(
      `${overtaken[0]}${others} among those that are read again ${was} written more than a day before the last one: what ${says} does not count again`,
    )
  }
  if (misdated !== null)
    notes.push(
      `When this delivery was written can't be read ("${shorten(printable(misdated), 40)}"), so an older one may not be noticed: if that is a time, add its form to dates in the preset`,
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

/**
 * Adds to a delta what is pending of earlier ones, as if it said that again. Left out are MLSNumbers of which it says something
 * itself, and what an older delta said and waits for a person. To a whole delta, deletes are added that a person approved after an
 * earlier full delivery. To a whole transfer, only what an earlier delta said is gone. Gives of how many MLSNumbers something was added,
 * and those of which it was said before the store was put back.
 */
async function addPending(
  feed: Source,
  tools: Tools,
  { moment }: Known,
  summary: DeliverySummary,
  position: number,
  isWhole: boolean,
  mode: DeliveryMode,
): Promise<typeof noPending> {
  const { name, plan } = feed
  const { store, workspace } = tools
  const held = await store.holds.held(name, moment.now)
  const older = new Set(held.filter(waitsAsOlder).map(({ mlsNumber }) => mlsNumber))
  let pending = 0
  const outdated = new Set<string>()
  const add = (groups: Iterable<readonly Delivered[]>): void => {
    const rows: NewDelivered[] = []
    for (const delivered of groups) {
      pending++
      for (const result of delivered) {
        summary.records++
        count(summary, result.kind)
        rows.push(newRow(plan.volatile.fields, moment, result, ++position, null, 1))
      }
    }
    workspace.addDelivered(rows)
  }
  const absent = new Set(isWhole && mode === 'delta' ? await approvedBeside(feed, tools, held) : [])
  for await (const { unnamed } of pendingBeside(feed, tools)) {
    // What a change said is gone, and a whole transfer lacks, need not wait for the next whole transfer.
    const isMeant = ({ delivered }: Pending): boolean =>
      mode === 'delta' || delivered.every(({ kind }) => kind === 'removal')
    const rest = unnamed.filter((record) => !older.has(record.key) && isMeant(record))
    add(rest.map(({ delivered }) => delivered))
    for (const { key, at } of rest) if (at === 0) outdated.add(key)
    for (const { key } of unnamed) absent.delete(key)
  }
  const why = 'gone from the last full delivery, and approved'
  add(Array.from(absent, (mlsNumber) => [{ kind: 'removal', at: 'the last full delivery', mlsNumber, why }]))
  return { pending, outdated }
}

const noPending = { pending: 0, outdated: new Set<string>() as ReadonlySet<string> }

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
  for await (const { named } of pendingBeside({ name, chatbot }, { store, workspace })) {
    const keys = named.flatMap(({ key, at }) => (at > written.at ? key : []))
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

/**
 * Drops what files that are read again (up to position `againTo`) say of an MLSNumber of which an older delta waits for a person, unless
 * it was written after that. In its place among them it would count, and go out over what was said later in files that are not read again.
 */
async function dropOlder(
  { name }: Source,
  { store }: Tools,
  now: number,
  againTo: number,
  intake: Intake,
): Promise<void> {
  const held = (await store.holds.held(name, now)).filter(waitsAsOlder)
  const pending = await store.deliveries.pendingOf(
    name,
    held.map(({ mlsNumber }) => mlsNumber),
  )
  for (const [key, { at }] of pending) intake.dropSaid(key, at, againTo)
}

/** A hash of the header: under another one a row of the same bytes says something else. */
function contextHash(reading: Reading): string {
  const context = reading.context()
  return context === '' ? '' : shortHash(context).slice(0, 8)
}
