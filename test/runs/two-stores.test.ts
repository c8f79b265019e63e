/** Two programs with a store each write one chatbot's listings (docs/faults.md, F75): neither fights for long, and it is said. */
import type { App } from '../../src/app/app.ts'
import { openApp } from '../../src/app/open.ts'
import type { Report } from '../../src/report/report.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dearer, home, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

const halfAnHour = 1_800_000
const homes = Array.from({ length: 12 }, (_, index) => home(index + 1))
/** The two agree in all but one field, as two versions of a configuration do. */
const versions = {
  one: { north: { fields: { YearBuilt: { value: 1990 } } } },
  two: { north: { fields: { YearBuilt: { value: 1991 } } } },
}
const asks = expect.stringMatching(
  /^12 of 12 listings were edited on the chatbot again after they had been sent again; up to \d+ may be \(limits\.share\); another program seems to write them\. Held: 12 updates\./,
)

const goesOn = expect.stringMatching(/^Another program fills this chatbot: its store \([\da-f]{8}\) goes on writing/)

let world: RunWorld
/** What happens while an answer of the service is late. */
let meanwhile: () => Promise<void>
beforeEach(async () => {
  world = await RunWorld.start({ standIn: { delay: () => meanwhile() } })
  world.deliver(zillowFeed(homes))
})
afterEach(() => world.end())

function run(
  which: keyof typeof versions,
  feeds: Record<string, object> = versions[which],
): ReturnType<RunWorld['run']> {
  world.clock.advance(halfAnHour)
  world.configure(feeds, {}, `./${which}.db`)
  return world.run()
}

/** The first one has loaded the feed and knows how it is shown; the second one has put its own over it. */
async function begin(): Promise<void> {
  for (const which of ['one', 'one', 'two'] as const) await run(which)
}

describe('whose runs', () => {
  test('take turns: the second time it is held, and sent no oftener than a list can say so again', async () => {
    await begin()
    expect(await run('one')).toMatchObject({ result: 'ok', counts: { update: 12 } })
    await run('two')
    expect(await run('one')).toMatchObject({
      result: 'held',
      counts: { update: 0, hold: 12 },
      notes: expect.arrayContaining([asks]),
    })
    await run('two')
    const again = 'held since Sat 21 Nov were carried out: another complete list said the same'
    expect(await run('one')).toMatchObject({
      counts: { update: 12 },
      notes: expect.arrayContaining([`12 updates ${again}`]),
    })
    // Now it is the other's turn to hold, and then to send.
    expect(await run('two')).toMatchObject({
      result: 'held',
      counts: { update: 0 },
      notes: expect.arrayContaining([asks]),
    })
    expect(await run('one')).toMatchObject({ counts: { unchanged: 12 } })
    await run('two')
    expect(await run('one')).toMatchObject({
      result: 'held',
      counts: { update: 0 },
      notes: expect.arrayContaining([asks]),
    })
  })

  test('come twice for each of the other: though what was sent was shown so, it is asked, too', async () => {
    await begin()
    expect(await run('one')).toMatchObject({ counts: { update: 12 } })
    expect(await run('one')).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
    await run('two')
    for (const homeOf of homes) world.standIn.edit(chatbot, homeOf.mlsNumber, { YearBuilt: 1991 })
    expect(await run('one')).toMatchObject({
      result: 'held',
      counts: { update: 0, hold: 12 },
      notes: expect.arrayContaining([asks]),
    })
  })
})

test('once the other has stopped, an approval sends what is held, and that is the end of it', async () => {
  await begin()
  await run('one')
  await run('two')
  await run('one')
  world.clock.advance(halfAnHour)
  world.configure(versions.one, {}, './one.db')
  await world.approve()
  expect(await run('one')).toMatchObject({ counts: { update: 12 } })
  world.clock.advance(48 * halfAnHour)
  expect(await run('one')).toMatchObject({ result: 'ok', counts: { hold: 0 }, notes: [] })
  expect(world.listing(home(1).mlsNumber)).toMatchObject({ YearBuilt: 1990 })
})

