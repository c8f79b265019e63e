/** One home that leaves under one MLSNumber and comes under another: both are carried out, or neither. */
import { describe, expect, test } from 'vitest'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { home, keys, zillowEnd, zillowFeed, zillowRecord } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { all, changed, day, playNights, renumbered, there, world } from './nights.ts'

const withoutAddress = (home: Home): Home => ({ ...home, street: '' })
const moved = changed(3, renumbered)

playNights()

async function loaded(some: readonly Home[] = all): Promise<void> {
  world.deliver(zillowFeed(some))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: some.length } })
  world.clock.advance(2 * day)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: some.length } })
}

function night(feed: readonly Home[] | string, command: 'sync' | 'backfill' = 'sync'): Promise<ReadReport> {
  world.clock.advance(day)
  world.deliver(typeof feed === 'string' ? feed : zillowFeed(feed))
  return world.run(command)
}

const whyOf = (report: ReadReport, { mlsNumber }: Home) =>
  report.changes.find((change) => change.mlsNumber === mlsNumber)?.why

describe('what is new waits where its old number can not go', () => {
  const nameless = zillowRecord(home(99))
    .replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>')
    .replace(/<StreetAddress>.*<\/StreetAddress>/, '<StreetAddress/>')
  const beside = (some: readonly Home[]): string => zillowFeed(some).replace(zillowEnd, nameless + zillowEnd)

  test('as a record without MLSNumber may be it, until the record has its number, or somebody approves', async () => {
    await loaded()
    for (let i = 0; i < 3; i++) {
      const report = await night(beside(moved))
      expect(report).toMatchObject({ result: 'partial', holds: [], counts: { create: 0, delete: 0, hold: 6 } })
      expect(whyOf(report, moved[0])).toBe(
        `new in the feed; its home has another MLSNumber, too: both wait for a sync that can change both (${all[0].mlsNumber}: absent from the feed, but a record came without a readable MLSNumber, and may be it)`,
      )
      expect(there()).toEqual(keys(all))
    }
    await world.approve()
    expect((await night(beside(moved))).counts).toMatchObject({ create: 3, delete: 3, hold: 0 })
    expect(there()).toEqual(keys(moved))
  })

  test('and goes by itself once the record has its number', async () => {
    await loaded()
    await night(beside(moved))
    expect(await night([...moved, home(99)])).toMatchObject({ result: 'ok', counts: { create: 4, delete: 3, hold: 0 } })
    expect(there()).toEqual(keys([...moved, home(99)]))
  })

  test('as the service shows the old one twice', async () => {
    await loaded()
    for (const { mlsNumber } of all.slice(0, 3))
      world.standIn.seed(chatbot, [world.listing(mlsNumber) as unknown as StandInListing])
    const report = await night(moved)
    expect(report).toMatchObject({ result: 'partial', counts: { create: 0, delete: 0, hold: 6 } })
    expect(whyOf(report, moved[0])).toContain('see listing-sync repair north')
    expect(there()).toHaveLength(23)
  })

  describe('without an address, where homes with one wait, too:', () => {
    const office = changed(5, withoutAddress)
    const ten = changed(10, renumbered, office)

    test.each([
      ['a delivery that was cut', zillowFeed(ten).replace(zillowEnd, ''), 'sync'],
      ['a backfill', zillowFeed(ten), 'backfill'],
      ['a record without MLSNumber', beside(ten), 'sync'],
    ] as const)('%s', async (_, feed, command) => {
      await loaded(office)
      const report = await night(feed, command)
      expect(report.counts).toMatchObject({ create: 0, delete: 0, hold: 20 })
      expect(whyOf(report, ten[0])).toContain('its home may have another MLSNumber, too')
      expect(there()).toEqual(keys(office))
    })

    test('else what is new is created: it is another home, more likely than not', async () => {
      await loaded(office)
      const feed = [...office.slice(1), withoutAddress(home(99))]
      expect((await night(zillowFeed(feed).replace(zillowEnd, ''))).counts).toMatchObject({ create: 1, hold: 1 })
      expect((await night(feed)).counts).toMatchObject({ delete: 1, hold: 0 })
    })
  })
})

