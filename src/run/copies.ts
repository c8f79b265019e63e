/**
 * MLSNumbers of a feed that the service shows more than once, and which of the copies stays: the one that shows what
 * was sent last, of equals the one with the lowest ID. Nothing is written here.
 */
import { differences } from '../core/compare-listings.ts'
import { ServiceError, UserError } from '../core/errors.ts'
import type { Shown } from '../core/listing.ts'
import { isSentinel } from '../core/sentinel.ts'
import { minuteOf } from '../core/text.ts'
import { situations } from '../plan/situation.ts'
import type { Situation } from '../plan/situation.ts'
import { observe } from './observe.ts'
import type { Feed, Readers } from './tools.ts'

/** One MLSNumber that is there more than once. IDs are those of the list items. */
export interface Duplicate {
  mlsNumber: string
  copies: number
  /** The copy to stay, and why it; null where nothing can be done. */
  stays: { id: number; why: string } | null
  /** The copies to go, in the order of their IDs. */
  surplus: number[]
  /** Why nothing can be done; null where something can. */
  problem: string | null
}

export interface Duplicates {
  found: Duplicate[]
  /** Listings of the feed that the service shows, each MLSNumber once. */
  ours: number
}

/** Walks the whole list. Throws `UserError` where it is not complete, `ServiceError` where it can't be had. */
export async function findDuplicates(feed: Feed, readers: Readers): Promise<Duplicates> {
  const { store, workspace } = readers
  const remote = await observe(feed, readers)
  if (!remote.complete)
    throw new UserError(`the service's list is incomplete, so nothing is repaired: ${remote.reasons.join(' ')}`)

  const sides = {
    delivered: [],
    snapshot: store.snapshot.rows(feed.chatbot),
    shown: workspace.shown(),
    history: nothing(),
    seen: () => false,
  }
  const found: Duplicate[] = []
  let ours = 0
  for await (const chunk of situations(sides, feed.name)) {
    for (const situation of chunk) {
      if (situation.shown.length === 0 || !isOurs(situation, feed)) continue
      ours++
      if (situation.shown.length > 1) found.push(await examine(situation, remote.startedAt, feed, readers))
    }
  }
  return { found, ours }
}

/** What is remembered of a listing beside its row says nothing about its copies. */
async function* nothing(): AsyncGenerator<never> {}

/** As the plan has it: in this feed's snapshot, created by it, or marked as its own. */
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
      `an earlier ${row.flight} got no answer and may still land: repair it after ${minuteOf(row.flightAt + feed.plan.settle)}`,
    )
  try {
    const copies = await readers.service.lookUp(key)
    return copies.length < 2
      ? problem('a look-up shows it once only: run repair again')
      : await choose(key, copies, feed, readers)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
    return problem(`it could not be looked up: ${error.message}`)
  }
}

function beyondRepair(mlsNumber: string, copies: number, problem: string): Duplicate {
  return { mlsNumber, copies, stays: null, surplus: [], problem }
}

async function choose(mlsNumber: string, copies: Shown[], feed: Feed, { store }: Readers): Promise<Duplicate> {
  const problem = (why: string) => beyondRepair(mlsNumber, copies.length, why)
  const stranger = copies.find(({ owner }) => isStrangers(owner, feed))
  if (stranger !== undefined) {
    const whose = stranger.owner === null ? "no feed's mark" : `the mark of feed ${stranger.owner}`
    return problem(`copy ${stranger.id ?? 'without ID'} has ${whose}, so it is not ours to delete: decide by hand`)
  }
  const baseline = (await store.snapshot.baselines(feed.chatbot, [mlsNumber])).get(mlsNumber)
  const sent = (await store.snapshot.confirmed(feed.chatbot, feed.name, [mlsNumber])).get(mlsNumber)
  const rank = (shown: Shown): number => {
    if (shown.hash === baseline) return 0
    return sent !== undefined && differences(sent.listing, shown, feed.plan.volatile.fields).length === 0 ? 1 : 2
  }
  const ranked: { id: number; rank: number; hash: string }[] = []
  for (const shown of copies) {
    if (shown.id === null) return problem('the list shows a copy without an ID, so no single copy can be deleted')
    ranked.push({ id: shown.id, rank: rank(shown), hash: shown.hash })
  }
  const [stays, ...surplus] = ranked.sort((a, b) => a.rank - b.rank || a.id - b.id)
  const other = surplus.find(({ hash }) => hash !== stays.hash)
  if (feed.plan.ownership === 'snapshot' && other !== undefined)
    return problem(
      `copies ${stays.id} and ${other.id} differ, and without marks (ownership: snapshot) nothing says whose they are: decide by hand`,
    )
  return {
    mlsNumber,
    copies: copies.length,
    stays: { id: stays.id, why: stays.rank < 2 ? 'it shows what was sent last' : 'it has the lowest ID' },
    surplus: surplus.map(({ id }) => id).sort((a, b) => a - b),
    problem: null,
  }
}

/** With marks, a copy without ours is somebody else's; without them, only one with a mark is. */
function isStrangers(owner: string | null, { name, plan: { ownership } }: Feed): boolean {
  if (ownership === 'mirror') return false
  return ownership === 'tag' ? owner !== name : owner !== null && owner !== name
}
