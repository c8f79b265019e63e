/**
 * A delete that goes out long after the list must find its listing as that showed it: what somebody edited or made anew
 * since is for the next run, which sees it (fault-model F103, F123).
 */
import type { Shown } from '../core/listing.ts'
import type { StoredChange } from '../workspace/workspace.ts'
import { deleteBatch, lookUp } from './calls.ts'
import type { ApplyContext } from './context.ts'
import { record } from './outcomes.ts'

/** Milliseconds for which what was shown is taken for what is there. */
export const freshFor = 60_000

/** List calls that looking so many deletes up takes, or walking so many pages once more, whichever is less. */
export function callsToLookAgain(deletes: number, pages: number): number {
  return Math.min(deletes * callsOfALookUp, pages)
}

/** A page with the listing and, as VirtualCount can seldom be relied on, one without. */
const callsOfALookUp = 2

/** Whether the list that the plan rests on is too old to delete by. */
export function listIsOld({ settings, runtime }: ApplyContext): boolean {
  return runtime.clock.now() - settings.listedAt > freshFor
}

/** Walks the service's pages once more, and skips the deletes of what is shown otherwise now. Throws `ServiceError`. */
export async function listAgain(context: ApplyContext): Promise<void> {
  const { service, workspace } = context
  workspace.clearShown()
  await service.observe({
    reset: () => workspace.clearShown(),
    add: (items) => workspace.addShown(items.map((shown) => ({ shown, keep: false }))),
  })
  for (const change of workspace.changes('delete')) isAsListed(context, change, workspace.shownAs(change.mlsNumber))
}

/** Deletes a batch after looking each of its listings up; what was looked up goes before it is a minute old. */
export async function deleteLookedUp(context: ApplyContext, batch: StoredChange[]): Promise<void> {
  const { runtime, stop, signal } = context
  let due: StoredChange[] = []
  let since = runtime.clock.now()
  const send = async (): Promise<void> => {
    const ready = due
    due = []
    if (ready.length > 0 && stop.reason === null && !signal.aborted) await deleteBatch(context, ready)
  }
  for (const change of batch) {
    if (runtime.clock.now() - since > freshFor / 2) await send()
    if (stop.reason !== null || signal.aborted) return
    if (due.length === 0) since = runtime.clock.now()
    const shown = await lookUp(context, change, 'failed')
    if (shown !== null && isAsListed(context, change, shown)) due.push(change)
  }
  await send()
}

/** Whether exactly what the list showed is there; else the delete is skipped. */
function isAsListed(context: ApplyContext, change: StoredChange, shown: Pick<Shown, 'hash'>[]): boolean {
  if (shown.length === 1 && shown[0].hash === change.shownHash) return true
  const what =
    shown.length === 0
      ? 'no longer on the service'
      : shown.length === 1
        ? 'edited by somebody since it was listed'
        : `${shown.length} listings on the service have this MLSNumber by now`
  record(context, change, 'skipped', `${what}: the next run decides`)
  return false
}
