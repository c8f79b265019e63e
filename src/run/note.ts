import { batches } from '../core/batches.ts'
import { breathe } from '../core/breath.ts'
import { caughtUp, volatileOf } from '../core/listing.ts'
import type { Delivered } from '../core/listing.ts'
import type { Bookkeeping } from '../plan/change.ts'
import type { SnapshotRow } from '../plan/inputs.ts'
import { tellsAbsence } from '../plan/proof.ts'
import type { DeliveryMode } from '../plan/proof.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Plan } from './plan.ts'
import { lastRunOf } from './recall.ts'
import type { Prepared } from './run.ts'
import { areNotedEarly, isSaidOnce, noteFiles } from './files.ts'
import { forgetHolds } from './moved.ts'
import { pendingBeside } from './named.ts'
import type { Feed, Writers } from './tools.ts'

const batchSize = 1000

/** Stores, before any call is made, what the plan found out about the past and about listings that need no call. */
export async function note(feed: Feed, tools: Writers, { past, delivery, plan, guarded }: Prepared): Promise<void> {
  const { store, service, workspace } = tools
  const { now } = past.moment
  await forgetHolds(feed, store, now)
  // Before the loss is recorded, which tells a store that was put back again.
  service.sign(plan.others.isBehind ? await store.runs.renew(past.stamp.store, now) : past.stamp)
  if (plan.lostAt !== null && (past.isBehind || plan.lostAt !== past.lostAt))
    await store.runs.recordLost(feed.name, plan.lostAt)
  // Before what would keep the next run from finding it again. What is not noted anew is pruned below.
  if (plan.others.lacksRuns)
    for await (const page of store.deliveries.pending(feed.name))
      await store.deliveries.notePending(
        feed.name,
        page.map((record) => ({ ...record, at: 0 })),
        now - 1,
      )
  await store.learnt.setNumber(feed.chatbot, lastRunOf(feed.name), past.stamp.run)
  if (plan.others.writers.size > 0) await store.learnt.setWriters(feed.chatbot, feed.name, plan.others.writers)
  // Noted twice: before the absences, and after them with the time. A listing whose absence is noted between may be such a record.
  const { agrees, lastKey } = delivery
  const { mode, deletes } = plan.settings
  const tells = tellsAbsence({ delivery: delivery.summary, agrees })
  const { keyless } = delivery
  // A delta without such a record does not say that the record is gone.
  const notesKeyless = mode === 'full' && tells
  if (notesKeyless) await store.deliveries.record(feed.name, { keyless })
  else if (past.last.keyless.length > 0 && bringsListings(workspace, guarded, mode)) {
    // One of these may have been such a record, and become one again: then it comes anew.
    const isHere = new Set(keyless.map(({ identity }) => identity))
    const before = past.last.keyless.map((record) =>
      isHere.has(record.identity) ? record : { ...record, notedAt: null },
    )
    await store.deliveries.record(feed.name, { keyless: before })
  }
  let entries: Bookkeeping[] = []
  for (const entry of workspace.bookkeeping()) {
    if (entries.push(entry) < batchSize) continue
    await write(feed, tools, plan, guarded, entries, now)
    await breathe()
    entries = []
  }
  await write(feed, tools, plan, guarded, entries, now)
  // A backfill notes no absence: the next run does, as if the record had come then.
  if (deletes && notesKeyless && keyless.some(({ notedAt }) => notedAt === null)) {
    const noted = keyless.map((record) => ({ ...record, notedAt: record.notedAt ?? now }))
    await store.deliveries.record(feed.name, { keyless: noted })
  }
  // Last, as it says that the absences before it were noted.
  if (deletes && tells) await store.deliveries.record(feed.name, { lastKey })
  // An absence that was neither noted again nor ended is of a listing that is no longer ours.
  if (guarded.absenceProven) await store.history.pruneAbsences(feed.chatbot, feed.name, now)
  // What an older full delivery says, or a whole one that is held whole, is not to be done. One that was cut is as good as a delta.
  const { complete } = delivery.summary
  const isOnce = isSaidOnce(feed, delivery.mode)
  const saysSome = delivery.mode === 'delta' || (isOnce && !complete && !guarded.isOlder)
  if (saysSome || (isOnce && guarded.isBelieved)) await notePending(feed, tools, plan, now)
  // From here on nothing of these files is lost: if the run dies, an earlier one must not have the last word because a later one is
  // taken away.
  if (delivery.besides !== null && areNotedEarly(delivery, guarded.isOlder))
    await noteFiles(feed, store, delivery.besides)
  if (feed.deltas.size > 0) await notePassedOn(feed, tools, now)
  // A whole full delivery says anew all that is to be done. An older one does not, as something may have been said after it, nor does
  // one that is held whole.
  if (saysSome || guarded.isBelieved) await store.deliveries.prunePending(feed.name, now)
  await tools.planned?.(workspace, guarded.digest)
}

