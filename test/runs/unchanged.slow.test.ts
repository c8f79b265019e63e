/**
 * A feed that did not change after something else did: what was learnt of a delivery, by HTTP validators or by the bytes of its
 * records, is valid for what it was learnt under and nothing else.
 */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UserError } from '../../src/core/errors.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import { dearer, home, homes, keys, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import { until } from '../support/until.ts'
import type { ReadReport } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'
import type { FeedServer } from './feed-server.ts'

const hour = 3_600_000
const all = homes(1, 12)
const volatile = { refresh: '365d' }

let world: RunWorld
let server: FeedServer
beforeEach(async () => {
  world = await RunWorld.start()
  server = await startFeedServer()
})
afterEach(async () => {
  await server.close()
  await world.end()
})

const readPreset = (): string => readFileSync(new URL('../../config/presets/zillow.yaml', import.meta.url), 'utf8')
const there = (serial = chatbot): string[] =>
  world.standIn
    .listings(serial)
    .map(({ listing }) => listing.MLSNumber)
    .toSorted()
function hasPrices(some: readonly Home[]): void {
  for (const { mlsNumber, rental, price } of some)
    expect(world.listing(mlsNumber)).toMatchObject({ [rental ? 'RentPrice' : 'SalePrice']: price })
}

test('what another account is given is asked for without the validators of the one before', async () => {
  const configure = (account: string): void =>
    world.configure({ north: { source: `${server.url}/north.xml`, volatile, headers: { 'X-Office': account } } })
  configure('A')
  server.give(zillowFeed(all))
  for (let runs = 1; runs <= 2; runs++) await world.run()
  configure('B')
  for (let runs = 1; runs <= 2; runs++) expect((await world.run()).result).toBe('ok')
  expect(server.statuses).toEqual([200, 304, 200, 304])
})

