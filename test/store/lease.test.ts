/** Leases of one process. */
import Database from 'better-sqlite3'
import { copyFileSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite.ts'
import { freshFolder } from './folder.ts'

const now = Date.UTC(2026, 10, 21, 13)

/** A store that a run has used, and a copy of its file. */
async function storeAndCopy(): Promise<[file: string, copied: string]> {
  const folder = freshFolder()
  const [file, copied] = [join(folder, 'store.db'), join(folder, 'copy.db')]
  const store = openStore(file)
  await (await store.lease('SN-1', now)).release()
  await store.close()
  copyFileSync(file, copied)
  return [file, copied]
}

test('that a store is a copy is not forgotten if the lease that finds it out can not be noted', async () => {
  const [, copied] = await storeAndCopy()
  const copy = openStore(copied)
  const beside = new Database(copied)
  beside.exec("CREATE TRIGGER full BEFORE INSERT ON lease BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
  await expect(copy.lease('SN-1', now)).rejects.toThrow('the disk is full')
  expect(await copy.isBehind('SN-2')).toBe(true)
  beside.exec('DROP TRIGGER full')
  beside.close()
  const [first, other] = [await copy.lease('SN-1', now), await copy.lease('SN-2', now)]
  expect([first.isBehind, other.isBehind]).toEqual([true, false])
  expect([await copy.isBehind('SN-1'), await copy.isBehind('SN-2')]).toEqual([true, false])
  await first.release()
  expect(await copy.isBehind('SN-1')).toBe(false)
  await copy.close()
})

test('a lease whose note beside the store can not be written leaves the store as it was, and the next one is given', async () => {
  const [file, copied] = await storeAndCopy()
  copyFileSync(`${file}.serial`, `${copied}.serial`)
  for (const path of [file, copied]) {
    const store = openStore(path)
    renameSync(`${path}.serial`, `${path}.moved`)
    symlinkSync(`${path}.moved`, `${path}.serial`)
    await expect(store.lease('SN-1', now)).rejects.toThrow('cannot be written')
    rmSync(`${path}.serial`)
    renameSync(`${path}.moved`, `${path}.serial`)
    const lease = await store.lease('SN-1', now)
    expect(lease.isBehind).toBe(path === copied)
    await lease.release()
    await store.close()
  }
})

test('a process whose store was copied over stays refused once another one goes on from the copy', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  await (await store.lease('SN-1', now)).release()
  writeFileSync(file, readFileSync(file))
  utimesSync(file, 1, 1)
  const refused = 'replaced while it was open; start the program again'
  await expect(store.lease('SN-1', now)).rejects.toThrow(refused)
  const next = openStore(file)
  await (await next.lease('SN-1', now)).release()
  await next.close()
  await expect(store.lease('SN-1', now)).rejects.toThrow(refused)
  await store.close()
})
