/** The guard over whole runs: an accident becomes holds, and only a person lets them through. */
import { userInfo } from 'node:os'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dearer, home, homes, resoFeed, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'

const hour = 3_600_000
const all = homes(1, 20)
const volatile = { refresh: '365d' }
const limits = { delete: { percent: 20, floor: 2 }, update: { percent: 60, floor: 2 } }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north: { limits, volatile } } })
})
afterEach(() => world.end())

async function loaded(): Promise<void> {
  world.deliver(zillowFeed(all))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 20 } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
  world.calls()
}

/** Nothing was deleted, and whatever is not there is held with the reason. */
function heldDeletes(report: ReadReport, count: number, why: string): void {
  expect(report.result).toBe('held')
  const holds = report.changes.filter((change) => change.kind === 'hold')
  expect(holds.map((change) => change.held)).toEqual(Array.from({ length: count }, () => 'delete'))
  for (const change of holds) expect(change.why).toContain(why)
  expect(world.calls()).toMatchObject({ Delete: 0 })
}

describe('deletes above the limit', () => {
  test('over 24 hours, not per run: what was deleted before counts', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(3)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 3 } })
    world.clock.advance(hour)
    world.calls()
    world.deliver(zillowFeed(all.slice(5)))
    heldDeletes(await world.run(), 2, '2 deletes after 3 in the last 24 hours are more than the 4 allowed')
    world.clock.advance(22 * hour)
    heldDeletes(await world.run(), 2, 'limits.delete')
    world.clock.advance(2 * hour)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 2 } })
    expect(world.listings()).toHaveLength(15)
  })

  test('never exceed it however the feed shrinks, one listing at a time', async () => {
    await loaded()
    for (let gone = 1; gone <= 12; gone++) {
      world.deliver(zillowFeed(all.slice(gone)))
      await world.run()
      world.clock.advance(hour)
    }
    expect(world.listings()).toHaveLength(16)
  })

  test('a delete without success counts once, however often it is tried', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(4)))
    world.standIn.addFault({ operations: ['Delete'], fault: { kind: 'status', status: 500 } })
    expect(await world.run()).toMatchObject({ result: 'partial', applied: { outcomes: { unknown: 4 } } })
    world.standIn.clearFaults()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 4 } })
    expect(world.listings()).toHaveLength(16)
  })

  test('a delete carried out without an answer counts, though the next attempt was refused', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(4)))
    world.standIn.addFault({ operations: ['Delete'], nth: 1, fault: { kind: 'reset', when: 'after-carrying-out' } })
    world.standIn.addFault({ operations: ['Delete'], nth: 2, fault: { kind: 'refuse' } })
    for (const nth of [3, 4, 5, 6]) world.standIn.addFault({ operations: ['Delete'], nth, fault: { kind: 'refuse' } })
    expect(await world.run()).toMatchObject({ counts: { delete: 4 } })
    expect(world.listings()).toHaveLength(16)
    world.standIn.clearFaults()
    world.calls()
    world.deliver(zillowFeed(all.slice(5)))
    heldDeletes(await world.run(), 1, '1 deletes after 4 in the last 24 hours are more than the 4 allowed')
  })

  test('the floor is always allowed', async () => {
    world.configure({ north: { limits: { delete: { percent: 0, floor: 2 } }, volatile } })
    await loaded()
    world.deliver(zillowFeed(all.slice(2)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 2 } })
    world.calls()
    world.deliver(zillowFeed(all.slice(3)))
    heldDeletes(await world.run(), 1, 'at least 2')
  })

  test('do not keep the rest from going on', async () => {
    await loaded()
    world.deliver(zillowFeed([...all.slice(6).map((one, index) => (index < 3 ? dearer(one) : one)), home(21)]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 1, update: 3, delete: 0, hold: 6 } })
    expect(report.applied?.outcomes).toMatchObject({ done: 4 })
  })

  test('with onTrip: abort they do', async () => {
    world.configure({ north: { limits: { ...limits, onTrip: 'abort' }, volatile } })
    await loaded()
    world.deliver(zillowFeed([...all.slice(6).map((one, index) => (index < 3 ? dearer(one) : one)), home(21)]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 10 } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })
})

