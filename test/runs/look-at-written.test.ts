/** What was sent is looked at right after it was sent: the service's own form is told from somebody's edit by that alone. */
import { afterEach, describe, expect, test } from 'vitest'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

const all = homes(1, 12)
const [{ mlsNumber, price, description }] = all

let world: RunWorld
/** What somebody does on the service while the next create or update of a run is under way. */
let meanwhile = (): void => {}
afterEach(() => world.end())

async function begin(profile: StandInProfileInput = {}, feed = {}): Promise<void> {
  meanwhile = () => {}
  const delay = (): Promise<void> => {
    const happens = meanwhile
    meanwhile = () => {}
    happens()
    return Promise.resolve()
  }
  world = await RunWorld.start({ feeds: { north: feed }, service: { attempts: 1 }, standIn: { profile, delay } })
  world.deliver(zillowFeed(all))
}
/** `what` happens while the last listing is created. */
function whileItEnds(what: () => void): void {
  world.standIn.addFault({ operations: ['Create'], mlsNumber: all[11].mlsNumber, fault: { kind: 'slow', wait: 1 } })
  meanwhile = what
}
const cheap = (): unknown => world.standIn.edit(chatbot, mlsNumber, { SalePrice: 7 })
const noWrites = { Create: 0, Update: 0, Delete: 0 }

test('its own form is learnt at once and said once, and the next run makes no call for it', async () => {
  await begin({ cut: { Description: 10 } })
  const first = await world.run()
  expect(first.notes).toContainEqual(
    expect.stringContaining('Description is shown otherwise than sent in 12 listings, right after it was sent'),
  )
  // Two listings were sent twice to make sure of it.
  expect(world.calls()).toMatchObject({ Create: 12, Update: 2 })
  for (let times = 1; times <= 2; times++) {
    const next = await world.run()
    expect(next).toMatchObject({ result: 'ok', counts: { unchanged: 12, update: 0 } })
    expect(next.notes).toEqual([])
  }
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
  expect((await world.run()).notes).toEqual([])
  expect(world.calls()).toMatchObject({ Update: 1 })
})

test('a service that counts only what an update changes: one that was lost and landed is done by the second attempt', async () => {
  await begin({ unchangedUpdate: 'zero' })
  await world.run()
  world.configure({ north: {} }, { attempts: 2 })
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'reset', when: 'after-carrying-out' } })
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
  expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 1 }, calls: { update: 2 } } })
})

test('an edit after our own write is put right by the next run, whichever field it is in', async () => {
  await begin()
  await world.run()
  world.standIn.edit(chatbot, mlsNumber, { Description: 'Mine', SalePrice: 7 })
  expect(await world.run()).toMatchObject({ counts: { update: 1 }, changes: [{ cause: 'drifted' }] })
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: price, Description: description })
})

test('an edit while the run ends is put right at once, and no form is made of it', async () => {
  await begin()
  whileItEnds(cheap)
  const report = await world.run()
  expect(world.calls()).toMatchObject({ Create: 12, Update: 1 })
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: price })
  expect(report).toMatchObject({ result: 'ok', notes: [] })
  cheap()
  expect((await world.run()).changes).toMatchObject([{ cause: 'drifted' }])
})

test('an edit while the run ends is not put right as long as an attempt of the write may still land', async () => {
  await begin()
  await world.run()
  world.configure({ north: {} }, { attempts: 2 })
  world.calls()
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'late', requests: 1000 } })
  world.standIn.addFault({ operations: ['Create'], mlsNumber: home(13).mlsNumber, fault: { kind: 'slow', wait: 1 } })
  meanwhile = cheap
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1), home(13)]))
  await world.run()
  expect(world.calls()).toMatchObject({ Update: 2 })
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: 7 })
  world.clock.advance(16 * 60_000)
  await world.run()
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: dearer(all[0]).price })
})

test("what another feed makes its own while the run ends is that feed's, and not sent again", async () => {
  await begin()
  whileItEnds(() => {
    const [{ ExtensionColumn: marks, ...listing }] = [world.listing(mlsNumber)!]
    const theirs = JSON.parse(JSON.stringify(marks).replace('north', 'west')) as typeof marks
    world.standIn.remove(chatbot, mlsNumber)
    world.standIn.seed(chatbot, [{ ...listing, SalePrice: 7, ExtensionColumn: theirs } as StandInListing])
  })
  await world.run()
  expect(world.calls()).toMatchObject({ Create: 12, Update: 0 })
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: 7 })
})

