/** Runs that come to a limit end by themselves, and the next one is right. */
import { statfsSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes(1, 5)))
})
afterEach(() => world.end())

test('the disk of the scratch folder has no room: the run fails, nothing is called, and the next one is right', async () => {
  const { blocks, bsize } = statfsSync('/tmp')
  world.configure({ north: { keepFree: `${blocks * bsize * 100}B` } })
  const failed = await world.executed('sync')
  expect(failed).toMatchObject({ status: 1, stdout: expect.stringMatching(/are to stay free \(keepFree\)/) })
  expect(world.listings()).toHaveLength(0)
  expect(world.standIn.counts.Create).toBe(0)
  world.configure({ north: {} })
  expect(await world.executed('sync')).toMatchObject({ status: 0 })
  expect(world.listings()).toHaveLength(5)
})

test('a delivery of more than maxRecords is incomplete: what was read is synced, and nothing is deleted', async () => {
  await world.executed('sync')
  world.configure({ north: { maxRecords: 3 } })
  world.deliver(zillowFeed(homes(2, 7)))
  const { status, stdout } = await world.executed('sync', '--format', 'json')
  expect(status).toBe(4)
  expect(JSON.parse(stdout)).toMatchObject({
    delivery: {
      records: 3,
      complete: false,
      reasons: ['the document has more than 3 records (maxRecords); the rest was not read'],
    },
  })
  expect(world.standIn.counts.Delete).toBe(0)
})