describe('approve', () => {
  test('lets exactly what was held through, once', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(6)))
    heldDeletes(await world.run(), 6, 'limits.delete')
    await world.approve()
    world.deliver(zillowFeed(all.slice(11)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { delete: 6, hold: 5 } })
    const gone = all.slice(0, 6).map((one) => one.mlsNumber)
    expect(report.changes.flatMap((one) => (one.kind === 'delete' ? [one.mlsNumber] : []))).toEqual(gone)

    // Back again, and gone again: the approval is used up.
    world.deliver(zillowFeed([...all.slice(0, 6), ...all.slice(11)]))
    await world.run()
    world.deliver(zillowFeed(all.slice(11)))
    world.calls()
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 11 } })
    expect(world.listings()).toHaveLength(20)
  })

  test('taken back lets nothing through any more', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(6)))
    heldDeletes(await world.run(), 6, 'limits.delete')
    world.clock.advance(26 * hour)
    const stillHeld = await world.run()
    const since = Date.parse('2026-11-21T12:00:00Z')
    for (const change of stillHeld.changes) {
      expect(change.heldSince).toBeGreaterThanOrEqual(since)
      expect(change.heldSince).toBeLessThan(since + hour)
    }
    const approved = await world.executed('approve', 'north', '--yes')
    expect(approved.stdout).toMatch(/delete \S+, held since 2026-11-21 12:0\d UTC \(-?\d+ h\): gone from the feed/)
    const open = await world.executed('status', '--format', 'json')
    expect(JSON.parse(open.stdout)).toMatchObject({ approvals: [{ by: userInfo().username, changes: 6 }] })
    expect((await world.executed('status')).stdout).toMatch(/6 approved by .+, until 20/)
    expect(await world.executed('approve', 'north', '--revoke')).toMatchObject({
      status: 0,
      stdout: 'north: 6 approved, taken back\n',
      stderr: '',
    })
    expect((await world.executed('status')).stdout).not.toContain('approved by')
    expect((await world.executed('approve', 'north', '--revoke')).stdout).toContain('nothing is approved')
    world.calls()
    heldDeletes(await world.run(), 6, 'limits.delete')
  })

  test('is good for 24 hours', async () => {
    await loaded()
    world.deliver(zillowFeed(all.slice(6)))
    await world.run()
    await world.approve()
    world.clock.advance(24 * hour + 1)
    world.calls()
    heldDeletes(await world.run(), 6, 'limits.delete')
  })

  test('says nothing of what is held for want of proof', async () => {
    await loaded()
    world.deliver(zillowStart + zillowRecord(home(1)))
    heldDeletes(await world.run(), 19, 'the delivery is incomplete')
    await world.approve()
    heldDeletes(await world.run(), 19, 'the delivery is incomplete')
  })
})

describe('updates above the limit', () => {
  test('are held, all of them; just below none is', async () => {
    await loaded()
    const changed = (count: number): string => zillowFeed(all.map((one, index) => (index < count ? dearer(one) : one)))
    world.deliver(changed(13))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 13 } })
    expect(report.notes.join()).toContain('13 updates are more than the 12 allowed in a run')
    expect(world.calls()).toMatchObject({ Update: 0 })
    world.deliver(changed(12))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 12 } })
    world.deliver(changed(13))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 1 } })
  })

  test('name a new mapping as the reason', async () => {
    await loaded()
    world.configure({ north: { limits, volatile, extension: { Zone: { value: 'A' } } } })
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 20 } })
    expect(report.notes.join()).toContain('the mapping changed: 20 updates')
    await world.approve()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 20 } })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
  })
})

