/** A delta says a thing once: what of it is not carried out is not lost, and what is held of it ends like any hold. */
import { rmSync, utimesSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UserError } from '../../src/core/errors.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { dearer, home, homes, keys, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { until } from '../support/until.ts'
import { startFeedServer } from './feed-server.ts'
import type { FeedServer } from './feed-server.ts'

const hour = 3_600_000
const day = 24 * hour
const all = homes(1, 20)
const next = home(21)
const volatile = { refresh: '365d' }
const gone = (home: Home): Home => ({ ...home, status: 'Withdrawn' })
const tenfold = (home: Home): Home => ({ ...home, price: home.price * 10 })

let world: RunWorld
let server: FeedServer
beforeEach(async () => {
  server = await startFeedServer()
  world = await RunWorld.start()
  configure()
  expect(await delta(all)).toMatchObject({ result: 'ok', counts: { create: 20 } })
  expect(await delta([])).toMatchObject({ result: 'ok', delivery: { records: 0 } })
})
afterEach(async () => {
  await server.close()
  await world.end()
})

const configure = (feed: object = {}, service: object = {}): void =>
  world.configure({ north: { source: `${server.url}/north.xml`, delivery: 'delta', volatile, ...feed } }, service)

/** A run on a delta of these homes, an hour after the last one. */
function delta(some: readonly Home[] | string, after = hour): Promise<ReadReport> {
  server.give(typeof some === 'string' ? some : zillowFeed(some))
  world.clock.advance(after)
  return world.run()
}
const there = (): string[] => world.numbers()
const priceOf = ({ mlsNumber, rental }: Home): unknown => world.listing(mlsNumber)?.[rental ? 'RentPrice' : 'SalePrice']

async function pending(): Promise<string[]> {
  const store = openStore(`${world.folder}/store.db`)
  const found: string[] = []
  for await (const page of store.deliveries.pending('north')) found.push(...page.map(({ key }) => key))
  await store.close()
  return found
}

/** Nothing is pending, and a delta of nothing does nothing. */
async function isDone(): Promise<void> {
  expect(await pending()).toEqual([])
  world.calls()
  expect(await delta([])).toMatchObject({ result: 'ok', delivery: { records: 0 }, notes: [], changes: [] })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

test('of what a lost store knew a delta tells nothing again: each create is looked up, however long ago that was', async () => {
  world.loseStore()
  expect((await delta([])).notes).toContainEqual(expect.stringContaining('The store is empty'))
  const last = all[19]
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'hide' } })
  await delta([dearer(last)], 3 * day)
  expect(there()).toEqual(keys(all))
  expect(priceOf(last)).toBe(dearer(last).price)
})

describe.each([
  ['leading zeros', (number: string) => `00${number}`],
  ['another case', (number: string) => number.toLowerCase()],
  ['a prefix', (number: string) => `MLS-${number}`],
  ['a blank', (number: string) => `${number.slice(0, 3)} ${number.slice(3)}`],
])('homes whose MLSNumbers get %s', (_, spell) => {
  const respelled = (home: Home): Home => ({ ...home, mlsNumber: spell(home.mlsNumber) })

  test('few of them: the old number goes with the new one, in the same delta', async () => {
    expect(await delta(all.slice(0, 3).map(respelled))).toMatchObject({
      result: 'ok',
      counts: { create: 3, delete: 3 },
    })
    expect(there()).toEqual(keys([...all.slice(0, 3).map(respelled), ...all.slice(3)]))
    await isDone()
  })

  test('half of them: none is ever there twice, and they wait like any that come under other numbers', async () => {
    const half = all.slice(0, 10).map(respelled)
    const report = await delta(half)
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 20 } })
    expect(report.notes.join()).toContain(
      '10 of 20 homes came under other MLSNumbers. Held with their old numbers until ',
    )
    // What is said of one meanwhile goes along.
    await delta([dearer(half[0])], day)
    expect(there()).toEqual(keys(all))
    await delta([], day)
    expect(await delta([], day)).toMatchObject({ result: 'ok', counts: { create: 10, delete: 10 } })
    expect(there()).toEqual(keys([...half, ...all.slice(10)]))
    expect(priceOf(half[0])).toBe(dearer(half[0]).price)
    await isDone()
  })

  test.each(['', ', and were approved'])(
    'and then are as before while they wait%s: none is there twice',
    async (approved) => {
      const half = all.slice(0, 10)
      expect(await delta(half.map(respelled))).toMatchObject({ result: 'held', counts: { hold: 20 } })
      if (approved !== '') await world.approve()
      // Of five no byte is other than before.
      const back = [...half.slice(0, 5), ...half.slice(5).map(dearer)]
      expect(await delta(back, day)).toMatchObject({
        result: 'ok',
        counts: { create: 0, update: 5, delete: 0, hold: 0 },
      })
      expect(await delta([], 3 * day)).toMatchObject({ result: 'ok', changes: [] })
      expect(there()).toEqual(keys(all))
      await isDone()
    },
  )

  test('while they wait as new ones are not created under both', async () => {
    const more = homes(21, 36)
    expect(await delta(more)).toMatchObject({ result: 'held', counts: { hold: 16 } })
    expect(await delta(more.map(respelled), day)).toMatchObject({ result: 'held', counts: { hold: 16 } })
    expect(await delta([], 3 * day)).toMatchObject({ result: 'ok', counts: { create: 16 } })
    expect(there()).toEqual(keys([...all, ...more.map(respelled)]))
    await isDone()
  })

  test('and are refused by the service, and then are as before: none is there twice', async () => {
    const refuse = { kind: 'refuse', message: 'No' } as const
    world.standIn.addFault({ operations: ['Create'], times: 3, fault: refuse })
    expect(await delta(all.slice(0, 3).map(respelled))).toMatchObject({ result: 'partial' })
    expect(await delta([dearer(all[0])], 2 * day)).toMatchObject({ counts: { create: 2, update: 1, delete: 2 } })
    expect(there()).toEqual(keys([all[0], ...all.slice(1, 3).map(respelled), ...all.slice(3)]))
    await isDone()
  })
})

