/** The guard over whole runs: what it holds, what goes on meanwhile, and what lets it go. */
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import {
  dearer,
  home,
  homes,
  keys,
  resoFeed,
  zillowEnd,
  zillowFeed,
  zillowRecord,
  zillowStart,
} from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const all = homes(1, 20)
const volatile = { refresh: '365d' }
/** More than may leave of twenty. */
const sixGone = all.slice(6)

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north: { volatile } } })
})
afterEach(() => world.end())

/** Loads these homes and lets the service be seen once, so that all is known. */
async function loaded(some: readonly Home[] = all, feed: object = {}): Promise<void> {
  world.configure({ north: { volatile, ...feed } })
  world.deliver(zillowFeed(some))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: some.length } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: some.length } })
  world.calls()
}

/** A run on these homes a day after the last one. */
function night(feed: readonly Home[] | string, after = day): Promise<ReadReport> {
  world.clock.advance(after)
  world.deliver(typeof feed === 'string' ? feed : zillowFeed(feed))
  return world.run()
}

async function nights(count: number, feed: readonly Home[] | string): Promise<ReadReport> {
  for (let i = 1; i < count; i++) await night(feed)
  return night(feed)
}

const there = (): string[] => world.numbers()
const of = (report: ReadReport, kind: string): string[] =>
  report.changes.flatMap((one) => (one.kind === kind ? [one.mlsNumber] : [])).toSorted()
/** What is carried out, by kind, without fields whose turn it is. */
const planned = ({ changes }: ReadReport): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { kind, cause } of changes) if (cause !== 'refresh') counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
const notes = (report: ReadReport): string => report.notes.join('\n')
/** The rules that hold something. */
const rules = ({ holds }: ReadReport): string[] => holds.map(({ rule }) => rule)
const priceOf = ({ mlsNumber, rental }: Home): unknown => world.listing(mlsNumber)?.[rental ? 'RentPrice' : 'SalePrice']
const times =
  (factor: number) =>
  (one: Home): Home => ({ ...one, price: one.price * factor })
/** The first ones changed, and the rest as they were. */
const changed = (count: number, change: (one: Home) => Home, some: readonly Home[] = all): Home[] => [
  ...some.slice(0, count).map(change),
  ...some.slice(count),
]
const renumbered = (one: Home): Home => ({ ...one, mlsNumber: `NEW-${one.mlsNumber}` })

/** Nothing was deleted, and whatever is not there is held by this rule. */
function heldDeletes(report: ReadReport, count: number, sentence: string): void {
  expect(report.result).toBe('held')
  const holds = report.changes.filter((change) => change.kind === 'hold')
  expect(holds.map((change) => change.held)).toEqual(Array.from({ length: count }, () => 'delete'))
  expect(notes(report)).toContain(sentence)
  expect(world.calls()).toMatchObject({ Delete: 0 })
}

describe('what may leave', () => {
  test('is counted over 24 hours, not per run', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(3)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 3 } })
    world.calls()
    heldDeletes(await night(all.slice(5), hour), 2, '5 of 20 listings would leave the site; up to 4 may in 24 hours')
    heldDeletes(await night(all.slice(5), 22 * hour), 2, 'limits.share')
    // What left first counts no more: more may leave, but for what waits.
    expect(await night(all.slice(6), 2 * hour)).toMatchObject({ result: 'held', counts: { delete: 1, hold: 2 } })
    expect(there()).toEqual(keys([...all.slice(3, 5), ...all.slice(6)]))
  })

  test('is counted anew by a run that begins a day after the last one, though its deletes took their time', async () => {
    await loaded()
    const begun = world.clock.now() + day
    expect(await night(all.slice(4))).toMatchObject({ result: 'ok', counts: { delete: 4 } })
    expect(world.clock.now()).toBeGreaterThan(begun)
    expect(await night(all.slice(7), begun + day - minute - world.clock.now())).toMatchObject({ counts: { delete: 3 } })
  })

  test('is never more, however the feed shrinks, one listing at a time', async () => {
    await loaded()
    for (let gone = 1; gone <= 12; gone++) await night(all.slice(gone), hour)
    expect(world.listings()).toHaveLength(16)
  })

  test.each([
    [3, 1],
    [4, 2],
    [8, 3],
    [15, 3],
    [40, 8],
  ])('of %i listings is %i; one more, and all of them are held', async (ours, may) => {
    const some = homes(1, ours)
    await loaded(some)
    world.deliver(zillowFeed(some.slice(may + 1)))
    heldDeletes(await world.run(), may + 1, `${may + 1} of ${ours} listings would leave the site; up to ${may} may`)
    await night(some)
    expect(await night(some.slice(may))).toMatchObject({ result: 'ok', counts: { delete: may }, holds: [] })
  })

  test('is what the feed says is gone, and what `where` leaves out, as well as what is absent', async () => {
    await loaded(all, { where: { ZIP: [...new Set(all.map(({ zip }) => zip))] } })
    const [withdrawn, moved] = [all.slice(0, 2), all.slice(2, 4)]
    const feed = [
      ...withdrawn.map((one) => ({ ...one, status: 'Withdrawn' })),
      ...moved.map((one) => ({ ...one, zip: '00000' })),
      ...all.slice(5),
    ]
    heldDeletes(await night(feed), 5, '5 of 20 listings would leave the site')
  })

  test('a delete without success counts once, however often it is tried', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(4)))
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'status', status: 500 } })
    expect(await world.run()).toMatchObject({ result: 'partial', applied: { outcomes: { unknown: 4 } } })
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 4 } })
    expect(world.listings()).toHaveLength(16)
  })

  test('a delete carried out without an answer counts, though the next attempt was refused', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(4)))
    world.standIn.addFault({ operations: ['Delete'], nth: 1, fault: { kind: 'reset', when: 'after-carrying-out' } })
    for (const nth of [2, 3, 4, 5, 6])
      world.standIn.addFault({ operations: ['Delete'], nth, fault: { kind: 'refuse' } })
    expect(await world.run()).toMatchObject({ counts: { delete: 4 } })
    expect(world.listings()).toHaveLength(16)
    world.standIn.clearFaults()
    world.calls()
    world.deliver(zillowFeed(all.slice(5)))
    heldDeletes(await world.run(), 1, '5 of 20 listings would leave the site')
  })

  test('is asked alone: whatever else the delivery says goes on', async () => {
    await loaded()
    world.deliver(zillowFeed([...changed(3, dearer, sixGone), home(21)]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 1, update: 3, delete: 0, hold: 6 } })
    expect(report.applied?.outcomes).toMatchObject({ done: 4 })
  })

  test.each([
    ['leaves', all.slice(8), { delete: 8 }],
    ['changes a fact', changed(8, times(2)), { update: 8 }],
    ['comes', [...all, ...homes(21, 50)], { create: 30 }],
  ])('what %s may be twice as much a week after the last delivery', async (_, feed, counts) => {
    await loaded()
    world.clock.advance(6 * day)
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'ok', holds: [] })
    expect(planned(report)).toEqual(counts)
    await world.end()
    world = await RunWorld.start({ feeds: { north: { volatile } } })
    await loaded()
    expect(await night(feed)).toMatchObject({ result: 'held' })
  })

  test('is twice as much also where only incomplete deliveries came meanwhile', async () => {
    await loaded()
    for (let i = 0; i < 3; i++) await night(zillowFeed(all).slice(0, -20))
    expect(await night(all.slice(8))).toMatchObject({ result: 'ok', counts: { delete: 8 } })
  })

  test('is never more than half, however long ago the last delivery was', async () => {
    await loaded(homes(1, 6))
    world.clock.advance(30 * day)
    heldDeletes(await night(homes(5, 6)), 4, '4 of 6 listings would leave the site; up to 3 may')
  })

  test('limits: off holds nothing and says so each time', async () => {
    await loaded(all, { limits: 'off' })
    const note = 'limits: off, so the guard holds nothing'
    expect(await night(homes(20, 99))).toMatchObject({
      result: 'ok',
      counts: { delete: 19, create: 79 },
      notes: [note],
    })
    expect(await night(homes(20, 99))).toMatchObject({ notes: [note] })
  })

  test('limits: off holds nothing new, and what was held before until a run can tell of it', async () => {
    await loaded()
    await night(sixGone)
    world.configure({ north: { volatile, limits: 'off' } })
    const cut = await night(zillowFeed(sixGone).replace(zillowEnd, ''))
    expect(cut).toMatchObject({ result: 'held', counts: { delete: 0 } })
    expect(cut.notes.slice(1)).toEqual([
      'limits: off, so the guard holds nothing new',
      expect.stringContaining('6 held by earlier runs stay held'),
    ])
    expect(await night(sixGone)).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })
})

