/** A defect of the program in a run of a daemon, which goes on. */
import Database from 'better-sqlite3'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
afterEach(() => world.end())

test('the run that it ends is on record as failed, and no longer under way', async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes(1, 3)))
  const app = openApp(world.context, { logLevel: 'error' })
  await world.run('sync', 'north', app)
  const beside = new Database(join(world.folder, 'store.db'))
  beside.exec('ALTER TABLE keys_used RENAME TO gone')
  await expect(world.run('sync', 'north', app)).rejects.toThrow('no such table: keys_used')
  const { runs } = app.store()
  expect(await runs.underWay('north')).toBeNull()
  expect(await runs.last('north')).toMatchObject({
    number: 2,
    result: 'failed',
    interrupted: false,
    error: 'a defect ended this run: no such table: keys_used',
  })
  beside.exec('ALTER TABLE gone RENAME TO keys_used')
  beside.close()
  expect(await world.run('sync', 'north', app)).toMatchObject({ result: 'ok' })
  expect((await runs.latest('north', 9)).map(({ result }) => result)).toEqual(['ok', 'failed', 'ok'])
  await app.close()
})
