/**
 * A live source as a delivery. A run reads changes into the mirror, compares all keys when that is due, and delivers all that is kept.
 * So a listing that was held, failed, or is mapped in another way now is delivered again, and a change of the configuration needs no
 * new load.
 */
import { FeedError } from '../../core/errors.ts'
import { shortHash } from '../../core/hash.ts'
import type { SourceProgress } from '../../core/records.ts'
import type { Clock } from '../../core/machine.ts'
import { printable, shorten } from '../../core/text.ts'
import { hasPassed } from '../../core/turn.ts'
import { nameOf } from '../transport/address.ts'
import type { Opened } from '../transport/transport.ts'
import type { Gate } from './gate.ts'
import type { Mirror } from './mirror.ts'
import { Gone, WholeWalk } from './proof.ts'
import { changesSince } from './pull.ts'
import { Api, compareStamps, timeOf } from './query.ts'
import type { Row } from './query.ts'
import { fieldInPart, kept, unpacked } from './record.ts'
import type { ResoSettings } from './settings.ts'
import { changedSince, walkAll } from './walk.ts'

/** Milliseconds. Changes are read again from so long before a first load began: a removal during the load may be dated before it. */
const late = 20 * 60_000
/** A walk is due if more changes came since the last one than one for so many records. */
const manyOf = 10
/** Up to so many records that differ between a walk and the mirror are asked for one by one. */
const mostSingly = 100

export interface Refreshed {
  /** All that is kept, as JSON, one record on each line. */
  opened: Opened
  /** This run's proof of all keys, if absences of the scope count; null: absence says nothing. */
  walk: WholeWalk | null
  /** What to remember of the source once the delivery is accepted and, in `carriedOut`, once the plan is carried out. */
  accepted: SourceProgress
  carriedOut: SourceProgress
  /** What a person should know, as sentences. */
  notes: string[]
}

export interface RefreshOptions {
  signal: AbortSignal
  clock: Clock
  /** A held delete waits for another walk to confirm it. */
  isWaiting: boolean
  progress: (records: number) => void
  /** Records on a page. Tests make pages small. */
  top?: number
}

/** All that decides which records a source gives, as one value. A renewed token is not part of it; another client is. */
export function scopeOf({ reso, vendor, auth, filter, select, expand }: ResoSettings): string {
  return shortHash(JSON.stringify([reso, vendor, auth.clientId, auth.scope, filter, select, expand]))
}

/**
 * Brings what is kept up to date. If it ends early, what was received stays, and the next run goes on from there. Throws `FeedError`,
 * and the signal's reason.
 */
