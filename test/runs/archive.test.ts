/** Whole runs of a feed in a ZIP archive: which member, what a broken one may do, and what is kept of an earlier delivery. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { zip } from '../support/zip.ts'
import type { ZipMember } from '../support/zip.ts'
import { startFeedServer } from './feed-server.ts'

const feedOf = (...numbers: number[]): string => zillowFeed(numbers.map((number) => home(number)))
const homes = [1, 2, 3, 4, 5]
const north: ZipMember = { name: 'export/north.xml', content: feedOf(...homes) }
const south: ZipMember = { name: 'export/south.xml', content: feedOf(11, 12, 13) }
const photo: ZipMember = { name: 'photos/1.jpg', content: 'jpeg' }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

test('the feed in it is synchronised; of several, the one that the configuration names', async () => {
  world.configure({ north: { source: './north.zip' } })
  world.deliver(zip([photo, north]), 'north.zip')
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 5 } })

  world.deliver(zip([photo, north, south]), 'north.zip')
  const refused = await world.run()
  expect(refused).toMatchObject({ result: 'failed', error: expect.stringContaining('setting "member"') })
  expect(refused.error).toContain('export/north.xml, export/south.xml')

  world.configure({ north: { source: './north.zip', member: 'north.*' } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 5, delete: 0 } })
})

test.each<[string, Buffer]>([
  ['a wrong check sum', zip([{ ...north, content: feedOf(1), checkSum: 7 }])],
  ['a size that is not met', zip([{ ...north, content: feedOf(1), size: 100_000 }])],
])('%s: nothing is deleted for being absent', async (_, broken) => {
  world.configure({ north: { source: './north.zip' } })
  world.deliver(zip([north]), 'north.zip')
  await world.run()
  world.deliver(broken, 'north.zip')
  const report = await world.run()
  expect(report.delivery).toMatchObject({ complete: false, reasons: [expect.stringContaining('is broken')] })
  expect(report.counts.delete).toBe(0)
  expect(world.listings()).toHaveLength(5)
})

test('another member is another feed: what is saved of the one says nothing of the other', async () => {
  const server = await startFeedServer()
  try {
    server.give(zip([north, south]))
    const source = `${server.url}/all.zip`
    const limits = 'off'
    world.configure({ north: { source, member: 'north.xml', limits } })
    await world.run()
    await world.run()
    expect(server.statuses).toEqual([200, 304])
    world.configure({ north: { source, member: 'south.xml', limits } })
    const report = await world.run()
    expect(server.statuses).toEqual([200, 304, 200])
    expect(report).toMatchObject({ delivery: { listings: 3 }, counts: { create: 3, delete: 5 } })
  } finally {
    await server.close()
  }
})