/** Whether listings come that the run before did not have: of a delta, which names new ones all the time, such as were absent. */
function bringsListings(workspace: Workspace, { counts }: Prepared['guarded'], mode: DeliveryMode): boolean {
  if (mode === 'full' && counts.create + counts.adopt > 0) return true
  for (const { op } of workspace.bookkeeping()) if (op === 'returned') return true
  return false
}

/** Notes what is to be done as pending until it is done, as a delta says a thing once. */
async function notePending(
  feed: Feed,
  { store, workspace }: Writers,
  { delivery, policy }: Plan,
  now: number,
): Promise<void> {
  const { name, chatbot } = feed
  const isFull = delivery.mode === 'full' && delivery.summary.complete
  // What an older delta said stays pending, though it was not planned again.
  if (!isFull)
    for await (const { unnamed } of pendingBeside(feed, { store, workspace }))
      await store.deliveries.notePending(name, unnamed, now)
  // Nothing was said in the future, whatever the sender's clock says.
  const saidAt = Math.min(delivery.written?.at ?? now, now)
  for (const some of batches(undone(workspace), () => batchSize)) {
    const keys = some.map(({ key }) => key)
    const ids = await store.snapshot.ids(chatbot, name, keys)
    const seen = await store.snapshot.recall([...ids.values()].filter((id) => workspace.isSeen(id)))
    const before = await store.deliveries.pendingOf(
      name,
      keys.filter((key) => !policy.saysItself(key)),
    )
    const pending = some.map(({ key, isDelete }) => {
      const delivered = differing(workspace.deliveredAs(key))
      const known = seen.get(ids.get(key) ?? NaN)
      if (known !== undefined) {
        const { listing, moving } = caughtUp(known)
        delivered.push({ kind: 'listing', at: 'a record unchanged since the last run', listing, moving })
      }
      // What a full delivery lacks is gone. The next delta would not tell.
      if (isFull && isDelete && delivered.length === 0)
        delivered.push({ kind: 'removal', at: 'the last full delivery', mlsNumber: key, why: 'gone from the feed' })
      return { key, delivered, at: before.get(key)?.at ?? saidAt }
    })
    // Not the deletes that a person approved after a full delivery: the approval has them planned again as long as it stands.
    const isSaid = (key: string): boolean => policy.saysItself(key) || before.has(key)
    const fresh = pending.filter(({ key, delivered }) => delivered.length > 0 && isSaid(key))
    await store.deliveries.notePending(name, fresh, now)
    if (some.length === batchSize) await breathe()
  }
}

/** Of records of one MLSNumber that differ, so many are enough to hold it again. By mistake a feed may give all of its records one. */
const mostPending = 20

/** The first of them, each different one once. */
function differing(delivered: Iterable<Delivered>): Delivered[] {
  const different = new Map<string, Delivered>()
  for (const result of delivered) {
    const content = JSON.stringify({ ...result, at: '' })
    if (!different.has(content)) different.set(content, result)
    if (different.size === mostPending) break
  }
  return [...different.values()]
}

