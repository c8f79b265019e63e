/**
 * Two programs with a store each, started together, may both create a listing. One copy stays, and each store takes off its
 * own alone: only it knows what Create answered for it. By the marks, that of the store whose name sorts first stays. Without
 * marks, that with the lowest ID, where the list shows as an ID what Create answered this store. Answers differ, so that not
 * every store can find its own among the IDs above the lowest: one copy stays, whatever the IDs have to do with the answers.
 */
import { ServiceError } from '../core/errors.ts'
import type { Shown } from '../core/listing.ts'
import type { ApplyContext } from './context.ts'
import { rowOf } from './outcomes.ts'

/** What became of copies that this store made beside another one's. */
export interface OwnCopies {
  gone: number
  /** Deleted, as the service said, and shown all the same; a list may lag. */
  stillShown: number
  failed: number
  /** Why the first of those failed. */
  problem: string
}

export const noCopies: OwnCopies = { gone: 0, stillShown: 0, failed: 0, problem: '' }

/** MLSNumbers that are shown twice, whose copies this run may take off. */
export function* twiceShown({ workspace, orders }: ApplyContext): Generator<string> {
  if (!orders.takesOffCopies) return
  for (const { change } of workspace.changes('hold')) if (change.cause === 'twice-shown') yield change.mlsNumber
}

type IsOwn = (copy: Shown) => boolean

/** Takes this store's copy off where another store's stays. What stays twice is left to `repair`. Throws what ends the run. */
export async function takeOffOwn(context: ApplyContext, key: string, copies: OwnCopies): Promise<void> {
  const { store, feed, service } = context
  const identifier = await store.snapshot.identifier(feed.chatbot, feed.name, key)
  if (identifier === null) return
  const own = service.mark === null ? identifier : service.stamp?.store
  const isOwn = (copy: Shown): boolean => String(placeOf(context, copy)) === own
  try {
    if (!isToGo(context, await service.lookUp(key), isOwn)) return
    await deleteOwn(context, key, identifier)
    const left = await service.lookUp(key)
    if (left.length === 0 || left.some(isOwn)) copies.stillShown++
    else {
      // What is there is the other store's: the next run takes it for what it is.
      if (context.orders.saysOnce) await noteSaid(context, key)
      await store.snapshot.forget(feed.chatbot, [key], null)
      copies.gone++
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
    // Another run tries again, or a person does: nothing rests on it.
    if (copies.failed++ === 0) copies.problem = error.message
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

async function deleteOwn(
  { store, feed, service, runtime }: ApplyContext,
  key: string,
  identifier: string,
): Promise<void> {
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
}

/** What a delta said last of a listing that is forgotten is planned again by the next run, as no other delta says so. */
async function noteSaid(context: ApplyContext, key: string): Promise<void> {
  const { snapshot, deliveries } = context.store
  const { name, chatbot } = context.feed
  if ((await deliveries.pendingOf(name, [key])).has(key)) return
  const said = (await snapshot.confirmed(chatbot, name, [key])).get(key)
  const row = await rowOf(context, key)
  if (said === undefined || row === null) return
  const delivered = [{ kind: 'listing' as const, at: 'a record of before its copy was taken off', ...said }]
  await deliveries.notePending(name, [{ key, delivered, at: row.sentAt }], context.runtime.clock.now())
}

/** As sentences. */
export function notesOfCopies({ gone, stillShown, failed, problem }: OwnCopies, feed: string): string[] {
  const notes: string[] = []
  const say = (count: number, became: string): void => {
    if (count > 0)
      notes.push(
        `Another program created ${count === 1 ? '1 listing' : `${count} listings`}, too; the ${count === 1 ? 'copy' : 'copies'} of this one ${became}.`,
      )
  }
  const were = (count: number): string => (count === 1 ? 'was' : 'were')
  say(gone, `${were(gone)} taken off, and the next run takes over what stays`)
  say(
    stillShown,
    `${were(stillShown)} deleted and ${stillShown === 1 ? 'is' : 'are'} still shown: the next run looks again`,
  )
  say(failed, `could not be taken off (${problem}): the next run tries again; or run listing-sync repair ${feed}`)
  return notes
}