test('an edit that can not be put right while the run ends is learnt by no form, and put right by the next run', async () => {
  await begin()
  whileItEnds(cheap)
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'refuse' } })
  expect(await world.run()).toMatchObject({ result: 'partial', notes: [] })
  world.clock.advance(24 * 3_600_000)
  await world.run()
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: price })
})

describe('where nobody looked after the write', () => {
  const unseen = async (feed: object = {}): Promise<void> => {
    await begin({}, feed)
    world.standIn.addFault({ operations: ['List'], nth: 2, times: 1, fault: { kind: 'status', status: 500 } })
    expect(await world.run()).toMatchObject({ result: 'ok' })
    world.calls()
  }

  test('what is shown as sent needs no call, and what is shown otherwise is sent once more', async () => {
    await unseen()
    world.standIn.edit(chatbot, mlsNumber, { Description: 'Mine' })
    const report = await world.run()
    expect(report.changes).toMatchObject([{ kind: 'update', why: 'shown otherwise than sent, and never looked at' }])
    expect(world.listing(mlsNumber)).toMatchObject({ Description: description })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
  })

  test('and the service has its own form, it is learnt then', async () => {
    await unseen()
    for (const home of all) world.standIn.edit(chatbot, home.mlsNumber, { Description: home.description.slice(0, 9) })
    world.standIn.changeProfile({ cut: { Description: 9 } })
    expect((await world.run()).counts).toMatchObject({ update: 12 })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
  })
})

test('a write that the service confirms and ignores is told, and sent again a day later', async () => {
  await begin()
  await world.run()
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'pretend' } })
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
  const report = await world.run()
  expect(report).toMatchObject({ result: 'partial', changes: [{ kind: 'hold', cause: 'not-converging' }] })
  expect(report.changes[0].why).toContain('the service confirmed it and goes on showing SalePrice as ')
  world.calls()
  await world.run()
  expect(world.calls()).toMatchObject(noWrites)
  world.clock.advance(24 * 3_600_000)
  const { changes } = await world.run()
  expect(changes).toContainEqual(expect.objectContaining({ kind: 'update', mlsNumber, cause: 'drifted' }))
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: dearer(all[0]).price })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
})

test.each(['changed', 'drifted'])(
  'a price that comes back after each write of ours is told, and no form of the service (%s)',
  async (cause) => {
    await begin()
    await world.run()
    const now = cause === 'changed' ? all.map((listing, nth) => (nth < 2 ? dearer(listing) : listing)) : all
    const before = cause === 'changed' ? all : all.map((listing) => ({ ...listing, price: 7 }))
    const comesBack = (): void => {
      for (const nth of [0, 1]) world.standIn.edit(chatbot, all[nth].mlsNumber, { SalePrice: before[nth].price })
      meanwhile = comesBack
    }
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'slow', wait: 1 } })
    comesBack()
    world.deliver(zillowFeed(now))
    expect(await world.run()).toMatchObject({ counts: { update: 2 }, changes: [{ cause }, { cause }], notes: [] })
    const { result, changes } = await world.run()
    expect(result).toBe('partial')
    expect(changes.map((change) => change.kind === 'hold' && change.cause)).toEqual([
      'not-converging',
      'not-converging',
    ])
    world.standIn.clearFaults()
    world.clock.advance(24 * 3_600_000)
    await world.run()
    expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: now[0].price })
  },
)

test('a service that begins to round coordinates has a form of its own', async () => {
  await begin()
  await world.run()
  world.standIn.changeProfile({ coordinateDecimals: 4 })
  const { notes } = await world.run()
  expect(notes).toContainEqual(expect.stringContaining('Latitude is shown otherwise than sent in '))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
})

test('coordinates that a service rounds are its own form, also where they come with more digits later', async () => {
  await begin({ coordinateDecimals: 4 })
  const rounded = (degrees: number): number => Number(degrees.toFixed(4))
  const before = all.map(({ latitude, longitude, ...listing }) => ({
    ...listing,
    latitude: rounded(latitude),
    longitude: rounded(longitude),
  }))
  world.deliver(zillowFeed(before))
  await world.run()
  world.deliver(zillowFeed(before.map((listing) => ({ ...listing, latitude: listing.latitude + 0.00002 }))))
  const { notes } = await world.run()
  expect(notes).toMatchObject([expect.stringContaining('Latitude is shown otherwise than sent in 12 listings')])
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
})

