/** An older delivery served again, as by a mirror that lags behind or a database of last week, sets nothing back unseen. */
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { presetAt, presetFileOf, shippedPresets } from '../../src/config/presets.ts'
import { fingerprint } from '../../src/core/hash.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { writtenOf } from '../../src/run/written.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { readingOf } from '../support/reading.ts'
import { RunWorld } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'
import type { FeedServer } from './feed-server.ts'

/** The homes in the state of a day: some dearer each day. */
const asOf = (day: number, changed = 11): Home[] =>
  homes(1, 12).map((home, index) => (index < changed ? { ...home, price: home.price + day * 1000 } : home))
const priceOf = (home: Home): unknown =>
  world.listing(home.mlsNumber)?.['SalePrice'] ?? world.listing(home.mlsNumber)?.['RentPrice']
const hour = 3_600_000
const volatile = { refresh: '365d' }

let world: RunWorld
let server: FeedServer | null = null
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north: { volatile } } })
})
afterEach(async () => {
  await world.end()
  await server?.close()
  server = null
})

/** One run on the feed of a day, an hour later. */
async function runOn(feed: readonly Home[]): ReturnType<RunWorld['run']> {
  world.clock.advance(hour)
  world.deliver(zillowFeed(feed))
  return world.run()
}

const older = (why: string): string =>
  `this delivery is older than the last: ${why}. Nothing of it is carried out until a newer one comes or you approve it`

describe('which brings back what had gone and takes away what is new', () => {
  const [before, after] = [homes(1, 14), homes(4, 17)]
  const day = 24 * hour

  /** The first fourteen are known; a day later three of them have gone, and three others have come. */
  async function begin(): Promise<void> {
    for (const feed of [before, after]) {
      expect(await runOn(feed)).toMatchObject({ result: 'ok' })
      world.clock.advance(day)
    }
  }

  test('is held whole, however long it says so, until a newer one comes', async () => {
    await begin()
    const back = before.map((home, index) => (index === 5 ? dearer(home) : home))
    world.deliver(zillowFeed(back))
    expect(await world.run('diff')).toMatchObject({ result: 'held', counts: { hold: 7 } })
    for (const days of [0, 4, 30]) {
      world.clock.advance(days * day)
      const report = await runOn(back)
      expect(report).toMatchObject({
        result: 'held',
        counts: { create: 0, update: 0, delete: 0, hold: 7 },
        holds: [{ rule: 'older', setting: null, numbers: { back: 3, young: 3 } }],
        notes: [older('it brings back 3 listings that had gone and takes away 3 new ones')],
      })
      expect(report.holds[0].keys).toHaveLength(7)
    }
    expect(await runOn([...after.slice(1), home(18)])).toMatchObject({
      result: 'ok',
      counts: { create: 1, delete: 1, hold: 0 },
    })
  })

  test('is held whole although more and more that is new comes with it, as from a database that was set back', async () => {
    await begin()
    for (const more of [0, 1, 4, 6]) {
      const report = await runOn([...before, ...homes(18, 17 + more)])
      expect(report).toMatchObject({
        counts: { create: 0, delete: 0, hold: 6 + more },
        holds: [{ rule: 'older', numbers: { back: 3, young: 3 } }],
      })
    }
    expect(await runOn([...after, home(18)])).toMatchObject({ result: 'ok', counts: { create: 1, hold: 0 } })
  })

  test('is no measure of a newer one, in which others come back and others that are new go', async () => {
    for (const feed of [homes(1, 40), homes(4, 43), homes(7, 46)]) {
      expect(await runOn(feed)).toMatchObject({ result: 'ok' })
      world.clock.advance(day)
    }
    expect(await runOn(homes(4, 43))).toMatchObject({ holds: [{ rule: 'older' }] })
    world.clock.advance(day)
    const newer = [...homes(1, 3), ...homes(10, 40), ...homes(44, 50)]
    expect(await runOn(newer)).toMatchObject({ result: 'ok', counts: { create: 7, delete: 6, hold: 0 } })
  })

  test('and is a delta is told by what it says itself, and what is still to be done of earlier ones goes on', async () => {
    world.configure({ north: { volatile, delivery: 'delta' } })
    const gone = (home: Home): Home => ({ ...home, status: 'Withdrawn' })
    for (const some of [homes(1, 20), homes(1, 3).map(gone), homes(21, 23)]) {
      expect(await runOn(some)).toMatchObject({ result: 'ok' })
      world.clock.advance(day)
    }
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
    expect(await runOn(homes(31, 33))).toMatchObject({ result: 'partial' })
    world.standIn.clearFaults()
    world.clock.advance(day)
    expect(await runOn([...homes(1, 3), ...homes(21, 23).map(gone)])).toMatchObject({
      result: 'held',
      counts: { create: 3, delete: 0, hold: 6 },
      holds: [{ rule: 'older', numbers: { back: 3, young: 3 } }],
    })
    expect(world.listing(home(31).mlsNumber)).toBeDefined()
  })

  test('goes through once it is approved, and is the last one then', async () => {
    await begin()
    await runOn(before)
    await world.approve()
    expect(await runOn(before)).toMatchObject({ result: 'ok', counts: { create: 3, delete: 3 } })
    expect(await runOn(before)).toMatchObject({ result: 'ok', notes: [] })
  })

  test.each([
    ['others come with them', [...homes(1, 14), home(20), home(21)], 0, []],
    ['two come back and two go', [...homes(2, 14), home(17)], 0, []],
    ['they went and came longer than 45 days ago', before, 46, []],
    ['what goes is not new', [...homes(1, 3), ...homes(7, 17)], 0, []],
    ['what comes was never there', [...homes(4, 14), ...homes(18, 20)], 0, []],
  ])('is no older one where %s', async (_, feed, days, holds) => {
    await begin()
    world.clock.advance(days * day)
    expect(await runOn(feed)).toMatchObject({ result: 'ok', holds })
  })
})

