/** `backup FILE`: a whole copy of the store, which can be put back. */
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dearer, home, homes, keys, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'

let world: RunWorld
const at = (name: string): string => join(world.folder, name)

beforeEach(async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes(1, 12)))
})
afterEach(() => world.end())

test('a backup that is put back is found out, and nothing comes to be there twice', async () => {
  await world.run()
  const { status, stdout } = await world.executed('backup', at('copy.db'))
  expect(status).toBe(0)
  expect(stdout).toContain(`copy the backup to ${at('store.db')}`)
  if (process.platform !== 'win32') expect(statSync(at('copy.db')).mode & 0o077).toBe(0)
  world.deliver(zillowFeed(homes(1, 15)))
  await world.run()
  for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
  copyFileSync(at('copy.db'), at('store.db'))
  const after = await world.run()
  expect(after.notes.join()).toContain('a backup that was put back')
  expect(after.counts).toMatchObject({ create: 0, adopt: 3, unchanged: 12 })
  expect(world.listings()).toHaveLength(15)
})

test.each([
  ['refused after it', '--refuse'],
  ['approved before it, and that was taken back', '--revoke'],
])('what is held in a backup waits its whole time again, as it may have been %s', async (_, decision) => {
  const day = 86_400_000
  await world.run()
  world.clock.advance(2 * day)
  world.deliver(zillowFeed(homes(1, 6)))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  // Approved in the backup, and taken back after it; or refused after it.
  if (decision === '--revoke') await world.approve()
  await world.executed('backup', at('copy.db'))
  await world.executed('approve', 'north', decision, '--yes')
  world.clock.advance(4 * day)
  for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
  copyFileSync(at('copy.db'), at('store.db'))
  for (const command of ['diff', 'sync'] as const)
    expect(await world.run(command)).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  world.clock.advance(2 * day)
  expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  world.clock.advance(day)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 6 } })
})

test('also where a delivery that was cut has begun its wait again before', async () => {
  const hour = 3_600_000
  await world.run()
  world.clock.advance(48 * hour)
  world.deliver(zillowFeed(homes(1, 6)))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 6 } })
  for (const cut of [true, false]) {
    world.clock.advance(hour)
    world.deliver(cut ? zillowFeed(homes(1, 12)).slice(0, -20) : zillowFeed(homes(1, 6)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0 } })
  }
  await world.executed('backup', at('copy.db'))
  await world.executed('approve', 'north', '--refuse', '--yes')
  for (const wait of [96, 71]) {
    world.clock.advance(wait * hour)
    if (wait === 96) {
      for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
      copyFileSync(at('copy.db'), at('store.db'))
    }
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  }
  world.clock.advance(hour)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 6 } })
})

test.each(['approved', 'held'])('in a store that is moved each night what is %s goes all the same', async (what) => {
  const hour = 3_600_000
  const moved = async () => {
    world.clock.advance(16 * hour)
    writeFileSync(at('moved.db'), readFileSync(at('store.db')))
    for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
    copyFileSync(at('moved.db'), at('store.db'))
    const report = await world.run()
    expect(report.notes[0]).toContain('The store is not as it was left')
    world.clock.advance(8 * hour)
    return report
  }
  await world.run()
  world.clock.advance(48 * hour)
  world.deliver(zillowFeed(homes(1, 6)))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  world.clock.advance(8 * hour)
  if (what === 'approved') await world.approve()
  else for (let night = 0; night < 3; night++) expect(await moved()).toMatchObject({ result: 'held' })
  expect(await moved()).toMatchObject({ result: 'ok', counts: { delete: 6 } })
})