test.each(['overwrite', 'keep', 'report'])(
  'so is one that is ignored while nobody can look, and it is made no form of (drift: %s)',
  async (drift) => {
    await begin({}, { drift })
    await world.run()
    world.calls()
    await world.run()
    const { List: first } = world.calls()
    world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'pretend' } })
    for (let more = 1; more <= 10; more++)
      world.standIn.addFault({ operations: ['List'], nth: first + more, fault: { kind: 'status', status: 500 } })
    world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
    expect(await world.run()).toMatchObject({ counts: { update: 1 } })
    world.standIn.clearFaults()
    expect((await world.run()).changes).toMatchObject([{ kind: 'hold', cause: 'not-converging' }])
    world.clock.advance(24 * 3_600_000)
    await world.run()
    expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: dearer(all[0]).price })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
  },
)

test('nor is it made a form of where the listing was adopted after the store was lost, and edited since', async () => {
  await begin()
  await world.run()
  world.loseStore()
  expect((await world.run()).counts).toMatchObject({ adopt: 12 })
  world.clock.advance(20 * 60_000)
  cheap()
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'pretend' } })
  expect((await world.run()).notes).toEqual([])
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: price })
})

test("nor is one listing's edit a form of all the others, where the second write was ignored, too", async () => {
  await begin()
  whileItEnds(cheap)
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'pretend' } })
  await world.run()
  world.calls()
  await world.run()
  const { List: first } = world.calls()
  // An update that nobody looks at, and an edit after it.
  world.deliver(zillowFeed([all[0], dearer(all[1]), ...all.slice(2)]))
  for (let more = 1; more <= 10; more++)
    world.standIn.addFault({ operations: ['List'], nth: first + more, fault: { kind: 'status', status: 500 } })
  await world.run()
  world.standIn.clearFaults()
  world.standIn.edit(chatbot, all[1].mlsNumber, { SalePrice: 7 })
  await world.run()
  expect(world.listing(all[1].mlsNumber)).toMatchObject({ SalePrice: dearer(all[1]).price })
})

test('without marks a form that was there before the first write is learnt by two writes', async () => {
  await begin({ cut: { Description: 10 } }, { ownership: 'snapshot', volatile: { refresh: '365d' } })
  await world.run()
  world.loseStore()
  const report = await world.run()
  expect(report).toMatchObject({ result: 'ok', counts: { update: 12 } })
  expect(report.notes).toContainEqual(
    expect.stringContaining('Description is shown otherwise than sent in 12 listings'),
  )
  for (let times = 1; times <= 2; times++) {
    world.clock.advance(24 * 3_600_000)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 }, notes: [] })
  }
})

test.each([
  ['a price', {}],
  ['a price and other words', { description: 'Other words.' }],
])('without marks %s that the service ignores in the first write is no form', async (_, other) => {
  await begin({}, { ownership: 'snapshot', volatile: { refresh: '365d' } })
  await world.run()
  world.loseStore()
  world.standIn.addFault({ operations: ['Update'], fault: { kind: 'pretend' } })
  world.deliver(zillowFeed(all.map((home) => ({ ...dearer(home), ...other }))))
  expect(await world.run()).toMatchObject({ counts: { update: 12 }, notes: [] })
  world.standIn.clearFaults()
  world.clock.advance(24 * 3_600_000)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 12 } })
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: dearer(all[0]).price })
})

test('without marks a change that the service goes on ignoring is made no form of', async () => {
  await begin({}, { ownership: 'snapshot', volatile: { refresh: '365d' } })
  await world.run()
  world.standIn.addFault({ operations: ['Update'], fault: { kind: 'pretend' } })
  world.deliver(zillowFeed([...all.slice(0, 3).map(dearer), ...all.slice(3)]))
  await world.run()
  for (let night = 1; night <= 2; night++) {
    world.clock.advance(24 * 3_600_000)
    expect(await world.run()).toMatchObject({ counts: { update: 3 }, notes: [] })
  }
  world.standIn.clearFaults()
  world.clock.advance(24 * 3_600_000)
  await world.run()
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: dearer(all[0]).price })
})

