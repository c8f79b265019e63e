/** Failures on the way to the service, and what docs/design.md, "Apply", promises for them. */
import { setImmediate as nextRound } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import { UserError } from '../../src/core/errors.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** Nothing is held for its number, and no field moves by itself: these tests are about calls. */
const north = { limits: 'off', volatile: { refresh: '365d' } }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north } })
})
afterEach(() => world.end())

const numbers = (): string[] => world.listings().map((item) => String(item['MLSNumber']))
const outcome = (report: ReadReport, mlsNumber: string): string | undefined =>
  report.changes.find((change) => change.mlsNumber === mlsNumber)?.outcome?.result
/** How often this listing was sent by this operation. */
const sent = (operation: 'Create' | 'Update', mlsNumber: string): number =>
  world.standIn.requests.filter(
    ({ operation: was, body }) => was === operation && JSON.stringify(body).includes(`"MLSNumber":"${mlsNumber}"`),
  ).length

/** The service is as the feed says, each listing once, and a further run writes nothing. */
async function right(feed: readonly Home[]): Promise<void> {
  expect(numbers().toSorted()).toEqual(feed.map((home) => home.mlsNumber).toSorted())
  for (const home of feed)
    expect(world.listing(home.mlsNumber)).toMatchObject({
      [home.rental ? 'RentPrice' : 'SalePrice']: home.price,
      Description: home.description,
    })
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok' })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

describe('a create without a certain answer', () => {
  const { mlsNumber } = home(5)
  const all = homes(1, 8)

  test.each<[string, FaultRuleInput['fault']]>([
    ['connection lost afterwards', { kind: 'reset', when: 'after-carrying-out' }],
    ['connection lost in the answer', { kind: 'reset', when: 'in-the-answer' }],
    ['500', { kind: 'status', status: 500, carriedOut: true }],
    ['502 by a gateway', { kind: 'status', status: 502, carriedOut: true }],
    ['503', { kind: 'status', status: 503, body: 'empty', carriedOut: true }],
    ['504 as an envelope', { kind: 'status', status: 504, body: 'envelope', carriedOut: true }],
    ['200 with a page', { kind: 'body', form: 'html' }],
    ['200 with half an answer', { kind: 'body', form: 'cut-json' }],
    ['200 with nothing', { kind: 'body', form: 'empty' }],
    ['200 without Data', { kind: 'body', form: 'null-data' }],
    ['200 that says 500 in its envelope', { kind: 'body', form: 'success-false' }],
    ['no answer within the time', { kind: 'hang', carriedOut: true }],
  ])('carried out, %s: found by a look-up, never sent twice', async (_, fault) => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault })
    world.deliver(zillowFeed(all))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', applied: { outcomes: { done: 8 }, calls: { create: 8 } } })
    expect(sent('Create', mlsNumber)).toBe(1)
    await right(all)
  })

  test.each<[string, FaultRuleInput['fault']]>([
    ['connection lost', { kind: 'reset', when: 'after-reading' }],
    ['500', { kind: 'status', status: 500 }],
    ['503 with Retry-After', { kind: 'status', status: 503, retryAfter: 3 }],
    ['200 with a page', { kind: 'body', form: 'html', carriedOut: false }],
    ['no answer within the time', { kind: 'hang' }],
  ])('not carried out, %s: in flight until a list after `settle` lacks it', async (_, fault) => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault })
    world.deliver(zillowFeed(all))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', applied: { outcomes: { done: 7, unknown: 1 } } })
    expect(outcome(report, mlsNumber)).toBe('unknown')

    world.clock.advance(minute)
    const soon = await world.run()
    expect(soon).toMatchObject({ result: 'ok', changes: [{ kind: 'hold', mlsNumber, cause: 'in-flight' }] })
    expect(sent('Create', mlsNumber)).toBe(1)

    world.clock.advance(16 * minute)
    const later = await world.run()
    expect(later).toMatchObject({ result: 'ok', changes: [{ kind: 'create', mlsNumber }] })
    expect(sent('Create', mlsNumber)).toBe(2)
    await right(all)
  })

  test('landing late: taken over, not created again', async () => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault: { kind: 'late', requests: 1000 } })
    world.deliver(zillowFeed(all))
    expect(outcome(await world.run(), mlsNumber)).toBe('unknown')
    expect(world.standIn.landLateCalls()).toBe(1)
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [{ kind: 'adopt', mlsNumber }] })
    expect(sent('Create', mlsNumber)).toBe(1)
    await right(all)
  })

  test('landing late while the feed has changed: updated, not created again', async () => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault: { kind: 'late', requests: 1000 } })
    world.deliver(zillowFeed(all))
    await world.run()
    world.standIn.landLateCalls()
    const changed = all.map((home) => (home.mlsNumber === mlsNumber ? dearer(home) : home))
    world.deliver(zillowFeed(changed))
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [{ kind: 'update', mlsNumber }] })
    await right(changed)
  })

  test('landing late after it left the feed: deleted, as it is ours', async () => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault: { kind: 'late', requests: 1000 } })
    world.deliver(zillowFeed(all))
    await world.run()
    const without = all.filter((home) => home.mlsNumber !== mlsNumber)
    world.deliver(zillowFeed(without))
    await world.run()
    world.standIn.landLateCalls()
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [{ kind: 'delete', mlsNumber }] })
    await right(without)
  })

  test('surely not carried out (429): sent again in the same run', async () => {
    const fault = { kind: 'status', status: 429 } as const
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault })
    world.deliver(zillowFeed(all))
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 8 } } })
    expect(sent('Create', mlsNumber)).toBe(2)
    await right(all)
  })
})

