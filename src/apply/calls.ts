/** The calls of a plan, one function for each, and what each answer means. */
import { factsInPlace } from '../core/compare-listings.ts'
import { ServiceError } from '../core/errors.ts'
import { contentHash } from '../core/hash.ts'
import { homeHashOf } from '../core/home-hash.ts'
import type { FieldName, Shown } from '../core/listing.ts'
import { many } from '../core/text.ts'
import { countsOf } from '../plan/change.ts'
import type { Action, Create, Update } from '../plan/change.ts'
import type { CallKind } from '../plan/inputs.ts'
import { isInVain, refusedBefore } from '../plan/situation.ts'
import { NotSent } from '../service/retry.ts'
import type { Begun, Confirmation } from '../store/store.ts'
import type { OfKind, Respelled, Stored } from '../workspace/workspace.ts'
import { outranks } from './context.ts'
import type { ApplyContext } from './context.ts'
import {
  confirmation,
  done,
  isOfAnotherFeed,
  isOfAnotherRun,
  mayStillLand,
  outgoingOf,
  placeholdersOf,
  record,
  rowOf,
  shownOtherwise,
} from './outcomes.ts'
import type { Outgoing } from './outcomes.ts'

type Sent = Stored<Create | Update>
type Deleted = Stored<OfKind<'delete'>>

/**
 * Updates by MLSNumber, and removes the fields `clear`. If that matches nothing, the listing is looked up, and created if it is
 * really absent. Gives whether the update is confirmed and no earlier attempt may still land.
 */
export async function updateOne(context: ApplyContext, stored: Sent, clear: readonly FieldName[]): Promise<boolean> {
  const { service, feed, store } = context
  const { change } = stored
  const sent = await sendable(context, stored)
  if (sent === null) return false
  const mark = marksOf(context, 'update', [stored])
  let unsettled = false
  try {
    const answer = await service.update(sent.listing, clear, mark.beforeSend)
    unsettled = answer.unsettled
    if (answer.value >= 1) return confirm(context, stored, sent, unsettled, foundBy(change))
  } catch (error) {
    const refusal = asServiceError(error)
    if (refusal.kind !== 'refused') return no(notDone(context, mark, refusal))
    const shown = await lookUp(context, stored, 'unknown')
    if (shown === null) return false
    if (shown.length > 0) return no(refused(context, stored, sent, refusal, true))
    return no(createInstead(context, stored, sent, refusal.effect === 'unknown'))
  }
  const shown = await lookUp(context, stored, 'unknown')
  if (shown === null) return false
  if (shown.length === 0) return no(createInstead(context, stored, sent, unsettled))
  // Some services count only rows whose values changed: if it is shown as wanted, it is done, whatever was counted. A field that
  // can't be cleared (a number has no empty form) is no reason to try again in every run.
  if (shown.length === 1 && shownOtherwise(context, sent, shown[0]).every(({ to }) => to === null))
    return confirm(context, stored, sent, unsettled, foundBy(change))
  if (!unsettled && !change.unsettled && change.cause !== 'settle')
    await store.ledger.end(feed.chatbot, [change.mlsNumber], 'none')
  record(context, stored, 'failed', 'the service updated 0 records, though it lists this MLSNumber')
  return false
}

/** What goes out. null: the change is skipped, as facts of it are held and the service refused the rest before, which the plan can't tell. */
async function sendable(context: ApplyContext, stored: Sent): Promise<Outgoing | null> {
  const { plan, mapping, timezone } = context.feed
  const { mlsNumber, withheld } = stored.change
  const sent = await outgoingOf(context, stored.change)
  if (withheld.length === 0) return sent
  const content = contentHash(sent.listing, plan.volatile.fields)
  const when = { mapping: mapping.version, now: context.runtime.clock.now(), timezone }
  const refusal = refusedBefore(await rowOf(context, mlsNumber), content, when)
  if (refusal !== null) record(context, stored, 'skipped', refusal)
  return refusal === null ? sent : null
}

const no = (step: Promise<void>): Promise<boolean> => step.then(() => false)

/** If a create was planned and a look-up found the listing, it may be another one than the known identifier is of. */
const foundBy = ({ kind }: Create | Update): Pick<Confirmation, 'identifier'> =>
  kind === 'create' ? { identifier: null } : {}

