/** From delivery and observation to the guarded plan in the workspace: pure decisions between reading and writing. */
import { createHash } from 'node:crypto'
import { callsToLookAgain, freshFor } from '../apply/look-again.ts'
import type { FieldName, RemoteSummary } from '../core/listing.ts'
import type { Moment } from '../feed/mapping/mapping.ts'
import type { Doubt, PlanStep, Bookkeeping, Change, Counts } from '../plan/change.ts'
import { approvalKey, heldBy } from '../plan/guard/guard.ts'
import type { Trip } from '../plan/guard/rule.ts'
import { Tally } from '../plan/guard/tally.ts'
import type { PlanSettings } from '../plan/inputs.ts'
import { planChanges, settleDoubts } from '../plan/plan.ts'
import type { PlanFacts } from '../plan/plan.ts'
import type { FeedState } from '../store/store.ts'
import type { Received } from './receive.ts'
import { waitsForAPerson } from './result.ts'
import type { Feed, Readers } from './run.ts'

/** Doubts kept until the walk is over; more than that are no people's edits but the service's own form. */
const mostDoubts = 10_000

/** How long a store is doubted after its loss, and a fight with another program remembered, in milliseconds. */
const day = 86_400_000

export function planSettings(
  feed: Feed,
  received: Received,
  remote: RemoteSummary & { startedAt: number },
  moment: Moment,
  lostAt: number | null,
  deletes: boolean,
  driftedAt: number | null,
): PlanSettings {
  const { name, mapping, ownership, outranks, drift, limits, volatile, refresh, settle } = feed
  const lostUntil = lostAt !== null && moment.now < lostAt + settle + day ? lostAt + settle : null
  return {
    feed: name,
    now: moment.now,
    today: moment.today,
    delivery: received.summary,
    unreadable: received.unreadable,
    remote,
    remoteStartedAt: remote.startedAt,
    mode: received.delivery ?? mapping.delivery,
    deletes,
    mapping: mapping.version,
    ownership,
    outranks: (other) => ownership === 'mirror' || outranks.has(other),
    drift,
    grace: { runs: limits.grace.runs, time: limits.grace.hours * 3_600_000 },
    volatile,
    refresh,
    settle,
    driftedSince: driftedAt !== null && moment.now < driftedAt + day ? driftedAt : null,
    lostUntil,
  }
}

/** Streams the plan into the workspace and counts, as it goes by, what the guard's rules are about. */
export function plan(
  feed: Feed,
  { store, workspace }: Readers,
  { seen }: Received,
  settings: PlanSettings,
  approved: ReadonlySet<string>,
  knownForms: readonly FieldName[],
): { facts: PlanFacts; tally: Tally; counts: Counts } {
  const counts: Counts = { create: 0, update: 0, delete: 0, adopt: 0, forget: 0, hold: 0, unchanged: 0, reject: 0 }
  const tally = new Tally()
  const changes = new Batch<Change>((batch) => workspace.addChanges(batch))
  const bookkeeping = new Batch<Bookkeeping>((batch) => workspace.addBookkeeping(batch))
  const steps = planChanges(
    {
      delivered: workspace.delivered(),
      snapshot: store.snapshot(feed.chatbot),
      shown: workspace.shown(),
      absences: store.absences(feed.name, feed.chatbot),
      seen: (id) => seen.has(id),
      recall: (id) => store.recall(id),
    },
    settings,
  )
  const doubts: Doubt[] = []
  const take = (step: PlanStep): void => {
    if (step.step === 'unchanged') counts.unchanged++
    else if (step.step === 'bookkeeping') bookkeeping.add(step.entry)
    else if (step.step === 'doubt') {
      if (doubts.length < mostDoubts) doubts.push(step)
      else step.asForm.forEach(take)
    } else {
      const { change } = step
      // It was held, so something about it is not as this list says: another feed's row of it may only be out of sight.
      const isNew = change.cause === 'new' || change.cause === 'never-sent'
      if (isNew && store.heldSince(feed.name, change.mlsNumber) !== null) change.lookUp = true
      changes.add(change)
      if (change.kind === 'forget' || change.cause === 'gone-from-service' || change.cause === 'twice-shown')
        tally.doubts++
      if (approved.has(approvalKey(change.kind, change.mlsNumber))) return tally.letThrough(change)
      tally.add(change, change.kind === 'delete' && store.inLedger(feed.name, change.mlsNumber, settings.now))
    }
  }
  for (;;) {
    const { done, value } = steps.next()
    if (!done) {
      take(value)
      continue
    }
    settleDoubts(doubts, value, knownForms).forEach(take)
    changes.flush()
    bookkeeping.flush()
    return { facts: value, tally, counts }
  }
}

