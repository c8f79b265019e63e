/** Chatbots of one service: one that fails stops its own feeds only, and takes no call of the others. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app/app.ts'
import { openApp } from '../../src/app/open.ts'
import { daemonCommand } from '../../src/commands/daemon.ts'
import type { Report } from '../../src/report/report.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { ManualClock } from '../daemon/manual-clock.ts'
import { dearer, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

const limits = { limits: 'off', volatile: { refresh: '365d' } }
const ways = { east: { chatbot: 'E', ...limits }, west: { chatbot: 'W', ...limits } }
const all = homes(1, 20)

let world: RunWorld
let app: App
beforeEach(async () => {
  world = await RunWorld.start({ feeds: ways })
  deliver(zillowFeed(all))
})
afterEach(async () => {
  await app?.close()
  await world.end()
})

function deliver(feed: string): void {
  for (const name of ['east', 'west']) world.deliver(feed, `${name}.xml`)
}

/** The feed's run in the process of all of them, as the daemon has it. */
async function synced(name: string): Promise<Report> {
  const { report, close } = await app.sync(
    app.config.feeds.find((feed) => feed.name === name)!,
    'sync',
  )
  close()
  return report
}

async function loaded(): Promise<void> {
  app = openApp(world.context, { logLevel: 'error' })
  for (const name of ['east', 'west']) expect(await synced(name)).toMatchObject({ result: 'ok' })
  world.calls()
}

const faults: [string, FaultRuleInput['fault']][] = [
  ['403', { kind: 'credentials', code: 403 }],
  ['401 in an envelope', { kind: 'credentials', code: 401, via: 'envelope' }],
  ['nothing, ever', { kind: 'hang' }],
  ['500', { kind: 'status', status: 500 }],
  ['503 with a Retry-After of an hour', { kind: 'status', status: 503, retryAfter: 3600 }],
  ['a reset', { kind: 'reset', when: 'after-reading' }],
  ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:1/' }],
]

describe.each(['List', 'Update'] as const)('a chatbot that answers each %s with', (operation) => {
  test.each(faults)('%s: its feed fails, the other is carried over whole', async (_, fault) => {
    await loaded()
    deliver(zillowFeed(all.map(dearer)))
    world.standIn.addFault({ operations: [operation], chatbot: 'W', fault })
    const [west, east] = await Promise.all([synced('west'), synced('east')])
    expect(west).toMatchObject({ result: 'failed' })
    expect(east).toMatchObject({ result: 'ok', applied: { outcomes: { done: 20 } } })
    world.standIn.clearFaults()
    world.clock.advance(3_600_000)
    expect(await synced('west')).toMatchObject({ result: 'ok' })
    for (const bot of ['E', 'W'])
      for (const [index, { listing }] of world.standIn.listings(bot).entries())
        expect(listing.SalePrice ?? listing.RentPrice).toBe(dearer(all[index]).price)
  })
})

test("a Retry-After that comes with a failure is its chatbot's alone, and the next run keeps to it", async () => {
  await loaded()
  world.standIn.addFault({ chatbot: 'W', fault: { kind: 'status', status: 503, retryAfter: 1800 } })
  expect(await synced('west')).toMatchObject({ result: 'failed' })
  world.standIn.clearFaults()
  world.calls()
  const again = await synced('west')
  expect(again).toMatchObject({ result: 'failed' })
  expect(again.error).toContain('another 1800 s')
  expect(world.calls().List).toBe(0)
  expect(await synced('east')).toMatchObject({ result: 'ok' })
  world.clock.advance(1_800_000)
  expect(await synced('west')).toMatchObject({ result: 'ok' })
})

test('a chatbot that hangs takes no call of the others: they are through before its first timeout', async () => {
  world.configure(ways, { concurrency: 2, timeout: '10m' })
  await loaded()
  deliver(zillowFeed(all.map(dearer)))
  world.standIn.addFault({ operations: ['Update'], chatbot: 'W', fault: { kind: 'hang' } })
  const west = synced('west')
  await until(() => world.standIn.counts.Update >= 2)
  const began = world.clock.now()
  expect(await synced('east')).toMatchObject({ result: 'ok', applied: { outcomes: { done: 20 } } })
  expect(world.clock.now() - began).toBeLessThan(5 * 60_000)
  // Never more than its own two.
  expect(world.standIn.requests.filter(({ fault }) => fault !== null).length).toBeLessThanOrEqual(2)
  expect(await west).toMatchObject({ result: 'failed' })
})

test('the rate is one for the service, whichever of its feeds names the lowest', async () => {
  world.configure({ ...ways, west: { ...ways.west, service: { rate: 2 } } }, { rate: 1000 })
  const began = world.clock.now()
  app = openApp(world.context, { logLevel: 'error' })
  expect(await synced('east')).toMatchObject({ result: 'ok' })
  expect(await synced('west')).toMatchObject({ result: 'ok' })
  const calls = Object.values(world.standIn.counts).reduce((sum, count) => sum + count, 0)
  expect((world.clock.now() - began) / 1000).toBeGreaterThanOrEqual((calls - 2) / 2)
})

test("keys are the feed's own: the daemon goes on with the others where one is revoked", async () => {
  await world.end()
  world = await RunWorld.start({ standIn: { keys: { secret: 'test-secret-key' } } })
  deliver(zillowFeed(all))
  const schedule = '* * * * *'
  const service = { secretKey: 'revoked' }
  world.configure({ east: { ...ways.east, schedule }, west: { ...ways.west, schedule, service } })
  const logged: { msg: string; feed?: string; error?: string }[] = []
  const writeLog = (line: string): unknown => logged.push(JSON.parse(line))
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  const daemon = daemonCommand({ ...world.context, clock, writeLog })
  const linesOf = (msg: string, feed: string) => logged.filter((line) => line.msg === msg && line.feed === feed)
  for (let minute = 1; minute <= 3; minute++) {
    await until(
      () => linesOf('run finished', 'east').length === minute && linesOf('run failed', 'west').length === minute,
    )
    await clock.pass(60_000)
  }
  expect(linesOf('run failed', 'west')[0].error).toContain('refused the keys')
  expect(world.standIn.listings('E')).toHaveLength(20)
  expect(world.standIn.listings('W')).toHaveLength(0)
  world.stop.abort()
  expect(await daemon).toBe(0)
  app = openApp(world.context)
})
