/** A folder into which a delta comes in several files between two runs, such as one a listing: none of them is passed by. */
import { rmSync, utimesSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { UserError } from '../../src/core/errors.ts'
import { dearer, home, homes, keys, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { resoRow, resoTable } from '../support/delivery.ts'
import { RunWorld } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

const hour = 3_600_000
const gone = (home: Home): Home => ({ ...home, status: 'Withdrawn' })
const all = homes(1, 20)
const next = home(21)

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

/** Puts a file into the drop an hour after the last one, or at the same second. */
function put(name: string, content: readonly Home[] | string, after = hour): void {
  world.deliver(typeof content === 'string' ? content : zillowFeed(content), name)
  world.clock.advance(after)
  const time = Math.floor(world.clock.now() / 1000)
  utimesSync(`${world.folder}/${name}`, time, time)
}
const priceOf = ({ mlsNumber, rental }: Home): unknown => world.listing(mlsNumber)?.[rental ? 'RentPrice' : 'SalePrice']
const partsOf = ({ delivery }: ReadReport): number =>
  delivery.listings + delivery.removals + delivery.filtered + delivery.duplicates + delivery.rejects

describe('of a delta', () => {
  beforeEach(async () => {
    world.configure({ north: { source: './drop-*.xml', delivery: 'delta', volatile: { refresh: '365d' } } })
    put('drop-01.xml', all)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 20 }, notes: [] })
  })

  test('every file since the last one is read, and the last word on a listing counts', async () => {
    const [home, two, three, four] = all
    put('drop-02.xml', [dearer(home), gone(two), dearer(three)])
    put('drop-03.xml', [gone(home), two])
    put('drop-04.xml', [dearer(dearer(three))])
    const report = await world.run()
    expect(report).toMatchObject({
      result: 'ok',
      counts: { update: 1, delete: 1 },
      delivery: { complete: true, records: 3, listings: 2, removals: 1 },
      notes: [],
    })
    expect(world.numbers()).toEqual(keys(all).filter((key) => key !== home.mlsNumber))
    expect(priceOf(three)).toBe(dearer(dearer(three)).price)
    put('drop-05.xml', [dearer(four)])
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { update: 1 },
      delivery: { records: 1 },
      notes: [],
    })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], notes: [] })
  })

  test('a home of which they have the MLSNumber in two spellings is there once, under the last one', async () => {
    const [one, two, three] = all
    const small = (home: Home): Home => ({ ...home, mlsNumber: home.mlsNumber.toLowerCase() })
    put('drop-02.xml', [dearer(one), small(two), next])
    put('drop-03.xml', [small(dearer(one)), dearer(two), small(next)])
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { create: 2, update: 1, delete: 1 },
      delivery: { complete: true, records: 3, listings: 3 },
      notes: [],
    })
    const there = keys([small(one), two, three, ...all.slice(3), small(next)])
    expect(world.numbers()).toEqual(there)
    // The files of the last day are read again.
    const fields = { Location: { value: 'by the river' } }
    world.configure({ north: { source: './drop-*.xml', delivery: 'delta', volatile: { refresh: '365d' }, fields } })
    put('drop-04.xml', [three])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 0, delete: 0 } })
    expect(world.numbers()).toEqual(there)
  })

  test('which were read is known under another name of the feed, too', async () => {
    const [home, two, three] = all
    put('drop-02.xml', [dearer(home)])
    put('drop-03.xml', [dearer(dearer(home))])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    // Whoever sends the files takes the last one away, and its clock is behind.
    rmSync(`${world.folder}/drop-03.xml`)
    const feed = { source: './drop-*.xml', delivery: 'delta', volatile: { refresh: '365d' }, formerly: ['north'] }
    world.configure({ oslo: feed })
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', changes: [] })
    put('drop-04.xml', [dearer(two)])
    put('drop-05.xml', [dearer(three)])
    world.clock.advance(hour)
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { update: 2 } })
    expect([priceOf(home), priceOf(two)]).toEqual([dearer(dearer(home)).price, dearer(two).price])
  })

  test.each([2, -2])(
    'so it is in another time zone, though the clock of the folder is off by %i hours',
    async (off) => {
      const [home, two, three, four] = all
      const putOff = (name: string, some: readonly Home[], after = hour): void => {
        put(name, some, after)
        const time = Math.floor(world.clock.now() / 1000) + off * 3600
        utimesSync(`${world.folder}/${name}`, time, time)
      }
      putOff('drop-02.xml', [dearer(home)], 4 * hour)
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
      putOff('drop-03.xml', [dearer(two)])
      putOff('drop-04.xml', [dearer(three), gone(four)])
      putOff('drop-05.xml', [dearer(dearer(home))])
      world.configure({
        north: { source: './drop-*.xml', delivery: 'delta', volatile: { refresh: '365d' }, timezone: 'Asia/Tokyo' },
      })
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 3, delete: 1 } })
      expect(priceOf(home)).toBe(dearer(dearer(home)).price)
    },
  )

  test('a record that can be read takes the place of one that can not, but not the other way round', async () => {
    const [home, two] = all
    const broken = (of: Home): string => zillowFeed([dearer(of)]).replace(/<(\w*Status)>[^<]*</, '<$1>Haunted<')
    put('drop-02.xml', broken(home))
    put('drop-03.xml', [dearer(home)])
    put('drop-04.xml', [dearer(two)])
    put('drop-05.xml', broken(two))
    const report = await world.run()
    expect(report).toMatchObject({
      result: 'partial',
      counts: { update: 1, hold: 1, reject: 1 },
      delivery: { records: 3 },
    })
    expect(partsOf(report)).toBe(3)
    expect(report.rejects).toMatchObject([{ at: expect.stringMatching(/^drop-05\.xml: /), mlsNumber: two.mlsNumber }])
    expect([priceOf(home), priceOf(two)]).toEqual([dearer(home).price, two.price])
  })

  test.each([
    ['is cut', zillowFeed(all.slice(0, 2).map(dearer)).slice(0, -20)],
    ['is no feed', '<html><body>Bad gateway</body></html>'],
  ])('a file that %s stops no other one, and is told until it is mended', async (_, content) => {
    put('drop-02.xml', [dearer(all[2])])
    put('drop-03.xml', content)
    put('drop-04.xml', [dearer(all[3])])
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', delivery: { complete: false } })
    expect(report.delivery.reasons).toEqual([expect.stringMatching(/^drop-03\.xml: /)])
    expect([priceOf(all[2]), priceOf(all[3])]).toEqual([all[2], all[3]].map((home) => dearer(home).price))
    expect(await world.run()).toMatchObject({ result: 'partial', delivery: { complete: false } })
    world.clock.advance(-hour / 2)
    put('drop-03.xml', all.slice(0, 2).map(dearer), 0)
    expect(await world.run()).toMatchObject({ result: 'ok', delivery: { complete: true } })
    expect(priceOf(all[1])).toBe(dearer(all[1]).price)
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], notes: [] })
  })

  test('a file that is cut and then taken away gives no earlier one the last word', async () => {
    const [home, two, three, four] = all
    put('drop-02.xml', [dearer(home), two, dearer(three)])
    put('drop-03.xml', zillowFeed([dearer(dearer(home)), gone(two), four]).slice(0, -20))
    put('drop-04.xml', [dearer(four)])
    const reasons = [expect.stringMatching(/^drop-03\.xml: /)]
    for (let i = 0; i < 2; i++) expect(await world.run()).toMatchObject({ result: 'partial', delivery: { reasons } })
    rmSync(`${world.folder}/drop-04.xml`)
    expect(await world.run()).toMatchObject({ result: 'partial', delivery: { reasons } })
    rmSync(`${world.folder}/drop-03.xml`)
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [] })
    expect([home, three, four].map(priceOf)).toEqual(
      [dearer(dearer(home)), dearer(three), dearer(four)].map(({ price }) => price),
    )
    expect(world.listing(two.mlsNumber)).toBeUndefined()
    put('drop-05.xml', [two])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
  })

  test('what earlier deliveries left to do comes beside all of them', async () => {
    put('drop-02.xml', all.slice(0, 4).map(dearer))
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'status', status: 503 } })
    expect((await world.run()).result).not.toBe('ok')
    world.standIn.clearFaults()
    put('drop-03.xml', all.slice(4, 8).map(dearer))
    put('drop-04.xml', [all[0], ...all.slice(4, 6)])
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { update: 5 }, delivery: { records: 8 } })
    expect(all.slice(0, 8).map(priceOf)).toEqual(
      all.slice(0, 8).map((home, at) => ([0, 4, 5].includes(at) ? home : dearer(home)).price),
    )
  })

  test('many files that can not be read are told once for each reason', async () => {
    for (const at of ['10\u001B[2J', 11, 12, 13, 14]) put(`drop-${at}.xml`, '<html><body>Bad gateway</body></html>')
    for (let at = 20; at < 45; at++) put(`drop-${at}.xml`, zillowFeed([]).replace('</', `<a${at}></`))
    const { reasons } = (await world.run()).delivery
    expect(reasons[0]).toMatch(
      /^drop-10\.xml, drop-11\.xml, drop-12\.xml and 2 more files: the document is an HTML page/,
    )
    expect(reasons).toHaveLength(21)
    expect(reasons.at(-1)).toBe('and 6 more reasons')
  })

  test('files of the same second are told apart by their names, and none is passed by', async () => {
    put('drop-02.xml', [dearer(all[0])])
    await world.run()
    put('drop-03.xml', [dearer(all[1])], 0)
    put('drop-02-b.xml', [dearer(dearer(all[1])), dearer(all[2])], 0)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 2 } })
    expect([priceOf(all[1]), priceOf(all[2])]).toEqual([dearer(all[1]).price, dearer(all[2]).price])
    put('drop-04.xml', [dearer(all[3])])
    put('drop-05.xml', [dearer(all[4])])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 2 } })
    put('drop-04-b.xml', [dearer(all[5])], 0)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    put('drop-04-c.xml', [dearer(all[6])], 0)
    put('drop-06.xml', [dearer(all[7])])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 2 } })
  })

  test('a file that comes late, with the time at which it was written, is read in its place', async () => {
    const [home, two, three] = all
    put('drop-02.xml', [dearer(home)])
    put('drop-03.xml', [dearer(dearer(home)), dearer(three)])
    expect(await world.run()).toMatchObject({ counts: { update: 2 } })
    world.clock.advance(-1.5 * hour)
    put('drop-02-b.xml', [home, dearer(two)], 0)
    world.clock.advance(2 * hour)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    expect([priceOf(home), priceOf(two)]).toEqual([dearer(dearer(home)).price, dearer(two).price])
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], delivery: { records: 2 } })
    put('drop-04.xml', [dearer(all[4])])
    expect(await world.run()).toMatchObject({ result: 'ok', delivery: { records: 1 } })
    world.clock.advance(48 * hour)
    put('drop-05.xml', [dearer(all[5])])
    put('drop-06.xml', [dearer(all[6])])
    expect(await world.run()).toMatchObject({ result: 'ok', delivery: { records: 2 } })
    rmSync(`${world.folder}/drop-02.xml`)
    expect(await world.run()).toMatchObject({ result: 'ok', delivery: { records: 1 } })
  })

  test.each([[[]], [['drop-05.xml']]])(
    'a file that is taken away gives no earlier one the last word, whatever comes then: %j',
    async (then) => {
      const home = all[0]
      put('drop-02.xml', [dearer(home)])
      put('drop-03.xml', [dearer(dearer(home))])
      put('drop-04.xml', [dearer(all[1])])
      expect(await world.run()).toMatchObject({ counts: { update: 2 } })
      rmSync(`${world.folder}/drop-03.xml`)
      for (const name of then) put(name, [dearer(all[2])])
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: then.length } })
      expect(priceOf(home)).toBe(dearer(dearer(home)).price)
    },
  )

  test('a file with a time of next year, by a wrong clock, counts once, and keeps no other one from being read', async () => {
    const [home, two, three, four] = all
    const nextYear = Math.floor(world.clock.now() / 1000) + 365 * 86_400
    put('drop-02.xml', [dearer(home)])
    utimesSync(`${world.folder}/drop-02.xml`, nextYear, nextYear)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    put('drop-03.xml', [dearer(two)])
    put('drop-04.xml', [dearer(dearer(home)), dearer(three)])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 3 } })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], delivery: { records: 0 } })
    rmSync(`${world.folder}/drop-02.xml`)
    put('drop-05.xml', [dearer(four)])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], delivery: { records: 1 } })
    expect([home, two, three, four].map(priceOf)).toEqual(
      [dearer(home), two, three, four].map((home) => dearer(home).price),
    )
  })

  test('a file whose marker is missing is read once it is there', async () => {
    const ready = { marker: '{stem}.done' }
    world.configure({ north: { source: './drop-*.xml', delivery: 'delta', ready, volatile: { refresh: '365d' } } })
    put('drop-02.xml', [dearer(all[0])])
    put('drop-03.xml', [dearer(all[1])])
    world.deliver('', 'drop-03.done')
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', counts: { update: 1 } })
    expect(report.delivery.reasons).toEqual([
      `${world.folder}/drop-02.xml is not complete yet: its marker drop-02.done is missing; the next run looks again`,
    ])
    world.deliver('', 'drop-02.done')
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
  })
})

