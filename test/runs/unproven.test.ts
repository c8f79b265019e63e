/**
 * A table over HTTP without a length, or through a pipe: nothing tells its end from a lost connection, so that what it lacks goes
 * only once two deliveries that end alike have lacked it.
 */
import { copyFileSync, cpSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dearer, homes, resoFeed, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

const day = 86_400_000
const all = homes(1, 20)
const preset = 'reso-csv'
const volatile = { refresh: '365d' }

let world: RunWorld
let server: Server
/** What a connection is answered, once its request is there. */
let answer: (socket: Socket) => void
beforeEach(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const north = { source: sourceOf(), preset, delivery: 'full', volatile, limits: 'off' }
  world = await RunWorld.start({ feeds: { north } })
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  await world.end()
})

const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')
/** Closes the connection after these bytes; nothing announces how many they are. */
const give = (content: string | Buffer, ...lines: string[]): void => {
  answer = (socket) => {
    socket.write(head('Connection: close', 'Content-Type: text/csv', ...lines))
    socket.end(content)
  }
}
/** A run on these homes, a day after the last one. */
function night(some: readonly Home[] | string): Promise<ReadReport> {
  give(typeof some === 'string' ? some : resoFeed(some))
  world.clock.advance(day)
  return world.run()
}
/** The table up to its `count`th row, where the connection is lost. */
const cut = (count: number, some: readonly Home[] = all): string => resoFeed(some.slice(0, count))
const there = (): number => world.listings().length
const kinds = (report: ReadReport, kind: string): string[] =>
  report.changes.flatMap((change) => (change.kind === kind ? [change.mlsNumber] : []))

async function loaded(): Promise<void> {
  expect(await night(all)).toMatchObject({ result: 'ok', delivery: { complete: true }, counts: { create: 20 } })
  expect(await night(all)).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
}