/** Creates, after a look-up if the plan asks for one. A listing that turns out to be there is updated instead, if it may be. */
export async function createOne(context: ApplyContext, stored: Sent): Promise<void> {
  const { feed, orders, workspace } = context
  const { change } = stored
  // The list lacked a listing of this home, but a look-up found it, or was not made. The home must not be there twice.
  if (
    change.kind === 'create' &&
    orders.counts.forget > 0 &&
    change.home !== null &&
    workspace.isStillThere(change.home)
  )
    return record(context, stored, 'skipped', 'its home may be there under its old number: the next run decides')
  if (change.lookUp || orders.lookUpCreates) {
    const shown = await lookUp(context, stored, 'failed')
    if (shown === null) return
    if (shown.length > 1)
      return record(context, stored, 'failed', `${shown.length} listings on the service have this MLSNumber`)
    const another = shown.find((item) => isOfAnotherFeed(context, item))
    if (another !== undefined && !outranks(feed, another.owner))
      return record(context, stored, 'failed', `feed ${another.owner} of this chatbot has it`)
    if (shown.length === 1) {
      if (change.kind === 'create') context.foundBefore.set(change.mlsNumber, shown[0].hash)
      return void (await updateOne(
        context,
        await keepingFacts(context, stored, shown[0]),
        await clearedBy(context, change, shown[0].fields),
      ))
    }
    // An earlier call may still land, and this is the first look for it.
    if (change.cause === 'new' && change.unsettled) {
      await context.store.ledger.noteMissing(feed.chatbot, change.mlsNumber, context.runtime.clock.now())
      const minutes = Math.ceil(feed.plan.settle / 60_000)
      return record(
        context,
        stored,
        'skipped',
        `not there yet: created if it is not there in ${many(minutes, 'minute')} either`,
      )
    }
    // Look-ups may lag, or lack what the list lacks. An Update does no harm, and tells whether it is there.
    if (change.kind === 'create' && change.cause === 'gone-from-service' && !(await isUpdatedInVain(context, change)))
      return void (await updateOne(context, stored, []))
  }
  const sent = await sendable(context, stored)
  if (sent !== null) await sendCreate(context, stored, sent)
}

/**
 * Whether Updates told nothing of a listing that no list shows: they were answered time and again, over a week, as by a service that
 * counts what it does not find; or one of an earlier run got no answer, and should have landed before the list began.
 */
async function isUpdatedInVain(context: ApplyContext, { mlsNumber, unsettled }: Create): Promise<boolean> {
  const row = await rowOf(context, mlsNumber)
  return row !== null && ((row.flight === 'update' && !unsettled) || isInVain(row.undone, null, 0))
}

/** Creates what an update did not find. If an earlier call may still create it, waits for that as for a create without an answer. */
async function createInstead(context: ApplyContext, stored: Sent, sent: Outgoing, unsettled: boolean): Promise<void> {
  const { change } = stored
  const { store, feed, runtime } = context
  const now = runtime.clock.now()
  const row = await rowOf(context, change.mlsNumber)
  // What Create answered with success may land as late as what it did not answer.
  const isMadeJustNow = row !== null && row.baseline === null && now < row.sentAt + feed.plan.settle
  const mayBeMade = change.unsettled || isMadeJustNow || (await mayStillLand(context, change.mlsNumber))
  // What the service spells in its own way is there: nothing is to be waited for.
  if (!mayBeMade || (await respelledAs(context, stored)) !== null) return sendCreate(context, stored, sent, unsettled)
  await store.ledger.begin(feed.chatbot, feed.name, 'create', [{ key: change.mlsNumber, counts: [] }], now)
  await store.ledger.noteMissing(feed.chatbot, change.mlsNumber, now)
  record(context, stored, 'skipped', 'not there, and an earlier call may still make it: the next run decides')
}

/** Why a listing is neither created nor deleted. */
export const asRespelled = ({ sent, listed, isTaken }: Respelled): string =>
  isTaken === true
    ? `the service lists ${sent} as ${listed}, which is the MLSNumber of another listing: write one that differs from it in more than its spelling`
    : `the service lists ${sent} as ${listed}: write the MLSNumber as it does or, if somebody changed it there, delete ${listed} on the chatbot`

/**
 * What the service lists for a listing that the list lacks, and that is ours or may be made by an earlier call; null: nothing. The
 * home has to be the same. If another MLSNumber of the feed has that home, too, as for sale and for rent, the list has that one twice.
 */
