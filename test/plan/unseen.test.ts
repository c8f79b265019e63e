/** What a run that reads no list has to look up, and of what it can't go by the snapshot. */
import { expect, test } from 'vitest'
import type { SnapshotRow } from '../../src/plan/inputs.ts'
import { PlanWorld, listing, now } from '../support/plan-world.ts'

const minute = 60_000
const A = listing('A')
const dearer = listing('A', { SalePrice: 360_000 })
/** Long ago enough to be refreshed. */
const old = { sentAt: now - 400 * 86_400_000 }
const world = (): PlanWorld => new PlanWorld()

test.each<[string, PlanWorld, object | null]>([
  ['nothing of what is as it was', world().remembers(A).deliversUnchanged('A'), {}],
  ['nothing of what came again with the same content', world().remembers(A).delivers(A), {}],
  ['what changed', world().remembers(A).delivers(dearer), { A: 'north hash-A' }],
  [
    'what is to be refreshed',
    world()
      .remembers(listing('A', { DaysOnMarket: 1 }), old)
      .delivers(A),
    { A: 'north hash-A' },
  ],
  ['what is new', world().delivers(A), { A: null }],
  ['what is absent', world().remembers(A), { A: 'north hash-A' }],
  ['what the feed says to be gone', world().remembers(A).says('removal', 'A'), { A: 'north hash-A' }],
  ['nothing of what was never ours and is gone', world().says('filtered', 'A'), {}],
  ['nothing of what another feed has', world().remembers(A, { feed: 'south' }).delivers(A), {}],
  ['nothing of what was delivered twice and differs', world().remembers(A).delivers(A).delivers(dearer), {}],
  ['what was put right last', world().remembers(A, { undone: 1 }).deliversUnchanged('A'), { A: 'north hash-A' }],
  [
    'what was refused',
    world()
      .remembers(A, { owned: false, refusedAt: now - 1 })
      .delivers(A),
    { A: null },
  ],
  [
    'what is absent and in its grace',
    world()
      .remembers(A)
      .wasAbsent('A', 1, now - minute),
    { A: 'north hash-A' },
  ],
])('asked for is %s', async (_, asked, asks) => {
  expect(await asked.asks()).toEqual(asks)
})

test('a delta asks for nothing that it does not name', async () => {
  expect(await world().remembers(A).asks({ mode: 'delta' })).toEqual({})
})

test('what a removal of a delta may be about stays to be decided, as nobody looked', async () => {
  const lookUps = { keys: new Set<string>(), listedAt: now - minute }
  const { notes } = await world().says('removal', 'A').plan({ mode: 'delta', lookUps })
  expect(notes).toEqual([{ op: 'undecided', key: 'A' }])
})

test('what another feed has is taken over by its list alone: nothing of it is expected', async () => {
  const theirs = world().remembers(A, { feed: 'south' }).delivers(A)
  expect(await theirs.asks({ outranks: () => true })).toEqual({ A: null })
})

test.each<[string, Partial<SnapshotRow>]>([
  ['a call is in flight', { flight: 'update', flightAt: now - minute }],
  ['a create is in flight', { owned: false, content: null, flight: 'create', flightAt: now - minute }],
  ['an attempt may land since the list', { suspectUntil: now }],
  ['nobody saw it since it was sent', { baseline: null }],
  ['its last update was ignored', { ignored: true }],
  ['what was sent last is not known', { content: null }],
])('only the list tells where of a listing of ours %s', async (_, changes) => {
  expect(await world().remembers(A, changes).deliversUnchanged('A').asks()).toBeNull()
  expect(
    await world()
      .remembers(A, { ...changes, feed: 'south' })
      .asks(),
  ).toEqual({})
})

test('a list that began after the last attempt could land tells enough', async () => {
  const asking = world()
    .remembers(A, { suspectUntil: now - minute })
    .deliversUnchanged('A')
  expect(await asking.asks()).toEqual({})
})

test('nothing is deleted of which a run has looked for another only', async () => {
  const both = world().remembers(A).remembers(listing('B')).shows(A).says('removal', 'C').remembers(listing('C'))
  const lookUps = { keys: new Set(['A']), listedAt: now - minute }
  const { changes } = await both.plan({ lookUps })
  expect(changes.map(({ kind, mlsNumber }) => [kind, mlsNumber])).toEqual([['delete', 'A']])
})