test('a home of which a store of before notes no address is not there in two spellings', async () => {
  const store = new Database(`${world.folder}/store.db`)
  store.exec("UPDATE listing SET home = NULL, mapping = 'before'")
  store.close()
  // Or the store would be taken for a copy.
  rmSync(`${world.folder}/store.db.serial`)
  const small = all.slice(0, 3).map((home) => ({ ...home, mlsNumber: home.mlsNumber.toLowerCase() }))
  expect(await delta(small)).toMatchObject({ result: 'ok', counts: { create: 3, delete: 3 } })
})

test('a home that is said to be gone under its number in another spelling stays, and is told', async () => {
  const small = all.slice(0, 2).map((home) => gone({ ...home, mlsNumber: home.mlsNumber.toLowerCase() }))
  expect(await delta(small)).toMatchObject({
    result: 'ok',
    notes: [
      'The feed says that ia20000001 is gone, which is not known here, and IA20000001, which differs from it in spelling alone, stays, as of 1 more: if they are one listing, have the feed name it as before, or send a whole delivery',
    ],
  })
  expect(there()).toEqual(keys(all))
})

describe('flats of a house that are alike but for their numbers', () => {
  const flat = (mlsNumber: string): Home => ({ ...all[0], unit: '', mlsNumber })

  test.each([
    ['a letter before a short number', ['1', '2', '3'], ['A1', 'A2']],
    ['where the number is divided', ['T-1-11', 'T-1-12'], ['T-11-1']],
    ['a letter before a short number, in small letters', ['A101', '101'], ['b101']],
  ])('are not one for %s', async (_, before, more) => {
    await delta(before.map(flat))
    expect(await delta(more.map(flat))).toMatchObject({ counts: { create: more.length, delete: 0 } })
    expect(there()).toEqual([...keys(all), ...before, ...more].toSorted())
  })

  test('are one with a prefix before a long number', async () => {
    const flats = ['10010', '10011', '10012'].map(flat)
    await delta(flats)
    const prefixed = flats.slice(0, 2).map((home) => ({ ...home, mlsNumber: `W-${home.mlsNumber}` }))
    expect(await delta(prefixed)).toMatchObject({ counts: { create: 2, delete: 2 } })
    expect(there()).toEqual([...keys(all), '10012', ...keys(prefixed)].toSorted())
  })

  test('are not one where there are many: then an address tells nothing', async () => {
    configure({ limits: { guard: 'off' } })
    await delta(Array.from({ length: 101 }, (_, i) => flat(`${10_000 + i}`)))
    expect(await delta([flat('W-10000')])).toMatchObject({ counts: { create: 1, delete: 0 } })
  })
})

test('a home under another number, in both spellings of it, or for sale and for rent is two listings', async () => {
  const [first, second, third] = all
  const other = { ...first, mlsNumber: 'IA-NEW' }
  const small = { ...second, mlsNumber: second.mlsNumber.toLowerCase() }
  const rental = { ...third, mlsNumber: `R${third.mlsNumber}`, status: third.rental ? 'Active' : 'For Rent' }
  const report = await delta([other, small, second, rental])
  expect(report).toMatchObject({ result: 'ok', counts: { create: 3, delete: 0 } })
})

