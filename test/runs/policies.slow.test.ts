/** What a feed may be told about absence, edits on the service and whose a listing is: grace, drift, mirror, order. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'

const hour = 3_600_000
const all: Home[] = Array.from({ length: 12 }, (_, i) => home(i + 1))
const [first, second] = all
const rest = all.slice(1)

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

const held = ({ changes }: ReadReport): string[] => changes.filter(({ kind }) => kind === 'hold').map(({ why }) => why)

async function load(feed: object): Promise<void> {
  world.configure({ north: { volatile: { refresh: '365d' }, ...feed } })
  world.deliver(zillowFeed(all))
  await world.run()
  await world.run()
  world.calls()
}

describe('grace', () => {
  test('counts runs: absent for the third time running, it goes', async () => {
    await load({ limits: { grace: { runs: 3 } } })
    world.deliver(zillowFeed(rest))
    for (const run of [1, 2]) {
      const report = await world.run()
      expect(report).toMatchObject({ result: 'ok', counts: { delete: 0, hold: 1 } })
      expect(held(report)).toEqual([`absent from the feed for run ${run} of 3 (limits.grace)`])
    }
    expect((await world.run('diff')).counts).toMatchObject({ delete: 1, hold: 0 })
    expect((await world.run()).counts).toMatchObject({ delete: 1, hold: 0 })
    expect(world.listing(first.mlsNumber)).toBeUndefined()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 0, hold: 0 } })
  })

  test.each([
    ['Latin', '12 Oak Street'],
    ['Chinese, which sets no words apart', '建国路88号'],
    ['Japanese', '渋谷区神南１丁目'],
    ['Arabic, whose digits are its own', 'شارع الملك فهد ١٢'],
  ])('under another number meanwhile, a home with an address in %s is there once', async (_, street) => {
    await load({ limits: { grace: { runs: 3 } } })
    world.deliver(zillowFeed([{ ...first, street, unit: '' }, ...rest]))
    await world.run()
    world.deliver(zillowFeed([{ ...first, street, unit: '', mlsNumber: 'NEW-1' }, ...rest]))
    for (let run = 1; run < 5; run++) {
      await world.run()
      expect(world.listings().filter((item) => String(item['Address']) === street)).toHaveLength(1)
    }
    expect(world.listing('NEW-1')).toBeDefined()
  })

  test('a listing that comes back begins anew, also by its very bytes or in an incomplete delivery', async () => {
    await load({ limits: { grace: { runs: 2 } } })
    const absent = zillowFeed(rest)
    for (const back of [
      zillowFeed(all),
      zillowFeed([first, second]).slice(0, -12),
      zillowFeed([{ ...first, price: 1 }, ...rest]),
    ]) {
      world.deliver(absent)
      expect((await world.run()).counts).toMatchObject({ delete: 0, hold: 1 })
      world.deliver(back)
      await world.run()
    }
    world.deliver(absent)
    expect(held(await world.run())).toEqual(['absent from the feed for run 1 of 2 (limits.grace)'])
    expect((await world.run()).counts.delete).toBe(1)
  })

  test('incomplete deliveries and dry runs count nothing', async () => {
    await load({ limits: { grace: { runs: 2 } } })
    world.deliver(zillowFeed(rest))
    await world.run()
    world.deliver(zillowFeed(rest).slice(0, -12))
    for (let i = 0; i < 3; i++) expect((await world.run()).counts.delete).toBe(0)
    world.deliver(zillowFeed(rest))
    for (let i = 0; i < 3; i++) expect((await world.run('diff')).counts.delete).toBe(1)
    expect((await world.run()).counts.delete).toBe(1)
  })

  test('counts hours, and both must be over', async () => {
    await load({ limits: { grace: { runs: 2, hours: 48 } } })
    world.deliver(zillowFeed(rest))
    expect(held(await world.run())[0]).toMatch(/run 1 of 2, deleted after Mon 23 Nov 12:0\d at the earliest/)
    world.clock.advance(47 * hour)
    expect((await world.run()).counts).toMatchObject({ delete: 0, hold: 1 })
    world.clock.advance(hour)
    expect((await world.run()).counts).toMatchObject({ delete: 1, hold: 0 })
  })

  test('of hours takes as many nights, though each run begins a little earlier than the one before', async () => {
    await load({ limits: { grace: { hours: 48 } } })
    world.deliver(zillowFeed(rest))
    for (const deletes of [0, 0, 1]) {
      expect((await world.run()).counts.delete).toBe(deletes)
      world.clock.advance(24 * hour - 30_000)
    }
  })

  test.each([1, 2])('of hours, after %i runs, is told by what is left of it', async (runs) => {
    await load({ limits: { grace: { runs, hours: 48 } } })
    world.deliver(zillowFeed(rest))
    if (runs > 1) await world.run()
    for (let i = 0; i < 3; i++)
      expect(held(await world.run())[0]).toMatch(
        /^absent from the feed, deleted after Mon 23 Nov 12:0\d at the earliest \(limits.grace\)$/,
      )
  })

  test('goes on while the guard holds the delete', async () => {
    await load({ limits: { grace: { runs: 2 } } })
    world.deliver(zillowFeed(all.slice(5)))
    expect(await world.run()).toMatchObject({ result: 'ok', holds: [] })
    for (let i = 0; i < 2; i++) {
      const report = await world.run()
      expect(report).toMatchObject({ result: 'held', holds: [{ rule: 'leaving' }] })
      expect(held(report)[0]).toBe('gone from the feed; held: too many listings would leave')
    }
    await world.approve()
    expect((await world.run()).counts.delete).toBe(5)
  })

  test('is for absence only: what the feed says is gone goes at once', async () => {
    await load({ limits: { grace: { runs: 5 } } })
    world.deliver(zillowFeed([{ ...first, status: 'Withdrawn' }, ...rest]))
    expect((await world.run()).counts.delete).toBe(1)
  })

  test('a source that answers "not modified" is read until it is over', async () => {
    const server = await startFeedServer()
    try {
      server.give(zillowFeed(all))
      await load({ source: server.url, limits: { grace: { runs: 2 } } })
      expect(server.statuses.at(-1)).toBe(304)
      server.give(zillowFeed(rest))
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { hold: 1 } })
      expect((await world.run()).counts).toMatchObject({ delete: 1, hold: 0 })
      expect((await world.run()).counts).toMatchObject({ delete: 0, hold: 0 })
      expect(server.statuses.slice(-3)).toEqual([200, 200, 304])
    } finally {
      await server.close()
    }
  })
})

test('image URLs that change in every delivery make no update, with the fields that docs/faults.md names', async () => {
  const faults = readFileSync(new URL('../../docs/faults.md', import.meta.url), 'utf8')
  const fields = /image URLs .* needs `volatile\.fields: \[(.*?)\]`/.exec(faults)![1].split(', ')
  await load({ volatile: { fields, refresh: '365d' } })
  world.clock.advance(24 * hour)
  world.deliver(zillowFeed(all).replaceAll('.jpg', '.jpg?token=2'))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 0, unchanged: 12 } })
})

test('addresses of photos of which only the signatures change are told with these fields, and other photos are not', async () => {
  const sentence =
    '12 updates change only what stands behind the ? in the addresses of photos; if each delivery does so'
  await load({})
  const signed = (token: string): string => zillowFeed(all).replaceAll('.jpg', `.jpg?token=${token}`)
  for (const token of ['1', '2']) {
    world.clock.advance(24 * hour)
    world.deliver(signed(token))
    const { counts, notes } = await world.run()
    expect(counts).toMatchObject({ update: 12 })
    expect(notes).toEqual([
      expect.stringContaining(`${sentence}, spare them with volatile: { fields: [DaysOnMarket, Images] }`),
    ])
  }
  world.deliver(signed('2').replaceAll('/1.jpg', '/one.jpg'))
  expect(await world.run()).toMatchObject({ counts: { update: 12 }, notes: [] })
})

test.each([
  [['DaysOnMarket', 'Url'], 'DaysOnMarket, Url, Images'],
  [['DaysOnMarket', 'Images'], null],
])('and so are they beside the volatile fields %j, but not once they are such a field', async (fields, named) => {
  await load({ volatile: { fields, refresh: '1h' } })
  world.clock.advance(24 * hour)
  world.deliver(zillowFeed(all).replaceAll('.jpg', '.jpg?token=1'))
  const { counts, notes } = await world.run()
  expect(counts).toMatchObject({ update: 12 })
  expect(notes).toEqual(named === null ? [] : [expect.stringContaining(`volatile: { fields: [${named}] }`)])
})

describe('drift', () => {
  const edit = (): number => world.standIn.edit(chatbot, first.mlsNumber, { Description: 'Mine' })
  const dearer = zillowFeed([{ ...first, price: first.price + 100 }, ...rest])

  test('overwrite: the feed is right', async () => {
    await load({})
    edit()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
    expect(world.listing(first.mlsNumber)!['Description']).not.toBe('Mine')
  })

  test('keep: the edit stays, and is told, until the feed changes the listing', async () => {
    await load({ drift: 'keep' })
    edit()
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { update: 0, unchanged: 12 } })
    expect(report.notes.join()).toContain('1 listing was edited on the service and stays so until the feed changes it')
    expect((await world.run()).notes).toEqual(report.notes)
    expect(world.listing(first.mlsNumber)!['Description']).toBe('Mine')
    world.deliver(dearer)
    expect((await world.run()).counts.update).toBe(1)
    expect(world.listing(first.mlsNumber)!['Description']).not.toBe('Mine')
  })

  test.each(['keep', 'report'])('%s: the turn of fields that move by themselves undoes no edit', async (drift) => {
    await load({ drift, volatile: { refresh: '7d' } })
    edit()
    for (let days = 1; days <= 9; days++) {
      world.clock.advance(24 * hour)
      await world.run()
      expect(world.listing(first.mlsNumber)!['Description']).toBe('Mine')
    }
    world.configure({ north: { volatile: { refresh: '7d' } } })
    await world.run()
    expect(world.listing(first.mlsNumber)!['Description']).not.toBe('Mine')
  })

  test('another one than keep since: what was left as it is is seen again', async () => {
    await load({ drift: 'keep' })
    edit()
    for (let runs = 1; runs <= 3; runs++) await world.run()
    world.configure({ north: { volatile: { refresh: '365d' }, drift: 'report' } })
    expect(await world.run()).toMatchObject({ counts: { hold: 1 }, changes: [{ cause: 'drifted' }] })
    world.configure({ north: { volatile: { refresh: '365d' } } })
    expect((await world.run()).counts.update).toBe(1)
    expect(world.listing(first.mlsNumber)!['Description']).not.toBe('Mine')
  })

  test('report: held with what is shown and what was sent, until the feed changes the listing', async () => {
    await load({ drift: 'report' })
    edit()
    for (let i = 0; i < 4; i++) {
      const report = await world.run()
      expect(report).toMatchObject({ result: 'partial', counts: { update: 0, hold: 1 } })
      expect(report.changes[0].fields).toMatchObject([{ field: 'Description', from: 'Mine' }])
    }
    world.deliver(dearer)
    expect((await world.run()).counts).toMatchObject({ update: 1, hold: 0 })
  })
})

test.each([
  [2, 'ok'],
  [3, 'held'],
] as const)('%i of 12 edited again after they were sent again: %s', async (count, result) => {
  await load({})
  const editSome = (): void => {
    for (const { mlsNumber } of all.slice(0, count)) world.standIn.edit(chatbot, mlsNumber, { Description: 'Mine' })
  }
  editSome()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: count } })
  editSome()
  const again = await world.run()
  expect(again.result).toBe(result)
  if (result === 'ok') return expect(again.counts).toMatchObject({ update: count, hold: 0 })
  expect(again.counts).toMatchObject({ update: 0, hold: count })
  expect(again.notes.join()).toContain(
    '3 of 12 listings were edited on the chatbot again after they had been sent again; up to 2 may be (limits.share); another program seems to write them. Held: 3 updates. They go by themselves once another complete list, an hour later or more, says the same',
  )
  expect(await world.run()).toMatchObject({ result: 'held', counts: { update: 0, hold: count } })
  world.clock.advance(hour)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: count, hold: 0 } })
  expect(world.listing(first.mlsNumber)!['Description']).not.toBe('Mine')
})

describe('ownership: mirror', () => {
  /** Listings that a person made: like ours, without our mark. */
  const foreign = (count: number): void => {
    const { ExtensionColumn: _, ...listing } = world.listing(second.mlsNumber)!
    for (let i = 1; i <= count; i++)
      world.standIn.seed(chatbot, [{ ...(listing as StandInListing), MLSNumber: `HAND-${i}` }])
  }

  test('what others made is deleted, too, under the guard', async () => {
    await load({ ownership: 'mirror' })
    foreign(3)
    const report = await world.run()
    expect(report.counts).toMatchObject({ delete: 3, unchanged: 12 })
    expect(report.changes[0].why).toContain('ownership: mirror')
    expect(world.listings()).toHaveLength(12)
    foreign(9)
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 9 } })
    expect(world.listings()).toHaveLength(21)
  })

  test('an incomplete or empty delivery deletes nothing', async () => {
    await load({ ownership: 'mirror' })
    foreign(2)
    world.deliver(zillowFeed(all).slice(0, -12))
    expect((await world.run()).counts.delete).toBe(0)
    world.deliver(zillowFeed([]))
    expect((await world.run()).counts.delete).toBe(0)
    expect(world.listings()).toHaveLength(14)
  })

  test('without it hand-made listings stay for ever', async () => {
    await load({})
    foreign(3)
    for (let i = 0; i < 3; i++) expect((await world.run()).counts).toMatchObject({ delete: 0, unchanged: 12 })
    expect(world.listings()).toHaveLength(15)
  })

  test('is refused where the chatbot has another feed', async () => {
    world.configure({ north: { ownership: 'mirror' }, south: {} })
    const { status, stderr } = await world.executed('diff')
    expect(status).toBe(78)
    expect(stderr).toContain('feeds.north.ownership: mirror needs a chatbot with only one feed')
  })
})