describe('of a delta that was never read', () => {
  const drop = { source: './drop-*.xml', delivery: 'delta', volatile: { refresh: '365d' } }

  test('what was there before is told, and only a backfill reads it', async () => {
    world.configure({ north: drop })
    put('drop-1.xml', all.slice(0, 10))
    put('drop-2.xml', [gone(all[0]), ...all.slice(10, 19)])
    put('drop-3.xml', all.slice(19))
    expect(await world.run('diff')).toMatchObject({ counts: { create: 1 } })
    const first = await world.run()
    expect(first).toMatchObject({ result: 'partial', counts: { create: 1 } })
    expect(first.notes).toEqual([
      expect.stringMatching(
        /^2 older files of the source are not read, .* listing-sync backfill north reads all files$/,
      ),
    ])
    // It is the first load still.
    expect(await world.run('backfill')).toMatchObject({ result: 'ok', counts: { create: 18, hold: 0 } })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [] })
    expect(world.numbers()).toEqual(keys(all.slice(1)))
  })

  test('so it is told of a feed that loads another chatbot from now on', async () => {
    world.configure({ north: drop })
    put('drop-1.xml', all)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 20 } })
    put('drop-2.xml', [dearer(all[0])])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    world.configure({ north: { ...drop, chatbot: 'SN-2' } })
    const notes = [expect.stringMatching(/^1 older file of the source is not read, /)]
    expect(await world.run()).toMatchObject({ result: 'partial', counts: { create: 1 }, notes })
    expect(await world.run('backfill')).toMatchObject({ result: 'ok', counts: { create: 19 } })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], notes: [] })
  })

  test('a backfill of an empty chatbot loads all of them', async () => {
    world.configure({ north: drop })
    for (const [at, home] of all.slice(0, 12).entries()) put(`drop-${String(at).padStart(2, '0')}.xml`, [home])
    expect(await world.run('backfill')).toMatchObject({ result: 'ok', counts: { create: 12 } })
    put('drop-12.xml', [dearer(all[0])])
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 0, update: 1 }, notes: [] })
  })

  test.each([
    ['what came since the last delivery from another source is read', 0, 2],
    ['the clock of a folder that is ahead says nothing of that', 5 * hour, 1],
  ])('%s', async (_, ahead, updates) => {
    world.configure({ north: { ...drop, source: './north.xml' } })
    world.deliver(zillowFeed(all))
    await world.run()
    world.configure({ north: drop })
    put('drop-1.xml', [dearer(all[0])], -hour + ahead)
    world.clock.advance(2 * hour)
    put('drop-2.xml', [dearer(all[1])])
    put('drop-3.xml', [dearer(all[2])])
    world.clock.advance(-ahead)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: updates } })
  })
})

