/** What the chatbot's list lacks, and when it is believed. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { shortHash } from '../../src/core/hash.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { playNights, minute, hour, day, all, volatile, world, loaded, night, nights, there, notes } from './nights.ts'

playNights()

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
    // Each before an Update and after it. The pages are walked once more, to see what was created.
    const { List, Create } = world.calls()
    expect({ lookUps: List - 2 * listed, Create }).toEqual({ lookUps: 8, Create: 4 })
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

  test('stays approved after an upgrade', async () => {
    await loaded()
    remove(all.slice(0, 8))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 8 } })
    await world.approve()
    // As versions before 27 November 2026 noted what came from the snapshot.
    const store = new Database(join(world.folder, 'store.db'))
    const sent = store.prepare<[string], { content: string }>('SELECT content FROM listing WHERE key = ?')
    const note = store.prepare("UPDATE hold SET content = ? WHERE key = ? AND part = 'create'")
    for (const { mlsNumber } of all.slice(0, 8)) {
      const reason = ['create', 'gone-from-service', [], sent.get(mlsNumber)!.content]
      expect(note.run(shortHash(JSON.stringify(reason)), mlsNumber).changes).toBe(1)
    }
    store.close()
    // Or the store would be taken for a copy.
    rmSync(join(world.folder, 'store.db.serial'))
    expect(await night(all, 10 * minute)).toMatchObject({ result: 'ok', counts: { create: 8 } })
  })

  test('stays approved, and by its clock, where the next delivery words its descriptions otherwise, and they are delivered anew', async () => {
    await loaded()
    const reworded = all.map((home) => ({ ...home, description: `${home.description} Call us.` }))
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
      expect(notes(report)).toMatch(
        /missing from the chatbot's list, which was read with other keys than before; .*They wait for you; now: listing-sync approve north/,
      )
    }
    // It may be somebody else's chatbot: what is new waits, too.
    expect(await night([...all, home(99)])).toMatchObject({ result: 'held', counts: { create: 0, hold: 21 } })
    expect(there()).toEqual(['STRANGER-1'])
  })

  test('under other keys waits for a person with all that is new, however much that is', async () => {
    await loaded()
    world.configure({ north: { volatile } }, { secretKey: 'of-another-customer' })
    remove(all)
    world.standIn.seed(chatbot, [{ MLSNumber: 'STRANGER-1' }])
    const many = [...all, ...homes(101, 200)]
    const held: string[] = []
    for (let n = 0; n < 6; n++) {
      const report = await night(many)
      expect(report).toMatchObject({ result: 'held', counts: { create: 0, hold: 120 } })
      expect(notes(report)).not.toContain('They go by themselves')
      held.push(report.holds.map(({ rule }) => rule).join())
    }
    // What the feed has said for 72 hours is asked of the list alone.
    expect(held).toEqual([...held.slice(0, 3).fill('arriving,chatbot'), ...held.slice(3).fill('chatbot')])
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
      "1 of 20 listings is missing from the chatbot's list, and 1 is there under an MLSNumber that this feed never wrote",
    )
    expect(world.listings()).toHaveLength(20)
  })
})

describe.each(['tag', 'snapshot'])('a service that keeps MLSNumbers in capitals (ownership: %s)', (ownership) => {
  beforeEach(() => world.standIn.changeProfile({ mlsNumberKept: 'upper-case' }))

  test('gets no second listing of what it made without an answer', async () => {
    await loaded(all, { ownership })
    world.standIn.addFault({
      operations: ['Create'],
      times: 1,
      fault: { kind: 'reset', when: 'after-carrying-out' },
    })
    const feed = [...all, { ...home(21), mlsNumber: 'ia-21' }]
    for (const _ of [1, 2, 3, 4, 5]) {
      expect(await night(feed)).toMatchObject({ result: 'partial' })
      expect(there()).toEqual([...all.map(({ mlsNumber }) => mlsNumber), 'IA-21'].toSorted())
    }
  })

  test.each([
    ['another home', all[1]],
    ['the same home for rent', { ...all[0], rental: true, status: 'For Rent', price: 900 }],
  ])('gets no more of %s whose number differs in its letter case alone', async (_, other) => {
    expect(all[0].rental).toBe(false)
    world.configure({ north: { volatile, ownership } })
    const feed = [{ ...all[0], mlsNumber: 'AB1' }, { ...other, mlsNumber: 'ab1' }, ...all.slice(2)]
    expect(await night(feed)).toMatchObject({ counts: { create: 20 } })
    for (const _ of [1, 2, 3, 4, 5]) {
      const { result, changes } = await night(feed)
      expect(result).toBe('partial')
      expect(changes.map(({ outcome }) => outcome?.error)).toContainEqual(
        expect.stringContaining('the service lists ab1 as AB1, which is the MLSNumber of another listing'),
      )
      expect(world.listings()).toHaveLength(20)
    }
  })
})

test('what a person made in another spelling is not taken for a create without an answer: it bears no mark', async () => {
  await loaded()
  const [{ mlsNumber }] = all
  const row = world.listing(mlsNumber) as unknown as StandInListing
  await night(all.slice(1))
  expect(there()).not.toContain(mlsNumber)
  world.standIn.seed(chatbot, [{ ...row, ExtensionColumn: undefined }])
  world.standIn.addFault({ operations: ['Create'], times: 1, fault: { kind: 'reset', when: 'before-reading' } })
  const feed = [{ ...all[0], mlsNumber: mlsNumber.toLowerCase() }, ...all.slice(1)]
  expect(await night(feed)).toMatchObject({ result: 'partial', counts: { create: 1 } })
  expect(await night(feed)).toMatchObject({ result: 'ok', counts: { create: 1 } })
  expect(there()).toContain(mlsNumber.toLowerCase())
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
