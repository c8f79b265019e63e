import type { FieldName } from '../core/listing.ts'
import type { Bookkeeping } from '../plan/change.ts'
import type { Store } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Prepared } from './run.ts'
import type { Feed, Writers } from './tools.ts'

const batchSize = 1000

/** Before any call is made, stores what the plan found out about the past and about listings that need no call. */
export async function note(feed: Feed, tools: Writers, { past, delivery, plan, guarded }: Prepared): Promise<void> {
  const { store, workspace } = tools
  const { now } = past.moment
  // What this run leaves half done must not be taken for delivered by the source's next "not modified".
  if (past.validators !== null) await store.deliveries.setValidators(feed.name, null)
  if (plan.lostAt !== null && past.lostAt === null) await store.runs.recordLost(feed.name, plan.lostAt)
  await store.learnt.addForms(feed.name, Object.keys(plan.facts.echoed) as FieldName[])
  // Before the absences without a time, and after them with it: a listing that went when such a record came may be it.
  const noteKeyless = async (notedAt: number | null): Promise<void> => {
    const keyless = delivery.keyless.map((record) => ({ ...record, notedAt: record.notedAt ?? notedAt }))
    if (delivery.summary.complete) await store.deliveries.record(feed.name, { keyless })
  }
  await noteKeyless(null)
  let entries: Bookkeeping[] = []
  for (const entry of workspace.bookkeeping()) {
    if (entries.push(entry) < batchSize) continue
    await write(feed, store, workspace, entries, now)
    entries = []
  }
  await write(feed, store, workspace, entries, now)
  await noteKeyless(now)
  // An absence that was neither noted again nor ended is of a listing that is no longer ours.
  if (guarded.absenceProven) await store.history.pruneAbsences(feed.chatbot, feed.name, now)
  await tools.planned?.(workspace, guarded.digest)
}

async function write(
  { name, chatbot, mapping }: Feed,
  { snapshot, history }: Store,
  workspace: Workspace,
  entries: Bookkeeping[],
  now: number,
): Promise<void> {
  const all = <Op extends Bookkeeping['op']>(op: Op) =>
    entries.filter((entry): entry is Extract<Bookkeeping, { op: Op }> => entry.op === op)
  const keysOf = (op: 'forget-flight' | 'absent' | 'returned') => all(op).map(({ key }) => key)
  const touches = all('touch').map(({ snapshot: id, position }) => {
    const { raw, parts, home, moving, movesAt } = workspace.deliveredAt(position)
    return { id, raw, parts, home, moving, movesAt, mapping: mapping.version }
  })
  await snapshot.touch(touches)
  await snapshot.setBaselines(all('first-sight').map(({ snapshot: id, hash, echo }) => ({ id, hash, echo })))
  await snapshot.endStreaks(all('steady').map(({ snapshot: id }) => id))
  await snapshot.forget(chatbot, keysOf('forget-flight'), null)
  await history.noteAbsences(chatbot, name, { absent: keysOf('absent'), returned: keysOf('returned') }, now)
}