async function respelledAs(context: ApplyContext, { seq, change }: Sent): Promise<Respelled | null> {
  const { mlsNumber: sent } = change
  const respelled = context.workspace.respelled(seq)
  if (respelled !== null || change.kind !== 'create') return respelled
  if (change.cause === 'new' && (await rowOf(context, sent))?.flight !== 'create') return null
  const { mark } = context.service
  for (const { listed, shown } of context.workspace.spelledAs(sent)) {
    // What an earlier create made bears the mark that was sent. What was there before may have lost it.
    const isAnothers = change.cause === 'new' ? shown.owner !== mark : isOfAnotherFeed(context, shown)
    if (isAnothers && mark !== null) continue
    if (homeHashOf(shown.fields) !== change.home) continue
    const row = await rowOf(context, listed)
    const isOther = row === null || (row.home !== null && row.home !== change.home)
    if (isOther || context.workspace.shownAs(listed).length > 1) return { sent, listed, isTaken: row?.owned === true }
  }
  return null
}

/** Sends a Create. `unsettled`: an update of this listing got no answer, and may still land on what is created. */
async function sendCreate(context: ApplyContext, stored: Sent, sent: Outgoing, unsettled = false): Promise<void> {
  const { service } = context
  if (context.orders.createsNothing) return record(context, stored, 'failed', 'another program fills this chatbot')
  // It would be there twice.
  const respelled = await respelledAs(context, stored)
  if (respelled !== null) return record(context, stored, 'failed', asRespelled(respelled))
  const mark = marksOf(context, 'create', [stored], unsettled)
  let identifier: string
  try {
    identifier = (await service.create(sent.listing, mark.beforeSend)).value
  } catch (error) {
    const failure = asServiceError(error)
    if (failure.kind !== 'refused') return notDone(context, mark, failure)
    const refusal = unsettled ? { message: failure.message, effect: 'unknown' as const } : failure
    return refused(context, stored, sent, refusal, unsettled)
  }
  await confirm(context, stored, sent, unsettled, { identifier: identifier === '' ? null : identifier })
}

/**
 * Deletes a batch. If the answer counts fewer deletes than keys, each key is looked up. A refused batch is halved. If both halves are
 * taken, it was too large, and their size is remembered: if not, it may have been refused for one of its keys. `unsettled`: an
 * earlier attempt with these keys got no answer and may still land. Gives whether all was taken.
 */
export async function deleteBatch(context: ApplyContext, batch: Deleted[], unsettled = false): Promise<boolean> {
  const { service, feed, store } = context
  const keys = batch.map(({ change }) => change.mlsNumber)
  const { identifier, isReplaced } = await identifierOf(context, batch)
  if (isReplaced) {
    record(context, batch[0], 'skipped', 'its listing has its new MLSNumber already: the next run forgets this one')
    return true
  }
  const mark = marksOf(context, 'delete', batch, unsettled)
  try {
    const answer = await (identifier === null
      ? service.delete(keys, mark.beforeSend)
      : service.deleteByNativeId(identifier, mark.beforeSend))
    unsettled ||= answer.unsettled
    context.miscounts ||= answer.value !== keys.length
    if (answer.value >= keys.length) {
      await Promise.all(batch.map((stored) => deleted(context, stored, unsettled)))
      return true
    }
  } catch (error) {
    const failure = asServiceError(error)
    if (failure.kind !== 'refused') return no(notDone(context, mark, failure))
    unsettled ||= failure.effect === 'unknown'
    // What was perhaps deleted before the refusal keeps its entry in the ledger.
    if (!unsettled) await mark.clear()
    if (batch.length > 1) {
      const half = Math.ceil(batch.length / 2)
      let isTaken = true
      for (const part of [batch.slice(0, half), batch.slice(half)])
        if (!(await deleteBatch(context, part, unsettled))) isTaken = false
      if (isTaken && half < context.deleteBatch) {
        context.deleteBatch = half
        await store.learnt.setNumber(feed.chatbot, 'deleteBatch', half)
      }
      return isTaken
    }
    const shown = await lookUp(context, batch[0], 'failed')
    if (shown === null) return false
    if (shown.length === 0) await deleted(context, batch[0], unsettled)
    else record(context, batch[0], 'failed', failure.message)
    return false
  }
  for (const stored of batch) {
    const { change } = stored
    const shown = await lookUp(context, stored, 'unknown')
    if (shown === null) continue
    if (shown.length === 0) await deleted(context, stored, unsettled)
    else {
      // An attempt without an answer may still delete it: then its mark and its ledger entry stay.
      if (!unsettled && !change.unsettled) await store.ledger.end(feed.chatbot, [change.mlsNumber], 'none')
      record(context, stored, 'failed', 'the service counted fewer deletes than keys, and still lists this one')
    }
  }
  return true
}

