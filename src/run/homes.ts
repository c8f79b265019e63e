/**
 * Which homes the changes of a plan are about. What is wanted lies in the delivery; what leaves is read from the store
 * before it is carried out, as afterwards it is not there any more.
 */
import { actionOf, deliveredFor } from '../apply/home.ts'
import { batches } from '../core/batches.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Feed, Readers } from './tools.ts'

/** Notes in the workspace what was sent last of the listings whose change brings no new one. */
export async function noteHomes(
  { name, chatbot }: Feed,
  { store, workspace }: Pick<Readers, 'store' | 'workspace'>,
): Promise<void> {
  for (const keys of batches(keysToAsk(workspace), () => 500)) {
    const confirmed = await store.snapshot.confirmed(chatbot, name, keys)
    workspace.noteListings(Array.from(confirmed.values(), ({ listing }) => listing))
  }
}

function* keysToAsk(workspace: Workspace): Generator<string> {
  for (const { change } of workspace.changes()) if (deliveredFor(actionOf(change)) === null) yield change.mlsNumber
}