test('prices that are set back a little are carried out', async () => {
  for (const day of [1, 2, 1]) expect(await runOn(asOf(day))).toMatchObject({ result: 'ok', notes: [] })
  expect(priceOf(home(1))).toBe(asOf(1)[0].price)
})

describe('whose server says that it is older', () => {
  /** One run on what a server gives that says when it was written. */
  async function served(feed: readonly Home[], written: string): ReturnType<RunWorld['run']> {
    world.clock.advance(hour)
    server!.give(zillowFeed(feed), (response, content) =>
      response.writeHead(200, { 'content-length': content.length, 'last-modified': written }).end(content),
    )
    return world.run()
  }
  const ten = 'Sat, 21 Nov 2026 10:00:00 GMT'
  const eleven = 'Sat, 21 Nov 2026 11:00:00 GMT'

  beforeEach(async () => {
    server = await startFeedServer()
    world.configure({ north: { source: server.url, volatile } })
  })

  test('is held whole, though nobody saw it before', async () => {
    await served(asOf(2), eleven)
    const report = await served([...asOf(1, 1), home(13)], ten)
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, create: 0 } })
    expect(report.notes).toEqual([older('it was written on Sat 21 Nov 10:00, and the last one on Sat 21 Nov 11:00')])
    world.clock.advance(100 * hour)
    expect(await served([...asOf(1, 1), home(13)], ten)).toMatchObject({ result: 'held', counts: { update: 0 } })
    // It has not become the measure, and a newer one is the end of it.
    expect(await served(asOf(3), 'Sat, 21 Nov 2026 11:00:01 GMT')).toMatchObject({
      result: 'ok',
      counts: { update: 11 },
    })
    expect(priceOf(home(1))).toBe(asOf(3)[0].price)
  })

  test('stays held after an upgrade', async () => {
    await served(asOf(2), eleven)
    expect(await served(asOf(1), ten)).toMatchObject({ result: 'held', counts: { update: 0, hold: 11 } })
    // As versions before 27 November 2026 noted the source.
    const store = new Database(join(world.folder, 'store.db'))
    store.prepare("UPDATE feed SET written = json_set(written, '$.source', ?)").run(String(fingerprint([server!.url])))
    store.close()
    // Or the store would be taken for a copy.
    rmSync(join(world.folder, 'store.db.serial'))
    expect(await served(asOf(1), ten)).toMatchObject({ result: 'held', counts: { update: 0, hold: 11 } })
    expect(priceOf(home(1))).toBe(asOf(2)[0].price)
  })

  test.each(['full', 'delta'])('and changes nothing is no measure of the next one (%s)', async (delivery) => {
    world.configure({ north: { source: server!.url, volatile, delivery } })
    await served(asOf(2), eleven)
    expect(await served(delivery === 'full' ? asOf(2) : [], ten)).toMatchObject({ result: 'ok', notes: [] })
    const between = 'Sat, 21 Nov 2026 10:30:00 GMT'
    expect(await served(asOf(1), between)).toMatchObject({ result: 'held', counts: { update: 0, hold: 11 } })
  })

  test('and changes nothing leaves held what was, and says so', async () => {
    const all = homes(1, 20)
    await served(all, ten)
    expect(await served(all.slice(6), eleven)).toMatchObject({ result: 'held', counts: { hold: 6 } })
    for (const [command, goes] of [
      ['diff', true],
      ['sync', true],
      ['sync', false],
    ] as const) {
      if (!goes) await world.executed('approve', 'north', '--refuse', '--yes')
      server!.give(zillowFeed(all), (response, content) =>
        response.writeHead(200, { 'content-length': content.length, 'last-modified': ten }).end(content),
      )
      expect(await world.run(command)).toMatchObject({
        result: 'held',
        counts: { unchanged: 20, hold: 0 },
        held: { whole: 6, inPart: 0, goes, others: 0 },
        notes: [
          "6 held by earlier runs stay held, as this run can't tell whether they are over; now: listing-sync approve north",
        ],
      })
    }
    expect(await served(all, 'Sat, 21 Nov 2026 11:30:00 GMT')).toMatchObject({ result: 'ok', notes: [] })
  })

  test('and is a delta waits for a person or for a newer word, and what newer ones say goes on meanwhile', async () => {
    world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
    const at = (minute: number): string => `Sat, 21 Nov 2026 11:${minute}:00 GMT`
    await served(asOf(2), at(10))
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
    expect(await served([home(13)], at(11))).toMatchObject({ result: 'partial' })
    world.standIn.clearFaults()
    world.clock.advance(25 * hour)
    const [first, second, third] = asOf(1)
    expect(await served([first, second, third], ten)).toMatchObject({ result: 'held', counts: { hold: 3, create: 0 } })
    for (const [minute, some, counts] of [
      // What was still to be done of an earlier one is none of what the older one says.
      [20, [], { create: 1, update: 0 }],
      [21, [dearer(home(9))], { create: 0, update: 1 }],
      [22, [], { create: 0, update: 0 }],
    ] as const) {
      const report = await served(some, at(minute))
      expect(report).toMatchObject({ result: 'held', counts })
      expect(report.notes).toContainEqual(expect.stringContaining('3 held by earlier runs stay held'))
    }
    expect(priceOf(first)).toBe(asOf(2)[0].price)
    expect(await served([asOf(3)[0]], at(30))).toMatchObject({ result: 'held', counts: { update: 1 } })
    await world.approve()
    expect(await served([], at(31))).toMatchObject({ result: 'ok', counts: { update: 2 } })
    expect([first, second, third].map(priceOf)).toEqual([asOf(3)[0].price, second.price, third.price])
    expect(await served([], at(32))).toMatchObject({ result: 'ok', notes: [], counts: { update: 0 } })
  })

  describe('and is a delta says nothing of what a later one said and is still to be done', () => {
    const at = (minute: number): string => `Sat, 21 Nov 2026 11:${minute}:00 GMT`
    const [first, second] = homes(1, 2)

    /** A later delta could not change the first home. */
    async function begin(): Promise<void> {
      world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
      await served(asOf(2), at(10))
      world.standIn.addFault({ operations: ['Update'], fault: { kind: 'refuse' } })
      expect(await served([asOf(3)[0]], at(20))).toMatchObject({ result: 'partial' })
      world.standIn.clearFaults()
      world.clock.advance(25 * hour)
    }

    test('whether it is approved or not', async () => {
      await begin()
      const some = asOf(1).slice(0, 2)
      const report = await served(some, ten)
      expect(report).toMatchObject({ result: 'held', delivery: { records: 1 }, counts: { hold: 1 } })
      expect(report.notes).toContain(
        'Of 1 MLSNumber a later delivery said something that is not carried out yet: what this one says of it is passed over',
      )
      await world.approve()
      expect(await served(some, ten)).toMatchObject({ result: 'ok', counts: { update: 1, hold: 0 } })
      expect([first, second].map(priceOf)).toEqual([asOf(2)[0].price, some[1].price])
      expect(await served([], at(30))).toMatchObject({ result: 'ok', counts: { update: 1 } })
      expect([first, second].map(priceOf)).toEqual([asOf(3)[0].price, some[1].price])
    })

    test('under another spelling of its number either', async () => {
      world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
      await served(asOf(2), at(10))
      const small = homes(13, 23).map((home) => ({ ...home, mlsNumber: home.mlsNumber.toLowerCase() }))
      expect(await served(small, at(20))).toMatchObject({ result: 'held', counts: { hold: 11 } })
      expect(await served([home(13)], ten)).toMatchObject({ result: 'held', counts: { hold: 1 } })
      world.clock.advance(73 * hour)
      expect(await served([], at(30))).toMatchObject({ result: 'held', counts: { create: 11 } })
      expect(world.numbers()).toEqual(expect.arrayContaining(small.map(({ mlsNumber }) => mlsNumber)))
      expect(world.numbers()).toHaveLength(23)
    })

    test('also where it says what is on the site', async () => {
      await begin()
      expect(await served(asOf(2), ten)).toMatchObject({ delivery: { records: 11 }, counts: { unchanged: 11 } })
      expect(await served([], at(30))).toMatchObject({ result: 'ok', counts: { update: 1 } })
      expect(priceOf(first)).toBe(asOf(3)[0].price)
    })

    test('nor does a full one', async () => {
      await begin()
      world.configure({ north: { source: server!.url, volatile } })
      expect(await served(asOf(2), ten)).toMatchObject({ counts: { unchanged: 12 } })
      world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
      expect(await served([], at(30))).toMatchObject({ result: 'ok', counts: { update: 1 } })
      expect(priceOf(first)).toBe(asOf(3)[0].price)
    })

    test('nor does a full one that lacks it, approved or not', async () => {
      await begin()
      world.configure({ north: { source: server!.url, volatile } })
      expect(await served(asOf(2).slice(1), ten)).toMatchObject({ result: 'held', counts: { delete: 0, hold: 1 } })
      await world.approve()
      world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
      expect(await served([], at(30))).toMatchObject({ result: 'ok', counts: { update: 1, hold: 0 } })
      expect(priceOf(first)).toBe(asOf(3)[0].price)
    })

    test('nor of what is held of that', async () => {
      world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
      await served(asOf(2), at(10))
      const tenfold = asOf(2).map((home, index) => (index < 4 ? { ...home, price: home.price * 10 } : home))
      expect(await served(tenfold, at(20))).toMatchObject({ result: 'held', counts: { hold: 4 } })
      await world.executed('approve', 'north', '--refuse', '--yes')
      expect(await served(asOf(1).slice(3), ten)).toMatchObject({ result: 'held', counts: { hold: 7 } })
      world.clock.advance(100 * hour)
      const report = await served([], at(30))
      expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 4 } })
      expect(report.notes).toContain('Still held, as refused: 4 updates; now: listing-sync approve north')
    })

    test('but all of what was said before it was written', async () => {
      await begin()
      world.standIn.addFault({ operations: ['Update'], fault: { kind: 'refuse' } })
      world.clock.advance(48 * hour)
      await served([], 'Mon, 23 Nov 2026 18:00:00 GMT')
      world.standIn.clearFaults()
      const report = await served([asOf(1)[0]], 'Mon, 23 Nov 2026 17:00:00 GMT')
      expect(report).toMatchObject({ holds: [{ rule: 'older' }], delivery: { records: 1 }, counts: { hold: 1 } })
      await world.approve()
      await served([], 'Mon, 23 Nov 2026 19:00:00 GMT')
      expect(priceOf(first)).toBe(asOf(1)[0].price)
    })
  })

  test.each([
    [10, 40],
    [40, 10],
  ])('twice, by deltas of 10:%i and then 10:%i, leaves the later word to a person', async (number, two) => {
    world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
    await served(asOf(50), eleven)
    const [home] = asOf(0)
    for (const minute of [number, two])
      expect(await served([asOf(minute)[0]], `Sat, 21 Nov 2026 10:${minute}:00 GMT`)).toMatchObject({ result: 'held' })
    await world.approve()
    expect(await served([], 'Sat, 21 Nov 2026 11:30:00 GMT')).toMatchObject({ result: 'ok', counts: { update: 1 } })
    expect(priceOf(home)).toBe(asOf(40)[0].price)
  })

  test('is measured by the last one of which something went, whatever earlier deltas still ask of a person', async () => {
    world.configure({ north: { source: server!.url, volatile, delivery: 'delta' } })
    const at = (minute: number): string => `Sat, 21 Nov 2026 11:${minute}:00 GMT`
    await served(asOf(2), at(10))
    const tenfold = homes(1, 10).map((home) => ({ ...home, price: home.price * 10 }))
    expect((await served(tenfold, at(11))).holds[0]).toMatchObject({ rule: 'unrecognisable' })
    expect(await served([home(13)], at(50))).toMatchObject({ result: 'held', counts: { create: 1 } })
    expect((await served([home(14)], at(30))).holds[0]).toMatchObject({ rule: 'older' })
  })

  test('goes through with one approval, whatever turns of fields that move by themselves come meanwhile', async () => {
    world.configure({ north: { source: server!.url } })
    const sold = homes(1, 40)
    await served(sold, eleven)
    const night = (feed: readonly Home[], written = ten): ReturnType<typeof served> => {
      world.clock.advance(23 * hour)
      return served(feed, written)
    }
    for (let nights = 0; nights < 8; nights++) expect(await night(sold, eleven)).toMatchObject({ result: 'ok' })
    const earlier = sold.slice(1)
    const held = await night(earlier)
    expect(held).toMatchObject({ result: 'held', holds: [{ rule: 'older' }], counts: { hold: 1 } })
    expect(held.changes.some(({ cause }) => cause === 'refresh')).toBe(true)
    await world.approve()
    expect(await night(earlier)).toMatchObject({ result: 'ok', holds: [], counts: { delete: 1 } })
    expect(await night(earlier)).toMatchObject({ result: 'ok', holds: [], counts: { delete: 0 } })
  })

  test('a time in the future is a clock that is wrong: what was written since is not older', async () => {
    await served(asOf(1), 'Tue, 24 Nov 2026 10:00:00 GMT')
    expect(await served(asOf(2), eleven)).toMatchObject({ result: 'ok', counts: { update: 11 } })
    expect(await served(asOf(1), ten)).toMatchObject({ result: 'held', holds: [{ rule: 'older' }] })
  })

  test('nor once that time has come: a clock that was a day ahead makes the next delivery no older one', async () => {
    await served(asOf(1), 'Sun, 22 Nov 2026 12:55:00 GMT')
    world.clock.advance(23 * hour)
    expect(await served(asOf(2), 'Sun, 22 Nov 2026 12:30:00 GMT')).toMatchObject({
      result: 'ok',
      counts: { update: 11 },
    })
  })

  test('and the delivery before it goes on being the measure', async () => {
    await served(asOf(1), eleven)
    expect(await served(asOf(2), 'Tue, 24 Nov 2026 10:00:00 GMT')).toMatchObject({ result: 'ok' })
    expect(await served(asOf(1), ten)).toMatchObject({ result: 'held', holds: [{ rule: 'older' }] })
  })

  test('two machines behind one address may have written it a quarter of an hour apart', async () => {
    await served(asOf(1), eleven)
    expect(await served(asOf(2), 'Sat, 21 Nov 2026 10:46:00 GMT')).toMatchObject({ result: 'ok' })
  })

  test('a newer one with the records of an earlier one is a feed that was set back', async () => {
    await served(asOf(1), ten)
    await served(asOf(2), eleven)
    expect(await served(asOf(1), 'Sat, 21 Nov 2026 12:00:00 GMT')).toMatchObject({ result: 'ok', notes: [] })
  })

  test('another address is another server, whose clock is no measure', async () => {
    await served(asOf(1), eleven)
    world.configure({ north: { source: `${server!.url}/other`, volatile } })
    expect(await served(asOf(2), ten)).toMatchObject({ result: 'ok', counts: { update: 11 } })
  })
})

