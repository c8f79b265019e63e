/**
 * Finds MLSNumbers of a feed that the service shows more than once, and the way to one copy. If single copies can be named, the
 * one that shows what was sent last stays; of equals, the one with the lowest ID. Nothing is written here.
 */
import { differences } from '../core/compare-listings.ts'
import { ServiceError, UserError } from '../core/errors.ts'
import type { Shown } from '../core/listing.ts'
import { isSentinel } from '../core/sentinel.ts'
import { minuteIn } from '../core/zone.ts'
import { situations } from '../plan/situation.ts'
import type { Situation } from '../plan/situation.ts'
import { observe } from './observe.ts'
import type { Feed, Readers } from './tools.ts'

/** One MLSNumber that is there more than once. IDs are those of the list items. */
export interface Duplicate {
  mlsNumber: string
  copies: number
  /** null: nothing can be done. */
  way: Way | null
  /** Why nothing can be done; null: something can. */
  problem: string | null
}

/**
 * How copies are deleted. `ID`: the surplus, by list IDs, which Delete is known to take. `identifier`: one of two, by what Create
 * answered. `anew`: all, by their MLSNumber; then the listing is created once, or by the next sync (not `creates`) if what was
 * sent is not known.
 */
export type Way =
  | { by: 'ID'; stays: { id: number; why: string }; surplus: number[] }
  | { by: 'identifier'; identifier: string }
  | { by: 'anew'; creates: boolean }

/** How many deletes it takes, as the guard counts them. */
export const deletesOf = ({ way }: Duplicate): number => (way === null ? 0 : way.by === 'ID' ? way.surplus.length : 1)

export interface Duplicates {
  found: Duplicate[]
  /** Listings of the feed that the service shows, each MLSNumber once. */
  ours: number
}

/** Walks the whole list. Throws `UserError` if it is not complete, `ServiceError` if it can't be read. */
export async function findDuplicates(feed: Feed, readers: Readers): Promise<Duplicates> {
  const { store, workspace } = readers
  const remote = await observe(feed, readers)
  if (!remote.complete)
    throw new UserError(`the service's list is incomplete, so nothing is repaired: ${remote.reasons.join(' ')}`)

  const sides = {
    delivered: [],
    snapshot: store.snapshot.inBrief(feed.chatbot, feed.name),
    rows: (keys: readonly string[]) => store.snapshot.rowsOf(feed.chatbot, keys),
    shown: workspace.shown(),
    history: nothing(),
    seen: () => false,
    shownAsBefore: (id: number) => workspace.isShownAsBefore(id),
  }
  const found: Duplicate[] = []
  let ours = 0
  for await (const chunk of situations(sides, { feed: feed.name, lookUps: null })) {
    for (const situation of chunk) {
      if (situation.shown.length === 0 || !isOurs(situation, feed)) continue
      ours++
      if (situation.shown.length > 1) found.push(await examine(situation, remote.startedAt, feed, readers))
    }
  }
  return { found, ours }
}

/** No history: it says nothing about copies. */
async function* nothing(): AsyncGenerator<never> {}

/** Whether the listing is this feed's, much as in a plan: in its snapshot, created by it, or marked as its own. */
function isOurs({ key, row, shown }: Situation, { name, plan: { ownership } }: Feed): boolean {
  if (row === null && isSentinel(key)) return false
  const marked = ownership !== 'snapshot' && shown.some(({ owner }) => owner === name)
  const remembered = row !== null && row.feed === name && (row.owned || row.flight === 'create')
  return marked || remembered || ownership === 'mirror'
}