describe('a delivery that is not like the last ones', () => {
  test('half as large: its deletes are held even where the limit would allow them', async () => {
    world.configure({ north: { limits: { delete: { percent: 100, floor: 100 } }, volatile } })
    await loaded()
    world.deliver(zillowFeed(all.slice(11)))
    heldDeletes(await world.run(), 11, 'limits.shrink')
    // It does not become the measure of the next ones.
    for (let again = 0; again < 5; again++) heldDeletes(await world.run(), 11, 'limits.shrink')
    world.deliver(zillowFeed(all.slice(10)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 10 } })
  })

  test('half as large: neither grace nor a backfill make it the measure', async () => {
    const lax = { delete: { percent: 100, floor: 100 }, grace: { runs: 4 } }
    world.configure({ north: { limits: lax, volatile } })
    await loaded()
    world.deliver(zillowFeed(all.slice(11)))
    for (let run = 1; run <= 3; run++) await world.run('backfill')
    for (let run = 1; run <= 3; run++) expect((await world.run()).counts).toMatchObject({ delete: 0, hold: 11 })
    for (let run = 4; run <= 8; run++) heldDeletes(await world.run(), 11, 'limits.shrink')
  })

  test('half as large, and nothing of it held: what was usual before is so no more', async () => {
    world.configure({ north: { limits: { delete: { percent: 100, floor: 100 } }, volatile } })
    await loaded()
    for (let run = 1; run <= 3; run++) await world.run()
    const gone = all.slice(0, 12).map((one) => ({ ...one, status: 'Withdrawn' }))
    world.deliver(zillowFeed([...gone, ...all.slice(12)]))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 12 } })
    // The source keeps withdrawn records for a while only; by then nothing is left to delete.
    world.deliver(zillowFeed(all.slice(12)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 8 } })
    world.deliver(zillowFeed(all.slice(13)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 1 } })
  })

  test("another customer's feed: nothing is carried out", async () => {
    world.configure({ north: { limits: { delete: { percent: 100, floor: 100 } }, volatile } })
    await loaded()
    world.deliver(zillowFeed([...homes(101, 115), ...all.slice(0, 5)]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, hold: 30 } })
    expect(report.notes.join()).toContain('limits.overlap')
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    world.deliver(zillowFeed(all))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
  })

  test("another customer's feed holds what would only be remembered as well, and an approval lets all of it through", async () => {
    world.configure({ north: { limits: { delete: { percent: 100, floor: 100 } }, volatile } })
    await loaded()
    world.standIn.remove(chatbot, all[19].mlsNumber)
    world.deliver(zillowFeed(homes(101, 115)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 0, forget: 0, hold: 35 } })
    const wouldBe = report.changes.map((change) => change.held)
    expect(wouldBe.filter((kind) => kind === 'forget')).toHaveLength(1)
    await world.approve()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 15, delete: 19, forget: 1 } })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 15 } })
  })

  test('without a field that most listings had: a renamed column', async () => {
    const lostField = { percent: 50, floor: 3 }
    world.configure({ north: { limits: { update: { percent: 100, floor: 100 }, lostField }, volatile } })
    await loaded()
    world.deliver(zillowFeed(all).replaceAll('Description>', 'Remarks>'))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { update: 0, hold: 20 } })
    expect(report.notes.join()).toContain('20 of the 20 listings that had Description now lack it')
    for (const one of all) expect(world.listing(one.mlsNumber)).toMatchObject({ Description: one.description })
  })
})

describe('listings of ours that are gone from the service', () => {
  test('are created again, a few', async () => {
    await loaded()
    for (const one of all.slice(0, 4)) world.standIn.remove(chatbot, one.mlsNumber)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 4 } })
    expect(world.listings()).toHaveLength(20)
  })

  test('are held, many', async () => {
    await loaded()
    for (const one of all.slice(0, 5)) world.standIn.remove(chatbot, one.mlsNumber)
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, hold: 5 } })
    expect(report.notes.join()).toContain('5 of our listings are gone from the service, more than 4')
    await world.approve()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 5 } })
    expect(world.listings()).toHaveLength(20)
  })

  test('nearly all: what is new is created', async () => {
    await loaded()
    for (const one of all) world.standIn.remove(chatbot, one.mlsNumber)
    world.deliver(zillowFeed([...all, home(91)]))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { create: 1, hold: 20 } })
  })

  test('nearly all, with other keys: nothing new is put there either', async () => {
    await loaded()
    world.configure({ north: {} }, { secretKey: 'of-another-customer' })
    for (const one of all) world.standIn.remove(chatbot, one.mlsNumber)
    world.standIn.seed(chatbot, [{ ...world.listings()[0], MLSNumber: 'STRANGER-1' }])
    world.deliver(zillowFeed([...all, home(91)]))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, update: 0, delete: 0, hold: 21 } })
    expect(world.listings().map((one) => one['MLSNumber'])).toEqual(['STRANGER-1'])
  })
})

