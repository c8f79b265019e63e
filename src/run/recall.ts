import type { FieldName } from '../core/listing.ts'
import { dayIn } from '../core/zone.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { DeliveryRecord, Generation, RunRecord, SavedValidators } from '../store/store.ts'
import type { Feed, Readers } from './tools.ts'

/** What the store knows of a feed as a run of it begins. */
export interface Past {
  /** When the run is; every step goes by it. */
  moment: Moment
  /** Accepted, complete deliveries, the latest first, five at most; `lastKeys` of the first. */
  deliveries: Pick<DeliveryRecord, 'at' | 'records'>[]
  lastKeys: BigUint64Array | null
  generations: Generation[]
  /** Keys in delete calls of the last 24 hours that no approval covered. */
  deletes24h: number
  /** When a lost store was noticed for this feed: creates wait for `settle` from then. */
  lostAt: number | null
  /** No run of this feed on this store has ended without failing, and it holds nothing of the feed. */
  isEmpty: boolean
  lastResult: RunRecord['result'] | null
  validators: SavedValidators | null
  /** Fields already reported as shown otherwise than sent. */
  knownForms: FieldName[]
  /** What an approval lets through, by `approvalKey`. */
  approved: ReadonlySet<string>
  /** When the feed last fought with another program over many listings; null: never. */
  driftedAt: number | null
  /** The service is called with other keys than in the last run whose list was like ours. */
  otherKeys: boolean
  /** Most keys of one Delete: the profile's number, or less where a larger batch was refused. */
  deleteBatch: number
}

export async function recall(
  { name, chatbot, source, timezone, keys, deleteBatch }: Feed,
  tools: Readers,
): Promise<Past> {
  const { store } = tools
  const { snapshot, ledger, runs, deliveries, learnt, holds } = store
  const now = tools.runtime.clock.now()
  const lastKeys = await learnt.number(chatbot, 'keys')
  const isNew = (await runs.lastSuccess(name)) === null
  // As the lease notes it: what was done since is as unknown as where the store was lost.
  const isBehind = !isNew && (await store.isBehind())
  return {
    moment: { now, today: dayIn(timezone, now), timezone },
    deliveries: await deliveries.accepted(name),
    lastKeys: await deliveries.lastKeys(name),
    generations: await deliveries.generations(name, source),
    deletes24h: await ledger.deletes24h(chatbot, name, now),
    lostAt: isBehind ? now : await runs.lostAt(name),
    isEmpty: isNew && (await snapshot.isEmpty(chatbot, name)),
    lastResult: (await runs.last(name))?.result ?? null,
    validators: await deliveries.validators(name),
    knownForms: await learnt.forms(name),
    approved: await holds.approved(name, now),
    driftedAt: await learnt.number(chatbot, driftOf(name)),
    otherKeys: lastKeys !== null && lastKeys !== keys,
    deleteBatch: Math.min(deleteBatch, (await learnt.number(chatbot, 'deleteBatch')) ?? deleteBatch),
  }
}

/** Under which name the store keeps when a feed last fought over many listings. */
export function driftOf(feed: string): string {
  return `drifted ${feed}`
}