describe('what is held', () => {
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
    ['what is said to be gone', all.map((one) => ({ ...one, status: 'Withdrawn' })), 'delete'],
  ])('goes by no delivery that was cut behind as much of it as may go: %s', async (_, changes, kind) => {
    await loaded()
    const feed = [...changes.slice(0, kind === 'create' ? 20 : 7), ...all.slice(kind === 'create' ? 0 : 7)]
    const first = await night(feed)
    expect(first).toMatchObject({ result: 'held' })
    const cut = await night(zillowFeed(feed.slice(0, 3)).replace(zillowEnd, ''))
    expect(cut).toMatchObject({ result: 'held', counts: { [kind]: 0 } })
    expect(notes(cut)).toContain(`${first.counts.hold} held by earlier runs stay held`)
    const { held } = JSON.parse((await world.executed('status', '--format', 'json')).stdout) as { held: object[] }
    expect(held.filter((one) => 'kind' in one && one.kind === kind)).toHaveLength(first.counts.hold)
    world.configure({ north: { volatile, limits: 'off' } })
    expect(await night(zillowFeed(feed.slice(0, 3)).replace(zillowEnd, ''))).toMatchObject({ counts: { [kind]: 3 } })
  })

  test('waits for its own time where the feed puts so much of it right that no rule would hold the rest', async () => {
    await loaded()
    await night(sixGone)
    const fewer = [
      'fewer are left of what the rule leaving held, and the rest waits for its own time. Held: 4 deletes. They go by themselves on Wed 25 Nov 12:00 if the feed still says so; now: listing-sync approve north',
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
    const wrong = office.map((one, i) => (i < 9 ? { ...one, price: one.price * 100 } : one))
    expect(await night(wrong)).toMatchObject({ result: 'held', counts: { update: 0, hold: 9 } })
    const next = await night(otherwise(wrong))
    expect(next).toMatchObject({ result: 'held', counts: { update: 0 } })
    expect(next.counts.hold).toBeGreaterThanOrEqual(8)
    expect(await night(otherwise(office))).toMatchObject({ result: 'ok', counts: { hold: 0 } })
  })

  test('that every delivery said while the whole of it was asked about goes with the next that says so', async () => {
    const ten = homes(1, 10)
    await loaded(ten)
    const bare = (some: readonly Home[]): Home[] => some.map((one) => ({ ...one, photos: 0 }))
    await nights(2, bare(ten.slice(2)))
    expect((await nights(3, bare(ten.slice(3)))).holds.map(({ rule }) => rule)).toEqual(['unrecognisable'])
    expect(await night(ten.slice(4))).toMatchObject({
      result: 'held',
      counts: { hold: 4 },
      holds: [{ rule: 'leaving' }],
    })
    expect((await night(ten.slice(4))).counts).toMatchObject({ delete: 3, hold: 1 })
  })

  test('goes where the feed says otherwise of most of it, as it is right again', async () => {
    const forty = homes(1, 40)
    await loaded(forty)
    // Two are sold on the night on which half the file is missing.
    expect(await night(forty.slice(20))).toMatchObject({ result: 'held', counts: { hold: 20 } })
    expect(await night(forty.slice(2))).toMatchObject({ result: 'ok', counts: { delete: 2 } })
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
    const larger = (one: Home): Home => ({ ...times(10)(one), bedrooms: one.bedrooms + 3 })
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
          .map((one) => ({ ...one })),
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
    for (const one of all.slice(0, 12)) expect(priceOf(one)).toBe(one.price * 100)
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
      zillowStart + unread + some.map((one) => zillowRecord(one)).join('') + zillowEnd
    const report = await night(besides(all.slice(1)))
    expect(report).toMatchObject({ result: 'held', counts: { hold: 0, reject: 1 } })
    expect(notes(report)).toContain('1 held by earlier runs stay held')
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
      const unread = all.map((one, at) => (at < 4 ? { ...one, yearBuilt: NaN } : times(at < 6 ? 10 : 1)(one)))
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
      expect(notes(report)).toContain('1 held by earlier runs stay held')
      if (feed === null) show(1)
      for (const one of [await night(changed(1, times(10))), await nights(4, changed(1, times(10)))])
        expect(heldOf(one)).toContain('it was refused')
      expect(priceOf(all[0])).toBe(all[0].price)
    })

    test('that has gone stays refused where the service shows it twice, or the feed says both of it', async () => {
      await loaded()
      const gone = all.map((one, index) => (index < 6 ? { ...one, status: 'Withdrawn' } : one))
      await night(gone)
      await decide('--refuse', '--yes')
      show(2)
      expect(notes(await night(gone))).toContain('1 held by earlier runs stay held')
      show(1)
      expect(notes(await night([...gone, all[0]]))).toContain('1 held by earlier runs stay held')
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

describe('homes under other MLSNumbers', () => {
  const forty = homes(1, 40)

  test('nearly all: the site keeps the old ones, and what is new waits too, until it has been said for 72 hours', async () => {
    await loaded(forty)
    const feed = [...forty.slice(0, 39).map(renumbered), forty[39], home(99)]
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 79, unchanged: 1 } })
    expect(report.holds).toMatchObject([{ rule: 'leaving', numbers: { renumbered: 39, ours: 40, allowed: 8 } }])
    expect(report.notes).toEqual([
      expect.stringMatching(
        /^39 of 40 homes came under other MLSNumbers\. Held with their old numbers until Wed 25 Nov 12:0\d; the site keeps showing them$/,
      ),
    ])
    await nights(2, feed)
    expect(there()).toEqual(keys(forty))
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 40, delete: 39 } })
    expect(there()).toEqual(keys(feed))
  })

  test.each([
    ['as many as may leave go at once', 8, { result: 'ok', counts: { create: 8, delete: 8, hold: 0 } }],
    ['more wait', 9, { result: 'held', counts: { create: 0, delete: 0, hold: 18 } }],
  ])('%s', async (_, count, expected) => {
    await loaded(forty)
    expect(await night(changed(count, renumbered, forty))).toMatchObject(expected)
  })

  test.each([
    ['leading zeros', (number: string) => `00${number}`],
    ['another case', (number: string) => number.toLowerCase()],
    ['a prefix', (number: string) => `MLS-${number}`],
    ['a blank', (number: string) => `${number.slice(0, 3)} ${number.slice(3)}`],
  ])('half of them with %s: no home is ever there twice, or missing', async (_, respelled) => {
    const addresses = (): string[] => world.listings().map((one) => `${String(one.Address)}, ${String(one.City)}`)
    await loaded(forty)
    const before = addresses().toSorted()
    expect(new Set(before).size).toBe(40)
    const feed = changed(20, (one) => ({ ...one, mlsNumber: respelled(one.mlsNumber) }), forty)
    expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    for (let nightsSaid = 1; nightsSaid < 4; nightsSaid++) {
      expect(addresses().toSorted()).toEqual(before)
      await night(feed)
    }
    expect(there()).toEqual(keys(feed))
    expect(addresses().toSorted()).toEqual(before)
  })

  test('whose facts change with their numbers keep both, and count as what changes', async () => {
    await loaded(forty)
    const dear = (one: Home): Home => ({ ...one, price: one.price * 100 })
    const feed = [...changed(8, dear, forty.slice(0, 39)), renumbered(dear(forty[39]))]
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 10 } })
    expect(notes(report)).toContain('the price of 9 of 40 listings would change by more than 1.5 times')
    expect(report.holds[0].keys).toHaveLength(9)
    expect(there()).toEqual(keys(forty))
    // It is as good under its new number once the feed has said so for long enough.
    await nights(3, feed)
    expect(there()).toEqual(keys(feed))
  })

  test('all of them, and wrong beside that: a person is asked, as the site would not be what it was', async () => {
    await loaded(forty)
    const feed = forty.map((one) => ({ ...renumbered(one), price: one.price * 100 }))
    for (let nightsSaid = 1; nightsSaid <= 5; nightsSaid++)
      expect((await night(feed)).holds.map(({ rule }) => rule)).toContain('unrecognisable')
    expect(there()).toEqual(keys(forty))
  })

  test('without an address are told by their number, which is only spelled otherwise', async () => {
    const hidden = forty.map((one) => ({ ...one, street: 'Undisclosed', unit: '' }))
    const zeros = (count: number) => changed(count, (one) => ({ ...one, mlsNumber: `00${one.mlsNumber}` }), hidden)
    await loaded(hidden)
    expect(await night(zeros(8))).toMatchObject({ result: 'ok', counts: { create: 8, delete: 8, hold: 0 } })
    const all = zeros(28)
    const report = await night(all)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    expect(notes(report)).toContain('20 of 40 homes came under other MLSNumbers')
    await nights(3, all)
    expect(there()).toEqual(keys(all))
  })

  test('without an address are none where the numbers are others: another office asks', async () => {
    const numbered = (letter: string): Home[] =>
      forty.map((one, i) => ({
        ...one,
        street: 'Undisclosed',
        unit: '',
        mlsNumber: `${letter}-${1001 + i}`,
        price: one.price + 1000 * i,
      }))
    await loaded(numbered('N'))
    expect((await nights(5, numbered('S'))).holds.map(({ rule }) => rule)).toContain('unrecognisable')
    expect(there()).toEqual(keys(numbered('N')))
  })

  test('count over 24 hours', async () => {
    await loaded(forty)
    expect(await night(changed(8, renumbered, forty))).toMatchObject({ result: 'ok' })
    const ninth = await night(changed(9, renumbered, forty), hour)
    expect(ninth).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 2 } })
  })

  test('come in a delivery that was cut: nothing is there twice, and the next one tells', async () => {
    await loaded()
    const feed = zillowFeed(changed(8, renumbered))
    const report = await night(feed.replace(zillowEnd, ''))
    expect(report).toMatchObject({ result: 'partial', counts: { create: 0, delete: 0, hold: 16 } })
    expect(notes(await night(feed))).toContain('8 of 20 homes came under other MLSNumbers')
    expect(there()).toEqual(keys(all))
  })

  describe('in a backfill', () => {
    const office = homes(1, 20)
    const feed = [...changed(8, renumbered, office), home(99)]
    const backfill = (delivery: string): Promise<ReadReport> => {
      world.deliver(delivery)
      return world.run('backfill')
    }
    const whyOf = (report: ReadReport, { mlsNumber }: Home) =>
      report.changes.find((one) => one.mlsNumber === mlsNumber)?.why

    test('wait with their old numbers for the next sync; what is new goes', async () => {
      await loaded(office)
      const report = await backfill(zillowFeed(feed))
      expect(report).toMatchObject({ result: 'ok', holds: [], notes: [], counts: { create: 1, hold: 16 } })
      expect(whyOf(report, office[0])).toBe(
        'absent from the feed, but a backfill deletes nothing: the next sync decides',
      )
      expect(whyOf(report, renumbered(office[0]))).toBe(
        `new in the feed; its home has another MLSNumber, too: both wait for a sync that can change both (${office[0].mlsNumber}: ${whyOf(report, office[0])})`,
      )
      expect(there()).toEqual(keys([...office, home(99)]))
      // More are renumbered than may be in a day: that is asked by the sync, which takes the old ones off.
      expect(await night(feed)).toMatchObject({ result: 'held', counts: { hold: 16 } })
      expect(await nights(3, feed)).toMatchObject({ result: 'ok', counts: { create: 8, delete: 8, hold: 0 } })
      expect(there()).toEqual(keys(feed))
    })

    test('that was cut are there once', async () => {
      await loaded(office)
      const report = await backfill(zillowFeed(feed).replace(zillowEnd, ''))
      expect(report).toMatchObject({ result: 'partial', holds: [], counts: { create: 1, hold: 16 } })
      expect(there()).toEqual(keys([...office, home(99)]))
    })

    test('wait although they were approved, and the approval stays for the sync', async () => {
      await loaded(office)
      await night(feed)
      expect(await backfill(zillowFeed(feed))).toMatchObject({ result: 'held', counts: { create: 0, delete: 0 } })
      await world.approve()
      expect(await backfill(zillowFeed(feed))).toMatchObject({ counts: { create: 1, delete: 0, hold: 16 } })
      expect(there()).toEqual(keys([...office, home(99)]))
      expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 8, delete: 8, hold: 0 } })
    })

    test('are not what leaves: a backfill of a few asks nobody', async () => {
      await loaded(office)
      const report = await backfill(zillowFeed(office.slice(0, 3)))
      expect(report).toMatchObject({ result: 'ok', holds: [], counts: { unchanged: 3, hold: 17 } })
    })
  })

  test('wait with an old one in its grace where people took the new one off, and nobody is asked', async () => {
    const copy = renumbered(forty[0])
    await loaded([...forty, copy], { limits: { grace: { runs: 2 } } })
    world.standIn.remove(chatbot, copy.mlsNumber)
    const feed = [...forty.slice(1), copy]
    expect(await night(feed)).toMatchObject({ result: 'ok', notes: [], counts: { create: 0, hold: 2 } })
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 1, delete: 1 } })
    expect(there()).toEqual(keys(feed))
  })

  test.each(['sync', 'backfill'] as const)(
    'wait with an old one that an incomplete list lacks, in a %s: it may be there',
    async (command) => {
      await loaded()
      world.configure({ north: { volatile } }, { attempts: 1, profile: { pageSize: 10 } })
      world.standIn.addFault({ operations: ['List'], nth: 2, fault: { kind: 'status', status: 500 } })
      const feed = all.map((one) => (one === all[0] || one === all[19] ? renumbered(one) : one))
      world.clock.advance(day)
      world.deliver(zillowFeed(feed))
      const report = await world.run(command)
      expect(report).toMatchObject({
        result: 'partial',
        holds: [],
        remote: { complete: false, listings: 10 },
        counts: { create: 0, hold: 4 },
      })
      expect(there()).toEqual(keys(all))
      world.standIn.clearFaults()
      expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 2, delete: 2 } })
    },
  )

  test('wait for no end of grace: the home is there, and never twice', async () => {
    await loaded(forty, { limits: { grace: { runs: 3 } } })
    const report = await night([...forty.slice(0, 2).map(renumbered), ...forty.slice(3)])
    expect(report).toMatchObject({ result: 'ok', counts: { create: 2, delete: 2, hold: 1 } })
    expect(there()).toEqual(keys([...forty.slice(0, 2).map(renumbered), ...forty.slice(2)]))
    // More than may be renumbered wait together, as ever.
    const many = await night([...forty.slice(0, 20).map(renumbered), ...forty.slice(20)])
    expect(many).toMatchObject({ result: 'held', counts: { create: 0, delete: 0 } })
  })

  test("that the chatbot's list lacks wait with their new numbers until another list says so, and then as any others", async () => {
    await loaded(forty)
    const listed = new Set(
      world
        .listings()
        .map((one) => one['MLSNumber'])
        .slice(-10),
    )
    const feed = forty.map((one) => (listed.has(one.mlsNumber) ? one : renumbered(one)))
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'hide', shown: 10 } })
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, forget: 0, hold: 60 } })
    expect(rules(report)).toContain('chatbot')
    world.standIn.clearFaults()
    await world.approve()
    // What was let go in spite of the list was not let go in spite of the feed.
    expect(rules(await night(feed))).toEqual(['leaving'])
    expect(there()).toEqual(keys(forty))
    await world.approve()
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 30, delete: 30 } })
    expect(there()).toEqual(keys(feed))
  })

  test('that a look-up finds, though the list lacks them, stay alone until the next run', async () => {
    await loaded(forty)
    const listed = new Set(
      world
        .listings()
        .map((one) => one['MLSNumber'])
        .slice(-38),
    )
    const feed = forty.map((one) => (listed.has(one.mlsNumber) ? one : renumbered(one)))
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'hide', shown: 38 } })
    const report = await night(feed)
    expect(report).toMatchObject({ counts: { create: 2, forget: 2 }, applied: { outcomes: { done: 0, skipped: 4 } } })
    expect(there()).toEqual(keys(forty))
    world.standIn.clearFaults()
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 2, delete: 2 } })
    expect(there()).toEqual(keys(feed))
  })

  test('a home whose old number is held goes at once when it comes back under a new one', async () => {
    await loaded(forty)
    await night(forty.slice(10))
    const report = await night([...forty.slice(10), renumbered(forty[0])])
    expect(report).toMatchObject({ result: 'held', counts: { create: 1, delete: 1, hold: 9 } })
    expect(there()).toEqual(keys([...forty.slice(1), renumbered(forty[0])]))
  })
})