test('which says itself that it is older (OpenImmo) is held whole', async () => {
  const written = readFileSync(new URL('../../fixtures/presets/openimmo/feed.xml', import.meta.url), 'utf8')
  expect(written).toMatch(/timestamp="[^"]+"/)
  const at = (time: string, feed: string): string => feed.replace(/timestamp="[^"]+"/, `timestamp="${time}"`)
  const url = { template: 'https://homes.example/{MLSNumber}' }
  world.configure({ north: { preset: 'openimmo', fields: { Url: url }, defaults: { DaysOnMarket: 0, YearBuilt: 0 } } })
  world.deliver(at('2026-11-20T10:00:00+01:00', written))
  const first = await world.run()
  expect(first.counts.create).toBeGreaterThan(0)
  const changed = written.replaceAll(/<kaufpreis>(\d+)/g, (_, price) => `<kaufpreis>${Number(price) + 1000}`)
  expect(changed).not.toBe(written)
  world.deliver(at('2026-11-20T08:59:59Z', changed))
  const held = await world.run()
  expect(held).toMatchObject({ result: 'held', counts: { update: 0 } })
  expect(held.notes).toContain(older('it was written on Fri 20 Nov 08:59, and the last one on Fri 20 Nov 09:00'))
  world.deliver(at('2026-11-20T09:00:01Z', changed))
  expect((await world.run()).counts.update).toBeGreaterThan(0)
})

