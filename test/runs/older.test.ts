/** An older delivery served again, as by a mirror that lags behind, reverts nothing unseen (fault-model F14). */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writtenOf } from '../../src/run/generation.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'
import type { FeedServer } from './feed-server.ts'

/** The homes in the state of a day: some dearer each day. */
const asOf = (day: number, changed = 11): Home[] =>
  homes(1, 12).map((one, index) => (index < changed ? { ...one, price: one.price + day * 1000 } : one))
const priceOf = (one: Home): unknown =>
  world.listing(one.mlsNumber)?.['SalePrice'] ?? world.listing(one.mlsNumber)?.['RentPrice']
const hour = 3_600_000

let world: RunWorld
let server: FeedServer | null = null
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(async () => {
  await world.end()
  await server?.close()
  server = null
})

/** One run on the feed of a day, an hour later. */
async function runOn(feed: readonly Home[]): ReturnType<RunWorld['run']> {
  world.clock.advance(hour)
  world.deliver(zillowFeed(feed))
  return world.run()
}

describe('whose records are those of an earlier one', () => {
  test('holds what it would set back until a newer one comes', async () => {
    for (const day of [1, 2, 3]) expect(await runOn(asOf(day))).toMatchObject({ result: 'ok' })
    const report = await runOn(asOf(2))
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 11 } })
    expect(report.notes).toEqual([
      expect.stringMatching(
        /^the delivery is the one of 2026-11-21T14:00:00.\d+Z to the letter, and another came since: /,
      ),
    ])
    // Served again and again, it does not become the usual by that.
    expect(await runOn(asOf(2))).toMatchObject({ result: 'held', counts: { update: 0, hold: 11 } })
    expect(priceOf(home(1))).toBe(asOf(3)[0].price)
    expect(await runOn(asOf(3))).toMatchObject({ result: 'ok', notes: [] })
    expect(await runOn(asOf(4))).toMatchObject({ result: 'ok', counts: { update: 11 } })
  })

  test('in whatever order they are, and with deletes', async () => {
    await runOn(asOf(1, 5))
    await runOn([...homes(1, 12), ...homes(13, 18)])
    const report = await runOn(asOf(1, 5).toReversed())
    expect(report).toMatchObject({ result: 'held', counts: { delete: 0, hold: 11 } })
  })

  test('goes through once it is approved, and is the last one then', async () => {
    for (const day of [1, 2]) await runOn(asOf(day))
    await runOn(asOf(1))
    await world.approve()
    expect(await runOn(asOf(1))).toMatchObject({ result: 'ok', counts: { update: 11 } })
    expect(await runOn(asOf(1))).toMatchObject({ result: 'ok', notes: [] })
    expect(await runOn(asOf(2))).toMatchObject({ result: 'held' })
  })

  test('a few prices that are set back are carried out, and said', async () => {
    for (const day of [1, 2]) await runOn(asOf(day, 10))
    const report = await runOn(asOf(1, 10))
    expect(report).toMatchObject({ result: 'ok', counts: { update: 10 } })
    expect(report.notes).toEqual([expect.stringContaining('an older one may have been served again')])
    expect(await runOn(asOf(1, 10))).toMatchObject({ result: 'ok', notes: [] })
  })

  test('what comes back is created: nothing is lost by it', async () => {
    await runOn(homes(1, 12))
    await runOn(homes(1, 8))
    const report = await runOn(homes(1, 12))
    expect(report).toMatchObject({ result: 'ok', counts: { create: 4 } })
    expect(report.notes).toHaveLength(1)
  })

  test('is known by the dry run, too, which says nothing where nothing changes', async () => {
    for (const day of [1, 2, 3]) await runOn(asOf(day))
    world.deliver(zillowFeed(asOf(2)))
    expect(await world.run('diff')).toMatchObject({ result: 'held', counts: { hold: 11 } })
    world.deliver(zillowFeed(asOf(3)))
    expect(await world.run('diff')).toMatchObject({ result: 'ok', notes: [] })
  })
})