describe('the old listing stays where the new one can not be made', () => {
  const old = keys(all)
  /** The homes that moved are on the site, and once. */
  function areThere(): void {
    const streets = world.listings().map((item) => String(item['Address']))
    for (const { street } of all.slice(0, 3)) expect(streets.filter((text) => text.includes(street))).toHaveLength(1)
  }

  test('as the service refuses it, at once and while it is not sent again', async () => {
    await loaded()
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse', message: 'No.' } })
    const first = await night(moved)
    expect(first).toMatchObject({ result: 'partial', applied: { outcomes: { failed: 3, skipped: 3 } } })
    expect(first.changes.find(({ kind }) => kind === 'delete')?.outcome?.error).toBe(
      'its home is not there yet under the number that it has now: the next run decides',
    )
    world.deliver(zillowFeed(moved))
    const second = await world.run()
    expect(second).toMatchObject({ counts: { create: 0, delete: 0, hold: 6 } })
    expect(whyOf(second, all[0])).toContain('refused by the service')
    expect(there()).toEqual(old)
    world.standIn.clearFaults()
    expect(await night(moved)).toMatchObject({ result: 'ok', counts: { create: 3, delete: 3 } })
    expect(there()).toEqual(keys(moved))
  })

  test('as it got no answer; then the next run decides by what is there', async () => {
    await loaded()
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'status', status: 500 } })
    expect((await night(moved)).applied).toMatchObject({ outcomes: { unknown: 3, skipped: 3 } })
    expect(there()).toEqual(old)
    world.standIn.clearFaults()
    await night(moved)
    areThere()
    expect(there()).toEqual(keys(moved))
  })

  test('as its record comes twice and differs', async () => {
    await loaded()
    const twice = moved.slice(0, 3).map((home) => zillowRecord({ ...home, bedrooms: home.bedrooms + 1 }))
    const report = await night(zillowFeed(moved).replace(zillowEnd, twice.join('') + zillowEnd))
    expect(report).toMatchObject({ result: 'partial', counts: { create: 0, delete: 0 } })
    expect(there()).toEqual(old)
    expect(await night(moved)).toMatchObject({ result: 'ok', counts: { create: 3, delete: 3 } })
  })

  test("as its record can't be read", async () => {
    await loaded()
    const broken = moved.slice(0, 3).map((home) => zillowRecord(home).replace(/<YearBuilt>\d+/, '<YearBuilt>long ago'))
    const report = await night(zillowFeed(moved.slice(3)).replace(zillowEnd, broken.join('') + zillowEnd))
    expect(report).toMatchObject({ result: 'partial', counts: { create: 0, delete: 0, hold: 3, reject: 3 } })
    expect(whyOf(report, all[0])).toMatch(/NEW-\w+: its record \(.*\) can't be read: correct the feed/)
    expect(there()).toEqual(old)
    expect(await night(moved)).toMatchObject({ result: 'ok', counts: { create: 3, delete: 3 } })
  })

  test("as its record can't be read, until that was said for 72 hours: it may be of another home of the house", async () => {
    await loaded()
    const stays = zillowRecord({ ...all[0], mlsNumber: 'STAYS' }).replace(/<YearBuilt>\d+/, '<YearBuilt>long ago')
    const beside = (some: readonly Home[]): string => zillowFeed(some).replace(zillowEnd, stays + zillowEnd)
    expect(await night(beside(all))).toMatchObject({ counts: { hold: 0, reject: 1 } })
    for (let i = 0; i < 3; i++) {
      expect(await night(beside(all.slice(1)))).toMatchObject({ counts: { delete: 0, hold: 1 } })
      expect(there()).toEqual(old)
    }
    expect(await night(beside(all.slice(1)))).toMatchObject({ counts: { delete: 1, hold: 0 } })
    expect(there()).toEqual(keys(all.slice(1)))
  })

  test('as the store was lost a moment ago', async () => {
    await loaded()
    world.loseStore()
    expect(await night(moved)).toMatchObject({ counts: { create: 0, delete: 0 } })
    expect(there()).toEqual(old)
    expect((await night(moved)).counts).toMatchObject({ create: 3, delete: 3 })
    expect(there()).toEqual(keys(moved))
  })
})