export async function refresh(
  settings: ResoSettings,
  gate: Gate,
  mirror: Mirror,
  { signal, clock, isWaiting, progress: show, top }: RefreshOptions,
): Promise<Refreshed> {
  const begunAt = clock.now()
  const api = new Api(settings, gate, signal, top)
  const scope = scopeOf(settings)
  const notes: string[] = []
  const found = await mirror.progress()
  let progress: SourceProgress
  if (found === null || found.scope !== scope) {
    progress = begun(scope, clock.now())
    await mirror.begin(progress)
    if (found !== null)
      notes.push(
        'The source is another one, or asked for other records: it is loaded anew, and nothing is deleted for being absent before the guard has let pass a walk of all its keys',
      )
  } else progress = found
  let received = 0
  /** A field of which only a part came, and its record. */
  let partly = ''
  const keep = async (rows: readonly Row[], next: SourceProgress): Promise<void> => {
    const known = await mirror.stamps(rows.map(({ key }) => key))
    const fresh = new Map<string, Row>()
    let { changed = 0 } = progress
    for (const row of rows) {
      const field = partly === '' ? fieldInPart(row) : null
      if (field !== null) partly = `${field} of record ${row.key}`
      const before = fresh.get(row.key)?.stamp ?? known.get(row.key)
      // A record may change twice within one timestamp, or lose its own.
      if (row.stamp !== before) changed++
      if (before === undefined || row.stamp === '' || compareStamps(row.stamp, before) >= 0 || !isLately(before))
        fresh.set(row.key, row)
    }
    progress = { ...next, changed }
    await mirror.keep(
      [...fresh.values()].map((row) => kept(row, api.vendor)),
      progress,
    )
    show((received += fresh.size))
  }

  const last = progress.readAt
  const reached = progress.watermark
  const wasLoading = progress.loadedAt === null
  if (wasLoading) await load()
  await pull(wasLoading ? earlier(progress.watermark, progress.since - late) : lessOverlap(progress.watermark))
  const { pictures } = api.vendor
  if (pictures !== null && settings.expand?.includes('Media')) await pullPictures(pictures)
  // What was lost meanwhile only a walk tells, be it that of a later run, as this one's may prove nothing.
  const isForgotten = last !== null && clock.now() - last > api.vendor.memory
  await advance({ readAt: clock.now(), ...(isForgotten && { walkedAt: null }) })

  const isDue =
    isWaiting ||
    progress.walkedAt === null ||
    hasPassed(progress.walkedAt, settings.keys, begunAt) ||
    begunAt < progress.walkedAt ||
    // Of many homes at once that come under other numbers, only a walk tells that the old ones are gone.
    (progress.changed ?? 0) * manyOf > (progress.walkedKeys ?? Infinity)
  const walk = isDue ? await compared() : null
  const why = walk !== null && !WholeWalk.isOne(walk) ? walk.why : null
  const whole = walk !== null && WholeWalk.isOne(walk) ? walk : null
  if (whole !== null && progress.acceptedAt === null)
    notes.push('This was the first walk of all keys: listings that the source lacks are deleted from the next run on')
  if (partly !== '')
    notes.push(
      `Only a part of ${shorten(printable(partly), 100)} came, with a link to the rest, which is not followed; others may be cut likewise. Ask whoever runs the source to expand it whole`,
    )
  const accepted = { ...progress, acceptedAt: progress.acceptedAt ?? (whole === null ? null : clock.now()) }
  const isCounted = whole !== null && progress.acceptedAt !== null
  return {
    opened: openedOf(why),
    walk: isCounted ? whole : null,
    accepted,
    carriedOut: isCounted ? { ...accepted, walkedAt: begunAt, walkedKeys: whole.keys.size, changed: 0 } : accepted,
    notes,
  }

  async function advance(changes: Partial<SourceProgress>): Promise<void> {
    progress = { ...progress, ...changes }
    await mirror.keep([], progress)
  }

  /** Carries the first load on from where it was left. */
  async function load(): Promise<void> {
    const { visible } = api.vendor
    const conditions = visible === null ? [] : [`${visible} eq true`]
    for await (const rows of changesSince(api, progress.watermark, conditions)) await keep(rows, moved(rows))
    await advance({ loadedAt: clock.now() })
  }

  async function pull(from: string | null): Promise<void> {
    for await (const rows of changesSince(api, from, [])) await keep(rows, moved(rows))
  }

  /** Reads records of which only the pictures changed, which the timestamp of change does not show. */
  async function pullPictures(field: string): Promise<void> {
    // Our clock may be ahead of the source's, or have been.
    const read = Math.min(last ?? progress.since, reached === null ? Infinity : timeOf(reached))
    const since = new Date(read - late).toISOString()
    for await (const rows of changesSince(api, since, [], field)) await keep(rows, progress)
  }

  /**
   * The progress with the greatest timestamp received, also of records that are not kept. Never beyond now: behind one of a record
   * that is dated in the future, all other changes would be passed over.
   */
  function moved(rows: readonly Row[]): SourceProgress {
    const { watermark } = progress
    const greatest = rows.reduce<string | null>(
      (most, { stamp }) => (most === null || compareStamps(stamp, most) > 0 ? stamp : most),
      watermark,
    )
    return { ...progress, watermark: earlier(greatest, clock.now()) }
  }

  /**
   * Whether a server may still show at a time what was before this timestamp. An older one beside a kept one of the future, or of long
   * ago, was put right or set back.
   */
  function isLately(stamp: string, at = clock.now()): boolean {
    const ago = at - timeOf(stamp)
    return ago >= 0 && ago < late
  }

  function lessOverlap(watermark: string | null): string | null {
    const { overlap } = api.vendor
    return watermark === null || overlap === 0 ? watermark : earlier(watermark, timeOf(watermark) - overlap)
  }

  /** Compares all keys with the kept ones. Fetches what is missing here, and drops what is gone there. */
  async function compared(): Promise<WholeWalk | { why: string }> {
    const startedAt = clock.now()
    const walk = await walkAll(api, () => clock.now())
    if (!WholeWalk.isOne(walk)) return walk
    const missing: { key: string; id: string }[] = []
    const held = new Map<string, string>()
    for await (const page of mirror.rows())
      for (const record of page) {
        held.set(record.key, record.stamp)
        if (!walk.keys.has(record.key)) missing.push({ key: record.key, id: idOf(record) })
      }
    const stale = [...walk.keys].filter(([key, stamp]) => {
      const own = held.get(key)
      if (own === undefined || stamp === '') return true
      const later = compareStamps(stamp, own)
      // A walk may not show the latest changes yet. Reading from before them could be reading all.
      return later > 0 || (later < 0 && !isLately(own, startedAt))
    })
    try {
      await fetchStale(stale)
      if (missing.length === 0) return walk
      const looked = missing.length <= mostSingly ? await askedFor(missing) : await lackedTwice(missing)
      const changed = await changedSince(api, startedAt)
      const gone = looked.flatMap(({ key, sure }) => Gone.of(walk, key, { ...sure, changed }) ?? [])
      await mirror.drop(gone, progress)
    } catch (error) {
      if (!(error instanceof FeedError)) throw error
      return { why: error.message }
    }
    return walk
  }

  /** Fetches records that a walk found to be missing or out of date. Nothing else shows a change of one without a timestamp. */
  async function fetchStale(stale: readonly (readonly [key: string, stamp: string])[]): Promise<void> {
    const { asks, stamp: field, title } = api.vendor
    const dated = stale.filter(([, stamp]) => stamp !== '')
    const undated = stale.filter(([, stamp]) => stamp === '')
    const areAskedSingly = (some: typeof stale): boolean => asks === 'ListingKey' && some.length <= mostSingly
    // If the vendor can't search by key, changes are read by time, which also gives records that it showed late.
    if (dated.length > 0 && !areAskedSingly(dated)) {
      const stamps = dated.map(([, stamp]) => stamp)
      await pull(stamps.reduce((least, stamp) => (compareStamps(stamp, least) < 0 ? stamp : least)))
    }
    for (const [key] of [undated, dated].filter(areAskedSingly).flat()) {
      const row = await api.byId(key)
      if (row !== null) await keep([row], progress)
    }
    if (undated.length === 0) return
    const keys = undated.map(([key]) => key)
    const known = await mirror.stamps(keys)
    const lacking = keys.filter((key) => !known.has(key))
    const why =
      asks === 'ListingKey'
        ? `at most ${mostSingly} are asked for one by one`
        : `${title} is not asked for one by its key`
    // The source has them, and what is delivered without them would say that they are gone.
    if (lacking.length > 0)
      throw new FeedError(
        `no readable ${field} in ${named(lacking)}, not read, as ${why}; leave such records out with filter (${field} ne null)`,
      )
    notes.push(
      `No readable ${field} in ${named(keys)}: ${areAskedSingly(undated) ? 'a change shows only in a walk of all keys (keys)' : `as it was read last, as ${why}`}`,
    )
  }

  /** The id by which a record is asked for. */
  function idOf(record: Parameters<typeof unpacked>[0] & { key: string }): string {
    if (api.vendor.asks === 'ListingKey') return record.key
    const { ListingId: id } = JSON.parse(unpacked(record).toString()) as { ListingId?: unknown }
    return typeof id === 'string' ? id : ''
  }

  async function askedFor(missing: readonly { key: string; id: string }[]): Promise<Looked[]> {
    const absent: Looked[] = []
    for (const { key, id } of missing) {
      const row = id === '' ? undefined : await api.byId(id)
      if (row === null || (row && row.key !== key)) absent.push({ key, sure: { asked: 'not there' } })
      else if (row) await keep([row], progress)
    }
    return absent
  }

  async function lackedTwice(missing: readonly { key: string }[]): Promise<Looked[]> {
    const second = await walkAll(api, () => clock.now())
    if (!WholeWalk.isOne(second)) throw new FeedError(`the second walk of all keys is not whole: ${second.why}`)
    return missing.map(({ key }) => ({ key, sure: { second } }))
  }

  function openedOf(why: string | null): Opened {
    async function* bytes(): AsyncGenerator<Buffer> {
      for await (const page of mirror.rows()) {
        for (const record of page) yield Buffer.concat([unpacked(record), Buffer.from('\n')])
      }
    }
    const reasons = why === null ? [] : [`the walk of all keys proves nothing: ${why}`]
    return {
      name: nameOf(gate.root),
      bytes: bytes(),
      charset: 'utf-8',
      contentEncoding: null,
      validators: {},
      end: () => ({ proven: true, reasons }),
    }
  }
}

/** A record that a walk lacks, and how it was looked for. */
interface Looked {
  key: string
  sure: { asked: 'not there' } | { second: WholeWalk }
}

/** Records by their keys, for people. */
function named(keys: readonly string[]): string {
  const first = shorten(printable(keys[0]), 60)
  return keys.length === 1 ? `record ${first}` : `${keys.length} records, the first of them ${first}`
}

function begun(scope: string, now: number): SourceProgress {
  return { scope, since: now, watermark: null, loadedAt: null, readAt: null, walkedAt: null, acceptedAt: null }
}

/** The earlier of a timestamp and a time. */
function earlier(watermark: string | null, time: number): string | null {
  const text = new Date(time).toISOString()
  return watermark === null || compareStamps(watermark, text) <= 0 ? watermark : text
}
