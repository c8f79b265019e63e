/** Which files of a folder are the delivery of a delta. It says a thing once, so no file that came since the last run is passed by. */
import { fingerprint } from '../core/hash.ts'
import { many } from '../core/text.ts'
import type { Written } from '../feed/format/format.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import type { Besides, OlderFile } from '../feed/transport/transport.ts'
import type { DeliveryMode } from '../plan/proof.ts'
import type { LastDelivery, Store, StoreReader } from '../store/store.ts'
import type { Feed, Mode } from './tools.ts'

/** Which files are read. */
export interface Beside {
  /** Those to be read, the oldest first. null: the newest one, which is open. It is left out if it, or a newer one, was read before. */
  files: readonly (OlderFile | null)[]
  /** So many are there before the first delivery, and are not read. */
  passedBy: number
  /** Files up to this time were read by earlier runs; null: none was. */
  readTo: number | null
  /** Of those that were read by earlier runs, files up to this time are not read again; null: all are. */
  againFrom: number | null
}

/** Of a source that has only one document, or of which only one counts. */
export const noOther: Beside = { files: [null], passedBy: 0, readTo: null, againFrom: null }

type OfFeed = Pick<Feed, 'name' | 'chatbot' | 'source' | 'identity'> & {
  mapping: Pick<Mapping, 'version' | 'delivery' | 'deliveryOf'>
}

/**
 * Under these names the store has when the newest file changed that was read whole, which files were there then (`lastDayOf`), and when
 * the last one changed that was read as a full delivery: files of before it say nothing, also once the feed sends deltas.
 */
const namesUnder = (name: string, source: string) =>
  ['file', 'files', 'number of files', 'full file'].map((what) => `${what} of ${name}, ${source}`)
/** In another time zone they are the same files. */
const namesOf = ({ name, source, identity = source }: OfFeed) => namesUnder(name, identity)

/** Whether what it says may not be said again: of a delta, and of a full delivery whose next one may be a delta. */
export const isSaidOnce = ({ mapping }: { mapping: Pick<Mapping, 'deliveryOf'> }, mode: DeliveryMode): boolean =>
  mode === 'delta' || (mode === 'full' && mapping.deliveryOf !== undefined)

/** Milliseconds. Files that are sent with their own times may arrive in another order. */
const outOfOrder = 86_400_000

/** The files of the last day up to `until`: how many, and a value that tells whether they are others, or are read in another way. */
function lastDayOf({ mapping }: OfFeed, besides: Besides, until: number) {
  const files = [...besides.older, besides].filter(
    ({ changedAt }) => changedAt <= until && changedAt > until - outOfOrder,
  )
  const digest = fingerprint([mapping.version, ...files.map(({ name, changedAt }) => `${changedAt} ${name}`)])
  return { digest, count: files.length }
}

/**
 * The files that came since those that were read last, by the folder's clock. If none was, the last complete delivery stands for
 * them, but not in a folder whose clock is ahead. What was there before the first delivery may be of homes that were sold long ago, so
 * only a backfill reads it. A file may be read again: what is said last counts.
 */
export async function filesBeside(
  feed: OfFeed,
  store: StoreReader,
  { moment, last }: { moment: Moment; last: Pick<LastDelivery, 'completeAt' | 'loaded'> },
  besides: Besides | undefined,
  mode: Mode,
): Promise<Beside> {
  const { mapping, chatbot } = feed
  if (besides === undefined || !isSaidOnce(feed, mapping.delivery)) return noOther
  const { older, changedAt } = besides
  // Versions before 1 December 2026 noted them by time zone.
  const before = namesUnder(feed.name, feed.source)
  const [readTo, digest, count, fullTo] = await Promise.all(
    namesOf(feed).map(
      async (name, at) => (await store.learnt.number(chatbot, name)) ?? store.learnt.number(chatbot, before[at]),
    ),
  )
  const read = { passedBy: 0, readTo, againFrom: null }
  // A time that is later than the last file came by a wrong clock.
  const full = fullTo !== null && readTo !== null && fullTo <= readTo ? fullTo : 0
  if (mode === 'backfill') return { ...read, files: [...older.filter((file) => file.changedAt >= full), null] }
  const latest = moment.now + outOfOrder
  if (readTo !== null && readTo > latest) {
    // By a wrong clock: all that comes until then would seem to be older than the last one that was read.
    const since = last.completeAt ?? moment.now - outOfOrder
    const isNew = ({ changedAt: at }: Pick<OlderFile, 'changedAt'>): boolean =>
      at > readTo || (at > since && at <= latest)
    return { ...read, files: [...older.filter(isNew), ...(isNew(besides) ? [null] : [])] }
  }
  if (readTo !== null && changedAt < readTo) return { ...read, files: [] }
  if (readTo !== null) {
    const lastDay = lastDayOf(feed, besides, readTo)
    // With fewer files, the later word on a listing may be gone, and the earlier one would count again.
    const isAgain = lastDay.digest !== digest && lastDay.count >= (count ?? 0)
    const from = isAgain ? Math.max(readTo - outOfOrder, full) : readTo
    return { ...read, files: [...older.filter((file) => file.changedAt > from), null], againFrom: from }
  }
  const { completeAt, loaded } = last
  // What was delivered to another chatbot says nothing of this one.
  if (completeAt === null || loaded?.chatbot !== chatbot) return { ...noOther, passedBy: older.length }
  const isAhead = changedAt > moment.now
  return isAhead ? noOther : { ...noOther, files: [...older.filter((file) => file.changedAt > completeAt), null] }
}