test.each([
  ['has one listing for each MLSNumber as it is written', {}, 'ok'],
  ['ignores the case of letters', { caseInsensitiveKeys: true }, 'ok'],
  [
    'ignores it, and knows its listings by another identifier',
    { caseInsensitiveKeys: true, createdIdentifier: 'guid' },
    'ok',
  ],
  ['ignores it, and keeps one listing', { caseInsensitiveKeys: true, duplicates: 'replaced' }, 'partial'],
] as const)('an MLSNumber in small letters takes no home off a service that %s', async (_, profile, result) => {
  world.standIn.changeProfile(profile)
  await loaded()
  const small = changed(3, (home) => ({ ...home, mlsNumber: home.mlsNumber.toLowerCase() }))
  expect(await night(small)).toMatchObject({ result, counts: { create: 3, delete: 3 } })
  expect(there()).toEqual(keys(small))
  expect(await night(small)).toMatchObject({ result: 'ok', counts: { create: 0, delete: 0 } })
  expect(await night(small)).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
  expect(there()).toEqual(keys(small))
})

test.each(['fails at the delete', 'gets its address in other words'])('nor if the home %s', async (what) => {
  const fails = what === 'fails at the delete'
  const moved = fails ? '' : ' Rear'
  world.standIn.changeProfile({ caseInsensitiveKeys: true, createdIdentifier: 'guid' })
  await loaded()
  const small = changed(3, ({ mlsNumber, street, ...home }) => ({
    ...home,
    mlsNumber: mlsNumber.toLowerCase(),
    street: street + moved,
  }))
  if (fails) world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'status', status: 503 } })
  await night(small)
  world.standIn.clearFaults()
  if (fails) await night(small)
  expect(there()).toEqual(keys(small))
  expect(await night(small)).toMatchObject({ result: 'ok', counts: { create: 0, delete: 0 } })
})

test('a delta that names the new number of a home whose old one a full delivery held shows no home twice', async () => {
  const openImmo = (extent: 'VOLL' | 'TEIL', ...some: [number: string, house: number, price?: number][]): string =>
    `<openimmo><uebertragung umfang="${extent}"/><anbieter>${some
      .map(
        ([number, house, price = 300_000]) =>
          `<immobilie><objektkategorie><vermarktungsart KAUF="1"/><objektart><wohnung/></objektart></objektkategorie>
          <geo><plz>01067</plz><ort>Dresden</ort><strasse>Gartenweg</strasse><hausnummer>${house}</hausnummer></geo>
          <preise><kaufpreis>${price}</kaufpreis><waehrung iso_waehrung="EUR"/></preise><flaechen><wohnflaeche>90</wohnflaeche>
          <anzahl_schlafzimmer>2</anzahl_schlafzimmer><anzahl_badezimmer>1</anzahl_badezimmer></flaechen>
          <zustand_angaben><baujahr>1990</baujahr></zustand_angaben>
          <verwaltung_techn><openimmo_obid>${number}</openimmo_obid></verwaltung_techn></immobilie>`,
      )
      .join('')}</anbieter></openimmo>`
  world.configure({
    north: {
      preset: 'openimmo',
      defaults: { DaysOnMarket: 0, LotArea: 0, ParkingSpots: 0 },
      fields: { Url: { template: 'https://homes.example/{MLSNumber}' } },
    },
  })
  const houses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  await night(openImmo('VOLL', ...houses.map((house): [string, number] => [`A${house}`, house])))
  const named = (house: number): [string, number] => [house < 7 ? `B${house}` : `A${house}`, house]
  const whole = openImmo('VOLL', ...houses.map(named))
  expect(await night(whole)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 12 } })
  expect(await night(openImmo('TEIL', ['B1', 1, 310_000]))).toMatchObject({ counts: { create: 0, hold: 6 } })
  expect(there()).toHaveLength(10)
  await night(openImmo('TEIL'))
  const edited = whole.replace('<kaufpreis>300000', '<kaufpreis>310000')
  expect(await night(edited)).toMatchObject({ result: 'ok', counts: { create: 6, delete: 6, hold: 0 } })
  expect(there()).toEqual(houses.map((house) => named(house)[0]).toSorted())
  expect(world.listing('B1')?.['SalePrice']).toBe(310_000)
})

