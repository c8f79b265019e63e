/** A store that was left in order is no copy, however much an opening or an approval wrote to it since. */
import Database from 'better-sqlite3'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { packedSince } from '../../src/store/packed.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { newHeld } from '../contract/store.ts'
import { freshFolder } from './folder.ts'

const now = Date.UTC(2026, 10, 21, 13)
/** More than SQLite lets come together in a log before it writes it to the file. */
const many = 2500
const long = 'gone from the feed '.repeat(150)

/** A store with a run behind it, in which much is held. */
async function held(): Promise<{ file: string; store: Store }> {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  const lease = await store.lease('SN-1001', now)
  await store.runs.recordLost('north', 1)
  const all = Array.from({ length: many }, (_, number) => newHeld(`K-${number}`, 'delete', {}, long))
  await store.holds.replace('north', all, { now, isWhole: true, of: undefined, letGo: () => 0 })
  await lease.release()
  return { file, store }
}

/** Whether the next run of a process that opens the store doubts it. */
async function isDoubted(store: Store): Promise<boolean> {
  const lease = await store.lease('SN-1001', now)
  await lease.release()
  await store.close()
  return lease.isBehind
}

it.each([['while a daemon is at rest'], ['with nobody beside it']])('an approval of much %s', async (when) => {
  const { file, store } = await held()
  if (when === 'with nobody beside it') await store.close()
  const approving = openStore(file)
  const { holds } = approving
  expect(await holds.decide('north', 'approved', 'me', now, await holds.fingerprint('north'))).toBe(many)
  await approving.close()
  expect(await isDoubted(openStore(file))).toBe(false)
  await store.close()
  expect(statSync(`${file}-wal`, { throwIfNoEntry: false })).toBeUndefined()
  expect(await isDoubted(openStore(file))).toBe(false)
})

it('a feed that takes much over from its former name', async () => {
  const { file, store } = await held()
  await store.close()
  const formerly = new Map([['north', 'east']])
  expect(await isDoubted(openStore(file, undefined, { formerly }))).toBe(false)
  expect(await isDoubted(openStore(file))).toBe(false)
})

it('a store of the version before, which is packed and written anew', async () => {
  const file = join(freshFolder(), 'store.db')
  const database = new Database(file)
  migrate(database, migrations.slice(0, packedSince - 1))
  const add = database.prepare("INSERT INTO payload (listing, moving) VALUES (?, '{}')")
  for (let number = 0; number < many; number++) add.run(JSON.stringify({ MLSNumber: `K-${number}`, Description: long }))
  database.exec('UPDATE meta SET serial = 1')
  const lineage = String(database.prepare('SELECT lineage FROM meta').pluck().get())
  database.close()
  const written = statSync(file, { bigint: true }).mtimeNs
  writeFileSync(`${file}.serial`, `${lineage} ${'1'.padStart(15, '0')} ${String(written).padStart(20, '0')}\n`)
  const store = openStore(file)
  expect(await isDoubted(store)).toBe(false)
  expect(await isDoubted(openStore(file))).toBe(false)
  // It is known again where somebody else writes to it.
  writeFileSync(file, readFileSync(file))
  expect(await isDoubted(openStore(file))).toBe(true)
})