/** Notes for delta feeds what they said of listings that this feed takes over. They say it once, and may have the listings again later. */
async function notePassedOn({ chatbot, deltas }: Feed, { store, workspace }: Writers, now: number): Promise<void> {
  for (const keys of batches(sent(workspace), () => batchSize)) {
    const rows = Array.from(await store.snapshot.rowsOf(chatbot, keys), ([, row]) => row)
    const ofOthers = rows.filter(({ content, feed }) => content !== null && deltas.has(feed))
    for (const [from, taken] of Map.groupBy(ofOthers, (row) => row.feed)) {
      const newer = await store.deliveries.pendingOf(
        from,
        taken.map(({ key }) => key),
      )
      const rest: SnapshotRow[] = []
      // If a full delivery of that feed has lacked it since, that was its last word.
      for (const row of taken)
        if (!newer.has(row.key) && !(await store.history.isAbsent(chatbot, from, row.key))) rest.push(row)
      const lastSent = await store.snapshot.recall(rest.map(({ id }) => id))
      const pending = rest.map(({ key, id, sentAt }) => {
        const listing = {
          kind: 'listing' as const,
          at: 'a record of before another feed had it',
          ...caughtUp(lastSent.get(id)!),
        }
        return { key, delivered: [listing], at: sentAt }
      })
      await store.deliveries.notePending(from, pending, now)
    }
  }
}

function* sent(workspace: Workspace): Generator<string> {
  for (const kind of ['create', 'update', 'adopt'] as const)
    for (const { change } of workspace.changes(kind)) yield change.mlsNumber
}

/** MLSNumbers of which something is planned, held, or not decided yet. */
function* undone(workspace: Workspace): Generator<{ key: string; isDelete: boolean }> {
  let last: string | null = null
  for (const { change } of workspace.changes()) {
    // Records that differ are changes of one MLSNumber, one after another.
    if (change.mlsNumber !== last) yield { key: change.mlsNumber, isDelete: change.kind === 'delete' }
    last = change.mlsNumber
  }
  for (const entry of workspace.bookkeeping()) if (entry.op === 'undecided') yield { key: entry.key, isDelete: false }
}

async function write(
  { name, chatbot, mapping, plan: { volatile } }: Feed,
  { store: { snapshot, history }, workspace }: Writers,
  { policy }: Plan,
  { isOlder }: Prepared['guarded'],
  entries: Bookkeeping[],
  now: number,
): Promise<void> {
  const all = <Op extends Bookkeeping['op']>(op: Op) =>
    entries.filter((entry): entry is Extract<Bookkeeping, { op: Op }> => entry.op === op)
  const keysOf = (op: 'forget-flight' | 'absent' | 'returned' | 'still-there') =>
    entries.flatMap((entry) => (entry.op === op ? entry.key : []))
  const touches = all('touch').map(({ snapshot: id, position }) => {
    const { content, raw, parts, home, listing, moving: own, movesAt } = workspace.deliveredAt(position)
    // The record is not parsed again, and their turn is to come.
    const since = volatileOf(listing, volatile.fields)
    return { id, content, raw, parts, home, moving: { ...own, since }, movesAt, mapping: mapping.version }
  })
  await snapshot.touch(touches)
  const baselines = all('baseline').map(({ key, hash }) => ({ key, hash, ignored: false, isAtRest: true }))
  await snapshot.setBaselines(chatbot, baselines, now)
  await snapshot.forget(chatbot, keysOf('forget-flight'), null)
  // Only what this delivery itself says counts: earlier deltas are planned again with it.
  const itself = (op: 'returned' | 'still-there'): string[] => keysOf(op).filter((key) => policy.saysItself(key))
  // An older delivery has what left since as a matter of course.
  const stillThere = isOlder ? [] : itself('still-there')
  await history.noteAbsences(chatbot, name, { absent: keysOf('absent'), returned: itself('returned'), stillThere }, now)
}