describe('an update without a certain answer is sent again', () => {
  const { mlsNumber } = home(5)
  const all = homes(1, 8)
  const changed = all.map((home) => (home.mlsNumber === mlsNumber ? dearer(home) : home))

  test.each<[string, FaultRuleInput['fault']]>([
    ['connection lost before', { kind: 'reset', when: 'before-reading' }],
    ['connection lost', { kind: 'reset', when: 'after-reading' }],
    ['connection lost afterwards', { kind: 'reset', when: 'after-carrying-out' }],
    ['connection lost in the answer', { kind: 'reset', when: 'in-the-answer' }],
    ['500', { kind: 'status', status: 500 }],
    ['503', { kind: 'status', status: 503 }],
    ['200 with a page', { kind: 'body', form: 'html' }],
    ['200 with half an answer', { kind: 'body', form: 'cut-json' }],
    ['no answer within the time', { kind: 'hang', carriedOut: true }],
  ])('%s', async (_, fault) => {
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(changed))
    world.standIn.addFault({ operations: ['Update'], times: 1, fault })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', applied: { outcomes: { done: 1 }, calls: { update: 2 } } })
    world.clock.advance(16 * minute)
    await right(changed)
  })

  test('and where no attempt succeeds it is unknown, and the next run sends it', async () => {
    world.deliver(zillowFeed(all))
    await world.run()
    // Once more, so that the listing is known as the service shows it.
    await world.run()
    world.deliver(zillowFeed(changed))
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'status', status: 500 } })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', applied: { outcomes: { unknown: 1 }, calls: { update: 5 } } })
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 1 } } })
    await right(changed)
  })
})

