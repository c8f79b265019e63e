import type { FieldName } from '../core/listing.ts'
import type { Bookkeeping } from '../plan/change.ts'
import type { Baseline, Store, Touch } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Prepared } from './run.ts'
import type { Feed, Writers } from './tools.ts'

const batchSize = 1000

/** Writes what the plan says of the past and of listings that need no call, before any call is made. */
export async function note(feed: Feed, tools: Writers, { past, plan, guarded }: Prepared): Promise<void> {
  const { store, workspace } = tools
  const { now } = past.moment
  if (plan.lostAt !== null && past.lostAt === null) await store.runs.recordLost(feed.name, plan.lostAt)
  await store.learnt.addForms(feed.name, Object.keys(plan.facts.echoed) as FieldName[])
  let entries: Bookkeeping[] = []
  for (const entry of workspace.bookkeeping()) {
    if (entries.push(entry) < batchSize) continue
    await write(feed, store, workspace, entries, now)
    entries = []
  }
  await write(feed, store, workspace, entries, now)
  // What was noted before and is neither absent nor back by now is no listing of ours any more.
  if (guarded.absenceProven) await store.absences.prune(feed.chatbot, feed.name, now)
  await tools.planned?.(workspace, guarded.digest)
}

async function write(
  { name, chatbot, mapping }: Feed,
  { snapshot, absences }: Store,
  workspace: Workspace,
  entries: Bookkeeping[],
  now: number,
): Promise<void> {
  const touches: Touch[] = []
  const baselines: Baseline[] = []
  const steady: number[] = []
  const marks: string[] = []
  const absent: string[] = []
  const returned: string[] = []
  for (const entry of entries) {
    if (entry.op === 'first-sight') baselines.push({ id: entry.snapshot, hash: entry.hash, echo: entry.echo })
    else if (entry.op === 'steady') steady.push(entry.snapshot)
    else if (entry.op === 'forget-flight') marks.push(entry.key)
    else if (entry.op === 'absent') absent.push(entry.key)
    else if (entry.op === 'returned') returned.push(entry.key)
    else {
      const { raw, parts, filled, moving, movesAt } = workspace.deliveredAt(entry.position)
      touches.push({ id: entry.snapshot, raw, parts, filled, moving, movesAt, mapping: mapping.version })
    }
  }
  await snapshot.touch(touches)
  await snapshot.setBaselines(baselines)
  await snapshot.endStreaks(steady)
  await snapshot.forget(chatbot, marks, null)
  await absences.note(chatbot, name, { absent, returned }, now)
}
