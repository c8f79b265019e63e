/** A feed that gets another name keeps all that it had (`formerly`); one that leaves the configuration is named by `status`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openStore } from '../../src/store/sqlite.ts'
import { dearer, home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const all = homes(1, 12)
const hour = 3_600_000
const day = 24 * hour
const north = { volatile: { refresh: '365d' } }
/** The same feed by its new name. */
const renamed = (settings: object = {}): Record<string, object> => ({
  oslo: { ...north, source: './north.xml', formerly: ['north'], ...settings },
})

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north } })
})
afterEach(() => world.end())

const nothingIsCalled = (): void => expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })

/** How many listings have the mark of which feed. */
function marks(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const listing of world.listings()) {
    const mark = /ListingSyncFeed\\*"[^}]*?value\\*":\\*"([\w-]+)/.exec(JSON.stringify(listing))?.[1] ?? 'none'
    counts[mark] = (counts[mark] ?? 0) + 1
  }
  return counts
}

function bytesOf(name: string): Buffer | null {
  const file = join(world.folder, name)
  return existsSync(file) ? readFileSync(file) : null
}

async function load(): Promise<void> {
  world.deliver(zillowFeed(all))
  await world.run()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 12 } })
  world.calls()
}

describe('a feed with another name', () => {
  test('goes on as if nothing had happened; a dry run says so before, and writes nothing', async () => {
    await load()
    world.configure(renamed())
    const bytes = world.storeBytes()
    const dry = await world.run('diff', 'oslo')
    expect(dry).toMatchObject({ result: 'ok', counts: { unchanged: 12, hold: 0 }, notes: [] })
    expect(world.storeBytes()).toEqual(bytes)
    const report = await world.run('sync', 'oslo')
    expect(report).toMatchObject({ result: 'ok', counts: { unchanged: 12, hold: 0 }, notes: [] })
    expect(report.digest).toBe(dry.digest)
    nothingIsCalled()

    // Marks are written with the next real update.
    world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1, 11)]))
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { update: 1, delete: 1, hold: 0 } })
    expect(marks()).toEqual({ north: 10, oslo: 1 })
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { unchanged: 11 } })
  })

  test('has its marks written anew within `volatile.refresh`, which no rule counts; then the old name is needed no more', async () => {
    // Nothing else of these listings moves by itself.
    const settings = { volatile: { refresh: '7d', fields: ['Tours'] } }
    world.configure({ north: settings })
    await load()
    world.configure(renamed(settings))
    for (let night = 0; night < 8; night++) {
      world.clock.advance(day)
      expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { hold: 0, create: 0, delete: 0 } })
    }
    expect(marks()).toEqual({ oslo: 12 })
    await world.run('sync', 'oslo')
    world.configure(renamed({ ...settings, formerly: [] }))
    world.loseStore()
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { hold: 0, create: 0 } })
  })

  test('that is no longer named before its marks are written anew is told to be named again', async () => {
    await load()
    world.configure(renamed())
    await world.run('sync', 'oslo')
    world.configure(renamed({ formerly: [] }))
    expect((await world.run('sync', 'oslo')).notes[0]).toContain(
      '12 listings are also in north, a feed that no longer fills this chatbot (if this feed was called so before: formerly: [north]): ',
    )
    expect((await world.executed('status')).stdout).not.toContain('north is')
    world.configure(renamed())
    expect(await world.run('sync', 'oslo')).toMatchObject({ counts: { unchanged: 12, hold: 0 }, notes: [] })
  })

  test('and keeps what the feed lacks by then, until it is named again, instead of leaving it on the site unseen', async () => {
    await load()
    world.configure(renamed())
    await world.run('sync', 'oslo')
    world.configure(renamed({ formerly: [] }))
    world.deliver(zillowFeed(all.slice(1)))
    const without = await world.run('sync', 'oslo')
    expect(without).toMatchObject({ result: 'ok', counts: { delete: 0, forget: 0, hold: 12 } })
    expect(without.notes).toContainEqual(
      `1 listing is gone from the feed, but in north, a feed that no longer fills this chatbot (if this feed was called so before: formerly: [north]): ${all[0].mlsNumber}`,
    )
    world.configure(renamed())
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { delete: 1, unchanged: 11 } })
    expect(world.numbers()).not.toContain(all[0].mlsNumber)
  })

  test('keeps what the guard holds, since when, and what was approved of it', async () => {
    await load()
    world.deliver(zillowFeed(all.slice(6)))
    expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    for (const hours of [40, 31]) {
      world.clock.advance(hours * hour)
      world.configure(renamed())
      expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
    }
    world.clock.advance(2 * hour)
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { delete: 6, hold: 0 } })

    world.clock.advance(2 * day)
    world.deliver(zillowFeed(all.slice(10)))
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'held', counts: { delete: 0, hold: 4 } })
    await world.approve('oslo')
    world.configure({ paris: { ...north, source: './north.xml', formerly: ['north', 'oslo'] } })
    expect((await world.executed('status', 'paris')).stdout).toContain('4 approved by test')
    expect(await world.run('sync', 'paris')).toMatchObject({ result: 'ok', counts: { delete: 4, hold: 0 } })
  })

  test('is known on the service by its former name where the store is lost', async () => {
    await load()
    world.configure(renamed())
    world.loseStore()
    world.deliver(zillowFeed([...all.slice(1), home(13)]))
    const report = await world.run('sync', 'oslo')
    expect(report).toMatchObject({ result: 'ok', counts: { adopt: 11, delete: 1, create: 0, hold: 1 } })
    expect(report.notes[0]).toContain('the service shows 12 listings of this feed')
  })

  test('is outranked under its former name, too, which its marks still have', async () => {
    await load()
    const south = { ...north, source: './south.xml' }
    world.deliver(zillowFeed(all.slice(0, 2)), 'south.xml')
    world.configure({ ...renamed(), south })
    await world.run('sync', 'oslo')
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { hold: 2 } })
    world.configure({ south, ...renamed() })
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { update: 2, hold: 0 } })
    expect(marks()).toEqual({ north: 10, south: 2 })
    world.deliver(zillowFeed(all.slice(0, 4)), 'south.xml')
    world.loseStore()
    expect(await world.run('sync', 'south')).toMatchObject({ result: 'ok', counts: { adopt: 2, update: 2, hold: 0 } })
    world.configure({ ...renamed(), south })
    world.deliver(zillowFeed(all.slice(0, 6)), 'south.xml')
    const report = await world.run('sync', 'south')
    expect(report.notes).toEqual([expect.stringMatching(/^2 listings are also in north, a feed of this chatbot/)])
  })

  test('whose store is put back from before has what its own marks name, though nothing tells the former name any more', async () => {
    await load()
    const before = new Map(['store.db', 'store.db-wal'].map((name) => [name, bytesOf(name)]))
    world.configure(renamed())
    world.deliver(zillowFeed([...all.slice(0, 11).map(dearer), all[11]]))
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { update: 11 } })
    world.loseStore()
    for (const [name, bytes] of before) if (bytes !== null) writeFileSync(join(world.folder, name), bytes)
    world.configure(renamed({ formerly: [] }))
    world.clock.advance(hour)
    const report = await world.run('sync', 'oslo')
    expect(report).toMatchObject({ result: 'ok', counts: { update: 11, hold: 1, create: 0, delete: 0 } })
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { unchanged: 11, hold: 1 } })
  })

  test('and is called as before again goes on, too: its marks of meanwhile are not those of a store that was put back', async () => {
    const delta = (name: string, former: string[] = []): Record<string, object> => ({
      [name]: { ...north, source: './north.xml', delivery: 'delta', formerly: former },
    })
    const says = async (name: string, some: readonly Home[]) => {
      world.clock.advance(hour)
      world.deliver(zillowFeed(some))
      return world.run('sync', name)
    }
    world.configure(delta('north'))
    await says('north', all)
    expect(await says('north', homes(101, 120))).toMatchObject({ result: 'held', counts: { hold: 20 } })
    world.configure(delta('oslo', ['north']))
    await says('oslo', [dearer(all[0])])
    world.configure(delta('north', ['oslo']))
    const back = await says('north', [dearer(all[1])])
    expect(back).toMatchObject({ result: 'held', counts: { update: 1, hold: 20 } })
    expect(back.holds.map(({ rule }) => rule)).toEqual(['arriving'])
    expect(back.notes.join()).toContain('They go by themselves on Tue 24 Nov')
  })

  test('that ran without `formerly` found everything taken, and takes it over once it is said', async () => {
    await load()
    world.configure(renamed({ formerly: [] }))
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { hold: 12, create: 0 } })
    world.configure(renamed())
    world.deliver(zillowFeed([dearer(all[0]), ...all.slice(1)]))
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { update: 1, unchanged: 11 } })
  })

  test('and sends deltas: what one said is gone goes once the former name is written, too', async () => {
    const delta = { ...north, source: './north.xml', delivery: 'delta' }
    world.configure({ north: delta })
    await load()
    world.configure({ oslo: delta })
    const [sold] = all
    world.deliver(zillowFeed([{ ...sold, status: 'Withdrawn' }]))
    const note = `1 listing is gone from the feed, but in north, a feed that no longer fills this chatbot (if this feed was called so before: formerly: [north]): ${sold.mlsNumber}`
    for (let run = 0; run < 2; run++) {
      const report = await world.run('sync', 'oslo')
      expect(report).toMatchObject({ result: 'ok', counts: { delete: 0, hold: 1 } })
      expect(report.notes).toContain(note)
      world.deliver(zillowFeed([]))
    }
    world.configure({ oslo: { ...delta, formerly: ['north'] } })
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { delete: 1 } })
    expect(world.numbers()).not.toContain(sold.mlsNumber)
  })

  test('and with other MLSNumbers is told that its homes are there, unless people have deleted them', async () => {
    await load()
    const other = { oslo: { ...north, source: './north.xml', mlsPrefix: 'O-' } }
    world.configure(other)
    const note =
      '12 new listings are homes that north, a feed that no longer fills this chatbot, left there under other MLSNumbers (if this feed was called so before: formerly: [north]): O-IA20000001, O-IA20000002, O-IA20000003 and 9 more'
    expect(await world.run('diff', 'oslo')).toMatchObject({ counts: { create: 12 }, notes: [note] })
    for (const { mlsNumber } of all) world.standIn.remove('SN-1', mlsNumber)
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'ok', counts: { create: 12 }, notes: [] })
  })

  test('and with other MLSNumbers: one new home is one, at however many of an address; none are told of where the feed mirrors', async () => {
    const flats = all.map((home) => ({ ...home, street: '1 Main St', unit: '' }))
    world.deliver(zillowFeed(flats))
    await world.run()
    world.deliver(zillowFeed([flats[0]]))
    const other = { ...north, source: './north.xml', mlsPrefix: 'O-' }
    world.configure({ oslo: other })
    expect((await world.run('diff', 'oslo')).notes).toEqual([
      '1 new listing is a home that north, a feed that no longer fills this chatbot, left there under another MLSNumber (if this feed was called so before: formerly: [north]): O-IA20000001',
    ])
    world.configure({ oslo: { ...other, ownership: 'mirror' } })
    expect((await world.run('diff', 'oslo')).notes.join()).not.toContain('left there')
  })

  test('keeps what it has of its own where both names have it', async () => {
    await load()
    world.configure(renamed({ formerly: [] }))
    world.clock.advance(hour)
    await world.run('sync', 'oslo')
    const rowOf = (feed: string) =>
      tables()
        .get('feed')!
        .find(({ name }) => name === feed)
    const own = rowOf('oslo')!
    expect(own['complete_at']).not.toEqual(rowOf('north')!['complete_at'])
    await openedOnce().close()
    expect(tables().get('feed')).toEqual([{ ...own, validators: null }])
  })

  test.each([
    ['only failed', './none.xml', 'failed'],
    ['found an empty file', './empty.xml', 'ok'],
  ])('that %s under it is no beginner', async (_, source, result) => {
    await load()
    world.deliver(zillowFeed([]), 'empty.xml')
    world.configure(renamed({ formerly: [], source }))
    expect(await world.run('sync', 'oslo')).toMatchObject({ result })
    world.configure(renamed())
    world.deliver(zillowFeed(all.slice(6)))
    // The rules sleep while nothing was loaded.
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'held', counts: { delete: 0, hold: 6 } })
  })

  test('that puts feeds of two chatbots together is a beginner in neither', async () => {
    world.configure({ north, south: { ...north, chatbot: 'SN-2' } })
    world.deliver(zillowFeed([home(30)]), 'south.xml')
    await world.run('sync', 'south')
    world.clock.advance(day)
    await load()
    world.configure(renamed({ formerly: ['south', 'north'] }))
    world.deliver(zillowFeed([home(30), ...all.slice(6)]))
    expect(await world.run('sync', 'oslo')).toMatchObject({ result: 'held', counts: { create: 1, delete: 0, hold: 6 } })
  })

  test('takes every row of every table along, in one go and once', async () => {
    world.configure({ north: { ...north, limits: { grace: { runs: 2 } } } })
    await load()
    world.deliver(zillowFeed([...all.slice(1, 6), dearer(all[6]), home(13)]))
    await world.run()
    await world.approve()
    world.clock.advance(hour)
    await world.run()
    const before = tables()
    expect([...before].filter(([, rows]) => rows.length > 0).map(([name]) => name)).toEqual(
      expect.arrayContaining(['absence', 'feed', 'hold', 'hold_event', 'ledger', 'listing', 'run']),
    )
    world.configure(renamed())
    await openedOnce().close()
    const after = tables()
    expect(after).toEqual(renamedIn(before))
    await openedOnce().close()
    expect(tables()).toEqual(after)
  })
})

