import { existsSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { newHeld } from '../contract/store.ts'
import { flattened } from '../support/pages.ts'
import { freshFolder } from './folder.ts'
import { otherProcess, tell } from './processes.ts'

const now = Date.UTC(2026, 10, 21, 13)

it('keeps a second process out, naming the first, and is free at once when that is killed', async () => {
  const file = join(freshFolder(), 'store.db')
  const other = await otherProcess(file)
  const store = openStore(file)
  const attempt = () => store.lease('SN-2002', now)
  await expect(attempt()).rejects.toThrow(StoreError)
  await expect(attempt()).rejects.toThrow(`process ${other.pid} on `)
  await expect(attempt()).rejects.toThrow(
    'since 2026-11-21T12:00:00.000Z, for chatbot SN-1001; wait for it to end, or stop it',
  )
  await other.kill()
  const lease = await store.lease('SN-1001', now)
  expect(lease.token).toBe(2)
  // What the killed process had noted is there, mark included.
  expect((await flattened(store.snapshot.rows('SN-1001'))).map((row) => [row.key, row.flight])).toEqual([
    ['A', null],
    ['B', null],
    ['C', 'create'],
  ])
  await store.close()
  expect(existsSync(`${file}-wal`)).toBe(false)
})

it('is freed by release and by close', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  const first = await store.lease('SN-1', now)
  const two = await store.lease('SN-2', now)
  await first.release()
  expect(tell('hold', file)).toContain(`process ${process.pid} on `)
  expect(tell('hold', file)).toContain('for chatbot SN-2;')
  await two.release()
  expect(tell('hold', file)).toBe('ready\n')
  await store.lease('SN-1', now)
  await store.close()
  expect(tell('hold', file)).toBe('ready\n')
})

it('is refused to a second store object of the same process', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  const second = openStore(file)
  await store.lease('SN-1', now)
  await expect(second.lease('SN-2', now)).rejects.toThrow(`process ${process.pid} on `)
  await second.close()
  // Closing the second must not have dropped the first one's lock.
  expect(tell('hold', file)).toContain(`process ${process.pid} on `)
  await store.close()
})

it('is refused where the store was moved away from under the process', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  renameSync(file, `${file}.away`)
  await expect(store.lease('SN-1', now)).rejects.toThrow('moved, deleted or replaced while it was open')
  await openStore(file).close()
  await expect(store.lease('SN-1', now)).rejects.toThrow('moved, deleted or replaced while it was open')
  await store.close()
})

it('is refused where another file was copied over the store under the process, until that starts again', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  await (await store.lease('SN-1', now)).release()
  const backup = readFileSync(file)
  for (let times = 0; times < 2; times++) await (await store.lease('SN-1', now)).release()
  writeFileSync(file, backup)
  // Times of some file systems are coarse.
  utimesSync(file, 1, 1)
  const refused = 'moved, deleted or replaced while it was open'
  await expect(store.lease('SN-1', now)).rejects.toThrow(refused)
  await expect(store.runs.noteStart(now)).rejects.toThrow(StoreError)
  await store.close()
  expect(readFileSync(file).equals(backup)).toBe(true)
  const again = openStore(file)
  expect(await again.lease('SN-1', now)).toMatchObject({ isBehind: true })
  await again.close()
})

it('lets others write a little while it is held: an approval comes from another process', async () => {
  const file = join(freshFolder(), 'store.db')
  const other = await otherProcess(file)
  const store = openStore(file)
  await store.holds.replace('north', [newHeld('A', 'delete')], { now, isWhole: true, letGo: () => 0 })
  expect(await store.holds.decide('north', 'approved', 'Ada', now, null)).toBe(1)
  expect(await flattened(store.snapshot.rows('SN-1001'))).toHaveLength(3)
  await store.close()
  await other.end()
})
