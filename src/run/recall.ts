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
  /** When the run is; every step goes by it. */
  moment: Moment
  /** What is known of the deliveries before this one. */
  last: LastDelivery
  /** No delivery was carried over whole to this chatbot. */
  isFirstLoad: boolean
  /** This store and the run; other stores that wrote listings of this feed. */
  stamp: Stamp
  writers: ReadonlyMap<string, Writer>
  /** The store is a copy, an older state put back, or lost its end. */
  isBehind: boolean
  /** When a lost store was noticed for this feed: creates wait for `settle` from then. */
  lostAt: number | null
  /** The same, for whichever feed of the store that was last. */
  lastLostAt: number | null
  /** No run of this feed on this store has ended without failing. */
  isNew: boolean
  /** The same, and it holds nothing of the feed. */
  isEmpty: boolean
  /** What the source can be asked by whether it has changed, if "not modified" says the same now as it would have then. */
  validators: SavedValidators | null
  /** How much the guard holds and nobody has let go. */
  waiting: number
  /** Of how many listings it holds what goes by itself, by kind. */
  clocks: ReadonlyMap<HeldPart, number>
  /** The last delivery was held as older than the one before. */
  isOlder: boolean
  /** The last complete delivery was read by another mapping, time zone or encoding, or other fields moved by themselves. */
  isNewMapping: boolean
  /** Fields that the service is known to show in a form of its own. */
  forms: ReadonlySet<FieldName>
  /** The service is called with other keys than in the feed's last run whose list was like ours. */
  otherKeys: boolean
  /** Most keys of one Delete: the profile's number, or less where a larger batch was refused. */
  deleteBatch: number
}

/**
 * All that "not modified" rests on, as one value: what the feed is, the very rows that it had then, and that the store was
 * not lost meanwhile.
 */
export async function basisOf(
  { name, chatbot, basis }: Feed,
  { snapshot }: StoreReader,
  lostAt: number | null,
): Promise<string> {
  return shortHash(JSON.stringify([basis, lostAt, await snapshot.fingerprint(chatbot, name)]))
}

/** Whether this feed never filled this chatbot. It did if it has rows there from before it loaded another one. */
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
  // The lease notes it so, too: what was done since is unknown, as after the loss of the store.
  const isBehind = await store.isBehind()
  const lostAt = isBehind ? now : await runs.lostAt(name)
  const known = await deliveries.last(name)
  // A store that was put back knows of a delivery, but not that it was the one before. A lease has it forgotten for every feed; a
  // dry run takes none.
  const last = isBehind ? { ...known, lastKey: null } : known
  const { validators } = last
  const saysTheSame = validators !== null && validators.basis === (await basisOf(feed, store, lostAt))
  return {
    moment: { now, today: dayIn(timezone, now), timezone },
    last,
    isFirstLoad: await isFirstLoad(feed, store, last.loaded),
    stamp: await runs.stamp(),
    writers: await learnt.writers(chatbot, name),
    isBehind,
    lostAt,
    lastLostAt: await runs.lostAt(null),
    isNew,
    isEmpty: isNew && (await snapshot.isEmpty(chatbot, name)),
    validators: saysTheSame ? validators : null,
    waiting: await holds.waiting(name, now),
    clocks: await holds.clocks(name, now),
    isNewMapping: known.mapping !== null && known.mapping !== mapping.version,
    isOlder: await holds.isHeldBy(name, 'older', now),
    forms: new Set(await learnt.forms(name)),
    otherKeys: lastKeys !== null && lastKeys !== keys,
    deleteBatch: Math.min(deleteBatch, (await learnt.number(chatbot, 'deleteBatch')) ?? deleteBatch),
  }
}