test('what the service ignored is sent again by the next nightly run, which begins a little earlier', async () => {
  await begin({}, { volatile: { refresh: '365d' } })
  await world.run()
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'pretend' } })
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
  await world.run()
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: price })
  world.clock.advance(24 * 3_600_000 - 60_000)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: dearer(all[0]).price })
})

test('without marks a field that was to be cleared is sent twice: the first update may have been ignored', async () => {
  await begin({}, { ownership: 'snapshot' })
  await world.run()
  world.standIn.edit(chatbot, mlsNumber, { Tours: '3D' })
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'pretend' } })
  expect(await world.run()).toMatchObject({ counts: { update: 1 }, notes: [] })
  expect(world.listing(mlsNumber)).not.toHaveProperty('Tours', '3D')
})

test('a field that was to be cleared, and that an ignored update left, is no form either: the mark tells', async () => {
  await begin()
  await world.run()
  world.standIn.edit(chatbot, mlsNumber, { Tours: '3D' })
  world.standIn.addFault({ operations: ['Update'], times: 1, fault: { kind: 'pretend' } })
  expect(await world.run()).toMatchObject({ counts: { update: 1 }, notes: [] })
  expect((await world.run()).changes).toMatchObject([{ kind: 'hold', cause: 'not-converging' }])
  world.clock.advance(24 * 3_600_000)
  await world.run()
  expect(world.listing(mlsNumber)).not.toHaveProperty('Tours', '3D')
})

test.each([[0], [1]])(
  'without marks a refresh changes nothing of what is shown, and an edit that is kept stays (looks that fail: %i)',
  async (fail) => {
    await begin({}, { ownership: 'snapshot', drift: 'keep' })
    await world.run()
    world.standIn.edit(chatbot, mlsNumber, { Tours: '3D' })
    expect((await world.run()).notes).toMatchObject([expect.stringContaining('stays so until the feed changes it')])
    world.clock.advance(8 * 24 * 3_600_000)
    if (fail > 0)
      world.standIn.addFault({ operations: ['List'], nth: 2, times: 1, fault: { kind: 'status', status: 500 } })
    expect((await world.run()).counts).toMatchObject({ update: 11 })
    for (let days = 1; days <= 2; days++) {
      const { result, changes } = await world.run()
      expect(result).toBe('ok')
      expect(changes.filter(({ cause }) => cause !== 'refresh')).toEqual([])
      world.clock.advance(25 * 3_600_000)
    }
    expect(world.listing(mlsNumber)).toMatchObject({ Tours: '3D' })
  },
)

test('without marks a refresh that nobody could look at is no ignored write of what the service shows in its own form', async () => {
  await begin({ cut: { Description: 10 } }, { ownership: 'snapshot' })
  await world.run()
  world.clock.advance(8 * 24 * 3_600_000)
  // The two pages of the list come, and no look does.
  world.standIn.addFault({ operations: ['List'], nth: 3, times: 100, fault: { kind: 'status', status: 500 } })
  expect((await world.run()).counts).toMatchObject({ update: 12 })
  world.standIn.clearFaults()
  for (const days of [0, 2]) {
    world.clock.advance(days * 24 * 3_600_000)
    const { result, changes } = await world.run()
    expect(result).toBe('ok')
    expect(changes.filter(({ cause }) => cause !== 'refresh')).toEqual([])
  }
})

test('a list that lags behind is no reason to take the old state for a form', async () => {
  await begin()
  await world.run()
  world.standIn.changeProfile({ listLag: 4 })
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
  await world.run()
  world.standIn.changeProfile({ listLag: 0 })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
  cheap()
  expect((await world.run()).changes).toMatchObject([{ cause: 'drifted' }])
})

test('looks as often as it takes: each look-up two calls, or the pages', async () => {
  await begin()
  world.configure({ north: {} }, { profile: { pageSize: 2 } })
  await world.run()
  await world.run()
  const pages = 7
  expect(world.calls()).toMatchObject({ Create: 12, List: 1 + pages + pages })
  world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
  const { estimate } = await world.run()
  expect(world.calls()).toMatchObject({ Update: 1, List: pages + 2 })
  expect(estimate.calls).toBe(1 + 2)
})
