/** A service so slow that a run would take hours (docs/faults.md, F126): it ends in time, and no kind of change starves. */
import { afterEach, expect, test } from 'vitest'
import { leftForTheNext } from '../../src/apply/apply.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const dearer = (home: Home): Home => ({ ...home, price: home.price + 1000 })

let world: RunWorld
afterEach(() => world.end())

/** Of 40 homes 10 are gone, 20 have another price, and 20 are new. */
const before = homes(1, 40)
const after = [...homes(11, 30).map(dearer), ...homes(31, 60)]
const loose = { limits: 'off', volatile: { refresh: '365d' } }

/** A call a second, on the clock of the test. */
const slow = { rate: 1, concurrency: 1, profile: { deleteBatch: 2 } }

async function begin(deadline: string): Promise<void> {
  world = await RunWorld.start({ feeds: { north: loose } })
  // Time passes by the rate alone: a deadline of a call that waits for a busy machine must not take it along.
  const sleep = world.clock.sleep.bind(world.clock)
  world.clock.sleep = async (milliseconds, signal) => {
    if (milliseconds <= 2000) return sleep(milliseconds, signal)
    await new Promise((_, reject) => signal?.addEventListener('abort', reject))
  }
  world.deliver(zillowFeed(before))
  await world.run()
  await world.run()
  world.configure({ north: { ...loose, deadline } }, slow)
  world.deliver(zillowFeed(after))
  world.calls()
}

test('ends in time, deletes have their share, and the next runs do the rest', async () => {
  await begin('20s')
  const startedAt = world.clock.now()
  const first = await world.run()
  const calls = world.calls()
  expect(first).toMatchObject({ result: 'partial', error: null })
  // Its deadline begins with the plan; listing the service took a second or two, and the last call one more.
  expect(world.clock.now() - startedAt).toBeLessThan(25_000)
  for (const kind of ['Create', 'Update', 'Delete'] as const) expect(calls[kind], kind).toBeGreaterThan(0)
  const { done, skipped, failed, unknown } = first.applied!.outcomes
  expect([done + skipped, failed, unknown]).toEqual([50, 0, 0])
  expect(first.notes).toContain(
    `${skipped} changes are left for the next run: the time for changes of one run (deadline) was over`,
  )
  const left = first.changes.filter((change) => change.outcome?.result === 'skipped')
  expect(left.map((change) => change.outcome?.error)).toContain('the run took as long as it may: left for the next one')

  let runs = 1
  for (; (await world.run()).result === 'partial'; runs++) expect(runs).toBeLessThan(6)
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 50 } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  const shown = world.listings().map((item) => String(item['MLSNumber']))
  expect(shown.toSorted()).toEqual(after.map((home) => home.mlsNumber).toSorted())
})

test('a run that has time enough is not cut, and a backfill never is', async () => {
  await begin('10m')
  expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 50, skipped: 0 } } })
  world.configure({ north: { ...loose, deadline: '2s' } }, slow)
  world.deliver(zillowFeed([...after, ...homes(61, 80)]))
  expect(await world.run('backfill')).toMatchObject({ result: 'ok', applied: { outcomes: { done: 20, skipped: 0 } } })
})

test('a first load that takes several runs is one: what is there of it is not drowned by the rest', async () => {
  await begin('10s')
  world.configure({ north: { chatbot: 'SN-2', deadline: '10s' } }, slow)
  const results: string[] = []
  do results.push((await world.run()).result)
  while (results.at(-1) === 'partial' && results.length < 20)
  expect(new Set(results)).toEqual(new Set(['partial', 'ok']))
  expect(results.length).toBeGreaterThan(2)
})

test('a home is not made anew while nobody has asked whether it is there; the note counts what the time was over for', async () => {
  world = await RunWorld.start({ feeds: { north: loose } })
  const all = homes(1, 20)
  const renumbered = all.map((home, index) => (index < 6 ? { ...home, mlsNumber: `NEW-${home.mlsNumber}` } : home))
  world.deliver(zillowFeed(all))
  await world.run()
  await world.run()
  world.clock.advance(2 * 86_400_000)
  world.configure({ north: { ...loose, deadline: '6s' } }, slow)
  world.deliver(zillowFeed(renumbered))
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'hide', shown: 14 } })
  const report = await world.run()
  expect(report).toMatchObject({ counts: { create: 6, forget: 6 }, applied: { outcomes: { done: 0, skipped: 12 } } })
  expect(world.numbers()).toEqual(all.map((home) => home.mlsNumber))
  const left = report.changes.filter(({ outcome }) => outcome?.error === leftForTheNext)
  expect(left.length).toBeGreaterThan(0)
  expect(left.length).toBeLessThan(12)
  expect(report.notes.join()).toContain(`${left.length} changes are left for the next run`)
})
