import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { inStore } from '../../src/store/failure.ts'
import { takeLock } from '../../src/store/lock.ts'
import { applicationId, migrations } from '../../src/store/migrations.ts'
import { openStore, openStoreReader } from '../../src/store/sqlite.ts'
import type { Confirmation } from '../../src/store/store.ts'
import { confirmation, runRecord } from '../contract/store.ts'
import { flattened } from '../support/pages.ts'
import { freshFolder } from './folder.ts'
import { otherProcess, tell } from './processes.ts'

const newFile = (): string => join(freshFolder(), 'store.db')

async function filled(file: string): Promise<void> {
  const store = openStore(file)
  await store.snapshot.confirm(
    'SN-1001',
    Array.from({ length: 400 }, (_, i) => confirmation(`K${i}`)),
  )
  await store.close()
}

/** Both ways of opening refuse, in these words, and leave the folder and its one file as they were. */
function expectRefusal(file: string, words: string | RegExp): void {
  const before = readFileSync(file)
  for (const open of [openStore, openStoreReader]) {
    expect(() => open(file)).toThrow(StoreError)
    expect(() => open(file)).toThrow(words)
    expect(() => open(file)).toThrow(file)
  }
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(readdirSync(dirname(file)).filter((name) => !name.endsWith('.lock'))).toEqual(['store.db'])
}

it.each([
  [0o077, 0o600],
  [0o007, 0o660],
  [0o022, 0o640],
])('makes the store and its folder as the umask says, and for nobody else, whole (%o)', async (mask, mode) => {
  const file = join(freshFolder(), 'deep', 'down', 'store.db')
  const before = process.umask(mask)
  onTestFinished(() => void process.umask(before))
  const store = openStore(file)
  await store.lease('SN-1001', 0)
  await store.snapshot.confirm('SN-1001', [confirmation('A')])
  const names = readdirSync(dirname(file))
  expect(names.sort()).toEqual(['store.db', 'store.db-shm', 'store.db-wal', 'store.db.lock', 'store.db.serial'])
  for (const name of names) expect(statSync(join(dirname(file), name)).mode & 0o777).toBe(mode)
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o770 & ~mask)
  await store.close()
  await store.close()
  expect(readdirSync(dirname(file)).sort()).toEqual(['store.db', 'store.db.lock', 'store.db.serial'])
})

it.each(['', '.serial', '.lock', '-wal'])('follows no link in place of store.db%s', async (beside) => {
  const file = newFile()
  await filled(file)
  const other = join(freshFolder(), 'other')
  writeFileSync(other, 'of somebody else')
  if (beside === '') renameSync(file, `${file}.moved`)
  else rmSync(file + beside, { force: true })
  symlinkSync(other, file + beside)
  for (const open of [openStore, openStoreReader]) {
    expect(() => open(file)).toThrow(StoreError)
    expect(() => open(file)).toThrow('this is a symbolic link, which the store does not follow')
  }
  expect(readFileSync(other, 'utf8')).toBe('of somebody else')
})

it('writes no note through a link that takes its place while the store is open', async () => {
  const file = newFile()
  await filled(file)
  const other = join(freshFolder(), 'other')
  writeFileSync(other, 'of somebody else')
  const store = openStore(file)
  rmSync(`${file}.serial`, { force: true })
  symlinkSync(other, `${file}.serial`)
  await expect(store.lease('SN-1001', 0).then((lease) => lease)).rejects.toThrow(/\.serial beside it cannot be written/)
  expect(readFileSync(other, 'utf8')).toBe('of somebody else')
  await store.close().catch(() => undefined)
  expect(readFileSync(other, 'utf8')).toBe('of somebody else')
})

it('makes no store through a link to nothing', () => {
  const file = newFile()
  const other = join(freshFolder(), 'other')
  symlinkSync(other, file)
  expect(() => openStore(file)).toThrow('this is a symbolic link')
  expect(existsSync(other)).toBe(false)
})