/**
 * What Create answered for a listing, if another one is there by now under the same MLSNumber in other letters. A service that ignores
 * their case would delete both by the MLSNumber. null: it goes by its MLSNumber. `isReplaced`: the service made no other listing.
 */
async function identifierOf({ workspace, store, feed }: ApplyContext, [{ seq, change }, ...others]: Deleted[]) {
  const other = others.length > 0 ? null : workspace.inOtherLetters(seq)
  if (other === null) return { identifier: null, isReplaced: false }
  const answered = (key: string): Promise<string | null> => store.snapshot.identifier(feed.chatbot, feed.name, key)
  const [identifier, comes] = [await answered(change.mlsNumber), await answered(other)]
  return { identifier, isReplaced: identifier !== null && identifier === comes }
}

/**
 * Forgets a listing if a look-up, too, shows that it is gone from the service or that another feed has it: one list alone is not
 * enough. Otherwise the next run decides.
 */
export async function forgetOne(context: ApplyContext, stored: Stored<OfKind<'forget'>>): Promise<void> {
  const shown = await lookUp(context, stored, 'failed')
  if (shown === null) return
  const isLetGo = stored.change.cause === 'other-feed' && shown.every((item) => isOfAnotherFeed(context, item))
  if (shown.length > 0 && !isLetGo)
    return record(context, stored, 'skipped', 'the service has it after all: the next run decides')
  await context.store.snapshot.forget(context.feed.chatbot, [stored.change.mlsNumber], null)
  await done(context, stored)
}

/**
 * Looks up, at the end of the run, what got no answer. If the service shows it, it is done. If not, it stays in flight, as it may
 * still land, and the look in vain is noted.
 */
export async function lookUpUnknown(context: ApplyContext): Promise<void> {
  const { workspace, service, store, feed, runtime } = context
  for (const kind of ['create', 'update'] as const) {
    for (const stored of workspace.changes(kind)) {
      if (stored.outcome?.result !== 'unknown') continue
      const { change } = stored
      try {
        const shown = await service.lookUp(change.mlsNumber)
        const sent = await outgoingOf(context, change)
        const arrived = shown.length === 1 && shownOtherwise(context, sent, shown[0]).length === 0
        // A create that was looked up first may have gone out as an update. Then it proves nothing that the listing is there.
        const isNew = kind === 'create' && !change.lookUp && !context.orders.lookUpCreates
        const isMade = isNew && shown.length === 1 && !isOfAnotherRun(context, shown[0])
        if (shown.length === 0) await store.ledger.noteMissing(feed.chatbot, change.mlsNumber, runtime.clock.now())
        else if (isMade || arrived) await confirm(context, stored, sent, true, { identifier: null })
      } catch (error) {
        asServiceError(error)
        return
      }
    }
  }
}

/** Notes a change as done. Gives whether no earlier attempt may still land. */
async function confirm(
  context: ApplyContext,
  stored: Sent,
  sent: Outgoing,
  unsettled: boolean,
  made: Pick<Confirmation, 'identifier'>,
): Promise<boolean> {
  const { store, feed } = context
  await store.snapshot.confirm(feed.chatbot, [confirmation(context, stored.change, sent, unsettled, made)])
  await done(context, stored)
  return !unsettled
}

/**
 * Notes a refusal with its message, so that the same content is not sent again at once. `isThere`: the listing exists, so that an
 * earlier update without an answer may still have changed it. In that case the mark stays, and the next list settles it.
 */
async function refused(
  context: ApplyContext,
  stored: Sent,
  sent: Outgoing,
  { message, effect }: Pick<ServiceError, 'message' | 'effect'>,
  isThere: boolean,
): Promise<void> {
  const { store, feed, runtime } = context
  const { change } = stored
  const { content } = confirmation(context, change, sent, false)
  const unsettled = isThere && (effect === 'unknown' || change.cause === 'settle' || change.unsettled)
  const refusal = { content, mapping: feed.mapping.version, at: runtime.clock.now(), message, unsettled }
  await store.snapshot.refuse(feed.chatbot, feed.name, change.mlsNumber, refusal)
  record(context, stored, 'failed', message)
}

