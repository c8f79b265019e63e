/** One call and what its answer means. */
import { differences } from '../core/compare-listings.ts'
import { ServiceError } from '../core/errors.ts'
import type { FieldName, Shown } from '../core/listing.ts'
import type { Action, Create, Update } from '../plan/change.ts'
import type { CallKind } from '../plan/inputs.ts'
import type { OfKind, Stored } from '../workspace/workspace.ts'
import type { ApplyContext } from './context.ts'
import { confirmation, doneAs, outgoing, record } from './outcomes.ts'
import type { Outgoing } from './outcomes.ts'

type Sent = Stored<Create | Update>
type Deleted = Stored<OfKind<'delete'>>

/**
 * Updates by MLSNumber and makes the fields `clear` disappear. What matches nothing is looked up, and created if it is really
 * absent.
 */
export async function updateOne(context: ApplyContext, stored: Sent, clear: readonly FieldName[]): Promise<void> {
  const { service, settings, store } = context
  const { change } = stored
  const [sent] = await outgoing(context, [change.wanted])
  const mark = new Mark(context, 'update', [stored])
  let unsettled = false
  try {
    const answer = await service.update(sent.listing, clear, mark.beforeSend)
    unsettled = answer.unsettled
    if (answer.value >= 1) return confirm(context, stored, sent, unsettled)
  } catch (error) {
    const refusal = asServiceError(error)
    if (refusal.kind !== 'refused') return notDone(context, mark, refusal)
    const shown = await lookUp(context, stored, 'unknown')
    if (shown === null) return
    if (shown.length > 0) return refused(context, stored, sent, refusal, true)
    return sendCreate(context, stored, sent, refusal.effect === 'unknown')
  }
  const shown = await lookUp(context, stored, 'unknown')
  if (shown === null) return
  if (shown.length === 0) return sendCreate(context, stored, sent, unsettled)
  // Some services count only rows whose values really changed: shown as wanted is done, whatever was counted. A field
  // that is to go and can't be made to (a number has no empty form, U4) is no reason to try again in every run.
  if (shown.length === 1 && differences(sent.listing, shown[0], settings.volatile).every(({ to }) => to === null))
    return confirm(context, stored, sent, unsettled)
  if (!unsettled && !change.unsettled && change.cause !== 'settle')
    await store.ledger.end(settings.chatbot, [change.mlsNumber], 'none')
  record(context, stored, 'failed', 'the service updated 0 records, though it lists this MLSNumber')
}

/** Creates, after a look-up where the plan asks for one; what turns out to be there is updated instead, if it may be. */
export async function createOne(context: ApplyContext, stored: Sent): Promise<void> {
  const { settings, service } = context
  const { change } = stored
  if (change.lookUp || settings.lookUpCreates) {
    const shown = await lookUp(context, stored, 'failed')
    if (shown === null) return
    if (shown.length > 1)
      return record(context, stored, 'failed', `${shown.length} listings on the service have this MLSNumber`)
    const owner = shown[0]?.owner ?? null
    if (service.mark !== null && owner !== null && owner !== service.mark && !settings.outranks(owner))
      return record(context, stored, 'failed', `feed ${owner} of this chatbot has it`)
    if (shown.length === 1) return updateOne(context, stored, await clearedBy(context, change, shown[0].fields))
    // A list that lags behind hides what was made just now. An Update does no harm, and tells whether it is there (F86).
    if (change.kind === 'create' && change.unseen) return updateOne(context, stored, [])
  }
  const [sent] = await outgoing(context, [change.wanted])
  await sendCreate(context, stored, sent)
}

/** `unsettled`: an update of this listing got no answer before, and may land on what is created now. */
async function sendCreate(context: ApplyContext, stored: Sent, sent: Outgoing, unsettled = false): Promise<void> {
  const { service } = context
  const mark = new Mark(context, 'create', [stored], unsettled)
  try {
    await service.create(sent.listing, mark.beforeSend)
  } catch (error) {
    const failure = asServiceError(error)
    if (failure.kind !== 'refused') return notDone(context, mark, failure)
    const refusal = unsettled ? { message: failure.message, effect: 'unknown' as const } : failure
    return refused(context, stored, sent, refusal, unsettled)
  }
  await confirm(context, stored, sent, unsettled)
}