test.each(['0001-01-01T00:00:00', '1970-01-01T00:00:00Z'])('a time such as %s is none', async (zero) => {
  const feed = readFileSync(new URL('../../fixtures/presets/openimmo/feed.xml', import.meta.url), 'utf8')
  const url = { template: 'https://homes.example/{MLSNumber}' }
  world.configure({ north: { preset: 'openimmo', fields: { Url: url }, defaults: { DaysOnMarket: 0, YearBuilt: 0 } } })
  world.deliver(feed)
  await world.run()
  const changed = feed.replaceAll(/<kaufpreis>(\d+)/g, (_, price) => `<kaufpreis>${Number(price) + 1000}`)
  world.deliver(changed.replace(/timestamp="[^"]+"/, `timestamp="${zero}"`))
  const { counts, notes } = await world.run()
  expect(counts).toMatchObject({ update: expect.toSatisfy((updates: number) => updates > 0), hold: 0 })
  expect(notes).toContainEqual(expect.stringContaining(`When this delivery was written can't be read ("${zero}")`))
})

const tellers = shippedPresets().filter(({ formatOptions }) => formatOptions['written'] !== undefined)
test.each(tellers.map(({ name }) => name))('the preset %s reads from a file when it was written', async (name) => {
  const sentences =
    { immobiliare: ['<metadata>', '<metadata><build-date>2026-11-20T11:20:30+01:00</build-date>'] }[name] ?? []
  const folder = new URL(`../../fixtures/presets/${name}/`, import.meta.url)
  const file = readdirSync(folder).find((text) => text.startsWith('feed.'))!
  const text = readFileSync(new URL(file, folder), 'utf8').replace(sentences[0] ?? '', sentences[1] ?? '')
  const mapping = createMapping(presetAt(presetFileOf(name, '.')), {})
  const reading = readingOf(mapping, Readable.from([Buffer.from(text)]))
  for await (const batch of reading.records) expect(batch.length).toBeGreaterThan(0)
  const written = writtenOf(reading.written?.() ?? null, { validators: {} }, 'UTC', mapping.dates ?? [])
  expect(written?.by).toBe('document')
  expect(new Date(written!.at).getUTCFullYear()).toBe(2026)
})

test.each([
  ['yandex-realty', 'feed.xml', '2026-11-20T06:30:00+03:00', '2026-11-13T06:30:00+03:00', /(?<=<price><value>)/g],
  ['blm', 'feed.blm', '21-Nov-2026 06:00', '14-Nov-2026 06:00', /(?=A home<br>)/g],
])(
  'a file of %s that says that it is a week older than the last is held whole',
  async (preset, name, at, before, change) => {
    const text = readFileSync(new URL(`../../fixtures/presets/${preset}/${name}`, import.meta.url), 'latin1')
    expect(text).toContain(at)
    const numbers = { YearBuilt: 2000, LotArea: 1, BuildingArea: 1, DaysOnMarket: 0, ParkingSpots: 0 }
    const defaults = { ...numbers, Bathrooms: 1, Bedrooms: 2, AreaUnit: 'Square Meters' }
    const fields = { Url: { template: 'https://homes.example/{MLSNumber}' } }
    world.configure({ north: { preset, fields, defaults } })
    world.deliver(Buffer.from(text, 'latin1'))
    expect((await world.run()).counts.create).toBeGreaterThan(2)
    const changed = text.replaceAll(change, '1')
    world.deliver(Buffer.from(changed.replace(at, before), 'latin1'))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { update: 0 } })
    expect(report.holds[0]).toMatchObject({ rule: 'older' })
  },
)

