/** Finds the home that a change is about, from what the workspace knows. */
import { homeOf } from '../core/home.ts'
import type { Home, Known } from '../core/home.ts'
import { listingAt } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import { fieldsOf } from '../plan/change.ts'
import type { Action, Change } from '../plan/change.ts'
import type { Workspace } from '../workspace/workspace.ts'

export const actionOf = (change: Change): Action | null => (change.kind === 'hold' ? change.action : change)

/** The position of the wanted listing in the delivery; null: it is not there. */
export function deliveredFor(action: Action | null): number | null {
  return action !== null && 'wanted' in action && 'delivered' in action.wanted ? action.wanted.delivered : null
}

/** The home that a change is about, before and after it; null: not known. `isOfHold`: after what is held of an update that goes on. */
export function homeIn(
  workspace: Workspace,
  change: Change,
  { now, today }: { now: number; today: string },
  isOfHold = false,
): Home | null {
  const action = actionOf(change)
  const updated = isOfHold && change.kind === 'update' ? fieldsOf(change, true) : fieldsIn(action)
  const position = deliveredFor(action)
  if (action !== null && position !== null) {
    const wanted = listingAt(workspace.deliveredAt(position), now, today)
    if (action.kind !== 'create') return homeOf(asBefore(wanted, updated), wanted)
    const held = fieldsOf(change, true)
    return homeOf(held.length === 0 ? null : asBefore(wanted, held), wanted)
  }
  const { mlsNumber } = change
  const known: Known =
    workspace.notedListing(mlsNumber) ??
    workspace.shownAs(mlsNumber)[0]?.shown()?.fields ??
    deliveredAs(workspace, mlsNumber)
  const kind = action?.kind ?? (change.kind === 'hold' ? change.held : null)
  if (kind === 'delete' || kind === 'forget') return homeOf(known, null)
  if (kind === 'create') return homeOf(null, known)
  return homeOf(known && asBefore(known, updated), known)
}

const fieldsIn = (action: Action | null): readonly FieldChange[] => (action?.kind === 'update' ? action.fields : [])

function deliveredAs(workspace: Workspace, mlsNumber: string): Known {
  for (const delivered of workspace.deliveredAs(mlsNumber)) if (delivered.kind === 'listing') return delivered.listing
  return null
}

/** A listing as it was before these fields changed. */
export function asBefore(wanted: Partial<Listing>, fields: readonly FieldChange[]): Partial<Listing> {
  return { ...wanted, ...Object.fromEntries(fields.map(({ field, from }) => [field, from ?? undefined])) }
}
