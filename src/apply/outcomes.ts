/** What apply writes into the store and the workspace: confirmations, outcomes, and the changes that call nothing. */
import { contentHash } from '../core/hash.ts'
import { filledFields, listingAt } from '../core/listing.ts'
import type { Listing, MovingListing } from '../core/listing.ts'
import type { Action, ActionKind, Adopt, Create, Update, Wanted } from '../plan/change.ts'
import type { Confirmation } from '../store/store.ts'
import type { OutcomeResult, Stored } from '../workspace/workspace.ts'
import type { ApplyContext } from './context.ts'

/** The listing that a change is about, as it goes out now, and how its record is recognised next time. */
export interface Outgoing {
  listing: Listing
  moving: MovingListing['moving']
  /** null: the record is the snapshot's own and stays as it is. */
  record: Confirmation['record']
  movesAt: number | null
}

/** Reads the wanted listings of creates, updates or adoptions: the delivered ones, or the snapshot's own. */
export async function outgoing(
  { workspace, store, runtime, settings }: ApplyContext,
  wanted: readonly Wanted[],
): Promise<Outgoing[]> {
  const now = runtime.clock.now()
  const own = wanted.flatMap((where) => ('snapshot' in where ? [where.snapshot] : []))
  const recalled = own.length > 0 ? await store.snapshot.recall(own) : null
  return wanted.map((where) => {
    if ('snapshot' in where) {
      const { listing, moving } = recalled!.get(where.snapshot)!
      const { openHouseUntil } = moving
      const movesAt = openHouseUntil !== undefined && openHouseUntil > now ? openHouseUntil : null
      return { listing: listingAt({ listing, moving }, now, settings.today), moving, record: null, movesAt }
    }
    const row = workspace.deliveredAt(where.delivered)
    const { raw, parts, movesAt } = row
    return { listing: listingAt(row, now, settings.today), moving: row.moving, record: { raw, parts }, movesAt }
  })
}

/** The confirmation of what went out. `unsettled`: an attempt may still land late, so no baseline is taken before `settle`. */
export function confirmation(
  context: ApplyContext,
  change: Create | Update | Adopt,
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
  { seq }: Stored,
  result: OutcomeResult,
  error: string | null = null,
): void {
  context.workspace.recordOutcomes([{ seq, outcome: { result, error } }])
  context.underWay.delete(seq)
  context.progress(1)
}

/** What is done uses its approval up: it lets a change through once. */
export async function doneAs(context: ApplyContext, stored: Stored<Action>, ...kinds: ActionKind[]): Promise<void> {
  const { store, settings } = context
  const { mlsNumber } = stored.change
  for (const kind of kinds)
    if (settings.approved(kind, mlsNumber)) await store.holds.use(settings.feed, kind, [mlsNumber])
  record(context, stored, 'done')
}

/** Adoptions write the snapshot only: the service already shows what is wanted. */
export async function adoptAll(context: ApplyContext): Promise<void> {
  const { workspace, store, settings } = context
  for (const batch of chunks(workspace.changes('adopt'))) {
    const wanted = batch.map(({ change }) => change.wanted)
    const sent = await outgoing(context, wanted)
    const confirmations = batch.map(({ change }, index) => ({
      ...confirmation(context, change, sent[index], false),
      reason: null,
      // An earlier call may still change what is shown.
      baseline: change.unsettled ? null : { hash: change.shownHash, echo: {} },
    }))
    await store.snapshot.confirm(settings.chatbot, confirmations)
    for (const stored of batch) await doneAs(context, stored, 'adopt')
  }
}

function* chunks<Item>(changes: Iterable<Item>): Generator<Item[]> {
  let batch: Item[] = []
  for (const change of changes) {
    if (batch.push(change) < 500) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
