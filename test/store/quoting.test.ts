/** Text of a feed in the store: whatever it is, it is a value and never a part of a statement. */
import { afterEach, expect, test } from 'vitest'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
afterEach(() => world.end())

test('a name, a number or a text that is SQL is kept as the text that it is', async () => {
  world = await RunWorld.start()
  const nasty = [
    "'); DELETE FROM listing; --",
    '"; DROP TABLE listing; --',
    "x' OR '1'='1",
    '%',
    '_',
    '?1',
    '@key',
    '$key',
  ]
  const all = nasty.map((text, i) => ({ ...home(i + 1), mlsNumber: text, city: text }))
  world.deliver(zillowFeed(all))
  expect(await world.executed('sync')).toMatchObject({ status: 0 })
  const shown = () => world.listings().map((item) => `${String(item['MLSNumber'])} ${String(item['City'])}`)
  expect(shown().toSorted()).toEqual(nasty.map((text) => `${text} ${text}`).toSorted())
  // Two leave, and no other goes with them.
  world.deliver(zillowFeed(all.slice(2)))
  expect(await world.executed('sync')).toMatchObject({ status: 0 })
  world.clock.advance(73 * 3_600_000)
  expect(await world.executed('sync')).toMatchObject({ status: 0 })
  expect(world.listings()).toHaveLength(nasty.length - 2)
  world.calls()
  expect(await world.executed('sync')).toMatchObject({ status: 0 })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
})
