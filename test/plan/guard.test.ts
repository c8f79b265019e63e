/** The guard's rules, each at its edge: what is allowed, what trips, what it holds, and the words it uses. */
import { describe, expect, test } from 'vitest'
import { optionalFields } from '../../src/core/listing.ts'
import type { FieldName } from '../../src/core/listing.ts'
import type { Action, Update } from '../../src/plan/change.ts'
import { guard, heldBy } from '../../src/plan/guard/guard.ts'
import type { Limits, Past } from '../../src/plan/guard/rule.ts'
import { Tally } from '../../src/plan/guard/tally.ts'
import type { PlanSettings } from '../../src/plan/inputs.ts'
import { KeyHashes, sharedKeys } from '../../src/plan/key-hashes.ts'
import type { PlanFacts } from '../../src/plan/plan.ts'
import { adoptOf, createOf, deleteAbsentOf, deleteOf, forgetAbsentOf, forgetOf, updateOf } from '../support/changes.ts'
import { PlanWorld } from '../support/plan-world.ts'

const limits: Limits = {
  delete: { percent: 20, floor: 10 },
  update: { percent: 60, floor: 50 },
  shrink: 50,
  overlap: 50,
  recreate: { percent: 20, floor: 2 },
  lostField: { percent: 50, floor: 10 },
  onTrip: 'hold',
}

const keysFrom = (from: number, count: number): BigUint64Array => {
  const keys = new KeyHashes()
  for (let i = from; i < from + count; i++) keys.add(`MLS${i}`)
  return keys.sorted()
}

interface World {
  plan?: [Action, number][]
  facts?: Partial<PlanFacts>
  past?: Partial<Past>
  records?: number
  listings?: number
  filtered?: number
  limits?: Partial<Limits>
  settings?: Partial<PlanSettings>
}

function trips(world: World) {
  const tally = new Tally()
  for (const [one, times] of world.plan ?? []) for (let i = 0; i < times; i++) tally.add(one, false)
  const had = optionalFields.map(() => 0)
  const facts: PlanFacts = {
    ours: 100,
    leaving: 0,
    duplicates: 0,
    keys: keysFrom(0, 100),
    matched: 100,
    had,
    firstSights: 0,
    echoed: {},
    uncleared: {},
    marked: 0,
    unknownMarks: 0,
    driftKept: 0,
    mappingUpdates: 0,
    ...world.facts,
  }
  const records = world.records ?? 100
  const past: Past = {
    deliveries: [{ records: 100 }],
    lastKeys: keysFrom(0, 100),
    deletes24h: 0,
    older: null,
    otherKeys: false,
    ...world.past,
  }
  return guard(
    tally,
    facts,
    past,
    { records, listings: world.listings ?? records, filtered: world.filtered ?? 0 },
    { ...limits, ...world.limits },
    { ...new PlanWorld().settings, ...world.settings },
  )
}

const absent = deleteAbsentOf('A')
const said = deleteOf('A')
const update = updateOf('A')
const losingField = (field: FieldName, cause: Update['cause']): Update =>
  updateOf('A', { cause, fields: [{ field, from: 1, to: null }] })
const rules = (world: World): string[] => trips(world).map((trip) => trip.rule)

test('a quiet day trips nothing', () => {
  expect(
    rules({
      plan: [
        [absent, 3],
        [update, 20],
      ],
    }),
  ).toEqual([])
})

