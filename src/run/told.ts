/** Of what a delivery says nothing, though it is whole: what is held of it neither ends nor is said again. */
import type { DeliverySummary } from '../core/listing.ts'
import type { DeliveryMode } from '../plan/proof.ts'
import type { Held } from '../store/store.ts'
import type { Feed, Readers } from './tools.ts'

type Tools = Pick<Readers, 'store' | 'workspace'>

/** A rule of the guard holds it, and no approval lets it go. */
export const isWaiting = ({ rules, decision }: Pick<Held, 'rules' | 'decision'>): boolean =>
  rules.length > 0 && decision?.is !== 'approved'

/** Of these MLSNumbers those of which the delivery says something: a record that can't be read says nothing. */
export async function toldOf(
  { name, chatbot }: Pick<Feed, 'name' | 'chatbot'>,
  { store, workspace }: Tools,
  keys: readonly string[],
): Promise<Set<string>> {
  const ids = await store.snapshot.ids(chatbot, name, keys)
  const isSeen = (key: string): boolean => ids.has(key) && workspace.isSeen(ids.get(key)!)
  return new Set(keys.filter((key) => isSeen(key) || workspace.deliveredAs(key).length > 0))
}

export interface Untold {
  /** MLSNumbers of which something is held and told; null: all is told. */
  readonly told: ReadonlySet<string> | null
  /** How many others have something that waits: it stays held. */
  readonly waiting: number
}

/**
 * Of what is held a delta tells only what it names, a live source without a walk over its keys nothing that it lacks, and a delivery
 * without a table beside it nothing of updates that it does not plan: they may be about what comes from there. That a record can't be
 * read tells that its listing is there, and no more.
 */
export async function untoldOf(
  feed: Feed,
  tools: Tools,
  { mode, lacksTable, summary }: { mode: DeliveryMode; lacksTable: boolean; summary: DeliverySummary },
  now: number,
): Promise<Untold> {
  if (mode === 'full' && !lacksTable && summary.rejects === 0) return { told: null, waiting: 0 }
  const { store, workspace } = tools
  const held = await store.holds.held(feed.name, now)
  const keys = held.map(({ mlsNumber }) => mlsNumber)
  const readable = await toldOf(feed, tools, keys)
  const told = mode === 'full' ? new Set(keys) : readable
  const planned = new Set<string>()
  if (lacksTable) for (const { change } of workspace.changes()) planned.add(change.mlsNumber)
  for (const { mlsNumber, part } of held) {
    const isUnread = workspace.isDelivered(mlsNumber) && !readable.has(mlsNumber)
    const isOfTable = lacksTable && part?.startsWith('update') === true && !planned.has(mlsNumber)
    if (isOfTable || (isUnread && part !== null && part !== 'delete' && part !== 'forget')) told.delete(mlsNumber)
  }
  const waits = held.filter(({ mlsNumber, ...one }) => isWaiting(one) && !told.has(mlsNumber))
  return { told, waiting: new Set(waits.map(({ mlsNumber }) => mlsNumber)).size }
}
