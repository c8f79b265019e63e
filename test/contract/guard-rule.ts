/** What every rule of the guard has to be. */
import { expect } from 'vitest'
import { noTally } from '../../src/plan/guard/hold.ts'
import { tripsOf } from '../../src/plan/guard/rules.ts'
import type { Rule, Seen } from '../../src/plan/guard/rules.ts'
import { createOf, updateOf } from '../support/changes.ts'

const limits = { share: 20, growth: 75 }
const quiet: Seen = {
  ours: 100,
  isRare: false,
  isFirstLoad: false,
  isMirror: false,
  isEmpty: false,
  counts: noTally(),
  examples: {},
  confirmedExamples: {},
  older: null,
  saysItself: () => true,
  wasOlder: false,
  wasUnrecognisable: false,
  creates: 0,
  back: 0,
  backBefore: 0,
  deletes: 0,
  young: 0,
  youngBefore: 0,
  leavingLater: 0,
  outlook: noTally(),
  own: noTally(),
  earlier: noTally(),
  missing: 0,
  strange: 0,
  otherKeys: false,
  editedAgain: 0,
}
const counts = {
  delete: 90,
  renumber: 90,
  create: 900,
  changed: 90,
  gone: 90,
  price: 90,
  class: 90,
  status: 90,
  place: 90,
  size: 90,
  emptied: 90,
  garbled: 90,
}
const wreck: Seen = {
  ...quiet,
  counts,
  creates: 90,
  back: 90,
  deletes: 90,
  young: 90,
  outlook: counts,
  own: counts,
  missing: 90,
  strange: 9,
  editedAgain: 90,
}

/** Asserts that a rule is silent where nothing happens, and where all goes wrong says so in one sentence, with its setting. */
export function rulesHold(rule: Rule): void {
  expect(tripsOf(quiet, limits, [rule])).toEqual([])
  const trips = tripsOf(wreck, limits, [rule])
  expect(trips.length).toBeGreaterThan(0)
  for (const trip of trips) {
    const { name, sentence, label, setting, numbers } = trip
    expect(sentence).not.toMatch(/[?]|[.] |[.]$/)
    expect(sentence).not.toMatch(/undefined|NaN|null/)
    if (setting !== null && name !== 'chatbot' && !('renumbered' in numbers))
      expect(sentence).toContain(`(limits.${setting})`)
    expect(label).not.toBe('')
    // Pure: asked twice, it says the same.
    for (const action of [createOf('A'), updateOf('B')])
      expect(trip.holds(action, null, false)).toEqual(trip.holds(action, null, false))
  }
}