test('a person who edits a few, again and again, is no other program', async () => {
  await begin()
  await run('one')
  await run('one')
  for (let times = 0; times < 2; times++) {
    for (const home of homes.slice(0, 2)) world.standIn.edit(chatbot, home.mlsNumber, { YearBuilt: 1900 })
    expect(await run('one')).toMatchObject({ result: 'ok', counts: { update: 2 }, notes: [] })
    await run('one')
  }
})

describe('with marks', () => {
  const tagged = { north: { volatile: { refresh: '365d' } } }
  const isThere = expect.stringMatching(
    /^Listings of this feed were written by another store \([\da-f]{8}\).*Creates wait 15 minutes/,
  )
  const numbers = (): unknown[] => world.listings().map((item) => item['MLSNumber'])

  test('the other is a lost store at first, another program once its marks go on changing; then nothing is created', async () => {
    world.deliver(zillowFeed(homes.slice(0, 10)))
    await run('one', tagged)
    expect((await run('two', tagged)).notes).toEqual([expect.stringContaining('The store is empty')])
    world.deliver(zillowFeed([dearer(homes[0]), ...homes.slice(1, 10)]))
    expect(await run('two', tagged)).toMatchObject({ result: 'ok', counts: { update: 1 }, notes: [] })

    // One sees a mark of two for the first time: as if its own store had been the other's before.
    world.deliver(zillowFeed([dearer(homes[0]), ...homes.slice(1, 11)]))
    expect(await run('one', tagged)).toMatchObject({
      result: 'ok',
      counts: { create: 0, hold: 1 },
      changes: expect.arrayContaining([expect.objectContaining({ cause: 'lost-store' })]),
      notes: [isThere],
    })
    expect(await run('one', tagged)).toMatchObject({ result: 'ok', counts: { create: 1 }, notes: [] })

    // Two has seen one's marks already, and sees a later one: once, which the list before may have hidden.
    expect(await run('two', tagged)).toMatchObject({ result: 'ok', counts: { adopt: 1, hold: 0 }, notes: [] })
    world.deliver(zillowFeed([dearer(homes[0]), dearer(homes[1]), ...homes.slice(2, 11)]))
    expect(await run('one', tagged)).toMatchObject({ result: 'ok', counts: { update: 1 } })
    // Twice: one goes on.
    world.deliver(zillowFeed([dearer(homes[0]), dearer(homes[1]), ...homes.slice(2)]))
    const two = await run('two', tagged)
    expect(two).toMatchObject({ result: 'partial', counts: { create: 0, hold: 1 }, notes: [goesOn] })
    expect(two.changes.find(({ kind }) => kind === 'hold')).toMatchObject({ cause: 'rival', held: 'create' })
    expect((await world.executed('sync')).status).toBe(4)
    expect((await world.executed('diff')).stdout).toContain('Stop one of the two')
    expect(numbers()).toHaveLength(11)

    // Nor does an update create what is gone by the time that it arrives.
    const changed = [dearer(homes[0]), dearer(homes[1]), dearer(homes[2]), ...homes.slice(3, 11)]
    world.deliver(zillowFeed(changed))
    meanwhile = () => Promise.resolve(void world.standIn.remove(chatbot, homes[2].mlsNumber))
    world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
    world.calls()
    expect(await run('two', tagged)).toMatchObject({ result: 'partial', applied: { outcomes: { failed: 1 } } })
    expect(world.calls()).toMatchObject({ Update: 1, Create: 0 })
    world.deliver(zillowFeed(changed.filter((_, index) => index !== 2)))
    await run('two', tagged)
    // It is said with nothing to create, too.
    expect(await run('two', tagged)).toMatchObject({ result: 'partial', counts: { hold: 0 }, notes: [goesOn] })
    world.deliver(zillowFeed([dearer(homes[0]), dearer(homes[1]), ...homes.slice(2)]))

    // Another day without a word of the other, and it goes on alone.
    world.clock.advance(24 * 2 * halfAnHour)
    expect(await run('two', tagged)).toMatchObject({ result: 'ok', counts: { create: 2, hold: 0 }, notes: [] })
    expect(new Set(numbers()).size).toBe(12)
  })

  test("a create without answer is not done by the other's listing, which the list hid: what the feed says follows", async () => {
    world.deliver(zillowFeed(homes.slice(0, 1)))
    await run('one', tagged)
    world.deliver(zillowFeed([dearer(homes[0])]))
    world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'hide' } })
    world.standIn.addFault({ operations: ['Create'], times: 1, fault: { kind: 'reset', when: 'after-reading' } })
    const { changes } = await run('two', tagged)
    expect(changes).toMatchObject([{ kind: 'create', outcome: { result: 'unknown' } }])
    expect(await run('two', tagged)).toMatchObject({ changes: [{ kind: 'update', outcome: { result: 'done' } }] })
    expect(world.listings()).toMatchObject([{ SalePrice: dearer(homes[0]).price }])
  })

  test('what a dead process wrote last may land within `settle`: that proves no other program', async () => {
    world.deliver(zillowFeed(homes.slice(0, 10)))
    await run('one', tagged)
    await run('one', tagged)
    world.deliver(zillowFeed([dearer(homes[0]), ...homes.slice(1, 10)]))
    world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'late', requests: 1000 } })
    await run('one', tagged)
    world.configure(tagged, {}, './two.db')
    expect((await world.run()).notes).toEqual([expect.stringContaining('The store is empty')])
    world.standIn.landLateCalls()
    world.clock.advance(10 * 60_000)
    expect(await world.run()).toMatchObject({ result: 'ok', notes: [] })
    world.clock.advance(halfAnHour)
    expect(await world.run()).toMatchObject({ result: 'ok', notes: [] })
  })

  test('a listing that the list hid and shows later, with the latest mark of a lost store, is no other program: each create is looked up', async () => {
    world.deliver(zillowFeed(homes.slice(0, 10)))
    await run('one', tagged)
    world.deliver(zillowFeed([dearer(homes[0]), ...homes.slice(1, 10)]))
    await run('one', tagged)
    const hidden = world.listing(homes[0].mlsNumber) as unknown as StandInListing
    world.standIn.remove(chatbot, homes[0].mlsNumber)
    world.deliver(zillowFeed(homes.slice(1, 10)))
    expect((await run('two', tagged)).notes).toEqual([expect.stringContaining('The store is empty')])
    expect(await run('two', tagged)).toMatchObject({ result: 'ok', notes: [] })
    // For a day after a loss creates are looked up anyway.
    world.clock.advance(2 * 48 * halfAnHour)
    expect(await run('two', tagged)).toMatchObject({ result: 'ok', notes: [] })

    world.standIn.seed(chatbot, [hidden])
    world.deliver(zillowFeed(homes))
    // Until it is known whose that mark is, another program may do the same.
    const theirs = { ...hidden, MLSNumber: homes[10].mlsNumber }
    const notRival = expect.not.arrayContaining([expect.stringMatching(/another (program|store)/i)])
    meanwhile = () => Promise.resolve(void world.standIn.seed(chatbot, [theirs]))
    world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
    world.calls()
    expect(await run('two', tagged)).toMatchObject({ counts: { create: 2, hold: 0 }, notes: notRival })
    expect(world.calls()).toMatchObject({ Create: 1 })
    expect(numbers()).toHaveLength(12)
    expect(new Set(numbers()).size).toBe(12)
    expect((await run('two', tagged)).notes).toEqual(notRival)
  })

  test('nor is a lost store whose latest mark a list hides, and shows, again and again', async () => {
    world.deliver(zillowFeed(homes.slice(0, 10)))
    await run('one', tagged)
    world.deliver(zillowFeed(homes.slice(0, 10).map((home, index) => (index < 7 ? dearer(home) : home))))
    await run('one', tagged)
    await run('two', tagged)
    for (let times = 0; times < 2; times++) {
      world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'hide', shown: 3 } })
      expect(await run('two', tagged)).toMatchObject({ result: 'held', counts: { hold: 7 } })
      expect(await run('two', tagged)).toMatchObject({ result: 'ok', notes: [] })
    }
  })

  /** What a program with this store does while the list that another one reads stays as it was when that one asked. */
  async function together(first: string, second: string, feeds: Record<string, object> = tagged): Promise<Report[]> {
    const [opening, two] = [opened(first, feeds), opened(second, feeds)]
    const reports: Report[] = []
    const sync = async (app: App): Promise<void> => {
      const { report, close } = await app.sync(app.config.feeds[0], 'sync')
      reports.push(report)
      close()
    }
    meanwhile = () => sync(two)
    world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
    await sync(opening)
    for (const app of [opening, two]) await app.close()
    return reports.toReversed()
  }

  function opened(store: string, feeds: Record<string, object>): App {
    world.configure(feeds, {}, store)
    // No call is given up while the other program is at work.
    const clock = {
      now: () => world.clock.now(),
      sleep: (time: number, signal?: AbortSignal) =>
        time <= 2000
          ? world.clock.sleep(time, signal)
          : new Promise<void>((_, reject) => {
              signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
            }),
    }
    return openApp({ ...world.context, clock }, { logLevel: 'error' })
  }

  test.each([
    ['the one that was first', './one.db', './two.db'],
    ['the one that was second', './two.db', './one.db'],
  ])(
    'two that start together on an empty chatbot: %s runs again, then the other, and all is there once',
    async (...of) => {
      const [, next, last] = of
      world.deliver(zillowFeed(homes))
      const [first, two] = await together('./one.db', './two.db')
      expect([first.counts, two.counts]).toMatchObject([{ create: 12 }, { create: 12 }])
      expect(numbers()).toHaveLength(24)

      const reports: ReadReport[] = []
      for (const store of [next, last]) {
        world.clock.advance(halfAnHour)
        world.configure(tagged, {}, store)
        reports.push(await world.run())
      }
      // Whose copies are the first to go depends on the names of the stores; what both hold is the same.
      expect(new Set(numbers()).size).toBe(12)
      expect(numbers()).toHaveLength(12)
      expect(reports.map(({ counts }) => counts)).toMatchObject([
        { create: 0, update: 0, delete: 0 },
        { create: 0, update: 0, delete: 0 },
      ])
      world.calls()
      for (const store of [next, last, next, last]) {
        world.clock.advance(halfAnHour)
        world.configure(tagged, {}, store)
        expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 0, hold: 0 } })
      }
      expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    },
  )

  describe('without any (ownership: snapshot)', () => {
    const unmarked = { north: { ...tagged.north, ownership: 'snapshot' } }

    async function runEach(times: number): Promise<ReadReport[]> {
      const reports: ReadReport[] = []
      for (let time = 0; time < times; time++)
        for (const store of ['one', 'two'] as const) reports.push(await run(store, unmarked))
      return reports
    }

    test('two that start together: the later copies go by what Create answered, and all is there once', async () => {
      world.deliver(zillowFeed(homes))
      await together('./one.db', './two.db', unmarked)
      expect(numbers()).toHaveLength(24)
      const first = world.standIn.listings(chatbot).slice(0, 12)
      world.calls()
      const [report] = await runEach(1)
      expect(report.notes).toEqual([
        'Another program created 12 listings, too; the copies of this one were taken off, and the next run takes over what stays.',
      ])
      expect(world.standIn.listings(chatbot).map(({ id }) => id)).toEqual(first.map(({ id }) => id))
      expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 12 })
      for (const report of await runEach(2))
        expect(report).toMatchObject({ result: 'ok', counts: { create: 0, hold: 0 } })
      expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    })

    test('one that the service refuses to delete keeps no other: the report says why', async () => {
      world.deliver(zillowFeed(homes.slice(0, 3)))
      await together('./one.db', './two.db', unmarked)
      world.standIn.addFault({ operations: ['Delete'], nth: 1, fault: { kind: 'refuse', message: 'it is locked' } })
      const [report] = await runEach(1)
      expect(report).toMatchObject({
        result: 'partial',
        notes: [
          expect.stringMatching(/^Another program created 2 listings, too; the copies of this one were taken off/),
          expect.stringMatching(
            /^Another program created 1 listing, too; the copy of this one could not be taken off \(.*it is locked.*run listing-sync repair north\.$/,
          ),
        ],
      })
      expect(numbers()).toHaveLength(4)
      await runEach(1)
      expect(numbers()).toHaveLength(3)
    })

    test('one that is still shown after its delete is looked at again by the next run, which takes it off', async () => {
      world.deliver(zillowFeed(homes.slice(0, 3)))
      await together('./one.db', './two.db', unmarked)
      world.standIn.addFault({ operations: ['Delete'], times: 1, fault: { kind: 'pretend' } })
      const [report] = await runEach(1)
      expect(report.notes).toContainEqual(
        'Another program created 1 listing, too; the copy of this one was deleted and is still shown: the next run looks again.',
      )
      expect(numbers()).toHaveLength(4)
      await runEach(1)
      expect(numbers()).toHaveLength(3)
    })

    test('credentials that are no longer taken stop the run', async () => {
      world.deliver(zillowFeed(homes))
      await together('./one.db', './two.db', unmarked)
      world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'credentials' } })
      const [report] = await runEach(1)
      expect(report.result).toBe('failed')
      expect(report.applied!.calls.delete).toBeLessThan(12)
    })

    test.each([
      ["another feed's stays, and so does ours", [{ Key: 'ListingSyncFeed', value: 'south/00000000.1' }], [1, 1]],
      ['one that a person made stays, and ours goes', [], [1, 0]],
    ])('of an earlier copy, %s', async (_, ExtensionColumn, left) => {
      world.deliver(zillowFeed(homes.slice(0, 3)))
      world.configure(unmarked, {}, './one.db')
      meanwhile = () => {
        world.standIn.seed(chatbot, [{ MLSNumber: homes[0].mlsNumber, Address: '1 Elm St', ExtensionColumn }])
        return Promise.resolve()
      }
      world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
      expect(await world.run()).toMatchObject({ counts: { create: 3 } })
      await run('one', unmarked)
      const copies = world.standIn
        .listings(chatbot)
        .filter(({ listing }) => listing.MLSNumber === homes[0].mlsNumber)
        .map(({ listing }) => listing.Address === '1 Elm St')
      expect([copies.filter((isOther) => isOther).length, copies.filter((isOther) => !isOther).length]).toEqual(left)
    })

    test.each(['guid', 'next-id'] as const)(
      'where the list does not show what Create answered (%s), a copy of each stays for sure',
      async (createdIdentifier) => {
        world.standIn.changeProfile({ createdIdentifier })
        world.deliver(zillowFeed(homes))
        await together('./one.db', './two.db', unmarked)
        await runEach(2)
        expect(new Set(numbers()).size).toBe(12)
      },
    )
  })

  test.each([
    ["another feed's", ['south/00000000.1']],
    ['one without a store', ['north']],
    ['that of a store that comes after', ['north/ffffffff.1']],
    ["another feed's, in its own chatbot", ['south/00000000.1'], 'mirror'],
    ["another store's beside one without", ['north/00000000.1', 'north']],
    ["another store's beside a stranger's", ['north/00000000.1', 'x']],
  ] as [string, string[], string?][])(
    'a copy of ours stays beside %s, and so does that one',
    async (_, others, ownership) => {
      const feeds = { north: { ...tagged.north, ...(ownership && { ownership }) } }
      world.deliver(zillowFeed(homes.slice(0, 3)))
      await run('one', feeds)
      const copyOf = (mark: string): StandInListing => ({
        ...(world.listing(homes[0].mlsNumber) as unknown as StandInListing),
        ExtensionColumn: [{ Key: 'ListingSyncFeed', value: mark }],
      })
      world.standIn.seed(
        chatbot,
        others.map((mark) => copyOf(mark)),
      )
      for (let time = 0; time < 2; time++) {
        world.calls()
        expect(await run('one', feeds)).toMatchObject({ counts: { hold: 1, delete: 0 } })
        expect(world.calls()).toMatchObject({ Delete: 0 })
      }
    },
  )

  test('a copy of ours goes beside that of a store that comes before, by what Create answered, and only that one', async () => {
    world.deliver(zillowFeed(homes.slice(0, 3)))
    await run('one', tagged)
    const ours = JSON.stringify(world.listing(homes[0].mlsNumber))
    const other = JSON.parse(ours.replace(/north\/[\da-f]{8}\.\d+/, 'north/00000000.1')) as StandInListing
    const [made] = world.standIn.seed(chatbot, [other])
    expect(await run('one', tagged)).toMatchObject({ result: 'partial', counts: { hold: 1 } })
    const left = world.standIn.listings(chatbot).filter(({ listing }) => listing.MLSNumber === homes[0].mlsNumber)
    expect(left.map(({ id }) => id)).toEqual([made.id])
    expect(numbers()).toHaveLength(3)
    expect(await run('one', tagged)).toMatchObject({ result: 'ok', counts: { adopt: 1, unchanged: 2 } })
  })

  test('nor comes back what a delta said to be gone meanwhile', async () => {
    const feeds = { north: { ...tagged.north, delivery: 'delta' } }
    world.deliver(zillowFeed(homes.slice(0, 3)))
    await run('one', feeds)
    const ours = JSON.stringify(world.listing(homes[0].mlsNumber))
    world.standIn.seed(chatbot, [
      JSON.parse(ours.replace(/north\/[\da-f]{8}\.\d+/, 'north/00000000.1')) as StandInListing,
    ])
    world.deliver(zillowFeed([{ ...homes[0], status: 'Withdrawn' }]))
    await run('one', feeds)
    world.deliver(zillowFeed([]))
    expect(await run('one', feeds)).toMatchObject({ counts: { delete: 1, create: 0, adopt: 0 } })
    expect(numbers()).toHaveLength(2)
  })

  test('what a delta said is not forgotten with the copy that is taken off', async () => {
    const feeds = { north: { ...tagged.north, delivery: 'delta' } }
    world.deliver(zillowFeed(homes.slice(0, 3)))
    await run('one', feeds)
    world.deliver(zillowFeed([]))
    expect(await run('one', feeds)).toMatchObject({ result: 'ok', changes: [] })
    const ours = JSON.stringify(world.listing(homes[0].mlsNumber))
    world.standIn.seed(chatbot, [
      JSON.parse(ours.replace(/north\/[\da-f]{8}\.\d+/, 'north/00000000.1')) as StandInListing,
    ])
    expect((await run('one', feeds)).notes.slice(1)).toEqual([
      'Another program created 1 listing, too; the copy of this one was taken off, and the next run takes over what stays.',
    ])
    expect(numbers()).toHaveLength(3)
    expect(await run('one', feeds)).toMatchObject({ result: 'ok', counts: { adopt: 1 } })
    expect(await run('one', feeds)).toMatchObject({ result: 'ok', changes: [] })
  })
})
