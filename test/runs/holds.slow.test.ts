/** What is held, from night to night: its time, and what a person decides. */
import { describe, expect, test, vi } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { dearer, home, homes, keys, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'
import {
  playNights,
  minute,
  hour,
  day,
  all,
  volatile,
  sixGone,
  world,
  loaded,
  night,
  nights,
  of,
  planned,
  notes,
  priceOf,
  times,
  changed,
  heldDeletes,
} from './nights.ts'

playNights()

describe('what is held', () => {
  const bare = (some: readonly Home[]): Home[] => some.map((home) => ({ ...home, photos: 0 }))
  const sentence = '6 of 20 listings would leave the site; up to 4 may in 24 hours (limits.share). Held: 6 deletes.'

  test('goes by itself once every delivery of 72 hours said the same', async () => {
    await loaded()
    const first = await night(sixGone)
    expect(notes(first)).toMatch(
      /^6 of 20 .* Held: 6 deletes\. They go by themselves on Wed 25 Nov 12:0\d if the feed still says so; now: listing-sync approve north$/,
    )
    expect(first.holds).toMatchObject([
      {
        rule: 'leaving',
        setting: 'limits.share',
        numbers: { leaving: 6, ours: 20, allowed: 4 },
        keys: keys(all.slice(0, 6)),
      },
    ])
    // The same each time, with the time at which the clock ends: at the very hour of the first one.
    const onTime = (nth: number): Promise<ReadReport> => night(sixGone, first.startedAt + nth * day - world.clock.now())
    for (const nth of [1, 2]) expect((await onTime(nth)).notes).toEqual(first.notes)
    expect(await onTime(3)).toMatchObject({
      result: 'ok',
      counts: { delete: 6, hold: 0 },
      notes: ['6 deletes held since Sun 22 Nov were carried out: every delivery for 72 hours said the same'],
    })
    expect(await night(sixGone)).toMatchObject({ result: 'ok', notes: [] })
  })

  test('has a clock for each change: what joins later waits its own 72 hours', async () => {
    await loaded()
    const elevenGone = all.slice(11)
    await night(sixGone)
    await nights(2, elevenGone)
    const fourth = await night(elevenGone)
    expect(of(fourth, 'delete')).toEqual(keys(all.slice(0, 6)))
    expect(fourth).toMatchObject({ result: 'held', counts: { hold: 5 } })
    expect(await night(elevenGone)).toMatchObject({ result: 'ok', counts: { delete: 5 } })
  })

  test('has its clock at 0 again where a delivery between said otherwise', async () => {
    await loaded()
    await nights(2, sixGone)
    expect(await night(all)).toMatchObject({ result: 'ok', notes: [] })
    heldDeletes(await nights(3, sixGone), 6, sentence)
    expect(await night(sixGone)).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })

  test.each(['delivery', 'list'])('is neither confirmed nor ended by an incomplete %s', async (which) => {
    await loaded()
    const feed = [...sixGone.slice(0, 9), ...sixGone.slice(9).map(times(100))]
    expect(await nights(3, feed)).toMatchObject({ result: 'held', counts: { hold: 11 } })
    if (which === 'list') {
      world.standIn.changeProfile({ maxPageSize: 5 })
      world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
    }
    const incomplete = await night(which === 'list' ? feed : zillowFeed(feed).replace(zillowEnd, ''))
    expect(incomplete).toMatchObject({ result: 'held', counts: { delete: 0, update: 0 } })
    world.standIn.clearFaults()
    expect(await night(feed, hour)).toMatchObject({ result: 'ok', counts: { delete: 6, update: 5 } })
  })

  test.each([
    ['prices', all.map(times(100)), 'update'],
    ['what is new', [...homes(101, 120), ...all], 'create'],
    ['what is said to be gone', all.map((home) => ({ ...home, status: 'Withdrawn' })), 'delete'],
  ])('goes by no delivery that was cut behind as much of it as may go: %s', async (_, changes, kind) => {
    await loaded()
    const feed = [...changes.slice(0, kind === 'create' ? 20 : 7), ...all.slice(kind === 'create' ? 0 : 7)]
    const first = await night(feed)
    expect(first).toMatchObject({ result: 'held' })
    const cut = await night(zillowFeed(feed.slice(0, 3)).replace(zillowEnd, ''))
    expect(cut).toMatchObject({ result: 'held', counts: { [kind]: 0 } })
    expect(notes(cut)).toContain(`${first.counts.hold} held by earlier runs stay held`)
    const { held } = JSON.parse((await world.executed('status', '--format', 'json')).stdout) as { held: object[] }
    expect(held.filter((value) => 'kind' in value && value.kind === kind)).toHaveLength(first.counts.hold)
    world.configure({ north: { volatile, limits: 'off' } })
    expect(await night(zillowFeed(feed.slice(0, 3)).replace(zillowEnd, ''))).toMatchObject({ counts: { [kind]: 3 } })
  })

  test('waits for its own time where the feed puts so much of it right that no rule would hold the rest', async () => {
    await loaded()
    await night(sixGone)
    const fewer = [
      'what the rule leaving held before goes on waiting, though it no longer asks about that. Held: 4 deletes. They go by themselves on Wed 25 Nov 12:00 if the feed still says so; now: listing-sync approve north',
    ]
    expect(await night(all.slice(4))).toMatchObject({
      result: 'held',
      counts: { delete: 0, hold: 4 },
      notes: fewer,
      holds: [{ rule: 'leaving', setting: 'limits.share', numbers: { waiting: 4 }, keys: keys(all.slice(0, 4)) }],
    })
    expect(await night(all.slice(4))).toMatchObject({ result: 'held', counts: { delete: 0, hold: 4 }, notes: fewer })
    expect(await night(all.slice(4))).toMatchObject({
      result: 'ok',
      counts: { delete: 4 },
      notes: ['4 deletes held since Sun 22 Nov were carried out: every delivery for 72 hours said the same'],
    })
  })

  test.each([
    ['one of them is sold', (office: Home[]) => office.slice(1)],
    ['the office grows', (office: Home[]) => [...office, ...homes(101, 105)]],
  ])('waits for its own time where %s', async (_, otherwise) => {
    const office = homes(1, 44)
    await loaded(office)
    const wrong = office.map((home, i) => (i < 9 ? { ...home, price: home.price * 100 } : home))
    expect(await night(wrong)).toMatchObject({ result: 'held', counts: { update: 0, hold: 9 } })
    const next = await night(otherwise(wrong))
    expect(next).toMatchObject({ result: 'held', counts: { update: 0 } })
    expect(next.counts.hold).toBeGreaterThanOrEqual(8)
    expect(await night(otherwise(office))).toMatchObject({ result: 'ok', counts: { hold: 0 } })
  })

  test('that every delivery said while the whole of it was asked about goes with the next that says so', async () => {
    const ten = homes(1, 10)
    await loaded(ten)
    await nights(2, bare(ten.slice(2)))
    expect((await nights(3, bare(ten.slice(3)))).holds.map(({ rule }) => rule)).toEqual(['unrecognisable', 'facts'])
    expect(await night(ten.slice(4))).toMatchObject({
      result: 'ok',
      counts: { delete: 4, hold: 0 },
      notes: [expect.stringMatching(/^3 deletes held since .* were carried out: no rule holds this any more$/)],
    })
  })

  test('as a whole that was asked about is held for its facts alone once these are too many, and nothing else is told', async () => {
    const wrong = (some: readonly Home[]): Home[] => some.map(times(3))
    await loaded()
    await nights(5, [...wrong(all.slice(14, 17)), ...all.slice(17)])
    const next = [...all.slice(1, 14), ...wrong(all.slice(14))]
    const { result, holds } = await night(next)
    expect([result, holds.map(({ rule, keys: of }) => [rule, of.length])]).toEqual(['held', [['facts', 6]]])
    const { stdout } = await world.executed('status', '--ready')
    expect(stdout).toMatch(/6 changes held by facts since .*; they go by themselves on /)
    expect(stdout).not.toContain('unrecognisable')
  })

  test('and joined on the night on which nothing is asked any more waits, where it is more than may leave', async () => {
    const twelve = homes(1, 12)
    await loaded(twelve)
    await nights(5, bare(twelve.slice(3)))
    expect(await night(twelve.slice(7))).toMatchObject({ result: 'held', counts: { delete: 3, hold: 4 } })
  })

  test('goes where the feed says otherwise of all but a quarter, as it is right again', async () => {
    const forty = homes(1, 40)
    await loaded(forty)
    // Five are sold on the night on which half the file is missing.
    expect(await night(forty.slice(20))).toMatchObject({ result: 'held', counts: { hold: 20 } })
    expect(await night(forty.slice(5))).toMatchObject({ result: 'ok', counts: { delete: 5 } })
  })

  test('goes also where others of it change as prices do, as that is right again, too', async () => {
    const forty = homes(1, 40)
    await loaded(forty)
    expect(await night(changed(20, times(100), forty))).toMatchObject({ result: 'held', counts: { hold: 20 } })
    const next = changed(10, times(1.05), forty).map((home, i) => (i < 2 ? times(100)(forty[i]) : home))
    expect(await night(next)).toMatchObject({ result: 'ok', counts: { update: 10, hold: 0 } })
  })

  test('and joined later waits its own 72 hours, however few they are', async () => {
    const forty = homes(1, 40)
    await loaded(forty)
    await night(forty.slice(9))
    await night(forty.slice(12))
    await night(forty.slice(12))
    expect(await night(forty.slice(12))).toMatchObject({ result: 'held', counts: { delete: 9, hold: 3 } })
    expect(await night(forty.slice(12))).toMatchObject({ result: 'ok', counts: { delete: 3 } })
  })

  test('is said to be held still by a delivery that is not whole and trips nothing', async () => {
    await loaded()
    await night(sixGone)
    const incomplete = await night(zillowFeed(sixGone).replace(zillowEnd, ''))
    expect(incomplete).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(notes(incomplete)).toContain('6 held by earlier runs stay held')
  })

  test('is counted by listings, also in a run that was cut', async () => {
    await loaded()
    const larger = (home: Home): Home => ({ ...times(10)(home), bedrooms: home.bedrooms + 3 })
    expect((await night(changed(6, larger))).counts).toMatchObject({ hold: 6 })
    const cut = await night(zillowStart + zillowRecord(all[19]))
    expect(notes(cut)).toContain('6 held by earlier runs stay held')
    world.configure({ north: { volatile, limits: 'off' } })
    const rest = await night(zillowStart + zillowRecord(larger(all[0])))
    expect(notes(rest)).toContain('5 held by earlier runs stay held')
  })

  test('a week is over for a feed that comes once in it: the next delivery lets it go', async () => {
    await loaded()
    world.clock.advance(6 * day)
    expect(await night(all.slice(9))).toMatchObject({ result: 'held', counts: { hold: 9 } })
    world.clock.advance(6 * day)
    expect(await night(all.slice(9))).toMatchObject({ result: 'ok', counts: { delete: 9 } })
  })

  test('stays so under a clock that was set back, by the guard and not by a grace that nobody asked for', async () => {
    await loaded()
    await night(sixGone)
    world.clock.advance(-5 * day)
    expect(await world.run()).toMatchObject({ result: 'held', holds: [{ rule: 'leaving' }], counts: { hold: 6 } })
  })

  test.each([
    ['a month', 30 * day],
    ['half a century', 20_000 * day],
  ])('goes in its time where the clock was behind by %s for a run', async (_, behind) => {
    await loaded()
    await night(sixGone)
    world.clock.advance(hour - behind)
    world.deliver(zillowFeed(sixGone))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(await night(sixGone, behind + hour)).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(await nights(2, sixGone)).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(await night(sixGone)).toMatchObject({ counts: { delete: 6 } })
  })

  test.each([
    ['a run', 1],
    ['four days', 4],
  ])('what a clock that was behind for %s held last goes in the time that it has', async (_, days) => {
    await loaded()
    await night(all)
    world.clock.advance(day - 30 * day)
    for (let run = 1; run < days; run++) await night(all)
    expect(await night(sixGone)).toMatchObject({ result: 'held', counts: { hold: 6 } })
    world.clock.advance(30 * day)
    world.deliver(zillowFeed(sixGone))
    expect(notes(await world.run('diff'))).toContain('from the next run on, which may hold more than is told here')
    const first = await night(sixGone, hour)
    expect(first).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(notes(first)).toContain('The clock was wrong in an earlier run, or is wrong now')
    const second = await night(sixGone)
    expect(notes(second)).not.toContain('The clock')
    expect(await nights(1, sixGone)).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(await night(sixGone)).toMatchObject({ counts: { delete: 6 } })
  })

  test('what is held waits on where the clock is put right within a run', async () => {
    const server = await startFeedServer()
    try {
      server.give(zillowFeed(all))
      await loaded(all, { source: server.url })
      server.give(zillowFeed(sixGone))
      expect(await night('')).toMatchObject({ result: 'held', counts: { hold: 6 } })
      world.clock.advance(hour - 30 * day)
      server.give(zillowFeed(sixGone), (response, content) => {
        world.clock.advance(30 * day)
        response.writeHead(200, { 'content-length': content.length, 'content-type': 'text/xml' }).end(content)
      })
      expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 6 } })
      server.give(zillowFeed(sixGone))
      expect(await night('', hour)).toMatchObject({ result: 'held', counts: { hold: 6 } })
      expect(await nights(2, '')).toMatchObject({ result: 'held', counts: { hold: 6 } })
      expect(await night('')).toMatchObject({ result: 'ok', counts: { delete: 6 } })
    } finally {
      await server.close()
    }
  })

  test('a clock that was two days ahead takes nothing for noted later than it was, once it is that time', async () => {
    await loaded()
    await night(all, 3 * day)
    const left = (count: number): Home[] => all.slice(count)
    expect(await night(left(2), -2 * day + hour)).toMatchObject({ counts: { delete: 2 } })
    expect(await night(left(4))).toMatchObject({ counts: { delete: 2 } })
    expect(await night(left(6))).toMatchObject({ result: 'ok', counts: { delete: 2 } })
  })

  test('goes in its time from now on where a clock that was a year ahead held it, and what left under it counts for a day', async () => {
    await loaded()
    const year = 365 * day
    expect(await night(all.slice(4), year)).toMatchObject({ counts: { delete: 4 } })
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse', message: 'No.' } })
    await night([...all.slice(10), home(21)], hour)
    world.standIn.clearFaults()
    const feed = [...all.slice(9), home(21)]
    expect(notes(await night([...all.slice(10), home(21)], day - year))).toContain('10 of 20 listings would leave')
    const next = await night(feed, day)
    expect(next).toMatchObject({ result: 'held', counts: { create: 1, hold: 5 } })
    expect(notes(next)).toContain('5 of 16 listings would leave')
    await night(feed, day)
    expect(await night(feed, day)).toMatchObject({ result: 'ok', counts: { delete: 5 } })
  })

  test('waits for a short confirm, too, to its last seconds', async () => {
    await loaded(all, { limits: { confirm: '100s' } })
    const first = await night(sixGone)
    expect(first).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    expect(await night(sixGone, 98_000)).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    expect(await night(sixGone, 2000)).toMatchObject({
      result: 'ok',
      counts: { delete: 6 },
      notes: ['6 deletes held since Sun 22 Nov were carried out: every delivery for 100 seconds said the same'],
    })
  })

  test('waits for a person where confirm is never', async () => {
    await loaded(all, { limits: { confirm: 'never' } })
    const report = await night(sixGone)
    expect(notes(report)).toContain('Held: 6 deletes. They wait for you; now: listing-sync approve north')
    heldDeletes(await nights(40, sixGone), 6, sentence)
    await world.approve()
    expect(await night(sixGone)).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })

  test('is said again by a source that did not change: it is asked without validators as long as something is held', async () => {
    const server = await startFeedServer()
    try {
      server.give(zillowFeed(all))
      await loaded(all, { source: server.url })
      expect(server.statuses.at(-1)).toBe(304)
      server.give(zillowFeed(sixGone))
      for (let i = 1; i <= 3; i++) expect(await night('')).toMatchObject({ result: 'held', counts: { hold: 6 } })
      expect(await night('')).toMatchObject({ result: 'ok', counts: { delete: 6 } })
      await nights(2, '')
      expect(server.statuses.slice(-6)).toEqual([200, 200, 200, 200, 304, 304])
    } finally {
      await server.close()
    }
  })

  test('so it is while a listing is in its grace, which a source that did not change goes on with', async () => {
    const server = await startFeedServer()
    try {
      server.give(zillowFeed(all))
      await loaded(all, { source: server.url, limits: { grace: { runs: 3, hours: 0 } } })
      server.give(zillowFeed(all.slice(1)))
      for (let i = 1; i <= 2; i++) expect(await night('')).toMatchObject({ result: 'ok', counts: { hold: 1 } })
      expect(await night('')).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    } finally {
      await server.close()
    }
  })
})