test('a time that cannot be read is told, and a blank one is none', async () => {
  const written = readFileSync(new URL('../../fixtures/presets/openimmo/feed.xml', import.meta.url), 'utf8')
  const at = (time: string): string => written.replace(/timestamp="[^"]+"/, `timestamp="${time}"`)
  const fields = { Url: { template: 'https://homes.example/{MLSNumber}' } }
  world.configure({ north: { preset: 'openimmo', fields, defaults: { DaysOnMarket: 0, YearBuilt: 0 } } })
  const notesOf = async (time: string): Promise<string[]> => {
    world.deliver(at(time))
    return (await world.run()).notes.filter((note) => note.includes('written'))
  }
  expect(await notesOf('the 20th of November, at noon, and not earlier')).toEqual([
    'When this delivery was written can\'t be read ("the 20th of November, at noon, and not …"), so an older one may not be noticed: if that is a time, add its form to dates in the preset',
  ])
  expect(await notesOf(' ')).toEqual([])
  expect(await notesOf('2026-11-20T04:00:00')).toEqual([])
})

test('a time without a zone is not compared with one that was read in another zone', async () => {
  const written = readFileSync(new URL('../../fixtures/presets/openimmo/feed.xml', import.meta.url), 'utf8')
  const at = (time: string): string => written.replace(/timestamp="[^"]+"/, `timestamp="${time}"`)
  const url = { template: 'https://homes.example/{MLSNumber}' }
  const feed = { preset: 'openimmo', fields: { Url: url }, defaults: { DaysOnMarket: 0, YearBuilt: 0 } }
  world.configure({ north: { ...feed, timezone: 'Europe/Berlin' } })
  world.deliver(at('2026-11-20T04:00:00'))
  expect((await world.run()).counts.create).toBeGreaterThan(0)
  world.configure({ north: { ...feed, timezone: 'Australia/Sydney' } })
  world.deliver(
    at('2026-11-20T05:00:00').replaceAll(/<kaufpreis>(\d+)/g, (_, price) => `<kaufpreis>${Number(price) + 1000}`),
  )
  expect((await world.run()).counts.update).toBeGreaterThan(0)
})