describe('deletes', () => {
  test.each([
    ['20 % of 100 are allowed', 100, 0, 20, []],
    ['one more is not', 100, 0, 21, ['delete']],
    ['a small agency has the floor', 12, 0, 10, []],
    ['and no more', 12, 0, 11, ['delete']],
    ['what was deleted in 24 hours counts, and counts as ours', 85, 15, 5, []],
    ['a ratchet of small steps trips', 85, 15, 6, ['delete']],
    ['none planned is none held, whatever was before', 80, 40, 0, []],
  ])('%s', (_, ours, deletes24h, planned, expected) => {
    expect(rules({ plan: [[absent, planned]], facts: { ours }, past: { deletes24h } })).toEqual(expected)
  })
  test('a delete under way is ours and in the ledger, but one listing: killed again and again, no more than 20 % go', () => {
    const killed = (leaving: number): World => ({ facts: { leaving }, past: { deletes24h: 14 } })
    expect(rules({ ...killed(14), plan: [[absent, 6]] })).toEqual([])
    expect(rules({ ...killed(14), plan: [[absent, 7]] })).toEqual(['delete'])
  })
  test('those planned again count once', () => {
    const tally = new Tally()
    tally.add(absent, true)
    expect(tally.deletes).toBe(0)
  })
  test('it holds every delete and nothing else, with its numbers and its setting', () => {
    const [trip] = trips({ plan: [[absent, 21]], past: { deletes24h: 3 } })
    expect([absent, said, update, forgetAbsentOf('A')].map((one) => heldBy([trip], one).length)).toEqual([1, 1, 0, 0])
    expect(trip.sentence).toBe(
      '21 deletes after 3 in the last 24 hours are more than the 20 allowed in 24 hours (20 % of 103 listings, at least 10; limits.delete)',
    )
  })
})

test('updates: 60 % with a floor of 50; a new mapping is named as the reason', () => {
  expect(rules({ plan: [[update, 60]] })).toEqual([])
  expect(rules({ plan: [[update, 50]], facts: { ours: 10 } })).toEqual([])
  const [trip] = trips({ plan: [[updateOf('A', { cause: 'mapping' }), 61]], facts: { mappingUpdates: 61 } })
  expect(trip.rule).toBe('update')
  expect(trip.sentence).toContain('limits.update')
  expect(trip.sentence).toContain('the mapping changed: 61 updates')
})

test('a delivery that shrank below half of the median of the last five holds what is absent from it, not what it says is gone', () => {
  const deliveries = [90, 110, 100, 5, 100].map((records) => ({ records }))
  expect(rules({ records: 50, past: { deliveries } })).toEqual([])
  const [trip] = trips({ records: 49, past: { deliveries } })
  expect(trip.rule).toBe('shrink')
  expect([trip.holds(absent), trip.holds(said), trip.holds(update)]).toEqual([true, false, false])
  expect(rules({ records: 49, settings: { mode: 'delta' } })).toEqual([])
})

describe('another customer’s feed', () => {
  test.each([
    ['half shared', keysFrom(50, 100), keysFrom(0, 100), []],
    ['less than half shared', keysFrom(51, 100), keysFrom(0, 100), ['overlap']],
    ['grown to five times, all of the last one in it', keysFrom(0, 500), keysFrom(0, 100), []],
    ['shrunk to a part of the last one', keysFrom(0, 20), keysFrom(0, 100), []],
    ['two of three exchanged in a tiny feed', keysFrom(2, 3), keysFrom(0, 3), []],
    ['most of a small agency’s exchanged', keysFrom(7, 8), keysFrom(0, 8), ['overlap']],
    ['all of three exchanged', keysFrom(3, 3), keysFrom(0, 3), ['overlap']],
    ['the only one exchanged', keysFrom(1, 1), keysFrom(0, 1), []],
    ['no last delivery', keysFrom(0, 100), null, []],
  ])('%s', (_, keys, lastKeys, expected) => {
    const world = { facts: { keys }, past: { lastKeys } }
    expect(rules(world)).toEqual(expected)
    for (const trip of trips(world))
      expect([absent, update, createOf('A'), adoptOf('A')].every((one) => trip.holds(one))).toBe(true)
  })
})

test('a `where` that leaves nothing over deletes nothing', () => {
  const leftOut = { plan: [[said, 3]] as [Action, number][], facts: { ours: 3 } }
  expect(rules({ ...leftOut, listings: 0, filtered: 3, records: 3, past: { deliveries: [] } })).toEqual(['nothingLeft'])
  expect(rules({ ...leftOut, listings: 1, filtered: 2, records: 3, past: { deliveries: [] } })).toEqual([])
  const delta = { settings: { mode: 'delta' as const }, listings: 0, filtered: 1, records: 1 }
  expect(rules({ ...leftOut, ...delta })).toEqual([])
})

