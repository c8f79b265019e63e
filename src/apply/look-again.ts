/**
 * A delete that goes out long after the list was read must find its listing as the list showed it. If somebody has edited or
 * re-created it since, the next run decides (docs/faults.md, F103 and F123).
 */
import { ServiceError } from '../core/errors.ts'
import type { Glimpse, RemoteSummary, Shown } from '../core/listing.ts'
import type { SnapshotReader } from '../store/store.ts'
import type { OfKind, Stored, Workspace } from '../workspace/workspace.ts'
import { deleteBatch, lookUp } from './calls.ts'
import { callsToLookAgain } from './context.ts'
import type { ApplyContext } from './context.ts'
import { record } from './outcomes.ts'

type Deleted = Stored<OfKind<'delete'>>

/** Milliseconds for which what was shown counts as what is there. */
export const freshFor = 60_000

/** Whether the list that the plan rests on is too old to delete by. */
export function listIsOld({ orders, runtime }: ApplyContext): boolean {
  return runtime.clock.now() - orders.listed.startedAt > freshFor
}

/** Adds the items of a page to the workspace. An item that is as its baseline is not kept, only noted as such. */
export async function addListed(
  items: readonly Glimpse[],
  chatbot: string,
  snapshot: SnapshotReader,
  workspace: Workspace,
): Promise<void> {
  const keys = items.map(({ mlsNumber }) => mlsNumber)
  const baselines = await snapshot.baselines(chatbot, keys)
  workspace.addShown(items.map((item) => ({ item, keep: baselines.get(item.mlsNumber) !== item.hash })))
}

/** Walks the service's pages once more into the workspace. Throws `ServiceError`. */
export async function listAgain({ service, workspace, store, feed }: ApplyContext): Promise<RemoteSummary> {
  workspace.clearShown()
  return service.observe({
    reset: () => workspace.clearShown(),
    add: (items) => addListed(items, feed.chatbot, store.snapshot, workspace),
  })
}

/** Skips deletes of listings that `listAgain` found changed. */
export function skipEdited(context: ApplyContext): void {
  const { workspace } = context
  for (const stored of workspace.changes('delete'))
    isAsListed(context, stored, workspace.shownAs(stored.change.mlsNumber))
}

/** Looks each listing of a batch up and then deletes them. Sends some early, so that no look-up is a minute old. */
export async function deleteLookedUp(context: ApplyContext, batch: Deleted[]): Promise<void> {
  const { runtime, stop, signal } = context
  let due: Deleted[] = []
  let since = runtime.clock.now()
  const send = async (): Promise<void> => {
    const ready = due
    due = []
    if (ready.length > 0 && stop.reason === null && !signal.aborted) await deleteBatch(context, ready)
  }
  for (const stored of batch) {
    if (runtime.clock.now() - since > freshFor / 2) await send()
    if (stop.reason !== null || signal.aborted) return
    if (due.length === 0) since = runtime.clock.now()
    const shown = await lookUp(context, stored, 'failed')
    if (shown !== null && isAsListed(context, stored, shown)) due.push(stored)
  }
  await send()
}

/** Whether the listing is there once and as the list showed it. If not, its delete is skipped. */
function isAsListed(context: ApplyContext, stored: Deleted, shown: Pick<Shown, 'hash'>[]): boolean {
  if (shown.length === 1 && shown[0].hash === stored.change.shownHash) return true
  const what =
    shown.length === 0
      ? 'no longer on the service'
      : shown.length === 1
        ? 'edited by somebody since it was listed'
        : `${shown.length} listings on the service have this MLSNumber by now`
  record(context, stored, 'skipped', `${what}: the next run decides`)
  return false
}

/**
 * MLSNumbers of confirmed deletes that the service still shows: a full count may hide one that was left out (docs/faults.md,
 * F114). null: nobody could look. Without marks (`ownership: snapshot`) such a listing is nobody's, and is not looked for.
 */
export async function stillListed(context: ApplyContext): Promise<ReadonlySet<string> | null> {
  const { workspace, service, orders, feed } = context
  const still = new Set<string>()
  if (feed.plan.ownership === 'snapshot') return still
  // One list may hide a row by mistake, but not two in a row (A3).
  const walks = [1, 2]
  const pages = walks.length * orders.listed.pages
  try {
    if (callsToLookAgain(orders.counts.delete, pages) < pages) {
      for (const key of deletedKeys(workspace)) if ((await service.lookUp(key)).length > 0) still.add(key)
      return still
    }
    for (const _ of walks) {
      if (!(await listAgain(context)).complete) return null
      for (const key of deletedKeys(workspace)) if (workspace.shownAs(key).length > 0) still.add(key)
    }
    return still
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

function* deletedKeys(workspace: Workspace): Generator<string> {
  for (const { change, outcome } of workspace.changes('delete')) if (outcome?.result === 'done') yield change.mlsNumber
}