test('of a full feed only the newest file is read', async () => {
  world.configure({ north: { source: './drop-*.xml' } })
  put('drop-1.xml', all)
  await world.run()
  put('drop-2.xml', [...all.map(dearer), home(21)])
  put('drop-3.xml', all)
  const bytes = Buffer.byteLength(zillowFeed(all))
  expect(await world.run()).toMatchObject({ result: 'ok', changes: [], notes: [], delivery: { records: 20, bytes } })
})

test.each(['north', 'oslo'])(
  'of a feed that turns to deltas, the full files before its last one bring nothing back (then called %s)',
  async (name) => {
    world.configure({ north: { source: './drop-*.xml' } })
    put('drop-1.xml', all)
    await world.run()
    put('drop-2.xml', all.slice(1))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    const formerly = name === 'north' ? [] : ['north']
    world.configure({ [name]: { source: './drop-*.xml', delivery: 'delta', volatile: { refresh: '365d' }, formerly } })
    put('drop-3.xml', [dearer(all[1])])
    expect(await world.run('sync', name)).toMatchObject({ result: 'ok', counts: { create: 0, update: 1 } })
    // From then on what comes late is read in its place.
    put('drop-2-b.xml', [dearer(all[2])], -hour / 2)
    expect(await world.run('sync', name)).toMatchObject({ result: 'ok', counts: { create: 0, update: 1 } })
    expect(await world.run('backfill', name)).toMatchObject({ result: 'ok', counts: { create: 0 } })
    expect(world.numbers()).toEqual(keys(all.slice(1)))
  },
)

test('of a feed that turns to deltas, none is passed by, though the last full file came by a clock that was days ahead', async () => {
  world.configure({ north: { source: './drop-*.xml' } })
  put('drop-1.xml', all, 73 * hour)
  world.clock.advance(-72 * hour)
  await world.run()
  world.configure({ north: { source: './drop-*.xml', delivery: 'delta' } })
  rmSync(`${world.folder}/drop-1.xml`)
  put('drop-2.xml', [dearer(all[1])])
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
  put('drop-2-b.xml', [dearer(all[2])], -hour / 2)
  put('drop-3.xml', [dearer(all[3])], 2 * hour)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 2 } })
})

