/** What is ours and what is not, over whole runs: marks, lost stores, other feeds, hands of people, doubles. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { dearer, home, homes, keys, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

const withStatus = (home: Home, status: string): Home => ({ ...home, status })
const minute = 60_000
const day = 86_400_000
const all = homes(1, 12)
const north = { volatile: { refresh: '365d' } }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north } })
})
afterEach(() => world.end())

const numbers = (): string[] =>
  world
    .listings()
    .map((item) => String(item['MLSNumber']))
    .toSorted()
const kinds = (report: { changes: { kind: string; mlsNumber: string }[] }, kind: string): string[] =>
  report.changes.flatMap((change) => (change.kind === kind ? [change.mlsNumber] : []))

async function load(feed: readonly Home[] = all): Promise<void> {
  world.deliver(zillowFeed(feed))
  expect((await world.run()).result).toBe('ok')
  await world.run()
  world.calls()
}

async function nothingLeft(): Promise<void> {
  world.calls()
  expect((await world.run()).result).toBe('ok')
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

describe('a lost store', () => {
  test('is rebuilt from the marks without a storm; creates wait for `settle`', async () => {
    await load()
    world.loseStore()
    const next = [dearer(all[3]), ...all.slice(4), ...homes(13, 14)]
    world.deliver(zillowFeed(next))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { adopt: 8, update: 1, delete: 3, create: 0, hold: 2 } })
    expect(report.notes.join()).toContain(
      'The store is empty, but the service shows 12 listings of this feed: they are adopted',
    )
    expect(kinds(report, 'delete')).toEqual(keys(all.slice(0, 3)))
    expect(report.changes.filter((change) => change.kind === 'hold').map((change) => change.cause)).toEqual([
      'lost-store',
      'lost-store',
    ])
    expect(world.calls()).toMatchObject({ Create: 0, Update: 1, Delete: 1 })

    world.clock.advance(10 * minute)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 0, hold: 2 } })
    world.clock.advance(6 * minute)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
    expect(numbers()).toEqual(keys(next))
    await nothingLeft()
  })

  test('a create of the process that died, landing in the meantime, is taken over', async () => {
    await load()
    const late = { kind: 'late', requests: 1000 } as const
    world.standIn.addFault({ operations: ['Create'], times: 1, fault: late })
    world.deliver(zillowFeed([...all, home(13)]))
    await world.run()
    world.loseStore()
    expect((await world.run()).counts).toMatchObject({ adopt: 12, create: 0, hold: 1 })
    world.standIn.landLateCalls()
    world.clock.advance(16 * minute)
    expect((await world.run()).counts).toMatchObject({ adopt: 1, create: 0 })
    expect(numbers()).toEqual(keys([...all, home(13)]))
  })

  test('deletes by mark stay below the limit', async () => {
    world.configure({ north: { ...north, limits: { share: 10 } } })
    await load()
    world.loseStore()
    world.deliver(zillowFeed(all.slice(4)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 4 } })
    expect(numbers()).toEqual(keys(all))
  })

  test('of a small agency is no leave to delete most of it: what is ours is the measure of the delivery', async () => {
    const few = all.slice(0, 8)
    await load(few)
    world.loseStore()
    world.deliver(zillowFeed(few.slice(0, 3)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { delete: 0, hold: 5 } })
    expect(report.notes.join()).toContain('5 of 8 listings would leave the site; up to 3 may in 24 hours')
    expect(numbers()).toEqual(keys(few))
  })

  test.each([
    ['half of what is ours leaves', all.slice(6), { delete: 0 }],
    ['all prices are ten times higher', all.map((home) => ({ ...home, price: home.price * 10 })), { update: 9 }],
  ])('is guarded as before once deliveries are whole again, however late: %s', async (_, next, counts) => {
    await load()
    world.loseStore()
    for (let night = 1; night <= 3; night++) {
      world.deliver(
        zillowStart +
          all
            .slice(0, 3)
            .map((home) => zillowRecord(home))
            .join(''),
      )
      expect(await world.run()).toMatchObject({ result: 'partial' })
      world.clock.advance(24 * 60 * minute)
    }
    world.deliver(zillowFeed(next))
    expect(await world.run()).toMatchObject({ result: 'held', counts })
  })

  test('holds nothing of the first load of a feed that had loaded nothing before, however late that comes', async () => {
    world.configure({ north, south: north })
    world.deliver(zillowFeed(all), 'north.xml')
    await world.run('sync', 'north')
    world.loseStore()
    world.deliver(zillowStart, 'south.xml')
    for (let night = 1; night <= 3; night++) {
      await world.run('sync', 'north')
      expect(await world.run('sync', 'south')).toMatchObject({ result: 'partial' })
      world.clock.advance(24 * 60 * minute)
    }
    world.deliver(zillowFeed(homes(41, 60)), 'south.xml')
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { create: 20, hold: 0 } })
  })

  test('without marks (ownership: snapshot) nothing is deleted that it does not remember', async () => {
    world.configure({ north: { ...north, ownership: 'snapshot' } })
    await load()
    for (const item of world.listings()) expect(JSON.stringify(item)).not.toContain('ListingSyncFeed')
    world.deliver(zillowFeed(all.slice(2)))
    expect((await world.run()).counts).toMatchObject({ delete: 2 })
    world.loseStore()
    world.deliver(zillowFeed(all.slice(4)))
    expect((await world.run()).counts).toMatchObject({ adopt: 8, delete: 0, create: 0, update: 0 })
    expect(numbers()).toEqual(keys(all.slice(2)))
  })
})

describe('listings made by hand', () => {
  const hand = (home: Home, patch: Partial<StandInListing> = {}): StandInListing => ({
    ...(world.listing(home.mlsNumber) as unknown as StandInListing),
    ...patch,
  })

  test('that the feed does not hold are left alone, whatever happens', async () => {
    await load()
    const foreign = [hand(all[0], { MLSNumber: 'HAND-1', ExtensionColumn: [] }), hand(all[1], { MLSNumber: '' })]
    world.standIn.seed(chatbot, foreign)
    world.deliver(zillowFeed(all.slice(2)))
    expect((await world.run()).counts).toMatchObject({ delete: 2 })
    world.loseStore()
    await world.run()
    expect(world.listings().filter((item) => ['HAND-1', ''].includes(String(item['MLSNumber'])))).toEqual(foreign)
  })

  test('that are as the feed says are adopted: ours from then on, without a call', async () => {
    world.configure({ north: { ...north, ownership: 'snapshot' } })
    await load()
    world.loseStore()
    world.configure({ north })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { adopt: 12 } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    world.deliver(zillowFeed(all.slice(1)))
    expect(kinds(await world.run(), 'delete')).toEqual(keys(all.slice(0, 1)))
  })

  test('that are otherwise are updated and marked', async () => {
    world.configure({ north: { ...north, ownership: 'snapshot' } })
    await load()
    world.loseStore()
    world.configure({ north })
    world.deliver(zillowFeed(all.map((home, index) => (index < 2 ? dearer(home) : home))))
    const report = await world.run()
    expect(report.counts).toMatchObject({ adopt: 10, update: 2 })
    expect(report.changes[0].why).toBe('on the service, never sent by us')
    expect(JSON.stringify(world.listing(all[0].mlsNumber))).toContain('ListingSyncFeed')
    await nothingLeft()
  })
})

test('a mark that the service cut is still its feed’s', async () => {
  await load()
  const cut = [{ Key: 'ListingSyncFeed', value: 'north/1f3a' }]
  for (const { mlsNumber } of all) world.standIn.edit(chatbot, mlsNumber, { ExtensionColumn: cut })
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1, 11)]))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 1, hold: 0 } })
  expect(numbers()).toEqual(keys(all.slice(0, 11)))
  expect(world.listing(all[0].mlsNumber)).toMatchObject({ SalePrice: dearer(all[0]).price })
})

test('a person gives a listing of ours another MLSNumber: it is reported, and neither deleted nor created a second time', async () => {
  await load()
  world.standIn.edit(chatbot, all[0].mlsNumber, { MLSNumber: 'BY-HAND' })
  const report = await world.run()
  expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0 } })
  expect(report.changes.map((change) => change.mlsNumber).toSorted()).toEqual(['BY-HAND', all[0].mlsNumber])
  expect(report.notes.join()).toContain('MLSNumber')
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  world.standIn.edit(chatbot, 'BY-HAND', { MLSNumber: all[0].mlsNumber })
  await nothingLeft()
})

test.each([
  ['in capitals', { mlsNumberKept: 'upper-case', caseInsensitiveKeys: true }, 'ia-1', 'IA-1'],
  ['in capitals, with keys as they are kept', { mlsNumberKept: 'upper-case' }, 'ia-1', 'IA-1'],
  ['cut', { mlsNumberKept: 'cut' }, 'IA-12345678901234567890', 'IA-12345678901234567'],
] as const)('what the service keeps %s stays, once, and is told', async (_, profile, sent, kept) => {
  world.standIn.changeProfile(profile)
  await load([{ ...all[0], mlsNumber: sent }, ...all.slice(1)])
  const there = [kept, ...keys(all.slice(1))]
  world.clock.advance(61 * minute)
  const sentence = `the service lists ${sent} as ${kept}: write the MLSNumber as it does`
  const report = await world.run()
  expect(report).toMatchObject({ result: 'partial', counts: { create: 1, delete: 1 } })
  expect(report.changes.map(({ outcome }) => outcome?.error)).toContainEqual(expect.stringContaining(sentence))
  for (let night = 1; night <= 10; night++) {
    world.clock.advance(24 * 60 * minute)
    expect((await world.run()).result).toMatch(/partial|held/)
    expect(numbers()).toEqual(there)
  }
  world.deliver(zillowFeed(all.slice(1)))
  for (let night = 1; night <= 4; night++) {
    world.clock.advance(24 * 60 * minute)
    await world.run()
  }
  expect(numbers()).toEqual(keys(all.slice(1)))
  await nothingLeft()
})

test.each([
  ['in capitals', 'upper-case', 'ia-1', 'IA-1'],
  ['cut', 'cut', 'IA-12345678901234567890', 'IA-12345678901234567'],
] as const)(
  'what the service keeps %s is not created anew where no mark tells',
  async (_, mlsNumberKept, sent, kept) => {
    world.standIn.changeProfile({ mlsNumberKept })
    world.configure({ north: { ownership: 'snapshot' } })
    await load([{ ...all[0], mlsNumber: sent }, ...all.slice(1)])
    const sentence = `the service lists ${sent} as ${kept}: write the MLSNumber as it does`
    for (let night = 1; night <= 10; night++) {
      world.clock.advance(24 * 60 * minute)
      const { result, changes } = await world.run()
      expect(result).toBe('partial')
      expect(changes.map(({ outcome }) => outcome?.error)).toContainEqual(expect.stringContaining(sentence))
      expect(numbers()).toEqual([kept, ...keys(all.slice(1))])
    }
    // A person took it off: its number is free again.
    world.standIn.remove(chatbot, kept)
    world.clock.advance(24 * 60 * minute)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
  },
)

test('what somebody made at the same address under a number that ours begins with is another home', async () => {
  world.configure({ north: { ownership: 'snapshot' } })
  const ours = { ...all[0], mlsNumber: 'IA-12' }
  await load([ours, ...all.slice(1)])
  world.standIn.seed(chatbot, [{ ...world.listing('IA-12')!, MLSNumber: 'IA-1' }])
  world.standIn.remove(chatbot, 'IA-12')
  world.clock.advance(24 * 60 * minute)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 1 } })
})

test('what the service keeps in capitals stays without a guard, too, and minutes after it was created', async () => {
  world.standIn.changeProfile({ mlsNumberKept: 'upper-case' })
  world.configure({ north: { limits: 'off' } })
  await load([{ ...all[0], mlsNumber: 'ia-1' }, ...all.slice(1)])
  for (const minutes of [5, 5, 20, 20]) {
    world.clock.advance(minutes * minute)
    const { changes } = await world.run()
    expect(changes.map(({ outcome }) => outcome?.error)).toContainEqual(expect.stringContaining('lists ia-1 as IA-1'))
    expect(numbers()).toEqual(['IA-1', ...keys(all.slice(1))])
  }
})

test('a feed that is taken out of the configuration, or renamed, deletes nothing', async () => {
  await load()
  world.deliver(zillowFeed(all.slice(0, 3)), 'other.xml')
  world.configure({ other: {} })
  await world.run('sync', 'other')
  expect(numbers()).toEqual(keys(all))
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
})

describe('drift', () => {
  const change = (): number => world.standIn.edit(chatbot, all[0].mlsNumber, { Description: 'Mine' })

  test('is put right as often as it comes back', async () => {
    await load()
    for (let time = 1; time <= 5; time++) {
      change()
      expect(await world.run()).toMatchObject({ counts: { update: 1 }, changes: [{ cause: 'drifted' }] })
      expect(world.listing(all[0].mlsNumber)).toMatchObject({ Description: all[0].description })
      expect((await world.run()).counts).toMatchObject({ update: 0, hold: 0 })
    }
  })

  test('is seen right after our own write', async () => {
    await load()
    world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
    await world.run()
    change()
    expect(await world.run()).toMatchObject({ counts: { update: 1 }, changes: [{ cause: 'drifted' }] })
  })
})

test('what leaves the feed while the index of the service is rebuilt is not forgotten, and not made twice', async () => {
  await load()
  for (const { mlsNumber } of all) world.standIn.remove(chatbot, mlsNumber)
  world.deliver(zillowFeed(all.slice(0, 10)))
  expect((await world.run()).counts).toMatchObject({ forget: 0, hold: 12 })
  world.deliver(zillowFeed(all))
  expect((await world.run()).counts).toMatchObject({ create: 0, hold: 12 })
  expect(world.calls()).toMatchObject({ Create: 0 })
})

test('what somebody takes off after each run is made again three times, then held as not converging', async () => {
  await load()
  for (let time = 1; time <= 3; time++) {
    world.standIn.remove(chatbot, all[0].mlsNumber)
    expect((await world.run()).counts).toMatchObject({ create: 1, hold: 0 })
  }
  world.standIn.remove(chatbot, all[0].mlsNumber)
  const report = await world.run()
  expect(report).toMatchObject({ result: 'partial', changes: [{ kind: 'hold', cause: 'not-converging' }] })
})

test('what somebody edits after each run is put right three times, then held with sent and shown', async () => {
  await load(all)
  const [{ mlsNumber, description }] = all
  let times = 0
  const edits = (): number => world.standIn.edit(chatbot, mlsNumber, { Description: `Its own words, ${++times}` })
  for (let update = 1; update <= 3; update++) {
    edits()
    expect(await world.run()).toMatchObject({ counts: { update: 1 }, changes: [{ cause: 'drifted' }] })
  }
  edits()
  expect(await world.run()).toMatchObject({
    result: 'partial',
    changes: [
      { kind: 'hold', cause: 'not-converging', fields: [{ from: `Its own words, ${times}`, to: description }] },
    ],
  })
})

describe('two feeds of one chatbot', () => {
  beforeEach(() => world.configure({ north, south: north }))

  test('the first one that has a listing keeps it, neither touches the other’s', async () => {
    world.deliver(zillowFeed(homes(1, 5)), 'north.xml')
    world.deliver(zillowFeed(homes(5, 9).map(dearer)), 'south.xml')
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { create: 5 } })
    const south = await world.run('sync', 'south')
    expect(south).toMatchObject({ result: 'ok', counts: { create: 4, hold: 1 } })
    expect(south.changes.find((change) => change.kind === 'hold')).toMatchObject({
      mlsNumber: home(5).mlsNumber,
      cause: 'other-feed',
      why: 'also in north, a feed of this chatbot that has it',
    })
    expect(numbers()).toEqual(keys(homes(1, 9)))
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { unchanged: 5, delete: 0 } })

    // North lets it go, and south takes it.
    world.deliver(zillowFeed(homes(1, 4)), 'north.xml')
    expect((await world.run('sync', 'north')).counts).toMatchObject({ delete: 1 })
    expect((await world.run('sync', 'south')).counts).toMatchObject({ create: 1, hold: 0 })
    expect((await world.run('sync', 'north')).counts).toMatchObject({ delete: 0, unchanged: 4 })
    expect(numbers()).toEqual(keys(homes(1, 9)))
  })

  test('another home under the same number is told, as it is on no site', async () => {
    world.deliver(zillowFeed(homes(1, 5)), 'north.xml')
    world.deliver(
      zillowFeed([home(3), { ...home(4), street: '9 Other Street' }, { ...home(5), street: '' }]),
      'south.xml',
    )
    await world.run('sync', 'north')
    expect((await world.run('sync', 'south')).notes).toEqual([
      `2 listings are also in north, a feed of this chatbot that has it: ${home(3).mlsNumber}, ${home(5).mlsNumber}`,
      `1 listing is also in north, a feed of this chatbot that has it with another address (different homes need mlsPrefix): ${home(4).mlsNumber}`,
    ])
  })

  test('what both have is one line of the report, however long that goes on, and nothing to wait for', async () => {
    world.deliver(zillowFeed(homes(1, 5)), 'north.xml')
    world.deliver(zillowFeed(homes(1, 6)), 'south.xml')
    await world.run('sync', 'north')
    for (let time = 0; time < 3; time++) {
      const { status, stdout } = await world.executed('sync', 'south')
      expect(status).toBe(0)
      const lines = stdout.split('\n').filter((line) => line.includes('also in north'))
      const named = homes(1, 3).map((home) => home.mlsNumber)
      expect(lines).toEqual([
        `  note  5 listings are also in north, a feed of this chatbot that has it: ${named.join(', ')} and 2 more`,
      ])
      expect(stdout).not.toContain('Why changes are held')
    }
    expect((await world.executed('status', 'south')).stdout).not.toContain('held')
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { unchanged: 5 }, notes: [] })
  })

  test('a feed that left the configuration is named as such; status says what hands its listings over', async () => {
    world.deliver(zillowFeed(homes(1, 2)), 'north.xml')
    world.deliver(zillowFeed(homes(1, 2)), 'south.xml')
    await world.run('sync', 'north')
    world.configure({ south: north })
    const { status, stdout } = await world.executed('sync', 'south')
    expect(status).toBe(0)
    expect(stdout).toContain(
      '2 listings are also in north, a feed that no longer fills this chatbot (listing-sync status says what to do): ',
    )
    expect((await world.executed('status')).stdout).toContain('formerly: [north]')
    world.configure({ south: { ...north, formerly: ['north'] } })
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { unchanged: 2, hold: 0 } })
  })

  test.each([
    ['is taken out of the configuration', { south: north }],
    ['fills another chatbot now', { north: { ...north, chatbot: 'SN-2' }, south: north }],
  ])('what people delete of a feed that %s the second creates, once a whole list lacks it', async (_, feeds) => {
    world.deliver(zillowFeed(homes(1, 5)), 'north.xml')
    world.deliver(zillowFeed(homes(4, 8)), 'south.xml')
    await world.run('sync', 'north')
    await world.run('sync', 'south')
    world.configure(feeds)
    // As status says what to do. The list may still lag behind a create of the other feed.
    for (const text of keys(homes(1, 5))) world.standIn.remove(chatbot, text)
    expect((await world.run('sync', 'south')).counts).toMatchObject({ create: 0, hold: 2 })
    world.clock.advance(16 * minute)
    const { changes } = await world.run('sync', 'south')
    expect(changes.map(({ kind, why }) => [kind, why])).toEqual(
      Array.from({ length: 2 }, () => ['create', 'taken over from feed north, which no longer fills this chatbot']),
    )
    expect(numbers()).toEqual(keys(homes(4, 8)))
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { unchanged: 5 } })
  })

  test('what the first lets go the second creates at once, however much it is, from a file that did not change', async () => {
    world.configure({ north: { ...north, limits: 'off' }, south: north })
    world.deliver(zillowFeed(homes(1, 16)), 'north.xml')
    world.deliver(zillowFeed(homes(1, 20)), 'south.xml')
    await world.run('sync', 'north')
    expect((await world.run('sync', 'south')).counts).toMatchObject({ create: 4, hold: 16 })
    await world.run('sync', 'south')
    world.clock.advance(25 * 60 * minute)
    world.deliver(zillowFeed(homes(1, 1)), 'north.xml')
    expect((await world.run('sync', 'north')).counts).toMatchObject({ delete: 15 })
    const south = await world.run('sync', 'south')
    expect(south).toMatchObject({ result: 'ok', counts: { create: 15, hold: 1, unchanged: 4 } })
    expect(new Set(south.changes.map(({ cause }) => cause))).toEqual(new Set(['new', 'other-feed']))
    expect(numbers()).toEqual(keys(homes(1, 20)))
    // Nor does it leave no room for what is new the same day.
    world.deliver(zillowFeed(homes(1, 30)), 'south.xml')
    expect((await world.run('sync', 'south')).counts).toMatchObject({ create: 10, hold: 1 })
  })

  test('also after the store was lost', async () => {
    world.deliver(zillowFeed(homes(1, 5)), 'north.xml')
    world.deliver(zillowFeed(homes(5, 9)), 'south.xml')
    await world.run('sync', 'north')
    await world.run('sync', 'south')
    world.loseStore()
    const south = await world.run('sync', 'south')
    expect(south.counts).toMatchObject({ adopt: 4, hold: 1, delete: 0 })
    expect((await world.run('sync', 'north')).counts).toMatchObject({ adopt: 5, delete: 0 })
    expect(numbers()).toEqual(keys(homes(1, 9)))
  })

  test('of two chatbots know nothing of one another', async () => {
    world.configure({ north, south: { ...north, chatbot: 'SN-2' } })
    world.deliver(zillowFeed(homes(1, 5)), 'north.xml')
    world.deliver(zillowFeed(homes(1, 3)), 'south.xml')
    expect((await world.run('sync', 'north')).counts).toMatchObject({ create: 5 })
    expect((await world.run('sync', 'south')).counts).toMatchObject({ create: 3 })
    expect(world.standIn.listings('SN-2')).toHaveLength(3)
    expect(await world.run('sync', 'north')).toMatchObject({ result: 'ok', counts: { unchanged: 5 } })
  })
})

test('a feed that is pointed at another chatbot fills that one, and leaves the old one as it is', async () => {
  await load()
  world.configure({ north: { ...north, chatbot: 'SN-2' } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 12 } })
  expect(world.standIn.listings('SN-2')).toHaveLength(12)
  expect(numbers()).toEqual(keys(all))
})

test.each(['waited', 'was refused'])('what %s in the chatbot before keeps nothing off the new one', async (how) => {
  await load()
  // The feed of another customer, by a wrong SerialNumber: a person is asked, and corrects it.
  world.deliver(zillowFeed(homes(101, 112)))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 24 } })
  if (how === 'was refused') await world.executed('approve', 'north', '--yes', '--refuse')
  world.configure({ north: { ...north, chatbot: 'SN-2' } })
  expect(await world.run('diff')).toMatchObject({ result: 'changes', counts: { create: 12, hold: 0 } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 12, hold: 0 } })
  expect(world.standIn.listings('SN-2')).toHaveLength(12)
  expect((await world.executed('status')).stdout).not.toContain('held')
})

test('a wrong SerialNumber, under which runs fail, ends no refusal', async () => {
  await load()
  world.clock.advance(2 * day)
  world.deliver(zillowFeed(all.slice(6)))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  await world.executed('approve', 'north', '--yes', '--refuse')
  world.configure({ north: { ...north, chatbot: 'SN-11' } })
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'refuse', code: 403 } })
  expect(await world.run()).toMatchObject({ result: 'failed' })
  world.configure({ north })
  for (let night = 0; night < 5; night++) {
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    world.clock.advance(day)
  }
})

describe('what leaves the market', () => {
  test('by a status that means removal is deleted, also from a delivery without its end', async () => {
    await load()
    const next = all.map((home, index) => (index === 2 ? withStatus(home, 'Withdrawn') : home))
    world.deliver(zillowStart + next.map((home) => zillowRecord(home)).join(''))
    const report = await world.run()
    expect(report).toMatchObject({ delivery: { complete: false, removals: 1, listings: 11 }, counts: { delete: 1 } })
    expect(numbers()).toEqual(keys(all.filter((_, index) => index !== 2)))
  })

  test('by `where` is deleted with the reason', async () => {
    await load()
    const { city } = all[0]
    const kept = all.filter((home) => home.city === city)
    world.configure({ north: { ...north, limits: 'off', where: { City: [city] } } })
    const report = await world.run()
    expect(report).toMatchObject({ delivery: { filtered: 12 - kept.length }, counts: { delete: 12 - kept.length } })
    expect(numbers()).toEqual(keys(kept))
    await nothingLeft()
  })

  test('sold stays, as sold', async () => {
    await load()
    world.deliver(zillowFeed([withStatus(all[0], 'Sold'), ...all.slice(1)]))
    await world.run()
    expect(world.listing(all[0].mlsNumber)).toMatchObject({ Status: 'Sold' })
  })

  test('by absence from a delta feed does not; by its status it does', async () => {
    world.configure({ north: { ...north, delivery: 'delta' } })
    await load()
    world.deliver(zillowFeed([dearer(all[0]), withStatus(all[1], 'Withdrawn'), home(13)]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { create: 1, update: 1, delete: 1, hold: 0 } })
    expect(numbers()).toEqual(keys([all[0], ...all.slice(2), home(13)]))
  })
})

describe('doubles', () => {
  test('equal ones in a delivery are one', async () => {
    world.deliver(zillowFeed([...all, all[4]]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', delivery: { records: 13, duplicates: 1 }, counts: { create: 12 } })
    expect(numbers()).toEqual(keys(all))
    await nothingLeft()
  })

  test('differing ones in a delivery are held, and what is there stays as it is', async () => {
    await load()
    world.deliver(zillowFeed([...all, dearer(all[4])]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', counts: { unchanged: 11, hold: 2 } })
    expect(report.changes[0]).toMatchObject({ mlsNumber: all[4].mlsNumber, cause: 'twice-delivered' })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    world.deliver(zillowFeed(all))
    await nothingLeft()
  })

  test('on the service are reported, and not made worse', async () => {
    await load()
    const [double] = world.standIn.seed(chatbot, [
      { ...(world.listing(all[4].mlsNumber) as unknown as StandInListing) },
    ])
    world.deliver(zillowFeed(all.map(dearer)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', counts: { update: 11, hold: 1 } })
    expect(report.changes.find((change) => change.kind === 'hold')).toMatchObject({
      mlsNumber: all[4].mlsNumber,
      cause: 'twice-shown',
    })
    world.deliver(zillowFeed([...all.slice(0, 4), ...all.slice(5)].map(dearer)))
    expect(await world.run()).toMatchObject({ result: 'partial', counts: { delete: 0, hold: 1 } })
    expect(world.listings().filter((item) => item['MLSNumber'] === all[4].mlsNumber)).toHaveLength(2)
    expect(double.listing.MLSNumber).toBe(all[4].mlsNumber)
    // `repair` knows no copy of what this feed never had.
    const theirs = { ...double.listing, MLSNumber: 'TWICE', ExtensionColumn: [] }
    world.standIn.seed(chatbot, [theirs, theirs])
    world.deliver(zillowFeed([...all, { ...home(30), mlsNumber: 'TWICE' }].map(dearer)))
    const { changes } = await world.run()
    expect(changes.map(({ why }) => why)).toContain(
      "2 listings on the service have this MLSNumber: none is known as this feed's, so delete all but one on the chatbot",
    )
  })
})

test.each(['__proto__', 'constructor', 'MLS 12/34 #ä', '0007'])(
  'MLSNumber %j is a name like any other',
  async (name) => {
    await load([...all, { ...home(20), mlsNumber: name }])
    expect(numbers()).toContain(name)
    world.deliver(zillowStart + all.map((home) => zillowRecord(home)).join('') + zillowEnd)
    expect(kinds(await world.run(), 'delete')).toEqual([name])
    expect(numbers()).toEqual(keys(all))
  },
)