describe('a refusal of one listing', () => {
  const { mlsNumber } = home(5)
  const all = homes(1, 8)
  const changed = all.map((home) => (home.mlsNumber === mlsNumber ? dearer(home) : home))
  const refusal = { kind: 'refuse', message: 'No barns' } as const

  test.each(['Create', 'Update'] as const)('%s: kept, and sent again only when it changes', async (operation) => {
    world.deliver(zillowFeed(all))
    if (operation === 'Update') {
      await world.run()
      world.deliver(zillowFeed(changed))
    }
    world.standIn.addFault({ operations: [operation], mlsNumber, fault: refusal })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', applied: { outcomes: { failed: 1, unknown: 0 } } })
    const failed = report.changes.find((change) => change.mlsNumber === mlsNumber)
    expect(failed?.outcome?.error).toContain('No barns')

    world.calls()
    world.clock.advance(hour)
    const next = await world.run()
    expect(next).toMatchObject({ result: 'ok', changes: [{ kind: 'hold', cause: 'refused-before' }] })
    expect(next.changes[0].why).toContain('No barns')
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })

    world.standIn.clearFaults()
    const better = changed.map((home) => (home.mlsNumber === mlsNumber ? dearer(home) : home))
    world.deliver(zillowFeed(better))
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 1 } } })
    await right(better)
  })

  test('and after a day', async () => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault: refusal })
    world.deliver(zillowFeed(all))
    await world.run()
    world.clock.advance(23 * hour)
    expect(await world.run()).toMatchObject({ changes: [{ kind: 'hold', cause: 'refused-before' }] })
    world.clock.advance(hour + minute)
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [{ kind: 'create', mlsNumber }] })
    await right(all)
  })

  test('and by the next nightly run, which begins a little earlier than the refusal', async () => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault: refusal })
    world.deliver(zillowFeed(all))
    await world.run()
    world.clock.advance(24 * hour - minute)
    expect(await world.run()).toMatchObject({ result: 'ok', changes: [{ kind: 'create', mlsNumber }] })
    await right(all)
  })

  test('so it is where another fact of it is held: what goes out is the same, until the fact is let go', async () => {
    world.configure({ north: { volatile: north.volatile } })
    world.deliver(zillowFeed(all))
    await world.run()
    const anew = all.slice(4).map((home) => ({ ...home, title: `${home.title} anew`, price: home.price * 2 }))
    world.deliver(zillowFeed([...all.slice(0, 4), ...anew]))
    world.standIn.addFault({ operations: ['Update'], mlsNumber, fault: refusal })
    const outcomes: unknown[] = []
    for (let runs = 1; runs <= 3; runs++) {
      world.calls()
      const { changes } = await world.run()
      outcomes.push(changes.find((change) => change.mlsNumber === mlsNumber)?.outcome?.result, world.calls().Update)
      world.clock.advance(hour)
    }
    expect(outcomes).toEqual(['failed', 4, 'skipped', 0, 'skipped', 0])
    await world.approve()
    expect(outcome(await world.run(), mlsNumber)).toBe('failed')
  })

  test('and when the mapping changes', async () => {
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault: refusal })
    world.deliver(zillowFeed(all))
    await world.run()
    world.configure({ north: { ...north, defaults: { HOAMonth: 0 } } })
    const report = await world.run()
    expect(report.changes.find((change) => change.mlsNumber === mlsNumber)).toMatchObject({ kind: 'create' })
    expect(outcome(report, mlsNumber)).toBe('done')
    await right(all)
  })
})

describe('Retry-After', () => {
  const all = homes(1, 3)

  /** Milliseconds between the answer 429 and the call after it. */
  async function wait(retryAfter: number | string): Promise<number> {
    world.standIn.addFault({
      operations: ['Create'],
      nth: 2,
      fault: { kind: 'status', status: 429, retryAfter },
    })
    world.deliver(zillowFeed(all))
    world.configure({ north }, { concurrency: 1 })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', applied: { outcomes: { done: 3 }, calls: { create: 4 } } })
    const creates = world.standIn.requests.filter((entry) => entry.operation === 'Create')
    return creates[2].at - creates[1].at
  }

  test('in seconds is waited for', async () => {
    expect(await wait(30)).toBeGreaterThanOrEqual(30_000)
    await right(all)
  })

  test('as a date is waited for', async () => {
    // The header has whole seconds, so the wait may be up to one shorter.
    expect(await wait(new Date(world.clock.now() + 45_000).toUTCString())).toBeGreaterThanOrEqual(43_000)
    await right(all)
  })

  test('longer than the patience of a run stops it', async () => {
    world.standIn.addFault({
      operations: ['Create'],
      nth: 2,
      fault: { kind: 'status', status: 429, retryAfter: 3600 },
    })
    world.deliver(zillowFeed(homes(1, 20)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'failed', applied: { outcomes: { unknown: 0 } } })
    expect(report.error).toContain('asks for a wait of 3600 s')
    expect(report.applied!.calls.create).toBeLessThanOrEqual(2 + 4)
    expect(report.applied!.outcomes.skipped).toBeGreaterThanOrEqual(14)
    world.clock.advance(hour)
    expect(await world.run()).toMatchObject({ result: 'ok' })
    await right(homes(1, 20))
  })
})

