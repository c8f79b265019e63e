import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { migrations } from '../../src/store/migrations.ts'
import { openStore, openStoreReader } from '../../src/store/sqlite.ts'
import type { StoreReader } from '../../src/store/store.ts'
import { confirmation } from '../contract/store.ts'
import { freshFolder } from './folder.ts'
import { otherProcess, tell } from './processes.ts'

const now = Date.UTC(2026, 10, 21, 13)

/**
 * Names, sizes, times and content of a folder's files, but for the content of `-shm`, SQLite's index of the log, which is
 * shared memory. By another process: to close a file here would drop the locks that SQLite holds on it here.
 */
function stateOf(folder: string): string {
  const script =
    'cd "$1" && ls *-shm; find . -type f ! -name "*-shm" -exec stat -c "%n %s %Y %a" {} + | sort && find . -type f ! -name "*-shm" | sort | xargs sha256sum'
  return execFileSync('sh', ['-c', script, 'sh', folder], { encoding: 'utf8' })
}

const copies = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`listing-sync-store-${process.pid}-`))

/** Uses everything a reader has. Gives the snapshot's keys. */
function readAll(reader: StoreReader): string[] {
  const known = reader.knownRecords('north', 'SN-1001', 'mapping 1')
  const keys = [...reader.snapshot('SN-1001')].map((row) => row.key)
  if (keys.includes('A')) {
    const ids = known.find('raw of A')
    expect(reader.recall(ids[0]).listing.MLSNumber).toBe('A')
  }
  reader.feedState('north', 'SN-1001', now)
  reader.approved('north', now)
  reader.held('north')
  reader.learnt('SN-1001', 'deleteBatch')
  reader.close()
  return keys
}

function filled(file: string): void {
  const store = openStore(file)
  store.confirm('SN-1001', [confirmation('A'), confirmation('B')])
  store.close()
}

it('leaves a closed store as it was', () => {
  const folder = freshFolder()
  filled(join(folder, 'store.db'))
  const before = stateOf(folder)
  expect(readAll(openStoreReader(join(folder, 'store.db')))).toEqual(['A', 'B'])
  expect(stateOf(folder)).toBe(before)
  expect(copies()).toEqual([])
})

it('reads a missing store as an empty one and makes nothing', () => {
  const folder = freshFolder()
  const reader = openStoreReader(join(folder, 'none', 'store.db'))
  expect(reader.feedState('north', 'SN-1001', now)).toMatchObject({ isNew: true, owned: 0 })
  expect(readAll(reader)).toEqual([])
  expect(readdirSync(folder)).toEqual([])
})

it('reads beside a process at work, its newest writes included, and leaves no trace', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  const other = await otherProcess(file)
  const before = stateOf(folder)
  expect(before).toContain('store.db-wal')
  expect(readAll(openStoreReader(file))).toEqual(['A', 'B', 'C'])
  expect(stateOf(folder)).toBe(before)
  await other.end()
})

it('leaves the log of a killed process for the next writer', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  await (await otherProcess(file)).kill()
  const before = stateOf(folder)
  for (let time = 0; time < 2; time++) expect(readAll(openStoreReader(file))).toEqual(['A', 'B', 'C'])
  expect(stateOf(folder)).toBe(before)
  const store = openStore(file)
  expect([...store.snapshot('SN-1001')]).toHaveLength(3)
  store.close()
})

it('reads a copy where the log has lost its index, as after a restore', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  await (await otherProcess(file)).kill()
  rmSync(`${file}-shm`)
  const before = stateOf(folder)
  const reader = openStoreReader(file)
  expect(copies()).toHaveLength(1)
  expect(readAll(reader)).toEqual(['A', 'B', 'C'])
  expect(stateOf(folder)).toBe(before)
  expect(copies()).toEqual([])
})

it('reads an older store without bringing it up to date', () => {
  const folder = freshFolder()
  filled(join(folder, 'store.db'))
  const before = stateOf(folder)
  const next = [...migrations, 'ALTER TABLE feed ADD COLUMN colour TEXT']
  expect(readAll(openStoreReader(join(folder, 'store.db'), next))).toEqual(['A', 'B'])
  expect(stateOf(folder)).toBe(before)
  expect(copies()).toEqual([])
})

const nobody = 65_534
// Only the superuser can become another user, and the other user must be able to reach the program.
const canBeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], { uid: nobody }).error === undefined

it.runIf(canBeNobody)('reads what it may not write to', () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  filled(file)
  chmodSync(folder, 0o555)
  chmodSync(file, 0o444)
  const before = stateOf(folder)
  expect(tell('read', file, { uid: nobody })).toBe('A B\n')
  expect(stateOf(folder)).toBe(before)
  expect(tell('hold', file, { uid: nobody })).toMatch(
    /^StoreError: .*store\.db: the store (is read-only|cannot be opened)/,
  )
})

it('reads a whole copy of a folder made while a process was at work', async () => {
  const folder = freshFolder()
  const other = await otherProcess(join(folder, 'store.db'))
  const backup = join(freshFolder(), 'backup')
  mkdirSync(backup)
  execFileSync('cp', ['-a', `${folder}/.`, backup])
  await other.end()
  const before = stateOf(backup)
  expect(readAll(openStoreReader(join(backup, 'store.db')))).toEqual(['A', 'B', 'C'])
  expect(stateOf(backup)).toBe(before)
})
