/**
 * The guard (DESIGN, "The guard"): an accident becomes holds. Pure: it is given what the plan would do and what the
 * past says, and gives the rules that trip, each with its numbers and the setting that governs it.
 */
import { optionalFields } from '../../core/listing.ts'
import type { DeliverySummary } from '../../core/listing.ts'
import type { Change } from '../change.ts'
import type { PlanSettings } from '../inputs.ts'
import { sharedKeys } from '../key-hashes.ts'
import type { PlanFacts } from '../plan.ts'
import { allowance, isFight, isForeign, isShrunk, usual } from './measures.ts'
import { isSetBack } from './older.ts'
import type { Limits, Past, Trip } from './rule.ts'
import { losesFields } from './tally.ts'
import type { Tally } from './tally.ts'

export function guard(
  tally: Tally,
  facts: PlanFacts,
  past: Past,
  delivery: Pick<DeliverySummary, 'records' | 'listings' | 'filtered'>,
  limits: Limits,
  settings: PlanSettings,
): Trip[] {
  const { records } = delivery
  const trips: Trip[] = []
  const trip = (rule: Trip['rule'], sentence: string, holds: Trip['holds']): void => {
    trips.push({ rule, sentence, always: rule === 'delivery' || rule === 'remote', holds })
  }

  if (!settings.delivery.complete) {
    trip(
      'delivery',
      `the delivery is incomplete (${settings.delivery.reasons.join('; ')}): nothing is deleted because it is absent`,
      () => false,
    )
  }
  if (!settings.remote.complete) {
    trip(
      'remote',
      `the service's list is incomplete (${settings.remote.reasons.join('; ')}): nothing is deleted because it is absent, and each create is looked up first`,
      () => false,
    )
  }

  const { older } = past
  if (older !== null && isSetBack(older, tally))
    trip('older', older.sentence, ({ kind }) => older.proven || kind === 'update' || kind === 'delete')

  if (past.lastKeys !== null && facts.keys.length > 0 && settings.mode === 'full') {
    const shared = sharedKeys(facts.keys, past.lastKeys)
    const { creates, absent } = tally.approved
    if (isForeign(shared + creates, facts.keys.length, past.lastKeys.length - absent, limits.overlap)) {
      trip(
        'overlap',
        `only ${shared} of the delivery's ${facts.keys.length} MLSNumbers were in the last one, less than ${limits.overlap} % (limits.overlap): is this another customer's feed?`,
        () => true,
      )
    }
  }

  if (settings.mode === 'full' && isShrunk(records, past, limits, tally.approved.absent, facts.ours)) {
    const letGo = tally.approved.absent > 0 ? `, ${tally.approved.absent} approved deletes apart` : ''
    const measure =
      usual(past) === null
        ? `${facts.ours} listings that are ours (no earlier delivery is known${letGo}; limits.shrink)`
        : `${usual(past)} usual (the median of the last ${past.deliveries.length}${letGo}; limits.shrink)`
    trip(
      'shrink',
      `the delivery has ${records} records, less than ${limits.shrink} % of the ${measure}`,
      (change) => change.kind === 'delete' && change.cause === 'absent',
    )
  }

  const base = facts.ours - facts.leaving + past.deletes24h
  const deletable = allowance(limits.delete, base)
  if (tally.deletes > 0 && past.deletes24h + tally.deletes > deletable) {
    const before = past.deletes24h > 0 ? ` after ${past.deletes24h} in the last 24 hours` : ''
    trip(
      'delete',
      `${tally.deletes} deletes${before} are more than the ${deletable} allowed in 24 hours ` +
        `(${limits.delete.percent} % of ${base} listings, at least ${limits.delete.floor}; limits.delete)`,
      (change) => change.kind === 'delete',
    )
  }

  const updatable = allowance(limits.update, facts.ours)
  if (tally.updates > updatable) {
    const mapping = facts.mappingUpdates > 0 ? `; the mapping changed: ${facts.mappingUpdates} updates` : ''
    trip(
      'update',
      `${tally.updates} updates are more than the ${updatable} allowed in a run ` +
        `(${limits.update.percent} % of ${facts.ours} listings, at least ${limits.update.floor}; limits.update)${mapping}`,
      (change) => change.kind === 'update',
    )
  }

  if (settings.mode === 'full' && delivery.listings === 0 && delivery.filtered > 0) {
    trip(
      'nothingLeft',
      `\`where\` leaves none of the ${delivery.records} records over: is it what was meant?`,
      (change) => change.kind === 'delete',
    )
  }

  const recreatable = allowance(limits.recreate, facts.ours)
  if (tally.recreates > recreatable) {
    // Other keys may be another customer's: nothing new belongs there either (fault-model F91).
    const isForeignList = past.otherKeys && tally.recreates * 2 > facts.ours
    trip(
      'recreate',
      `${tally.recreates} of our listings are gone from the service, more than ${recreatable} ` +
        `(${limits.recreate.percent} % of ${facts.ours}, at least ${limits.recreate.floor}; limits.recreate): ` +
        (isForeignList
          ? 'its keys were changed since: are they those of another customer?'
          : 'is its index being rebuilt?'),
      // What is forgotten on the word of the same list would, delivered again, be created beside a listing that is there.
      (change) =>
        (change.kind === 'create' && (isForeignList || change.cause === 'gone-from-service')) ||
        (change.kind === 'forget' && change.cause !== 'other-feed'),
    )
  }

  if (tally.recreates > 0 && facts.unknownMarks > 0) {
    trip(
      'spelling',
      `${tally.recreates} of our listings are gone from the service while ${facts.unknownMarks} with this feed's mark are there ` +
        'under MLSNumbers that the store does not know: does the service spell them its own way?',
      (change) =>
        (change.kind === 'create' && change.cause === 'gone-from-service') ||
        (change.kind === 'delete' && change.cause === 'absent' && change.snapshot === null),
    )
  }

  if (isFight(tally.again, facts.ours)) {
    trip(
      'writers',
      `${tally.again} listings were changed on the service once more after they had been sent again: ` +
        "does another program write this chatbot's listings, such as a second daemon with a store of its own?",
      (change) => change.kind === 'update' && change.again === true,
    )
  }

  for (let bit = 0; bit < optionalFields.length; bit++) {
    const { [bit]: had } = facts.had
    const { [bit]: lost } = tally.lost
    if (had * 2 <= facts.matched || lost <= Math.max(limits.lostField.floor, (had * limits.lostField.percent) / 100))
      continue
    trip(
      'lostField',
      `${lost} of the ${had} listings that had ${optionalFields[bit]} now lack it, more than ${limits.lostField.percent} % (limits.lostField): was a column renamed?`,
      (change) => losesFields(change) && (change.lost & (1 << bit)) !== 0,
    )
  }

  if (limits.onTrip === 'abort' && trips.length > 0)
    trip('abort', 'limits.onTrip is abort: nothing is carried out', () => true)
  return trips
}

/** The rules that are about this change; none where it is held already. */
export function heldBy(trips: readonly Trip[], change: Change): Trip[] {
  return change.kind === 'hold' ? [] : trips.filter((one) => one.holds(change))
}

/** The name under which an approval lets a change through. */
export function approvalKey(kind: Change['kind'], mlsNumber: string): string {
  return `${kind} ${mlsNumber}`
}