/**
 * Deletes a batch. A short count is looked up key by key (U6); a refused batch is halved, and the size remembered (U7).
 * `unsettled`: an earlier attempt with these keys got no answer and may still land.
 */
export async function deleteBatch(context: ApplyContext, batch: Deleted[], unsettled = false): Promise<void> {
  const { service, settings, store } = context
  const keys = batch.map(({ change }) => change.mlsNumber)
  const mark = new Mark(context, 'delete', batch, unsettled)
  try {
    const answer = await service.delete(keys, mark.beforeSend)
    unsettled ||= answer.unsettled
    if (answer.value >= keys.length) {
      for (const stored of batch) await deleted(context, stored, unsettled)
      return
    }
  } catch (error) {
    const failure = asServiceError(error)
    if (failure.kind !== 'refused') return notDone(context, mark, failure)
    unsettled ||= failure.effect === 'unknown'
    // What was perhaps deleted before it was refused keeps its place in the ledger.
    if (!unsettled) await mark.clear()
    if (batch.length > 1) {
      const half = Math.ceil(batch.length / 2)
      if (half < context.deleteBatch) {
        context.deleteBatch = half
        await store.learnt.setNumber(settings.chatbot, 'deleteBatch', half)
      }
      await deleteBatch(context, batch.slice(0, half), unsettled)
      return deleteBatch(context, batch.slice(half), unsettled)
    }
    const shown = await lookUp(context, batch[0], 'failed')
    if (shown === null) return
    if (shown.length === 0) return deleted(context, batch[0], unsettled)
    return record(context, batch[0], 'failed', failure.message)
  }
  for (const stored of batch) {
    const { change } = stored
    const shown = await lookUp(context, stored, 'unknown')
    if (shown === null) continue
    if (shown.length === 0) await deleted(context, stored, unsettled)
    else {
      // An attempt without answer may still take it, so its mark and its place in the ledger stay.
      if (!unsettled && !change.unsettled) await store.ledger.end(settings.chatbot, [change.mlsNumber], 'none')
      record(context, stored, 'failed', 'the service counted fewer deletes than keys, and still lists this one')
    }
  }
}

/**
 * Forgets a listing once a look-up shows that it is gone from the service, as one list that lacks it is not enough; else
 * the next run decides what to do with it.
 */
export async function forgetOne(context: ApplyContext, stored: Stored<OfKind<'forget'>>): Promise<void> {
  const shown = await lookUp(context, stored, 'failed')
  if (shown === null) return
  if (shown.length > 0) return record(context, stored, 'skipped', 'the service has it after all: the next run decides')
  await context.store.snapshot.forget(context.settings.chatbot, [stored.change.mlsNumber], null)
  await doneAs(context, stored, 'forget')
}

/** At the end of the run: a create without answer is done if the service shows it; absent it stays in flight, as it may still land. */
export async function lookUpUnknown(context: ApplyContext): Promise<void> {
  const { workspace, service } = context
  for (const kind of ['create', 'update'] as const) {
    for (const stored of workspace.changes(kind)) {
      if (stored.outcome?.result !== 'unknown') continue
      const { change } = stored
      try {
        const shown = await service.lookUp(change.mlsNumber)
        const [sent] = await outgoing(context, [change.wanted])
        const arrived =
          shown.length === 1 && differences(sent.listing, shown[0], context.settings.volatile).length === 0
        // A create that was looked up first may have gone out as an update: that the listing is there proves nothing then.
        const isNew = kind === 'create' && !change.lookUp && !context.settings.lookUpCreates
        if (isNew ? shown.length === 1 : arrived) await confirm(context, stored, sent, true)
      } catch (error) {
        asServiceError(error)
        return
      }
    }
  }
}