describe('a table that ends with its connection', () => {
  test('loads, and says how its end can be proven', async () => {
    give(resoFeed(all))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', delivery: { complete: true, reasons: [] }, counts: { create: 20 } })
    expect(report.notes.join()).toMatch(/end of this delivery can't be proven: .*Content-Length or chunks/)
    const found = await world.executed('inspect', 'north')
    expect(found.stdout.replaceAll(/\s+/g, ' ')).toMatch(/whole.*not proven: .*Content-Length or chunks/)
  })

  test('check says so, too, though it reads the beginning alone; not where there is a length, and not of a delta', async () => {
    const found = async (): Promise<string> => (await world.executed('check', 'north')).stdout
    const many = resoFeed(homes(1, 400))
    give(many)
    expect(await found()).toMatch(/✓ source north: .*its end can't be proven\n.*→ .*Content-Length or chunks/)
    give(many, `Content-Length: ${many.length}`)
    expect(await found()).not.toContain("can't be proven")
    give(many)
    world.configure({ north: { source: sourceOf(), preset, delivery: 'delta' } })
    expect(await found()).not.toContain("can't be proven")
  })

  test("deletes what two of them lack, and holds what only one does, which is nobody's trouble", async () => {
    await loaded()
    const gone = [all[3], all[8]]
    const rest = all.filter((home) => !gone.includes(home))
    const first = await night(rest)
    expect(first).toMatchObject({ result: 'ok', delivery: { complete: true }, counts: { delete: 0, hold: 2 } })
    expect(first.changes[0]).toMatchObject({ cause: 'unproven', held: 'delete' })
    expect(first.changes[0].why).toContain("only from one delivery, whose end can't be proven")
    expect((await world.executed('sync', 'north')).status).toBe(0)
    expect(there()).toBe(18)
    expect(await night(rest)).toMatchObject({ result: 'ok', counts: { delete: 0, hold: 0 } })
  })

  test('leaves what a person refused to delete refused, though it lacks for the first time what was said to be gone', async () => {
    world.configure({ north: { source: sourceOf(), preset, delivery: 'full', volatile } })
    await loaded()
    const gone = [...all.slice(0, 6).map((home) => ({ ...home, status: 'Withdrawn' })), ...all.slice(6)]
    expect(await night(gone)).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    await world.executed('approve', 'north', '--refuse', '--yes')
    const lacking = await night(all.slice(6))
    expect(lacking).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    expect(lacking.notes.join()).toContain('6 held by earlier runs stay held')
    for (let nth = 0; nth < 4; nth++)
      expect(await night(all.slice(6))).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  })

  test('is not proven by the next one where a failing service ended the run of the first', async () => {
    world.standIn.addFault({
      operations: ['Create'],
      mlsNumber: all[8].mlsNumber,
      fault: { kind: 'credentials', code: 403 },
    })
    give(resoFeed(all))
    expect(await world.run('backfill')).toMatchObject({ result: 'failed' })
    world.standIn.clearFaults()
    const report = await night(cut(5))
    expect(report).toMatchObject({ result: 'partial', delivery: { complete: false } })
  })

  test('goes on with what it holds meanwhile', async () => {
    await loaded()
    const next = [dearer(all[0]), ...all.slice(2), ...homes(21, 22)]
    expect((await night(next)).counts).toMatchObject({ create: 2, update: 1, delete: 0, hold: 1 })
    expect((await night(next)).counts).toMatchObject({ create: 0, update: 0, delete: 1, hold: 0 })
  })

  test('deletes nothing by what a backup that was put back knows of the one before, for no feed of it', async () => {
    const feeds = { north: { source: sourceOf(), preset, delivery: 'full', volatile, limits: 'off' }, south: {} }
    world.configure(feeds, {}, './data/store.db')
    world.deliver(zillowFeed(homes(30, 31)), 'south.xml')
    await loaded()
    await world.run('sync', 'south')
    await night(all.slice(2))
    const [data, backup] = ['data', 'backup'].map((name) => join(world.folder, name))
    cpSync(data, backup, { recursive: true })
    await night(all)
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
    await world.run('sync', 'south')
    expect(await night(all.slice(2))).toMatchObject({ delivery: { complete: false }, counts: { delete: 0, hold: 2 } })
    expect(there()).toBe(22)
  })

  test.each([
    [12, 17],
    [17, 12],
  ])('is cut after %i rows, then after %i: nothing is deleted, and status 4 says so', async (number, two) => {
    await loaded()
    for (const rows of [number, two, number]) {
      const report = await night(cut(rows))
      expect(report).toMatchObject({ result: 'partial', delivery: { complete: false }, counts: { delete: 0 } })
      expect(report.delivery.reasons).toEqual(["its end can't be proven, and the delivery before does not end like it"])
    }
    expect(there()).toBe(20)
    // The next whole one does not agree with a cut one, and the one after it does.
    expect((await night(all)).delivery.complete).toBe(false)
    expect(await night(all)).toMatchObject({ result: 'ok', counts: { unchanged: 20, hold: 0 } })
  })

  test('is cut behind a row that is new: nobody knows where it comes in the one before', async () => {
    await loaded()
    await night(cut(12))
    const grown = [...all.slice(0, 15), ...homes(21, 21), ...all.slice(15)]
    expect(await night(cut(16, grown))).toMatchObject({
      delivery: { complete: false },
      counts: { create: 1, delete: 0 },
    })
    await night(cut(14, grown))
    expect(there()).toBe(21)
  })

  test('grows at its end, night after night: what leaves goes all the same', async () => {
    await loaded()
    for (let i = 0; i < 4; i++) {
      const report = await night([...all.slice(i), ...homes(21, 21 + i)])
      expect(report).toMatchObject({ result: 'ok', delivery: { complete: true }, counts: { delete: i > 1 ? 1 : 0 } })
    }
    expect(there()).toBe(22)
  })

  test('deletes by what was absent before it was cut, and gets nothing from the cut itself', async () => {
    await loaded()
    await night(all.slice(1))
    const report = await night(cut(12, all.slice(1)))
    expect(report).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
    await night(all.slice(1))
    expect(kinds(await night(all.slice(1)), 'delete')).toEqual([all[0].mlsNumber])
    expect(there()).toBe(19)
  })

  test('whose last listing was sold is empty twice', async () => {
    await loaded()
    const header = resoFeed([])
    expect(await night(header)).toMatchObject({ delivery: { complete: false }, counts: { delete: 0 } })
    expect(await night(header)).toMatchObject({ delivery: { complete: true }, counts: { delete: 20 } })
    expect(await night(all)).toMatchObject({ delivery: { complete: false }, counts: { create: 20 } })
  })

  test('shows no home twice: the new number waits with the old one, of which only one delivery says that it left', async () => {
    world.configure({ north: { source: sourceOf(), preset, delivery: 'full', volatile } })
    await loaded()
    const renumbered = all.map((home, i) => (i < 3 ? { ...home, mlsNumber: `NEW-${home.mlsNumber}` } : home))
    const first = await night(renumbered)
    expect(first).toMatchObject({ result: 'ok', counts: { create: 0, delete: 0, hold: 6 } })
    expect(there()).toBe(20)
    expect(await night(renumbered)).toMatchObject({ result: 'ok', counts: { create: 3, delete: 3, hold: 0 } })
    expect(there()).toBe(20)
  })

  test('is not asked whether it changed: what arrived may be less than there is', async () => {
    let asked = ''
    const tagged = (content: string): void => {
      give(content, 'ETag: "1"')
      const given = answer
      server.removeAllListeners('connection')
      server.on('connection', (socket: Socket) => {
        socket.on('error', () => undefined)
        socket.once('data', (request) => {
          asked = request.toString()
          given(socket)
        })
      })
    }
    for (let i = 0; i < 3; i++) {
      tagged(resoFeed(all))
      expect((await world.run()).result).toBe('ok')
    }
    expect(asked).toContain('GET ')
    expect(asked.toLowerCase()).not.toContain('if-none-match')
  })

  test('is not confirmed by one that only a store put back takes for the last', async () => {
    await loaded()
    await night(cut(10))
    const stores = readdirSync(world.folder).filter((name) => name.startsWith('store.db'))
    for (const name of stores) copyFileSync(join(world.folder, name), join(world.folder, `backup-${name}`))
    await night(all)
    for (const name of stores) copyFileSync(join(world.folder, `backup-${name}`), join(world.folder, name))
    expect(await night(cut(10))).toMatchObject({ counts: { delete: 0 } })
    expect(there()).toBe(20)
    expect(await night(cut(10))).toMatchObject({ counts: { delete: 10 } })
  })

  test("and is another office's is held at once: without what it lacks hardly anything would stay", async () => {
    world.configure({ north: { source: sourceOf(), preset, delivery: 'full', volatile } })
    await loaded()
    const other = [...homes(101, 108), all[19]]
    for (let i = 0; i < 2; i++) {
      const report = await night(other)
      expect(report).toMatchObject({ result: 'held', delivery: { complete: true }, counts: { create: 0, delete: 0 } })
      expect(report.holds.map(({ rule }) => rule)).toContain('unrecognisable')
    }
    expect(await night(all)).toMatchObject({ result: 'ok', counts: { unchanged: 20, hold: 0 } })
  })

  test('waits for the guard like any other, once it agrees', async () => {
    world.configure({ north: { source: sourceOf(), preset, delivery: 'full', volatile } })
    await loaded()
    expect(await night(all.slice(6))).toMatchObject({ result: 'ok', counts: { hold: 6 } })
    for (let i = 0; i < 3; i++)
      expect(await night(all.slice(6))).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    expect(await night(all.slice(6))).toMatchObject({ result: 'ok', counts: { delete: 6 } })
  })
})

const sourceOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/north.csv`

describe('an end that is proven needs no second delivery', () => {
  const chunked = (content: string): string => `${Buffer.byteLength(content).toString(16)}\r\n${content}\r\n0\r\n\r\n`
  test.each<[string, (some: readonly Home[]) => void]>([
    ['Content-Length', (some) => give(resoFeed(some), `Content-Length: ${Buffer.byteLength(resoFeed(some))}`)],
    ['chunks', (some) => give(chunked(resoFeed(some)), 'Transfer-Encoding: chunked')],
    ['gzip', (some) => give(gzipSync(resoFeed(some)))],
    ['Content-Encoding', (some) => give(gzipSync(resoFeed(some)), 'Content-Encoding: gzip')],
  ])('%s', async (_, given) => {
    given(all)
    expect((await world.run()).notes.join()).not.toContain("can't be proven")
    given(all.slice(2))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 2, hold: 0 } })
  })

  test('XML, by its closed root', async () => {
    world.configure({ north: { source: sourceOf(), preset: 'zillow', volatile } })
    give(zillowFeed(all))
    await world.run()
    give(zillowFeed(all.slice(2)))
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { delete: 2, hold: 0 } })
    expect(report.notes).toEqual([])
  })
})

test.each([
  ['said so', ['Connection: close']],
  ['did not say so', []],
])(
  'a connection that is reset at a line break, by a server that would close it and %s, deletes nothing',
  async (_, lines) => {
    await loaded()
    for (const rows of [12, 15]) {
      answer = (socket) => {
        socket.write(head(...lines, 'Content-Type: text/csv') + cut(rows), () =>
          setTimeout(() => socket.resetAndDestroy(), 50),
        )
      }
      const report = await world.run()
      expect(report).toMatchObject({ result: 'partial', delivery: { complete: false }, counts: { delete: 0 } })
      expect(report.delivery.reasons).toHaveLength(1)
    }
    expect((await night(all)).counts.delete).toBe(0)
    expect(there()).toBe(20)
  },
)

/** Gives less than the whole by a length that counts letters where bytes are meant, and keeps the connection open. */
const giveLess = (content: string): void => {
  const length = Buffer.byteLength(content) - 4
  answer = (socket) => void socket.write(`${head('Content-Type: text/plain', `Content-Length: ${length}`)}${content}`)
}

test('of a document that is longer than its Content-Length, a table is incomplete; one with an end of its own is not', async () => {
  await loaded()
  // A comment in the last row would do the same: what is cut off is the end of the table.
  giveLess(`${cut(17)}more`)
  world.clock.advance(day)
  const report = await world.run()
  expect(report).toMatchObject({ result: 'partial', delivery: { complete: false }, counts: { delete: 0 } })
  expect(report.delivery.reasons.join()).toContain('the server sent more bytes than it said (Content-Length: ')
  expect((await world.executed('inspect', 'north')).stdout).toContain('the server sent more bytes than it said')
  world.configure({ north: { source: sourceOf(), preset: 'zillow', delivery: 'full', volatile, limits: 'off' } })
  giveLess(`${zillowFeed(all)}\0\0\0\0`)
  expect(await world.run()).toMatchObject({ delivery: { complete: true, reasons: [] } })
})
