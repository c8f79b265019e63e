/**
 * Notes which homes the changes of a plan are about. A wanted listing lies in the delivery. One that leaves is read from the
 * store before the change is carried out, as it is gone afterwards.
 */
import { actionOf, deliveredFor } from '../apply/home.ts'
import { batches } from '../core/batches.ts'
import { breathe } from '../core/breath.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Feed, Readers } from './tools.ts'

/** MLSNumbers that the store is asked about at once. */
const batchSize = 500

/** Notes in the workspace what was sent last, for changes without a delivered listing. */
export async function noteHomes(
  { name, chatbot }: Feed,
  { store, workspace }: Pick<Readers, 'store' | 'workspace'>,
): Promise<void> {
  for (const keys of batches(keysToAsk(workspace), () => batchSize)) {
    const confirmed = await store.snapshot.confirmed(chatbot, name, keys)
    workspace.noteListings(Array.from(confirmed.values(), ({ listing }) => listing))
    if (keys.length === batchSize) await breathe()
  }
}

function* keysToAsk(workspace: Workspace): Generator<string> {
  for (const { change } of workspace.changes()) if (deliveredFor(actionOf(change)) === null) yield change.mlsNumber
}
