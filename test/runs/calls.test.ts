/**
 * A run makes exactly the calls that it needs: one for each create and update, one a batch of deletes, one a page; and those
 * for a look at what it wrote: two a listing, or the pages once more.
 */
import { afterEach, describe, expect, test } from 'vitest'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const limits = 'off'

let world: RunWorld
afterEach(() => world.end())

/** Twenty homes that are there, and seen by a run since. */
async function loaded(north: object = {}): Promise<void> {
  world = await RunWorld.start({ feeds: { north } })
  world.deliver(zillowFeed(homes(1, 20)))
  await world.run()
  await world.run()
}

describe.each([
  { virtualCount: 'unknown', what: 'a page past the last one proves the end', extra: 1 },
  { virtualCount: 'total', what: 'VirtualCount, known to be the total, proves the end', extra: 0 },
] as const)('VirtualCount $virtualCount: $what', ({ virtualCount, extra }) => {
  test.each([
    { pageSize: 7, deleteBatch: 4, gone: 9 },
    { pageSize: 10, deleteBatch: 5, gone: 10 },
    { pageSize: 100, deleteBatch: 50, gone: 1 },
  ])('pages of $pageSize, $gone deletes in batches of $deleteBatch', async ({ pageSize, deleteBatch, gone }) => {
    const profile = { pageSize, deleteBatch, virtualCount }
    world = await RunWorld.start({ feeds: { north: { limits } }, service: { profile } })
    const all = homes(1, 40)
    world.deliver(zillowFeed(all))
    const pages = (listings: number): number => (listings === 0 ? 1 : Math.ceil(listings / pageSize) + extra)

    await world.run()
    expect(world.calls()).toMatchObject({ Create: 40, Update: 0, Delete: 0, List: pages(0) + pages(40) })
    await world.run()
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0, List: pages(40) })

    const changed = all.slice(gone).map((home, index) => (index < 6 ? { ...home, price: home.price + 100 } : home))
    world.deliver(zillowFeed([...changed, ...homes(41, 45)]))
    const report = await world.run()
    const calls = world.calls()
    expect(calls).toMatchObject({ Create: 5, Update: 6, Delete: Math.ceil(gone / deleteBatch) })
    expect(calls.List).toBe(pages(40) + pages(45 - gone))
    expect(report.applied?.calls).toEqual({
      create: calls.Create,
      update: calls.Update,
      delete: calls.Delete,
      list: calls.List,
    })
    expect(report.estimate.calls).toBe(calls.Create + calls.Update + calls.Delete + pages(40))
  })
})

test('a listing of ours that is gone from the service is looked up and updated before it is created again, and nothing else is', async () => {
  await loaded()
  world.standIn.remove('SN-1', home(7).mlsNumber)
  world.calls()
  const report = await world.run()
  expect(report.changes).toMatchObject([{ kind: 'create', mlsNumber: home(7).mlsNumber, why: 'gone from the service' }])
  // Two pages of the walk; each look-up of what is not there is one empty page; two pages or calls for the look at it.
  expect(world.calls()).toMatchObject({ Create: 1, Update: 1, Delete: 0, List: 6 })
  expect(report.estimate.calls).toBe(1 + 1 + 6 - 2)
  expect(world.listings()).toHaveLength(20)
})

describe('what lists and look-ups hide, and is there, is not created a second time', () => {
  const hides = (rule: object, shown = 0) =>
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'hide', shown }, ...rule })
  const begun = async (ownership: string): Promise<void> => {
    await loaded({ ownership })
    world.calls()
  }

  test.each(['tag', 'snapshot'])('a few, which no rule holds (ownership: %s)', async (ownership) => {
    await begun(ownership)
    for (const { mlsNumber } of homes(1, 3)) hides({ mlsNumber })
    hides({}, 17)
    expect(await world.run()).toMatchObject({ counts: { create: 3 } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 3 })
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
    expect(world.listings()).toHaveLength(20)
  })

  test('all, however many lists in a row are empty', async () => {
    await begun('tag')
    hides({})
    for (let half = 0; half < 16; half++) {
      expect(['held', 'partial', 'ok']).toContain((await world.run()).result)
      world.clock.advance(30 * 60_000)
    }
    expect(world.calls()).toMatchObject({ Create: 0, Delete: 0 })
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
    expect(world.listings()).toHaveLength(20)
  })
})