describe('REAXML, a file for each listing', () => {
  const ids = (id: string): string => `<agentID>AG1</agentID><uniqueID>${id}</uniqueID>`
  const file = (record: string, hour = 1): string =>
    `<propertyList date="2026-11-21-0${hour}:00:00">${record}</propertyList>`
  const whole = (id: string, hour?: number): string =>
    file(
      `<residential status="current">${ids(id)}<price>650000</price><headline>Beside the park</headline>
  <category name="Townhouse"/><address display="yes"><streetNumber>${id}</streetNumber><street>Fern St</street>
  <suburb>Greendale</suburb><state>VIC</state><postcode>3000</postcode><country>AUS</country></address>
  <features><bedrooms>3</bedrooms><bathrooms>2</bathrooms></features></residential>`,
      hour,
    )
  const stub = (id: string, status: string, more = '', hour?: number): string =>
    file(`<residential status="${status}">${ids(id)}${more}</residential>`, hour)

  const defaults = { DaysOnMarket: 0, YearBuilt: 0, LotArea: 0, BuildingArea: 0 }
  const configure = (more: object = { ParkingSpots: 0 }): void =>
    world.configure({
      north: {
        source: './drop-*.xml',
        preset: 'reaxml',
        fields: { Url: { template: 'https://homes.example/{MLSNumber}' } },
        defaults: { ...defaults, ...more },
      },
    })
  beforeEach(() => configure())

  test('a file that was written before the last delivery makes this one older, but not one that is only read again', async () => {
    put('drop-1.xml', whole('1', 1))
    await world.run()
    put('drop-2.xml', whole('2', 8))
    put('drop-3.xml', whole('3', 4))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [] })
    world.clock.advance(-1.5 * hour)
    put('drop-2-b.xml', whole('4', 3), 0)
    world.clock.advance(2 * hour)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
    put('drop-5.xml', whole('5', 3))
    put('drop-6.xml', whole('6', 9))
    expect(await world.run()).toMatchObject({
      result: 'held',
      counts: { create: 0, hold: 2 },
      holds: [{ rule: 'older' }],
    })
    // The newest file is read again as long as none comes, and was written after the last delivery.
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 1, hold: 0 } })
    put('drop-7.xml', whole('7', 3))
    for (let i = 0; i < 2; i++)
      expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 0, hold: 1 } })
    put('drop-8.xml', whole('5', 9))
    put('drop-9.xml', whole('7', 9))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
  })

  test('a file that was written before the last delivery is held, too, if the run that read it dies and a newer one comes', async () => {
    put('drop-1.xml', whole('1', 8))
    await world.run()
    put('drop-2.xml', stub('1', 'current', '<price>610000</price>', 3))
    const app = openApp(world.context, { logLevel: 'error' })
    // It dies before it has recorded what it holds.
    app.store().runs.record = () => Promise.reject(new UserError('the disk is full'))
    expect(await world.run('sync', 'north', app)).toMatchObject({ unrecorded: expect.anything() })
    await app.close()
    put('drop-3.xml', whole('2', 9))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { update: 0 }, holds: [{ rule: 'older' }] })
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 650000 })
  })

  test.each([
    ['once it is read in another way', () => configure({ ParkingSpots: 1 })],
    ['as another one came late', () => put('drop-3-b.xml', whole('3', 9), -0.5 * hour)],
  ])('what such a file said stays held while the files of its day are read again, %s', async (_, change) => {
    const priced = (price: number, at: number): string => stub('1', 'current', `<price>${price}</price>`, at)
    put('drop-1.xml', whole('1', 1))
    await world.run()
    put('drop-2.xml', priced(610000, 8))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    put('drop-3.xml', priced(620000, 3), 30 * hour)
    expect(await world.run()).toMatchObject({ result: 'held', counts: { update: 0 }, holds: [{ rule: 'older' }] })
    put('drop-4.xml', whole('2', 9))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 1, update: 0 } })
    change()
    for (let i = 0; i < 3; i++) {
      world.clock.advance(hour)
      expect((await world.run()).result).toBe('held')
      expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 610000 })
    }
    await world.approve()
    await world.run()
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 620000 })
  })

  test('a later word that came late counts though, and what the older file said is over', async () => {
    const priced = (price: number, at: number): string => stub('1', 'current', `<price>${price}</price>`, at)
    put('drop-1.xml', whole('1', 1))
    await world.run()
    put('drop-2.xml', priced(610000, 7))
    await world.run()
    put('drop-3.xml', priced(620000, 3), 30 * hour)
    expect(await world.run()).toMatchObject({ result: 'held', holds: [{ rule: 'older' }] })
    put('drop-4.xml', whole('2', 9))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 1 } })
    put('drop-3-b.xml', priced(630000, 8), -0.5 * hour)
    world.clock.advance(hour)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [] })
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 630000 })
  })

  test.each([
    ['is still to be done', true],
    ['is done', false],
  ])(
    'what such a file said of what was said later and %s does not count once it is read again',
    async (_, isPending) => {
      const priced = (price: number, at: number): string => stub('1', 'current', `<price>${price}</price>`, at)
      put('drop-1.xml', whole('1', 1))
      await world.run()
      const fault = { operations: ['Update' as const], times: 1000, fault: { kind: 'status' as const, status: 503 } }
      if (isPending) world.standIn.addFault(fault)
      put('drop-2.xml', priced(610000, 8))
      if (isPending) await world.run()
      put('drop-3.xml', priced(620000, 3), 15 * hour)
      await world.run()
      put('drop-4.xml', whole('2', 9).replace('2026-11-21', '2026-11-22'), 12 * hour)
      await world.run()
      configure({ ParkingSpots: 1 })
      expect((await world.run()).notes).toContainEqual(
        'drop-3.xml among those that are read again was written more than a day before the last one: what it says does not count again',
      )
      world.standIn.clearFaults()
      world.clock.advance(hour)
      await world.run()
      expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 610000 })
    },
  )

  test('a backfill reads files of more than a day before the last one, which was read', async () => {
    const of = (id: string): string => whole(id, 5).replace('2026-11-21', `2026-11-${id}`)
    for (const id of ['15', '16', '17', '18', '19']) put(`drop-${id}.xml`, of(id), 24 * hour)
    expect(await world.run()).toMatchObject({ counts: { create: 1 } })
    expect(await world.run('backfill')).toMatchObject({ result: 'ok', counts: { create: 4 }, notes: [] })
  })

  test('what is held of several files is mapped anew once they are read in another way', async () => {
    put('drop-1.xml', whole('1', 1))
    await world.run()
    for (const id of ['2', '3', '4', '5']) put(`drop-${id}.xml`, whole(id, 2))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 4 } })
    const dear = (id: string, at: number): string => stub(id, 'current', '<price>66000000</price>', at)
    for (const id of ['1', '2', '3', '4']) put(`drop-1${id}.xml`, dear(id, 3 + Number(id)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { update: 0 } })
    world.configure({
      north: {
        source: './drop-*.xml',
        preset: 'reaxml',
        fields: { Url: { template: 'https://homes.example/{MLSNumber}' }, SalePrice: { from: 'price', times: 0.01 } },
        defaults: { ...defaults, ParkingSpots: 0 },
        limits: 'off',
      },
    })
    expect(await world.run()).toMatchObject({ counts: { hold: 0 } })
    for (const id of ['1', '2', '3', '4']) expect(world.listing(`AG1-${id}`)).toMatchObject({ SalePrice: 660000 })
  })

  test('while such a file is the newest, what else is still to be done goes on', async () => {
    put('drop-1.xml', whole('1', 1))
    await world.run()
    put('drop-2.xml', stub('1', 'current', '<price>610000</price>', 7))
    world.standIn.addFault({ operations: ['Update'], times: 20, fault: { kind: 'status', status: 503 } })
    expect(await world.run()).not.toMatchObject({ result: 'ok' })
    world.standIn.clearFaults()
    put('drop-3.xml', whole('2', 8))
    put('drop-4.xml', whole('3', 3))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 0, update: 0, hold: 2 } })
    // Nothing comes any more, so the last one is read again.
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 0, update: 1 } })
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 610000 })
    await world.approve()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
    expect(world.numbers()).toEqual(['AG1-1', 'AG1-2', 'AG1-3'])
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [] })
  })

  test('what of earlier deliveries is approved meanwhile makes it no newer', async () => {
    const priced = (price: number, at: number): string => stub('1', 'current', `<price>${price}</price>`, at)
    put('drop-1.xml', whole('1', 1))
    await world.run()
    put('drop-2.xml', priced(610000, 8))
    world.standIn.addFault({ operations: ['Update'], times: 20, fault: { kind: 'status', status: 503 } })
    await world.run()
    world.standIn.clearFaults()
    put('drop-3.xml', whole('2', 4))
    put('drop-4.xml', priced(620000, 3))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 1 } })
    await world.approve()
    expect(await world.run()).toMatchObject({ counts: { create: 1, update: 1 } })
    expect(await world.run()).toMatchObject({ result: 'held', counts: { update: 0, hold: 1 } })
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 610000 })
  })

  test('of files that came in another order than they were written, the one that was written last counts', async () => {
    put('drop-1.xml', whole('1', 1))
    await world.run()
    const priced = (price: number, at: number): string => stub('1', 'current', `<price>${price}</price>`, at)
    put('drop-2.xml', priced(610000, 4))
    put('drop-3.xml', priced(630000, 8))
    put('drop-4.xml', priced(620000, 6))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 }, delivery: { records: 1 } })
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 630000 })
  })

  test('once the last file is taken away, nothing is read again, and what is still to be done goes on', async () => {
    const priced = (price: number): string => stub('1', 'current', `<price>${price}</price>`)
    put('drop-1.xml', whole('1'))
    await world.run()
    put('drop-2.xml', priced(620000))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    put('drop-3.xml', priced(630000))
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'status', status: 503 } })
    expect((await world.run()).result).not.toBe('ok')
    world.standIn.clearFaults()
    rmSync(`${world.folder}/drop-3.xml`)
    const nothing = expect.stringMatching(
      /^No file of the source is newer than the last one that was read \(.*\), so noth/,
    )
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { update: 1 },
      notes: [expect.anything(), nothing],
    })
    world.clock.advance(hour)
    await world.run()
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], delivery: { records: 0 }, notes: [nothing] })
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 630000 })
    put('drop-4.xml', priced(640000))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 }, notes: [] })
  })

  test('what came within a day is read again once it is read in another way', async () => {
    configure({})
    put('drop-1.xml', whole('1').replace('</features>', '<garages>1</garages></features>'))
    expect(await world.run()).toMatchObject({ result: 'ok' })
    for (const id of ['2', '3', '4']) put(`drop-${id}.xml`, whole(id))
    expect(await world.run()).toMatchObject({ counts: { create: 0, reject: 3 } })
    configure()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 3 } })
  })

  test('so is what came before a file that is cut, and once', async () => {
    configure({})
    put('drop-1.xml', whole('1').replace('</features>', '<garages>1</garages></features>'))
    expect(await world.run()).toMatchObject({ result: 'ok' })
    for (const id of ['2', '3']) put(`drop-${id}.xml`, whole(id))
    put('drop-4.xml', stub('1', 'withdrawn').replace('</propertyList>', ''))
    for (let i = 0; i < 2; i++) expect(await world.run()).toMatchObject({ result: 'partial', counts: { create: 0 } })
    configure()
    expect(await world.run()).toMatchObject({ result: 'partial', counts: { create: 2 } })
    rmSync(`${world.folder}/drop-4.xml`)
    put('drop-5.xml', whole('5'))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
    expect(world.numbers()).toEqual(['AG1-2', 'AG1-3', 'AG1-5'])
  })

  test('a record that tells only what changed goes over the whole one that came in a file before it', async () => {
    put('drop-1.xml', whole('1'))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
    put('drop-2.xml', whole('2'))
    put('drop-3.xml', whole('3'))
    put('drop-4.xml', stub('2', 'current', '<price>620000</price>'))
    put('drop-5.xml', stub('1', 'sold', '<soldDetails><price display="yes">640000</price></soldDetails>'))
    put('drop-6.xml', stub('3', 'withdrawn'))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, update: 1, reject: 0 } })
    expect(world.numbers()).toEqual(['AG1-1', 'AG1-2'])
    expect(world.listing('AG1-1')).toMatchObject({ SalePrice: 640000, PropertyType: 'Townhouse' })
    expect(world.listing('AG1-2')).toMatchObject({ SalePrice: 620000, PropertyType: 'Townhouse' })
  })
})

