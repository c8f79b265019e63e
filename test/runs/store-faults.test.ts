/** A store that is damaged, gone or of another version: a clear message, nothing written, and a state from which the next run is right. */
import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { unpack } from '../../src/store/packed.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const all = homes(1, 10)
const next = homes(3, 12)
const minute = 60_000
const north = { limits: 'off', volatile: { refresh: '365d' } }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north } })
})
afterEach(() => world.end())

const file = (): string => join(world.folder, 'store.db')
const numbers = (): string[] => world.listings().map((item) => String(item['MLSNumber']))

/** The service is as the feed says, each listing once, and a further run writes nothing. */
async function right(feed: readonly Home[]): Promise<void> {
  expect(numbers().toSorted()).toEqual(feed.map((home) => home.mlsNumber).toSorted())
  world.calls()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: feed.length } })
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

/** The store is loaded, the feed has gone on. */
async function loaded(): Promise<void> {
  world.deliver(zillowFeed(all))
  expect(await world.run()).toMatchObject({ result: 'ok' })
  await world.run()
  world.deliver(zillowFeed(next))
  world.calls()
}

/** A run fails with these words and the file's name, and calls nothing that writes. */
async function refuses(...words: string[]): Promise<void> {
  const report = await world.run()
  expect(report.result).toBe('failed')
  for (const word of [file(), ...words]) expect(report.error).toContain(word)
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

/** With a new store: what is marked as the feed's is found again, creates wait for `settle`. */
async function beginsAnew(): Promise<void> {
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { adopt: 8, create: 0, delete: 2 } })
  world.clock.advance(16 * minute)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
  // Once more, so that the two are known as the service shows them.
  await world.run()
  await right(next)
}

function damage(path: string): void {
  const descriptor = openSync(path, 'r+')
  const pages = statSync(path).size / 4096
  for (let page = 1; page < pages; page += 2) writeSync(descriptor, Buffer.alloc(3000, 0xa5), 0, 3000, page * 4096)
  closeSync(descriptor)
}

describe('damaged', () => {
  test.each<[string, (path: string) => void, string[]]>([
    ['pages of it', damage, ['the store is damaged', 'Move the file aside', 'with the -wal and -shm beside it']],
    ['cut short', (path) => writeFileSync(path, readFileSync(path).subarray(0, 5 * 4096)), ['the store is damaged']],
    ['emptied', (path) => writeFileSync(path, ''), ['empty file', 'Remove it with the -wal and -shm beside it']],
    ['overwritten', (path) => writeFileSync(path, 'text\n'.repeat(5000)), ['it is not a SQLite database']],
  ])('%s: nothing is called, the file stays as it is; moved aside, a new one is right', async (_, harm, words) => {
    await loaded()
    harm(file())
    const found = readFileSync(file())
    await refuses(...words)
    await refuses(...words)
    expect(readFileSync(file()).equals(found)).toBe(true)
    renameSync(file(), `${file()}.aside`)
    await beginsAnew()
  })

  test('and the backup of yesterday put back: what happened since is found on the service', async () => {
    await loaded()
    copyFileSync(file(), `${file()}.backup`)
    const between = homes(2, 11)
    world.deliver(zillowFeed(between))
    await world.run()
    await world.run()
    damage(file())
    world.deliver(zillowFeed(next))
    world.calls()
    await refuses('the store is damaged')
    copyFileSync(`${file()}.backup`, file())
    const dry = await world.run('diff')
    const report = await world.run()
    // The dry run says what the next run does.
    expect([dry.counts, dry.notes]).toEqual([report.counts, report.notes])
    expect(report).toMatchObject({ result: 'ok', counts: { create: 0, delete: 1, adopt: 1 } })
    expect(report.notes[0]).toContain(
      'The store is not as it was left: it is a copy, a backup that was put back, or lost its last writes. Creates wait 15 minutes',
    )
    expect(report.changes.find(({ kind }) => kind === 'hold')).toMatchObject({ cause: 'lost-store', held: 'create' })
    world.clock.advance(16 * minute)
    const later = await world.run()
    expect(later).toMatchObject({ result: 'ok', counts: { create: 1 } })
    expect(later.notes).toEqual(['limits: off, so the guard holds nothing'])
    await world.run()
    await right(next)
  })

  test('in the log that a killed process left: its end is missing, which is noticed, and nothing comes twice', async () => {
    await loaded()
    // A create is about to go out when the process is killed: its mark is in the log alone.
    const store = openStore(file())
    await store.lease('SN-1', world.clock.now())
    const end = statSync(`${file()}-wal`).size
    await store.ledger.begin('SN-1', 'north', 'create', [{ key: home(11).mlsNumber, counts: [] }], world.clock.now())
    const kept = ['', '-wal', '.serial'].map((name) => [name, readFileSync(`${file()}${name}`)] as const)
    await store.close()
    for (const [name, bytes] of kept) writeFileSync(`${file()}${name}`, bytes)
    rmSync(`${file()}-shm`, { force: true })
    const log = openSync(`${file()}-wal`, 'r+')
    writeSync(log, Buffer.alloc(64, 0xa5), 0, 64, end + 200)
    closeSync(log)

    const report = await world.run()
    expect(report.result).toBe('ok')
    expect(report.notes[0]).toContain('The store is not as it was left')
    expect(world.calls()).toMatchObject({ Create: 0 })
    world.clock.advance(16 * minute)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
    await world.run()
    await right(next)
  })
})