/** Opens the store for writing, as `approve` does. */
function openedOnce() {
  return openStore(join(world.folder, 'store.db'), undefined, { formerly: new Map([['north', 'oslo']]) })
}

type Rows = Record<string, unknown>[]

/** All that the store holds, by table. */
function tables(): Map<string, Rows> {
  const database = new Database(join(world.folder, 'store.db'), { readonly: true })
  const names = database.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  const found = names.map((name): [string, Rows] => {
    const rows = database.prepare<[], Record<string, unknown>>(`SELECT * FROM ${name}`).all()
    return [name, rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))]
  })
  database.close()
  return new Map(found)
}

/** The same under the new name; "not modified" says nothing any more. */
function renamedIn(before: ReadonlyMap<string, Rows>): Map<string, Rows> {
  const rename = (row: Record<string, unknown>) => {
    if (row['feed'] === 'north') return { ...row, feed: 'oslo' }
    if (row['name'] === 'run of north') return { ...row, name: 'run of oslo' }
    return row['name'] === 'north' ? { ...row, name: 'oslo', validators: null } : row
  }
  return new Map([...before].map(([name, rows]) => [name, rows.map(rename)]))
}

test.each([
  ['north', { north: { ...north, chatbot: 'SN-2' } }],
  ['oslo', renamed({ chatbot: 'SN-2' })],
])('what a feed left in another chatbot is named by status: %s', async (name, feeds) => {
  await load()
  world.configure(feeds)
  expect((await world.executed('sync')).status).toBe(0)
  expect((await world.executed('status')).stdout).toContain(
    `${name} fills chatbot SN-2 now\n  left: 12 listings in chatbot SN-1\n  Nothing is done with them. Give the feed that chatbot back, or delete them on the chatbot\n`,
  )
})

