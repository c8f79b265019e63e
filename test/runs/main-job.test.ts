/** The main job from beginning to end: load, a changed delivery, diff, sync, and nothing left to do. */
import { mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { home, homes, resoFeed, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'

/** Of 30 homes: 1 and 2 cheaper, 3 described anew, 4 and 5 gone; 31 to 33 are new. */
const first = homes(1, 30)
const second = [
  ...first.slice(5),
  { ...first[0], price: first[0].price + 5000 },
  { ...first[1], price: first[1].price + 900 },
  { ...first[2], description: 'Told otherwise.' },
  ...homes(31, 33),
]

let world: RunWorld
afterEach(() => world.end())

describe.each([
  { preset: 'zillow', feed: zillowFeed, file: 'north.xml' },
  { preset: 'reso-csv', feed: resoFeed, file: 'north.csv' },
])('with $preset', ({ preset, feed, file }) => {
  test('backfill, changed delivery, diff, sync, and nothing left to do', async () => {
    world = await RunWorld.start({ feeds: { north: { preset, source: `./${file}`, delivery: 'full' } } })
    world.deliver(feed(first), file)

    const backfill = await world.run('backfill')
    expect(backfill).toMatchObject({ result: 'ok', counts: { create: 30 }, applied: { outcomes: { done: 30 } } })
    expect(world.listings()).toHaveLength(30)
    expect(await world.run('diff')).toMatchObject({ result: 'ok', counts: { unchanged: 30 }, changes: [] })

    world.deliver(feed(second), file)
    world.calls()
    const [listings, store] = [world.listings(), world.storeBytes()]
    const diff = await world.run('diff')
    expect(diff).toMatchObject({ result: 'changes', error: null, applied: null })
    expect(diff.counts).toEqual({
      create: 3,
      update: 3,
      delete: 2,
      adopt: 0,
      forget: 0,
      hold: 0,
      unchanged: 25,
      reject: 0,
    })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    expect(world.listings()).toEqual(listings)
    expect(world.storeBytes()).toEqual(store)

    const price = first[0].rental ? 'RentPrice' : 'SalePrice'
    const change = diff.changes.find(({ mlsNumber }) => mlsNumber === first[0].mlsNumber)
    expect(change).toMatchObject({
      kind: 'update',
      why: 'changed in the feed',
      fields: [{ field: price, from: first[0].price, to: first[0].price + 5000 }],
    })

    const sync = await world.run()
    expect(sync).toMatchObject({ result: 'ok', digest: diff.digest, applied: { outcomes: { done: 8 } } })
    expect(world.listings().map((item) => item['MLSNumber'])).toHaveLength(31)
    expect(world.listing(first[0].mlsNumber)).toMatchObject({ [price]: first[0].price + 5000 })
    expect(world.listing(first[2].mlsNumber)).toMatchObject({ Description: 'Told otherwise.' })
    expect(world.listing(first[3].mlsNumber)).toBeUndefined()
    expect(world.listing(home(33).mlsNumber)).toBeDefined()

    world.calls()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 31 } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })
})

test('backfill never deletes; it can be begun again', async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(first))
  await world.run('backfill')
  world.deliver(zillowFeed(second))
  const again = await world.run('backfill')
  expect(again.counts).toMatchObject({ create: 3, update: 3, delete: 0 })
  expect(world.listings()).toHaveLength(33)
  expect((await world.run()).counts).toMatchObject({ create: 0, update: 0, delete: 2 })
})

describe('backfill on a chatbot that has listings', () => {
  const filled = async (own: boolean): Promise<void> => {
    world = await RunWorld.start({ feeds: { north: { ownership: own ? 'tag' : 'snapshot' } } })
    world.deliver(zillowFeed(first.slice(0, 20)))
    await world.run('backfill')
    world.loseStore()
    world.configure({ north: {} })
    // Two thirds of the feed are there, and one listing that it does not hold.
    world.deliver(zillowFeed(first.slice(1, 30)))
    world.calls()
  }

  test.each([
    ['that nobody marked', false],
    ['of a store that was lost', true],
  ])('%s: adopts, and creates what lacks, without a hold of the guard', async (_, own) => {
    await filled(own)
    const report = await world.run('backfill')
    expect(report).toMatchObject({ holds: [], counts: { adopt: 19, delete: 0, update: 0 } })
    expect(world.calls()).toMatchObject({ Create: own ? 0 : 10, Update: 0, Delete: 0 })
    // What the lost store knew may still land: its creates wait for `settle`.
    world.clock.advance(16 * 60_000)
    expect(await world.run('backfill')).toMatchObject({ result: 'ok', holds: [], counts: { adopt: 0, delete: 0 } })
    expect(world.listings()).toHaveLength(30)
    expect(await world.run('backfill')).toMatchObject({ result: 'ok', counts: { unchanged: 29 } })
    expect(world.calls()).toMatchObject({ Create: own ? 10 : 0, Update: 0, Delete: 0 })
  })
})

test('a gzip file is a feed', async () => {
  world = await RunWorld.start({ feeds: { north: { source: './north.xml.gz' } } })
  world.deliver(gzipSync(zillowFeed(first)), 'north.xml.gz')
  expect(await world.run()).toMatchObject({ result: 'ok', delivery: { complete: true, listings: 30 } })
})

test('of a glob the newest file is the delivery', async () => {
  world = await RunWorld.start({ feeds: { north: { source: './in/export-*.xml' } } })
  mkdirSync(join(world.folder, 'in'))
  world.deliver(zillowFeed(homes(1, 3)), 'in/export-1.xml')
  world.deliver(zillowFeed(homes(1, 7)), 'in/export-2.xml')
  world.deliver(zillowFeed(homes(1, 5)), 'in/export-3.xml')
  for (const [name, at] of [
    ['1', 1000],
    ['3', 2000],
    ['2', 3000],
  ] as const)
    utimesSync(join(world.folder, `in/export-${name}.xml`), at, at)
  expect(await world.run()).toMatchObject({ result: 'ok', delivery: { listings: 7 } })
})

test('an unchanged feed over HTTP costs one request, and the service is looked at all the same', async () => {
  const server = await startFeedServer()
  try {
    world = await RunWorld.start({ feeds: { north: { source: `${server.url}/export.xml` } } })
    server.give(zillowFeed(first))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 30 } })
    const again = await world.run()
    expect(server.statuses).toEqual([200, 304])
    expect(again).toMatchObject({ result: 'ok', counts: { unchanged: 30 }, delivery: { complete: true, records: 30 } })

    // What drifted on the service is put right though the feed says nothing new.
    world.standIn.edit('SN-1', first[0].mlsNumber, { Description: 'Changed by hand' })
    const drift = await world.run()
    expect(server.statuses).toEqual([200, 304, 304])
    expect(drift.changes).toMatchObject([{ kind: 'update', mlsNumber: first[0].mlsNumber }])
    expect(world.listing(first[0].mlsNumber)).toMatchObject({ Description: first[0].description })

    server.give(zillowFeed(second))
    expect((await world.run()).counts).toMatchObject({ create: 3, update: 3, delete: 2 })
    expect(server.statuses).toEqual([200, 304, 304, 200])
  } finally {
    await server.close()
  }
})