describe('what the guard holds of a delta', () => {
  const six = all.slice(0, 6)

  test('goes after 72 hours of deltas that do not say otherwise', async () => {
    expect(await delta(six.map(tenfold))).toMatchObject({ result: 'held', counts: { hold: 6 } })
    for (let i = 0; i < 3; i++) {
      const report = await delta([], 23 * hour)
      expect(report).toMatchObject({ result: 'held', delivery: { listings: 6 }, counts: { hold: 6 } })
      expect(report.notes.join()).toContain(
        'What earlier deliveries said of 6 MLSNumbers was not carried out yet, and is planned again with this one',
      )
    }
    expect(await delta([], 3 * hour)).toMatchObject({
      result: 'ok',
      counts: { update: 6 },
      notes: [
        expect.stringMatching(/^What earlier deliveries said of 6 /),
        expect.stringMatching(/^6 updates held since .* were carried out: no delivery for 72 hours said otherwise$/),
      ],
    })
    expect(priceOf(six[0])).toBe(six[0].price * 10)
    await isDone()
  })

  test('goes at once if a person approves, and status tells of it until then', async () => {
    await delta(six.map(gone))
    expect((await world.executed('approve', 'north', '--yes')).stdout).toContain('6')
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { delete: 6 } })
    expect(there()).toEqual(keys(all.slice(6)))
    await isDone()
  })

  test('is over once a delta says otherwise, and so is its hold', async () => {
    await delta(six.map(tenfold))
    const report = await delta([six[0], dearer(six[1])])
    // The others wait for their own time, though four may change.
    expect(report).toMatchObject({ result: 'held', counts: { update: 1, unchanged: 1, hold: 4 } })
    expect(priceOf(six[0])).toBe(six[0].price)
    expect(priceOf(six[1])).toBe(dearer(six[1]).price)
    expect(priceOf(six[2])).toBe(six[2].price)
    await delta([], day)
    expect(await delta([], 2 * day)).toMatchObject({ result: 'ok', counts: { update: 4 } })
    await isDone()
  })

  test('is neither confirmed nor over by a delta that is cut', async () => {
    await delta(six.map(gone))
    await delta([], 40 * hour)
    const report = await delta(zillowStart, 40 * hour)
    expect(report).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })

  test.each([
    ["with a record that can't be read", 0, zillowFeed([{ ...tenfold(six[0]), yearBuilt: NaN }])],
    ['twice, differing', 1, zillowFeed([tenfold(six[0]), dearer(six[0])])],
  ])('stays refused after a delta that names it %s', async (_, more, unclear) => {
    await delta(six.map(tenfold))
    await world.executed('approve', 'north', '--refuse', '--yes')
    expect(await delta(unclear)).toMatchObject({ result: 'held', counts: { hold: 6 + more } })
    await delta([tenfold(six[0])])
    for (let i = 0; i < 4; i++) expect(await delta([], day)).toMatchObject({ result: 'held', counts: { hold: 6 } })
    expect(priceOf(six[0])).toBe(six[0].price)
  })

  test('is not let through by an approval of what a cut delta said otherwise since', async () => {
    await delta(six.map(tenfold))
    await world.approve()
    const thousandfold = six.map((home) => ({ ...home, price: home.price * 1000 }))
    const cut = zillowStart + thousandfold.map((home) => zillowRecord(home)).join('')
    expect(await delta(cut)).toMatchObject({ result: 'held', counts: { update: 0, hold: 6 } })
    expect(await delta([])).toMatchObject({ result: 'held', counts: { update: 0, hold: 6 } })
    await world.approve()
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { update: 6 } })
    expect(six.map(priceOf)).toEqual(thousandfold.map(({ price }) => price))
    await isDone()
  })

  test('leaves alone what a full delivery in between held for being absent', async () => {
    configure({ delivery: 'full' })
    expect(await delta(all.slice(6))).toMatchObject({ result: 'held', counts: { hold: 6 } })
    configure()
    const between = await delta([dearer(all[10])], 24 * hour)
    expect(between).toMatchObject({ result: 'held', counts: { update: 1, hold: 0 } })
    expect(between.notes).toContainEqual(expect.stringContaining('6 held by earlier runs stay held'))
    expect((await world.executed('status', 'north')).stdout).toContain('6')
    configure({ delivery: 'full' })
    const rest = all.slice(6).map((home) => (home === all[10] ? dearer(home) : home))
    await delta(rest, 40 * hour)
    expect(await delta(rest, 10 * hour)).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })

  const retold = (home: Home): Home => ({ ...home, description: 'Told otherwise.' })
  const rulesOf = ({ holds }: ReadReport): string[] => holds.map(({ rule }) => rule)

  test('and asks a person takes no later delta with it, which is judged by what it says itself', async () => {
    const most = all.slice(0, 16)
    expect(await delta([...most.map(tenfold), retold(all[16])])).toMatchObject({
      result: 'held',
      counts: { update: 0, hold: 17 },
      holds: [{ rule: 'unrecognisable' }, { rule: 'facts' }],
    })
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'status', status: 503 } })
    const later = await delta([retold(all[17]), gone(all[18]), next])
    world.standIn.clearFaults()
    expect(later).toMatchObject({ result: 'held', counts: { update: 1, delete: 1, create: 1, hold: 17 } })
    expect(later.notes).toContainEqual(
      'after what earlier deliveries said 4 of 20 listings would stay as they are. Nothing of it is carried out until the feed is back or you approve it',
    )
    expect(later.holds[0]).toMatchObject({ rule: 'unrecognisable', numbers: { stay: 4, ours: 20 } })
    expect(world.listing(all[17].mlsNumber)).toMatchObject({ Description: 'Told otherwise.' })
    // What of it could not be carried out is no more of what is held than it was.
    expect(await delta([])).toMatchObject({ result: 'held', counts: { update: 0, delete: 1, hold: 17 } })
    expect(there()).toEqual(keys([...all.filter((home) => home !== all[18]), next]))
    expect(await delta([], 100 * hour)).toMatchObject({ result: 'held', counts: { update: 0, hold: 17 } })
    expect(priceOf(most[0])).toBe(most[0].price)
    expect(await delta([...most, all[16]])).toMatchObject({ result: 'ok', holds: [], counts: { hold: 0 } })
    await isDone()
  })

  test('and asks a person is not created where people take it off the site meanwhile', async () => {
    await delta([...all.slice(0, 16).map(tenfold), retold(all[16])])
    world.standIn.remove(chatbot, all[16].mlsNumber)
    for (const report of [await delta([]), await delta([retold(all[17])])]) {
      expect(report).toMatchObject({ result: 'held', counts: { create: 0, hold: 17 } })
      expect(report.notes.join()).not.toContain('carried out:')
    }
    await world.approve()
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { create: 1, update: 16, hold: 0 } })
  })

  test('and asks a person is joined by more of its kind, however little comes at once', async () => {
    await delta(all.slice(0, 16).map(tenfold))
    const tail = await delta([...all.slice(16, 19).map(tenfold), retold(all[19])])
    expect(tail).toMatchObject({ result: 'held', counts: { update: 1, hold: 19 } })
    expect(tail.holds.find(({ rule }) => rule === 'unrecognisable')!.keys).toHaveLength(19)
    for (const hours of [100, 100])
      expect(await delta([], hours * hour)).toMatchObject({ result: 'held', counts: { update: 0, hold: 19 } })
  })

  test('is seen for what it is where it comes in two halves: the whole of the second one is held', async () => {
    expect(rulesOf(await delta(all.slice(0, 9).map(tenfold)))).toEqual(['facts'])
    const second = await delta([...all.slice(9, 18).map(tenfold), retold(all[19])])
    expect(second).toMatchObject({ counts: { update: 0, hold: 19 } })
    expect(rulesOf(second)).toEqual(['unrecognisable', 'facts'])
    const third = await delta([retold(all[18])], 100 * hour)
    expect(third).toMatchObject({ result: 'held', counts: { update: 1, hold: 19 } })
  })

  test('stays for the fields that are held, while the rest of the update goes', async () => {
    await delta(six.map((home) => ({ ...tenfold(home), description: 'Told otherwise.' })))
    expect(world.listing(six[0].mlsNumber)).toMatchObject({ Description: 'Told otherwise.' })
    expect(await pending()).toHaveLength(6)
    await delta([], 80 * hour)
    expect(priceOf(six[0])).toBe(six[0].price * 10)
  })
})