test('what a feed left where another one mirrors is not told to stay', async () => {
  await load()
  world.deliver(zillowFeed(homes(1, 20)), 'other.xml')
  world.configure({ other: { ownership: 'mirror' } })
  const left = async (): Promise<string> => (await world.executed('status')).stdout
  expect(await left()).toContain(
    'left: 12 listings in chatbot SN-1\n  other takes over what it delivers of them and deletes the rest, unless that is held, as the chatbot belongs to it alone (ownership: mirror)\n',
  )
  expect(await world.run('sync', 'other')).toMatchObject({ counts: { update: 12, create: 8 } })
  expect(await left()).not.toContain('left')
})

test('what is to be written for a feed whose name is a number reads as that name', async () => {
  world.configure({ 7: north })
  world.deliver(zillowFeed(all), '7.xml')
  await world.run('sync', '7')
  world.configure({ other: { ...north, source: './7.xml' } })
  const [, written = ''] = /formerly: (\[.*?\])/.exec((await world.executed('status')).stdout) ?? []
  expect(parse(written)).toEqual(['7'])
})

test('a feed that left the configuration is named by status, with what it left and what to do', async () => {
  await load()
  world.deliver(zillowFeed(all.slice(6)))
  await world.run()
  world.configure({ other: {} })
  const text = await world.executed('status')
  expect(text.stdout).toContain(
    'north is no longer in the configuration\n  left: 12 listings in chatbot SN-1, 6 held\n  Nothing is done with them. If a feed of another name has them now, write there: formerly: [north]; else put north back, or delete them on the chatbot\n',
  )
  const { left } = JSON.parse((await world.executed('status', '--format', 'json')).stdout) as { left: unknown }
  const todo = expect.stringContaining('formerly: [north]')
  const what = 'north is no longer in the configuration'
  expect(left).toEqual([{ feed: 'north', chatbots: [{ chatbot: 'SN-1', listings: 12 }], holds: 6, what, todo }])

  // Named there, nothing is left behind any more, and before the first run too.
  world.configure({ other: { formerly: ['north'] } })
  expect((await world.executed('status')).stdout).not.toContain('no longer')
  expect(JSON.parse((await world.executed('status', '--format', 'json')).stdout)).toMatchObject({
    feed: 'other',
    listings: 12,
    left: [],
  })
})