test('where the service counts Updates of what is not there, it is created after a week in which no list shows it', async () => {
  await loaded()
  world.standIn.remove('SN-1', home(7).mlsNumber)
  world.standIn.addFault({ operations: ['Update'], mlsNumber: home(7).mlsNumber, fault: { kind: 'pretend' } })
  const results: string[] = []
  for (let night = 0; night < 12; night++) {
    world.clock.advance(24 * 60 * 60_000)
    results.push((await world.run()).result)
  }
  expect(results.slice(0, 4)).toEqual(['ok', 'ok', 'ok', 'partial'])
  expect(results.at(-1)).toBe('ok')
  expect(world.calls()).toMatchObject({ Create: 21 })
  expect(world.listings()).toHaveLength(20)
})

test('where the service fails at Updates of what is not there, it is created by the next run', async () => {
  await loaded()
  world.standIn.remove('SN-1', home(7).mlsNumber)
  world.standIn.addFault({
    operations: ['Update'],
    mlsNumber: home(7).mlsNumber,
    fault: { kind: 'status', status: 500 },
  })
  world.clock.advance(24 * 60 * 60_000)
  world.calls()
  await world.run()
  expect(world.calls()).toMatchObject({ Create: 0 })
  world.clock.advance(24 * 60 * 60_000)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
  expect(world.calls()).toMatchObject({ Create: 1, Update: 0 })
  expect(world.listings()).toHaveLength(20)
})

describe('a listing that was created just now and was never listed', () => {
  const begun = async (profile: StandInProfileInput): Promise<void> => {
    await loaded()
    world.standIn.changeProfile(profile)
    world.deliver(zillowFeed(homes(1, 21)))
    expect(await world.run()).toMatchObject({ counts: { create: 1, unchanged: 20 } })
    world.calls()
  }

  test('is not created twice by a list that lags behind', async () => {
    await begun({ listLag: 5 })
    const report = await world.run()
    expect(report.changes).toMatchObject([{ kind: 'create', why: 'gone from the service' }])
    expect(report.applied?.outcomes).toMatchObject({ done: 1, failed: 0 })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 1, Delete: 0 })
    expect(world.listings()).toHaveLength(21)

    world.standIn.changeProfile({ listLag: 0 })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 21 } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('is not created twice by a service that takes its time with what it has confirmed', async () => {
    await loaded()
    world.standIn.addFault({ operations: ['Create'], times: 1, fault: { kind: 'pretend' } })
    world.deliver(zillowFeed(homes(1, 21)))
    await world.run()
    world.clock.advance(5 * 60_000)
    world.calls()
    expect(await world.run()).toMatchObject({ result: 'partial', applied: { outcomes: { skipped: 1 } } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 1 })
    world.clock.advance(5 * 60_000)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { hold: 1 } })
    world.clock.advance(11 * 60_000)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
    expect(world.calls()).toMatchObject({ Create: 1 })
  })

  test('is no doubt about the list where that still shows what was taken off in the same run', async () => {
    await begun({ listLag: 8 })
    world.deliver(zillowFeed(homes(2, 22)))
    expect(await world.run()).toMatchObject({ counts: { create: 2, delete: 1 } })
    world.clock.advance(5 * 60_000)
    const report = await world.run()
    expect(report).toMatchObject({ holds: [], counts: { hold: 0 } })
    expect(world.calls()).toMatchObject({ Create: 1 })
    expect(world.numbers()).toHaveLength(21)
  })

  test.for(['zero', 'refused'] as const)(
    'is created again where it is gone (Update: %s)',
    async (updateWithoutMatch) => {
      await begun({ updateWithoutMatch })
      world.standIn.remove('SN-1', home(21).mlsNumber)
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
      expect(world.calls()).toMatchObject({ Create: 1, Delete: 0 })
      expect(world.listings()).toHaveLength(21)
    },
  )
})