describe('what a full delivery left', () => {
  const [first, second] = all
  const rest = all.slice(1)
  const nameless = zillowRecord(first).replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>')
  const without = zillowFeed(rest).replace(zillowEnd, nameless + zillowEnd)

  async function full(feed: readonly Home[] | string, more: object = {}): Promise<ReadReport> {
    configure({ delivery: 'full', ...more })
    const report = await delta(feed)
    configure(more)
    return report
  }

  test('held for leaving goes in a delta once it is approved, and what people took off meanwhile is held no more', async () => {
    expect(await full(all.slice(6))).toMatchObject({ result: 'held', counts: { hold: 6 } })
    world.standIn.remove(chatbot, second.mlsNumber)
    // Time alone lets nothing go: no delta says the same.
    expect(await delta([], 100 * hour)).toMatchObject({ result: 'held', counts: { delete: 0 } })
    await world.approve()
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { delete: 5, forget: 1 } })
    expect(there()).toEqual(keys(all.slice(6)))
    await isDone()
    expect((await world.executed('status')).stdout).not.toContain('held')
  })

  test('held for a record without MLSNumber does, too, however long its grace is', async () => {
    const grace = { limits: { grace: { runs: 5, hours: 48 } } }
    expect(await full(without, grace)).toMatchObject({ result: 'partial', counts: { hold: 1 } })
    const waits = '1 delete waits, as a record without MLSNumber may be this listing: '
    expect(await delta([])).toMatchObject({
      result: 'partial',
      notes: expect.arrayContaining([expect.stringContaining(waits)]),
    })
    await world.approve()
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    expect(there()).toEqual(keys(rest))
    await isDone()
  })

  test.each([
    ['whole', zillowFeed([dearer(first)])],
    ['cut', zillowStart + zillowRecord(dearer(first))],
  ])('and was approved stays where a delta names it first (%s)', async (_, named) => {
    await full(without)
    await world.approve()
    for (const feed of [named, []]) expect((await delta(feed)).counts).toMatchObject({ delete: 0 })
    expect(priceOf(first)).toBe(dearer(first).price)
    await delta([first])
    await isDone()
    expect(there()).toEqual(keys(all))
  })

  test('and was approved waits for a delta that is whole, and as long as the approval stands', async () => {
    await full(without)
    await world.approve()
    expect(await delta(zillowStart)).toMatchObject({ counts: { delete: 0 } })
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'refuse' } })
    expect((await delta([])).applied!.outcomes).toMatchObject({ failed: 1 })
    world.standIn.clearFaults()
    await world.executed('approve', 'north', '--revoke')
    expect(await delta([])).toMatchObject({ result: 'partial', counts: { delete: 0 } })
    await world.approve()
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    await isDone()
  })

  const rests =
    /^1 listing waits for a full delivery, or for one that names it, as a delta says nothing of what is not in it/

  test('in its grace waits for a full one, or one that names it, which each run says', async () => {
    await full(rest, { limits: { grace: { runs: 2 } } })
    for (let i = 0; i < 2; i++)
      expect(await delta([], 50 * hour)).toMatchObject({
        result: 'ok',
        notes: expect.arrayContaining([expect.stringMatching(rests)]),
      })
    await delta([first])
    await isDone()
    expect(there()).toEqual(keys(all))
  })

  test('held of an update waits for it, too, approved or not', async () => {
    await full(all.map((home, at) => (at < 6 ? tenfold(home) : home)))
    await delta(all.slice(1, 6))
    expect(await delta([])).toMatchObject({
      result: 'held',
      notes: [expect.stringContaining('1 held by earlier runs')],
    })
    await world.approve()
    expect(await delta([])).toMatchObject({ result: 'ok', notes: [expect.stringMatching(rests)] })
    expect(await delta([tenfold(first)])).toMatchObject({ result: 'ok', notes: [], counts: { update: 1 } })
    expect(priceOf(first)).toBe(tenfold(first).price)
    await isDone()
  })
})

