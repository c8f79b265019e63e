/** What apply writes into store and workspace: confirmations, outcomes, and changes without a call. */
import { batches } from '../core/batches.ts'
import { differences } from '../core/compare-listings.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import { contentHash } from '../core/hash.ts'
import { caughtUp, listingAt, movesAt, volatileOf } from '../core/listing.ts'
import type { FieldName, Listing, MovingListing, Shown } from '../core/listing.ts'
import type { OutcomeResult } from '../core/outcome.ts'
import { fieldsOf, isPutRight } from '../plan/change.ts'
import type { Action, Adopt, Create, Update, Wanted } from '../plan/change.ts'
import type { SnapshotRow } from '../plan/inputs.ts'
import { homeHashOf } from '../core/home-hash.ts'
import type { Confirmation } from '../store/store.ts'
import type { Stored } from '../workspace/workspace.ts'
import type { ApplyContext } from './context.ts'
import { homeIn } from './home.ts'

/** A listing as it goes out now, and by what its record is recognised next time. */
export type Outgoing = MovingListing & Pick<Confirmation, 'record' | 'movesAt'>

/** Reads the wanted listings of creates, updates or adoptions: the delivered ones, or the snapshot's own. */
export async function outgoing(
  { workspace, store, runtime, orders }: ApplyContext,
  wanted: readonly Wanted[],
): Promise<Outgoing[]> {
  const now = runtime.clock.now()
  const own = wanted.flatMap((where) => ('snapshot' in where ? [where.snapshot] : []))
  const recalled = own.length > 0 ? await store.snapshot.recall(own) : null
  return wanted.map((where) => {
    if ('snapshot' in where) {
      const { listing, moving } = caughtUp(recalled!.get(where.snapshot)!)
      const due = listingAt({ listing, moving }, now, orders.today)
      return { listing: due, moving, record: null, movesAt: movesAt(moving, now) }
    }
    const row = workspace.deliveredAt(where.delivered)
    const { raw, parts, moving } = row
    return { listing: listingAt(row, now, orders.today), moving, record: { raw, parts }, movesAt: row.movesAt }
  })
}

/** What a create or update sends: the wanted listing, with fields that the guard holds as they were sent last. Throws if nothing was. */
export async function outgoingOf(context: ApplyContext, change: Create | Update): Promise<Outgoing> {
  const [wanted] = await outgoing(context, [change.wanted])
  const sent = withFacts(wanted, change.facts)
  if (change.withheld.length === 0) return sent
  const { name, chatbot } = context.feed
  const before = (await context.store.snapshot.confirmed(chatbot, name, [change.mlsNumber])).get(change.mlsNumber)
  if (before === undefined) throw new Error(`Nothing is known to have been sent of ${change.mlsNumber}`)
  const kept = Object.fromEntries(change.withheld.map((field) => [field, before.listing[field]]))
  const listing = Object.entries({ ...sent.listing, ...kept }).filter(([, value]) => value !== undefined)
  // Not all that the record says was sent, so it must be parsed again next time.
  return {
    ...sent,
    listing: Object.fromEntries(listing) as unknown as Listing,
    record: sent.record && { ...sent.record, raw: null },
  }
}

/** The listing with facts in place of its placeholders. */
function withFacts(sent: Outgoing, facts: Partial<Listing> | undefined): Outgoing {
  if (facts === undefined) return sent
  const placeholders = placeholdersOf(sent).filter((field) => facts[field] === undefined)
  return { ...sent, listing: { ...sent.listing, ...facts }, moving: { ...sent.moving, placeholders } }
}

/** An adopted listing of which an earlier version was sent: its volatile fields stay as they were then, and wait for their turn. */
function unsent(wanted: Outgoing, before: MovingListing | undefined, volatile: ReadonlySet<FieldName>): Outgoing {
  if (before === undefined) return wanted
  const { listing } = caughtUp({ listing: wanted.listing, moving: { since: volatileOf(before.listing, volatile) } })
  return { ...wanted, listing, moving: { ...wanted.moving, since: volatileOf(wanted.listing, volatile) } }
}

export const placeholdersOf = ({ moving }: Outgoing): readonly FieldName[] => moving.placeholders ?? []

/** Whether its mark says that another run or store wrote it last. Without a readable mark it does not. */
export function isOfAnotherRun({ service: { stamp } }: ApplyContext, { by }: Shown): boolean {
  return by !== undefined && (by.store !== stamp?.store || by.run !== stamp.run)
}

/** The snapshot row of an MLSNumber as it is now: this run may have written it. */
export async function rowOf({ store, feed }: ApplyContext, mlsNumber: string): Promise<SnapshotRow | null> {
  return (await store.snapshot.rowsOf(feed.chatbot, [mlsNumber])).get(mlsNumber) ?? null
}

