/** Leases of one process. */
import Database from 'better-sqlite3'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite.ts'
import { freshFolder } from './folder.ts'

const now = Date.UTC(2026, 10, 21, 13)

test('that a store is a copy is not forgotten if the lease that finds it out can not be noted', async () => {
  const folder = freshFolder()
  const [file, copied] = [join(folder, 'store.db'), join(folder, 'copy.db')]
  const store = openStore(file)
  await (await store.lease('SN-1', now)).release()
  await store.close()
  copyFileSync(file, copied)
  const copy = openStore(copied)
  const beside = new Database(copied)
  beside.exec("CREATE TRIGGER full BEFORE INSERT ON lease BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
  await expect(copy.lease('SN-1', now)).rejects.toThrow('the disk is full')
  beside.exec('DROP TRIGGER full')
  beside.close()
  const [first, other] = [await copy.lease('SN-1', now), await copy.lease('SN-2', now)]
  expect([first.isBehind, other.isBehind]).toEqual([true, false])
  expect([await copy.isBehind('SN-1'), await copy.isBehind('SN-2')]).toEqual([true, false])
  await first.release()
  expect(await copy.isBehind('SN-1')).toBe(false)
  await copy.close()
})
