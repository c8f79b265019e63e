/** The service's moods on whole runs: every fault on every operation, the rate, credentials. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openApp } from '../../src/app/open.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

const minute = 60_000
const hour = 60 * minute
const north = { limits: 'off', volatile: { refresh: '365d' } }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north } })
})
afterEach(() => world.end())

const numbers = (): string[] => world.listings().map((item) => String(item['MLSNumber']))

const moods: [string, FaultRuleInput['fault']][] = [
  ['429', { kind: 'status', status: 429 }],
  ['429 with Retry-After in seconds', { kind: 'status', status: 429, retryAfter: 20 }],
  ['429 with Retry-After as a date', { kind: 'status', status: 429, retryAfter: 'Sat, 21 Nov 2026 12:01:00 GMT' }],
  ['429 with a Retry-After of an hour', { kind: 'status', status: 429, retryAfter: 3600 }],
  ['429 with a Retry-After that is none', { kind: 'status', status: 429, retryAfter: 'soon' }],
  ['503 as a page', { kind: 'status', status: 503, body: 'html' }],
  ['504 of a gateway, carried out', { kind: 'status', status: 504, body: 'empty', carriedOut: true }],
  ['413', { kind: 'status', status: 413, body: 'html' }],
  ['200 with a page', { kind: 'body', form: 'html' }],
  ['200 with a page, not carried out', { kind: 'body', form: 'html', carriedOut: false }],
  ['200 with cut JSON', { kind: 'body', form: 'cut-json' }],
  ['200 with nothing', { kind: 'body', form: 'empty' }],
  ['200 with Success false', { kind: 'body', form: 'success-false', carriedOut: false }],
  ['200 with Success false, carried out', { kind: 'body', form: 'success-false' }],
  ['200 with null Data', { kind: 'body', form: 'null-data' }],
  ['a refusal', { kind: 'refuse', message: 'Not today' }],
  ['no answer', { kind: 'hang' }],
  ['no answer, carried out', { kind: 'hang', carriedOut: true }],
  ['an answer in drops', { kind: 'drip', bytes: 40, pause: 0 }],
  ['a reset before it is read', { kind: 'reset', when: 'before-reading' }],
  ['a reset after it is read', { kind: 'reset', when: 'after-reading' }],
  ['a reset after it is carried out', { kind: 'reset', when: 'after-carrying-out' }],
  ['a reset in the answer', { kind: 'reset', when: 'in-the-answer' }],
  ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:1/' }],
  ['keys refused', { kind: 'credentials' }],
]

describe.each(['List', 'Create', 'Update', 'Delete'] as const)('%s answered once with', (operation) => {
  const all = homes(1, 7)
  // Two to delete, two to update, two to create.
  const next = [...all.slice(2, 4).map(dearer), ...all.slice(4), ...homes(13, 14)]
  const staying = all.slice(2).map((home) => home.mlsNumber)

  // A list has no effect, so that it cannot be lost.
  const possible = moods.filter(([name]) => operation !== 'List' || !name.includes('carried out'))

  test.each(possible)('%s: nothing twice, nothing lost, and in the end as the feed says', async (_, fault) => {
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(next))
    world.standIn.addFault({ operations: [operation], times: 1, fault })
    for (let run = 1; run <= 3; run++) {
      await world.run()
      const shown = numbers()
      expect(new Set(shown).size, `run ${run}: nothing twice`).toBe(shown.length)
      expect(
        staying.filter((key) => !shown.includes(key)),
        `run ${run}: nothing lost`,
      ).toEqual([])
      // What was refused is sent again after a day, what was in flight settles in 15 minutes.
      world.clock.advance(run === 1 ? 16 * minute : 25 * hour)
    }
    expect(numbers().toSorted()).toEqual(next.map((home) => home.mlsNumber).toSorted())
    for (const home of next)
      expect(world.listing(home.mlsNumber)).toMatchObject({ [home.rental ? 'RentPrice' : 'SalePrice']: home.price })
    world.calls()
    expect(await world.run()).toMatchObject({ result: 'ok' })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })
})

describe('an answer that comes in drops', () => {
  /** A world whose stand-in pauses on the world's clock; the second create is answered drop by drop. */
  async function dripping(pause: number): Promise<void> {
    await world.end()
    const delay = (milliseconds: number): Promise<void> => {
      world.clock.advance(milliseconds)
      return new Promise((resolve) => setImmediate(resolve))
    }
    world = await RunWorld.start({ feeds: { north }, standIn: { delay } })
    world.standIn.addFault({ operations: ['Create'], nth: 2, fault: { kind: 'drip', bytes: 10, pause } })
    world.deliver(zillowFeed(homes(1, 4)))
  }

  test('within the timeout is read whole', async () => {
    await dripping(1000)
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 4 }, calls: { create: 4 } } })
    expect(numbers()).toHaveLength(4)
  })

  test('is given up at the timeout of the whole call, and found by a look-up', async () => {
    const { mlsNumber } = home(2)
    // Its pauses are real, so that the deadline of the call comes first on the world's clock.
    const fault = { kind: 'drip', bytes: 1, pause: 100 } as const
    world.standIn.addFault({ operations: ['Create'], mlsNumber, fault })
    world.deliver(zillowFeed(homes(1, 4)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', applied: { outcomes: { done: 4 }, calls: { create: 4 } } })
    expect(numbers()).toHaveLength(4)
  })
})