describe('what comes', () => {
  test.each([
    [8, 10],
    [20, 15],
    [40, 30],
  ])('beside %i listings may be %i in 24 hours; one more, and all of them wait', async (ours, may) => {
    await loaded(homes(1, ours))
    world.clock.advance(day)
    const feed = [...homes(2, ours).map(dearer), ...homes(101, 100 + may + 1)]
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: ours - 1, delete: 1, hold: may + 1 } })
    expect(notes(report)).toContain(
      `${may + 1} new listings beside ${ours}; up to ${may} may come in 24 hours (limits.growth). Held: ${may + 1} creates.`,
    )
    await nights(2, feed)
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: may + 1 } })
    expect(await night([...feed, ...homes(201, 200 + may)])).toMatchObject({ result: 'ok', counts: { create: may } })
  })

  test('in the place of more than may leave is no more than stays', async () => {
    const forty = homes(1, 40)
    await loaded(forty)
    const report = await night([...forty.slice(22), ...homes(101, 119)])
    expect(rules(report)).toEqual(['leaving', 'arriving'])
    expect(report).toMatchObject({ counts: { create: 0, delete: 0, hold: 41 } })
    await night(forty)
    expect(await night([...forty.slice(22), ...homes(101, 118)])).toMatchObject({ counts: { create: 18, hold: 22 } })
  })

  test('back within 45 days is not new', async () => {
    const forty = homes(1, 40)
    await loaded(forty)
    const eighteen = forty.slice(22)
    await night(eighteen)
    await world.approve()
    expect(await nights(2, eighteen)).toMatchObject({ result: 'ok', counts: { unchanged: 18 } })
    expect(await night([...forty, ...homes(101, 105)])).toMatchObject({ result: 'ok', counts: { create: 27 } })
  })

  test('first is no measure: six hundred, and somebody new the same day', async () => {
    const office = homes(1, 600)
    await loaded(office)
    expect(await night([...office, home(601)], hour)).toMatchObject({ result: 'ok', counts: { create: 1 } })
    // The newcomer counts, the first six hundred do not.
    expect(notes(await night([...office, ...homes(601, 1051)], hour))).toContain(
      '451 new listings beside 601; up to 450',
    )
    await night([...office, home(601)], hour)
    expect(await night([...office, ...homes(601, 1050)], hour)).toMatchObject({ result: 'ok', counts: { create: 449 } })
  })

  test('first and comes to nothing is still to come', async () => {
    const thirty = homes(1, 30)
    world.deliver(zillowFeed(thirty))
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'status', status: 500 } })
    expect(await world.run()).toMatchObject({ counts: { create: 30 } })
    world.standIn.clearFaults()
    expect(await night(thirty)).toMatchObject({ result: 'ok', counts: { create: 30, hold: 0 } })
    // Now it is loaded: as many again are too many.
    expect(await night([...thirty, ...homes(101, 130)])).toMatchObject({ result: 'held', counts: { hold: 30 } })
  })

  test('by a backfill is asked like by a sync, where listings of ours are there', async () => {
    await loaded()
    world.deliver(zillowFeed([...changed(5, times(2)), ...homes(101, 116)]))
    const report = await world.run('backfill')
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, hold: 21 } })
    expect(rules(report)).toEqual(['arriving', 'facts'])
  })
})