test('deleted: found again by the marks, creates wait', async () => {
  await loaded()
  world.loseStore()
  await beginsAnew()
})

describe('of another version', () => {
  test('newer: refused by name, untouched; the program that knows it goes on with it', async () => {
    await loaded()
    await openStore(file(), [...migrations, 'CREATE TABLE later (a TEXT)']).close()
    const found = readFileSync(file())
    await refuses(`versions up to ${migrations.length}`, 'run the newer program, or put back the backup')
    expect(readFileSync(file()).equals(found)).toBe(true)
    // The copy made before the upgrade is the way back.
    rmSync(file())
    renameSync(`${file()}.version-${migrations.length}`, file())
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 0, delete: 2, adopt: 0, hold: 2 } })
    // A copy may be an old one.
    world.clock.advance(16 * minute)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2 } })
    await world.run()
    await right(next)
  })

  test.each(migrations.slice(1).map((_, index) => index + 1))(
    'older (%i): brought up to date behind a copy, and right',
    async (version) => {
      await loaded()
      makeOlder(version)
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2, delete: 2, adopt: 0 } })
      expect(readdirSync(world.folder)).toContain(`store.db.version-${version}`)
      await world.run()
      await right(next)
    },
  )
})

/** Puts a store of an earlier schema version in the place of the present one, with what it could hold of it. */
function makeOlder(version: number): void {
  const present = `${file()}.present`
  renameSync(file(), present)
  const older = new Database(file())
  migrate(older, migrations.slice(0, version))
  older.exec(`ATTACH '${present}' AS present; DELETE FROM meta`)
  const columns = (schema: string, table: string): string[] =>
    older.prepare<[string, string], string>('SELECT name FROM pragma_table_info(?, ?)').pluck().all(table, schema)
  const tables = older.prepare<[], string>("SELECT name FROM main.sqlite_schema WHERE type = 'table'").pluck().all()
  // Rows that others refer to come first: a payload before its listing.
  for (const table of tables.filter((name) => !name.startsWith('sqlite_')).sort((a, b) => (a < b ? 1 : -1))) {
    const shared = columns('main', table).filter((name) => columns('present', table).includes(name))
    if (shared.length > 0)
      older.exec(`INSERT INTO main.${table} (${shared.join()}) SELECT ${shared.join()} FROM present.${table}`)
  }
  // An earlier version had listings as text.
  older.function('unpack', unpack)
  older.exec(`UPDATE main.payload SET listing = (SELECT unpack(packed) FROM present.payload AS p
    WHERE p.id = main.payload.id AND packed IS NOT NULL)`)
  // This file is where the older program left it.
  if (columns('main', 'meta').includes('place')) older.exec('UPDATE main.meta SET place = NULL')
  older.close()
  rmSync(present)
  // An earlier version of the program notes nothing beside the store.
  rmSync(`${file()}.serial`)
}