/** Turns what the tripped rules are about into holds; gives the rules that held something or are worth a word anyway. */
export function hold({ workspace }: Readers, trips: Trip[], approved: ReadonlySet<string>): Trip[] {
  if (trips.length === 0) return trips
  const effective = new Set(trips.filter((trip) => trip.always))
  workspace.hold((change) => {
    if (approved.has(approvalKey(change.kind, change.mlsNumber))) return null
    const holding = heldBy(trips, change)
    if (holding.length === 0) return null
    for (const trip of holding) effective.add(trip)
    return `${change.why}; held: ${holding.map((trip) => trip.sentence).join('; ')}`
  })
  return trips.filter((trip) => effective.has(trip))
}

/**
 * Counts the plan as it stands after the guard and fingerprints it: equal digests are equal plans. `doubted`: deletes that
 * are held, for whatever reason.
 */
export function count(
  { workspace }: Readers,
  counts: Counts,
  doubtful: boolean,
): { digest: string; lookUps: number; held: number; inGrace: number; doubted: number; drifted: number } {
  const digest = createHash('sha256')
  let lookUps = 0
  let held = 0
  let inGrace = 0
  let doubted = 0
  let drifted = 0
  for (const change of workspace.changes()) {
    counts[change.kind]++
    const isSent = change.kind === 'create' || change.kind === 'update'
    if (isSent && (change.lookUp || (doubtful && change.kind === 'create'))) lookUps++
    if (change.kind === 'hold' && change.cause === 'grace') inGrace++
    else if (change.kind === 'hold' && waitsForAPerson(change.cause)) held++
    if (change.kind === 'hold' && change.held === 'delete' && change.cause !== 'twice-shown') doubted++
    if (change.kind === 'update' && change.cause === 'drifted') drifted++
    digest.update(`${change.kind} ${change.mlsNumber} ${change.reason}\n`)
  }
  return { digest: digest.digest('hex').slice(0, 32), lookUps, held, inGrace, doubted, drifted }
}

/** Most keys of one Delete: the profile's number, or less where a larger batch was refused (U7). */
export function deleteBatchOf(feed: Feed, store: Readers['store']): number {
  return Math.min(feed.deleteBatch, store.learnt(feed.chatbot, 'deleteBatch') ?? feed.deleteBatch)
}

export function estimated(
  feed: Feed,
  { store, runtime }: Readers,
  counts: Counts,
  lookUps: number,
  remote: RemoteSummary & { startedAt: number },
): { calls: number; seconds: number } {
  const before = counts.create + counts.update + lookUps
  const age = runtime.clock.now() - remote.startedAt + (before / feed.rate) * 1000
  const pages = remote.complete ? remote.pages : Infinity
  const looksAgain = age > freshFor || !remote.complete ? callsToLookAgain(counts.delete, pages) : 0
  const calls = before + looksAgain + Math.ceil(counts.delete / deleteBatchOf(feed, store))
  return { calls, seconds: Math.ceil(calls / feed.rate) }
}

export function* notesOf(
  trips: Trip[],
  facts: PlanFacts,
  state: FeedState,
  lostAt: number | null,
  feed: Feed,
): Generator<string> {
  if (facts.mappingUpdates > 0) yield mappingChanged(facts.mappingUpdates, feed.rate)
  for (const trip of trips) yield trip.sentence
  if (facts.driftKept > 0)
    yield `${facts.driftKept} ${facts.driftKept === 1 ? 'listing was' : 'listings were'} edited on the service and stay so until the feed changes them (drift: keep)`
  if (lostAt !== null && state.lostAt === null) {
    yield `the store is new, but the service shows listings with this feed's mark: the store was lost. What is there is taken over; creates wait ${Math.ceil(feed.settle / 60_000)} minutes`
  }
  for (const [field, times] of Object.entries(facts.uncleared)) {
    yield `${field} should have disappeared from ${times} ${times === 1 ? 'listing' : 'listings'}, but the service still shows it (service-unknowns U4)`
  }
  for (const [field, times] of Object.entries(facts.echoed)) {
    if (times === facts.uncleared[field as FieldName] || state.echoReported.includes(field as FieldName)) continue
    yield `${field} is shown otherwise than sent in ${times} ${times === 1 ? 'listing' : 'listings'}: the service's own form, remembered and not fought`
  }
}

/** The first word of a plan after a new mapping or preset version: without it the guard's would sound like an accident. */
function mappingChanged(updates: number, rate: number): string {
  const minutes = Math.ceil(updates / rate / 60)
  return `the mapping changed: ${updates} updates, as many calls, about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} at ${rate} a second`
}

/** Hands items on in batches. */
class Batch<Item> {
  #items: Item[] = []
  readonly #write: (items: Item[]) => void

  constructor(write: (items: Item[]) => void) {
    this.#write = write
  }

  add(item: Item): void {
    if (this.#items.push(item) >= 1000) this.flush()
  }

  flush(): void {
    if (this.#items.length > 0) this.#write(this.#items)
    this.#items = []
  }
}
