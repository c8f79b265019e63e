import { createHash } from 'node:crypto'
import { callsToLookAgain } from '../apply/context.ts'
import { freshFor } from '../apply/look-again.ts'
import type { FieldName } from '../core/listing.ts'
import { hold } from '../plan/change.ts'
import type { ActionKind, Counts } from '../plan/change.ts'
import { approvalKey, guard as tripsOf, heldBy } from '../plan/guard/guard.ts'
import { isShrunk } from '../plan/guard/measures.ts'
import { olderThan } from '../plan/guard/older.ts'
import type { Trip } from '../plan/guard/rule.ts'
import type { PlanFacts } from '../plan/plan.ts'
import type { Listed } from './observe.ts'
import type { Plan } from './plan.ts'
import type { Past } from './recall.ts'
import { waitsForAPerson } from './result.ts'
import type { Feed, Readers } from './tools.ts'

/**
 * What a delivery is to the next ones. `one of five`: the guard compares them with it. `alone`: a person let listings go, or
 * it is less than half of the usual (`limits.shrink`) and none of its deletes is held: what was usual before is so no more.
 * `none`: it is doubted.
 */
export type Measure = 'one of five' | 'alone' | 'none'

/** The plan as it is carried out, in figures: accidents in the workspace have become holds. */
export interface Guarded {
  counts: Counts
  trips: Trip[]
  /** Holds that wait for a person. */
  held: number
  /** Holds that are as the configuration wants them: absent listings in their grace. */
  inGrace: number
  /** Updates of listings that drifted. */
  drifted: number
  measure: Measure
  /** What is absent from this delivery is surely gone. */
  absenceProven: boolean
  estimate: { calls: number; seconds: number }
  /** Equal digests are equal plans. */
  digest: string
  /** What a person should know, as sentences. */
  notes: string[]
  /** YYYY-MM-DD in the feed's time zone. */
  today: string
  lookUpCreates: boolean
  listed: Listed
  deleteBatch: number
  /** Whether an approval covers this change. */
  approved: (kind: ActionKind, mlsNumber: string) => boolean
}

/** Turns what the tripped rules are about into holds, and counts the plan as it stands then. */
export function guard(feed: Feed, { workspace, runtime }: Readers, past: Past, plan: Plan): Guarded {
  const { delivery, listed, settings, tally, facts, lostAt, isDoubtful } = plan
  const { summary } = delivery
  const older = olderThan(delivery, past.generations)
  const found = tripsOf(tally, facts, { ...past, older }, summary, feed.limits, settings)
  const trips = holdBack(workspace, found, past.approved)
  const { counts, lookUps, doubted, ...counted } = count(workspace, plan.counts, isDoubtful)
  const looksShrunk = (letGo: number): boolean =>
    settings.mode === 'full' && isShrunk(summary.records, past, feed.limits, letGo, facts.ours)
  // A backfill plans no deletes, so it can't tell whether any are due.
  const isSettled = settings.deletes && (doubted === 0 || !looksShrunk(tally.approved.absent))
  const isAccepted =
    summary.complete &&
    (isSettled || !looksShrunk(0)) &&
    !trips.some(({ rule }) => rule === 'overlap' || rule === 'older')
  const isNewSize = looksShrunk(0) || tally.approved.absent > 0
  const notes = [...delivery.notes, ...notesOf(trips, facts, past, lostAt, feed)]
  const isNoted = older === null || notes.includes(older.sentence)
  if (!isNoted && counts.create + counts.update + counts.delete > 0) notes.push(older.sentence)
  return {
    ...counted,
    counts,
    trips,
    measure: !isAccepted ? 'none' : isNewSize ? 'alone' : 'one of five',
    absenceProven:
      settings.deletes && settings.mode === 'full' && summary.complete && delivery.unreadable === 0 && listed.complete,
    estimate: estimated(feed, past, counts, lookUps, listed, runtime.clock.now()),
    notes,
    today: past.moment.today,
    lookUpCreates: isDoubtful,
    listed,
    deleteBatch: past.deleteBatch,
    approved: (kind, mlsNumber) => past.approved.has(approvalKey(kind, mlsNumber)),
  }
}