describe('what a delta said before the backup, and was still to be done then', () => {
  const [first, two, ...others] = homes(1, 12)
  const [sold, kept] = homes(13, 14)
  const deliver = (...delivery: Parameters<typeof zillowFeed>): void => world.deliver(zillowFeed(...delivery))
  const settled = async () => {
    world.clock.advance(3_600_000)
    return world.run()
  }
  const putBack = (): void => {
    for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
    copyFileSync(at('copy.db'), at('store.db'))
  }
  const priceOf = ({ mlsNumber, rental }: typeof first): unknown =>
    world.listing(mlsNumber)?.[rental ? 'RentPrice' : 'SalePrice']

  beforeEach(async () => {
    world.configure({ north: { delivery: 'delta', volatile: { refresh: '365d' } } })
    await world.run()
    world.standIn.addFault({ operations: ['Create', 'Update'], fault: { kind: 'status', status: 503 } })
    deliver([dearer(first), dearer(two), sold, kept])
    await settled()
    world.standIn.clearFaults()
    await world.executed('backup', at('copy.db'))
  })

  const putBackLater = async (): Promise<void> => {
    await settled()
    deliver([dearer(dearer(first)), dearer(dearer(two)), { ...sold, status: 'Withdrawn' }, dearer(kept)])
    await settled()
    world.clock.advance(48 * 3_600_000)
    putBack()
  }

  test('waits for a person, or for a delta that names it, if runs came after it', async () => {
    await putBackLater()
    deliver([dearer(others[0])])
    for (const command of ['diff', 'sync'] as const)
      expect(await world.run(command)).toMatchObject({
        result: 'held',
        counts: { create: 0, update: 1, delete: 0, hold: 4 },
        holds: [{ rule: 'older', sentence: expect.stringContaining('may be out of date') }],
      })
    for (let i = 0; i < 3; i++)
      expect(await settled()).toMatchObject({ result: 'held', counts: { create: 0, update: 0 } })
    expect([first, two, kept].map(priceOf)).toEqual(
      [dearer(dearer(first)), dearer(dearer(two)), dearer(kept)].map(({ price }) => price),
    )
    expect(world.numbers()).toEqual(keys([...homes(1, 12), kept]))
    deliver([first])
    expect(await settled()).toMatchObject({ result: 'held', counts: { update: 1 } })
    await world.approve()
    deliver([home(15)])
    expect(await settled()).toMatchObject({ result: 'ok', counts: { create: 2, update: 2 } })
    expect([first, two].map(priceOf)).toEqual([first.price, dearer(two).price])
    expect(await settled()).toMatchObject({ result: 'ok', changes: [] })
  })

  test('is not said to be due to a mapping that changed meanwhile', async () => {
    await putBackLater()
    const extension = { Zone: { value: 'A' } }
    world.configure({ north: { delivery: 'delta', volatile: { refresh: '365d' }, extension } })
    deliver([dearer(others[0])])
    expect(await world.run('diff')).toMatchObject({
      holds: [{ rule: 'older', sentence: expect.stringMatching(/^what earlier deliveries said before the store/) }],
    })
  })

  test('waits, too, if another feed of the store ran oftener since it was put back', async () => {
    const feeds = { north: { delivery: 'delta', volatile: { refresh: '365d' } }, south: { source: './south.xml' } }
    world.configure(feeds)
    world.deliver(zillowFeed(homes(101, 112)), 'south.xml')
    await world.run('sync', 'south')
    await world.executed('backup', at('copy2.db'))
    await settled()
    deliver([dearer(dearer(first)), { ...sold, status: 'Withdrawn' }])
    await settled()
    world.clock.advance(48 * 3_600_000)
    for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
    copyFileSync(at('copy2.db'), at('store.db'))
    for (let i = 0; i < 5; i++) await world.run('sync', 'south')
    deliver([dearer(others[0])])
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 0, update: 1, hold: 2 } })
    expect(priceOf(first)).toBe(dearer(dearer(first)).price)
  })

  test('goes on if none did, as of a store that was moved', async () => {
    world.clock.advance(3_600_000)
    putBack()
    deliver([dearer(others[0])])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 3, hold: 2 }, holds: [] })
    expect(await settled()).toMatchObject({ result: 'ok', counts: { create: 2 } })
    expect([first, two, sold, kept].map(priceOf)).toEqual(
      [dearer(first), dearer(two), sold, kept].map(({ price }) => price),
    )
  })
})

test('what a delta says after that, though it was written before, waits for nobody', async () => {
  const server = await startFeedServer()
  const [first, two] = homes(1, 12)
  const served = async (delivery: ReturnType<typeof homes>) => {
    const written = new Date(world.clock.now() - 300_000).toUTCString()
    server.give(zillowFeed(delivery), (response, content) =>
      response.writeHead(200, { 'content-length': content.length, 'last-modified': written }).end(content),
    )
    const report = await world.run()
    world.clock.advance(3_600_000)
    return report
  }
  try {
    world.configure({ north: { source: server.url, delivery: 'delta', volatile: { refresh: '365d' } } })
    await served(homes(1, 12))
    await world.executed('backup', at('copy.db'))
    await served([dearer(first)])
    world.clock.advance(48 * 3_600_000)
    for (const file of ['store.db', 'store.db-wal', 'store.db-shm']) rmSync(at(file), { force: true })
    copyFileSync(at('copy.db'), at('store.db'))
    expect(await served([dearer(dearer(first)), home(13)])).toMatchObject({ counts: { create: 0, update: 1, hold: 1 } })
    expect(await served([dearer(two)])).toMatchObject({ result: 'ok', counts: { create: 1, update: 1 }, holds: [] })
  } finally {
    await server.close()
  }
})

test('while a process has the store open and writes, the copy is whole', async () => {
  await world.run()
  let ended: Awaited<ReturnType<typeof world.executed>> | null = null
  world.standIn.addFault({
    operations: ['Create'],
    mlsNumber: homes(1, 20)[19].mlsNumber,
    fault: { kind: 'slow', wait: 1 },
  })
  world.deliver(zillowFeed(homes(1, 20)))
  const run = world.run()
  ended = await world.executed('backup', at('during.db'))
  await run
  expect(ended.status).toBe(0)
  world.configure({ north: {} }, {}, './during.db')
  expect((await world.executed('status', 'north')).stdout).toContain('north → chatbot SN-1')
})

test('an existing file, a folder that is not there and a missing store: a sentence each, and nothing is left behind', async () => {
  const missing = await world.executed('backup', at('copy.db'))
  expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('there is no store at') })
  await world.run()
  writeFileSync(at('mine.txt'), 'mine')
  const taken = await world.executed('backup', at('mine.txt'))
  expect(taken).toMatchObject({ status: 1, stderr: expect.stringContaining('is there already') })
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('mine')
  const nowhere = await world.executed('backup', at('no/such/copy.db'))
  expect(nowhere).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('copy.db: there is no such file or folder (ENOENT)'),
  })
  expect(existsSync(at('no'))).toBe(false)
})

test('a copy of the store where none can be written is one sentence, and no defect', async () => {
  await world.run()
  const copied = await world.executed('store', 'migrate', at('store.db'), join(world.configFile, 'copy.db'))
  expect(copied).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('a part of its path is a file, not a folder (ENOTDIR)'),
  })
  expect(copied.stderr).not.toContain('defect')
})