describe('several feeds of a chatbot', () => {
  test('know of one another however the address of their service is spelled', async () => {
    world.configure({ north: {}, south: { service: { baseUrl: `${world.standIn.url}/` } } })
    for (const name of ['north', 'south']) world.deliver(zillowFeed([first]), `${name}.xml`)
    await world.run('sync', 'north')
    const report = await world.run('sync', 'south')
    expect(report.notes).toEqual([expect.stringContaining('1 listing is also in north, a feed of this chatbot')])
  })

  test('name the one where the delete of a listing is held that came to them', async () => {
    const [stay, moved] = [homes(1, 10), homes(11, 20)]
    world.configure({ north: {}, south: {} })
    world.deliver(zillowFeed([...stay, ...moved]), 'north.xml')
    world.deliver(zillowFeed(moved), 'south.xml')
    await world.run('sync', 'north')
    const note = async () => (await world.run('sync', 'south')).notes.map((text) => text.replace(/: IA.*/, ''))
    expect(await note()).toEqual(['10 listings are also in north, a feed of this chatbot that has it'])
    world.deliver(zillowFeed(stay), 'north.xml')
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'held', counts: { hold: 10 } })
    expect(await note()).toEqual([
      '10 listings are also in north, a feed of this chatbot where the delete is held: what moved here goes on when that hold ends, or after listing-sync approve north',
    ])
    await world.approve('north')
    await world.run('sync', 'north')
    expect(await world.run('sync', 'south')).toMatchObject({ counts: { create: 10 }, notes: [] })
  })

  test('with one SerialNumber at two services are two chatbots, which no store tells apart: each run says so, and check', async () => {
    const service = { baseUrl: 'http://127.0.0.1:9', secretKey: 'hush-9' }
    world.configure({ north: {}, south: { service }, west: { service, chatbot: 'SN-2' } })
    world.deliver(zillowFeed([first]))
    const confused =
      "The store can't tell this chatbot from that of south, which has the same SerialNumber at another service"
    const remedy = 'give the feeds of one of the two services a configuration and a store of their own'
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', notes: [`${confused}: ${remedy}`] })
    const { status, stdout } = await world.executed('check', 'north', '--format', 'json')
    expect(status).toBe(1)
    const { checks } = JSON.parse(stdout) as { checks: { ok: boolean }[] }
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      { what: 'configuration', feed: 'north', ok: false, found: confused, remedy },
    ])
  })

  test.each(['tag', 'snapshot'])('the one that comes first takes over what another has (%s)', async (ownership) => {
    world.configure({ north: { ownership }, south: { ownership } })
    world.deliver(zillowFeed([first]), 'north.xml')
    world.deliver(zillowFeed([{ ...first, price: 999_000 }, second]), 'south.xml')
    await world.run('sync', 'south')
    await world.run('sync', 'south')
    const before = world.listings()

    const taken = await world.run('sync', 'north')
    expect(taken.counts).toMatchObject({ update: 1, create: 0, hold: 0 })
    expect(taken.changes[0].why).toBe('taken over from feed south, which comes later')
    expect(world.listing(first.mlsNumber)!['SalePrice']).toBe(first.price)
    expect(world.listings()).toHaveLength(before.length)
    const south = await world.run('sync', 'south')
    expect(held(south)).toEqual(['also in north, a feed of this chatbot that has it'])
    for (let i = 0; i < 2; i++)
      expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { update: 0, unchanged: 1 } })

    // What the first one gives up falls back to the other.
    world.deliver(zillowFeed([home(20)]), 'north.xml')
    expect((await world.run('sync', 'north')).counts).toMatchObject({ delete: 1, create: 1 })
    expect((await world.run('sync', 'south')).counts).toMatchObject({ create: 1, hold: 0 })
    expect(world.listing(first.mlsNumber)!['SalePrice']).toBe(999_000)
  })

  test('what one without marks took over stays, though it has the mark of the other, which lacks it now', async () => {
    world.configure({ north: { ownership: 'snapshot' }, south: {} })
    world.deliver(zillowFeed(all), 'south.xml')
    world.deliver(zillowFeed([first, second]), 'north.xml')
    await world.run('sync', 'south')
    world.clock.advance(hour)
    expect((await world.run('sync', 'north')).counts).toMatchObject({ adopt: 2, create: 0 })
    world.clock.advance(hour)
    world.deliver(zillowFeed(rest), 'south.xml')
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { delete: 0, hold: 1 } })
    expect(world.listings()).toHaveLength(12)
    world.deliver(zillowFeed([second]), 'north.xml')
    expect((await world.run('sync', 'north')).counts).toMatchObject({ delete: 1 })
  })

  test('the one that comes later takes nothing', async () => {
    world.configure({ north: {}, south: {} })
    world.deliver(zillowFeed(all), 'north.xml')
    world.deliver(zillowFeed([{ ...first, price: 1 }]), 'south.xml')
    await world.run('sync', 'north')
    expect(held(await world.run('sync', 'south'))).toEqual(['also in north, a feed of this chatbot that has it'])
    world.deliver(zillowFeed([home(30)]), 'south.xml')
    expect((await world.run('sync', 'south')).counts).toMatchObject({ delete: 0, create: 1 })
    expect(world.listings()).toHaveLength(13)
  })
})