test('homes that move to another feed of the chatbot under new numbers are not there twice while the deletes are held', async () => {
  world.configure({ north: {}, south: {} })
  world.deliver(zillowFeed(all), 'north.xml')
  world.deliver(zillowFeed([home(90)]), 'south.xml')
  for (const feed of ['north', 'south']) await world.run('sync', feed)
  const shown = [...keys(all), home(90).mlsNumber].toSorted()
  const [gone, moved] = [all.slice(0, 10), changed(10, renumbered).slice(0, 10)]
  world.deliver(zillowFeed(all.slice(10)), 'north.xml')
  world.deliver(zillowFeed([home(90), ...moved, home(91)]), 'south.xml')
  for (let i = 0; i < 3; i++) {
    world.clock.advance(day)
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'held', counts: { delete: 0, hold: 10 } })
    const report = await world.run('sync', 'south')
    expect(report).toMatchObject({ result: 'ok', counts: { create: i === 0 ? 1 : 0, hold: 10 } })
    expect(whyOf(report, moved[0])).toBe(
      `new in the feed; its home has another MLSNumber, too: both wait for a sync that can change both (${gone[0].mlsNumber}: feed north: gone from the feed; held: too many listings would leave; now: listing-sync approve north)`,
    )
    expect(there()).toEqual([...shown, home(91).mlsNumber].toSorted())
  }
  world.clock.advance(day)
  expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { delete: 10 } })
  expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { create: 10, hold: 0 } })
  expect(there()).toEqual([...keys(all.slice(10)), ...keys([home(90), ...moved, home(91)])].toSorted())
})

test('homes that were held as new wait on for their old numbers in another feed, are told as held, and with what ends it', async () => {
  world.configure({ north: {}, south: {} })
  world.deliver(zillowFeed(all), 'north.xml')
  world.deliver(zillowFeed([home(90)]), 'south.xml')
  for (const feed of ['north', 'south']) await world.run('sync', feed)
  world.clock.advance(day)
  world.deliver(zillowFeed(all.slice(10)), 'north.xml')
  world.deliver(
    zillowFeed([home(90), ...changed(10, renumbered).slice(0, 10), ...[91, 92, 93, 94].map((number) => home(number))]),
    'south.xml',
  )
  expect(await world.run('sync', 'south')).toMatchObject({ result: 'held', holds: [{ rule: 'arriving' }] })
  expect(await world.run('sync', 'north')).toMatchObject({ result: 'held', counts: { hold: 10 } })
  await world.executed('approve', 'north', '--refuse', '--yes')
  world.clock.advance(3 * day)
  expect(await world.run('sync', 'south')).toMatchObject({ counts: { create: 4, hold: 10 } })
  expect((await world.executed('status', 'south')).stdout).toMatch(
    /create NEW-\S+ for 72 h: .* both wait .* now: listing-sync approve north/,
  )
  for (const command of ['diff', 'sync'] as const)
    expect(await world.run(command, 'south')).toMatchObject({
      result: 'held',
      held: { whole: 10, inPart: 0, goes: true, others: 0 },
      notes: ["10 held before go together with the other MLSNumbers of their homes, which can't change yet"],
    })
  await world.executed('approve', 'north', '--yes')
  expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { delete: 10 } })
  expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { create: 10, hold: 0 } })
  expect((await world.executed('status', 'south')).stdout).not.toContain('held')
})

test('a home that moves to another feed of the chatbot while its old number is in its grace is not there twice', async () => {
  world.configure({ north: { limits: { grace: { runs: 2 } } }, south: {} })
  world.deliver(zillowFeed(all), 'north.xml')
  world.deliver(zillowFeed([home(90)]), 'south.xml')
  for (const feed of ['north', 'south']) await world.run('sync', feed)
  const [gone, moved] = [all[0], changed(1, renumbered)[0]]
  world.clock.advance(day)
  world.deliver(zillowFeed(all.slice(1)), 'north.xml')
  world.deliver(zillowFeed([home(90), moved]), 'south.xml')
  expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { delete: 0, hold: 1 } })
  const report = await world.run('sync', 'south')
  expect(report).toMatchObject({ result: 'ok', counts: { create: 0, hold: 1 } })
  expect(whyOf(report, moved)).toBe(
    `new in the feed; its home has another MLSNumber, too: both wait for a sync that can change both (${gone.mlsNumber}: feed north: absent from the feed for run 1 of 2 (limits.grace))`,
  )
  world.clock.advance(day)
  expect(await world.run('sync', 'north')).toMatchObject({ counts: { delete: 1, hold: 0 } })
  expect(await world.run('sync', 'south')).toMatchObject({ counts: { create: 1, hold: 0 } })
  expect(there()).toEqual(keys([...all.slice(1), home(90), moved]))
})
