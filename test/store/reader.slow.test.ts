import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import type { ApplyContext } from '../../src/apply/context.ts'
import { StoreError } from '../../src/core/errors.ts'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { openStore, openStoreReader } from '../../src/store/sqlite.ts'
import type { Store, StoreReader } from '../../src/store/store.ts'
import { confirmation } from '../contract/store.ts'
import { flattened } from '../support/pages.ts'
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

/** Uses every role of a reader. Gives the snapshot's keys. */
async function readAll(reader: StoreReader): Promise<string[]> {
  const { snapshot, ledger, history, holds, runs, deliveries, learnt } = reader
  const keys = (await flattened(snapshot.rows('SN-1001'))).map(({ key }) => key)
  if (keys.includes('A')) {
    const ids = (await snapshot.knownRecords('SN-1001', 'north', 'mapping 1')).find('raw of A')
    expect((await snapshot.recall(ids)).get(ids[0])?.listing.MLSNumber).toBe('A')
  }
  await flattened(history.rows('SN-1001', 'north', now))
  await ledger.counted('SN-1001', 'north', 'delete', now)
  await holds.held('north', now)
  await holds.fingerprint('north')
  await runs.last('north')
  await deliveries.last('north')
  await learnt.number('SN-1001', 'deleteBatch')
  await reader.close()
  return keys
}

async function filled(file: string): Promise<void> {
  const store = openStore(file)
  await store.snapshot.confirm('SN-1001', [confirmation('A'), confirmation('B')])
  await store.close()
}

it('leaves a closed store as it was', async () => {
  const folder = freshFolder()
  await filled(join(folder, 'store.db'))
  const before = stateOf(folder)
  expect(await readAll(openStoreReader(join(folder, 'store.db')))).toEqual(['A', 'B'])
  expect(stateOf(folder)).toBe(before)
  expect(copies()).toEqual([])
})

it('reads a missing store as an empty one and makes nothing', async () => {
  const folder = freshFolder()
  const reader = openStoreReader(join(folder, 'none', 'store.db'))
  expect(await reader.runs.lastSuccess('north')).toBeNull()
  expect(await reader.snapshot.count('SN-1001', 'north')).toBe(0)
  expect(await readAll(reader)).toEqual([])
  expect(readdirSync(folder)).toEqual([])
})

it('reads beside a process at work, its newest writes included, and leaves no trace', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  const other = await otherProcess(file)
  const before = stateOf(folder)
  expect(before).toContain('store.db-wal')
  expect(await readAll(openStoreReader(file))).toEqual(['A', 'B', 'C'])
  expect(stateOf(folder)).toBe(before)
  await other.end()
})

it('leaves the log of a killed process for the next writer', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  await (await otherProcess(file)).kill()
  const before = stateOf(folder)
  for (let time = 0; time < 2; time++) expect(await readAll(openStoreReader(file))).toEqual(['A', 'B', 'C'])
  expect(stateOf(folder)).toBe(before)
  const store = openStore(file)
  expect(await flattened(store.snapshot.rows('SN-1001'))).toHaveLength(3)
  await store.close()
})

it('reads a copy where the log has lost its index, as after a restore', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  await (await otherProcess(file)).kill()
  rmSync(`${file}-shm`)
  const before = stateOf(folder)
  const reader = openStoreReader(file)
  expect(copies()).toHaveLength(1)
  expect(await readAll(reader)).toEqual(['A', 'B', 'C'])
  expect(stateOf(folder)).toBe(before)
  expect(copies()).toEqual([])
})

it('reads an older store without bringing it up to date', async () => {
  const folder = freshFolder()
  await filled(join(folder, 'store.db'))
  const before = stateOf(folder)
  const next = [...migrations, 'ALTER TABLE feed ADD COLUMN colour TEXT']
  expect(await readAll(openStoreReader(join(folder, 'store.db'), next))).toEqual(['A', 'B'])
  expect(stateOf(folder)).toBe(before)
  expect(copies()).toEqual([])
})

const nobody = 65_534
// Only the superuser can become another user, and the other user must be able to reach the program.
const canBeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], { uid: nobody }).error === undefined

it.runIf(canBeNobody)('reads what it may not write to', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  await filled(file)
  chmodSync(folder, 0o555)
  chmodSync(file, 0o444)
  const before = stateOf(folder)
  expect(tell('read', file, { uid: nobody })).toBe('A B\n')
  expect(stateOf(folder)).toBe(before)
  expect(tell('hold', file, { uid: nobody })).toMatch(
    /^StoreError: .*store\.db: the store (is read-only|cannot be opened)/,
  )
})

it.runIf(canBeNobody)('reads an older store that it may not write to', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  const database = new Database(file)
  migrate(database, migrations.slice(0, 17))
  database.exec(`INSERT INTO payload (id, listing, moving) VALUES (1, '{}', '{}');
    INSERT INTO listing (chatbot, key, id, feed, owned) VALUES ('SN-1001', 'A', 1, 'north', 1)`)
  database.close()
  chmodSync(folder, 0o555)
  chmodSync(file, 0o444)
  const before = stateOf(folder)
  expect(tell('read', file, { uid: nobody })).toBe('A\n')
  expect(stateOf(folder)).toBe(before)
})

it.runIf(canBeNobody)('says that it may not read a store, or what is in its folder', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  await filled(file)
  for (const [path, mode] of [
    [file, 0o600],
    [folder, 0o700],
  ] as const) {
    chmodSync(folder, 0o755)
    chmodSync(path, mode)
    expect(tell('read', file, { uid: nobody })).toBe(
      `StoreError: ${file}: this user may not read the store; give it the right to read the file and its folder\n`,
    )
  }
})

it('reads a whole copy of a folder made while a process was at work', async () => {
  const folder = freshFolder()
  const other = await otherProcess(join(folder, 'store.db'))
  const backup = join(freshFolder(), 'backup')
  mkdirSync(backup)
  execFileSync('cp', ['-a', `${folder}/.`, backup])
  await other.end()
  const before = stateOf(backup)
  expect(await readAll(openStoreReader(join(backup, 'store.db')))).toEqual(['A', 'B', 'C'])
  expect(stateOf(backup)).toBe(before)
})

it('takes no write, by its type and by its connection', async () => {
  const folder = freshFolder()
  const file = join(folder, 'store.db')
  await filled(file)
  for (const path of [file, join(folder, 'none.db')]) {
    const reader = openStoreReader(path)
    // @ts-expect-error a reader has no writing half
    const write = (): Promise<void> => reader.snapshot.forget('SN-1001', ['A'], null)
    await expect(write()).rejects.toThrow('the store is read-only')
    // @ts-expect-error nor can it be given for a store
    const store: Store = reader
    await expect(store.runs.noteSteady()).rejects.toThrow(StoreError)
    await reader.close()
  }
})

it('gives apply what it needs and no more: it can neither read a run nor approve', async () => {
  const store = openStore(':memory:')
  const given: ApplyContext['store'] = store
  // @ts-expect-error the role of runs is not handed to it
  expect(await given.runs.last('north')).toBeNull()
  // @ts-expect-error of holds it can only forget what it carried out
  expect(await given.holds.decide('north', 'approved', 'apply', now, null)).toBe(0)
  await store.close()
})
