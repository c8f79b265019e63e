import type { FieldName } from '../core/listing.ts'
import { dayIn } from '../core/zone.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { LastDelivery, RunRecord, SavedValidators } from '../store/store.ts'
import type { Feed, Readers } from './tools.ts'

/** What the store knows of a feed as a run of it begins. */
export interface Past {
  /** When the run is; every step goes by it. */
  moment: Moment
  /** What is known of the deliveries before this one. */
  last: LastDelivery
  /** No delivery was carried over whole to this chatbot. */
  isFirstLoad: boolean
  /** When a lost store was noticed for this feed: creates wait for `settle` from then. */
  lostAt: number | null
  /** No run of this feed on this store has ended without failing. */
  isNew: boolean
  /** The same, and it holds nothing of the feed. */
  isEmpty: boolean
  lastResult: RunRecord['result'] | null
  validators: SavedValidators | null
  /** How much the last runs hold. */
  held: number
  /** How much of that the guard holds and nobody has let go. */
  waiting: number
  /** The last delivery was held as older than the one before. */
  isOlder: boolean
  /** Fields already reported as shown otherwise than sent. */
  knownForms: FieldName[]
  /** The service is called with other keys than in the last run whose list was like ours. */
  otherKeys: boolean
  /** Most keys of one Delete: the profile's number, or less where a larger batch was refused. */
  deleteBatch: number
}

export async function recall({ name, chatbot, timezone, keys, deleteBatch }: Feed, tools: Readers): Promise<Past> {
  const { store } = tools
  const { snapshot, runs, deliveries, learnt, holds } = store
  const now = tools.runtime.clock.now()
  const lastKeys = await learnt.number(chatbot, 'keys')
  const isNew = (await runs.lastSuccess(name)) === null
  // The lease notes it so, too: what was done since is unknown, as after the loss of the store.
  const isBehind = !isNew && (await store.isBehind())
  const last = await deliveries.last(name)
  return {
    moment: { now, today: dayIn(timezone, now), timezone },
    last,
    isFirstLoad: last.loaded?.chatbot !== chatbot,
    lostAt: isBehind ? now : await runs.lostAt(name),
    isNew,
    isEmpty: isNew && (await snapshot.isEmpty(chatbot, name)),
    lastResult: (await runs.last(name))?.result ?? null,
    validators: await deliveries.validators(name),
    held: await holds.count(name),
    waiting: await holds.waiting(name, now),
    isOlder: await holds.isHeldBy(name, 'older', now),
    knownForms: await learnt.forms(name),
    otherKeys: lastKeys !== null && lastKeys !== keys,
    deleteBatch: Math.min(deleteBatch, (await learnt.number(chatbot, 'deleteBatch')) ?? deleteBatch),
  }
}