/** Gives the rules that held something or are worth a word anyway. */
function holdBack(workspace: Readers['workspace'], trips: Trip[], approved: ReadonlySet<string>): Trip[] {
  if (trips.length === 0) return trips
  const effective = new Set(trips.filter((trip) => trip.always))
  workspace.hold((action) => {
    if (approved.has(approvalKey(action.kind, action.mlsNumber))) return null
    const holding = heldBy(trips, action)
    if (holding.length === 0) return null
    for (const trip of holding) effective.add(trip)
    const why = `${action.why}; held: ${holding.map((trip) => trip.sentence).join('; ')}`
    return hold(action, why, 'approval')
  })
  return trips.filter((trip) => effective.has(trip))
}

/** `doubted`: deletes that are held, for whatever reason. */
function count(workspace: Readers['workspace'], planned: Counts, isDoubtful: boolean) {
  const counts = { ...planned }
  const digest = createHash('sha256')
  let lookUps = 0
  let held = 0
  let inGrace = 0
  let doubted = 0
  let drifted = 0
  for (const { change } of workspace.changes()) {
    counts[change.kind]++
    const isSent = change.kind === 'create' || change.kind === 'update'
    if (isSent && (change.lookUp || (isDoubtful && change.kind === 'create'))) lookUps++
    if (change.kind === 'hold' && change.cause === 'grace') inGrace++
    else if (change.kind === 'hold' && waitsForAPerson(change.cause)) held++
    if (change.kind === 'hold' && change.held === 'delete' && change.cause !== 'twice-shown') doubted++
    if (change.kind === 'update' && change.cause === 'drifted') drifted++
    digest.update(`${change.kind} ${change.mlsNumber} ${change.reason}\n`)
  }
  return { counts, digest: digest.digest('hex').slice(0, 32), lookUps, held, inGrace, doubted, drifted }
}

function estimated(
  { rate }: Feed,
  { deleteBatch }: Past,
  counts: Counts,
  lookUps: number,
  listed: Listed,
  now: number,
): Guarded['estimate'] {
  const before = counts.create + counts.update + lookUps
  const age = now - listed.startedAt + (before / rate) * 1000
  const pages = listed.complete ? listed.pages : Infinity
  const looksAgain = age > freshFor || !listed.complete ? callsToLookAgain(counts.delete, pages) : 0
  const calls = before + looksAgain + Math.ceil(counts.delete / deleteBatch)
  return { calls, seconds: Math.ceil(calls / rate) }
}

function* notesOf(trips: Trip[], facts: PlanFacts, past: Past, lostAt: number | null, feed: Feed): Generator<string> {
  if (facts.mappingUpdates > 0) yield mappingChanged(facts.mappingUpdates, feed.rate)
  for (const trip of trips) yield trip.sentence
  if (facts.driftKept > 0)
    yield `${facts.driftKept} ${facts.driftKept === 1 ? 'listing was' : 'listings were'} edited on the service and stay so until the feed changes them (drift: keep)`
  if (lostAt !== null && past.lostAt === null) {
    yield `the store is new, but the service shows listings with this feed's mark: the store was lost. What is there is taken over; creates wait ${Math.ceil(feed.settle / 60_000)} minutes`
  }
  for (const [field, times] of Object.entries(facts.uncleared)) {
    yield `${field} should have disappeared from ${times} ${times === 1 ? 'listing' : 'listings'}, but the service still shows it (service-unknowns U4)`
  }
  for (const [field, times] of Object.entries(facts.echoed)) {
    if (times === facts.uncleared[field as FieldName] || past.knownForms.includes(field as FieldName)) continue
    yield `${field} is shown otherwise than sent in ${times} ${times === 1 ? 'listing' : 'listings'}: the service's own form, remembered and not fought`
  }
}

/** The first word of a plan after a new mapping or preset version: without it the guard's would sound like an accident. */
function mappingChanged(updates: number, rate: number): string {
  const minutes = Math.ceil(updates / rate / 60)
  return `the mapping changed: ${updates} updates, as many calls, about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} at ${rate} a second`
}