describe('the service as a whole', () => {
  test('where nobody listens the run fails, and the next one is right', async () => {
    world.deliver(zillowFeed(homes(1, 5)))
    world.configure({ north }, { baseUrl: 'http://127.0.0.1:1' })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'failed', counts: { create: 0 } })
    expect(report.error).toContain('No connection to the service')
    world.configure({ north })
    expect(await world.run()).toMatchObject({ result: 'ok' })
    await right(homes(1, 5))
  })

  test('a call that is tried again is told with its feed and run', async () => {
    const lines: object[] = []
    const writeLog = (line: string): unknown => lines.push(JSON.parse(line))
    const app = openApp({ ...world.context, writeLog })
    world.standIn.addFault({ operations: ['Create'], nth: 1, fault: { kind: 'status', status: 429 } })
    world.deliver(zillowFeed(homes(1, 5)))
    await world.run('sync', 'north', app)
    await app.close()
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'call failed, trying again', operation: 'create', feed: 'north', run: 1 }),
    )
  })

  test('credentials refused mid-run: nothing more is sent than what is under way', async () => {
    world.standIn.addFault({ operations: ['Create'], nth: 5, fault: { kind: 'credentials' } })
    world.deliver(zillowFeed(homes(1, 20)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'failed', applied: { outcomes: { unknown: 0 } } })
    expect(report.applied!.calls.create).toBeLessThanOrEqual(5 + 3)
    const { done, skipped, failed } = report.applied!.outcomes
    expect(done + skipped + failed).toBe(20)
    expect(done).toBe(world.listings().length)
    expect(await world.run()).toMatchObject({ result: 'ok' })
    await right(homes(1, 20))
  })

  test.each([401, 403] as const)('%d by envelope is credentials too', async (code) => {
    world.standIn.addFault({ operations: ['Create'], nth: 1, fault: { kind: 'credentials', code, via: 'envelope' } })
    world.deliver(zillowFeed(homes(1, 12)))
    const report = await world.run()
    expect(report.result).toBe('failed')
    expect(report.applied!.calls.create).toBeLessThanOrEqual(1 + 3)
  })

  test('ten failures in a row: the run stops, what is left is skipped', async () => {
    world.deliver(zillowFeed(homes(1, 30)))
    await world.run()
    world.deliver(zillowFeed(homes(1, 30).map(dearer)))
    world.standIn.addFault({ operations: ['Update'], fault: { kind: 'status', status: 500 } })
    const report = await world.run()
    expect(report.result).toBe('failed')
    expect(report.error).toContain('10 calls in a row failed')
    expect(report.applied!.calls.update).toBeLessThanOrEqual(10 + 3)
    const { done, unknown, skipped } = report.applied!.outcomes
    expect([done, unknown + skipped]).toEqual([0, 30])
    expect(skipped).toBeGreaterThanOrEqual(30 - 13)
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 30 } } })
    world.clock.advance(16 * minute)
    await right(homes(1, 30).map(dearer))
  })

  test('a redirect is not followed', async () => {
    world.deliver(zillowFeed(homes(1, 5)))
    const location = `${world.standIn.url}/chat/Chatbot/RealEstateList`
    world.standIn.addFault({ fault: { kind: 'redirect', location } })
    expect(await world.run()).toMatchObject({ result: 'failed' })
    expect(world.listings()).toEqual([])
  })
})

describe('an update that matches nothing', () => {
  test.each(['zero', 'refused'] as const)('(%s) is looked up and created', async (updateWithoutMatch) => {
    world.standIn.changeProfile({ updateWithoutMatch })
    const all = homes(1, 12)
    world.configure({ north }, { profile: { pageSize: 5 } })
    world.deliver(zillowFeed(all))
    await world.run()
    // Page 2 is never there, so that the plan can't know that the listing is gone.
    world.standIn.remove(chatbot, home(4).mlsNumber)
    world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 500 } })
    const changed = all.map((original) => (original.mlsNumber === home(4).mlsNumber ? dearer(original) : original))
    world.deliver(zillowFeed(changed))
    const report = await world.run()
    expect(report).toMatchObject({ remote: { complete: false } })
    expect(report.applied).toMatchObject({ outcomes: { done: 1 }, calls: { update: 1, create: 1 } })
    world.standIn.clearFaults()
    await right(changed)
  })
})

/** The next Delete is carried out, and its answer is lost. */
function loseDelete(): void {
  const fault = { kind: 'reset', when: 'after-carrying-out' } as const
  world.standIn.addFault({ operations: ['Delete'], times: 1, fault })
}