describe('approve', () => {
  const decide = async (...words: string[]): Promise<string> =>
    (await world.executed('approve', 'north', ...words)).stdout

  test('lets exactly what was held through, once', async () => {
    await loaded()
    await night(sixGone)
    await world.approve()
    const report = await night(all.slice(11))
    expect(report).toMatchObject({ result: 'held', counts: { delete: 6, hold: 5 } })
    expect(of(report, 'delete')).toEqual(keys(all.slice(0, 6)))
    // Back again, and gone again: the approval is used up.
    await night([...all.slice(0, 6), ...all.slice(11)])
    expect(await night(all.slice(11))).toMatchObject({ result: 'held', counts: { delete: 0, hold: 11 } })
  })

  test('counts for nothing in what may leave on the same day', async () => {
    await loaded()
    await night(sixGone)
    await world.approve()
    expect(await night(sixGone, hour)).toMatchObject({ result: 'ok', counts: { delete: 6 } })
    expect(await night(all.slice(9), hour)).toMatchObject({ result: 'ok', counts: { delete: 3 } })
  })

  test('does not cover what the next delivery says otherwise, and the rest of it stays', async () => {
    await loaded()
    await night(changed(12, times(100)))
    await world.approve()
    const report = await night([
      ...changed(
        5,
        times(200),
        all
          .slice(0, 12)
          .map(times(100))
          .map((home) => ({ ...home })),
      ),
      ...all.slice(12),
    ])
    expect(report).toMatchObject({ result: 'held', counts: { update: 7, hold: 5 }, holds: [{ rule: 'facts' }] })
    expect(of(report, 'hold')).toEqual(keys(all.slice(0, 5)))
    expect(priceOf(all[0])).toBe(all[0].price)
    expect(priceOf(all[5])).toBe(all[5].price * 100)
  })

  test('is over where a complete delivery says otherwise', async () => {
    await loaded()
    await night(sixGone)
    await world.approve()
    await night(all)
    expect(await night(sixGone)).toMatchObject({ result: 'held', counts: { hold: 6 } })
  })

  test('lasts for more than a run that had no time left', async () => {
    const limits = { confirm: 'never' }
    await loaded(all, { limits })
    await night(changed(12, times(100)))
    await world.approve()
    world.configure({ north: { volatile, limits, deadline: '4s' } }, { rate: 1, concurrency: 1 })
    const cut = await night(changed(12, times(100)))
    expect(cut.applied!.outcomes.done).toBeGreaterThan(0)
    expect(cut.applied!.outcomes.skipped).toBeGreaterThan(4)
    world.configure({ north: { volatile, limits } })
    const rest = await night(changed(12, times(100)))
    expect(rest).toMatchObject({ result: 'ok', holds: [] })
    expect(planned(rest)).toEqual({ update: cut.applied!.outcomes.skipped })
    for (const home of all.slice(0, 12)) expect(priceOf(home)).toBe(home.price * 100)
  })

  test.each([
    ['gives no answer', { kind: 'status', status: 503 }, 5 * minute, hour],
    ['refuses what it lets through', { kind: 'refuse' }, hour, day],
  ] as const)('lasts while the service %s', async (_, fault, soon, later) => {
    const office = homes(1, 44)
    await loaded(office.slice(0, 4))
    await night(office)
    await world.approve()
    for (let nth = 2; nth <= 40; nth += 2) world.standIn.addFault({ operations: ['Create'], nth, fault })
    expect(await night(office)).toMatchObject({ counts: { create: 40 }, applied: { outcomes: { done: 20 } } })
    world.standIn.clearFaults()
    expect(await night(office, soon)).toMatchObject({ result: 'ok', counts: { create: 0, hold: 20 } })
    expect(await night(office, later)).toMatchObject({ result: 'ok', counts: { create: 20, hold: 0 } })
  })

  test.each([
    ['lasts for 29 days', 29, { result: 'ok', counts: { delete: 9, hold: 0 } }],
    ['ends after 30', 31, { result: 'held', counts: { delete: 0, hold: 9 } }],
  ])('%s', async (_, days, expected) => {
    await loaded(all, { limits: { confirm: 'never' } })
    await night(all.slice(9))
    await world.approve()
    expect(await night(all.slice(9), days * day)).toMatchObject(expected)
  })

  test('refused has no clock, holds fewer than may leave as well, and is taken back', async () => {
    await loaded()
    await night(sixGone)
    expect(await decide('--refuse', '--yes')).toContain('6 refused; they stay held until the feed says otherwise')
    const refused = await nights(5, sixGone)
    heldDeletes(refused, 6, sentence6)
    expect(refused.notes.join()).toContain(
      'They were refused, so that only the feed or an approval ends them; now: listing-sync',
    )
    heldDeletes(await night(all.slice(2)), 2, 'Still held, as refused: 2 deletes; now: listing-sync approve north')
    expect((await world.executed('status', '--ready')).stdout).toMatch(
      /2 changes held by leaving since .*; they were refused/,
    )
    expect(await decide('--revoke')).toContain('2 decisions are taken back')
    expect(await night(all.slice(2))).toMatchObject({ result: 'ok', counts: { delete: 2 } })
  })

  test("refused stays so by a record that can't be read, which tells that its listing is there and no more", async () => {
    await loaded()
    const six = changed(6, times(10))
    await night(six)
    await decide('--refuse', '--yes')
    const unread = zillowRecord(six[0]).replace(/<YearBuilt>\d+/, '<YearBuilt>long ago')
    const besides = (some: readonly Home[]): string =>
      zillowStart + unread + some.map((home) => zillowRecord(home)).join('') + zillowEnd
    const report = await night(besides(all.slice(1)))
    expect(report).toMatchObject({ result: 'held', counts: { hold: 0, reject: 1 } })
    expect(notes(report)).toContain('1 held by earlier runs stays held')
    expect(notes(await night(changed(1, times(10))))).toContain('Still held, as refused: 1 update')
    // Of what was absent it says that it is back.
    await night(sixGone)
    expect(await night(besides(all.slice(1)))).toMatchObject({ result: 'partial', counts: { hold: 0, reject: 1 } })
  })

  test("is asked of the store for all records that can't be read at once, and for those that come twice", async () => {
    await loaded()
    await night(changed(6, times(10)))
    const app = openApp(world.context, { logLevel: 'error' })
    try {
      const asked = vi.spyOn(app.store().holds, 'held')
      world.clock.advance(day)
      const unread = all.map((home, at) => (at < 4 ? { ...home, yearBuilt: NaN } : times(at < 6 ? 10 : 1)(home)))
      world.deliver(zillowFeed([...unread, dearer(unread[4]), { ...unread[7], yearBuilt: NaN }]))
      const report = await world.run('sync', 'north', app)
      expect(report).toMatchObject({ result: 'held', counts: { reject: 5 } })
      expect(notes(report)).toContain('the price of 6 of 20 listings')
      const keysOf = asked.mock.calls.flatMap(([, , only]) => (only === undefined ? [] : [only]))
      expect(keysOf).toEqual([{ keys: expect.arrayContaining(keys(all.slice(0, 5))) }])
    } finally {
      await app.close()
    }
  })

  describe('what is held of a listing', () => {
    const six = changed(6, times(10))
    const first = six[0].mlsNumber
    /** What is held of the first home, as a run plans it. */
    const heldOf = ({ changes }: ReadReport): string | undefined =>
      changes.find(({ kind, mlsNumber }) => kind === 'hold' && mlsNumber === first)?.why

    /** The service shows the first home so many times. */
    function show(times: number): void {
      const listing = world.listing(first) as unknown as StandInListing
      world.standIn.remove(chatbot, first)
      world.standIn.seed(
        chatbot,
        Array.from({ length: times }, () => ({ ...listing })),
      )
    }

    test.each([
      ['the feed delivers twice, differing', zillowFeed([...six, dearer(six[0])])],
      [
        "the feed delivers once more, in a record that can't be read",
        zillowFeed([...six, { ...six[0], yearBuilt: NaN }]),
      ],
      ['the service shows twice', null],
    ])('%s, for a night stays refused', async (_, feed) => {
      await loaded()
      await night(six)
      await decide('--refuse', '--yes')
      if (feed === null) show(2)
      const report = await night(feed ?? six)
      expect(report.changes.find(({ mlsNumber }) => mlsNumber === first)).toMatchObject({ kind: 'hold' })
      expect(report.result).toBe('held')
      expect(notes(report)).toContain('1 held by earlier runs stays held')
      if (feed === null) show(1)
      for (const report of [await night(changed(1, times(10))), await nights(4, changed(1, times(10)))])
        expect(heldOf(report)).toContain('it was refused')
      expect(priceOf(all[0])).toBe(all[0].price)
    })

    test('that has gone stays refused where the service shows it twice, or the feed says both of it', async () => {
      await loaded()
      const gone = all.map((home, index) => (index < 6 ? { ...home, status: 'Withdrawn' } : home))
      await night(gone)
      await decide('--refuse', '--yes')
      show(2)
      expect(notes(await night(gone))).toContain('1 held by earlier runs stays held')
      show(1)
      expect(notes(await night([...gone, all[0]]))).toContain('1 held by earlier runs stays held')
      for (const report of [await night(gone.slice(1)), await nights(4, gone.slice(1))]) {
        expect(notes(report)).toContain('They were refused')
        expect(of(report, 'hold')).toEqual(keys(all.slice(0, 6)))
      }
      // That it is there, however often, is the end of its delete.
      expect(notes(await night([...all, dearer(all[0])]))).toBe('')
    })

    test('keeps its clock', async () => {
      await loaded()
      await night(six)
      await night([...six, ...six.slice(0, 6).map(dearer)])
      expect(planned(await nights(2, six))).toEqual({ update: 6 })
    })
  })

  test.each([
    ['', undefined],
    [', also after a backfill', 'backfill'],
    [', also after a run that could not see the whole list', 'sync'],
  ] as const)(
    'refused stays so where the configuration makes other content of it; approved is only what was shown%s',
    async (_, between) => {
      world.standIn.changeProfile({ maxPageSize: 10 })
      await loaded()
      const feed = [...all, ...homes(21, 40)]
      await night(feed)
      await decide('--refuse', '--yes')
      const fieldsOf = (...fields: string[]): void =>
        world.configure({ north: { volatile: { ...volatile, fields: ['DaysOnMarket', ...fields] } } })
      fieldsOf('HOAMonth')
      // Nor does a run between that can't end it, though the mapping is no longer new after it.
      if (between !== undefined) {
        world.clock.advance(day)
        if (between === 'sync')
          world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
        await world.run(between)
        world.standIn.clearFaults()
      }
      for (const report of [await night(feed), await night(feed)])
        expect(notes(report)).toContain(
          'Held: 20 creates. They were refused, so that only the feed or an approval ends them',
        )
      await world.approve()
      fieldsOf('HOAMonth', 'YearBuilt')
      expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 0, hold: 20 } })
    },
  )

  test('refused, taken back and refused again before the next sync stays so in a new configuration', async () => {
    await loaded()
    const feed = [...all, ...homes(21, 40)]
    await night(feed)
    await decide('--refuse', '--yes')
    world.configure({ north: { volatile: { ...volatile, fields: ['DaysOnMarket', 'HOAMonth'] } } })
    world.clock.advance(day)
    await world.run('backfill')
    await decide('--revoke')
    await decide('--refuse', '--yes')
    expect(notes(await nights(4, feed))).toContain('Held: 20 creates. They were refused')
  })

  test.each([
    ['refused stays so', ['--refuse', '--yes'], { delete: 0, hold: 6 }],
    ['approved goes', ['--yes'], { delete: 6, hold: 0 }],
  ])(
    '%s without the grace of what is only absent, once the feed says no more that it is gone',
    async (_, words, counts) => {
      await loaded(all, { limits: { grace: { runs: 2 } } })
      await night(changed(6, (home) => ({ ...home, status: 'Withdrawn' })))
      await decide(...words)
      expect(await night(sixGone)).toMatchObject({ counts })
      if (counts.hold > 0) expect(notes(await nights(4, sixGone))).toContain('They were refused')
    },
  )

  test('taken back leaves the clock as it was', async () => {
    await loaded()
    await nights(3, sixGone)
    await world.approve()
    expect(await decide('--revoke')).toContain('6 decisions are taken back')
    heldDeletes(await night(sixGone, hour), 6, sentence6)
    expect(await night(sixGone, 23 * hour)).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })

  test('says nothing of what is held for want of proof', async () => {
    await loaded()
    world.deliver(zillowStart + zillowRecord(home(1)))
    for (let i = 0; i < 2; i++) {
      expect(await world.run()).toMatchObject({ result: 'partial', counts: { delete: 0, hold: 19 } })
      expect(await decide('--yes')).toContain('holds nothing that could be approved')
    }
  })
  const sentence6 = '6 of 20 listings would leave the site; up to 4 may in 24 hours'
})