test.each([
  ['2026-11-20T10:00:00+01:00', '2026-11-20T09:00:00Z', 0],
  ['2022-04-19T16:21:03.0+00:00', '2022-04-19T16:21:03Z', 0],
  ['2026-11-20T10:00:00-0600', '2026-11-20T16:00:00Z', 0],
  // Without a zone an hour is in doubt, as clocks are set back.
  ['2014-10-28-05:50:05', '2014-10-28T05:50:05Z', hour],
  ['20141028-055005', '2014-10-28T05:50:05Z', hour],
  ['2014-10-28', '2014-10-28T00:00:00Z', hour],
])('the time of a document, %s', (written, at, within) => {
  expect(writtenOf(written, { validators: {} }, 'UTC', ['ISO'])).toEqual({ by: 'document', at: Date.parse(at), within })
})

test.each([
  ['2026-11-20-12:30:00', 'Australia/Sydney', '2026-11-20T01:30:00Z'],
  ['2026-11-20T12:30:00', 'America/Chicago', '2026-11-20T18:30:00Z'],
  // The night in which clocks are set ahead, before and after.
  ['2026-03-08 01:30:00', 'America/Chicago', '2026-03-08T07:30:00Z'],
  ['2026-03-08 03:30:00', 'America/Chicago', '2026-03-08T08:30:00Z'],
])('a time without a zone, %s, is one of the feed (%s)', (written, timezone, at) => {
  expect(writtenOf(written, { validators: {} }, timezone, ['ISO'])).toMatchObject({
    by: 'document',
    at: Date.parse(at),
  })
})