async function confirm(context: ApplyContext, stored: Sent, sent: Outgoing, unsettled: boolean): Promise<void> {
  const { store, settings } = context
  await store.snapshot.confirm(settings.chatbot, [confirmation(context, stored.change, sent, unsettled)])
  await doneAs(context, stored, 'create', 'update')
}

/**
 * A refusal is kept with its message, so that the same content is not sent again at once. `isThere`: an update without
 * answer before it may have changed what is there, so the mark stays and what is shown next settles it.
 */
async function refused(
  context: ApplyContext,
  stored: Sent,
  sent: Outgoing,
  { message, effect }: Pick<ServiceError, 'message' | 'effect'>,
  isThere: boolean,
): Promise<void> {
  const { store, settings, runtime } = context
  const { change } = stored
  const { content } = confirmation(context, change, sent, false)
  const unsettled = isThere && (effect === 'unknown' || change.cause === 'settle' || change.unsettled)
  const refusal = { content, mapping: settings.mapping, at: runtime.clock.now(), message, unsettled }
  await store.snapshot.refuse(settings.chatbot, settings.feed, change.mlsNumber, refusal)
  record(context, stored, 'failed', message)
}

async function deleted(context: ApplyContext, stored: Deleted, unsettled: boolean): Promise<void> {
  const { store, settings, runtime } = context
  const { change } = stored
  const unsettledAt = unsettled || change.unsettled ? runtime.clock.now() : null
  await store.snapshot.forget(settings.chatbot, [change.mlsNumber], unsettledAt)
  await doneAs(context, stored, 'delete')
}

/** A call that did not succeed and was not refused. What ends the run is thrown on, once the outcomes are noted. */
async function notDone(context: ApplyContext, mark: Mark, failure: ServiceError): Promise<void> {
  for (const stored of mark.changes) {
    if (failure.effect === 'unknown') {
      record(context, stored, 'unknown', failure.message)
      continue
    }
    // A call that never went out because the run is ending was skipped, not failed.
    if (mark.sent || failure.kind === 'transient') record(context, stored, 'failed', failure.message)
  }
  if (failure.effect === 'unknown') await mark.beforeSend()
  else await mark.clear()
  if (failure.kind !== 'transient') throw failure
}

/** A look-up that fails leaves the change with `otherwise` for its outcome, and gives null; what ends the run is thrown on. */
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

async function clearedBy(context: ApplyContext, change: Create | Update, shown: object): Promise<FieldName[]> {
  const [{ listing }] = await outgoing(context, [change.wanted])
  return (Object.keys(shown) as FieldName[]).filter((field) => listing[field] === undefined)
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  throw error
}

/** The marks of one call: written again before each attempt, so that the time to settle runs from the last one. */
export class Mark {
  readonly changes: readonly Stored<Action>[]
  readonly beforeSend: () => Promise<void>
  sent = false
  #context: ApplyContext
  readonly #earlier: boolean

  /** `earlier`: an attempt before this call may still land, so that the marks outlast it. */
  constructor(context: ApplyContext, kind: CallKind, changes: readonly Stored<Action>[], earlier = false) {
    this.changes = changes
    this.#earlier = earlier
    this.#context = context
    this.beforeSend = async () => {
      this.sent = true
      const { store, settings, runtime } = context
      for (const approved of [true, false]) {
        const keys = changes
          .map(({ change }) => change.mlsNumber)
          .filter((key) => settings.approved(kind, key) === approved)
        if (keys.length > 0)
          await store.ledger.begin(settings.chatbot, settings.feed, kind, keys, runtime.clock.now(), approved)
      }
      for (const { seq } of changes) context.underWay.add(seq)
    }
  }

  /** Takes back marks of calls that surely had no effect. A mark of an earlier run, which this one was to settle, stays. */
  async clear(): Promise<void> {
    if (!this.sent || this.#earlier) return
    const keys = this.changes
      .filter(({ change }) => change.cause !== 'settle' && !('unsettled' in change && change.unsettled))
      .map(({ change }) => change.mlsNumber)
    await this.#context.store.ledger.end(this.#context.settings.chatbot, keys, 'none')
  }
}
