/**
 * Two programs with a store each that start together may both create a listing. One copy stays. Each store deletes only its own
 * copy, by what Create answered for it, which no other store knows. With marks, the copy of the store whose name sorts first
 * stays. Without marks, the copy with the lowest ID stays, if the list shows as IDs what Create answered. Even if it does not, one
 * copy stays: the answers differ, so not every store can find its own among the IDs above the lowest.
 */
import { ServiceError } from '../core/errors.ts'
import { caughtUp } from '../core/listing.ts'
import type { Shown } from '../core/listing.ts'
import { many } from '../core/text.ts'
import type { ApplyContext } from './context.ts'
import { rowOf } from './outcomes.ts'

/** What became of copies that this store made beside another one's. */
export interface OwnCopies {
  gone: number
  /** Deleted by the service's word, and still shown: a list may lag. */
  stillShown: number
  failed: number
  /** Why the first of those failed. */
  problem: string
}

export const noCopies: OwnCopies = { gone: 0, stillShown: 0, failed: 0, problem: '' }

/** MLSNumbers that are shown twice, of which this run may delete a copy. */
export function* twiceShown({ workspace, orders }: ApplyContext): Generator<string> {
  if (!orders.takesOffCopies) return
  for (const { change } of workspace.changes('hold')) if (change.cause === 'twice-shown') yield change.mlsNumber
}

type IsOwn = (copy: Shown) => boolean

/** Deletes this store's copy if another store's stays. Copies that it can't tell apart are left to `repair`. Throws what ends the run. */
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
      // What is left is the other store's, and the next run takes it over.
      if (context.orders.saysOnce) await noteSaid(context, key)
      await store.snapshot.forget(feed.chatbot, [key], null)
      copies.gone++
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
    // No harm is done: another run tries again, or a person does.
    if (copies.failed++ === 0) copies.problem = error.message
  }
}

/** What copies are told apart and sorted by: the store that made it or, without marks, its ID. null: the copy is not this feed's. */
function placeOf({ service: { mark }, feed }: ApplyContext, { id, owner, by }: Shown): string | number | null {
  if (mark === null) return owner === null || owner === feed.name ? id : null
  return owner === mark && by !== undefined ? by.store : null
}

/** Whether this store's copy goes: all copies are this feed's, one alone is this store's, and another one sorts before it. */
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
    // If it may have landed, the mark stays, and the next list settles it.
    if (error instanceof ServiceError && error.effect === 'none')
      await store.ledger.end(feed.chatbot, [key], 'as-before')
    throw error
  }
}

/** Notes what a delta said last of a listing that is forgotten, so that the next run plans it again: no other delta says it. */
async function noteSaid(context: ApplyContext, key: string): Promise<void> {
  const { snapshot, deliveries } = context.store
  const { name, chatbot } = context.feed
  if ((await deliveries.pendingOf(name, [key])).has(key)) return
  const confirmed = (await snapshot.confirmed(chatbot, name, [key])).get(key)
  const row = await rowOf(context, key)
  if (confirmed === undefined || row === null) return
  const delivered = [
    { kind: 'listing' as const, at: 'a record of before its copy was taken off', ...caughtUp(confirmed) },
  ]
  await deliveries.notePending(name, [{ key, delivered, at: row.sentAt }], context.runtime.clock.now())
}

/** What became of copies, as sentences. */
export function notesOfCopies({ gone, stillShown, failed, problem }: OwnCopies, feed: string): string[] {
  const notes: string[] = []
  const say = (count: number, became: string): void => {
    if (count > 0)
      notes.push(
        `Another program created ${many(count, 'listing')}, too; the ${count === 1 ? 'copy' : 'copies'} of this one ${became}.`,
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