test('what an earlier file says of a listing clears nothing that the table beside the feed (join) does not have', async () => {
  const picture = (id: string, name: string): string => `${id},https://photos.example/${name}.jpg`
  const pictures = (...rows: string[]): void =>
    world.deliver(`${['ResourceRecordID,MediaURL', ...rows].join('\n')}\n`, 'media.csv')
  const imagesOf = (id: string): unknown => world.listing(id)?.['Images']
  const table = (...ids: string[]): string => resoTable(...ids.map((id) => resoRow(id)))
  const dearerTable = (...ids: string[]): string => table(...ids).replaceAll('250000', '260000')
  world.configure({
    north: {
      source: './drop-*.csv',
      preset: 'reso-csv',
      volatile: { refresh: '365d' },
      join: { media: { source: './media.csv', key: 'ResourceRecordID', by: 'ListingId' } },
      fields: { Images: { from: 'media:MediaURL', as: 'images' } },
    },
  })
  put('drop-1.csv', table('M1', 'M2', 'M3'))
  pictures(picture('M1', 'a'), picture('M2', 'b'), picture('M3', 'c'))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 3 } })
  put('drop-2.csv', dearerTable('M1', 'M2', 'M4'))
  put('drop-3.csv', dearerTable('M3'))
  pictures(picture('M2', 'b2'), picture('M4', 'd'))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, update: 3 } })
  const image = (name: string): string[] => [`https://photos.example/${name}.jpg`]
  expect(['M1', 'M2', 'M4'].map(imagesOf)).toEqual([image('a'), image('b2'), image('d')])
  expect(imagesOf('M3') ?? []).toEqual([])
})

