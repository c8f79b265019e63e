/** A store that can't be used: a clear message, nothing written, and a state from which the next run is right. */
import { spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, command } from '../support/run-world.ts'
import type { Ended } from '../support/run-world.ts'

const all = homes(1, 10)
const next = homes(3, 12)
const minute = 60_000
const north = { limits: { delete: { percent: 100, floor: 100 } }, volatile: { refresh: '365d' } }

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north } })
})
const disks: string[] = []
afterEach(() => {
  for (const disk of disks.splice(0)) spawnSync('umount', ['--lazy', disk])
  return world.end()
})

const file = (): string => join(world.folder, 'store.db')
const numbers = (): string[] => world.listings().map((one) => String(one['MLSNumber']))

/** The service is as the feed says, each listing once, and a further run writes nothing. */
async function right(feed: readonly Home[]): Promise<void> {
  expect(numbers().toSorted()).toEqual(feed.map((one) => one.mlsNumber).toSorted())
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
  expect(await world.run()).toMatchObject({ result: 'held', counts: { adopt: 8, create: 0, delete: 2 } })
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
    ['pages of it', damage, ['the store is damaged', 'Move the file aside']],
    ['cut short', (path) => writeFileSync(path, readFileSync(path).subarray(0, 5 * 4096)), ['the store is damaged']],
    ['emptied', (path) => writeFileSync(path, ''), ['empty file', 'Restore a backup, or delete the file']],
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
    expect([dry.result, dry.counts, dry.notes]).toEqual([report.result, report.counts, report.notes])
    expect(report).toMatchObject({ result: 'held', counts: { create: 0, delete: 1, adopt: 1 } })
    expect(report.notes[0]).toContain('the store is older than the last run left it: a backup was put back')
    expect(report.changes.find(({ kind }) => kind === 'hold')).toMatchObject({ cause: 'lost-store', held: 'create' })
    world.clock.advance(16 * minute)
    const later = await world.run()
    expect(later).toMatchObject({ result: 'ok', counts: { create: 1 } })
    expect(later.notes).toEqual([])
    await world.run()
    await right(next)
  })

  test('in the log that a killed process left: its end is missing, which is noticed, and nothing comes twice', async () => {
    await loaded()
    // A create is about to go out when the process is killed: its mark is in the log alone.
    const store = openStore(file())
    store.lease('SN-1', world.clock.now())
    const end = statSync(`${file()}-wal`).size
    store.markInFlight('SN-1', 'north', 'create', [home(11).mlsNumber], world.clock.now(), false)
    const kept = ['', '-wal', '.serial'].map((name) => [name, readFileSync(`${file()}${name}`)] as const)
    store.close()
    for (const [name, bytes] of kept) writeFileSync(`${file()}${name}`, bytes)
    rmSync(`${file()}-shm`, { force: true })
    const log = openSync(`${file()}-wal`, 'r+')
    writeSync(log, Buffer.alloc(64, 0xa5), 0, 64, end + 200)
    closeSync(log)

    const report = await world.run()
    expect(report.result).toBe('held')
    expect(report.notes[0]).toContain('the store is older than the last run left it')
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
    openStore(file(), [...migrations, 'CREATE TABLE later (a TEXT)']).close()
    const found = readFileSync(file())
    await refuses(`versions up to ${migrations.length}`, 'run the newer program, or put back the backup')
    expect(readFileSync(file()).equals(found)).toBe(true)
    // The copy made before the upgrade is the way back.
    rmSync(file())
    renameSync(`${file()}.version-${migrations.length}`, file())
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 2, delete: 2, adopt: 0 } })
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
    older.exec(`INSERT INTO main.${table} (${shared.join()}) SELECT ${shared.join()} FROM present.${table}`)
  }
  older.close()
  rmSync(present)
  // An earlier version of the program notes nothing beside the store.
  rmSync(`${file()}.serial`)
}

/** A file system in memory of so many kilobytes; the test is skipped where this user may mount none. */
function smallDisk(kilobytes: number, skip: (why: string) => void): string {
  const folder = join(world.folder, 'disk')
  mkdirSync(folder)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder])
  if (mounted.error || mounted.status !== 0) skip('no file system in memory can be mounted here')
  disks.push(folder)
  return folder
}

const remount = (folder: string, options: string): void =>
  expect(spawnSync('mount', ['-o', `remount,${options}`, folder]).status).toBe(0)

/** One run of the program with its store in this folder. */
function sync(folder: string, env: Record<string, string> = {}): Promise<Ended> {
  const config = readFileSync(world.configFile, 'utf8').replace('./store.db', join(folder, 'store.db'))
  writeFileSync(world.configFile, config)
  return command(['--config', world.configFile, 'sync'], { env })
}