/** Whether an earlier attempt of a call that was answered may still land on a listing. */
export async function mayStillLand(context: ApplyContext, mlsNumber: string): Promise<boolean> {
  const row = await rowOf(context, mlsNumber)
  return (row?.suspectUntil ?? 0) > context.runtime.clock.now()
}

/** Whether its mark says that it is another feed's. Without a mark it does not. */
export function isOfAnotherFeed({ service: { mark } }: ApplyContext, shown: Shown): shown is Shown & { owner: string } {
  return mark !== null && shown.owner !== null && shown.owner !== mark
}

/** The fields that are shown otherwise than they were sent. For a placeholder, any value is right. */
export function shownOtherwise({ feed }: ApplyContext, sent: Outgoing, shown: Shown): FieldChange[] {
  return differences(sent.listing, shown, new Set([...feed.plan.volatile.fields, ...placeholdersOf(sent)]))
}

/** Whether the item's hash must change once this is done. A refresh of volatile fields changes only the mark, if there is one. */
export function isToShow({ service }: ApplyContext, { cause }: Action): boolean {
  return cause !== 'refresh' || service.mark !== null
}

/**
 * The confirmation of what went out. `unsettled`: an attempt may still land, so no baseline is taken before `settle`. `made`: what
 * Create answered, if this is not an update of the row's own listing.
 */
export function confirmation(
  context: ApplyContext,
  change: Create | Update | Adopt,
  sent: Outgoing,
  unsettled: boolean,
  made: Pick<Confirmation, 'identifier'> = {},
): Confirmation {
  const { feed, orders, runtime } = context
  const now = runtime.clock.now()
  // Until a run looks at it, it counts as ignored while it is shown as before.
  const before = change.kind === 'update' && !unsettled && !change.unsettled ? change.shownHash : null
  return {
    key: change.mlsNumber,
    feed: feed.name,
    sent: { listing: sent.listing, moving: sent.moving },
    content: contentHash(sent.listing, feed.plan.volatile.fields),
    record: sent.record,
    mapping: feed.mapping.version,
    home: homeHashOf(sent.listing),
    bornAt: change.kind === 'create' && change.cause === 'new' && !orders.isFirstLoad ? now : null,
    at: now,
    movesAt: sent.movesAt,
    suspectUntil: unsettled || change.unsettled ? now + feed.plan.settle : null,
    isPutRight: isPutRight(change),
    ...made,
    baseline: before,
    ignored: before !== null && isToShow(context, change),
  }
}

/** Notes the outcome of a change. */
export function record(
  context: ApplyContext,
  { seq, change }: Stored<Action>,
  result: OutcomeResult,
  error: string | null = null,
): void {
  const { workspace, runtime, orders, untold } = context
  const at = runtime.clock.now()
  untold.push({
    mlsNumber: change.mlsNumber,
    at,
    what: change.kind,
    result,
    why: change.why,
    error,
    home: homeIn(workspace, change, { now: at, today: orders.today }),
    fields: fieldsOf(change),
  })
  context.workspace.recordOutcomes([{ seq, outcome: { result, error } }])
  context.underWay.delete(seq)
  context.progress(1)
}

/** Writes outcomes to the store, once there are at least so many. */
export async function tellChanges({ store, feed, untold }: ApplyContext, least: number): Promise<void> {
  if (untold.length >= least) await store.changes.note(feed.name, untold.splice(0))
}

/** Notes that a change is done. That uses up what let it go: an approval lets a change through once. */
export async function done(context: ApplyContext, stored: Stored<Action>): Promise<void> {
  const { store, feed } = context
  const { change, weighed } = stored
  if (weighed.released.length > 0) await store.holds.use(feed.name, change.mlsNumber, weighed.released)
  record(context, stored, 'done')
}

/** Adopts listings: only the snapshot is written, as the service already shows what is wanted. */
export async function adoptAll(context: ApplyContext): Promise<void> {
  const { workspace, store, feed } = context
  const volatile = feed.plan.volatile.fields
  for (const batch of batches(workspace.changes('adopt'), () => 500)) {
    const wanted = await outgoing(
      context,
      batch.map(({ change }) => change.wanted),
    )
    const before = await store.snapshot.confirmed(
      feed.chatbot,
      feed.name,
      batch.map(({ change }) => change.mlsNumber),
    )
    const confirmations = batch.map(({ change }, index) => ({
      ...confirmation(
        context,
        change,
        withFacts(unsent(wanted[index], before.get(change.mlsNumber), volatile), change.facts),
        false,
        { identifier: null },
      ),
      // Not while an earlier call may still change what is shown.
      baseline: change.unsettled ? null : change.shownHash,
      ignored: false,
    }))
    await store.snapshot.confirm(feed.chatbot, confirmations)
    for (const stored of batch) await done(context, stored)
    await tellChanges(context, 1)
  }
}
