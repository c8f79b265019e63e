/** The guard over whole runs: what it holds, what goes on meanwhile, and what lets it go. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { contentHash, shortHash } from '../../src/core/hash.ts'
import type { FieldName } from '../../src/core/listing.ts'
import { cosmetic } from '../../src/plan/guard/facts.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
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
import { chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { zip } from '../support/zip.ts'
import { startFeedServer } from './feed-server.ts'
import {
  anew,
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
  there,
  of,
  planned,
  notes,
  rules,
  priceOf,
  times,
  changed,
  heldDeletes,
  renumbered,
} from './nights.ts'

playNights()

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
      ...withdrawn.map((home) => ({ ...home, status: 'Withdrawn' })),
      ...moved.map((home) => ({ ...home, zip: '00000' })),
      ...all.slice(5),
    ]
    heldDeletes(await night(feed), 5, '5 of 20 listings would leave the site')
  })

  test('a delete that is refused counts for nothing', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(4)))
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'refuse' } })
    // Also where nobody can look whether it is there.
    const { mlsNumber } = all[0]
    world.standIn.addFault({ operations: ['List'], mlsNumber, fault: { kind: 'status', status: 500 } })
    expect(await world.run()).toMatchObject({ result: 'partial', error: null, applied: { outcomes: { failed: 4 } } })
    world.standIn.clearFaults()
    expect(await night(all.slice(0, -4), hour)).toMatchObject({ result: 'ok', counts: { delete: 4, hold: 0 } })
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
    await anew()
    await loaded()
    expect(await night(feed)).toMatchObject({ result: 'held' })
  })

  test.each<[string, FaultRuleInput['fault']]>([
    ['failed', { kind: 'credentials', code: 403 }],
    ['partial', { kind: 'status', status: 503 }],
  ])('is as much when it is tried again an hour after the service failed (%s)', async (result, fault) => {
    await loaded()
    world.clock.advance(6 * day)
    const next = [...all.slice(8, 19), dearer(all[19])]
    world.standIn.addFault({ operations: ['Delete'], fault })
    expect(await night(next)).toMatchObject({ result, holds: [] })
    world.standIn.clearFaults()
    expect(await night(next, hour)).toMatchObject({ result: 'ok', counts: { delete: 8 }, holds: [] })
    expect(await night(all.slice(12, 19), 25 * hour)).toMatchObject({ result: 'held' })
  })

  test('is no more because a listing fails each night', async () => {
    await loaded()
    const { mlsNumber } = all[19]
    world.standIn.addFault({ operations: ['Update'], mlsNumber, fault: { kind: 'status', status: 503 } })
    for (let n = 0; n < 4; n++)
      expect(await night([...all.slice(0, 19), dearer(all[19])])).toMatchObject({ result: 'partial' })
    expect(await night(all.slice(8))).toMatchObject({ holds: [{ rule: 'leaving' }] })
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

  test('by a backfill is asked like by a sync also where it has to know what is absent, which the backfill leaves', async () => {
    await loaded()
    const feed = [...changed(8, times(2), all.slice(0, 14)), ...homes(101, 120)]
    const asking = await nights(3, feed)
    expect(notes(asking)).toContain('after this delivery 6 of 34 listings would stay as they are')
    world.clock.advance(day)
    for (const command of ['backfill', 'sync'] as const) {
      const report = await world.run(command)
      expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 34 } })
      expect(report.notes).toContain(asking.notes[0])
    }
  })

  test('from an older delivery waits in a backfill, too', async () => {
    await loaded()
    const now = [...all.slice(4), ...homes(21, 24)]
    expect(await night(now)).toMatchObject({ result: 'ok', counts: { create: 4, delete: 4 } })
    world.clock.advance(day)
    world.deliver(zillowFeed(all))
    const report = await world.run('backfill')
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, hold: 8 } })
    expect(notes(report)).toContain('this delivery is older than the last: it brings back 4 listings that had gone')
    expect(there()).toEqual(keys(now))
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

test('a home of which a store of before notes no address is never there under both numbers', async () => {
  await loaded(all, { limits: { grace: { runs: 3 } } })
  const store = new Database(join(world.folder, 'store.db'))
  store.exec("UPDATE listing SET home = NULL, mapping = 'before'")
  store.close()
  // Or the store would be taken for a copy.
  rmSync(join(world.folder, 'store.db.serial'))
  expect(await night(changed(2, renumbered))).toMatchObject({ result: 'ok', counts: { create: 2, delete: 2 } })
})

describe('facts', () => {
  const garbled = (text: string): string => text.replaceAll('e', 'Ã©')
  const other = (city: string): string => (city === 'Dike' ? 'Waverly' : 'Dike')
  const sales = homes(1, 60)
    .filter((home) => !home.rental && home.propertyType !== 'Condo')
    .slice(0, 20)
  const reworded = (home: Home): Home => ({ ...home, description: `${home.description} Call us.` })
  const relisted = (home: Home): Home => ({ ...home, price: home.price + 100 })

  test.each<[string, string[], (home: Home) => Home, (home: Home) => Home]>([
    ['price', ['SalePrice'], times(100), reworded],
    ['price', ['SalePrice'], times(0.6), reworded],
    ['class', ['PropertyType'], (home) => ({ ...home, propertyType: 'Condo' }), relisted],
    ['status', ['Status'], (home) => ({ ...home, status: 'Sold' }), relisted],
    ['place', ['City'], (home) => ({ ...home, city: other(home.city) }), relisted],
    ['place', ['Latitude'], (home) => ({ ...home, latitude: home.latitude + 0.1 }), relisted],
    ['place', ['City'], (home) => ({ ...home, city: '' }), relisted],
    ['size', ['BuildingArea'], (home) => ({ ...home, livingArea: home.livingArea * 10 }), relisted],
    ['size', ['Bedrooms'], (home) => ({ ...home, bedrooms: home.bedrooms + 2 }), relisted],
    ['size', ['YearBuilt'], (home) => ({ ...home, yearBuilt: home.yearBuilt - 10 }), relisted],
    ['emptied', ['Images'], (home) => ({ ...home, photos: 0 }), relisted],
    ['emptied', ['Description'], (home) => ({ ...home, description: '' }), relisted],
    ['garbled', ['Description'], (home) => ({ ...home, description: garbled(home.description) }), relisted],
  ])(
    '%s (%s): more than may change keep what they were, and what else is said of them goes on',
    async (kind, fields, break_, edit) => {
      await loaded(sales)
      const before = sales.map(({ mlsNumber }) => world.listing(mlsNumber)!)
      const report = await night(changed(5, (home) => edit(break_(home)), sales))
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
      expect(await night(changed(5, (home) => edit(break_(home)), sales))).toMatchObject({
        counts: { update: 0, hold: 5 },
      })
      await night(changed(5, (home) => edit(break_(home)), sales))
      expect(await night(changed(5, (home) => edit(break_(home)), sales))).toMatchObject({
        result: 'ok',
        counts: { update: 5, hold: 0 },
      })
      for (const field of fields) expect(world.listing(sales[0].mlsNumber)![field]).not.toEqual(before[0][field])
      await anew()
      await loaded(sales)
      expect(await night(changed(4, break_, sales))).toMatchObject({ result: 'ok', counts: { update: 4, hold: 0 } })
    },
  )

  test.each(['--refuse', '--yes'])(
    'what a version before held of a fact goes on, with what was decided of it: %s',
    async (decision) => {
      await loaded(sales)
      const feed = changed(5, times(100), sales)
      expect(await night(feed)).toMatchObject({ result: 'held', counts: { hold: 5 } })
      await world.executed('approve', 'north', decision, '--yes')
      // As versions before 27 November 2026 noted it.
      const noted = (home: Home): string => shortHash(JSON.stringify([home.price, null]))
      const store = new Database(join(world.folder, 'store.db'))
      const note = store.prepare("UPDATE hold SET content = ? WHERE key = ? AND part = 'update price'")
      for (const home of feed.slice(0, 5)) expect(note.run(noted(home), home.mlsNumber).changes).toBe(1)
      store.close()
      // Or the store would be taken for a copy.
      rmSync(join(world.folder, 'store.db.serial'))
      const is =
        decision === '--yes' ? { result: 'ok', counts: { update: 5 } } : { result: 'held', counts: { hold: 5 } }
      expect(await night(feed)).toMatchObject(is)
      if (decision === '--yes') return
      // A refusal has no clock, and the feed's next word is another change.
      expect(await night(feed, 4 * day)).toMatchObject(is)
      expect(await night(changed(4, times(100), sales))).toMatchObject({ counts: { hold: 4, update: 0 } })
      const other = await night(changed(4, times(200), sales))
      expect(other).toMatchObject({ counts: { hold: 0, update: 4 } })
    },
  )

  test.each([
    { trips: 'trips', first: day },
    { trips: 'trips only later', first: 3 * day },
  ])('what a version before the five rules held as an update keeps its time, if a rule $trips', async ({ first }) => {
    await loaded(sales)
    const since = world.clock.now() + first - day
    const feed = changed(5, times(100), sales)
    const store = new Database(join(world.folder, 'store.db'))
    // As the migration notes it: nobody knows of which fact it is.
    const note = store.prepare(
      `INSERT INTO hold (feed, key, part, why, rules, since, clock) VALUES ('north', ?, 'update', 'too many', '["facts"]', ?, ?)`,
    )
    for (const { mlsNumber } of feed.slice(0, 5)) note.run(mlsNumber, since, since)
    store.close()
    // Or the store would be taken for a copy.
    rmSync(join(world.folder, 'store.db.serial'))
    const upgraded = await night(feed, first)
    expect(upgraded).toMatchObject({ result: 'held', counts: { hold: 5 } })
    expect(new Set(notes(upgraded).match(/go by themselves on [^;]+? if/g)).size).toBe(1)
    const over = await night(feed, 2 * day)
    expect(over.result).toBe('ok')
    expect(planned(over)).toEqual({ update: 5 })
    expect(notes(over)).toContain('5 updates held since')
  })

  test('what a version before held of a whole change goes on, and goes when its time has come', async () => {
    await loaded()
    const feed = changed(6, (home) => ({ ...renumbered(home), photos: 0 }))
    expect(await night(feed)).toMatchObject({ result: 'held', counts: { hold: 12 } })
    // As versions before 30 November 2026 noted it.
    const opened = openStore(join(world.folder, 'store.db'))
    const sent = await opened.snapshot.confirmed(chatbot, 'north', keys(all))
    await opened.close()
    const store = new Database(join(world.folder, 'store.db'))
    const note = store.prepare("UPDATE hold SET content = ? WHERE key = ? AND part = 'create'")
    for (const { mlsNumber } of all.slice(0, 6)) {
      const wanted = { ...sent.get(mlsNumber)!.listing, MLSNumber: `NEW-${mlsNumber}` }
      const content = contentHash(wanted, new Set<FieldName>(['DaysOnMarket', ...cosmetic]))
      expect(note.run(content, wanted.MLSNumber).changes).toBe(1)
    }
    store.close()
    // Or the store would be taken for a copy.
    rmSync(join(world.folder, 'store.db.serial'))
    expect(await nights(3, feed)).toMatchObject({ result: 'ok', counts: { create: 6, delete: 6 } })
  })

  test('the sentence says which, with an example', async () => {
    await loaded(sales)
    const [{ mlsNumber, price }] = sales
    const [from, to] = [price, price * 100].map((number) => number.toLocaleString('en-US'))
    expect(notes(await night(changed(5, times(100), sales)))).toContain(
      `the price of 5 of 20 listings would change by more than 1.5 times (${from} → ${to} in ${mlsNumber}, …); up to 4 may in 24 hours (limits.share). Held: 5 updates of prices.`,
    )
    const built = sales[0].yearBuilt
    const rebuilt = await night(changed(5, (home) => ({ ...home, yearBuilt: home.yearBuilt - 10 }), sales))
    expect(notes(rebuilt)).toContain(`10 years (${built} → ${built - 10} in ${mlsNumber}, …)`)
    // Not the bedrooms, which come first and are believable.
    const larger = changed(
      5,
      (home) => ({ ...home, bedrooms: home.bedrooms + 1, yearBuilt: home.yearBuilt - 20 }),
      sales,
    )
    expect(notes(await night(larger))).toContain(`(${built} → ${built - 20} in ${mlsNumber}, …)`)
  })

  test('the example is never one that breaks nothing, where another change of the same kind does', async () => {
    await loaded(sales, { volatile: { fields: ['DaysOnMarket', 'Images'], refresh: '365d' } })
    const [{ mlsNumber, latitude }] = sales
    const moved = (home: Home): Home => ({
      ...home,
      street: `${home.street}.`,
      latitude: 44,
      longitude: home.longitude + 1e-4,
    })
    expect(notes(await night(changed(5, moved, sales)))).toContain(`(${latitude.toFixed(3)} → 44 in ${mlsNumber}, …)`)
    const bare = (home: Home): Home => ({ ...home, photos: 0, description: `${home.description} Ask us.` })
    expect(notes(await night(changed(5, bare, sales)))).toContain(`would disappear (${mlsNumber}, …)`)
  })

  test('a kind that is held is held in all of the delivery, also where it is believable', async () => {
    await loaded(sales)
    const feed = [...changed(5, times(100), sales).slice(0, 18), dearer(sales[18]), reworded(sales[19])]
    const report = await night(feed)
    expect(report).toMatchObject({ counts: { update: 1, hold: 6 } })
    expect(of(report, 'update')).toEqual(keys([sales[19]]))
  })

  test('of listings whose deletes were held are said to be held since their own start', async () => {
    await loaded()
    heldDeletes(await night(sixGone), 6, 'limits.share')
    const sold = all.map((home, index) => (index < 6 ? { ...home, status: 'Sold' } : home))
    const hoursHeld = (report: ReadReport): Set<number | null> =>
      new Set(
        report.changes
          .filter(({ kind }) => kind === 'hold')
          .map(({ heldSince }) => heldSince && Math.round((world.clock.now() - heldSince) / hour)),
      )
    expect(hoursHeld(await night(sold))).toEqual(new Set([null]))
    expect(hoursHeld(await night(sold))).toEqual(new Set([24]))
    expect(hoursHeld(await night(sixGone))).toEqual(new Set([null]))
    expect(hoursHeld(await night(sixGone))).toEqual(new Set([24]))
  })

  test('that a person refused are told as refused also while a rule holds something else of their listings', async () => {
    await loaded()
    await night(changed(8, times(2)))
    await world.executed('approve', 'north', '--refuse', '--yes')
    const two = ['Still held, as refused: 2 updates; now: listing-sync approve north']
    expect((await night(changed(2, times(2)))).notes).toEqual(two)
    const bare = changed(12, (home) => ({ ...home, photos: 0 }))
    const report = await night(changed(2, times(2), bare))
    expect(report.notes).toEqual([expect.stringContaining('Held: 12 updates of photos or descriptions.'), ...two])
    const { holds } = JSON.parse((await world.executed('status', '--format', 'json')).stdout) as {
      holds: { decision: string | null; sentence: string }[]
    }
    // What the rule found of the photos is not said of the prices.
    expect(holds).toMatchObject([
      { decision: null, sentence: expect.stringMatching(/^The photos or description of 12 of 20 .* 12 changes held/) },
      { decision: 'refused', sentence: expect.stringMatching(/^2 changes held by facts since .* they were refused/) },
    ])
    expect((await night(changed(2, times(2), bare.with(2, all[2])))).notes).toEqual([
      expect.stringContaining('Held: 11 updates of photos or descriptions.'),
      ...two,
    ])
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
    const forRent = (rent: number) => changed(5, (home) => ({ ...home, rental: true, status: 'For Rent', price: rent }))
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
    const unreadable = five.map((home, at) => (at === 4 ? { ...home, yearBuilt: NaN } : home))
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

  test('a price that goes on is not shown as one that is held', async () => {
    await loaded()
    const larger = changed(6, (home) => ({ ...home, bedrooms: home.bedrooms + 3, price: home.price + 1000 }))
    expect(await night(larger)).toMatchObject({ result: 'held', counts: { update: 6 }, holds: [{ rule: 'facts' }] })
    expect(priceOf(all[0])).toBe(all[0].price + 1000)
    expect((await world.executed('approve', 'north')).stdout).toContain(
      `update size ${all[0].mlsNumber}: 1325 Olive Avenue #7, Cedar Falls, for sale, $329,000; since `,
    )
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

    test('are not told as more than there are where people take off all of them', async () => {
      for (const number of there()) world.standIn.remove(chatbot, number)
      expect(notes(await night(six, hour))).toMatch(/the price of 6 of 6 listings would .*; up to 0 may/)
    })

    test('stay so where the service shows it in its own form, and it is sent once more', async () => {
      world.standIn.remove(chatbot, all[0].mlsNumber)
      world.standIn.changeProfile({ cut: { Description: 9 } })
      world.configure({ north: { volatile, drift: 'keep' } })
      world.calls()
      expect(await night(six)).toMatchObject({ result: 'held', counts: { create: 1, update: 0 } })
      expect(world.calls()).toMatchObject({ Create: 1, Update: 2 })
      expect(priceOf(all[0])).toBe(all[0].price)
    })

    test('stay so where a person refused them, whatever else the feed says of it, and are told', async () => {
      await world.executed('approve', 'north', '--refuse', '--yes')
      world.standIn.remove(chatbot, all[0].mlsNumber)
      const two = changed(2, times(10)).map((home, at) =>
        at === 0 ? { ...home, description: 'Told otherwise.' } : home,
      )
      expect(await night(two)).toMatchObject({ result: 'held', counts: { create: 1, update: 0, hold: 1 } })
      expect(world.listing(all[0].mlsNumber)).toMatchObject({ Description: 'Told otherwise.', SalePrice: all[0].price })
      expect(await nights(4, two)).toMatchObject({ result: 'held', counts: { create: 0, update: 0, hold: 2 } })
    })

    test('are told with their values, as those of an update that goes on without them', async () => {
      world.standIn.remove(chatbot, all[0].mlsNumber)
      world.deliver(zillowFeed(six.map((home, at) => (at === 1 ? { ...home, yearBuilt: home.yearBuilt + 1 } : home))))
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
    const feed = sales.map((home, index) => {
      if (index < 4) return times(2)(home)
      if (index < 8) return { ...home, status: 'Sold' }
      return index < 12 ? { ...home, bedrooms: home.bedrooms + 2 } : home
    })
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { update: 12 } })
  })

  test.each<[string, (home: Home) => Home]>([
    ['reworded descriptions', reworded],
    ['other photos', (home) => ({ ...home, photos: home.photos + 1 })],
    ['prices by a tenth', (home) => ({ ...home, price: Math.round(home.price * 1.1) })],
    ['areas that are rounded', (home) => ({ ...home, livingArea: Math.round(home.livingArea * 1.01) + 5 })],
    ['positions by a few streets', (home) => ({ ...home, latitude: home.latitude + 0.01 })],
  ])('%s of all listings are no accident', async (_, change) => {
    await loaded(sales)
    expect(await night(sales.map(change))).toMatchObject({ result: 'ok', counts: { update: 20 }, holds: [] })
  })

  test('facts that were missing may come for all', async () => {
    const bare = sales.map((home) => ({ ...home, description: '', photos: 0 }))
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
    const feed = sales.map((home, index) => (index < 5 ? { ...home, bedrooms: home.bedrooms + 2 } : home))
    const report = await night(
      feed.map((home) => ({ ...home, yearBuilt: home.yearBuilt - 20 })),
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
    expect(notes(harmless)).toContain(
      'the mapping changed: 20 updates, as many calls, less than a minute at 1000 a second',
    )
    world.configure({ north: { volatile, extension, fields: { YearBuilt: { value: 1700 } } } })
    const report = await night(all)
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 20 } })
    expect(notes(report)).toContain(
      'The mapping changed since the last run: the size, rooms or year of 20 of 20 listings',
    )
    // None of that goes; and once it is let go, the mapping has not changed since the last run.
    expect(notes(report)).not.toContain('the mapping changed')
    await world.executed('approve', 'north', '--yes')
    const approved = await world.run()
    expect(approved).toMatchObject({ result: 'ok', counts: { update: 20 } })
    expect(notes(approved)).not.toContain('the mapping changed')
  })

  test('what was held before is not said to be due to a new mapping', async () => {
    await loaded()
    const leaves = await night(all.slice(8))
    expect(leaves).toMatchObject({ result: 'held', counts: { hold: 8 } })
    world.configure({ north: { volatile, extension: { Zone: { value: 'A' } } } })
    const report = await night(all.slice(8))
    expect(report).toMatchObject({ result: 'held', counts: { hold: 8, update: 12 } })
    expect(notes(report)).toContain('8 of 20 listings would leave the site')
    expect(notes(report)).not.toContain('The mapping changed since the last run')
    expect((await world.executed('status', 'north', '--ready')).stdout).toMatch(/^north: 8 of 20 listings would leave/m)
  })

  test('what was in its grace before is not said to be due to a new mapping', async () => {
    const limits = { grace: { hours: 24 } }
    await loaded(all, { volatile, limits })
    expect(await night(all.slice(8))).toMatchObject({ counts: { hold: 8 } })
    world.configure({ north: { volatile, limits, extension: { Zone: { value: 'A' } } } })
    const report = await night(all.slice(8))
    expect(report).toMatchObject({ result: 'held', counts: { hold: 8, update: 12 } })
    expect(notes(report)).toContain('8 of 20 listings would leave the site')
    expect(notes(report)).not.toContain('The mapping changed since the last run')
  })

  test('what the chatbot lacks is not said to be due to a new mapping', async () => {
    await loaded()
    for (const { mlsNumber } of all.slice(0, 8)) world.standIn.remove(chatbot, mlsNumber)
    world.configure({ north: { volatile, extension: { Zone: { value: 'A' } } } })
    const report = await night(all)
    expect(report).toMatchObject({ result: 'held', counts: { hold: 8, update: 12 }, holds: [{ rule: 'chatbot' }] })
    expect(report.notes).toContainEqual(expect.stringMatching(/^8 of 20 listings are missing from the chatbot's list/))
  })

  test('of a new mapping are said to take as long as they do', async () => {
    await loaded()
    world.configure({ north: { volatile, extension: { Zone: { value: 'A' } } } }, { rate: 0.3 })
    expect(notes(await world.run('diff'))).toContain(
      'the mapping changed: 20 updates, as many calls, about 1 minute at 0.3 a second',
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

  test('counts each home once: one that changed and then leaves, and one that left and is back', async () => {
    const [a, b, c, ...rest] = homes(1, 6)
    await loaded([a, b, c, ...rest])
    const three = [times(2)(a), { ...b, bedrooms: b.bedrooms + 3 }, { ...c, city: 'Shelbyville' }]
    expect(await night([...three, ...rest])).toMatchObject({ result: 'ok', counts: { update: 3 } })
    expect(await night(rest, hour)).toMatchObject({ result: 'ok', counts: { delete: 3 } })
    const [d, ...others] = rest
    const back = [...three, { ...d, propertyType: 'Land' }, ...others]
    expect(await night(back, hour)).toMatchObject({ result: 'ok', counts: { create: 3, update: 1 } })
  })

  test('counts homes that changed also while they come under other MLSNumbers', async () => {
    const [a, b, c, d, e, f] = homes(1, 6)
    await loaded([a, b, c, d, e, f])
    const three = [times(2)(a), { ...b, bedrooms: b.bedrooms + 3 }, { ...c, city: 'Shelbyville' }]
    await night([...three, d, e, f])
    const moved = three.map((home) => ({ ...home, mlsNumber: `X-${home.mlsNumber}` }))
    const report = await night([...moved, { ...d, propertyType: 'Land' }, { ...e, photos: 0 }, f], hour)
    expect(notes(report)).toContain('after this delivery 1 of 6 listings would stay as they are')
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

  test('goes once it is approved, also where the homes that it lacks were held under other MLSNumbers before', async () => {
    await loaded()
    expect(await night(all.map(renumbered))).toMatchObject({ result: 'held', counts: { hold: 40 } })
    const few = all.slice(17)
    const report = await night(few)
    expect(rules(report)).toEqual(['unrecognisable', 'leaving'])
    expect(report).toMatchObject({ counts: { delete: 0, hold: 17 } })
    await world.approve()
    expect(await night(few)).toMatchObject({ result: 'ok', counts: { delete: 17, hold: 0 } })
    expect(there()).toEqual(keys(few))
  })

  test('drowned in new ones', async () => {
    await loaded(homes(1, 8))
    const report = await night([...homes(1, 8), ...homes(101, 125)])
    expect(rules(report)).toEqual(['unrecognisable', 'arriving'])
    expect(report).toMatchObject({ counts: { create: 0, hold: 25 } })
  })

  test.each(['prices', 'mapping'])('by new ones whose %s changed since is approved as it is now', async (what) => {
    const [known, news] = [homes(1, 8), homes(101, 125)]
    await loaded(known)
    await night([...known, ...news])
    if (what === 'mapping') world.configure({ north: { volatile, fields: { YearBuilt: { value: 1990 } } } })
    const feed = [...known, ...(what === 'prices' ? changed(25, dearer, news) : news)]
    expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 0 } })
    await world.approve()
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 25, hold: 0 } })
  })

  test('is asked about also after a pause, in which twice as many may be new', async () => {
    await loaded()
    const feed = [...changed(8, times(2), all.slice(0, 14)), ...homes(101, 120)]
    const asking = await night(feed)
    const report = await night(feed, 3 * day)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 34 } })
    expect(report.notes[0]).toBe(asking.notes[0])
    expect(await night(all, 3 * day)).toMatchObject({ result: 'ok', notes: [] })
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

  test('is not approved once photos are gone as well: what was shown goes, and they stay', async () => {
    await loaded()
    await night(changed(17, times(2)))
    await world.executed('approve', 'north', '--yes')
    const dear = changed(17, times(2))
    const report = await night(changed(12, (home) => ({ ...home, photos: 0 }), dear))
    expect(report).toMatchObject({ result: 'held', held: { whole: 0, inPart: 12 }, counts: { update: 17 } })
    expect(priceOf(all[0])).toBe(all[0].price * 2)
    expect(world.listings().every(({ Images }) => (Images as unknown[]).length > 0)).toBe(true)
  })

  test('leaves what was held before held, and tells it beside what it holds itself', async () => {
    await loaded()
    await night([...all, ...homes(31, 46)])
    const report = await night(all.slice(16))
    expect(report).toMatchObject({ result: 'held', held: { whole: 32, inPart: 0, goes: true }, counts: { hold: 16 } })
    expect(notes(report)).toContain("16 held by earlier runs stay held, as this run can't tell whether they are over")
    expect((await world.executed('approve', 'north', '--yes')).stdout).toContain('north: 32 held')
  })

  test('and of facts too, however long it asked; till then each run says which, and no clock is told', async () => {
    await loaded()
    const feed = changed(16, times(0.5))
    for (let i = 0; i < 8; i++) {
      const report = await night(feed)
      expect(notes(report)).not.toContain('They go by themselves')
      expect(rules(report)).toEqual(['unrecognisable', 'facts'])
      expect(notes(report)).toContain('Held: 16 updates of prices. They wait for you; now: listing-sync approve north')
      expect(notes(report)).toContain('the price of 16 of 20 listings would change by more than 1.5 times (')
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

test.each<[string, () => Promise<ReadReport>]>([
  ['fewer are left than may change', () => night(changed(4, times(3)))],
  ['a pause lets more of them change', () => night(changed(5, times(3)), 4 * day)],
  ['nearly all of it was put right', () => night(changed(1, times(3)))],
])('with `confirm: never` what is held waits for a person, also where %s', async (_, next) => {
  await loaded(all, { limits: { confirm: 'never' } })
  await night(changed(5, times(3)))
  const report = await next()
  expect(report).toMatchObject({ result: 'held', holds: [{ rule: 'facts' }] })
  expect(Object.keys(planned(report))).toEqual(['hold'])
  expect(notes(report)).toMatch(
    /^what the rule facts held before goes on waiting, though it no longer asks about that\. Held: \d updates? of prices\. (They wait|It waits) for you; now: /,
  )
  expect((await world.executed('diff')).stdout).toMatch(/^north .*: nothing to change now; \d held, waiting for you: /)
  await world.approve()
  expect(await night(changed(4, times(3)))).toMatchObject({ result: 'ok', holds: [] })
  expect(priceOf(all[0])).toBe(all[0].price * 3)
})

test('where a person refused the new listings of renumbered homes, the deletes of the old ones wait for a person, too', async () => {
  await loaded()
  const [old, rest] = [all.slice(0, 16), all.slice(16)]
  await night([...all, ...old.map(renumbered)])
  await world.executed('approve', 'north', '--refuse', '--yes')
  const moved = [...rest, ...old.map(renumbered)]
  expect(notes(await night(moved))).toBe(
    '16 of 20 homes came under other MLSNumbers. Held: 16 creates and 16 deletes. They wait for you, but for 16 that were refused; now: listing-sync approve north',
  )
  expect(await nights(4, moved)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 32 } })
  const { holds } = JSON.parse((await world.executed('status', '--format', 'json')).stdout) as { holds: object[] }
  expect(holds).toMatchObject([
    { changes: 16, decision: null, goesAt: null, asks: true },
    { changes: 16, decision: 'refused', goesAt: null, asks: true },
  ])
  await world.executed('approve', 'north', '--yes')
  expect(await night(moved)).toMatchObject({ result: 'ok', counts: { create: 16, delete: 16 } })
})

test('with `confirm: never` renumbered homes wait for a person, too, and the site keeps their old numbers', async () => {
  await loaded(all, { limits: { confirm: 'never' } })
  expect(await night(changed(5, renumbered))).toMatchObject({ result: 'held', counts: { hold: 10 } })
  const fewer = changed(4, renumbered)
  expect(await night(fewer)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 8 } })
  expect(there()).toEqual(keys(all))
  await world.approve()
  expect(await night(fewer)).toMatchObject({ result: 'ok', counts: { create: 4, delete: 4 } })
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

  test('in no format, packed or not, and no error either', async () => {
    const packed = [gzipSync(''), zip([{ name: 'north.blm', content: '' }])]
    for (const preset of ['zillow', 'reso-csv', 'reso-json', 'idx', 'rets-compact', 'blm', './lines.yaml'])
      for (const content of ['', ...packed]) {
        world.configure({ north: { preset, volatile } })
        world.deliver('extends: reso-csv\nname: lines\ntitle: Lines\nformat: ndjson\n', 'lines.yaml')
        world.deliver(content)
        const { result, delivery } = await world.run()
        expect({ preset, result, ...delivery }).toMatchObject({
          preset,
          result: 'partial',
          complete: false,
          reasons: ['the document is empty'],
        })
      }
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

test('deletes that a person approved count for nothing in a backfill, which leaves them to the next sync', async () => {
  await loaded()
  const rest = [...all.slice(16), home(21)]
  await night(rest)
  await world.approve()
  world.deliver(zillowFeed([...rest, home(22)]))
  expect(await world.run('backfill')).toMatchObject({ counts: { create: 2, delete: 0 } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 16 } })
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
    const reminders = waiting.length === 0 ? 0 : 1
    expect(
      notes(report).match(/as a record without MLSNumber may be .* now: listing-sync approve north/g) ?? [],
    ).toHaveLength(reminders)
    const { stdout } = await world.executed('status')
    expect(
      stdout.match(/held by a record without MLSNumber since .* for you; now: listing-sync approve north/g) ?? [],
    ).toHaveLength(reminders)
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

  test.each([
    ['in its grace', { grace: { runs: 3 } }, 1],
    ['held for leaving', {}, 6],
  ])('that has the address of what was absent before, and is %s, keeps it', async (_, limits, count) => {
    await loaded(all, { limits })
    world.deliver(zillowFeed(all.slice(count)))
    expect((await night(all.slice(count))).counts).toMatchObject({ delete: 0, hold: count })
    const back = all.slice(0, count).map((home) => zillowRecord(home).replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>'))
    const feed = withRecord(back.join(''), all.slice(count))
    const report = await nights(6, feed)
    expect(report).toMatchObject({ result: 'partial', counts: { delete: 0, hold: count } })
    const status = (await world.executed('status')).stdout
    expect(status).toMatch(/held by a record without MLSNumber since .*; (it waits|they wait) for you/)
    expect(await night(withRecord(elsewhere, all.slice(count)))).toMatchObject({ counts: { delete: count, hold: 0 } })
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

  test.each([
    ['a delivery that was cut', {}, zillowFeed(all).replace(zillowEnd, '')],
    ['a delta', { delivery: 'delta' }, all.slice(0, 1)],
  ])('that had its number in between, in %s, keeps what it is', async (_, settings, between) => {
    await loaded()
    await night(withRecord(homeless, all.slice(1)))
    world.configure({ north: { volatile, ...settings } })
    expect((await night(between)).counts.delete).toBe(0)
    world.configure({ north: { volatile } })
    const report = await night(withRecord(homeless, all.slice(1)))
    expect({ hold: of(report, 'hold'), delete: of(report, 'delete') }).toEqual({ hold: keys([home(1)]), delete: [] })
    // It is noted again: what goes later can't be it.
    expect(of(await night(withRecord(homeless, all.slice(2))), 'delete')).toEqual(keys([home(2)]))
  })

  test('that stays from one whole delivery to the next keeps no deletes, whatever deltas between them bring', async () => {
    await loaded()
    await night(withRecord(homeless, all))
    world.configure({ north: { volatile, delivery: 'delta' } })
    expect(await night([home(41)])).toMatchObject({ counts: { create: 1 } })
    world.configure({ north: { volatile } })
    expect(of(await night(withRecord(homeless, [...all.slice(1), home(41)])), 'delete')).toEqual(keys([home(1)]))
  })

  test('whose delete was refused stays so once the record is gone, and is told as what it is then', async () => {
    await loaded()
    await night(withRecord(nameless, all.slice(1)))
    await world.executed('approve', 'north', '--refuse', '--yes')
    const report = await night(all.slice(1))
    expect(report).toMatchObject({ result: 'held', counts: { hold: 1 } })
    expect(notes(report)).toContain('Still held, as refused: 1 delete')
    const sentence = /1 change held by leaving since .*; it was refused, so that only the feed or an approval ends it/
    expect((await world.executed('status', '--ready')).stdout).toMatch(sentence)
    expect((await world.executed('status')).stdout).toMatch(sentence)
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

test('what goes while the guard is off counts for nothing once it is on again', async () => {
  await loaded()
  world.configure({ north: { volatile, limits: 'off' } })
  const tenfold = all.slice(12).map((home) => ({ ...home, price: home.price * 10 }))
  expect(await night(tenfold)).toMatchObject({ result: 'ok', counts: { update: 8, delete: 12 } })
  world.configure({ north: { volatile } })
  const next = [...tenfold.slice(2).map(dearer), home(21)]
  expect(await night(next, hour)).toMatchObject({ result: 'ok', counts: { create: 1, update: 6, delete: 2, hold: 0 } })
  world.calls()
  // What goes from now on counts as ever.
  heldDeletes(await night(next.slice(2), hour), 2, '4 of 9 listings would leave the site')
})

test('a preset whose files are deltas, in place of one whose files are whole, is said to leave what its file lacks', async () => {
  await loaded()
  world.deliver(resoFeed(all.slice(5)), 'north.csv')
  world.configure({ north: { volatile, source: './north.csv', preset: 'reso-csv' } })
  const left =
    'the mapping changed, and at least 5 of 20 listings are not in this delivery: as it is a delta, they are not gone and stay on the site; if it is the whole inventory, say delivery: full'
  expect((await night(all)).notes).toContainEqual(left)
  expect(there()).toEqual(keys(all))
  expect(notes(await night(all))).not.toContain('the mapping changed')
})

test('the same is said where all homes have other numbers in it and are held as new', async () => {
  await loaded()
  world.deliver(resoFeed(all.map((home) => ({ ...home, mlsNumber: `${home.mlsNumber}-NEW` }))), 'north.csv')
  world.configure({ north: { volatile, source: './north.csv', preset: 'reso-csv' } })
  for (const because of ['the mapping changed, and ', '', '']) {
    const report = await night(all)
    expect(report).toMatchObject({ result: 'held', counts: { hold: 20 } })
    expect(report.notes).toContainEqual(
      expect.stringMatching(`^${because}at least 20 of 20 listings are not in this delivery.*say delivery: full$`),
    )
  }
})

test('a first load is over though the service refuses some of it every night, as a full chatbot does', async () => {
  const sixty = homes(1, 60)
  for (const mlsNumber of keys(sixty.slice(36)))
    world.standIn.addFault({ operations: ['Create'], mlsNumber, fault: { kind: 'refuse' } })
  expect(await night(sixty)).toMatchObject({ result: 'partial', applied: { outcomes: { done: 36, failed: 24 } } })
  const report = await night(sixty.slice(10))
  expect(report).toMatchObject({ counts: { create: 24, delete: 0, hold: 10 } })
  expect(notes(report)).toContain('10 of 36 listings would leave the site; up to 7 may in 24 hours')
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

test('a feed that is pointed at the chatbot of another one makes a first load there', async () => {
  world.configure({ north: { volatile }, south: { volatile } })
  world.deliver(zillowFeed([home(99)]), 'south.xml')
  await world.run('sync', 'south')
  world.configure({ north: { volatile, chatbot: 'SN-2' }, south: { volatile } })
  await night(all)
  world.configure({ north: { volatile }, south: { volatile } })
  expect(await night(all)).toMatchObject({ result: 'ok', counts: { create: 20 } })
})

test('what was held in another chatbot is over at once, also where the delivery is cut', async () => {
  await loaded()
  heldDeletes(await night(sixGone), 6, 'They go by themselves')
  world.configure({ north: { volatile, chatbot: 'SN-2' } })
  world.deliver(zillowFeed(sixGone).slice(0, -40))
  expect(notes(await world.run())).not.toContain('held')
  expect((await world.executed('status')).stdout).not.toContain('held')
})

test('what a person refused is forgotten where the feed filled another chatbot meanwhile, and is held anew', async () => {
  await loaded()
  await night(sixGone)
  await world.executed('approve', 'north', '--refuse', '--yes')
  expect(notes(await night(sixGone))).toContain('They were refused')
  world.configure({ north: { volatile, chatbot: 'SN-2' } })
  await night(sixGone)
  world.configure({ north: { volatile } })
  heldDeletes(await night(sixGone), 6, 'They go by themselves on Sat 28 Nov 12:00')
})

test('what a person refused stays so where the list of the chatbot lacks the listings for a night', async () => {
  await loaded()
  await night(sixGone)
  await world.executed('approve', 'north', '--refuse', '--yes')
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'hide' } })
  const short = await night(sixGone)
  expect(notes(short)).toContain('20 of 20 listings are missing')
  expect(notes(short)).toContain('6 held by earlier runs stay held')
  heldDeletes(await night(sixGone), 6, 'They were refused')
})

test('a refused delete is over once the listing is gone from the chatbot, too', async () => {
  await loaded()
  await night(sixGone)
  await world.executed('approve', 'north', '--refuse', '--yes')
  const gone = all.filter((home) => !sixGone.includes(home)).map((home) => home.mlsNumber)
  for (const key of gone.slice(0, 2)) world.standIn.remove(chatbot, key)
  await night(sixGone)
  heldDeletes(await night(sixGone), 4, 'They were refused')
  expect((await world.executed('status')).stdout).toContain('4 held')
})

describe('a delivery that is not whole', () => {
  const whole = zillowFeed(all)
  const cut =
    zillowStart +
    all
      .slice(0, 15)
      .map((home) => zillowRecord(home))
      .join('')

  /** What is absent is held, which no approval changes. */
  const unproven = (report: ReadReport, count: number): void => {
    expect(report).toMatchObject({ result: 'partial', counts: { delete: 0, hold: count } })
    for (const { kind, why } of report.changes) if (kind === 'hold') expect(why).toContain('the delivery is incomplete')
  }

  test.each([
    ['prices', all.map(times(100)), all.slice(0, 4).map(times(1000))],
    ['listings that leave', homes(101, 108), homes(201, 203)],
    ['new listings', [...all, ...homes(101, 116)], [...all, ...homes(201, 203)]],
  ])('does not let out more %s beside those that are held', async (_, wrong, more) => {
    await loaded()
    expect(await night(wrong)).toMatchObject({ result: 'held' })
    world.calls()
    expect(await night(zillowFeed(more).slice(0, -20))).toMatchObject({ result: 'held' })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('tells each listing once that is held as new, whether it is there, can not be read or is lacking', async () => {
    await loaded()
    const wrong = zillowFeed([...all, ...homes(101, 116)])
    expect(notes(await night(wrong))).toContain('16 new listings beside 20')
    const unread = zillowRecord(home(101)).replace(/<(\w*Status)>[^<]*</, '<$1>Haunted<')
    const report = await night(
      zillowStart + unread + all.map((some) => zillowRecord(some)).join('') + zillowRecord(home(102)),
    )
    expect(report).toMatchObject({ result: 'held', delivery: { complete: false, rejects: 1 } })
    expect(notes(report)).toContain('16 new listings beside 20')
  })

  test('or a list that is not, is what status tells of the run', async () => {
    await loaded()
    world.standIn.changeProfile({ maxPageSize: 10 })
    world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
    expect(await night(all)).toMatchObject({ result: 'partial', counts: { hold: 0 } })
    expect((await world.executed('status')).stdout).toContain("The service's list could not be read whole: nothing is")
  })

  test('says of no listing that it is absent once the next one has it, whole or cut elsewhere', async () => {
    await loaded()
    unproven(await night(cut), 5)
    const [first] = all
    const withoutFirst = zillowFeed(all.slice(1))
    unproven(await night(withoutFirst.slice(0, withoutFirst.indexOf(all[18].mlsNumber))), 3)
    // A machine whose clock is a little behind.
    world.clock.advance(-minute)
    const { stdout } = await world.executed('status')
    expect(stdout).toContain(`hold ${first.mlsNumber}, for 0 h: absent from the feed`)
    expect(stdout).toContain(`hold ${all[19].mlsNumber}, for 23 h: absent from the feed`)
    expect(stdout).not.toContain(all[15].mlsNumber)
  })

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
    world.deliver(zillowStart + [dearer(home(1)), home(30)].map((home) => zillowRecord(home)).join(''))
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
          .map((home) => zillowRecord(home))
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
