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
  return new Set(keys.filter((key) => isSeen(key) || workspace.isReadable(key)))
}

export interface Untold {
  /** MLSNumbers of which something is held and told; null: all is told. */
  readonly told: ReadonlySet<string> | null
  /** What is held of listings of which a full delivery has only a record that can't be read: it tells that they are there, and no more. */
  readonly unread: readonly Held[]
  /** Of how many listings something that waits is not told: it stays held. */
  readonly waiting: number
}

/**
 * Of what is held a delta tells only what it names, a live source without a walk over its keys nothing that it lacks, and a delivery
 * without a table beside it nothing of updates that it does not plan: they may be about what comes from there.
 */
export async function untoldOf(
  feed: Feed,
  tools: Tools,
  { mode, lacksTable, summary }: { mode: DeliveryMode; lacksTable: boolean; summary: DeliverySummary },
  now: number,
): Promise<Untold> {
  const unread = mode === 'full' && summary.rejects > 0 ? await unreadOf(feed, tools, now) : []
  const waiting = (some: readonly Held[]): number =>
    new Set(some.filter(isWaiting).map(({ mlsNumber }) => mlsNumber)).size
  if (mode === 'full' && !lacksTable) return { told: null, unread, waiting: waiting(unread) }
  const held = await tools.store.holds.held(feed.name, now)
  const keys = held.map(({ mlsNumber }) => mlsNumber)
  const told = mode === 'full' ? new Set(keys) : await toldOf(feed, tools, keys)
  if (lacksTable) {
    const planned = new Set<string>()
    for (const { change } of tools.workspace.changes()) planned.add(change.mlsNumber)
    for (const { mlsNumber, part } of held)
      if (part?.startsWith('update') === true && !planned.has(mlsNumber)) told.delete(mlsNumber)
  }
  const untold = held.filter(({ mlsNumber }) => !told.has(mlsNumber))
  return { told, unread, waiting: waiting([...untold, ...unread]) }
}

async function unreadOf(feed: Feed, tools: Tools, now: number): Promise<Held[]> {
  const { store, workspace } = tools
  const unread: Held[] = []
  if ((await store.holds.count(feed.name)) === 0) return unread
  for (const { mlsNumber } of workspace.rejects()) {
    if (mlsNumber === null) continue
    const held = await store.holds.held(feed.name, now, { mlsNumber })
    // That it is there is the end of a delete.
    const open = held.filter(({ part }) => part !== null && part !== 'delete' && part !== 'forget')
    if (open.length > 0 && (await toldOf(feed, tools, [mlsNumber])).size === 0) unread.push(...open)
  }
  return unread
}
