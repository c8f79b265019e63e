/**
 * Two programs with a store each, started together, may both create a listing. Of copies that two stores made, that of the
 * store whose name sorts first stays, and each store takes off its own: it alone knows what Create answered for it.
 */
import { ServiceError } from '../core/errors.ts'
import type { Shown } from '../core/listing.ts'
import type { ApplyContext } from './context.ts'

/** Takes off this store's copies where another store's stays. What stays twice is left to `repair`. */
export async function takeOffOwnCopies(context: ApplyContext): Promise<void> {
  const { workspace, store, feed, service, signal, stop } = context
  for (const { change } of workspace.changes('hold')) {
    if (change.cause !== 'twice-shown' || !context.orders.takesOffCopies) continue
    if (stop.reason !== null || signal.aborted) return
    const key = change.mlsNumber
    const identifier = await store.snapshot.identifier(feed.chatbot, feed.name, key)
    if (identifier === null) continue
    try {
      if (isOursToTakeOff(context, await service.lookUp(key))) await takeOff(context, key, identifier)
    } catch (error) {
      // Another run tries again, or a person does: nothing rests on it.
      if (!(error instanceof ServiceError)) throw error
      return
    }
  }
}

/** Whether all copies are of this feed, one of them of this store, and one of a store that comes before it. */
function isOursToTakeOff({ service }: ApplyContext, copies: readonly Shown[]): boolean {
  const { mark, stamp } = service
  if (mark === null || stamp === null || copies.length < 2) return false
  const stores = copies.flatMap(({ owner, by }) => (owner === mark && by !== undefined ? [by.store] : []))
  if (stores.length < copies.length || stores.filter((one) => one === stamp.store).length !== 1) return false
  return stores.some((one) => one < stamp.store)
}

async function takeOff(context: ApplyContext, key: string, identifier: string): Promise<void> {
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
  const isGone = left.length > 0 && left.every(({ by }) => by?.store !== service.stamp?.store)
  // What is there is the other store's: the next run takes it for what it is.
  if (isGone) await store.snapshot.forget(feed.chatbot, [key], null)
  else runtime.log.error({ feed: feed.name, mlsNumber: key }, 'a copy of a listing could not be taken off; see repair')
}