function saysClearly(ended: Ended, words: string): void {
  expect(ended.status).toBe(1)
  expect(ended.stdout + ended.stderr).toContain(words)
  expect(ended.stdout + ended.stderr).not.toContain('defect')
}

describe('on a disk that', () => {
  test('is full: the run ends, no listing is sent without a note of it, and with space the next one is right', async ({
    skip,
  }) => {
    const disk = smallDisk(600, skip)
    const many = homes(1, 300)
    world.deliver(zillowFeed(many))
    const ended = await sync(disk)
    saysClearly(ended, 'the disk is full')
    const created = numbers()
    // What went out is in the report: done, or unknown where there was no room for the outcome.
    const [, done, unknown, skipped] = /(\d+) done, 0 failed, (\d+) unknown, (\d+) skipped/
      .exec(ended.stdout)!
      .map(Number)
    expect([done + unknown, skipped]).toEqual([created.length, 300 - created.length])
    expect(done).toBeGreaterThan(0)
    expect(created.length).toBeGreaterThan(5)
    expect(created.length).toBeLessThan(300)
    expect(new Set(created).size).toBe(created.length)
    saysClearly(await sync(disk), 'the disk is full')
    remount(disk, 'size=64m')
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(numbers().toSorted()).toEqual(many.map((one) => one.mlsNumber).toSorted())
    world.calls()
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  })

  test('was full before the start: said so, nothing is called; with space it is right', async ({ skip }) => {
    const disk = smallDisk(900, skip)
    world.deliver(zillowFeed(all))
    expect(await sync(disk)).toMatchObject({ status: 0 })
    const filler = join(disk, 'filler')
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k'])
    world.deliver(zillowFeed(next))
    world.calls()
    saysClearly(await sync(disk), 'the disk is full and this step was not written; free some space')
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    rmSync(filler)
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(numbers().toSorted()).toEqual(next.map((one) => one.mlsNumber).toSorted())
  })

  test('is full where the scratch files are: the run ends before it calls anything', async ({ skip }) => {
    const disk = smallDisk(200, skip)
    world.deliver(zillowFeed(homes(1, 300)))
    const ended = await sync(world.folder, { TMPDIR: disk })
    saysClearly(ended, 'the disk is full; free some space there or name another temporary folder')
    expect(world.listings()).toEqual([])
    expect(readdirSync(disk)).toEqual([])
    expect(await sync(world.folder)).toMatchObject({ status: 0 })
    expect(world.listings()).toHaveLength(300)
  })

  test('takes no larger files: as if it were full', async () => {
    const many = homes(1, 300)
    world.deliver(zillowFeed(many))
    const program = join(import.meta.dirname, '../../bin/listing-sync.mjs')
    // The limit is in blocks of 512 bytes; its signal is ignored, so that writes fail instead.
    const limited = `trap '' XFSZ; ulimit -f 3000; exec "$@"`
    const words = ['-c', limited, 'sh', process.execPath, program, '--config', world.configFile, 'sync']
    const child = spawn('sh', words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)))
    const status = await new Promise((resolve) => child.on('close', resolve))
    expect(status).toBe(1)
    expect(said).toMatch(/the disk (?:refused a read or a write|is full)/)
    expect(said).not.toContain('defect')
    expect(new Set(numbers()).size).toBe(numbers().length)
    expect((await world.command('sync')).status).toBe(0)
    expect((await world.command('sync')).status).toBe(0)
    expect(numbers().toSorted()).toEqual(many.map((one) => one.mlsNumber).toSorted())
  })

  test('became read-only: the run ends before it calls anything; looking is possible; writable again, it is right', async ({
    skip,
  }) => {
    const disk = smallDisk(8000, skip)
    world.deliver(zillowFeed(all))
    expect(await sync(disk)).toMatchObject({ status: 0 })
    remount(disk, 'ro')
    world.deliver(zillowFeed(next))
    world.calls()
    saysClearly(await sync(disk), 'readable and writable for this user')
    expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
    expect((await world.command('diff')).status).toBe(2)
    expect((await world.command('status')).status).toBe(0)
    remount(disk, 'rw')
    expect(await sync(disk)).toMatchObject({ status: 0 })
    expect(numbers().toSorted()).toEqual(next.map((one) => one.mlsNumber).toSorted())
  })

  test('is not there: the folder that cannot be made is named', async () => {
    world.deliver(zillowFeed(all))
    writeFileSync(join(world.folder, 'data'), '')
    saysClearly(await sync(join(world.folder, 'data', 'deep')), 'its folder cannot be made')
    expect(world.listings()).toEqual([])
  })
})