test('the rows of a CSV are read anew where its header names other columns', async () => {
  world.configure({ north: { preset: 'reso-csv', delivery: 'full', volatile, limits: 'off' } })
  const feed = resoFeed(homes(1, 3))
  world.deliver(feed)
  await world.run()
  const names: Record<string, string> = { BedroomsTotal: 'BathroomsFull', BathroomsFull: 'BedroomsTotal' }
  const other = feed.replaceAll(/BedroomsTotal|BathroomsFull/g, (name) => names[name])
  expect(await night(other)).toMatchObject({ counts: { update: 3 } })
})

describe('facts', () => {
  const garbled = (text: string): string => text.replaceAll('e', 'Ã©')
  const other = (city: string): string => (city === 'Dike' ? 'Waverly' : 'Dike')
  const sales = homes(1, 60)
    .filter((one) => !one.rental && one.propertyType !== 'Condo')
    .slice(0, 20)
  const reworded = (one: Home): Home => ({ ...one, description: `${one.description} Call us.` })
  const relisted = (one: Home): Home => ({ ...one, price: one.price + 100 })

  test.each<[string, string[], (one: Home) => Home, (one: Home) => Home]>([
    ['price', ['SalePrice'], times(100), reworded],
    ['price', ['SalePrice'], times(0.6), reworded],
    ['class', ['PropertyType'], (one) => ({ ...one, propertyType: 'Condo' }), relisted],
    ['status', ['Status'], (one) => ({ ...one, status: 'Sold' }), relisted],
    ['place', ['City'], (one) => ({ ...one, city: other(one.city) }), relisted],
    ['place', ['Latitude'], (one) => ({ ...one, latitude: one.latitude + 0.1 }), relisted],
    ['size', ['BuildingArea'], (one) => ({ ...one, livingArea: one.livingArea * 10 }), relisted],
    ['size', ['Bedrooms'], (one) => ({ ...one, bedrooms: one.bedrooms + 2 }), relisted],
    ['size', ['YearBuilt'], (one) => ({ ...one, yearBuilt: one.yearBuilt - 10 }), relisted],
    ['emptied', ['Images'], (one) => ({ ...one, photos: 0 }), relisted],
    ['emptied', ['Description'], (one) => ({ ...one, description: '' }), relisted],
    ['garbled', ['Description'], (one) => ({ ...one, description: garbled(one.description) }), relisted],
  ])(
    '%s (%s): more than may change keep what they were, and what else is said of them goes on',
    async (kind, fields, break_, edit) => {
      await loaded(sales)
      const before = sales.map(({ mlsNumber }) => world.listing(mlsNumber)!)
      const report = await night(changed(5, (one) => edit(break_(one)), sales))
      expect(report.holds).toMatchObject([
        {
          rule: 'facts',
          setting: 'limits.share',
          numbers: { kind, listings: 5, ours: 20, allowed: 4 },
          keys: keys(sales.slice(0, 5)),
        },
      ])
      expect(report).toMatchObject({
        result: 'held',
        counts: { update: 5, hold: 0 },
        applied: { outcomes: { done: 5 } },
      })
      for (const [index, { mlsNumber, price, description }] of sales.slice(0, 5).entries()) {
        const now = world.listing(mlsNumber)!
        for (const field of fields) expect(now[field]).toEqual(before[index][field])
        expect(now).toMatchObject(
          edit === reworded ? { Description: `${description} Call us.` } : { SalePrice: price + 100 },
        )
      }
      // Seen to be as it was sent, it is not sent again, and in time the rest of it goes.
      expect(await night(changed(5, (one) => edit(break_(one)), sales))).toMatchObject({
        counts: { update: 0, hold: 5 },
      })
      await night(changed(5, (one) => edit(break_(one)), sales))
      expect(await night(changed(5, (one) => edit(break_(one)), sales))).toMatchObject({
        result: 'ok',
        counts: { update: 5, hold: 0 },
      })
      for (const field of fields) expect(world.listing(sales[0].mlsNumber)![field]).not.toEqual(before[0][field])
      await world.end()
      world = await RunWorld.start({ feeds: { north: { volatile } } })
      await loaded(sales)
      expect(await night(changed(4, break_, sales))).toMatchObject({ result: 'ok', counts: { update: 4, hold: 0 } })
    },
  )

  test('the sentence says which, with an example', async () => {
    await loaded(sales)
    const [{ mlsNumber, price }] = sales
    const [from, to] = [price, price * 100].map((one) => one.toLocaleString('en-US'))
    expect(notes(await night(changed(5, times(100), sales)))).toContain(
      `the price of 5 of 20 listings would change by more than 1.5 times (${from} → ${to} in ${mlsNumber}, …); up to 4 may in 24 hours (limits.share). Held: 5 updates of prices.`,
    )
  })

  test('a kind that is held is held in all of the delivery, also where it is believable', async () => {
    await loaded(sales)
    const feed = [...changed(5, times(100), sales).slice(0, 18), dearer(sales[18]), reworded(sales[19])]
    const report = await night(feed)
    expect(report).toMatchObject({ counts: { update: 1, hold: 6 } })
    expect(of(report, 'update')).toEqual(keys([sales[19]]))
  })

  test('what a price means stays with one that is held: no home is for rent at the price of its sale', async () => {
    await loaded()
    const forRent = (rent: number) => ({ ...all[0], rental: true, status: 'For Rent', price: rent })
    const report = await night([forRent(900), ...changed(5, times(100), all.slice(1))])
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 6 } })
    expect(world.listing(all[0].mlsNumber)).toMatchObject({ SaleType: 'for_sale', SalePrice: all[0].price })
  })

  test('nor where sale or rent was approved, and the price is another by now', async () => {
    await loaded()
    const forRent = (rent: number) => changed(5, (one) => ({ ...one, rental: true, status: 'For Rent', price: rent }))
    await night(forRent(900))
    // A price of sale is told as no rent.
    expect((await world.executed('approve', 'north', '--yes')).stdout).toMatch(/, for rent, \$900\/month; since/)
    expect(await night(forRent(950))).toMatchObject({ result: 'held', counts: { update: 0, hold: 5 } })
    expect(world.listing(all[0].mlsNumber)).toMatchObject({ SaleType: 'for_sale', SalePrice: all[0].price })
    // What was approved stays so meanwhile.
    const { approvals } = JSON.parse((await world.executed('status', '--format', 'json')).stdout) as {
      approvals: object
    }
    expect(approvals).toMatchObject([{ changes: 5 }])
    await nights(2, forRent(950))
    expect(await night(forRent(950))).toMatchObject({ result: 'ok', counts: { update: 5 } })
    expect(world.listing(all[0].mlsNumber)).toMatchObject({ SaleType: 'for_rent', RentPrice: 950 })
  })

  test('count on where a record cannot be read, or comes twice, for a night: no rule lets the others go for that', async () => {
    await loaded()
    const five = changed(5, times(10))
    await night(five)
    const unreadable = five.map((one, at) => (at === 4 ? { ...one, yearBuilt: NaN } : one))
    for (const feed of [unreadable, [...five, dearer(five[4])]]) {
      const report = await night(feed)
      expect(report.result).toBe('held')
      expect(notes(report)).toContain('the price of 5 of 20 listings would change')
      expect(all.slice(0, 5).map(priceOf)).toEqual(all.slice(0, 5).map(({ price }) => price))
    }
    expect(await night(five)).toMatchObject({ result: 'ok', counts: { hold: 0 } })
    expect(priceOf(all[4])).toBe(all[4].price * 10)
  })

  test('that the feed has confirmed are not asked about anew where the service refuses their updates that day', async () => {
    await loaded()
    const wrong = changed(6, times(10))
    expect(await night(wrong)).toMatchObject({ result: 'held', holds: [{ rule: 'facts' }] })
    await nights(2, wrong)
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'refuse' } })
    expect(await night(wrong)).toMatchObject({ counts: { update: 6 }, applied: { outcomes: { failed: 6 } } })
    world.standIn.clearFaults()
    for (const hours of [1, 11]) expect(await night(wrong, hours * hour)).toMatchObject({ counts: { hold: 6 } })
    expect(await night(wrong, 13 * hour)).toMatchObject({ result: 'ok', counts: { update: 6, hold: 0 } })
    expect(all.slice(0, 6).map(priceOf)).toEqual(all.slice(0, 6).map(({ price }) => price * 10))
    expect(await night(wrong)).toMatchObject({ result: 'ok', notes: [] })
  })

  describe('of a listing that people take off while they are held', () => {
    const six = changed(6, times(10))

    beforeEach(async () => {
      await loaded()
      expect(await night(six)).toMatchObject({ result: 'held', counts: { update: 0, hold: 6 } })
    })

    test('stay as they were sent last: it is created so, and they go with the others', async () => {
      world.standIn.remove(chatbot, all[0].mlsNumber)
      const report = await night(six, hour)
      expect(report).toMatchObject({ result: 'held', counts: { create: 1, update: 0, hold: 5 } })
      expect(priceOf(all[0])).toBe(all[0].price)
      expect(notes(report)).toMatch(/the price of 6 of 19 listings would .* Held: 6 updates of prices/)
      expect(report.changes.find(({ kind }) => kind === 'create')).toMatchObject({
        why: 'gone from the service; held of it: too many listings would change prices',
        fields: expect.arrayContaining([{ field: 'SalePrice', from: null, to: all[0].price }]),
        home: { price: { from: all[0].price, to: all[0].price * 10 } },
        withheld: [{ field: 'SalePrice', from: all[0].price, to: all[0].price * 10 }],
      })
      expect((await world.executed('approve', 'north')).stdout).toContain(
        `update price ${all[0].mlsNumber}: 1325 Olive Avenue #7, Cedar Falls, for sale, $328,000 → $3,280,000`,
      )
      expect(await night(six)).toMatchObject({ result: 'held', counts: { create: 0, update: 0, hold: 6 } })
      expect(await nights(2, six)).toMatchObject({ result: 'ok', counts: { create: 0, update: 6, hold: 0 } })
      expect(priceOf(all[0])).toBe(all[0].price * 10)
    })

    test('stay so where the service shows it in its own form, and it is sent once more', async () => {
      world.standIn.remove(chatbot, all[0].mlsNumber)
      world.standIn.changeProfile({ cut: { Description: 9 } })
      world.configure({ north: { volatile, drift: 'keep' } })
      world.calls()
      expect(await night(six)).toMatchObject({ result: 'held', counts: { create: 1, update: 0 } })
      expect(world.calls()).toMatchObject({ Create: 1, Update: 1 })
      expect(priceOf(all[0])).toBe(all[0].price)
    })

    test('stay so where a person refused them, whatever else the feed says of it, and are told', async () => {
      await world.executed('approve', 'north', '--refuse', '--yes')
      world.standIn.remove(chatbot, all[0].mlsNumber)
      const two = changed(2, times(10)).map((one, at) => (at === 0 ? { ...one, description: 'Told otherwise.' } : one))
      expect(await night(two)).toMatchObject({ result: 'held', counts: { create: 1, update: 0, hold: 1 } })
      expect(world.listing(all[0].mlsNumber)).toMatchObject({ Description: 'Told otherwise.', SalePrice: all[0].price })
      expect(await nights(4, two)).toMatchObject({ result: 'held', counts: { create: 0, update: 0, hold: 2 } })
    })

    test('are told with their values, as those of an update that goes on without them', async () => {
      world.standIn.remove(chatbot, all[0].mlsNumber)
      world.deliver(zillowFeed(six.map((one, at) => (at === 1 ? { ...one, yearBuilt: one.yearBuilt + 1 } : one))))
      const lines = (await world.executed('diff')).stdout.split('\n')
      const below = ({ mlsNumber }: Home): string[] => {
        const from = lines.findIndex((line) => line.startsWith(`  ${mlsNumber}  `)) + 1
        return lines.slice(
          from,
          lines.findIndex((line, at) => at >= from && !line.startsWith('      ')),
        )
      }
      expect(below(all[0])).toEqual(['      SalePrice  $328,000 → $3,280,000 (+900%)  [held]'])
      const { yearBuilt } = all[1]
      expect(below(all[1])).toEqual([
        `      YearBuilt  ${yearBuilt} → ${yearBuilt + 1}`,
        '      SalePrice  $201,500 → $2,015,000 (+900%)  [held]',
      ])
      // What is held whole says so already.
      expect(below(all[2])).toEqual(['      SalePrice  $190,400 → $1,904,000 (+900%)'])
    })

    test('go with it where a person approved them', async () => {
      await world.approve()
      world.standIn.remove(chatbot, all[0].mlsNumber)
      expect(await night(six)).toMatchObject({ result: 'ok', counts: { create: 1, update: 5, hold: 0 } })
      expect(priceOf(all[0])).toBe(all[0].price * 10)
    })

    test('count where its create got no answer: as many as were held are held', async () => {
      const office = homes(1, 24)
      const five = changed(5, times(10), office)
      await night(office)
      await nights(2, office)
      expect(await night(five)).toMatchObject({ result: 'held', counts: { update: 0, hold: 5 } })
      world.standIn.remove(chatbot, office[0].mlsNumber)
      world.standIn.addFault({ operations: ['Create'], fault: { kind: 'status', status: 503 } })
      expect(await night(five, hour)).toMatchObject({ applied: { outcomes: { unknown: 1 } } })
      world.standIn.clearFaults()
      expect(await night(five, 5 * minute)).toMatchObject({ result: 'held', counts: { update: 0, hold: 5 } })
      expect(await night(five, hour)).toMatchObject({ result: 'held', counts: { create: 1, update: 0, hold: 4 } })
      expect(office.slice(0, 5).map(priceOf)).toEqual(office.slice(0, 5).map(({ price }) => price))
    })

    test('stay where its create got no answer, and is made by a later run', async () => {
      world.standIn.remove(chatbot, all[0].mlsNumber)
      world.standIn.addFault({ operations: ['Create'], fault: { kind: 'status', status: 503 } })
      expect(await night(six)).toMatchObject({ result: 'held', applied: { outcomes: { unknown: 1 } } })
      world.standIn.clearFaults()
      expect(await night(six)).toMatchObject({ result: 'held', counts: { create: 1, hold: 5 } })
      expect(priceOf(all[0])).toBe(all[0].price)
    })
  })

  test('of each kind as many as may change go at once', async () => {
    await loaded(sales)
    const feed = sales.map((one, index) => {
      if (index < 4) return times(2)(one)
      if (index < 8) return { ...one, status: 'Sold' }
      return index < 12 ? { ...one, bedrooms: one.bedrooms + 2 } : one
    })
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { update: 12 } })
  })

  test.each<[string, (one: Home) => Home]>([
    ['reworded descriptions', reworded],
    ['other photos', (one) => ({ ...one, photos: one.photos + 1 })],
    ['prices by a tenth', (one) => ({ ...one, price: Math.round(one.price * 1.1) })],
    ['areas that are rounded', (one) => ({ ...one, livingArea: Math.round(one.livingArea * 1.01) + 5 })],
    ['positions by a few streets', (one) => ({ ...one, latitude: one.latitude + 0.01 })],
  ])('%s of all listings are no accident', async (_, change) => {
    await loaded(sales)
    expect(await night(sales.map(change))).toMatchObject({ result: 'ok', counts: { update: 20 }, holds: [] })
  })

  test('facts that were missing may come for all', async () => {
    const bare = sales.map((one) => ({ ...one, description: '', photos: 0 }))
    await loaded(bare)
    expect(await night(sales)).toMatchObject({ result: 'ok', counts: { update: 20 } })
  })

  test('what there was before the feed is no measure', async () => {
    world.standIn.seed(
      chatbot,
      sales.map(({ mlsNumber }) => ({ MLSNumber: mlsNumber, SalePrice: 1_000 })),
    )
    world.deliver(zillowFeed(sales))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 20 } })
  })

  test('fields that move by themselves count nowhere, and their turn is not held', async () => {
    await loaded(sales, { volatile: { fields: ['DaysOnMarket', 'YearBuilt'], refresh: '1d' } })
    const feed = sales.map((one, index) => (index < 5 ? { ...one, bedrooms: one.bedrooms + 2 } : one))
    const report = await night(
      feed.map((one) => ({ ...one, yearBuilt: one.yearBuilt - 20 })),
      2 * day,
    )
    expect(report).toMatchObject({ result: 'held', counts: { update: 15, hold: 5 } })
    expect(report.holds).toMatchObject([{ rule: 'facts', numbers: { kind: 'size', listings: 5 } }])
    expect(report.changes.filter(({ kind }) => kind === 'update').every(({ cause }) => cause === 'refresh')).toBe(true)
  })

  test('of a new mapping are said to be due to it', async () => {
    await loaded()
    const extension = { Zone: { value: 'A' } }
    world.configure({ north: { volatile, extension } })
    const harmless = await world.run()
    expect(harmless).toMatchObject({ result: 'ok', counts: { update: 20 } })
    expect(notes(harmless)).toContain('the mapping changed: 20 updates')
    world.configure({ north: { volatile, extension, fields: { YearBuilt: { value: 1700 } } } })
    const report = await night(all)
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 20 } })
    expect(notes(report)).toContain(
      'The mapping changed since the last run: the size, rooms or year of 20 of 20 listings',
    )
  })
})

