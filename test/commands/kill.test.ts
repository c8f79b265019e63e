/** Killed at any instant, the next run carries on without a duplicate and without a lost listing (DESIGN, "Apply"). */
import { afterEach, expect, test } from 'vitest'
import { home, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { pick, seeded } from '../support/random.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import { until } from './until.ts'

const kills = 10
const seed = Number(process.env['TEST_SEED'] ?? 20_261_121)

let world: RunWorld
afterEach(() => world.end())

test(`kill -9 at ${kills} random instants (TEST_SEED=${seed})`, async () => {
  const random = seeded(seed)
  const north = { limits: { delete: { percent: 100, floor: 100 } }, volatile: { refresh: '365d' } }
  world = await RunWorld.start({
    standIn: { now: () => Date.now() },
    feeds: { north },
    service: { timeout: '2s', rate: 300, profile: { deleteBatch: 2, pageSize: 10 } },
  })
  const byHand = { ...home(900), MLSNumber: 'HAND-1' }
  world.standIn.seed(chatbot, [{ MLSNumber: byHand.MLSNumber, City: byHand.city }])

  let feed: Home[] = Array.from({ length: 30 }, (_, i) => home(i + 1))
  let next = 31
  for (let kill = 1; kill <= kills; kill++) {
    feed = feed.flatMap((one) => {
      const dice = random()
      if (dice < 0.1) return []
      return dice < 0.4 ? [{ ...one, price: one.price + 1 }] : [one]
    })
    for (let more = 0; more < 6; more++) feed.push(home(next++))
    world.deliver(zillowFeed(feed))
    world.calls()
    const after = pick(random, [0, 1, 2, 3, 5, 8, 12, 17, 23, 30])
    const total = (): number => Object.values(world.standIn.counts).reduce((sum, count) => sum + count, 0)
    await world.started(async (child) => {
      await until(() => total() >= after || child.exitCode !== null)
      child.kill('SIGKILL')
    }, 'sync')
    const numbers = world.listings().map((one) => one['MLSNumber'])
    expect(new Set(numbers).size, `kill ${kill} after ${after} calls: no duplicate`).toBe(numbers.length)
  }

  // What may still have landed late by then has; the clock of these runs is past every kill.
  world.clock.advance(Date.now() - world.clock.now() + 3_600_000)
  await world.run()
  await world.run()
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: feed.length } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  expect(world.listings().map((one) => one['MLSNumber'])).toHaveLength(feed.length + 1)
  for (const one of feed)
    expect(world.listing(one.mlsNumber)).toMatchObject({ [one.rental ? 'RentPrice' : 'SalePrice']: one.price })
  expect(world.listing('HAND-1')).toEqual({ MLSNumber: 'HAND-1', City: byHand.city })
})
