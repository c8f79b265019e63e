/** /livez, /readyz and /metrics of a daemon, over real HTTP. */
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { heartbeatFile } from '../../bin/heartbeat.mjs'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'
import { Served, token } from './served.ts'

let served: Served
afterEach(async () => {
  await served.end()
})

const first = { deliver: (world: Served['world']) => world.deliver(zillowFeed(homes(1, 6))) }
const ready = async (): Promise<unknown> => JSON.parse((await served.ask('/readyz')).text)

test('/livez asks for the daemon alone: its heartbeat', async () => {
  served = await Served.start()
  expect(await served.ask('/livez')).toMatchObject({ status: 200, text: 'alive\n' })
  const aMinuteAgo = served.clock.now() / 1000 - 61
  utimesSync(heartbeatFile(served.world.configFile), aMinuteAgo, aMinuteAgo)
  expect((await served.ask('/livez')).status).toBe(503)
})

test('/readyz says why not: a feed without a good run, a hold at once, a refused reload', async () => {
  served = await Served.start({}, first)
  await until(() => served.runs() === 1)
  expect(await served.ask('/readyz')).toMatchObject({ status: 200, text: '{"ready":true,"reasons":[]}' })

  served.world.deliver(zillowFeed(homes(1, 2)))
  await served.runAgain()
  const held = await served.ask('/readyz')
  expect(held.status).toBe(503)
  expect(held.headers['content-type']).toBe('application/json')
  expect(JSON.parse(held.text)).toMatchObject({
    ready: false,
    reasons: [{ feed: 'north', what: 'held', text: expect.stringContaining('4 changes held by') }],
  })

  const good = readFileSync(served.world.configFile, 'utf8')
  writeFileSync(served.world.configFile, good.replace('preset: zillow', 'preset: none-such'))
  await served.clock.pass(30_000)
  await until(() => served.logged.some(({ msg }) => msg.startsWith('the changed configuration has problems')))
  expect(await ready()).toMatchObject({
    reasons: [{ feed: null, what: 'configuration', text: expect.stringContaining('none-such') }, { what: 'held' }],
  })
  writeFileSync(served.world.configFile, good)

  // Three that were due without a good one.
  served.world.deliver('<none')
  for (let times = 0; times < 3; times++) await served.runAgain()
  expect(await ready()).toMatchObject({
    ready: false,
    reasons: expect.arrayContaining([
      { feed: 'north', what: 'stale', text: expect.stringContaining('no run has been good since') },
    ]),
  })
})

test('/readyz tells that the store is away, to who has the token', async () => {
  served = await Served.start(
    { token },
    { ...first, more: { store: 'postgres://u:geheim-12345@127.0.0.1:1/listings' } },
  )
  expect(await served.ask('/readyz')).toMatchObject({ status: 503, text: '{"ready":false}' })
  const { status, text } = await served.askAs('/readyz')
  expect(status).toBe(503)
  expect(JSON.parse(text)).toEqual({
    ready: false,
    reasons: [{ feed: null, what: 'store', text: expect.stringContaining("can't be reached") }],
  })
})

test('/readyz tells who lacks the token whether, and nothing more', async () => {
  served = await Served.start({ token })
  await until(() => served.runs() === 1)
  expect(await served.ask('/readyz')).toMatchObject({ status: 503, text: '{"ready":false}' })
  expect(JSON.parse((await served.askAs('/readyz')).text)).toMatchObject({ reasons: [{ what: 'stale' }] })
})

test('a port that is taken ends the daemon with a sentence, before any run', async () => {
  served = await Served.start({}, first)
  await until(() => served.runs() === 1)
  const other = await RunWorld.start()
  try {
    other.configure({ north: { schedule: '0 * * * *' } }, {}, undefined, { http: { listen: served.host } })
    const ended = await other.executed('daemon')
    expect(ended.status).toBe(1)
    expect(ended.stderr).toContain(`http.listen: ${served.host}: another program listens there`)
    expect(other.standIn.counts.List).toBe(0)
  } finally {
    await other.end()
  }
})

test('another address needs a restart: the reload is refused, and the pages stay where they are', async () => {
  served = await Served.start({}, first)
  await until(() => served.runs() === 1)
  const good = readFileSync(served.world.configFile, 'utf8')
  writeFileSync(served.world.configFile, good.replace('127.0.0.1:0', '127.0.0.1:1'))
  await served.clock.pass(30_000)
  await until(() => served.logged.some(({ msg }) => msg.startsWith('the changed configuration has problems')))
  expect(await ready()).toMatchObject({
    reasons: [{ what: 'configuration', text: expect.stringContaining('http.listen: takes effect when the daemon is') }],
  })
})

/** The value of one sample. */
const sample = (text: string, written: string): number | undefined => {
  const line = text.split('\n').find((text) => text.startsWith(`${written} `))
  return line === undefined ? undefined : Number(line.slice(written.length + 1))
}

test('/metrics has what the file has, and totals and durations of this process', async () => {
  served = await Served.start({ token }, { ...first, more: { metrics: './metrics.prom' } })
  await until(() => served.runs() === 1)
  expect((await served.ask('/metrics')).status).toBe(401)
  const { status, headers, text } = await served.askAs('/metrics')
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(text.startsWith(readFileSync(join(served.world.folder, 'metrics.prom'), 'utf8'))).toBe(true)
  expect(sample(text, 'listing_sync_listings{feed="north"}')).toBe(6)
  expect(sample(text, 'listing_sync_changes_total{feed="north",kind="create"}')).toBe(6)
  expect(sample(text, 'listing_sync_outcomes_total{feed="north",outcome="done"}')).toBe(6)
  expect(sample(text, 'listing_sync_calls_total{operation="create",answer="ok"}')).toBe(6)
  expect(sample(text, 'listing_sync_call_duration_seconds_count{operation="create"}')).toBe(6)
  expect(sample(text, 'listing_sync_run_duration_seconds_count{feed="north",result="ok"}')).toBe(1)
  expect(sample(text, 'listing_sync_limiter_wait_seconds_count')).toBeGreaterThanOrEqual(7)

  // A call that was refused, and one that is sent again.
  served.world.standIn.addFault({ operations: ['List'], nth: 1, fault: { kind: 'credentials' } })
  await served.runAgain()
  const later = (await served.askAs('/metrics')).text
  expect(sample(later, 'listing_sync_run_duration_seconds_count{feed="north",result="failed"}')).toBe(1)
  expect(later).toMatch(/^listing_sync_calls_total\{operation="list",answer="(?:401|403|other)"\} 1$/m)
  // No label grows with listings: six or seven homes, the same lines.
  const lines = (what: string): number => what.split('\n').filter((line) => line.includes('create')).length
  served.world.deliver(zillowFeed(homes(1, 7)))
  await served.runAgain()
  expect(lines((await served.askAs('/metrics')).text)).toBe(lines(later))
})

test('/metrics has every total of a feed before its first run, as nothing rises that was not there', async () => {
  served = await Served.start({}, { feeds: { north: { schedule: '0 * * * *' }, south: {} } })
  const { text } = await served.ask('/metrics')
  expect(sample(text, 'listing_sync_changes_total{feed="south",kind="create"}')).toBe(0)
  expect(sample(text, 'listing_sync_outcomes_total{feed="south",outcome="failed"}')).toBe(0)
  expect(sample(text, 'listing_sync_run_duration_seconds_count{feed="south",result="held"}')).toBe(0)
  expect(sample(text, 'listing_sync_run_duration_seconds_bucket{le="+Inf",feed="south",result="ok"}')).toBe(0)
})