describe('a delivery that is not whole', () => {
  const whole = zillowFeed(all)
  const cut =
    zillowStart +
    all
      .slice(0, 15)
      .map((one) => zillowRecord(one))
      .join('')

  test('XML without its end', async () => {
    await loaded()
    world.deliver(cut)
    heldDeletes(await world.run(), 5, 'the delivery is incomplete')
  })

  test('XML cut within a record', async () => {
    await loaded()
    world.deliver(whole.slice(0, Math.floor(whole.length * 0.7)))
    const report = await world.run()
    expect(report.delivery.complete).toBe(false)
    expect(report.counts.hold + report.counts.unchanged + report.counts.reject).toBeGreaterThanOrEqual(20)
    expect(world.listings()).toHaveLength(20)
  })

  test('what it does hold is carried out', async () => {
    await loaded()
    world.deliver(zillowStart + [dearer(home(1)), home(30)].map((one) => zillowRecord(one)).join(''))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'held', counts: { create: 1, update: 1, hold: 19 } })
    expect(report.applied?.outcomes).toMatchObject({ done: 2 })
  })

  test('an empty feed', async () => {
    await loaded()
    world.deliver(zillowStart + zillowEnd)
    heldDeletes(await world.run(), 20, 'the delivery is incomplete')
  })

  test.each(['', ' \n'])('an empty file %j', async (content) => {
    await loaded()
    world.deliver(content)
    expect(['held', 'failed']).toContain((await world.run()).result)
    expect(world.listings()).toHaveLength(20)
  })

  test('a page in HTML in its place', async () => {
    await loaded()
    world.deliver('<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>')
    expect(await world.run()).toMatchObject({ result: 'failed', delivery: { complete: false } })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('no file at all', async () => {
    world.deliver(whole)
    await world.run()
    world.configure({ north: { source: './elsewhere.xml' } })
    expect(await world.run()).toMatchObject({ result: 'failed' })
    expect(world.listings()).toHaveLength(20)
  })

  test('on the very first run, empty: nothing happens, and it is said', async () => {
    world.deliver(zillowStart + zillowEnd)
    expect(await world.run()).toMatchObject({ result: 'held', delivery: { complete: false, records: 0 } })
    await loaded()
  })

  test('a CSV cut within a row, and one without its last line break', async () => {
    const file = resoFeed(all)
    world.configure({ north: { preset: 'reso-csv', source: './north.csv', delivery: 'full', limits, volatile } })
    world.deliver(file, 'north.csv')
    await world.run()
    await world.run()
    for (const content of [file.slice(0, -30), file.slice(0, -1)]) {
      world.deliver(content, 'north.csv')
      const report = await world.run()
      expect(report).toMatchObject({ result: 'held', delivery: { complete: false }, counts: { delete: 0 } })
    }
    expect(world.listings()).toHaveLength(20)
  })

  test('a gzip file that is cut', async () => {
    world.configure({ north: { source: './north.xml.gz', limits, volatile } })
    world.deliver(gzipSync(whole), 'north.xml.gz')
    await world.run()
    const packed = gzipSync(cut + zillowEnd)
    for (const bytes of [packed.subarray(0, packed.length - 4), packed.subarray(0, packed.length >> 1)]) {
      world.deliver(bytes, 'north.xml.gz')
      expect(await world.run()).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
    }
    expect(world.listings()).toHaveLength(20)
  })

  test('an HTTP body shorter than its Content-Length', async () => {
    const server = await startFeedServer()
    try {
      world.configure({ north: { source: server.url, limits, volatile } })
      server.give(whole)
      await world.run()
      await world.run()
      server.give(cut + zillowEnd, (response, content) => {
        response.writeHead(200, { 'content-length': content.length + 5000, 'content-type': 'text/xml' })
        response.write(content, () => response.destroy())
      })
      const report = await world.run()
      expect(report).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
      expect(world.listings()).toHaveLength(20)
    } finally {
      await server.close()
    }
  })

  test('a record without readable MLSNumber may be any: nothing is deleted for being absent', async () => {
    await loaded()
    const nameless = zillowRecord(home(1)).replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>')
    world.deliver(
      zillowStart +
        nameless +
        all
          .slice(2)
          .map((one) => zillowRecord(one))
          .join('') +
        zillowEnd,
    )
    const report = await world.run()
    heldDeletes(report, 2, 'without a readable MLSNumber')
    expect(report).toMatchObject({ counts: { reject: 1 }, delivery: { complete: true, rejects: 1 } })
  })

  test('a record that can not be read is not an absent one', async () => {
    await loaded()
    const broken = zillowRecord(home(1)).replace(/<Bedrooms>.*<\/Bedrooms>/, '<Bedrooms>many</Bedrooms>')
    world.deliver(
      zillowStart +
        broken +
        all
          .slice(1)
          .map((one) => zillowRecord(one))
          .join('') +
        zillowEnd,
    )
    const report = await world.run()
    expect(report).toMatchObject({ result: 'partial', counts: { reject: 1, delete: 0, unchanged: 19 } })
    expect(report.rejects).toMatchObject([{ mlsNumber: home(1).mlsNumber }])
    expect(report.rejects[0].problems.join()).toContain('Bedrooms')
    expect(world.listing(home(1).mlsNumber)).toBeDefined()
  })
})
