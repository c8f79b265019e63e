/** Killed at any instant, the next run carries on without a duplicate and without a lost listing. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { pick, seeded, testSeed } from '../support/random.ts'
import { command } from '../support/program.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import { until } from '../support/until.ts'

const kills = 50
const seed = testSeed()

let world: RunWorld
afterEach(() => world.end())

const numbers = (): string[] => world.listings().map((item) => String(item['MLSNumber']))

test(`kill -9 at ${kills} random instants (TEST_SEED=${seed})`, async () => {
  const random = seeded(seed)
  // No run has to end that could be a measure for the next one, so what is ours, or the feed as it was fifty
  // deliveries ago, would be it.
  const north = {
    limits: 'off',
    volatile: { refresh: '365d' },
  }
  world = await RunWorld.start({
    standIn: { now: () => Date.now() },
    feeds: { north },
    service: { timeout: '2s', rate: 300, profile: { deleteBatch: 2, pageSize: 10 } },
  })
  const byHand = { MLSNumber: 'HAND-1', City: home(900).city }
  world.standIn.seed(chatbot, [byHand])
  // Slow answers, so that many kills find calls under way, carried out and not answered yet.
  world.standIn.addFault({ probability: 0.5, seed, fault: { kind: 'slow', wait: 12 } })
  const temporary = join(world.folder, 'tmp')
  mkdirSync(temporary)
  const env = { TMPDIR: temporary, NODE_COMPILE_CACHE: join(world.folder, 'compiled') }
  const words = ['--config', world.configFile, 'sync']
  // A process that is killed leaves no compiled code behind: this one does, and halves the start of all others.
  await command(['--config', world.configFile, 'diff'], { env })

  let feed: Home[] = Array.from({ length: 12 }, (_, i) => home(i + 1))
  let next = feed.length + 1
  let midway = 0
  for (let kill = 1; kill <= kills; kill++) {
    feed = feed.flatMap((home) => {
      const dice = random()
      if (dice < 0.15) return []
      return dice < 0.5 ? [{ ...home, price: home.price + 1 }] : [home]
    })
    for (let more = 0; more < 3; more++) feed.push(home(next++))
    world.deliver(zillowFeed(feed))
    world.calls()
    const before = new Set(numbers())
    const after = pick(random, [0, 1, 2, 3, 4, 6, 8, 10, 12, 15])
    const pause = random() * 15
    const total = (): number => Object.values(world.standIn.counts).reduce((sum, count) => sum + count, 0)
    const { status } = await command(words, {
      env,
      onStart: async (child) => {
        await until(() => total() >= after || child.exitCode !== null)
        await delay(pause)
        child.kill('SIGKILL')
      },
    })
    if (status === null) midway++

    const where = `kill ${kill} after ${after} calls and ${pause.toFixed(1)} ms, TEST_SEED=${seed}`
    const shown = numbers()
    expect(new Set(shown).size, `${where}: no duplicate`).toBe(shown.length)
    const lost = feed.filter((home) => before.has(home.mlsNumber) && !shown.includes(home.mlsNumber))
    expect(lost, `${where}: nothing of the feed is lost`).toEqual([])
    expect(world.listing('HAND-1'), `${where}: what a person made`).toEqual(byHand)
    // Opening it reads through every page. A kill before the first run came so far leaves none.
    const store = join(world.folder, 'store.db')
    if (existsSync(store)) await openStore(store).close()
  }
  expect(midway, 'kills that found the process alive').toBeGreaterThan(kills / 2)

  // What may still have landed late by then has; the clock of these runs is past every kill.
  world.standIn.clearFaults()
  world.clock.advance(Date.now() - world.clock.now() + 3_600_000)
  await world.run()
  await world.run()
  world.calls()
  const settled = await world.run()
  expect(settled, JSON.stringify(settled)).toMatchObject({ result: 'ok', counts: { unchanged: feed.length } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  expect(numbers().toSorted()).toEqual([...feed.map((home) => home.mlsNumber), 'HAND-1'].toSorted())
  for (const home of feed)
    expect(world.listing(home.mlsNumber)).toMatchObject({ [home.rental ? 'RentPrice' : 'SalePrice']: home.price })
  // A run sweeps the scratch folders of those that died before it (docs/faults.md, F30).
  await command(words, { env })
  expect(readdirSync(temporary)).toEqual([])
})

test(`deltas that are killed at random instants lose nothing that they said (TEST_SEED=${seed})`, async () => {
  const random = seeded(seed)
  const north = { delivery: 'delta', limits: 'off', volatile: { refresh: '365d' } }
  world = await RunWorld.start({
    standIn: { now: () => Date.now() },
    feeds: { north },
    service: { timeout: '2s', rate: 300, profile: { deleteBatch: 2 } },
  })
  world.standIn.addFault({ probability: 0.5, seed, fault: { kind: 'slow', wait: 12 } })
  const words = ['--config', world.configFile, 'sync']
  await command(['--config', world.configFile, 'diff'])
  const wanted = new Map<string, Home>()
  let next = 1
  let midway = 0
  for (let kill = 1; kill <= 15; kill++) {
    const delivered: Home[] = []
    for (const home of wanted.values()) {
      const dice = random()
      if (dice < 0.15) delivered.push({ ...home, status: 'Withdrawn' })
      else if (dice < 0.4) delivered.push({ ...home, price: home.price + 1 })
    }
    for (let more = 0; more < 4; more++) delivered.push(home(next++))
    for (const home of delivered)
      if (home.status === 'Withdrawn') wanted.delete(home.mlsNumber)
      else wanted.set(home.mlsNumber, home)
    world.deliver(zillowFeed(delivered))
    // A process that dies before it has noted what a delta says is served the same one again.
    const read = (): boolean =>
      world.standIn.counts.Create + world.standIn.counts.Update + world.standIn.counts.Delete > 0
    do {
      world.calls()
      const pause = random() * 40
      const { status } = await command(words, {
        onStart: async (child) => {
          await until(() => read() || child.exitCode !== null)
          await delay(pause)
          child.kill('SIGKILL')
        },
      })
      if (status === null) midway++
    } while (!read())
  }
  expect(midway, 'kills that found the process alive').toBeGreaterThan(5)
  world.standIn.clearFaults()
  world.deliver(zillowFeed([]))
  world.clock.advance(Date.now() - world.clock.now() + 3_600_000)
  for (let i = 0; i < 3; i++) {
    await world.run()
    world.clock.advance(3_600_000)
  }
  expect(numbers().toSorted()).toEqual([...wanted.keys()].toSorted())
  for (const home of wanted.values())
    expect(world.listing(home.mlsNumber)).toMatchObject({ [home.rental ? 'RentPrice' : 'SalePrice']: home.price })
  expect(await world.run()).toMatchObject({ result: 'ok', delivery: { records: 0 }, changes: [] })
})

test('what the last file of a delta said counts, though its run is killed and the file is taken away then', async () => {
  const [home, two, ...others] = homes(1, 10)
  const [dear, dearest] = [dearer(home), dearer(dearer(home))]
  world = await RunWorld.start({ feeds: { north: { source: './drop-*.xml', delivery: 'delta' } } })
  world.clock.advance(Date.now() - world.clock.now() - 3_600_000)
  const put = (name: string, delivered: Home[]): void => {
    world.deliver(zillowFeed(delivered), name)
    world.clock.advance(60_000)
    utimesSync(join(world.folder, name), world.clock.now() / 1000, world.clock.now() / 1000)
  }
  put('drop-1.xml', [home, two, ...others])
  await world.run()
  put('drop-2.xml', [dear])
  put('drop-3.xml', [dearest, { ...two, status: 'Withdrawn' }])
  world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'hang' } })
  const kill = async (child: ChildProcess): Promise<void> => {
    await until(() => world.standIn.counts.Delete > 0)
    child.kill('SIGKILL')
  }
  expect((await world.started(kill, 'sync')).status).toBeNull()
  world.standIn.clearFaults()
  rmSync(join(world.folder, 'drop-3.xml'))
  for (let i = 0; i < 3; i++) {
    world.clock.advance(3_600_000)
    expect((await world.run()).result).toBe('ok')
  }
  expect(numbers().toSorted()).toEqual([home, ...others].map(({ mlsNumber }) => mlsNumber).toSorted())
  expect(world.listing(home.mlsNumber)).toMatchObject({ [home.rental ? 'RentPrice' : 'SalePrice']: dearest.price })
})

test('a repair that is killed in the middle is gone on with by the next one, and no copy too many is gone', async () => {
  const all = homes(1, 10)
  world = await RunWorld.start({
    feeds: { north: { limits: { share: 50 } } },
    service: { profile: { nativeId: 'list-id' } },
  })
  world.clock.advance(Date.now() - world.clock.now())
  world.deliver(zillowFeed(all))
  await world.run()
  await world.run()
  const twice = all.slice(0, 3).map((home) => home.mlsNumber)
  const idsOf = (mlsNumber: string): number[] =>
    world.standIn.listings(chatbot).flatMap((row) => (row.listing.MLSNumber === mlsNumber ? [row.id] : []))
  const kept = twice.map((mlsNumber) => idsOf(mlsNumber)[0])
  const [row, two, three] = world.standIn.listings(chatbot).filter(({ listing }) => twice.includes(listing.MLSNumber))
  for (const { listing } of [row, two, two, three]) world.standIn.seed(chatbot, [listing])

  world.standIn.addFault({ operations: ['Delete'], nth: 2, fault: { kind: 'hang', carriedOut: true } })
  world.calls()
  const kill = async (child: ChildProcess): Promise<void> => {
    await until(() => world.standIn.counts.Delete >= 2)
    child.kill('SIGKILL')
  }
  expect((await world.started(kill, 'repair', 'north', '--yes')).status).toBeNull()
  world.standIn.clearFaults()
  for (const [index, mlsNumber] of twice.entries()) expect(idsOf(mlsNumber)).toContain(kept[index])
  // The child's clock was the machine's; then what it had under way has settled.
  world.clock.advance(Math.max(0, Date.now() - world.clock.now()))
  expect((await world.run()).result).toBe('partial')
  world.clock.advance(16 * 60_000)
  expect(await world.executed('repair', 'north', '--yes')).toMatchObject({ status: 0 })
  expect(twice.map(idsOf)).toEqual(kept.map((id) => [id]))
  expect(await world.run()).toMatchObject({ result: 'ok' })
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: all.length } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
})

test.each<[string, FaultRuleInput | null]>([
  ['as soon as the delete is sent', null],
  ['while the create has no answer', { operations: ['Create'], fault: { kind: 'hang' } }],
  [
    'while the create has no answer, and is carried out',
    { operations: ['Create'], fault: { kind: 'hang', carriedOut: true } },
  ],
])('a repair that is killed between delete and create, %s: syncs make the listing once', async (_, fault) => {
  const all = homes(1, 10)
  world = await RunWorld.start({ feeds: { north: { limits: { share: 50 } } } })
  world.clock.advance(Date.now() - world.clock.now())
  world.deliver(zillowFeed(all))
  await world.run()
  await world.run()
  const [{ listing }] = world.standIn.listings(chatbot)
  world.standIn.seed(chatbot, [listing, listing])
  if (fault !== null) world.standIn.addFault(fault)
  world.calls()
  const kill = async (child: ChildProcess): Promise<void> => {
    await until(() => world.standIn.counts[fault === null ? 'Delete' : 'Create'] >= 1)
    child.kill('SIGKILL')
  }
  expect((await world.started(kill, 'repair', 'north', '--yes')).status).toBeNull()
  world.standIn.clearFaults()
  world.clock.advance(Math.max(0, Date.now() - world.clock.now()))
  await world.run()
  world.clock.advance(16 * 60_000)
  await world.run()
  expect(
    world
      .listings()
      .map(({ MLSNumber }) => String(MLSNumber))
      .toSorted(),
  ).toEqual(all.map(({ mlsNumber }) => mlsNumber).toSorted())
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: all.length } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
})
