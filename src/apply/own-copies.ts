/**
 * Two programs with a store each, started together, may both create a listing. One copy stays, and each store takes off its
 * own alone: only it knows what Create answered for it. By the marks, that of the store whose name sorts first stays. Without
 * marks, that with the lowest ID, where the list shows as an ID what Create answered this store. Answers differ, so that not
 * every store can find its own among the IDs above the lowest: one copy stays, whatever the IDs have to do with the answers.
 */
import { ServiceError } from '../core/errors.ts'
import type { Shown } from '../core/listing.ts'
import type { ApplyContext } from './context.ts'

type IsOwn = (copy: Shown) => boolean

/** Takes off this store's copies where another store's stays. What stays twice is left to `repair`. */
export async function takeOffOwnCopies(context: ApplyContext): Promise<void> {
  const { workspace, store, feed, service, signal, stop } = context
  for (const { change } of workspace.changes('hold')) {
    if (change.cause !== 'twice-shown' || !context.orders.takesOffCopies) continue
    if (stop.reason !== null || signal.aborted) return
    const key = change.mlsNumber
    const identifier = await store.snapshot.identifier(feed.chatbot, feed.name, key)
    if (identifier === null) continue
    const own = service.mark === null ? identifier : service.stamp?.store
    const isOwn = (copy: Shown): boolean => String(placeOf(context, copy)) === own
    try {
      if (isToGo(context, await service.lookUp(key), isOwn)) await takeOff(context, key, identifier, isOwn)
    } catch (error) {
      // Another run tries again, or a person does: nothing rests on it.
      if (!(error instanceof ServiceError)) throw error
      return
    }
  }
}

/** What tells copies apart, and which one comes first: the store that made it; without marks, its ID. null: not this feed's. */
function placeOf({ service: { mark }, feed }: ApplyContext, { id, owner, by }: Shown): string | number | null {
  if (mark === null) return owner === null || owner === feed.name ? id : null
  return owner === mark && by !== undefined ? by.store : null
}

/** Whether one copy alone is of this store, and another one comes before it; all of them have to be this feed's. */
function isToGo(context: ApplyContext, copies: readonly Shown[], isOwn: IsOwn): boolean {
  const [own = null, ...others] = copies.filter(isOwn).map((copy) => placeOf(context, copy))
  const places = copies.flatMap((copy) => placeOf(context, copy) ?? [])
  if (own === null || others.length > 0 || places.length < copies.length) return false
  return places.some((place) => place < own)
}

async function takeOff(context: ApplyContext, key: string, identifier: string, isOwn: IsOwn): Promise<void> {
  const { store, feed, service, runtime } = context
  const mark = (): Promise<void> =>
    store.ledger.begin(feed.chatbot, feed.name, 'delete', [{ key, counts: [] }], runtime.clock.now())
  try {
    await service.deleteByNativeId(identifier, mark)
  } catch (error) {
    // Where it may have landed, what is shown next settles it.
    if (error instanceof ServiceError && error.effect === 'none')
      await store.ledger.end(feed.chatbot, [key], 'as-before')
    throw error
  }
  const left = await service.lookUp(key)
  const isGone = left.length > 0 && !left.some(isOwn)
  // What is there is the other store's: the next run takes it for what it is.
  if (isGone) await store.snapshot.forget(feed.chatbot, [key], null)
  else runtime.log.error({ feed: feed.name, mlsNumber: key }, 'a copy of a listing could not be taken off; see repair')
}