describe('what failed of a delta', () => {
  test('a create that got 503 is looked for, and made by a later delta that lacks it, once', async () => {
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'status', status: 503 } })
    expect((await delta([next])).result).toBe('partial')
    world.standIn.clearFaults()
    expect(there()).not.toContain(next.mlsNumber)
    expect(await pending()).toEqual([next.mlsNumber])
    for (let i = 0; i < 3; i++) await delta([])
    expect(there()).toEqual(keys([...all, next]))
    await isDone()
  })

  test('a create whose answer was lost is not made twice', async () => {
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'late', requests: 12 } })
    await delta([next])
    world.standIn.clearFaults()
    world.standIn.landLateCalls()
    for (let i = 0; i < 3; i++) await delta([])
    expect(there()).toEqual(keys([...all, next]))
    await isDone()
  })

  test('a removal of what a call without an answer may still make is done once it has been made', async () => {
    world.standIn.addFault({ operations: ['Create'], fault: { kind: 'late', requests: 1000 } })
    await delta([next])
    world.standIn.clearFaults()
    expect(await delta([gone(next)], 60_000)).toMatchObject({ result: 'ok', counts: { create: 0, delete: 0 } })
    expect(await pending()).toEqual([next.mlsNumber])
    world.standIn.landLateCalls()
    expect(there()).toContain(next.mlsNumber)
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    expect(there()).toEqual(keys(all))
    await isDone()
  })

  test('a refusal is tried again after a day', async () => {
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'refuse' } })
    expect((await delta([dearer(all[0])])).result).toBe('partial')
    world.standIn.clearFaults()
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { update: 0, hold: 1 } })
    expect(await delta([], day)).toMatchObject({ result: 'ok', counts: { update: 1 } })
    expect(priceOf(all[0])).toBe(dearer(all[0]).price)
    await isDone()
  })

  test('a delete is done by the next delta', async () => {
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'status', status: 503 } })
    expect((await delta([gone(all[0])])).result).toBe('partial')
    world.standIn.clearFaults()
    expect(await delta([])).toMatchObject({ result: 'ok', delivery: { removals: 1 }, counts: { delete: 1 } })
    await isDone()
  })

  // With pages of two, looking each up takes fewer calls than the list.
  test.each([100, 2])(
    'a delete that was counted and not done is done by the next delta (pages of %i)',
    async (pageSize) => {
      configure({}, { profile: { pageSize } })
      world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'pretend' } })
      expect(await delta([gone(all[0]), gone(all[1])])).toMatchObject({ result: 'ok', counts: { delete: 2 } })
      world.standIn.clearFaults()
      expect(there()).toEqual(keys(all))
      expect(await pending()).toEqual(keys([all[0], all[1]]))
      expect(await delta([])).toMatchObject({ result: 'ok', delivery: { removals: 2 }, counts: { delete: 2 } })
      expect(there()).toEqual(keys(all.slice(2)))
      await isDone()
    },
  )

  test('a delete that nobody could look at is pending until a list lacks its listing', async () => {
    world.calls()
    await delta([])
    const { List: first } = world.calls()
    for (let more = 1; more <= 10; more++)
      world.standIn.addFault({ operations: ['List'], nth: first + more, fault: { kind: 'status', status: 500 } })
    expect(await delta([gone(all[0])])).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    world.standIn.clearFaults()
    expect(await pending()).toEqual([all[0].mlsNumber])
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { delete: 0 } })
    await isDone()
  })

  test('an update that was confirmed and not done is sent again by the next delta', async () => {
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'pretend' } })
    expect(await delta([dearer(all[0])])).toMatchObject({ result: 'ok', counts: { update: 1 } })
    world.standIn.clearFaults()
    expect(priceOf(all[0])).toBe(all[0].price)
    expect(await delta([])).toMatchObject({ counts: { hold: 1 }, changes: [{ cause: 'not-converging' }] })
    expect(await delta([], day)).toMatchObject({ result: 'ok', counts: { update: 1 } })
    expect(priceOf(all[0])).toBe(dearer(all[0]).price)
    await isDone()
  })

  test("a removal whose listing is on a page that can't be read is done once the list is whole", async () => {
    configure({}, { profile: { pageSize: 5 } })
    world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
    expect(await delta([gone(all[9])])).toMatchObject({ remote: { complete: false }, counts: { delete: 0 } })
    world.standIn.clearFaults()
    expect(await delta([])).toMatchObject({ result: 'ok', delivery: { removals: 1 }, counts: { delete: 1 } })
    expect(there()).not.toContain(all[9].mlsNumber)
    await isDone()
  })

  test('what a run that was told to stop left is done by the next one', async () => {
    world.standIn.addFault({ operations: ['Update'], nth: 3, fault: { kind: 'hang' } })
    world.calls()
    server.give(zillowFeed([...all.slice(0, 10).map(dearer), next, gone(all[19])]))
    world.clock.advance(hour)
    const running = world.run()
    await until(() => world.standIn.counts.Update >= 3)
    world.stop.abort(new UserError('stopped by SIGTERM'))
    expect((await running).result).toBe('failed')
    world.stop = new AbortController()
    world.standIn.clearFaults()
    for (let i = 0; i < 2; i++) await delta([])
    for (const home of all.slice(0, 10)) expect(priceOf(home)).toBe(dearer(home).price)
    expect(there()).toEqual(keys([...all.slice(0, 19), next]))
    await isDone()
  })
})

