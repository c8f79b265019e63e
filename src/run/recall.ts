import { shortHash } from '../core/hash.ts'
import type { FieldName } from '../core/listing.ts'
import { dayIn } from '../core/zone.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { Stamp } from '../core/mark.ts'
import type { LastDelivery, SavedValidators, StoreReader, Writer } from '../store/store.ts'
import type { HeldPart } from '../plan/guard/hold.ts'
import type { Feed, Readers } from './tools.ts'

/** What the store knows of a feed as a run of it begins. */
export interface Past {
  /** The time of the run. Every step goes by it. */
  moment: Moment
  /** What is known of the deliveries before this one. */
  last: LastDelivery
  /** No delivery was carried over whole to this chatbot. */
  isFirstLoad: boolean
  /** This store and the run; other stores that wrote listings of this feed. */
  stamp: Stamp
  /** The run before, by the count of the marks; null: an earlier version made it, or none was made. */
  runBefore: number | null
  writers: ReadonlyMap<string, Writer>
  /** The store is a copy, was put back from a backup, or lost its last writes. */
  isBehind: boolean
  /** When a lost store was noticed for this feed: creates wait for `settle` from then. */
  lostAt: number | null
  /** The same, for the feed of the store that noticed it last. */
  lastLostAt: number | null
  /** No run of this feed on this store has ended without failing. */
  isNew: boolean
  /** The same, and the store has nothing of the feed. */
  isEmpty: boolean
  /** Validators to ask the source with whether it has changed; null: none, or "not modified" would prove nothing any more. */
  validators: SavedValidators | null
  /** Of how many listings the guard holds something that nobody has approved. */
  waiting: number
  /** The same, of what stays held if this delivery is not believed; of how many of these time lets something go. */
  surviving: { listings: number; timed: number }
  /** By part, of how many listings it holds one that goes by itself. */
  clocks: ReadonlyMap<HeldPart, number>
  /** By rule, of how many it holds something that nobody has approved. */
  waitingByRule: ReadonlyMap<string, number>
  /** The last complete delivery was read by another mapping, time zone or encoding, or other fields were volatile. */
  isNewMapping: boolean
  /** Fields that the service is known to show in a form of its own. */
  forms: ReadonlySet<FieldName>
  /** The service is called with other keys than in the feed's last run in which the rule `chatbot` found nothing. */
  otherKeys: boolean
  /** Most keys of one Delete: the profile's number, or less where a larger batch was refused. */
  deleteBatch: number
}

/** Under this name the store has the feed's last run, as its marks have it. */
export const lastRunOf = (feed: string): string => `run of ${feed}`

/** All that "not modified" rests on, as one value: what the feed is, its rows, and when the store was lost last. */
export async function basisOf(
  { name, chatbot, basis }: Feed,
  { snapshot }: StoreReader,
  lostAt: number | null,
): Promise<string> {
  return shortHash(JSON.stringify([basis, lostAt, await snapshot.fingerprint(chatbot, name)]))
}

/** Whether this feed never filled this chatbot. It did if it has rows there from before it loaded another chatbot. */
async function isFirstLoad(
  { name, chatbot }: Feed,
  { snapshot }: StoreReader,
  loaded: LastDelivery['loaded'],
): Promise<boolean> {
  if (loaded === null || loaded.chatbot === chatbot) return loaded === null
  for await (const page of snapshot.rows(chatbot))
    if (page.some(({ feed, owned, sentAt }) => feed === name && owned && sentAt < loaded.at)) return false
  return true
}

export async function recall(feed: Feed, tools: Readers): Promise<Past> {
  const { name, chatbot, timezone, keys, mapping, deleteBatch } = feed
  const { store } = tools
  const { snapshot, runs, deliveries, learnt, holds } = store
  const now = tools.runtime.clock.now()
  const lastKeys = await learnt.keys(chatbot, name)
  const isNew = (await runs.lastSuccess(name)) === null
  // A lease notes it likewise: what was done since is unknown, as after the loss of the store.
  const isBehind = await store.isBehind(chatbot)
  const lostAt = isBehind ? now : await runs.lostAt(name)
  const known = await deliveries.last(name)
  // The delivery that a restored store knows need not be the one before this. A lease forgets it for every feed, but a dry run
  // takes no lease.
  const last = isBehind ? { ...known, lastKey: null } : known
  const { validators } = last
  const isStillValid = validators !== null && validators.basis === (await basisOf(feed, store, lostAt))
  return {
    moment: { now, today: dayIn(timezone, now), timezone },
    last,
    isFirstLoad: await isFirstLoad(feed, store, last.loaded),
    stamp: await runs.stamp(),
    runBefore: await learnt.number(chatbot, lastRunOf(name)),
    writers: await learnt.writers(chatbot, name),
    isBehind,
    lostAt,
    lastLostAt: await runs.lostAt(null),
    isNew,
    isEmpty: isNew && (await snapshot.isEmpty(chatbot, name)),
    validators: isStillValid ? validators : null,
    waiting: await holds.waiting(name, now),
    waitingByRule: await holds.waitingByRule(name, now),
    surviving: await holds.surviving(name, now),
    clocks: await holds.clocks(name, now),
    isNewMapping: known.mapping !== null && known.mapping !== mapping.version,
    forms: new Set(await learnt.forms(name)),
    otherKeys: lastKeys !== null && lastKeys !== keys,
    deleteBatch: Math.min(deleteBatch, (await learnt.number(chatbot, 'deleteBatch')) ?? deleteBatch),
  }
}