async function deleted(context: ApplyContext, stored: Deleted, unsettled: boolean): Promise<void> {
  const { store, feed, runtime } = context
  const { change } = stored
  const unsettledAt = unsettled || change.unsettled ? runtime.clock.now() : null
  await store.snapshot.forget(feed.chatbot, [change.mlsNumber], unsettledAt)
  await done(context, stored)
}

/** Notes the outcomes of a call that neither succeeded nor was refused. An error that ends the run is thrown on afterwards. */
async function notDone(context: ApplyContext, mark: ReturnType<typeof marksOf>, failure: ServiceError): Promise<void> {
  for (const stored of mark.changes) {
    if (failure.effect === 'unknown') {
      record(context, stored, 'unknown', failure.message)
      continue
    }
    // A call that was never sent, as the run is ending, has not failed. It counts as skipped.
    if (!(failure instanceof NotSent)) record(context, stored, 'failed', failure.message)
  }
  // Marked anew, so that `settle` runs from the end of the attempt.
  if (failure.effect === 'unknown') await mark.beforeSend()
  else await mark.clear()
  if (failure.kind !== 'transient') throw failure
}

/** Looks up the listing of a change. If that fails, the change has the outcome `otherwise`: null. An error that ends the run is thrown on. */
export async function lookUp(
  context: ApplyContext,
  stored: Stored<Action>,
  otherwise: 'failed' | 'unknown',
): Promise<Shown[] | null> {
  try {
    return await context.service.lookUp(stored.change.mlsNumber)
  } catch (error) {
    const failure = asServiceError(error)
    record(context, stored, otherwise, `could not be looked up: ${failure.message}`)
    if (failure.kind === 'credentials' || failure.kind === 'stopped') throw failure
    return null
  }
}

/** The change with the facts that the service already shows in place of placeholders, which are for new listings only. */
export async function keepingFacts(context: ApplyContext, stored: Sent, shown: Shown): Promise<Sent> {
  const sent = await outgoingOf(context, stored.change)
  const facts = { ...stored.change.facts, ...factsInPlace(sent.listing, placeholdersOf(sent), shown) }
  return { ...stored, change: { ...stored.change, facts } }
}

/** The fields that are shown and not wanted. */
async function clearedBy(context: ApplyContext, change: Create | Update, shown: object): Promise<FieldName[]> {
  const { listing } = await outgoingOf(context, change)
  return (Object.keys(shown) as FieldName[]).filter((field) => listing[field] === undefined)
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  throw error
}

/**
 * The marks of one call. They are written again before each attempt, so that `settle` runs from the last one. `earlier`: an attempt
 * before this call may still land, so that `clear` leaves the marks.
 */
function marksOf(context: ApplyContext, kind: CallKind, changes: readonly Stored<Action>[], earlier = false) {
  const { store, feed, runtime, underWay } = context
  const mark = {
    changes,
    isMade: false,
    beforeSend: async (): Promise<void> => {
      mark.isMade = true
      const calls = changes.map((planned) => ({
        key: planned.change.mlsNumber,
        counts: countedBy(kind, planned, context),
      }))
      await store.ledger.begin(feed.chatbot, feed.name, kind, calls, runtime.clock.now())
      for (const { seq } of changes) underWay.add(seq)
    },
    /** Removes the marks of a call that surely had no effect, except marks of an earlier run that this one was to settle. */
    clear: async (): Promise<void> => {
      if (!mark.isMade || earlier) return
      const keys = changes
        .filter(({ change }) => change.cause !== 'settle' && !('unsettled' in change && change.unsettled))
        .map(({ change }) => change.mlsNumber)
      await store.ledger.end(feed.chatbot, keys, 'none')
    },
  }
  return mark
}

/** What a call counts as. Only a Create counts as `create`, and not during a first load. */
function countedBy(kind: CallKind, { change, weighed }: Stored<Action>, context: ApplyContext): Begun['counts'] {
  // Whoever switched the guard off has decided, as by an approval.
  const counts = context.feed.plan.limits.isOff ? [] : (weighed.counts ?? countsOf(change))
  if (kind === 'delete') return counts.length > 0 ? counts : ['left']
  return kind === 'create' && !context.orders.isFirstLoad ? counts : counts.filter((what) => what !== 'create')
}