test('the latest word counts: a removal after a pending listing, and a listing after a pending removal', async () => {
  world.standIn.addFault({ fault: { kind: 'refuse' }, operations: ['Create', 'Delete'] })
  await delta([next, gone(all[0])])
  world.standIn.clearFaults()
  expect(await pending()).toEqual(keys([all[0], next]))
  expect(await delta([gone(next), all[0]])).toMatchObject({
    delivery: { records: 2 },
    counts: { create: 0, delete: 0 },
  })
  expect(there()).toEqual(keys(all))
  await isDone()
})

test("a record that can't be read does not take the place of what is pending", async () => {
  world.standIn.addFault({ operations: ['Update'], fault: { kind: 'refuse' } })
  await delta([dearer(all[0])])
  world.standIn.clearFaults()
  const broken = zillowRecord(all[0]).replace(/<YearBuilt>\d+/, '<YearBuilt>long ago')
  expect(await delta(zillowStart + broken + zillowEnd, 2 * day)).toMatchObject({
    result: 'partial',
    counts: { update: 0, reject: 1, hold: 1 },
  })
  expect(await delta([])).toMatchObject({ result: 'ok', counts: { update: 1 } })
  expect(priceOf(all[0])).toBe(dearer(all[0]).price)
})

test('what is pending goes by the mapping that read it', async () => {
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
  await delta([next])
  world.standIn.clearFaults()
  configure({ fields: { Location: { value: 'Uptown' } } })
  expect((await delta([])).counts).toMatchObject({ create: 1 })
  expect(world.listing(next.mlsNumber)).toMatchObject({ Location: next.neighborhood })
  await delta([next])
  expect(world.listing(next.mlsNumber)).toMatchObject({ Location: 'Uptown' })
})