test('what an incomplete list lacks is ours all the same: as many facts may change as ever', async () => {
  await loaded()
  world.configure({ north: { volatile } }, { attempts: 1, profile: { pageSize: 10 } })
  world.standIn.addFault({ operations: ['List'], nth: 2, fault: { kind: 'status', status: 500 } })
  const report = await night(changed(3, times(2)))
  expect(report).toMatchObject({ remote: { complete: false, listings: 10 }, counts: { update: 3, hold: 0 } })
})

describe('what leaves too little as it is', () => {
  const asks = 'Nothing of it is carried out until the feed is back or you approve it'
  const strange = [...changed(3, dearer, all.slice(0, 4)), ...homes(101, 110)]

  test("another customer's feed: nothing of it is carried out, and no time lets it go", async () => {
    await loaded()
    for (const report of [await night(strange), await nights(6, strange)]) {
      expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 29 } })
      expect(notes(report)).toContain(`after this delivery 4 of 20 listings would stay as they are. ${asks}`)
    }
    expect((await world.executed('status', '--ready')).stdout).toContain('wait for you')
    const back = await night(all)
    expect(back).toMatchObject({ result: 'ok', notes: [] })
    expect(planned(back)).toEqual({})
  })

  test('counts what its grace still keeps: without grace the site would be as empty', async () => {
    await loaded(all, { limits: { grace: { runs: 3 } } })
    const report = await night(changed(1, dearer, all.slice(0, 4)))
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, delete: 0, hold: 17 } })
    expect(rules(report)).toEqual(['unrecognisable'])
  })

  test('goes whole once it is approved, with what would only be remembered', async () => {
    await loaded()
    world.standIn.remove(chatbot, all[19].mlsNumber)
    const report = await night(strange)
    expect(report).toMatchObject({ result: 'held', counts: { forget: 0, hold: 29 } })
    expect(report.changes.filter(({ held }) => held === 'forget')).toHaveLength(1)
    await world.approve()
    expect(await night(strange)).toMatchObject({
      result: 'ok',
      counts: { create: 10, update: 3, delete: 15, forget: 1 },
    })
    expect(await night(strange)).toMatchObject({ result: 'ok', counts: { unchanged: 14 } })
  })

  test('drowned in new ones', async () => {
    await loaded(homes(1, 8))
    const report = await night([...homes(1, 8), ...homes(101, 125)])
    expect(rules(report)).toEqual(['unrecognisable', 'arriving'])
    expect(report).toMatchObject({ counts: { create: 0, hold: 25 } })
  })

  test('as many facts changed', async () => {
    await loaded()
    const feed = changed(16, times(0.5))
    expect(rules(await night(feed))).toEqual(['unrecognisable', 'facts'])
    expect(await nights(5, feed)).toMatchObject({ counts: { update: 0, hold: 16 } })
  })

  // After the third night no rule asks but the one that only a person ends.
  test.each([3, 8])('asks no more after %i nights, once enough stays: the clocks go on', async (asked) => {
    await loaded()
    await nights(asked, all.slice(16))
    const report = await night([...all.slice(0, 4), ...all.slice(16)])
    expect(report).toMatchObject({ result: 'ok', counts: { delete: 12 } })
  })

  test('and of facts too, however long it asked; till then no clock is told', async () => {
    await loaded()
    const feed = changed(16, times(0.5))
    for (let i = 0; i < 8; i++) {
      const report = await night(feed)
      expect(notes(report)).not.toContain('They go by themselves')
      expect(rules(report).includes('facts')).toBe(i < 3)
    }
    const ready = (await world.executed('status', '--ready')).stdout
    expect(ready).toContain('wait for you')
    expect(ready).not.toContain('go by themselves')
    const report = await night(changed(12, times(0.5)))
    expect(report.result).toBe('ok')
    expect(planned(report)).toMatchObject({ update: 12 })
    expect(priceOf(all[0])).toBe(all[0].price * 0.5)
  })
})