/**
 * Whether what a file says may have been overtaken by files that are not read again with it: it was written more than a day before the
 * last one that was read.
 */
export function isOvertaken(
  written: Written | null,
  last: Pick<Written, 'by' | 'at'> | null,
  { againFrom }: Pick<Beside, 'againFrom'>,
): boolean {
  if (written?.by !== 'document' || last?.by !== 'document' || againFrom === null) return false
  return written.at < Math.min(againFrom, last.at - outOfOrder)
}

/** The files of a folder, and up to which time they need not be read again. */
export type Read = Besides & { readonly readTo: number }

/**
 * The files that need not be read again; null: none. `whole`: of an incomplete delta, those that were read whole. Before the first
 * one that was not, nothing is missing. If that one is taken away, what it said last must not give way to what they said before.
 */
export function readOf(
  { files, readTo }: Beside,
  besides: Besides,
  whole: ReadonlySet<OlderFile | null> | null,
): Read | null {
  if (whole === null) return files.length === 0 ? null : { ...besides, readTo: besides.changedAt }
  const { changedAt } = files.find((file) => !whole.has(file)) ?? besides
  const isNew = changedAt > (readTo ?? -Infinity)
  const isRead = (file: OlderFile | null): boolean => file !== null && file.changedAt < changedAt
  // Just before it, or the newest file of before it would be read again once it is taken away.
  return isNew && files.some(isRead) ? { ...besides, readTo: changedAt - 1 } : null
}

/**
 * Whether they count as read once what they say is noted as pending. What an older delta says does not, as only its holds, which are
 * noted at the end of the run, keep that from being carried out. A first delivery is told of again, with the files that it passes by.
 */
export const areNotedEarly = (
  { mode, passedBy }: { mode: DeliveryMode; passedBy: number },
  isOlder: boolean,
): boolean => mode === 'delta' && passedBy === 0 && !isOlder

/** Notes that these files were read whole. */
export async function noteFiles(feed: OfFeed, { learnt }: Store, read: Read): Promise<void> {
  const { digest, count } = lastDayOf(feed, read, read.readTo)
  const names = namesOf(feed)
  const full = isSaidOnce(feed, feed.mapping.delivery) ? [] : [read.readTo]
  for (const [at, value] of [read.readTo, digest, count, ...full].entries())
    await learnt.setNumber(feed.chatbot, names[at], value)
}

/** Names of files in one sentence, and sentences in one report: a server that is down may spoil a thousand files. */
const [mostNamed, mostReasons] = [3, 20]

/** Collects why a delivery may lack something, by the file (null: it has only one), and tells each reason once. */
export function reasonsByFile() {
  const byReason = new Map<string, Set<string>>()
  return {
    add(name: string | null, reason: string): void {
      const names = byReason.get(reason) ?? new Set()
      byReason.set(reason, names)
      // The reasons of a transport name the file themselves.
      if (name !== null && !reason.includes(name)) names.add(name)
    },
    clear: () => byReason.clear(),
    all(): string[] {
      const all = Array.from(byReason, ([reason, names]) => {
        if (names.size === 0) return reason
        const more = names.size - mostNamed
        const rest = more > 0 ? ` and ${many(more, 'more file')}` : ''
        return `${[...names].slice(0, mostNamed).join(', ')}${rest}: ${reason}`
      })
      const more = all.length - mostReasons
      return more > 0 ? [...all.slice(0, mostReasons), `and ${many(more, 'more reason')}`] : all
    },
  }
}