test('a whole full delivery says anew what is to be done', async () => {
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
  await delta([next])
  world.standIn.clearFaults()
  configure({ delivery: 'full' })
  expect(await delta(all)).toMatchObject({ result: 'ok', counts: { create: 0, unchanged: 20 } })
  configure()
  expect((await delta([])).notes).toEqual([expect.stringContaining('20 of 20 listings are not in this delivery')])
  expect(there()).toEqual(keys(all))
  await isDone()
})

test('after a change of the mapping, what left today and what can not be read is not told to stay on the site', async () => {
  expect(await delta([gone(all[0]), gone(all[1])])).toMatchObject({ counts: { delete: 2 } })
  configure({ fields: { PropertyType: { from: 'Nope' } } })
  const { counts, notes } = await delta(all.slice(2, 10))
  expect(counts.reject).toBe(8)
  expect(notes).toContainEqual(expect.stringContaining('at least 10 of 18 listings are not in this delivery'))
})

test('a diff plans what is pending, and leaves it', async () => {
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
  await delta([next])
  world.standIn.clearFaults()
  server.give(zillowFeed([]))
  world.clock.advance(2 * day)
  const [before] = [world.storeBytes()]
  expect((await world.run('diff')).changes).toMatchObject([{ kind: 'create', mlsNumber: next.mlsNumber }])
  expect(world.storeBytes()).toEqual(before)
  await delta([])
  expect(there()).toEqual(keys([...all, next]))
})

test('a backfill, which deletes nothing, leaves removals to the next sync', async () => {
  server.give(zillowFeed([gone(all[0]), next]))
  expect((await world.run('backfill')).counts).toMatchObject({ create: 1, delete: 0 })
  expect(await pending()).toEqual([all[0].mlsNumber])
  expect((await delta([])).counts).toMatchObject({ delete: 1 })
  await isDone()
})

test('a listing that people deleted is put back by a delta that lacks it, if the one that had it could not', async () => {
  world.standIn.remove(chatbot, all[0].mlsNumber)
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'refuse' } })
  // The very bytes that are known: nothing parses them.
  expect((await delta([all[0]])).result).toBe('partial')
  world.standIn.clearFaults()
  expect(await delta([], 25 * hour)).toMatchObject({ result: 'ok', counts: { create: 1 } })
  expect(there()).toEqual(keys(all))
  await isDone()
})

test.each([
  ['tag', false],
  ['snapshot', false],
  ['tag', true],
] as const)(
  'a listing that a feed of higher rank takes over and lets go is there again, though no delta says so again (%s, changed meanwhile: %s)',
  async (ownership, isChanged) => {
    const north = { source: `${server.url}/north.xml`, delivery: 'delta', volatile, ownership }
    world.configure({ first: { source: './first.xml', volatile, ownership }, north })
    await delta([])
    world.deliver(zillowFeed([all[0], ...homes(31, 35)]), 'first.xml')
    expect((await world.run('sync', 'first')).result).toBe('ok')
    expect(await delta(isChanged ? [dearer(all[0])] : [])).toMatchObject({
      result: 'ok',
      counts: { hold: 1, create: 0 },
    })
    world.deliver(zillowFeed(homes(31, 35)), 'first.xml')
    expect((await world.run('sync', 'first')).counts).toMatchObject({ delete: 1 })
    expect(there()).not.toContain(all[0].mlsNumber)
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { create: 1 } })
    expect(priceOf(all[0])).toBe((isChanged ? dearer(all[0]) : all[0]).price)
    await isDone()
  },
)

test('what a feed of higher rank took over, and a delta says to be gone meanwhile, does not come back', async () => {
  const north = { source: `${server.url}/north.xml`, delivery: 'delta', volatile }
  world.configure({ first: { source: './first.xml', volatile }, north })
  world.deliver(zillowFeed([all[0], ...homes(31, 35)]), 'first.xml')
  await world.run('sync', 'first')
  expect((await delta([gone(all[0])])).result).toBe('ok')
  world.deliver(zillowFeed(homes(31, 35)), 'first.xml')
  expect((await world.run('sync', 'first')).counts).toMatchObject({ delete: 1 })
  expect(await delta([])).toMatchObject({ result: 'ok', counts: { create: 0 } })
  await isDone()
})

test('what the last full delivery lacked does not come back because a feed of higher rank lets it go', async () => {
  const feeds = (delivery: string): Record<string, object> => ({
    first: { source: './first.xml', volatile },
    north: { source: `${server.url}/north.xml`, delivery, volatile },
  })
  world.configure(feeds('full'))
  expect(await delta(all.slice(6))).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  world.configure(feeds('delta'))
  world.deliver(zillowFeed([all[0], ...homes(31, 35)]), 'first.xml')
  await world.run('sync', 'first')
  world.deliver(zillowFeed(homes(31, 35)), 'first.xml')
  await world.run('sync', 'first')
  expect(there()).not.toContain(all[0].mlsNumber)
  expect(await delta([])).toMatchObject({ counts: { create: 0 } })
  expect(there()).not.toContain(all[0].mlsNumber)
})