describe.each([
  ['over HTTP, with 304', true],
  ['as the same file', false],
])('a feed that comes again %s', (_, isHttp) => {
  const give = (content: string): void => (isHttp ? server.give(content) : world.deliver(content))
  /** `service`: what is laid over the usual one. */
  const configure = (changes: object = {}, others: Record<string, object> = {}, service: object = {}): void =>
    world.configure({ ...others, north: { ...source(), volatile, ...changes } }, service)
  const source = (): object => ({ source: isHttp ? `${server.url}/north.xml` : './north.xml' })
  /** Whether the last run was spared the download. */
  const wasSpared = (): boolean => server.statuses.at(-1) === 304

  /** Loads the feed and lets it come again. */
  async function loaded(content = zillowFeed(all)): Promise<void> {
    configure()
    give(content)
    expect((await world.run()).result).toBe('ok')
    expect((await world.run()).counts).toMatchObject({ unchanged: 12, create: 0, update: 0 })
    expect(wasSpared()).toBe(isHttp)
  }
  /** Nothing is to be done, and over HTTP nothing is downloaded either. */
  async function isQuiet(unchanged = 12): Promise<void> {
    world.calls()
    await world.run()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged } })
    expect(wasSpared()).toBe(isHttp)
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  }

  test('is created anew in another chatbot', async () => {
    await loaded()
    configure({ chatbot: 'SN-2' })
    expect((await world.run()).counts).toMatchObject({ create: 12 })
    expect(there('SN-2')).toEqual(keys(all))
    await isQuiet()
    configure()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
    expect(wasSpared()).toBe(false)
  })

  test('is created anew in the same chatbot of another service', async () => {
    await loaded()
    const other = await startStandIn({ now: () => world.clock.now() })
    try {
      configure({}, {}, { baseUrl: other.url })
      expect((await world.run()).counts.create + (await world.run()).counts.hold).toBeGreaterThan(0)
      expect(wasSpared()).toBe(false)
      world.clock.advance(2 * hour)
      await world.run()
      expect(other.listings(chatbot).map(({ listing }) => listing.MLSNumber)).toEqual(keys(all))
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
    } finally {
      await other.close()
    }
  })

  test('gets listings back that a feed of higher rank took over and lets go', async () => {
    const first = { source: './first.xml', volatile }
    await loaded()
    configure({}, { first })
    world.deliver(zillowFeed(all.slice(0, 2)), 'first.xml')
    expect((await world.run('sync', 'first')).counts).toMatchObject({ update: 2 })
    const overlapping = await world.run()
    expect(overlapping).toMatchObject({ result: 'ok', counts: { unchanged: 10, hold: 2 } })
    expect(overlapping.changes[0].why).toContain('also in first')
    await world.run()
    world.deliver(zillowFeed(homes(21, 23)), 'first.xml')
    world.clock.advance(25 * hour)
    expect((await world.run('sync', 'first')).counts).toMatchObject({ delete: 2, create: 3 })
    expect((await world.run()).counts).toMatchObject({ create: 2, unchanged: 10 })
    expect(there()).toEqual(keys([...all, ...homes(21, 23)]))
    await isQuiet()
  })

  test('puts back what people deleted on the service', async () => {
    await loaded()
    for (const home of all.slice(0, 2)) world.standIn.remove(chatbot, home.mlsNumber)
    expect((await world.run()).counts).toMatchObject({ create: 2, unchanged: 10 })
    expect(there()).toEqual(keys(all))
    await isQuiet()
  })

  test('gets other values by another mapping', async () => {
    await loaded()
    configure({ fields: { Location: { value: 'Uptown' } } })
    const report = await world.run()
    expect(report).toMatchObject({ counts: { update: 12 } })
    expect(report.changes[0].why).toBe('the mapping changed')
    await isQuiet()
  })

  test('loses what `where` leaves out from now on, and gets it back', async () => {
    await loaded()
    const City = all.map(({ city }) => city).filter((city) => city !== all[0].city)
    const left = all.filter((home) => home.city !== all[0].city)
    configure({ where: { City }, limits: 'off' })
    expect((await world.run()).counts).toMatchObject({ delete: 12 - left.length, unchanged: left.length })
    expect(there()).toEqual(keys(left))
    configure()
    expect((await world.run()).counts).toMatchObject({ create: 12 - left.length, unchanged: left.length })
    await isQuiet()
  })

  test.each([
    ['goes', 'OpenHouse', 1, 0],
    ['comes', '3D', 0, 1],
  ])('a listing %s as its open house is over, where `where` asks for %s', async (_, Tours, before, after) => {
    const open =
      '<OpenHouse><Date>2026-11-21</Date><StartTime>1:00 PM</StartTime><EndTime>2:00 PM</EndTime></OpenHouse>'
    const tour = '<VirtualTourUrl>https://my.matterport.com/show/?m=1</VirtualTourUrl></ListingDetails>'
    configure({ where: { Tours }, limits: 'off' })
    give(zillowFeed(all.slice(0, 1)).replace('<OpenHouse/>', open).replace('</ListingDetails>', tour))
    for (const _ of ['as it comes', 'as it comes again']) {
      expect((await world.run()).result).toBe('ok')
      expect(there()).toHaveLength(before)
    }
    world.clock.advance(3 * hour)
    for (const _ of ['as it comes', 'as it comes again']) {
      await world.run()
      expect(there()).toHaveLength(after)
    }
  })

  test('is read by the rules of another preset', async () => {
    await loaded()
    const preset = readPreset()
      .replace(/^name: .*$/m, 'name: own')
      .replace(/^  City: .*$/m, '  City: Location/State')
    world.deliver(preset, 'own.yaml')
    configure({ preset: './own.yaml', limits: 'off' })
    expect((await world.run()).counts).toMatchObject({ update: 12 })
    expect(world.listing(all[0].mlsNumber)).toMatchObject({ City: all[0].state })
  })

  test('is read by the clocks of another time zone', async () => {
    const open =
      '<OpenHouse><Date>2026-11-21</Date><StartTime>1:00 PM</StartTime><EndTime>2:00 PM</EndTime></OpenHouse>'
    await loaded(zillowFeed(all).replace('<OpenHouse/>', open))
    expect(world.listing(all[0].mlsNumber)).toMatchObject({ Tours: 'OpenHouse' })
    configure({ timezone: 'Asia/Tokyo' })
    expect((await world.run()).counts).toMatchObject({ update: 1, unchanged: 11 })
    expect(world.listing(all[0].mlsNumber)).not.toHaveProperty('Tours')
  })

  test.each<[string, () => Promise<ReadReport>]>([
    [
      'failed in the middle',
      () => {
        world.standIn.addFault({ operations: ['Update'], fault: { kind: 'credentials' } })
        return world.run()
      },
    ],
    [
      'left a refused update',
      () => {
        world.standIn.addFault({ operations: ['Update'], fault: { kind: 'refuse' } })
        return world.run()
      },
    ],
    [
      'was stopped',
      async () => {
        world.standIn.addFault({ operations: ['Update'], nth: 3, fault: { kind: 'hang' } })
        const running = world.run()
        await until(() => world.standIn.counts.Update >= 3)
        world.stop.abort(new UserError('stopped by SIGTERM'))
        const report = await running
        world.stop = new AbortController()
        return report
      },
    ],
  ])('is read again after a run that %s', async (_, spoilt) => {
    await loaded()
    give(zillowFeed(all.map(dearer)))
    expect((await spoilt()).result).not.toBe('ok')
    world.standIn.clearFaults()
    // The mark of what was refused goes with its day.
    world.clock.advance(25 * hour)
    const report = await world.run()
    expect(wasSpared()).toBe(false)
    expect(report.result).toBe('ok')
    hasPrices(all.map(dearer))
    await isQuiet()
  })

  test('is read again as long as something is held', async () => {
    await loaded()
    give(zillowFeed(all.slice(6)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 6 } })
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 6 } })
    expect(wasSpared()).toBe(false)
    world.clock.advance(73 * hour)
    expect((await world.run()).counts).toMatchObject({ delete: 6 })
    await isQuiet(6)
  })

  test('loses what an earlier create made late, though the feed let go of it before', async () => {
    await loaded()
    const create = { operations: ['Create' as const], times: 1, fault: { kind: 'late' as const, requests: 1000 } }
    world.standIn.addFault(create)
    give(zillowFeed([...all, home(13)]))
    expect(await world.run()).toMatchObject({ result: 'partial', counts: { create: 1 } })
    give(zillowFeed(all))
    await world.run()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
    world.standIn.landLateCalls()
    expect(there()).toContain(home(13).mlsNumber)
    expect((await world.run()).counts).toMatchObject({ delete: 1 })
    expect(wasSpared()).toBe(isHttp)
    expect(there()).toEqual(keys(all))
  })

  test('says the same after a run that failed before anything was done', async () => {
    await loaded()
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'status', status: 503 } })
    expect((await world.run()).result).toBe('failed')
    world.standIn.clearFaults()
    await isQuiet()
  })

  test('is right though the store was restored from a backup', async () => {
    await loaded()
    copyFileSync(join(world.folder, 'store.db'), join(world.folder, 'backup.db'))
    give(zillowFeed([...all.slice(2).map(dearer), ...homes(13, 13)]))
    expect((await world.run()).counts).toMatchObject({ update: 10, delete: 2, create: 1 })
    await world.run()
    copyFileSync(join(world.folder, 'backup.db'), join(world.folder, 'store.db'))
    give(zillowFeed(all))
    const report = await world.run()
    expect(wasSpared()).toBe(false)
    expect(report.notes.join()).toContain('The store is not as it was left')
    world.clock.advance(hour)
    await world.run()
    await world.run()
    expect(there()).toEqual(keys(all))
    hasPrices(all)
  })
})