describe('a whole document without a record', () => {
  const nothing = zillowStart + zillowEnd

  test.each([1, 2])('the last %i sold: they wait, and go after 72 hours', async (count) => {
    await loaded(homes(1, count))
    for (let i = 0; i < 3; i++)
      expect(await night(nothing)).toMatchObject({ result: 'held', delivery: { complete: true } })
    expect(there()).toHaveLength(count)
    expect(await night(nothing)).toMatchObject({ result: 'ok', counts: { delete: count } })
    expect(await night(nothing)).toMatchObject({ result: 'ok', notes: [] })
    expect(await night(homes(1, count))).toMatchObject({ result: 'ok', counts: { create: count } })
  })

  test('one of two sold goes at once, and so does the other the next day but for being the last', async () => {
    await loaded(homes(1, 2))
    expect(await night([home(2)])).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    expect(await night(nothing, 25 * hour)).toMatchObject({ result: 'held', counts: { hold: 1 } })
  })

  test('three and more ask', async () => {
    await loaded(homes(1, 3))
    const report = await nights(6, nothing)
    expect(report).toMatchObject({ result: 'held', counts: { delete: 0, hold: 3 } })
    expect(notes(report)).toContain('after this delivery 0 of 3 listings would stay as they are')
    await world.approve()
    expect(await night(nothing)).toMatchObject({ result: 'ok', counts: { delete: 3 } })
  })

  test.each(['', 'CSV'])('a file of no bytes is none (%s)', async (format) => {
    if (format === '') await loaded(homes(1, 1))
    else {
      world.configure({ north: { preset: 'reso-csv', delivery: 'full', volatile } })
      world.deliver(resoFeed(homes(1, 1)))
      await world.run()
    }
    for (let i = 0; i < 5; i++)
      expect(await night('')).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
    expect(there()).toHaveLength(1)
  })

  test('a CSV of a header alone is one', async () => {
    world.configure({ north: { preset: 'reso-csv', delivery: 'full', volatile } })
    world.deliver(resoFeed(homes(1, 1)))
    await world.run()
    expect(await nights(3, resoFeed([]))).toMatchObject({ result: 'held', delivery: { complete: true } })
    expect(await night(resoFeed([]))).toMatchObject({ result: 'ok', counts: { delete: 1 } })
  })

  test('on the very first run: nothing happens', async () => {
    world.deliver(nothing)
    expect(await world.run()).toMatchObject({ result: 'ok', delivery: { complete: true, records: 0 } })
    await loaded()
  })
})

test('what a backfill lets go of is not told as held still', async () => {
  await loaded()
  world.deliver(zillowFeed([...all, ...homes(101, 116)]))
  expect(await world.run('backfill')).toMatchObject({ result: 'held', counts: { create: 0, hold: 16 } })
  world.clock.advance(3 * day + hour)
  const report = await world.run('backfill')
  expect(report).toMatchObject({ result: 'ok', counts: { create: 16, hold: 0 } })
  expect(notes(report)).not.toContain('held by earlier runs')
})