test('ours gone while our mark stands under unknown MLSNumbers: a service that spells them its own way', () => {
  const gone = createOf('A', { cause: 'gone-from-service' })
  const [trip] = trips({ plan: [[gone, 1]], facts: { unknownMarks: 1 } })
  expect([trip.rule, trip.holds(gone), trip.holds(deleteAbsentOf('A', null)), trip.holds(absent)]).toEqual([
    'spelling',
    true,
    true,
    false,
  ])
  expect(rules({ plan: [[gone, 1]] })).toEqual([])
  expect(rules({ plan: [[absent, 1]], facts: { unknownMarks: 1 } })).toEqual([])
})

test('without an earlier delivery, as after a lost store, what is ours is what a delivery is measured by', () => {
  const past = { deliveries: [], lastKeys: null }
  const small = { past, facts: { ours: 8 }, plan: [[absent, 5]] satisfies World['plan'] }
  expect(rules({ ...small, records: 4 })).toEqual([])
  const [trip] = trips({ ...small, records: 3 })
  expect(trip.sentence).toBe(
    'the delivery has 3 records, less than 50 % of the 8 listings that are ours (no earlier delivery is known; limits.shrink)',
  )
  expect(rules({ past, facts: { ours: 0 }, records: 1 })).toEqual([])
})

test('rules that trip together are all named', () => {
  const both = trips({ plan: [[absent, 60]], records: 40 })
  expect(both.map((trip) => trip.rule)).toEqual(['shrink', 'delete'])
  expect(heldBy(both, absent)).toEqual(both)
})

test('listings gone from the service: more than two and 20 % of ours look like an index being rebuilt', () => {
  const gone = createOf('A', { cause: 'gone-from-service' })
  expect(rules({ plan: [[gone, 20]] })).toEqual([])
  expect(rules({ plan: [[gone, 2]], facts: { ours: 4 } })).toEqual([])
  const [trip] = trips({ plan: [[gone, 21]] })
  expect([trip.rule, trip.holds(gone), trip.holds(createOf('A'))]).toEqual(['recreate', true, false])
  const forgotten = [forgetAbsentOf('A'), forgetOf('A'), forgetOf('A', 'other-feed')]
  expect(forgotten.map((one) => trip.holds(one))).toEqual([true, true, false])
})

test('a field that most listings had and most now lack is a renamed column', () => {
  const bit = optionalFields.indexOf('SalePrice')
  const had = optionalFields.map((_, index) => (index === bit ? 60 : 0))
  const losing = losingField('SalePrice', 'changed')
  expect(rules({ plan: [[losing, 30]], facts: { had } })).toEqual([])
  const [trip] = trips({ plan: [[losing, 31]], facts: { had } })
  expect(trip.rule).toBe('lostField')
  expect(trip.sentence).toContain('31 of the 60 listings that had SalePrice now lack it')
  expect([trip.holds(losing), trip.holds(update)]).toEqual([true, false])
  const drifted = losingField('SalePrice', 'drifted')
  expect(rules({ plan: [[drifted, 31]], facts: { had } })).toEqual([])
  expect(rules({ plan: [[losing, 31]], facts: { had: had.map((count) => count / 2) } })).toEqual([])
})

test('an incomplete delivery and an incomplete list are worth a word even where they hold nothing', () => {
  const incomplete = { complete: false, reasons: ['it was cut'] }
  const both = trips({ settings: { delivery: incomplete, remote: incomplete } })
  expect(both.map((trip) => [trip.rule, trip.always])).toEqual([
    ['delivery', true],
    ['remote', true],
  ])
  expect(both[0].sentence).toContain('it was cut')
})

test('onTrip abort holds everything once anything trips', () => {
  expect(rules({ limits: { onTrip: 'abort' } })).toEqual([])
  const [, abort] = trips({ plan: [[absent, 21]], limits: { onTrip: 'abort' } })
  expect([abort.rule, abort.holds(createOf('A'))]).toEqual(['abort', true])
})

test('key hashes: a million different MLSNumbers share none by accident', () => {
  const some = keysFrom(0, 200_000)
  expect(new Set(some).size).toBe(200_000)
  expect(sharedKeys(some, keysFrom(200_000, 200_000))).toBe(0)
  expect(sharedKeys(some, keysFrom(100_000, 200_000))).toBe(100_000)
})
