/** When a feed was last brought up to date. */
import { afterEach, expect, test } from 'vitest'
import { lastGood } from '../../src/app/last-good.ts'
import { openApp } from '../../src/app/open.ts'
import { dearer, home, homes, zillowEnd, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
afterEach(() => world.end())

async function goodAt(): Promise<number | null> {
  const app = openApp(world.context)
  try {
    return await lastGood(app.store(), app.config.feeds[0])
  } finally {
    await app.close()
  }
}

test('an incomplete delivery and a run that failed with a complete one make no good run between them', async () => {
  world = await RunWorld.start()
  const later = (): void => world.clock.advance(3_600_000)
  world.deliver(zillowFeed(homes(1, 12)))
  const { startedAt } = await world.run()
  later()
  world.deliver(zillowFeed(homes(1, 12)).replace(zillowEnd, ''))
  expect(await world.run()).toMatchObject({ result: 'partial', delivery: { complete: false } })
  later()
  world.deliver(zillowFeed([dearer(home(1)), ...homes(2, 12)]))
  world.standIn.addFault({ operations: ['Update'], fault: { kind: 'credentials' } })
  expect(await world.run()).toMatchObject({ result: 'failed', delivery: { complete: true } })
  expect(await goodAt()).toBe(startedAt)
  later()
  world.deliver(zillowFeed(homes(1, 12)).replace(zillowEnd, ''))
  expect(await world.run()).toMatchObject({ result: 'partial' })
  expect(await goodAt()).toBe(startedAt)
  later()
  world.standIn.clearFaults()
  world.deliver(zillowFeed(homes(1, 12)))
  const again = await world.run()
  expect(await goodAt()).toBe(again.startedAt)
})

test('nor is one good whose list of the service could not be read whole, as it takes nothing off', async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes(1, 12)))
  const { startedAt } = await world.run()
  world.deliver(zillowFeed(homes(1, 11)))
  world.standIn.changeProfile({ maxPageSize: 6 })
  world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
  for (let run = 0; run < 2; run++) {
    world.clock.advance(3_600_000)
    expect(await world.run()).toMatchObject({ result: 'partial', remote: { complete: false } })
    expect(await goodAt()).toBe(startedAt)
  }
  world.standIn.clearFaults()
  const again = await world.run()
  expect(again).toMatchObject({ result: 'ok', counts: { delete: 1 } })
  expect(await goodAt()).toBe(again.startedAt)
})