describe('deletes', () => {
  const all = homes(1, 20)

  test('a short count is looked up: what is gone is done, the rest failed and deleted by the next run', async () => {
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.slice(6)))
    world.standIn.addFault({ operations: ['Delete'], times: 1, fault: { kind: 'partly', keys: 4 } })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', applied: { outcomes: { done: 4, failed: 2 } } })
    expect(world.listings()).toHaveLength(16)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 2 } })
    await right(all.slice(6))
  })

  test('a success that did nothing is deleted by the next run', async () => {
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.slice(6)))
    world.standIn.addFault({ operations: ['Delete'], times: 1, fault: { kind: 'pretend' } })
    await world.run()
    expect(world.listings()).toHaveLength(20)
    expect((await world.run()).counts.delete).toBe(6)
    await right(all.slice(6))
  })

  test('that never do anything, however often they succeed, are told after three times, and sent again in a week', async () => {
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.slice(2)))
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'pretend' } })
    for (let night = 1; night <= 3; night++) {
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 2 } })
      world.clock.advance(day)
    }
    for (let night = 4; night <= 9; night++) {
      const report = await world.run()
      expect(report).toMatchObject({ result: 'partial', counts: { delete: 0, hold: 2 } })
      expect(report.changes[0].why).toContain('deleted 3 times, but the service goes on showing it')
      world.clock.advance(day)
    }
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 2 } })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 18 } })
    // What comes back and goes again is deleted, however often.
    for (let time = 1; time <= 2; time++) {
      world.clock.advance(day)
      world.deliver(zillowFeed(all))
      expect((await world.run()).counts).toMatchObject({ create: 2 })
      world.deliver(zillowFeed(all.slice(2)))
      expect((await world.run()).counts).toMatchObject({ delete: 2 })
    }
  })

  test('that never do anything are sent again after seven nights, though each run begins a little earlier than the one before', async () => {
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.slice(2)))
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'pretend' } })
    for (const deletes of [2, 2, 2, 0, 0, 0, 0, 0, 0, 2]) {
      expect((await world.run()).counts.delete).toBe(deletes)
      world.clock.advance(day - 10_000)
    }
  })

  test('without an answer they are sent again', async () => {
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.slice(6)))
    loseDelete()
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 6 }, calls: { delete: 2 } } })
    await right(all.slice(6))
  })

  test.each(['refuse-all', 'refuse-after'] as const)(
    'without an answer, and none to find the second time (%s)',
    async (deleteWithoutMatch) => {
      world.standIn.changeProfile({ deleteWithoutMatch })
      world.deliver(zillowFeed(all))
      await world.run()
      world.deliver(zillowFeed(all.slice(6)))
      loseDelete()
      expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 6 } } })
      await right(all.slice(6))
    },
  )

  test('a refused batch is halved until it is taken, and the size is remembered', async () => {
    world.standIn.changeProfile({ maxKeys: 3 })
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.slice(8)))
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 8 } } })
    world.deliver(zillowFeed(all.slice(12)))
    world.calls()
    expect(await world.run()).toMatchObject({ result: 'ok', estimate: { calls: 2 }, applied: { calls: { delete: 2 } } })
    await right(all.slice(12))
  })

  test('a batch that is refused for one of its keys teaches no size', async () => {
    world.standIn.changeProfile({ deleteWithoutMatch: 'refuse-all' })
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.slice(8)))
    loseDelete()
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 8 } } })
    world.deliver(zillowFeed(all.slice(14)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 6 }, applied: { calls: { delete: 1 } } })
    await right(all.slice(14))
  })
})

