/** What a person refused stays so, whatever one wrong delivery says in between. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { homes, keys, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'

const day = 86_400_000
const right = homes(1, 20)
const tenfold = right.map((home, i) => (i < 6 ? { ...home, price: home.price * 10 } : home))

let world: RunWorld
let server: Awaited<ReturnType<typeof startFeedServer>>
beforeEach(async () => {
  server = await startFeedServer()
  world = await RunWorld.start({ feeds: { north: { source: server.url, volatile: { refresh: '365d' } } } })
})
afterEach(async () => {
  await world.end()
  await server.close()
})

/** The next night's delivery, written at that hour of 14 November. */
function served(feed: readonly Home[], hour: number) {
  world.clock.advance(day)
  const etag = `"${hour}"`
  const headers = { 'last-modified': `Sat, 14 Nov 2026 ${hour}:00:00 GMT`, etag }
  server.give(zillowFeed(feed), (response, content) => {
    if (response.req.headers['if-none-match'] === etag) return response.writeHead(304, headers).end()
    return response.writeHead(200, { 'content-length': content.length, ...headers }).end(content)
  })
  return world.run()
}

const price = (home: Home): unknown => {
  const { SalePrice, RentPrice } = world.listing(home.mlsNumber)!
  return SalePrice ?? RentPrice
}

test.each([
  ['an older one that changes nothing', right, 10],
  ['the last but one', right, 12],
  [
    'an older one that changes others',
    right.map((home, i) => (i > 15 ? { ...home, price: home.price + 1 } : home)),
    10,
  ],
  [
    'an older one that changes the same',
    right.map((home, i) => (i < 6 ? { ...home, price: home.price * 20 } : home)),
    10,
  ],
  ['one of which little is known', homes(101, 120), 14],
])('for a night the delivery is %s', async (_, wrong, hour) => {
  await served(right, 11)
  await served(right, 12)
  expect(await served(tenfold, 13)).toMatchObject({ result: 'held' })
  await world.executed('approve', 'north', '--refuse', '--yes')
  expect(await served(wrong, hour)).toMatchObject({ result: 'held' })
  for (let night = 15; night < 19; night++) await served(tenfold, night)
  expect(await served(tenfold, 19)).toMatchObject({
    result: 'held',
    notes: expect.arrayContaining([expect.stringContaining('Held: 6 updates of prices. They were refused')]),
  })
  expect(price(right[0])).toBe(right[0].price)
  // The feed ends it.
  expect(await served(right, 20)).toMatchObject({ result: 'ok' })
  expect(await served(tenfold, 21)).toMatchObject({ result: 'held', holds: [{ rule: 'facts' }] })
})

test('which the feed takes back is over, also where the listing is held for another reason', async () => {
  world.configure({ north: { source: server.url, volatile: { refresh: '365d' }, drift: 'report' } })
  await served(right, 11)
  await served(right, 12)
  await served(tenfold, 13)
  await world.executed('approve', 'north', '--refuse', '--yes')
  world.standIn.edit(chatbot, right[0].mlsNumber, { Description: 'Edited by a person.' })
  // It was edited, and the guard holds nothing.
  expect(await served(right, 14)).toMatchObject({ result: 'partial', counts: { hold: 1 }, notes: [] })
})

test('stays and is told for as long as an older delivery comes, which is asked for anew', async () => {
  await served(right, 11)
  await served(right, 12)
  await served(tenfold, 13)
  await world.executed('approve', 'north', '--refuse', '--yes')
  for (let night = 0; night < 3; night++)
    expect(await served(right, 12)).toMatchObject({
      result: 'held',
      counts: { unchanged: 20 },
      notes: [expect.stringMatching(/^6 held by earlier runs stay held/)],
    })
  expect(await served(right, 14)).toMatchObject({ result: 'ok', notes: [] })
})

test('stays where an older delivery that changes something else comes while the guard is off', async () => {
  await served(right, 11)
  await served(right, 12)
  await served(tenfold, 13)
  await world.executed('approve', 'north', '--refuse', '--yes')
  world.configure({ north: { source: server.url, volatile: { refresh: '365d' }, limits: 'off' } })
  const [first, ...others] = right
  expect(await served([{ ...first, description: 'Other words.' }, ...others], 12)).toMatchObject({
    counts: { update: 1 },
    notes: [expect.anything(), expect.stringMatching(/^6 held by earlier runs stay held/)],
  })
  expect((await served(tenfold, 14)).notes).toContainEqual(expect.stringMatching(/^Still held, as refused: 6 updates/))
  expect(price(first)).toBe(first.price)
})

test.each([
  ['taken back', ['--revoke']],
  ['approved', []],
])('holds the home under its other number, too, and tells no time, until it is %s', async (_, decision) => {
  await served(right, 11)
  await served(right, 12)
  await served(right.slice(6), 13)
  await world.executed('approve', 'north', '--refuse', '--yes')
  // The homes were there all the time, under other numbers.
  const renumbered = right.map((home, i) => (i < 6 ? { ...home, mlsNumber: `NEW-${home.mlsNumber}` } : home))
  for (let night = 14; night < 19; night++)
    expect(await served(renumbered, night)).toMatchObject({
      result: 'held',
      counts: { create: 0, delete: 0, hold: 12 },
      notes: [
        '6 of 20 homes came under other MLSNumbers. Held: 6 creates and 6 deletes. They wait for you, but for 6 that were refused; now: listing-sync approve north',
      ],
    })
  const { stdout } = await world.executed('status', 'north')
  expect(stdout).not.toContain('by themselves')
  await world.executed('approve', 'north', ...decision, '--yes')
  expect(await served(renumbered, 19)).toMatchObject({ result: 'ok', counts: { create: 6, delete: 6 } })
  expect(world.numbers()).toEqual(keys(renumbered))
})

test('in a delta feed, of numbers that the feed never names again, ends with one full delivery', async () => {
  const feed = { source: server.url, volatile: { refresh: '365d' } }
  world.configure({ north: { ...feed, delivery: 'delta' } })
  await served(right, 11)
  await served(right, 12)
  await served(
    right.map((home) => ({ ...home, mlsNumber: home.mlsNumber.replace('IA', 'NX') })),
    13,
  )
  await world.executed('approve', 'north', '--refuse', '--yes')
  for (let night = 14; night < 19; night++)
    expect(await served(right, night)).toMatchObject({ result: 'held', counts: { create: 0, hold: 20 } })
  world.configure({ north: { ...feed, delivery: 'full' } })
  expect(await served(right, 19)).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
  world.configure({ north: { ...feed, delivery: 'delta' } })
  expect(await served(right, 20)).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
  expect(world.numbers()).toEqual(keys(right))
})

test('in a delta feed, of numbers in another spelling, ends once the feed has them as before', async () => {
  const feed = { source: server.url, volatile: { refresh: '365d' }, delivery: 'delta' }
  world.configure({ north: feed })
  await served(right, 11)
  const small = right.map((home) => ({ ...home, mlsNumber: home.mlsNumber.toLowerCase() }))
  expect(await served(small, 13)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0 } })
  await world.executed('approve', 'north', '--refuse', '--yes')
  expect(await served([], 14)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0 } })
  expect(await served(right, 15)).toMatchObject({ result: 'ok', counts: { hold: 0 } })
  expect(world.numbers()).toEqual(keys(right))
})