describe('whose server says that it is older', () => {
  /** One run on what a server gives that says when it was written. */
  async function served(feed: readonly Home[], written: string): ReturnType<RunWorld['run']> {
    world.clock.advance(hour)
    server!.give(zillowFeed(feed), (response, content) =>
      response.writeHead(200, { 'content-length': content.length, 'last-modified': written }).end(content),
    )
    return world.run()
  }
  const ten = 'Sat, 21 Nov 2026 10:00:00 GMT'
  const eleven = 'Sat, 21 Nov 2026 11:00:00 GMT'

  beforeEach(async () => {
    server = await startFeedServer()
    world.configure({ north: { source: server.url } })
  })

  test('is held whole, though nobody saw it before', async () => {
    await served(asOf(2), eleven)
    const report = await served([...asOf(1, 1), home(13)], ten)
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, create: 0 } })
    expect(report.notes).toEqual([
      'the delivery says that it was written at 2026-11-21T10:00:00.000Z, before the last one (2026-11-21T11:00:00.000Z): an older one was served again',
    ])
    expect(priceOf(home(1))).toBe(asOf(2)[0].price)
  })

  test('a newer one with the records of an earlier one is a feed that was set back', async () => {
    await served(asOf(1), ten)
    await served(asOf(2), eleven)
    expect(await served(asOf(1), 'Sat, 21 Nov 2026 12:00:00 GMT')).toMatchObject({ result: 'ok', notes: [] })
  })

  test('another address is another server, whose clock is no measure', async () => {
    await served(asOf(1), eleven)
    world.configure({ north: { source: `${server!.url}/other` } })
    expect(await served(asOf(2), ten)).toMatchObject({ result: 'ok', counts: { update: 11 } })
  })
})

test('which says itself that it is older (OpenImmo) is held whole', async () => {
  const written = readFileSync(new URL('../../fixtures/presets/openimmo/feed.xml', import.meta.url), 'utf8')
  expect(written).toMatch(/timestamp="[^"]+"/)
  const at = (time: string, feed: string): string => feed.replace(/timestamp="[^"]+"/, `timestamp="${time}"`)
  const url = { template: 'https://homes.example/{MLSNumber}' }
  world.configure({ north: { preset: 'openimmo', fields: { Url: url }, defaults: { DaysOnMarket: 0, YearBuilt: 0 } } })
  world.deliver(at('2026-11-20T10:00:00+01:00', written))
  const first = await world.run()
  expect(first.counts.create).toBeGreaterThan(0)
  const dearer = written.replaceAll(/<kaufpreis>(\d+)/g, '<kaufpreis>1$1')
  expect(dearer).not.toBe(written)
  world.deliver(at('2026-11-20T08:59:59Z', dearer))
  const held = await world.run()
  expect(held).toMatchObject({ result: 'held', counts: { update: 0 } })
  expect(held.notes.join()).toContain('before the last one (2026-11-20T09:00:00.000Z)')
  world.deliver(at('2026-11-20T09:00:01Z', dearer))
  expect((await world.run()).counts.update).toBeGreaterThan(0)
})

test.each([
  ['2026-11-20T10:00:00+01:00', '2026-11-20T09:00:00Z', 0],
  ['2022-04-19T16:21:03.0+00:00', '2022-04-19T16:21:03Z', 0],
  ['2026-11-20T10:00:00-0600', '2026-11-20T16:00:00Z', 0],
  // Without a zone an hour is in doubt, as clocks are set back.
  ['2014-10-28-05:50:05', '2014-10-28T05:50:05Z', hour],
  ['20141028-055005', '2014-10-28T05:50:05Z', hour],
  ['2014-10-28', '2014-10-28T00:00:00Z', hour],
])('the time of a document, %s', (said, at, within) => {
  expect(writtenOf(said, { validators: {} })).toEqual({ by: 'document', at: Date.parse(at), within })
})

test.each([null, '', 'today', '2014-13-28', '28.10.2014', '2014-10-28T25:00:00Z'])(
  'what is no time (%s) leaves it to the server',
  (said) => {
    expect(writtenOf(said, { validators: {} })).toBe(null)
    const lastModified = 'Sat, 21 Nov 2026 10:00:00 GMT'
    const at = Date.parse('2026-11-21T10:00:00Z')
    expect(writtenOf(said, { validators: { lastModified } })).toEqual({ by: 'server', at, within: 15 * 60_000 })
  },
)