describe('a record without MLSNumber', () => {
  const nameless = zillowRecord(home(1)).replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>')
  const homeless = nameless.replace(/<StreetAddress>.*<\/StreetAddress>/, '<StreetAddress/>')
  const elsewhere = zillowRecord(home(77)).replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>')
  const withRecord = (record: string, some: readonly Home[]): string =>
    zillowFeed(some).replace(zillowEnd, record + zillowEnd)

  test.each([
    ['of the home of one of them', nameless, [home(1)]],
    ['of no home', homeless, [home(1), home(2)]],
    ['of a home that is none of ours', elsewhere, []],
  ])('%s keeps those that went with it and may be it, also a year later; all others go', async (_, record, waiting) => {
    await loaded()
    const gone = [home(1), home(2)]
    let report = await night(withRecord(record, all.slice(2)))
    expect(report).toMatchObject({ result: 'partial', counts: { reject: 1 }, delivery: { complete: true, rejects: 1 } })
    expect(of(report, 'hold')).toEqual(keys(waiting))
    expect(of(report, 'delete')).toEqual(keys(gone.filter(({ mlsNumber }) => !keys(waiting).includes(mlsNumber))))
    // The way out is told, by the run and by status.
    const told = waiting.length === 0 ? 0 : 1
    expect(
      notes(report).match(/as a record without MLSNumber may be .* now: listing-sync approve north/g) ?? [],
    ).toHaveLength(told)
    const { stdout } = await world.executed('status')
    expect(
      stdout.match(/held by a record without MLSNumber since .* for you; now: listing-sync approve north/g) ?? [],
    ).toHaveLength(told)
    // No clock lets these go.
    report = await nights(5, withRecord(record, all.slice(4)))
    expect(of(report, 'hold')).toEqual(keys(waiting))
    expect(there()).toEqual(keys([...waiting, ...all.slice(4)]))
    report = await night(withRecord(record, all.slice(5)), 365 * day)
    expect(of(report, 'delete')).toEqual(keys([all[4]]))
    expect(of(report, 'hold')).toEqual(keys(waiting))

    await world.approve()
    report = await night(withRecord(record, all.slice(5)))
    expect(of(report, 'delete')).toEqual(keys(waiting))
    expect(there()).toEqual(keys(all.slice(5)))
  })

  test('that a backfill saw first keeps what may be it', async () => {
    await loaded()
    world.deliver(withRecord(nameless, all.slice(1)))
    await world.run('backfill')
    const report = await night(withRecord(nameless, all.slice(1)))
    expect({ hold: of(report, 'hold'), delete: of(report, 'delete') }).toEqual({ hold: keys([home(1)]), delete: [] })
  })

  test('that a delta does not repeat keeps what may be it', async () => {
    await loaded()
    await night(withRecord(nameless, all.slice(1)))
    world.configure({ north: { volatile, delivery: 'delta' } })
    await night(all.slice(1))
    world.configure({ north: { volatile } })
    const report = await night(withRecord(nameless, all.slice(1)))
    expect({ hold: of(report, 'hold'), delete: of(report, 'delete') }).toEqual({ hold: keys([home(1)]), delete: [] })
  })

  test('whose delete was refused stays so once the record is gone, and is told as what it is then', async () => {
    await loaded()
    await night(withRecord(nameless, all.slice(1)))
    await world.executed('approve', 'north', '--refuse', '--yes')
    const report = await night(all.slice(1))
    expect(report).toMatchObject({ result: 'held', counts: { hold: 1 } })
    expect(notes(report)).toContain('Still held, as refused: 1 delete')
    const told = /1 change held by leaving since .*; it was refused, so that only the feed or an approval ends it/
    expect((await world.executed('status', '--ready')).stdout).toMatch(told)
    expect((await world.executed('status')).stdout).toMatch(told)
  })

  test('keeps what was absent before it by a clock that was set back since', async () => {
    await loaded()
    await night([])
    world.clock.advance(-5 * day)
    for (const feed of [all.slice(1), all.slice(1)])
      expect(of(await night(withRecord(homeless, feed), hour), 'delete')).toEqual([])
  })

  test('that is gone again keeps nothing', async () => {
    await loaded()
    await night(withRecord(homeless, all.slice(2)))
    expect(await night(all.slice(2))).toMatchObject({ result: 'ok', counts: { delete: 2, hold: 0 } })
  })
})

test('the first load of another chatbot is one, whatever the feed loaded before', async () => {
  await loaded()
  world.configure({ north: { volatile, chatbot: 'SN-2' } })
  expect(await night(all)).toMatchObject({ result: 'ok', counts: { create: 20 } })
  expect(await night([...all, ...homes(21, 45)])).toMatchObject({ result: 'held', counts: { create: 0, hold: 25 } })
})

test('a feed that comes back from another chatbot makes no first load: what it has there is guarded', async () => {
  await loaded()
  world.configure({ north: { volatile, chatbot: 'SN-2' } })
  expect(await night(all)).toMatchObject({ result: 'ok', counts: { create: 20 } })
  world.configure({ north: { volatile } })
  expect(await night(sixGone)).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  // Nor later, when all of it has been sent anew.
  expect(await night(all.map(dearer))).toMatchObject({ result: 'ok', counts: { update: 20 } })
  expect(await night(sixGone.map(dearer))).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
})