test.each([null, '', 'today', '2014-13-28', '28.10.2014', '2014-10-28T25:00:00Z'])(
  'what is no time (%s) leaves it to the server',
  (written) => {
    expect(writtenOf(written, { validators: {} }, 'UTC', ['ISO'])).toBe(null)
    const lastModified = 'Sat, 21 Nov 2026 10:00:00 GMT'
    const at = Date.parse('2026-11-21T10:00:00Z')
    expect(writtenOf(written, { validators: { lastModified } }, 'UTC', ['ISO'])).toEqual({
      by: 'server',
      at,
      within: 15 * 60_000,
    })
  },
)

test('of the source, which may hold a password, the store keeps only what tells it from others', async () => {
  server = await startFeedServer()
  const source = `${server.url.replace('//', '//office:hunter-2-and-3@')}/north.xml`
  world.configure({ north: { source, volatile } })
  server.give(zillowFeed(homes(1, 12)), (response, content) => {
    const headers = { 'last-modified': 'Fri, 20 Nov 2026 08:00:00 GMT', 'content-length': content.length }
    response.writeHead(200, headers).end(content)
  })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 12 } })
  const store = openStore(`${world.folder}/store.db`)
  const { written } = await store.deliveries.last('north')
  await store.close()
  expect(written).toMatchObject({ by: 'server', source: expect.stringMatching(/^\d+$/) })
  expect(readFileSync(`${world.folder}/store.db`).includes('hunter-2')).toBe(false)
})
