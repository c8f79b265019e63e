/** Homes that come under other MLSNumbers, many at a time: no home is ever there twice, or missing. */
import { beforeEach, describe, expect, test } from 'vitest'
import { home, homes, keys, zillowEnd, zillowFeed, zillowRecord } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import {
  playNights,
  hour,
  day,
  all,
  volatile,
  world,
  loaded,
  night,
  nights,
  there,
  notes,
  rules,
  changed,
  renumbered,
} from './nights.ts'

playNights()

describe('homes under other MLSNumbers', () => {
  const forty = homes(1, 40)
  /** The list shows so many of them from now on. Gives all forty, of which those that it lacks have other numbers. */
  function hideAllBut(shown: number): Home[] {
    const listed = new Set(
      world
        .listings()
        .map((item) => item['MLSNumber'])
        .slice(-shown),
    )
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'hide', shown } })
    return forty.map((home) => (listed.has(home.mlsNumber) ? home : renumbered(home)))
  }

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
    ['were approved', 1],
    ['have waited their 72 hours', 3],
  ])('with odd prices since their old ones %s go with these in their own time, which is told', async (_, days) => {
    await loaded()
    await night(changed(6, renumbered))
    if (days === 1) await world.executed('approve', 'north', '--yes')
    else await nights(days - 1, changed(6, renumbered))
    const feed = changed(6, (home) => ({ ...renumbered(home), price: home.price * 2 }))
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 12 } })
    const at = days === 1 ? 'Thu 26 Nov' : 'Sat 28 Nov'
    expect(notes(report)).toContain(`Held: 6 creates and 6 deletes. They go by themselves on ${at} `)
    expect(await nights(3, feed)).toMatchObject({ result: 'ok', counts: { create: 6, delete: 6 } })
  })

  test('those that join later wait their own 72 hours, as what leaves does, though few enough are left', async () => {
    await loaded(forty)
    await night(changed(9, renumbered, forty))
    const feed = changed(11, renumbered, forty)
    await nights(2, feed)
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { create: 9, delete: 9, hold: 4 } })
    expect(report.holds).toMatchObject([
      { rule: 'leaving', keys: [...keys(forty.slice(9, 11)), ...keys(feed.slice(9, 11))] },
    ])
    expect(notes(report)).toContain('Held: 2 creates and 2 deletes. They go by themselves on Thu 26 Nov 12:0')
    expect(await world.executed('approve', 'north')).toMatchObject({
      stdout: expect.stringContaining('north: 4 held\n  4 changes held by leaving since '),
    })
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 2, delete: 2 } })
    expect(there()).toEqual(keys(feed))
  })

  test.each([
    ['more than may go at once', 9],
    ['so few that no rule asks any more', 6],
  ])('that are edited while they wait, %s, go when the others go', async (_, left) => {
    await loaded(forty)
    await nights(2, changed(9, renumbered, forty))
    const feed = changed(left, renumbered, forty).map((home, i) =>
      i < 2 ? { ...home, price: home.price + 1000 } : home,
    )
    expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: left * 2 } })
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: left, delete: left } })
    expect(there()).toEqual(keys(feed))
  })

  test.each([
    ['have waited their 72 hours', 3],
    ['were approved', 1],
  ])('that %s, and are gone under either number, leave: nobody said so, or approved it', async (_, days) => {
    await loaded(forty)
    const feed = changed(20, renumbered, forty)
    await nights(days, feed)
    if (days === 1) await world.executed('approve', 'north', '--yes')
    const report = await night(feed.slice(15))
    expect(report).toMatchObject({ result: 'held', counts: { create: 5, delete: 5, hold: 15 } })
    expect(notes(report)).toContain('15 of 40 listings would leave the site; up to 8 may in 24 hours (limits.share).')
    expect(there()).toEqual(keys([...forty.slice(0, 15), ...feed.slice(15)]))
    // Where they come after all, they have waited since then.
    expect(await nights(3, feed)).toMatchObject({ result: 'ok', counts: { create: 15, delete: 15 } })
    expect(there()).toEqual(keys(feed))
  })

  test('of which one has a record without MLSNumber for a night wait no longer for that', async () => {
    await loaded(forty)
    const feed = changed(20, renumbered, forty)
    await night(feed)
    const nameless = zillowRecord({ ...forty[0], mlsNumber: '' })
    await night(zillowFeed(feed).replace('</Listings>', `${nameless}</Listings>`))
    await night(feed)
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 20, delete: 20 } })
  })

  const again = (home: Home): Home => ({ ...renumbered(home), mlsNumber: `${home.mlsNumber}-NEW` })

  test.each([
    ['have waited their 72 hours', 3],
    ['were approved', 1],
  ])('that %s and come under yet other ones wait anew: nobody said so, or approved it', async (_, days) => {
    await loaded(forty)
    await nights(days, changed(20, renumbered, forty))
    if (days === 1) await world.executed('approve', 'north', '--yes')
    const feed = changed(20, again, forty)
    expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    expect(there()).toEqual(keys(forty))
    await nights(2, feed)
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 20, delete: 20 } })
    expect(there()).toEqual(keys(feed))
  })

  test('that come under other ones in every delivery stay under their old ones', async () => {
    await loaded(forty)
    for (let time = 1; time <= 6; time++) {
      const feed = changed(20, (home) => ({ ...renumbered(home), mlsNumber: `${home.mlsNumber}-${time}` }), forty)
      expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    }
    expect(there()).toEqual(keys(forty))
  })

  test('that were held as gone before they came under other numbers take the first ones, and no others', async () => {
    await loaded(forty)
    const as = (word: string) =>
      changed(20, (home) => ({ ...renumbered(home), mlsNumber: `${home.mlsNumber}-${word}` }), forty)
    await night(forty.slice(20))
    await night(as('A'))
    for (const word of ['B', 'C'])
      expect(await night(as(word))).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    expect(there()).toEqual(keys(forty))
  })

  test('that were held as gone before they came under other numbers go in the time of the old ones', async () => {
    await loaded(forty)
    const feed = changed(20, renumbered, forty)
    await night(forty.slice(20))
    await nights(2, feed)
    expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 20, delete: 20 } })
  })

  test.each<[string, (feed: readonly Home[]) => readonly Home[], Record<string, unknown>]>([
    ['are told otherwise', (feed) => changed(3, (home) => ({ ...home, street: `${home.street} Rear` }), feed), {}],
    ['are hidden', (feed) => changed(3, (home) => ({ ...home, street: 'Undisclosed', unit: '' }), feed), {}],
    ['are read in another way', (feed) => feed, { fields: { Address: 'Location/StreetAddress' } }],
  ])('whose addresses %s while they wait go together with their old ones', async (_, later, settings) => {
    await loaded(forty)
    const feed = forty.map(renumbered)
    await night(feed)
    world.configure({ north: { volatile, ...settings } })
    await nights(2, later(feed))
    expect(there()).toEqual(keys(forty))
    expect(await night(later(feed))).toMatchObject({ result: 'ok', counts: { create: 40, delete: 40 } })
    expect(there()).toEqual(keys(feed))
  })

  describe('whose addresses change after they were approved', () => {
    const feed = changed(20, renumbered, forty)
    const rear = changed(20, (home) => ({ ...home, street: `${home.street} Rear` }), feed)

    beforeEach(async () => {
      await loaded(forty)
      await night(feed)
      await world.approve()
    })

    test('stay under their old ones while the service refuses the new ones', async () => {
      world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
      await night(rear)
      for (let i = 0; i < 2; i++) {
        expect(await night(rear, hour)).toMatchObject({ counts: { create: 0, delete: 0, hold: 40 } })
        expect(there()).toEqual(keys(forty))
      }
      world.standIn.clearFaults()
      expect(await night(rear)).toMatchObject({ result: 'ok', counts: { create: 20, delete: 20 } })
      expect(there()).toEqual(keys(rear))
    })

    test('are not there twice after a delivery that was cut', async () => {
      await night(zillowFeed(rear).replace(zillowEnd, ''))
      expect(there()).toEqual(keys(forty))
      expect(await night(rear)).toMatchObject({ result: 'ok', counts: { create: 20, delete: 20 } })
      expect(there()).toEqual(keys(rear))
    })
  })

  test('that somebody refused stay so, whatever number comes', async () => {
    await loaded(forty)
    await night(changed(20, renumbered, forty))
    await world.executed('approve', 'north', '--refuse', '--yes')
    for (const renumber of [again, renumbered])
      expect(await nights(4, changed(20, renumber, forty))).toMatchObject({ counts: { create: 0, delete: 0 } })
    expect(there()).toEqual(keys(forty))
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
    const addresses = (): string[] => world.listings().map((item) => `${String(item.Address)}, ${String(item.City)}`)
    await loaded(forty)
    const before = addresses().toSorted()
    expect(new Set(before).size).toBe(40)
    const feed = changed(20, (home) => ({ ...home, mlsNumber: respelled(home.mlsNumber) }), forty)
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
    const dear = (home: Home): Home => ({ ...home, price: home.price * 100 })
    const feed = [...changed(8, dear, forty.slice(0, 39)), renumbered(dear(forty[39]))]
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 10 } })
    expect(notes(report)).toMatch(
      /the price of 9 of 40 listings would change by more than 1.5 times .* Held: 1 create, 1 delete and 8 updates of prices\./,
    )
    expect(report.holds[0].keys).toHaveLength(10)
    expect(there()).toEqual(keys(forty))
    // It is as good under its new number once the feed has said so for long enough.
    await nights(3, feed)
    expect(there()).toEqual(keys(feed))
  })

  test.each([
    ['approved', 1, () => world.approve()],
    ['confirmed', 3, () => Promise.resolve()],
  ])('whose facts are %s go with their old numbers, whatever else is renumbered by then', async (_, factor, decide) => {
    await loaded(forty)
    const dear = (home: Home): Home => ({ ...home, price: home.price * 100 })
    const feed = [...changed(8, (home) => renumbered(dear(home)), forty.slice(0, 39)), dear(forty[39])]
    expect(await nights(factor, feed)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 17 } })
    await decide()
    const more = feed.map((home, i) => (i === 8 ? renumbered(home) : home))
    expect(await night(more)).toMatchObject({ result: 'ok', counts: { create: 9, update: 1, delete: 9, hold: 0 } })
    expect(there()).toEqual(keys(more))
  })

  test('all of them, and wrong beside that: a person is asked, as the site would not be what it was', async () => {
    await loaded(forty)
    const feed = forty.map((home) => ({ ...renumbered(home), price: home.price * 100 }))
    for (let nightsSaid = 1; nightsSaid <= 5; nightsSaid++)
      expect((await night(feed)).holds.map(({ rule }) => rule)).toContain('unrecognisable')
    expect(there()).toEqual(keys(forty))
  })

  test('without an address are told by their number, which is only spelled otherwise', async () => {
    const hidden = forty.map((home) => ({ ...home, street: 'Undisclosed', unit: '' }))
    const zeros = (count: number) =>
      changed(
        count,
        (home) => ({ ...home, mlsNumber: home.mlsNumber.replace('IA', home.rental ? '00IA' : 'IA00') }),
        hidden,
      )
    await loaded(hidden)
    expect(await night(zeros(8))).toMatchObject({ result: 'ok', counts: { create: 8, delete: 8, hold: 0 } })
    const all = zeros(28)
    const report = await night(all)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    expect(notes(report)).toContain('20 of 40 homes came under other MLSNumbers')
    await nights(3, all)
    expect(there()).toEqual(keys(all))
  })

  test.each([
    ['however short it is', 'A-', ''],
    ['of zeros alone', '00', ''],
    ['a letter behind a digit', 'AG7-', 'M'],
  ])('without an address are told by their number behind a prefix, %s', async (_, prefix, letter) => {
    const hidden = forty.map((home, i) => ({
      ...home,
      street: 'Undisclosed',
      unit: '',
      mlsNumber: `${letter}${i + 1}`,
    }))
    await loaded(hidden)
    const feed = changed(20, (home) => ({ ...home, mlsNumber: `${prefix}${home.mlsNumber}` }), hidden)
    expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 40 } })
    await nights(3, feed)
    expect(there()).toEqual(keys(feed))
  })

  test.each([
    ['N-', 'S-'],
    ['', '2'],
  ])(
    'without an address are none where the numbers are others (%s1001, %s1001): another office asks',
    async (text, other) => {
      const numbered = (prefix: string): Home[] =>
        forty.map((home, i) => ({
          ...home,
          street: 'Undisclosed',
          unit: '',
          mlsNumber: `${prefix}${1001 + i}`,
          price: home.price + 1000 * i,
        }))
      await loaded(numbered(text))
      expect((await nights(5, numbered(other))).holds.map(({ rule }) => rule)).toContain('unrecognisable')
      expect(there()).toEqual(keys(numbered(text)))
    },
  )

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
      report.changes.find((change) => change.mlsNumber === mlsNumber)?.why

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
      const feed = all.map((home) => (home === all[0] || home === all[19] ? renumbered(home) : home))
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
    const feed = hideAllBut(10)
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
    const feed = hideAllBut(38)
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

  test('such a home is there twice only until the next run where the service fails at the delete', async () => {
    await loaded(forty)
    await night(forty.slice(10))
    const feed = [...forty.slice(10), renumbered(forty[0])]
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'status', status: 500 } })
    expect(await night(feed)).toMatchObject({ counts: { create: 1, delete: 1 }, applied: { outcomes: { done: 1 } } })
    expect(there()).toEqual(keys([...forty, renumbered(forty[0])]))
    world.standIn.clearFaults()
    const report = await night(feed)
    expect(report).toMatchObject({ result: 'held', counts: { delete: 1, hold: 9 } })
    expect(notes(report)).toContain('1 delete held since Sun 22 Nov was carried out: no rule holds this any more')
    expect(there()).toEqual(keys([...forty.slice(1), renumbered(forty[0])]))
  })

  test('while the service refuses the new one, such a home waits for that, and is told so', async () => {
    await loaded(forty)
    await night(forty.slice(10))
    const feed = [...forty.slice(10), renumbered(forty[0])]
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
    await night(feed)
    const report = await night(feed, hour)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 11 } })
    expect(notes(report)).toContain(
      "1 held before goes together with the other MLSNumber of its home, which can't change yet",
    )
    expect(report.holds).toMatchObject([{ rule: 'leaving', numbers: { leaving: 9 } }])
    world.standIn.clearFaults()
    expect(await night(feed)).toMatchObject({ result: 'held', counts: { create: 1, delete: 1, hold: 9 } })
  })
})