describe("what the chatbot's list lacks", () => {
  const remove = (some: readonly Home[]): void => {
    for (const { mlsNumber } of some) world.standIn.remove(chatbot, mlsNumber)
  }

  test('is created again, a few, each looked up first', async () => {
    await loaded()
    remove(all.slice(0, 4))
    await world.run('diff')
    const { List: listed } = world.calls()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 4 } })
    // The pages are walked once more, to see what was created.
    const { List, Create } = world.calls()
    expect({ lookUps: List - 2 * listed, Create }).toEqual({ lookUps: 4, Create: 4 })
    expect(world.listings()).toHaveLength(20)
  })

  test('is held, many, until another complete list an hour later says the same', async () => {
    await loaded()
    remove(all.slice(0, 5))
    const report = await night([...all, home(21)])
    expect(report).toMatchObject({ result: 'held', counts: { create: 1, hold: 5 }, holds: [{ rule: 'chatbot' }] })
    expect(report.notes).toEqual([
      expect.stringMatching(
        /^5 of 20 listings are missing from the chatbot's list; up to 4 may be \(limits\.share\)\. Held: 5 creates\. They go by themselves once another complete list, an hour later or more, says the same; now: listing-sync approve north$/,
      ),
    ])
    expect(await night([...all, home(21)], 50 * 60_000)).toMatchObject({ result: 'held', counts: { hold: 5 } })
    world.standIn.changeProfile({ maxPageSize: 5 })
    world.standIn.addFault({ operations: ['List'], page: 3, fault: { kind: 'status', status: 500 } })
    expect((await night([...all, home(21)], hour)).counts).toMatchObject({ create: 0 })
    world.standIn.clearFaults()
    expect(await night([...all, home(21)], 60_000)).toMatchObject({
      result: 'ok',
      counts: { create: 5 },
      notes: [expect.stringMatching(/^5 creates held since .* were carried out: another complete list said the same$/)],
    })
    expect(world.listings()).toHaveLength(21)
  })

  test('waits for a person where confirm is never, whatever later lists say', async () => {
    await loaded(all, { limits: { confirm: 'never' } })
    remove(all.slice(0, 5))
    for (const hours of [1, 2, 20]) {
      const report = await night(all, hours * hour)
      expect(report).toMatchObject({ result: 'held', counts: { create: 0, hold: 5 } })
      expect(notes(report)).toContain('Held: 5 creates. They wait for you; now: listing-sync approve north')
    }
    expect((await world.executed('status', '--ready')).stdout).toMatch(
      /held by chatbot since .*; they wait for you; now:/,
    )
    await world.approve()
    expect(await night(all)).toMatchObject({ result: 'ok', counts: { create: 5 } })
  })

  test('is there again in the next list: the hold is over', async () => {
    await loaded()
    const rows = all.slice(0, 5).map(({ mlsNumber }) => world.listing(mlsNumber) as unknown as StandInListing)
    remove(all.slice(0, 5))
    await night(all)
    world.standIn.seed(chatbot, rows)
    expect(await night(all)).toMatchObject({ result: 'ok', counts: { unchanged: 20 }, notes: [] })
  })

  test('stays where it was refused, however many lists say the same, until one says otherwise, and that is told', async () => {
    await loaded()
    const rows = all.slice(0, 5).map(({ mlsNumber }) => world.listing(mlsNumber) as unknown as StandInListing)
    remove(all.slice(0, 5))
    await night(all)
    expect((await world.executed('approve', 'north', '--refuse', '--yes')).stdout).toContain(
      '5 refused; they stay held until the feed, or a later list of the chatbot, says otherwise',
    )
    expect(await nights(4, all)).toMatchObject({ result: 'held', counts: { create: 0, hold: 5 } })
    world.standIn.seed(chatbot, rows)
    expect(await night(all)).toMatchObject({ result: 'ok', counts: { unchanged: 20, hold: 0 }, notes: [] })
  })

  test('goes at once when it is approved', async () => {
    await loaded()
    remove(all)
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 0, hold: 20 } })
    await world.approve()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 20 } })
  })

  test('stays approved, and by its clock, where the next delivery words its descriptions otherwise, and they are delivered anew', async () => {
    await loaded()
    const reworded = all.map((one) => ({ ...one, description: `${one.description} Call us.` }))
    remove(all.slice(0, 8))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 8 } })
    await world.approve()
    expect(await night(reworded, 10 * minute)).toMatchObject({ result: 'ok', counts: { create: 8 } })
    remove(all.slice(0, 8))
    expect(await night(reworded)).toMatchObject({ result: 'held', counts: { hold: 8 } })
    expect(await night(all, hour)).toMatchObject({ result: 'ok', counts: { create: 8 } })
  })

  test('and the feed as well is not forgotten while it is in doubt', async () => {
    await loaded()
    remove(all.slice(0, 5))
    const report = await night(all.slice(1))
    expect(report).toMatchObject({ result: 'held', counts: { forget: 0, create: 0, hold: 5 } })
  })

  test('under other keys never goes by itself', async () => {
    await loaded()
    world.configure({ north: { volatile } }, { secretKey: 'of-another-customer' })
    remove(all)
    world.standIn.seed(chatbot, [{ MLSNumber: 'STRANGER-1' }])
    for (const report of [await night(all), await nights(6, all)]) {
      expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 20 } })
      expect(notes(report)).toContain('They wait for you; now: listing-sync approve north')
    }
    // It may be somebody else's chatbot: what is new waits, too.
    expect(await night([...all, home(99)])).toMatchObject({ result: 'held', counts: { create: 0, hold: 21 } })
    expect(there()).toEqual(['STRANGER-1'])
  })

  test("under keys of the feed's own goes by itself, whatever keys another feed of the chatbot has", async () => {
    const others = homes(31, 5)
    const south = { volatile, service: { secretKey: 'of-the-south' } }
    world.configure({ north: { volatile }, south })
    world.deliver(zillowFeed(all))
    world.deliver(zillowFeed(others), 'south.xml')
    const both = async (): Promise<ReadReport> => {
      world.clock.advance(day)
      await world.run('sync', 'south')
      return world.run()
    }
    await both()
    expect(await both()).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
    remove(all.slice(0, 5))
    const report = await both()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, hold: 5 }, holds: [{ rule: 'chatbot' }] })
    expect(notes(report)).toContain('They go by themselves once another complete list')
    expect(await both()).toMatchObject({ result: 'ok', counts: { create: 5 } })
  })

  test('and has under an MLSNumber that we never wrote is one listing spelled otherwise: one is enough', async () => {
    await loaded()
    const [{ mlsNumber }] = all
    const row = world.listing(mlsNumber) as unknown as StandInListing
    remove([all[0]])
    world.standIn.seed(chatbot, [{ ...row, MLSNumber: mlsNumber.toLowerCase() }])
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 2 } })
    expect(notes(report)).toContain(
      "listings are missing from the chatbot's list, and 1 are there under MLSNumbers that this feed never wrote",
    )
    expect(world.listings()).toHaveLength(20)
  })
})

test("ownership: mirror counts others' listings from the first run on", async () => {
  const north = { ownership: 'mirror', volatile }
  world.configure({ south: { ownership: 'snapshot', source: './north.xml' } }, {}, './other.db')
  world.deliver(zillowFeed(homes(1, 12)))
  await world.run('sync', 'south')
  world.configure({ north })
  world.deliver(zillowFeed(homes(5, 12)))
  const report = await world.run()
  expect(report).toMatchObject({ result: 'held', counts: { delete: 0, hold: 4 } })
  expect(report.holds).toMatchObject([{ rule: 'leaving', numbers: { leaving: 4, ours: 12, allowed: 3 } }])
  await nights(2, homes(5, 12))
  expect(await night(homes(5, 12))).toMatchObject({ result: 'ok', counts: { delete: 4 } })
})

describe('a delivery that is not whole', () => {
  const whole = zillowFeed(all)
  const cut =
    zillowStart +
    all
      .slice(0, 15)
      .map((one) => zillowRecord(one))
      .join('')

  /** What is absent is held, which no approval changes. */
  const unproven = (report: ReadReport, count: number): void => {
    expect(report).toMatchObject({ result: 'partial', counts: { delete: 0, hold: count } })
    for (const { kind, why } of report.changes) if (kind === 'hold') expect(why).toContain('the delivery is incomplete')
  }

  test('XML without its end', async () => {
    await loaded()
    world.deliver(cut)
    unproven(await world.run(), 5)
  })

  test('XML cut within a record', async () => {
    await loaded()
    world.deliver(whole.slice(0, Math.floor(whole.length * 0.7)))
    const report = await world.run()
    expect(report.delivery.complete).toBe(false)
    expect(report.counts.hold + report.counts.unchanged + report.counts.reject).toBeGreaterThanOrEqual(20)
    expect(world.listings()).toHaveLength(20)
  })

  test('what it does hold is carried out', async () => {
    await loaded()
    world.deliver(zillowStart + [dearer(home(1)), home(30)].map((one) => zillowRecord(one)).join(''))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', counts: { create: 1, update: 1, hold: 19 } })
    expect(report.applied?.outcomes).toMatchObject({ done: 2 })
  })

  test.each(['', ' \n'])('an empty file %j', async (content) => {
    await loaded()
    world.deliver(content)
    expect(['partial', 'failed']).toContain((await world.run()).result)
    expect(world.listings()).toHaveLength(20)
  })

  test('a page in HTML in its place', async () => {
    await loaded()
    world.deliver('<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>')
    expect(await world.run()).toMatchObject({ result: 'failed', delivery: { complete: false } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('no file at all', async () => {
    world.deliver(whole)
    await world.run()
    world.configure({ north: { source: './elsewhere.xml' } })
    expect(await world.run()).toMatchObject({ result: 'failed' })
    expect(world.listings()).toHaveLength(20)
  })

  test('a CSV cut within a row, and one without its last line break', async () => {
    const file = resoFeed(all)
    world.configure({ north: { preset: 'reso-csv', source: './north.csv', delivery: 'full', volatile } })
    world.deliver(file, 'north.csv')
    await world.run()
    await world.run()
    for (const content of [file.slice(0, -30), file.slice(0, -1)]) {
      world.deliver(content, 'north.csv')
      const report = await world.run()
      expect(report).toMatchObject({ result: 'partial', delivery: { complete: false }, counts: { delete: 0 } })
    }
    expect(world.listings()).toHaveLength(20)
  })

  test('a gzip file that is cut', async () => {
    world.configure({ north: { source: './north.xml.gz', volatile } })
    world.deliver(gzipSync(whole), 'north.xml.gz')
    await world.run()
    const packed = gzipSync(cut + zillowEnd)
    for (const bytes of [packed.subarray(0, packed.length - 4), packed.subarray(0, packed.length >> 1)]) {
      world.deliver(bytes, 'north.xml.gz')
      expect(await world.run()).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
    }
    expect(world.listings()).toHaveLength(20)
  })

  test('an HTTP body shorter than its Content-Length', async () => {
    const server = await startFeedServer()
    try {
      world.configure({ north: { source: server.url, volatile } })
      server.give(whole)
      await world.run()
      await world.run()
      server.give(cut + zillowEnd, (response, content) => {
        response.writeHead(200, { 'content-length': content.length + 5000, 'content-type': 'text/xml' })
        response.write(content, () => response.destroy())
      })
      const report = await world.run()
      expect(report).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
      expect(world.listings()).toHaveLength(20)
    } finally {
      await server.close()
    }
  })

  test('a record that can not be read is not an absent one', async () => {
    await loaded()
    const broken = zillowRecord(home(1)).replace(/<Bedrooms>.*<\/Bedrooms>/, '<Bedrooms>many</Bedrooms>')
    world.deliver(
      zillowStart +
        broken +
        all
          .slice(1)
          .map((one) => zillowRecord(one))
          .join('') +
        zillowEnd,
    )
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', counts: { reject: 1, delete: 0, unchanged: 19 } })
    expect(report.rejects).toMatchObject([{ mlsNumber: home(1).mlsNumber }])
    expect(report.rejects[0].problems.join()).toContain('Bedrooms')
    expect(world.listing(home(1).mlsNumber)).toBeDefined()
  })
})
