import type { Bookkeeping, Change, Counts, Doubt, PlanStep } from '../plan/change.ts'
import { approvalKey } from '../plan/guard/guard.ts'
import { Tally } from '../plan/guard/tally.ts'
import type { PlanSettings } from '../plan/inputs.ts'
import { planChanges, settleDoubts } from '../plan/plan.ts'
import type { PlanFacts } from '../plan/plan.ts'
import type { Listed } from './observe.ts'
import type { Past } from './recall.ts'
import type { Delivery } from './receive.ts'
import type { Feed, Mode, Readers } from './tools.ts'

/** What the plan of a run is, in figures; its changes are in the workspace. */
export interface Plan {
  delivery: Delivery
  listed: Listed
  settings: PlanSettings
  facts: PlanFacts
  tally: Tally
  /** Of kinds of changes nothing yet: the guard may make holds of them. */
  counts: Counts
  /** When the store was lost, if it was lately, in milliseconds. */
  lostAt: number | null
  /** The list lacks some of ours, so it may lack others too: every create is looked up first. */
  isDoubtful: boolean
}

/** Doubts kept until the walk is over; more than that are no people's edits but the service's own form. */
const mostDoubts = 10_000

/** How long a store is doubted after its loss, and a fight with another program remembered, in milliseconds. */
const day = 86_400_000

interface Known {
  past: Past
  delivery: Delivery
  listed: Listed
  mode: Mode
}

function planSettings(feed: Feed, { past, delivery, listed, mode }: Known, lostAt: number | null): PlanSettings {
  const { name, mapping, ownership, outranks, drift, limits, volatile, refresh, settle } = feed
  const { now, today } = past.moment
  return {
    feed: name,
    now,
    today,
    delivery: delivery.summary,
    unreadable: delivery.unreadable,
    remote: listed,
    remoteStartedAt: listed.startedAt,
    mode: delivery.mode,
    deletes: mode !== 'backfill',
    mapping: mapping.version,
    ownership,
    outranks: (other) => ownership === 'mirror' || outranks.has(other),
    drift,
    grace: { runs: limits.grace.runs, time: limits.grace.hours * 3_600_000 },
    volatile,
    refresh,
    settle,
    driftedSince: past.driftedAt !== null && now < past.driftedAt + day ? past.driftedAt : null,
    lostUntil: lostAt !== null && now < lostAt + settle + day ? lostAt + settle : null,
  }
}

/** Walks the three sides once, streams what they come to into the workspace, and counts what the guard's rules are about. */
export async function decide(feed: Feed, { store, workspace }: Readers, known: Known): Promise<Plan> {
  const { past, delivery, listed } = known
  const { approved, knownForms } = past
  const lostAt = past.lostAt ?? (past.isEmpty && listed.marked > 0 ? past.moment.now : null)
  const settings = planSettings(feed, known, lostAt)
  const counts: Counts = { create: 0, update: 0, delete: 0, adopt: 0, forget: 0, hold: 0, unchanged: 0, reject: 0 }
  const tally = new Tally()
  const chunks = planChanges(
    {
      delivered: workspace.delivered(),
      snapshot: store.snapshot.rows(feed.chatbot),
      shown: workspace.shown(),
      absences: store.absences.rows(feed.chatbot, feed.name),
      seen: (id) => workspace.isSeen(id),
      recall: (ids) => store.snapshot.recall(ids),
    },
    settings,
  )
  const doubts: Doubt[] = []
  const take = async (steps: readonly PlanStep[]): Promise<void> => {
    const changes: Change[] = []
    const bookkeeping: Bookkeeping[] = []
    const sort = (step: PlanStep): void => {
      if (step.step === 'unchanged') counts.unchanged++
      else if (step.step === 'bookkeeping') bookkeeping.push(step.entry)
      else if (step.step === 'change') changes.push(step.change)
      else if (doubts.length < mostDoubts) doubts.push(step)
      else step.asForm.forEach(sort)
    }
    steps.forEach(sort)
    if (bookkeeping.length > 0) workspace.addBookkeeping(bookkeeping)
    if (changes.length > 0) await takeChanges(changes)
  }
  const takeChanges = async (planned: readonly Change[]): Promise<void> => {
    const keys = planned.map(({ mlsNumber }) => mlsNumber)
    const heldSince = await store.holds.since(feed.name, keys)
    const deletes = planned.flatMap(({ kind, mlsNumber }) => (kind === 'delete' ? [mlsNumber] : []))
    const inLedger = await store.ledger.has(feed.chatbot, feed.name, deletes, settings.now)
    // It was held, so something about it is not as this list says: another feed's row of it may only be out of sight.
    const changes = planned.map((change): Change => {
      const isNew = change.cause === 'new' || change.cause === 'never-sent'
      return isNew && heldSince.has(change.mlsNumber) ? { ...change, lookUp: true } : change
    })
    for (const change of changes) {
      if (change.kind === 'forget' || change.cause === 'gone-from-service' || change.cause === 'twice-shown')
        tally.doubts++
      if (approved.has(approvalKey(change.kind, change.mlsNumber))) tally.letThrough(change)
      else tally.add(change, change.kind === 'delete' && inLedger.has(change.mlsNumber))
    }
    workspace.addChanges(changes, settings, heldSince)
  }
  for (;;) {
    const { done, value } = await chunks.next()
    if (!done) {
      await take(value)
      continue
    }
    await take(settleDoubts(doubts, value, knownForms))
    const { summary } = delivery
    summary.duplicates += value.duplicates
    summary.listings -= value.duplicates
    counts.reject = summary.rejects
    return { delivery, listed, settings, facts: value, tally, counts, lostAt, isDoubtful: tally.doubts > 0 }
  }
}