describe('keys', () => {
  test('that are wrong from the first call on: one call, and nothing is planned', async () => {
    world.standIn.addFault({ fault: { kind: 'credentials' } })
    world.deliver(zillowFeed(homes(1, 20)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'failed', counts: { create: 0 } })
    expect(report.error).toContain('refused the keys')
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, List: 1, Delete: 0 })
  })

  test.each(['Update', 'Delete'] as const)(
    'revoked in the middle of %s: no call but those under way, and nothing in flight for long',
    async (operation) => {
      const all = homes(1, 20)
      world.configure({ north }, { profile: { deleteBatch: 1 } })
      world.deliver(zillowFeed(all))
      await world.run()
      const next = operation === 'Update' ? all.map(dearer) : all.slice(9)
      world.deliver(zillowFeed(next))
      world.standIn.addFault({ operations: [operation], nth: 4, fault: { kind: 'credentials' } })
      world.calls()
      const report = await world.run()
      expect(report).toMatchObject({ result: 'failed', applied: { outcomes: { unknown: 0 } } })
      expect(world.calls()[operation]).toBeLessThanOrEqual(4 + 3)
      expect(await world.run()).toMatchObject({ result: 'ok' })
      expect(numbers().toSorted()).toEqual(next.map((home) => home.mlsNumber).toSorted())
    },
  )
})

describe('ten failures in a row', () => {
  test.each<[string, FaultRuleInput['fault']]>([
    ['pages', { kind: 'body', form: 'html', carriedOut: false }],
    ['resets', { kind: 'reset', when: 'after-reading' }],
    ['no answers', { kind: 'hang' }],
    ['503', { kind: 'status', status: 503 }],
  ])('end the run, whatever they are: %s', async (_, fault) => {
    const all = homes(1, 40)
    world.deliver(zillowFeed(all))
    await world.run()
    world.deliver(zillowFeed(all.map(dearer)))
    world.standIn.addFault({ operations: ['Update'], fault })
    world.calls()
    const report = await world.run()
    expect(report.result).toBe('failed')
    expect(report.error).toContain('10 calls in a row failed')
    expect(world.calls().Update).toBeLessThanOrEqual(10 + 3)
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 40 } } })
  })
})