async function examine(
  { key, row, shown }: Situation,
  startedAt: number,
  feed: Feed,
  readers: Readers,
): Promise<Duplicate> {
  const problem = (why: string) => beyondRepair(key, shown.length, why)
  if (row !== null && row.feed !== feed.name && (row.owned || row.flight !== null))
    return problem(`feed ${row.feed} of this chatbot has it: repair that feed`)
  if (row !== null && row.flightAt !== null && startedAt < row.flightAt + feed.plan.settle)
    return problem(
      `an earlier ${row.flight} got no answer and may still land: repair it after ${minuteIn(feed.timezone, row.flightAt + feed.plan.settle)}`,
    )
  try {
    const copies = await readers.service.lookUp(key)
    return copies.length < 2
      ? problem('a look-up shows it once only: run repair again')
      : await choose(key, copies, row, feed, readers)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
    return problem(`it could not be looked up: ${error.message}`)
  }
}

function beyondRepair(mlsNumber: string, copies: number, problem: string): Duplicate {
  return { mlsNumber, copies, way: null, problem }
}

async function choose(
  mlsNumber: string,
  copies: readonly Shown[],
  row: Situation['row'],
  feed: Feed,
  { store }: Readers,
): Promise<Duplicate> {
  const problem = (why: string) => beyondRepair(mlsNumber, copies.length, why)
  const found = (way: Way): Duplicate => ({ mlsNumber, copies: copies.length, way, problem: null })
  const stranger = strangerAmong(copies, feed)
  if (stranger !== null) return problem(stranger)
  const baseline = (await store.snapshot.baselines(feed.chatbot, [mlsNumber])).get(mlsNumber)
  const sent = (await store.snapshot.confirmed(feed.chatbot, feed.name, [mlsNumber])).get(mlsNumber)
  const rank = (shown: Shown): number => {
    if (shown.hash === baseline) return 0
    return sent !== undefined && differences(sent.listing, shown, feed.plan.volatile.fields).length === 0 ? 1 : 2
  }
  const ranked: { id: number; rank: number }[] = []
  for (const shown of copies) if (shown.id !== null) ranked.push({ id: shown.id, rank: rank(shown) })
  const [stays, ...surplus] = ranked.sort((a, b) => a.rank - b.rank || a.id - b.id)
  const other = copies.find(({ hash }) => hash !== copies[0].hash)
  if (feed.plan.ownership === 'snapshot' && other !== undefined)
    return problem(
      `copies ${copies[0].id} and ${other.id} differ, and without marks (ownership: snapshot) nothing says whose they are: decide by hand`,
    )
  if (feed.listIdsAreNative && ranked.length === copies.length)
    return found({
      by: 'ID',
      stays: { id: stays.id, why: stays.rank < 2 ? 'it shows what was sent last' : 'it has the lowest ID' },
      surplus: surplus.map(({ id }) => id).sort((a, b) => a - b),
    })
  const identifier = row?.identifier ?? null
  if (identifier !== null && copies.length === 2) return found({ by: 'identifier', identifier })
  if (feed.mapping.delivery === 'delta')
    return problem(
      "no single copy can be named, and this feed's deliveries do not say again what a repair that is killed half-way took off: delete the surplus by hand, or run listing-sync probe, which learns whether the IDs of the list can be used",
    )
  return found({ by: 'anew', creates: sent !== undefined })
}

/** Why copies are not ours alone to delete, as a sentence; null: they are. */
export function strangerAmong(copies: readonly Shown[], feed: Feed): string | null {
  const stranger = copies.find(({ owner }) => isStrangers(owner, feed))
  if (stranger === undefined) return null
  const whose = stranger.owner === null ? "no feed's mark" : `the mark of feed ${stranger.owner}`
  return `copy ${stranger.id ?? 'without ID'} has ${whose}, so it is not ours to delete: decide by hand`
}

/** Whether a copy is somebody else's. With `ownership: tag` each copy without our mark is; with `snapshot`, only one with another feed's. */
function isStrangers(owner: string | null, { name, plan: { ownership } }: Feed): boolean {
  if (ownership === 'mirror') return false
  return ownership === 'tag' ? owner !== name : owner !== null && owner !== name
}
