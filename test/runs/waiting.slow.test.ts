/** What is held waits for its own time: through nights on which fewer are left, or some can't be told, and whatever moves beside it. */
import { beforeEach, describe, expect, test } from 'vitest'
import { homes, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { chatbot } from '../support/run-world.ts'
import { night, playNights, volatile, world } from './nights.ts'

const all = homes(1, 40)

playNights()
beforeEach(async () => {
  await night(all)
  await night(all)
})

const dear = (count: number): Home[] => all.map((home, i) => (i < count ? { ...home, price: home.price * 100 } : home))
const unreadable = (home: Home): string => zillowRecord(home).replace(/<YearBuilt>\d+/, '<YearBuilt>long ago')
const feedOf = (...records: string[]): string => zillowStart + records.join('') + zillowEnd
/** The service shows these once more. */
const showTwice = (some: readonly Home[]): void => {
  for (const home of some) world.standIn.seed(chatbot, [world.listing(home.mlsNumber) as never])
}

describe('is nothing that another kind of hold, or another night, tells to be right again', () => {
  const otherwise = dear(8).map((home, i) => (i < 4 ? { ...home, price: home.price / 10 } : home))
  test.each<[string, readonly Home[][], number]>([
    ['an empty file between them', [dear(9), [], dear(8)], 8],
    ['as many are missing, and come back', [dear(9).slice(0, 28), dear(8)], 8],
    ['more new ones change each night', [[...dear(9), ...homes(101, 131)], dear(8)], 8],
    ['most of them are sold', [dear(9), dear(9).slice(7)], 2],
    ['three of five are put right', [dear(20), dear(8)], 8],
    ['half of them are wrong in another way', [dear(12), otherwise], 4],
    ['others leave at once', [dear(20), dear(5).slice(0, 28)], 5],
  ])('%s', async (_, deliveries, held) => {
    for (const delivery of deliveries.slice(0, -1)) await night(delivery)
    const report = await night(deliveries.at(-1)!)
    expect(report.result).toBe('held')
    const prices = report.holds.filter(({ rule, keys: of }) => rule === 'facts' && of.length > 0)
    expect(prices.flatMap(({ keys: of }) => of)).toHaveLength(held)
  })
})

describe('on a night on which some of it cannot be told', () => {
  test('deletes, where the service shows some listings twice', async () => {
    expect(await night(all.slice(14))).toMatchObject({ result: 'held', counts: { hold: 14 } })
    showTwice(all.slice(0, 7))
    expect(await night(all.slice(14))).toMatchObject({ result: 'held', counts: { delete: 0, hold: 14 } })
  })

  const many = homes(101, 135)
  const [some, others] = [many.slice(0, 6), many.slice(6)]
  test.each([
    [
      'come twice and differ',
      [...some, ...some.map((home) => ({ ...home, bedrooms: home.bedrooms + 1 }))].map(zillowRecord),
    ],
    ["can't be read", some.map(unreadable)],
  ])('creates, of which some %s; new ones join them', async (_, records) => {
    expect(await night([...all, ...many])).toMatchObject({ result: 'held', counts: { hold: 35 } })
    const next = feedOf(...[...all, ...others, ...homes(136, 137)].map(zillowRecord), ...records)
    expect((await night(next)).counts.create).toBe(0)
  })

  test('what asks for a person, where the service shows some listings twice', async () => {
    for (let n = 0; n < 5; n++) await night(all.slice(36))
    showTwice(all.slice(0, 10))
    expect((await night(all.slice(36))).counts.delete).toBe(0)
  })

  test.each([
    [
      "can't be read",
      (wrong: Home[]) => feedOf(...wrong.map((home, i) => (i < 10 ? unreadable(home) : zillowRecord(home)))),
    ],
    [
      'come twice and differ',
      (wrong: Home[]) =>
        feedOf(...[...wrong, ...wrong.slice(0, 10).map((home) => ({ ...home, bedrooms: 9 }))].map(zillowRecord)),
    ],
  ])('prices that ask for a person, of which some %s', async (_, feed) => {
    for (let n = 0; n < 5; n++) await night(dear(36))
    const report = await night(feed(dear(36)))
    expect(report.counts.update).toBe(0)
    expect(report.notes).toContainEqual(expect.stringMatching(/^the price of 36 of 40 listings would change /))
  })

  test('homes under other MLSNumbers, of which some new records cannot be read: no home leaves without the other', async () => {
    const moved = all.map((home, i) => (i < 12 ? { ...home, mlsNumber: `NEW-${home.mlsNumber}` } : home))
    expect(await night(moved)).toMatchObject({ result: 'held', counts: { hold: 24 } })
    await night(feedOf(...moved.map((home, i) => (i < 6 ? unreadable(home) : zillowRecord(home)))))
    expect(world.listings()).toHaveLength(40)
  })
})

describe('where fewer are left', () => {
  test('wrong prices, as `where` leaves some of them out', async () => {
    await night(dear(12))
    world.configure({ north: { volatile, where: { City: [...new Set(all.slice(4).map(({ city }) => city))] } } })
    await night(dear(12))
    expect(world.listings().filter((item) => Number(item['SalePrice']) > 5_000_000)).toEqual([])
  })

  test('one that people take off is created with its old price, and told as an update of prices with the others', async () => {
    await night(dear(20))
    world.standIn.remove(chatbot, all[0].mlsNumber)
    const report = await night(dear(7))
    expect(report).toMatchObject({ result: 'held', counts: { create: 1, hold: 6 } })
    expect(report.notes.join('\n')).toContain(
      'goes on waiting, though it no longer asks about that. Held: 7 updates of prices. They go by themselves on',
    )
  })

  test('nothing is held with limits: off but what was refused', async () => {
    await night(all.slice(9))
    world.configure({ north: { volatile, limits: 'off' } })
    expect(await night(all.slice(9))).toMatchObject({ result: 'ok', counts: { delete: 9 } })
  })
})

describe('while cosmetic fields move each night', () => {
  const noText = all.map((home, i) => (i < 20 ? { ...home, description: '' } : home))
  const photosOf = (version: number): string =>
    zillowFeed(noText).replaceAll('.jpg</PictureUrl>', `.jpg?v=${version}</PictureUrl>`)

  test.each([
    ['descriptions that are gone', photosOf],
    [
      'photos that are gone',
      (n: number) =>
        all.map((home, i) => ({ ...home, photos: i < 20 ? 0 : home.photos, description: `As of day ${n}` })),
    ],
    [
      'another city',
      (n: number) =>
        all.map((home, i) => (i < 20 ? { ...home, city: 'Newtown', latitude: home.latitude + n / 100_000 } : home)),
    ],
  ])('%s go after 72 hours', async (_, feed) => {
    for (let n = 0; n < 3; n++) expect(await night(feed(n))).toMatchObject({ result: 'held' })
    expect(await night(feed(3))).toMatchObject({ result: 'ok', counts: { hold: 0 } })
  })

  test('an approval of descriptions that are gone covers the next night', async () => {
    await night(photosOf(0))
    await world.approve()
    expect(await night(photosOf(1))).toMatchObject({ result: 'ok', counts: { hold: 0 } })
    expect(world.listing(all[0].mlsNumber)?.['Description'] ?? '').toBe('')
  })

  test('refused, they stay as they are', async () => {
    await night(photosOf(0))
    expect((await world.executed('approve', 'north', '--refuse', '--yes')).status).toBe(0)
    for (let n = 0; n < 5; n++) await night(photosOf(1))
    expect(world.listing(all[0].mlsNumber)).toMatchObject({ Description: all[0].description })
  })
})

test('while a price is refused, what somebody edits beside it is put right, and what moves by itself takes its turn', async () => {
  world.configure({ north: { volatile: { refresh: '7d' } } })
  await night(dear(20))
  expect((await world.executed('approve', 'north', '--refuse', '--yes')).status).toBe(0)
  const key = all[0].mlsNumber
  const shown = { ...world.listing(key) }
  world.standIn.edit(chatbot, key, { Description: 'Not ours' })
  await night(dear(20))
  expect(world.listing(key)).toMatchObject({ Description: shown['Description'], SalePrice: shown['SalePrice'] })
  for (let n = 0; n < 8; n++) await night(dear(20))
  expect(Number(world.listing(key)?.['DaysOnMarket'])).toBeGreaterThan(Number(shown['DaysOnMarket']) + 1)
})

test('an approval of all of a delivery covers each fact in it, and takes no newcomer with it', async () => {
  const other = (home: Home, i: number): Home =>
    i < 8
      ? { ...home, price: home.price * 2 }
      : i < 16
        ? { ...home, city: 'Newtown' }
        : i < 24
          ? { ...home, bedrooms: home.bedrooms + 3 }
          : i < 32
            ? { ...home, propertyType: home.propertyType === 'Condo' ? 'Townhouse' : 'Condo' }
            : home
  const mixed = all.map(other)
  expect((await night(mixed)).holds.map(({ rule }) => rule)).toEqual(['unrecognisable'])
  await world.approve()
  expect(await night([...mixed, ...homes(41, 41)])).toMatchObject({ result: 'ok', counts: { create: 1, update: 32 } })
})

describe('a night of a delivery that is not believed', () => {
  const rooms = all.map((home, i) => (i < 20 ? { ...home, bedrooms: home.bedrooms + 3 } : home))
  test.each([
    ['has no record', []],
    ['is of another office', homes(201, 240)],
  ])('that %s neither ends what waits nor sets its clock back', async (_, wrong) => {
    await night(rooms)
    await night(wrong)
    await night(rooms)
    expect(await night(rooms)).toMatchObject({ result: 'ok', counts: { update: 20, hold: 0 } })
  })

  test('nor does it end an approval', async () => {
    await night(rooms)
    await world.approve()
    await night([])
    expect(await night(rooms)).toMatchObject({ result: 'ok', counts: { update: 20, hold: 0 } })
  })

  test.each<[string, () => Home[] | string]>([
    ['is not believed', () => dear(40)],
    ['is cut', () => zillowFeed(all).slice(0, -30)],
  ])('but a delete waits anew where its listing is there in one that %s', async (_, holdsThem) => {
    await night(all.slice(14))
    expect(await night(holdsThem())).toMatchObject({ counts: { delete: 0 } })
    await night(all.slice(14))
    const third = await night(all.slice(14))
    expect(third).toMatchObject({ result: 'held', counts: { delete: 0, hold: 14 } })
    expect(third.notes.join()).toContain('They go by themselves on Sat 28 Nov 12:00')
    expect(await night(all.slice(14))).toMatchObject({ result: 'ok', counts: { delete: 14 } })
  })

  test('nor where an older one has it', async () => {
    await night(homes(4, 43))
    await night(homes(18, 43))
    expect((await night(all)).holds.map(({ rule }) => rule)).toContain('older')
    await night(homes(18, 43))
    expect(await night(homes(18, 43))).toMatchObject({ result: 'ok', counts: { delete: 14 } })
  })
})

describe('deletes that wait for something else count for what comes', () => {
  const nameless = zillowRecord(homes(777, 777)[0])
    .replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>')
    .replace(/<StreetAddress>.*<\/StreetAddress>/, '<StreetAddress/>')

  test('beside a record without MLSNumber, so that another office is not let in', async () => {
    const next = feedOf(...[...all.slice(36), ...homes(101, 128)].map(zillowRecord), nameless)
    const report = await night(next)
    expect(report.counts.create).toBe(0)
    expect(report.holds.map(({ rule }) => rule)).toContain('unrecognisable')
  })

  test('in their grace: no more come than stay', async () => {
    world.configure({ north: { volatile, limits: { grace: { runs: 2 } } } })
    expect((await night(homes(21, 65))).counts.create).toBe(0)
  })

  test('in their grace: a file of before is older', async () => {
    world.configure({ north: { volatile, limits: { grace: { runs: 2 } } } })
    for (let n = 0; n < 4; n++) await night(homes(6, 45))
    for (let n = 0; n < 2; n++) {
      const report = await night(all)
      expect(report.counts.create).toBe(0)
      expect(report.holds.map(({ rule }) => rule)).toEqual(['older'])
    }
  })
})