describe('the list', () => {
  const all = homes(1, 12)
  const changed = [...all.slice(2), home(13)]

  /** Deletes wait for a complete list; a create is looked up first; the update goes on. */
  async function heldBack(): Promise<void> {
    const next = changed.map((original) => (original.mlsNumber === home(6).mlsNumber ? dearer(original) : original))
    world.deliver(zillowFeed(next))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', remote: { complete: false } })
    expect(report.counts).toMatchObject({ create: 1, update: 1, delete: 0 })
    expect(report.applied?.outcomes).toEqual({ done: 2, failed: 0, unknown: 0, skipped: 0 })
    expect(world.listings()).toHaveLength(13)
    world.standIn.clearFaults()
    world.standIn.changeProfile({ order: 'id' })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 2 } })
    await right(next)
  }

  beforeEach(async () => {
    world.configure({ north }, { profile: { pageSize: 5 } })
    world.deliver(zillowFeed(all))
    await world.run()
    await world.run()
  })

  test('a page that can not be had', async () => {
    world.standIn.addFault({ operations: ['List'], page: 2, fault: { kind: 'status', status: 502 } })
    await heldBack()
  })

  test('a page that is refused though the one before was full', async () => {
    world.standIn.addFault({ operations: ['List'], page: 3, fault: { kind: 'refuse' } })
    await heldBack()
  })

  test('walks that contradict themselves', async () => {
    world.standIn.changeProfile({ order: 'shuffled', seed: 4 })
    await heldBack()
  })

  test('one page that fails once is asked for again', async () => {
    world.standIn.addFault({ operations: ['List'], page: 2, times: 1, fault: { kind: 'status', status: 502 } })
    await right(all)
  })

  test('no page at all: the run fails', async () => {
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'status', status: 500 } })
    world.deliver(zillowFeed(changed))
    expect(await world.run()).toMatchObject({ result: 'failed', counts: { create: 0, delete: 0 } })
    expect(world.listings()).toHaveLength(12)
  })

  test('that shows nothing of what is there creates nothing', async () => {
    world.configure({ north: {} }, { profile: { pageSize: 5 } })
    world.standIn.addFault({ operations: ['List'], fault: { kind: 'hide' } })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, hold: 12 } })
    expect(report.notes.join()).toContain("12 of 12 listings are missing from the chatbot's list")
    expect(world.listings()).toHaveLength(12)
    world.standIn.clearFaults()
    await right(all)
  })
})

describe('a stop signal', () => {
  const all = homes(1, 30)

  /** Gives the signal once so many creates have come. */
  async function stopAfter(creates: number): Promise<void> {
    while (world.standIn.counts.Create < creates) await nextRound()
    world.stop.abort(new UserError('stopped by SIGTERM'))
  }

  test('mid-run: nothing new is taken, the run is recorded as interrupted, the next one carries on', async () => {
    world.deliver(zillowFeed(all))
    const [report] = await Promise.all([world.run(), stopAfter(8)])
    expect(report).toMatchObject({
      result: 'failed',
      error: 'stopped by a signal',
      applied: { outcomes: { unknown: 0 } },
    })
    const { done, skipped } = report.applied!.outcomes
    expect(done + skipped).toBe(30)
    expect(done).toBe(world.listings().length)
    expect(done).toBeLessThanOrEqual(8 + 4)
    world.stop = new AbortController()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 30 - done } })
    await right(all)
  })

  test('with a call that is never answered: it is waited for 8 seconds, then its listing is unknown', async () => {
    const { mlsNumber } = home(7)
    world.standIn.addFault({ operations: ['Create'], mlsNumber, times: 1, fault: { kind: 'hang', carriedOut: true } })
    world.deliver(zillowFeed(all))
    const [report] = await Promise.all([world.run(), stopAfter(8)])
    expect(report.result).toBe('failed')
    expect(outcome(report, mlsNumber)).toBe('unknown')
    world.stop = new AbortController()
    const next = await world.run()
    expect(next.changes.find((change) => change.mlsNumber === mlsNumber)).toMatchObject({ kind: 'adopt' })
    await right(all)
  })

  test('in the middle of the plan of many homes: it is not made to its end', async () => {
    world.deliver(zillowFeed(homes(1, 1500)))
    const app = openApp(world.context)
    const { history } = app.store()
    const rows = history.rows.bind(history)
    const planned = vi.spyOn(history, 'rows').mockImplementation((...of) => {
      world.stop.abort(new UserError('stopped by SIGTERM'))
      return rows(...of)
    })
    expect(await world.run('sync', 'north', app)).toMatchObject({ error: 'stopped by SIGTERM', counts: { create: 0 } })
    await app.close()
    expect(planned).toHaveBeenCalledOnce()
    world.stop = new AbortController()
    expect(await world.run('diff')).toMatchObject({ counts: { create: 1500 } })
  })

  test('before anything is written: nothing is', async () => {
    world.stop.abort(new UserError('stopped by SIGTERM'))
    world.deliver(zillowFeed(all))
    expect(await world.run()).toMatchObject({ result: 'failed', error: 'stopped by SIGTERM' })
    expect(world.listings()).toEqual([])
  })
})