describe('OpenImmo, whose files say whether they are everything', () => {
  const offer = (id: string, price = 300_000, action = ''): string =>
    `<immobilie><objektkategorie><nutzungsart WOHNEN="1"/><vermarktungsart KAUF="1"/><objektart><haus/></objektart></objektkategorie>
<geo><plz>01067</plz><ort>Musterstadt</ort><strasse>Gartenweg</strasse><hausnummer>${id}</hausnummer><land iso_land="DEU"/></geo>
<preise><kaufpreis>${price}</kaufpreis><waehrung iso_waehrung="EUR"/></preise>
<flaechen><wohnflaeche>120</wohnflaeche><grundstuecksflaeche>500</grundstuecksflaeche><anzahl_schlafzimmer>3</anzahl_schlafzimmer><anzahl_badezimmer>1</anzahl_badezimmer></flaechen>
<zustand_angaben><baujahr>1990</baujahr></zustand_angaben><freitexte><objekttitel>Haus ${id}</objekttitel></freitexte>
<verwaltung_techn><objektnr_extern>H-${id}</objektnr_extern>${action}</verwaltung_techn></immobilie>`
  const file = (extent: 'VOLL' | 'TEIL', ...offers: string[]): string =>
    `<openimmo><uebertragung art="OFFLINE" umfang="${extent}" version="1.2.7"/><anbieter>${offers.join('')}</anbieter></openimmo>`
  const dated = (document: string, hour: number): string =>
    document.replace('version=', `timestamp="2026-11-21T0${hour}:00:00Z" version=`)
  const removed = (id: string): string => offer(id, 300_000, '<aktion aktionart="DELETE"/>')
  const numbers = (...ids: number[]): string[] => ids.map((id) => `H-${id}`)

  const feed = {
    source: './drop-*.xml',
    preset: 'openimmo',
    fields: { Url: { template: 'https://homes.example/{MLSNumber}' } },
    defaults: { DaysOnMarket: 0, ParkingSpots: 0 },
    limits: { share: 90 },
  }

  beforeEach(async () => {
    world.configure({ north: feed })
    put('drop-01.xml', file('VOLL', ...[10, 11, 12, 13, 14, 15, 16, 17].map((id) => offer(String(id)))))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 8 } })
  })

  test('changes lie over the whole transfer before them, and what it lacks goes', async () => {
    put('drop-02.xml', file('TEIL', offer('18'), offer('19')))
    put('drop-03.xml', file('VOLL', ...[11, 12, 13, 14, 15, 16, 17].map((id) => offer(String(id)))))
    put('drop-04.xml', file('TEIL', offer('11', 320_000), offer('20')))
    put('drop-05.xml', file('TEIL', removed('12')))
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { create: 1, update: 1, delete: 2 },
      delivery: { complete: true, records: 8, listings: 7, removals: 1 },
    })
    expect(world.numbers()).toEqual(numbers(11, 13, 14, 15, 16, 17, 20))
    expect(world.listing('H-11')).toMatchObject({ SalePrice: 320_000 })
  })

  test('what of a whole transfer could not be carried out goes on with the changes after it', async () => {
    put('drop-02.xml', file('VOLL', ...[11, 12, 13, 14, 15, 16, 17, 18].map((id) => offer(String(id), 320_000))))
    world.standIn.addFault({ operations: ['Create', 'Update', 'Delete'], fault: { kind: 'status', status: 503 } })
    expect(await world.run()).toMatchObject({ result: 'failed', counts: { create: 1, update: 7, delete: 1 } })
    world.standIn.clearFaults()
    put('drop-03.xml', file('TEIL', offer('11', 330_000), offer('19')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2, update: 7, delete: 1 } })
    expect(world.numbers()).toEqual(numbers(11, 12, 13, 14, 15, 16, 17, 18, 19))
    expect([world.listing('H-11'), world.listing('H-12')]).toMatchObject([
      { SalePrice: 330_000 },
      { SalePrice: 320_000 },
    ])
    put('drop-04.xml', file('TEIL'))
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [], notes: [] })
  })

  test('a whole transfer that is held ends nothing of what is still to be done', async () => {
    put('drop-02.xml', file('TEIL', offer('11', 320_000), offer('18')))
    world.standIn.addFault({ operations: ['Create', 'Update'], fault: { kind: 'status', status: 503 } })
    expect(await world.run()).toMatchObject({ result: 'partial', counts: { create: 1, update: 1 } })
    world.standIn.clearFaults()
    put('drop-03.xml', file('VOLL', offer('17')))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0 } })
    put('drop-04.xml', file('TEIL', offer('19')))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 2, update: 1 } })
    expect(world.numbers()).toEqual(numbers(10, 11, 12, 13, 14, 15, 16, 17, 18, 19))
  })

  test('what of it is held can be approved, though only changes come after it', async () => {
    const [dear, same] = [[10, 11, 12].map((id) => offer(String(id), 900_000)), [13, 14, 15, 16, 17]]
    put('drop-02.xml', file('VOLL', ...dear, ...same.map((id) => offer(String(id)))))
    world.configure({ north: { ...feed, limits: {} } })
    const held = await world.run()
    expect(held).toMatchObject({ result: 'held', counts: { update: 0, hold: 3 } })
    expect(held.notes).toContainEqual(expect.stringContaining('Tue 24 Nov 14:00 if the feed still says so; now:'))
    await world.approve()
    put('drop-03.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, update: 3 } })
  })

  test('no time is told for deletes of it, which changes say nothing of', async () => {
    world.configure({ north: { ...feed, limits: {} } })
    put('drop-02.xml', file('VOLL', ...[10, 11, 12].map((id) => offer(String(id)))))
    const ends = 'with the first full delivery from Tue 24 Nov 14:00 on, if it still says so; now: listing-sync approve'
    const status = async (): Promise<string> => (await world.executed('status', 'north')).stdout
    expect((await world.run()).notes).toContainEqual(expect.stringContaining(`They go by themselves ${ends}`))
    put('drop-03.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 1 } })
    expect(await status()).toContain(ends)
    world.clock.advance(80 * hour)
    put('drop-04.xml', file('TEIL', offer('19')))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 1, delete: 0 } })
    expect(await status()).toContain('they go by themselves with the next full delivery that still says so;')
    put('drop-05.xml', file('VOLL', ...[10, 11, 12, 18, 19].map((id) => offer(String(id)))))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 5 } })
  })

  test('deletes that it names go with a change, too, at the time that is told', async () => {
    world.configure({ north: { ...feed, limits: {} } })
    put(
      'drop-02.xml',
      file('VOLL', ...[10, 11, 12].map((id) => offer(String(id))), ...['13', '14', '15', '16', '17'].map(removed)),
    )
    const ends = 'They go by themselves on Tue 24 Nov 14:00 if the feed still says so; now: listing-sync approve'
    expect((await world.run()).notes).toContainEqual(expect.stringContaining(ends))
    world.clock.advance(80 * hour)
    put('drop-03.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, delete: 5 } })
  })

  test('deletes that a change named go at the time that is told, also after a whole transfer that lacks them', async () => {
    world.configure({ north: { ...feed, limits: {} } })
    put('drop-02.xml', file('TEIL', ...['13', '14', '15', '16', '17'].map(removed)))
    const ends = 'They go by themselves on Tue 24 Nov 14:00 if the feed still says so; now: listing-sync approve'
    expect((await world.run()).notes).toContainEqual(expect.stringContaining(ends))
    world.clock.advance(24 * hour)
    put('drop-03.xml', file('VOLL', ...[10, 11, 12].map((id) => offer(String(id)))))
    expect((await world.run()).notes).toContainEqual(expect.stringContaining(ends))
    world.clock.advance(56 * hour)
    put('drop-04.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, delete: 5 } })
  })

  test('a delete that a change named is over once a whole transfer has the listing', async () => {
    world.configure({ north: { ...feed, limits: {} } })
    put('drop-02.xml', file('TEIL', ...['13', '14', '15', '16', '17'].map(removed)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 5 } })
    put('drop-03.xml', file('VOLL', ...[10, 11, 12, 13, 14, 15, 16, 17].map((id) => offer(String(id)))))
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [] })
    world.clock.advance(80 * hour)
    put('drop-04.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, delete: 0 } })
  })

  test('what of it was held whole and is approved goes with the next one, and the changes between say so', async () => {
    const ids = [10, 11, 12, 13, 14, 15, 16, 17]
    put('drop-02.xml', file('VOLL', ...ids.map((id) => offer(String(id), 900_000))))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 8 } })
    await world.approve()
    put('drop-03.xml', file('TEIL', offer('18')))
    expect((await world.run()).notes).toEqual([
      '8 listings wait for a full delivery, or for one that names them, as a delta says nothing of what is not in it: the next whole transfer will do; listing-sync status north says why',
    ])
    put('drop-04.xml', file('VOLL', ...ids.map((id) => offer(String(id), 900_000)), offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 8 } })
  })

  test('what a backfill leaves of the changes after it the next sync decides', async () => {
    put('drop-02.xml', file('TEIL', removed('10')))
    expect(await world.run('backfill')).toMatchObject({ counts: { delete: 0, hold: 1 } })
    put('drop-03.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, delete: 1 }, holds: [] })
    expect(world.numbers()).toEqual(numbers(11, 12, 13, 14, 15, 16, 17, 18))
  })

  test.each(['TEIL', 'VOLL'] as const)('what a cut whole transfer names is not gone by an earlier %s', async (art) => {
    const rest = [11, 12, 13, 14, 15, 16, 17].map((id) => offer(String(id)))
    put('drop-02.xml', art === 'TEIL' ? file(art, removed('10')) : file(art, ...rest))
    const status = (...operations: ('Delete' | 'Update')[]): void =>
      world.standIn.addFault({ operations, fault: { kind: 'status', status: 401 } })
    status('Delete')
    expect(await world.run()).toMatchObject({ result: 'failed', counts: { delete: 1 } })
    world.standIn.clearFaults()
    status('Update')
    const cut = file('VOLL', offer('10'), offer('11', 310_000), ...rest.slice(1)).slice(0, -200)
    put('drop-03.xml', cut)
    expect(await world.run()).toMatchObject({ delivery: { complete: false }, counts: { update: 1, delete: 0 } })
    world.standIn.clearFaults()
    // Its sender sees that and takes it away.
    rmSync(`${world.folder}/drop-03.xml`)
    put('drop-04.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, update: 1, delete: 0 } })
    expect(world.numbers()).toEqual(numbers(10, 11, 12, 13, 14, 15, 16, 17, 18))
  })

  test('where new numbers of it are held, the changes after it are not taken for the whole inventory', async () => {
    world.configure({ north: { ...feed, limits: {} } })
    const renumbered = [10, 11, 12, 13, 14, 15, 16, 17].map((id) => offer(String(id)).replace('>H-', '>N-'))
    put('drop-02.xml', file('VOLL', ...renumbered))
    const whole = await world.run()
    expect(whole).toMatchObject({ result: 'held', counts: { hold: 16 } })
    const until = 'until the first full delivery from Tue 24 Nov 14:00 on; the site keeps showing them'
    expect(whole.notes).toContainEqual(expect.stringContaining(until))
    const end =
      'if the feed still says so; deletes of what a full delivery lacked with a full one only; now: listing-sync approve north'
    expect((await world.executed('status', 'north')).stdout).toContain(end)
    put('drop-03.xml', file('TEIL', offer('18')))
    const { counts, notes } = await world.run()
    expect(counts).toMatchObject({ create: 1, hold: 8 })
    expect(notes).not.toContainEqual(expect.stringContaining('delivery: full'))
  })

  test('a change that was written before it and comes beside it makes nothing older', async () => {
    put('drop-02.xml', dated(file('TEIL', offer('18')), 4))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
    const whole = dated(file('VOLL', ...[11, 12, 13, 14, 15, 16, 17, 18].map((id) => offer(String(id)))), 5)
    put('drop-03.xml', dated(file('TEIL', removed('17')), 2))
    put('drop-04.xml', whole)
    put('drop-05.xml', dated(file('TEIL', removed('16')), 3))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 1, hold: 0 } })
    expect(world.numbers()).toEqual(numbers(11, 12, 13, 14, 15, 16, 17, 18))
  })

  test('an offer without a number holds deletes back while its file counts', async () => {
    const nameless = offer('17').replace(/<objektnr_extern>.*<\/objektnr_extern>/, '')
    const whole = (...ids: number[]): string[] => ids.map((id) => offer(String(id)))
    put('drop-02.xml', file('VOLL', ...whole(10, 11, 12, 13, 14, 15, 16), nameless))
    put('drop-03.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ counts: { create: 1, delete: 0, hold: 1, reject: 1 } })
    put('drop-04.xml', file('TEIL', nameless))
    put('drop-05.xml', file('VOLL', ...whole(10, 11, 12, 13, 14, 15, 16, 18)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 1, hold: 0, reject: 0 } })
  })

  test('a whole transfer without offers takes the place of what came before it, too', async () => {
    put('drop-02.xml', file('TEIL', offer('18')))
    put('drop-03.xml', file('VOLL'))
    expect(await world.run()).toMatchObject({
      result: 'held',
      counts: { create: 0 },
      delivery: { complete: true, records: 0 },
    })
  })

  test('a whole transfer of before is not read again, and deletes nothing, once the change after it is taken away', async () => {
    put('drop-02.xml', file('VOLL', ...[10, 11, 12, 13, 14, 15, 16].map((id) => offer(String(id)))))
    put('drop-03.xml', file('TEIL', offer('18')))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, delete: 1 } })
    rmSync(`${world.folder}/drop-03.xml`)
    put('drop-04.xml', file('TEIL', offer('19')))
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { create: 1, delete: 0 },
      delivery: { records: 1 },
    })
    expect(world.numbers()).toEqual(numbers(10, 11, 12, 13, 14, 15, 16, 18, 19))
  })

  test('a whole transfer that was written before changes lies under them, wherever it comes', async () => {
    put('drop-02.xml', dated(file('TEIL', offer('11', 310_000)), 4))
    put('drop-03.xml', dated(file('TEIL', offer('18'), offer('12', 320_000)), 6))
    put('drop-04.xml', dated(file('TEIL', removed('13')), 7))
    put('drop-05.xml', dated(file('VOLL', ...[11, 12, 13, 14, 15, 16, 17].map((id) => offer(String(id)))), 5))
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { create: 1, update: 1, delete: 2 },
      delivery: { complete: true, records: 8, listings: 7, removals: 1 },
    })
    expect(world.numbers()).toEqual(numbers(11, 12, 14, 15, 16, 17, 18))
    put('drop-05-b.xml', dated(file('TEIL', offer('19')).slice(0, -20), 8))
    put('drop-05-c.xml', dated(file('VOLL', ...[11, 12].map((id) => offer(String(id)))), 7))
    expect(await world.run()).toMatchObject({ result: 'partial', counts: { delete: 0 }, delivery: { complete: false } })
    rmSync(`${world.folder}/drop-05-b.xml`)
    rmSync(`${world.folder}/drop-05-c.xml`)
    put('drop-06.xml', dated(file('TEIL', offer('11', 310_000)), 8))
    put('drop-07.xml', dated(file('VOLL', ...[11, 12, 13].map((id) => offer(String(id)))), 6))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { update: 0, delete: 0 } })
  })

  test('a change that was written before a whole transfer, but comes after it, no longer counts', async () => {
    const dated = (document: string, hour: number): string =>
      document.replace('version=', `timestamp="2026-11-21T0${hour}:00:00Z" version=`)
    put('drop-02.xml', dated(file('VOLL', ...[10, 11, 12, 13, 14, 15, 16].map((id) => offer(String(id)))), 8))
    put('drop-03.xml', dated(file('TEIL', offer('17', 310_000), offer('18'), removed('16')), 5))
    put('drop-04.xml', dated(file('TEIL', offer('11', 320_000)), 9))
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { create: 0, update: 1, delete: 1 },
      delivery: { records: 7, listings: 7 },
    })
    expect(world.numbers()).toEqual(numbers(10, 11, 12, 13, 14, 15, 16))
  })

  test('what an older whole transfer says is held until a newer change comes, as that takes its place', async () => {
    put('drop-02.xml', dated(file('TEIL', offer('18'), removed('17')), 5))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1, delete: 1 } })
    put(
      'drop-03.xml',
      dated(file('VOLL', ...[10, 11, 12, 13, 14, 15, 16, 17].map((id) => offer(String(id), 290_000))), 3),
    )
    for (let i = 0; i < 2; i++)
      expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 9 }, holds: [{ rule: 'older' }] })
    put('drop-03-b.xml', file('TEIL', offer('11', 305_000)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { update: 1 } })
    put('drop-04.xml', dated(file('TEIL', offer('11', 310_000)), 6))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1, hold: 0 } })
    expect(world.numbers()).toEqual(numbers(10, 11, 12, 13, 14, 15, 16, 18))
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [] })
  })

  test('a transfer that was cut proves nothing, and is forgotten with the next whole one', async () => {
    const whole = file('VOLL', ...[10, 11, 12, 13, 14, 15, 16].map((id) => offer(String(id))))
    put('drop-01-b.xml', file('TEIL', offer('18')))
    put('drop-02.xml', whole.slice(0, 1500))
    put('drop-03.xml', file('TEIL', offer('11', 320_000)))
    expect(await world.run()).toMatchObject({
      result: 'partial',
      counts: { create: 1, update: 1, delete: 0 },
      delivery: { complete: false },
    })
    put('drop-04.xml', whole)
    expect(await world.run()).toMatchObject({
      result: 'ok',
      counts: { update: 1, delete: 2 },
      delivery: { complete: true, records: 7 },
    })
    expect(world.numbers()).toEqual(numbers(10, 11, 12, 13, 14, 15, 16))
  })
})
