/** What apply writes into the store and the workspace: confirmations, outcomes, and the changes that call nothing. */
import { contentHash } from '../core/hash.ts'
import { filledFields, listingAt } from '../core/listing.ts'
import type { Listing, MovingListing } from '../core/listing.ts'
import type { HeldKind } from '../plan/change.ts'
import type { Confirmation } from '../store/store.ts'
import type { OutcomeResult, StoredChange } from '../workspace/workspace.ts'
import type { ApplyContext } from './context.ts'

/** The listing that a change is about, as it goes out now, and how its record is recognised next time. */
export interface Outgoing {
  listing: Listing
  moving: MovingListing['moving']
  /** null: the record is the snapshot's own and stays as it is. */
  record: Confirmation['record']
  movesAt: number | null
}

/** Reads the wanted listing of a create, update or adoption: the delivered one, or the snapshot's own. */
export function outgoing({ workspace, store, runtime, settings }: ApplyContext, change: StoredChange): Outgoing {
  const now = runtime.clock.now()
  if (change.position === null) {
    const recalled = store.recall(change.snapshot!)
    const { openHouseUntil } = recalled.moving
    const movesAt = openHouseUntil !== undefined && openHouseUntil > now ? openHouseUntil : null
    return { listing: listingAt(recalled, now, settings.today), moving: recalled.moving, record: null, movesAt }
  }
  const row = workspace.deliveredAt(change.position)
  const { raw, parts, movesAt } = row
  return { listing: listingAt(row, now, settings.today), moving: row.moving, record: { raw, parts }, movesAt }
}

/** The confirmation of what went out. `unsettled`: an attempt may still land late, so no baseline is taken before `settle`. */
export function confirmation(
  context: ApplyContext,
  change: StoredChange,
  sent: Outgoing,
  unsettled: boolean,
): Confirmation {
  const { settings, runtime } = context
  const now = runtime.clock.now()
  return {
    key: change.mlsNumber,
    feed: settings.feed,
    sent: { listing: sent.listing, moving: sent.moving },
    content: contentHash(sent.listing, settings.volatile),
    record: sent.record,
    mapping: settings.mapping,
    filled: filledFields(sent.listing),
    at: now,
    movesAt: sent.movesAt,
    suspectUntil: unsettled || change.unsettled ? now + settings.settle : null,
    reason: change.reason,
    baseline: null,
  }
}

export function record(
  context: ApplyContext,
  change: StoredChange,
  result: OutcomeResult,
  error: string | null = null,
): void {
  context.workspace.recordOutcomes([{ seq: change.seq, outcome: { result, error } }])
  context.underWay.delete(change.seq)
  context.progress(1)
}

/** What is done uses its approval up: it lets a change through once. */
export function doneAs(context: ApplyContext, change: StoredChange, ...kinds: HeldKind[]): void {
  const { store, settings } = context
  for (const kind of kinds)
    if (settings.approved(kind, change.mlsNumber)) store.consumeApproval(settings.feed, kind, [change.mlsNumber])
  record(context, change, 'done')
}

/** Adoptions write the snapshot only: the service already shows what is wanted. */
export function adoptAll(context: ApplyContext): void {
  const { workspace, store, settings } = context
  for (const batch of chunks(workspace.changes('adopt'))) {
    const confirmations = batch.map((change) => ({
      ...confirmation(context, change, outgoing(context, change), false),
      reason: null,
      // An earlier call may still change what is shown.
      baseline: change.unsettled ? null : { hash: change.shownHash!, echo: {} },
    }))
    store.confirm(settings.chatbot, confirmations)
    for (const change of batch) doneAs(context, change, 'adopt')
  }
}

function* chunks(changes: Iterable<StoredChange>): Generator<StoredChange[]> {
  let batch: StoredChange[] = []
  for (const change of changes) {
    if (batch.push(change) < 500) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