describe('the rate', () => {
  test('is never exceeded, by all feeds of a service together, whichever keys they call it with', async () => {
    const ways = { east: { chatbot: 'E' }, west: { chatbot: 'W', service: { secretKey: 'another-key' } } }
    world.configure(ways, { rate: 10, concurrency: 8 })
    for (const name of ['east', 'west']) world.deliver(zillowFeed(homes(1, 40)), `${name}.xml`)
    const app = openApp(world.context, { logLevel: 'error' })
    const began = world.clock.now()
    const finished = await Promise.all(app.config.feeds.map((feed) => app.sync(feed, 'sync')))
    for (const { report, close } of finished) {
      expect(report.result).toBe('ok')
      close()
    }
    await app.close()
    expect(world.standIn.counts.Create).toBe(80)
    // Two limiters would be through in half the time. That no single second sees more is the limiter's own test: here a
    // call may still be on its way when the clock leaps.
    const calls = Object.values(world.standIn.counts).reduce((sum, count) => sum + count, 0)
    expect((world.clock.now() - began) / 1000).toBeGreaterThanOrEqual((calls - 2) / 10)
  })

  test('learns from 429 and 503: halved, then slowly up, and a service that allows less than configured is not hammered', async () => {
    await world.end()
    const allowed = 5
    world = await RunWorld.start({
      feeds: { north },
      standIn: { profile: { rateLimit: { callsPerSecond: allowed, retryAfter: 'none' } } },
      service: { rate: 40, concurrency: 4 },
    })
    const all = homes(1, 80)
    world.deliver(zillowFeed(all))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', applied: { outcomes: { done: 80 } } })
    expect(numbers()).toHaveLength(80)
    const refused = world.standIn.requests.filter((entry) => entry.success === false).length
    // At the configured rate seven of eight calls would be refused; the limiter finds what is allowed.
    expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThan(world.standIn.requests.length / 3)
  })

  test('a Retry-After as a date is waited for until then', async () => {
    const until = 'Sat, 21 Nov 2026 12:01:30 GMT'
    world.standIn.addFault({
      operations: ['Create'],
      nth: 3,
      fault: { kind: 'status', status: 429, retryAfter: until },
    })
    world.configure({ north }, { concurrency: 1 })
    world.deliver(zillowFeed(homes(1, 5)))
    expect(await world.run()).toMatchObject({ result: 'ok', applied: { outcomes: { done: 5, unknown: 0 } } })
    const at = world.standIn.requests.findIndex((entry) => entry.fault === 'status')
    expect(world.standIn.requests[at].at).toBeLessThan(Date.parse(until))
    expect(world.standIn.requests[at + 1].at).toBeGreaterThanOrEqual(Date.parse(until))
  })

  test('a Retry-After that one feed is told holds the other feeds of the service, too', async () => {
    const ways = { east: { chatbot: 'E' }, west: { chatbot: 'W' } }
    world.configure(ways, { rate: 100, concurrency: 2 })
    for (const name of ['east', 'west']) world.deliver(zillowFeed(homes(1, 10)), `${name}.xml`)
    world.standIn.addFault({ operations: ['Create'], nth: 6, fault: { kind: 'status', status: 429, retryAfter: 30 } })
    const app = openApp(world.context, { logLevel: 'error' })
    const finished = await Promise.all(app.config.feeds.map((feed) => app.sync(feed, 'sync')))
    for (const { close } of finished) close()
    await app.close()
    const refused = world.standIn.requests.find((entry) => entry.fault === 'status')!
    const later = world.standIn.requests.filter((entry) => entry.at > refused.at + 1)
    expect(later.length).toBeGreaterThan(10)
    // But for the one call that was under way already.
    expect(later.filter((entry) => entry.at < refused.at + 30_000).length).toBeLessThanOrEqual(1)
  })
})

describe('pages', () => {
  test.each(['clamped', 'refused'] as const)(
    'a PageSize that is %s: the list is complete all the same',
    async (largerPageSize) => {
      world.standIn.changeProfile({ maxPageSize: 4, largerPageSize })
      const all = homes(1, 11)
      world.deliver(zillowFeed(all))
      expect(await world.run()).toMatchObject({ result: 'ok' })
      world.deliver(zillowFeed(all.slice(3)))
      expect(await world.run()).toMatchObject({
        result: 'ok',
        remote: { complete: true },
        counts: { delete: 3, create: 0 },
      })
      expect(world.standIn.listings(chatbot)).toHaveLength(8)
    },
  )
})