test('a field that is taken off `volatile.fields` is compared again, though its record is as in the last run', async () => {
  await load({ volatile: { refresh: '365d', fields: ['DaysOnMarket', 'YearBuilt'] } })
  world.deliver(zillowFeed([{ ...first, yearBuilt: 1901 }, ...rest]))
  expect(await world.run()).toMatchObject({ counts: { update: 0, unchanged: 12 } })
  world.configure({ north: { volatile: { refresh: '365d' } } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1, unchanged: 11 } })
  expect(world.listing(first.mlsNumber)).toMatchObject({ YearBuilt: 1901 })
  expect(await world.run()).toMatchObject({ counts: { update: 0, unchanged: 12 } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 1, Delete: 0 })
})

test('a field that moves by itself is sent when its turn comes, though its record changed long before', async () => {
  await load({ volatile: { refresh: '7d', fields: ['DaysOnMarket', 'YearBuilt'] } })
  world.deliver(zillowFeed(all.map((home) => ({ ...home, yearBuilt: 1901 }))))
  for (let day = 1; day <= 8; day++) {
    world.clock.advance(24 * hour)
    expect(await world.run()).toMatchObject({ result: 'ok' })
  }
  expect(world.listings().map(({ YearBuilt }) => YearBuilt)).toEqual(all.map(() => 1901))
})
