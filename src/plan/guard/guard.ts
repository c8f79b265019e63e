/**
 * The guard: an accident becomes holds. Pure: it is given what the plan would do and what the past says, and gives the
 * rules that trip, each with its numbers and the setting that governs it.
 */
import type { Change } from '../change.ts'
import type { Limits, Trip } from './rule.ts'
import { rules } from './rules.ts'
import type { Seen } from './rules.ts'

export function guard(
  tally: Seen['tally'],
  facts: Seen['facts'],
  past: Seen['past'],
  delivery: Seen['delivery'],
  limits: Limits,
  settings: Seen['settings'],
): Trip[] {
  const trips = rules.flatMap((rule) => rule({ tally, facts, past, delivery, settings }, limits))
  if (limits.onTrip === 'hold' || trips.length === 0) return trips
  const sentence = 'limits.onTrip is abort: nothing is carried out'
  return [...trips, { rule: 'abort', sentence, always: false, holds: () => true }]
}

/** The rules that are about this change; none where it is held already. */
export function heldBy(trips: readonly Trip[], change: Change): Trip[] {
  return change.kind === 'hold' ? [] : trips.filter((trip) => trip.holds(change))
}

/** The name under which an approval lets a change through. */
export function approvalKey(kind: Change['kind'], mlsNumber: string): string {
  return `${kind} ${mlsNumber}`
}