test('a feed of higher rank takes over what one that sends deltas by now created without an answer', async () => {
  const feeds = (delivery: string): Record<string, object> => ({
    first: { source: './first.xml', volatile },
    north: { source: `${server.url}/north.xml`, delivery, volatile },
  })
  world.configure(feeds('full'))
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'late', requests: 1000 } })
  expect(await delta([...all, next])).toMatchObject({ result: 'partial' })
  world.standIn.clearFaults()
  world.standIn.landLateCalls()
  world.clock.advance(hour)
  world.configure(feeds('delta'))
  world.deliver(zillowFeed([next]), 'first.xml')
  expect(await world.run('sync', 'first')).toMatchObject({ result: 'ok', counts: { update: 1 } })
  expect(there()).toEqual(keys([...all, next]))
})

test('one that the service shows twice is told by each delta, until it is there once', async () => {
  const copy = world.listing(all[0].mlsNumber) as unknown as StandInListing
  world.standIn.seed(chatbot, [copy])
  for (const some of [[], [all[1]]])
    expect(await delta(some)).toMatchObject({
      result: 'partial',
      counts: { hold: 1 },
      notes: [],
      changes: expect.arrayContaining([
        expect.objectContaining({ cause: 'twice-shown', mlsNumber: all[0].mlsNumber, held: 'delete' }),
      ]),
    })
  world.standIn.remove(chatbot, all[0].mlsNumber)
  world.standIn.seed(chatbot, [copy])
  for (let i = 0; i < 2; i++)
    expect(await delta([])).toMatchObject({ result: 'ok', counts: { hold: 0, delete: 0 }, notes: [] })
  expect((await world.executed('status')).stdout).not.toContain('repair')
})

test('a number that a feed of higher rank has is created once that lets it go', async () => {
  const north = { source: `${server.url}/north.xml`, delivery: 'delta', volatile }
  world.configure({ first: { source: './first.xml', volatile }, north })
  world.deliver(zillowFeed([next, ...homes(31, 35)]), 'first.xml')
  await world.run('sync', 'first')
  expect(await delta([next])).toMatchObject({ result: 'ok', counts: { hold: 1 } })
  world.deliver(zillowFeed(homes(31, 35)), 'first.xml')
  expect((await world.run('sync', 'first')).counts).toMatchObject({ delete: 1 })
  expect(await delta([])).toMatchObject({ result: 'ok', counts: { create: 1 } })
  await isDone()
})

/** Puts a delta beside the others; `ahead`: by so many milliseconds the clock of whoever keeps the files is ahead. */
function put(name: string, some: readonly Home[], ahead = 0): void {
  world.deliver(zillowFeed(some), name)
  world.clock.advance(hour)
  const time = (world.clock.now() + ahead) / 1000
  utimesSync(`${world.folder}/${name}`, time, time)
}

describe('a delta in a folder of others is read once', () => {
  const only = /^What earlier deliveries said of/

  test('whatever the clock of whoever keeps the files says', async () => {
    world.configure({ north: { source: './drop-*.xml', delivery: 'delta', volatile } })
    for (const at of [1, 2, 3]) {
      put(`drop-${at}.xml`, [dearer(all[at])], 5 * hour)
      expect(await world.run()).toMatchObject({ result: 'ok', notes: [], counts: { update: 1 } })
    }
  })

  test('though the service took nothing of it then', async () => {
    world.configure({ north: { source: './drop-*.xml', delivery: 'delta', volatile } })
    put('drop-1.xml', [dearer(all[1])])
    await world.run()
    put('drop-2.xml', all.slice(2, 9).map(dearer))
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'status', status: 503 } })
    expect((await world.run()).result).not.toBe('ok')
    world.standIn.clearFaults()
    put('drop-3.xml', [dearer(all[10])])
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', notes: [expect.stringMatching(only)], counts: { update: 8 } })
  })

  test('while its marker is not there yet', async () => {
    world.configure({
      north: { source: './drop-*.xml', delivery: 'delta', volatile, ready: { marker: '{stem}.done' } },
    })
    for (const at of [1, 2, 3]) {
      put(`drop-${at}.xml`, [dearer(all[at])])
      world.deliver('', `drop-${at}.done`)
      put(`drop-${at + 1}.xml`, [dearer(all[at + 1])])
      expect(await world.run()).toMatchObject({ result: 'ok', notes: [], counts: { update: 1 } })
    }
  })
})
