/** Creates without an answer where no list is ever whole: two look-ups in vain, more than `settle` apart, tell that one is lost. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { until } from '../support/until.ts'

const minute = 60_000
const all = homes(1, 16)
const { mlsNumber } = home(16)

let world: RunWorld
beforeEach(async () => {
  const service = { profile: { pageSize: 5 } }
  world = await RunWorld.start({ feeds: { north: { limits: 'off', volatile: { refresh: '365d' } } }, service })
  world.deliver(zillowFeed(all.slice(0, -1)))
  expect(await world.run()).toMatchObject({ result: 'ok' })
  // A look-up has two pages at most.
  world.standIn.addFault({ operations: ['List'], page: 3, fault: { kind: 'status', status: 500 } })
  world.deliver(zillowFeed(all))
})
afterEach(() => world.end())

const sent = (): number =>
  world.standIn.requests.filter(({ operation, body }) => {
    return operation === 'Create' && (body as { MLSNumber?: string }).MLSNumber === mlsNumber
  }).length
const lose = (fault: FaultRuleInput['fault']): void =>
  world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault })
const changeOf = ({ changes }: ReadReport) => changes.find((change) => change.mlsNumber === mlsNumber)

async function shownOnce(): Promise<void> {
  expect(world.listings()).toHaveLength(16)
  world.calls()
  expect(changeOf(await world.run())).toBeUndefined()
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0 })
}

/** A create that is killed before its run has looked for it. */
async function killed(fault: FaultRuleInput['fault']): Promise<void> {
  lose(fault)
  const run = world.run()
  await until(() => sent() === 1)
  world.stop.abort()
  expect(changeOf(await run)).toMatchObject({ outcome: { result: 'unknown' } })
  world.stop = new AbortController()
}

test('looked for in vain at the end of its run and after `settle`: created again, and not a moment before', async () => {
  lose({ kind: 'reset', when: 'after-reading' })
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'unknown' } })
  for (const wait of [1, 13]) {
    world.clock.advance(wait * minute)
    expect(changeOf(await world.run())).toMatchObject({ kind: 'hold', cause: 'in-flight' })
  }
  expect(sent()).toBe(1)
  world.clock.advance(2 * minute)
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'done' } })
  expect(sent()).toBe(2)
  await shownOnce()
})

test('under a clock that was a year ahead: it waits for `settle` from when the clock is right, and no year', async () => {
  const year = 365 * 24 * 60 * minute
  world.clock.advance(year)
  lose({ kind: 'reset', when: 'after-reading' })
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'unknown' } })
  world.clock.advance(-year)
  expect(changeOf(await world.run())).toMatchObject({ kind: 'hold', cause: 'in-flight' })
  world.clock.advance(16 * minute)
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'done' } })
  expect(sent()).toBe(2)
  await shownOnce()
})

test('landed meanwhile: found, and not created again', async () => {
  lose({ kind: 'late', requests: 1000 })
  await world.run()
  world.clock.advance(14 * minute)
  expect(world.standIn.landLateCalls()).toBe(1)
  world.clock.advance(2 * minute)
  // The first page shows it: what was made last comes first.
  expect(changeOf(await world.run())).toMatchObject({ kind: 'adopt' })
  expect(sent()).toBe(1)
  await shownOnce()
})

test('gone again after somebody else had made it: created only once the first call can no longer make it', async () => {
  world.configure({ north: { limits: 'off', volatile: { refresh: '365d' }, ownership: 'snapshot' } })
  world.standIn.clearFaults()
  lose({ kind: 'late', requests: 1000 })
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'unknown' } })
  world.standIn.seed(chatbot, [{ ...world.listing(home(15).mlsNumber), MLSNumber: mlsNumber }])
  expect(changeOf(await world.run())).toMatchObject({ kind: 'update', outcome: { result: 'done' } })
  world.standIn.remove(chatbot, mlsNumber)
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'skipped' } })
  world.clock.advance(14 * minute)
  expect(world.standIn.landLateCalls()).toBe(1)
  world.clock.advance(2 * minute)
  await world.run()
  expect(sent()).toBe(1)
  await shownOnce()
})

test('killed before anybody looked: the next run looks, one after `settle` creates', async () => {
  await killed({ kind: 'hang' })
  world.clock.advance(20 * minute)
  const first = await world.run()
  expect(changeOf(first)).toMatchObject({
    kind: 'create',
    outcome: { result: 'skipped', error: 'not there yet: created if it is not there in 15 minutes either' },
  })
  world.clock.advance(14 * minute)
  expect(changeOf(await world.run())).toMatchObject({ kind: 'hold', cause: 'in-flight' })
  expect(sent()).toBe(1)
  world.clock.advance(2 * minute)
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'done' } })
  expect(sent()).toBe(2)
  await shownOnce()
})

test('killed, and carried out, behind the pages that can be read: found by the first look, and updated', async () => {
  world.standIn.changeProfile({ order: 'id' })
  await killed({ kind: 'hang', carriedOut: true })
  world.deliver(zillowFeed(all.map((home) => (home.mlsNumber === mlsNumber ? dearer(home) : home))))
  expect(changeOf(await world.run())).toMatchObject({ kind: 'create', outcome: { result: 'done' } })
  expect(sent()).toBe(1)
  expect(world.listing(mlsNumber)).toMatchObject({ SalePrice: dearer(home(16)).price })
  world.clock.advance(16 * minute)
  await shownOnce()
})

test("Create's answer is kept with the row; who did not hear it has none", async () => {
  const rows = async () => {
    const store = openStore(join(world.folder, 'store.db'))
    const found = new Map<string, string | null>()
    for await (const page of store.snapshot.rows(chatbot))
      for (const { key, identifier } of page) found.set(key, identifier)
    await store.close()
    return found
  }
  const given = () =>
    new Map(world.standIn.listings(chatbot).map(({ listing, identifier }) => [listing.MLSNumber, identifier]))
  const text = home(1).mlsNumber
  world.standIn.clearFaults()
  world.standIn.changeProfile({ createdIdentifier: 'guid' })
  lose({ kind: 'reset', when: 'after-carrying-out' })
  const added = home(17)
  const known = [...all.map(dearer), added]
  world.deliver(zillowFeed(known))
  expect(await world.run()).toMatchObject({ result: 'ok' })
  // Updated, found by a look-up, created.
  expect([...(await rows())]).toEqual([...given()].map(([key, id]) => [key, key === mlsNumber ? null : id]))
  expect((await rows()).get(added.mlsNumber)).toMatch(/-.*-/)

  world.standIn.remove(chatbot, text)
  const before = (await rows()).get(text)
  expect(await world.run()).toMatchObject({ result: 'ok', changes: [{ kind: 'create', mlsNumber: text }] })
  expect((await rows()).get(text)).toBe(given().get(text))
  expect((await rows()).get(text)).not.toBe(before)

  world.loseStore()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { adopt: 17 } })
  expect([...(await rows()).values()].filter((identifier) => identifier !== null)).toEqual([])
})