it('keeps what was written, with a lineage of its own', async () => {
  const file = newFile()
  await filled(file)
  const store = openStore(file)
  expect(await flattened(store.snapshot.rows('SN-1001'))).toHaveLength(400)
  await store.close()
  await openStore(join(dirname(file), 'other.db')).close()
  const lineages = ['store.db', 'other.db'].map((name) => {
    const database = new Database(join(dirname(file), name))
    const lineage = database.prepare<[], string>('SELECT lineage FROM meta').pluck().get()
    expect(database.pragma('application_id', { simple: true })).toBe(applicationId)
    expect(database.pragma('journal_mode', { simple: true })).toBe('wal')
    database.close()
    return lineage
  })
  expect(lineages[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(lineages[0]).not.toBe(lineages[1])
})

it('refuses an empty file: what was in it is lost', () => {
  const file = newFile()
  writeFileSync(file, '')
  expectRefusal(file, 'the store is an empty file')
})

it('refuses what is not a database, or not a store', () => {
  const file = newFile()
  writeFileSync(file, 'listings:\n'.repeat(1000))
  expectRefusal(file, 'the store is damaged: it is not a SQLite database')
  const other = newFile()
  const database = new Database(other)
  database.exec('CREATE TABLE bookmark (url TEXT)')
  database.close()
  expectRefusal(other, 'not a store of listing-sync')
  const folder = newFile()
  mkdirSync(folder)
  expect(() => openStore(folder)).toThrow('this is not a file')
})

it('refuses a store of a later version, naming both', async () => {
  const file = newFile()
  await openStore(file, [...migrations, 'CREATE TABLE later (a TEXT)']).close()
  expectRefusal(
    file,
    `schema version ${migrations.length + 1}, but this program knows versions up to ${migrations.length}`,
  )
})

it('looks through the pages of a store again that was written to since a run left it in order, and of no other', async () => {
  const file = newFile()
  await filled(file)
  const store = openStore(file)
  await (await store.lease('SN-1001', 1)).release()
  await store.close()
  const { atimeNs, mtimeNs } = statSync(file, { bigint: true })
  // Counts one more page as free than there is, which nothing but that look notices.
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.from([0, 0, 0, 1]), 0, 4, 36)
  closeSync(descriptor)
  for (const open of [openStore, openStoreReader]) expect(() => open(file)).toThrow(/the store is damaged/)
  const inSeconds = (time: bigint): string =>
    `${time / 1_000_000_000n}.${String(time % 1_000_000_000n).padStart(9, '0')}`
  spawnSync('touch', ['-a', '-d', `@${inSeconds(atimeNs)}`, file])
  spawnSync('touch', ['-m', '-d', `@${inSeconds(mtimeNs)}`, file])
  for (const open of [openStore, openStoreReader]) await open(file).close()
  // As an approval while a daemon is at rest: it is in the log alone.
  const resting = openStore(file)
  await resting.learnt.setNumber('SN-1001', 'deleteBatch', 5)
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  for (const open of [openStore, openStoreReader]) await open(file).close()
  await resting.close()
})

/** Some pages, from this one on. */
function spoil(file: string, first = 12): void {
  const descriptor = openSync(file, 'r+')
  const pages = statSync(file).size / 4096
  for (let page = first; page < pages; page += 3) writeSync(descriptor, Buffer.alloc(2000, 0xa5), 0, 2000, page * 4096)
  closeSync(descriptor)
}

it('looks through no pages while a run of another process is under way, but after it died', async () => {
  const file = newFile()
  await filled(file)
  const other = await otherProcess(file)
  // Those of listings alone: an opening reads none.
  spoil(file, 43)
  for (const open of [openStore, openStoreReader]) await open(file).close()
  await other.kill()
  for (const open of [openStore, openStoreReader]) expect(() => open(file)).toThrow(/the store is damaged/)
})

it('refuses a damaged store and keeps it', async () => {
  const file = newFile()
  await filled(file)
  spoil(file)
  expectRefusal(file, /the store is damaged: .*Move the file aside/)
})

it('refuses a store that was cut short', async () => {
  const file = newFile()
  await filled(file)
  writeFileSync(file, readFileSync(file).subarray(0, 10 * 4096))
  expectRefusal(file, /the store is damaged/)
})

it('brings an older store up to date and keeps a copy of how it was', async () => {
  const file = newFile()
  await filled(file)
  const next = [...migrations, 'CREATE TABLE later (a TEXT)', 'ALTER TABLE later ADD COLUMN b TEXT']
  const store = openStore(file, next)
  expect(await flattened(store.snapshot.rows('SN-1001'))).toHaveLength(400)
  await store.close()
  const copy = `${file}.version-${migrations.length}`
  expect(readdirSync(dirname(file)).sort()).toEqual([
    'store.db',
    'store.db.lock',
    `store.db.version-${migrations.length}`,
  ])
  expect(statSync(copy).mode & 0o007).toBe(0)
  expect(() => openStore(file)).toThrow('run the newer program')
  const before = openStore(copy)
  expect(await flattened(before.snapshot.rows('SN-1001'))).toHaveLength(400)
  await before.close()
})

it('undoes a migration that fails, wholly', async () => {
  const file = newFile()
  await filled(file)
  const broken = [...migrations, 'CREATE TABLE later (a TEXT); INSERT INTO nowhere VALUES (1)']
  expect(() => openStore(file, broken)).toThrow('no such table: nowhere')
  const store = openStore(file)
  expect(await flattened(store.snapshot.rows('SN-1001'))).toHaveLength(400)
  await store.close()
  const again = openStore(file, [...migrations, 'CREATE TABLE later (a TEXT)'])
  await again.close()
})

it('does not change the schema under a process at work', async () => {
  const file = newFile()
  const other = await otherProcess(file)
  expect(() => openStore(file, [...migrations, 'CREATE TABLE later (a TEXT)'])).toThrow('another process holds it')
  await other.end()
  await openStore(file, [...migrations, 'CREATE TABLE later (a TEXT)']).close()
})

it('does not change the schema under a daemon between two runs, unless this process is the daemon', async () => {
  const file = newFile()
  await filled(file)
  const next = [...migrations, 'CREATE TABLE later (a TEXT)']
  // Not by `takeLock`, which would know it for a lock of this process.
  const other = new Database(`${file}.daemon.lock`)
  other.exec('BEGIN EXCLUSIVE')
  expect(() => openStore(file, next)).toThrow('a daemon has it; if that is of an older version, stop it')
  expect(existsSync(`${file}.version-${migrations.length}`)).toBe(false)
  await openStoreReader(file, next).close()
  other.close()
  const own = takeLock(`${file}.daemon`, 0)!
  await openStore(file, next).close()
  own.release()
})

it('begins no run on a store that a later version has brought up to date meanwhile', async () => {
  const file = newFile()
  const store = openStore(file)
  await (await store.lease('SN-1001', 1)).release()
  const other = openStore(file, [...migrations, 'CREATE TABLE later (a TEXT)'])
  await expect(store.lease('SN-1001', 2)).rejects.toThrow('a newer version of the program has brought it up to date')
  // It does not stand in the later one's way.
  await (await other.lease('SN-1001', 3)).release()
  await other.close()
  await store.close()
})

it('says so where the folder cannot be made', () => {
  const file = newFile()
  writeFileSync(file, '')
  expect(() => openStore(join(file, 'inside', 'store.db'))).toThrow(StoreError)
  expect(() => openStore(join(file, 'inside', 'store.db'))).toThrow('its folder cannot be made')
  // Told to make this and all above it, Node would try for ever.
  expect(() => openStore('/proc/none/store.db')).toThrow(/its folder cannot be made: .*\(ENOENT\)/)
})

it('keeps every finished step where the disk takes no more', async () => {
  const file = newFile()
  await openStore(file).close()
  // A limit on the size of files (in blocks of 512 bytes), with its signal ignored: writes fail as on a full disk.
  const output = tell('fill', file, { limit: "trap '' XFSZ; ulimit -f 2000" })
  expect(output).toMatch(/^StoreError: .*store\.db: the disk /)
  const store = openStore(file)
  const rows = await flattened(store.snapshot.rows('SN-1001'))
  expect(rows.length).toBeGreaterThan(5)
  const recalled = await store.snapshot.recall(rows.map(({ id }) => id))
  for (const { listing } of recalled.values()) expect(listing.Description).toBe('long '.repeat(2000))
  await store.close()
  const copied = tell('copy', file, { limit: "trap '' XFSZ; ulimit -f 200" })
  expect(copied).toMatch(/^StoreError: .*store\.db\.copy: the disk /)
  expect(readdirSync(dirname(file)).filter((name) => name.includes('copy'))).toEqual([])
})

it('leaves no half copy of an older store where the disk takes no more, and goes on with it where there is room', async () => {
  const file = newFile()
  await filled(file)
  const older = new Database(file)
  older.pragma(`user_version = ${migrations.length - 1}`)
  older.close()
  expect(tell('fill', file, { limit: "trap '' XFSZ; ulimit -f 100" })).toMatch(/^StoreError: .*store\.db: the disk /)
  expect(readdirSync(dirname(file)).filter((name) => name.includes('version'))).toEqual([])
  const store = openStore(file)
  expect(await flattened(store.snapshot.rows('SN-1001'))).toHaveLength(400)
  await store.close()
  expect(existsSync(`${file}.version-${migrations.length - 1}`)).toBe(true)
})

it('puts a full disk and a lasting lock in words, and lets faults of the program through', () => {
  const file = newFile()
  const other = new Database(file)
  other.exec('CREATE TABLE note (text TEXT NOT NULL); BEGIN IMMEDIATE')
  const database = new Database(file, { timeout: 0 })
  const write = (text: string | null) => () =>
    inStore('store.db', () => database.prepare('INSERT INTO note VALUES (?)').run(text))
  expect(write('a')).toThrow(StoreError)
  expect(write('a')).toThrow('store.db: another process has kept the store locked')
  other.close()
  database.pragma('max_page_count = 5')
  expect(write('x'.repeat(100_000))).toThrow(StoreError)
  expect(write('x'.repeat(100_000))).toThrow('store.db: the disk is full and this step was not written')
  expect(write(null)).toThrow(Database.SqliteError)
  database.close()
})

it('keeps the oldest runs no longer than the latest thousand', async () => {
  const file = newFile()
  const store = openStore(file)
  for (let i = 0; i < 1003; i++)
    await store.runs.record(runRecord({ feed: i === 1 ? 'south' : 'north', startedAt: i, finishedAt: i }))
  await store.close()
  const database = new Database(file, { readonly: true })
  const kept = database.prepare(
    'SELECT feed, count(*) AS runs, min(started_at) AS first FROM run GROUP BY feed ORDER BY feed',
  )
  expect(kept.all()).toEqual([
    { feed: 'north', runs: 1000, first: 3 },
    { feed: 'south', runs: 1, first: 1 },
  ])
  database.close()
})

it('has done a write before it gives the promise: a process that ends on a defect waits for none', async () => {
  const file = newFile()
  const store = openStore(file)
  const recorded = store.runs.record(runRecord())
  const other = new Database(file, { readonly: true })
  expect(other.prepare('SELECT feed FROM run').pluck().all()).toEqual(['north'])
  other.close()
  await recorded
  await store.close()
})

it('undoes a write that fails halfway, and rejects with what was thrown', async () => {
  const store = openStore(':memory:')
  const broken = { ...confirmation('B'), sent: null } as unknown as Confirmation
  await expect(store.snapshot.confirm('SN-1001', [confirmation('A'), broken])).rejects.toThrow(TypeError)
  expect(await flattened(store.snapshot.rows('SN-1001'))).toEqual([])
  await store.close()
})

const canTrace = process.platform === 'linux' && spawnSync('strace', ['-V']).status === 0

it.skipIf(!canTrace)('every step is on the disk before the next one: one flush at least for each', async () => {
  const file = newFile()
  await openStore(file).close()
  const counts = join(freshFolder(), 'counts')
  const store = new URL('../../src/store/sqlite.ts', import.meta.url).href
  const steps = 50
  const program = `
    import { openStore } from '${store}'
    const store = openStore(process.argv[1])
    await store.lease('SN-1001', 0)
    for (let i = 0; i < ${steps}; i++) await store.ledger.begin('SN-1001', 'north', 'create', [{ key: 'K' + i, counts: [] }], i)
    process.kill(process.pid, 'SIGKILL')
  `
  const node = [process.execPath, '--input-type=module', '--eval', program, file]
  spawnSync('strace', ['-f', '-c', '-e', 'trace=fsync,fdatasync', '-o', counts, ...node])
  const calls = readFileSync(counts, 'utf8')
    .split('\n')
    .filter((line) => /\bf(?:data)?sync$/.test(line.trim()))
    .map((line) => Number(line.trim().split(/\s+/)[3]))
  expect(calls.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(steps)
})
