/** Writes that are asked for at one time are committed together, and each fails alone. */
import Database from 'better-sqlite3'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite.ts'
import { freshFolder } from './folder.ts'

const call = (key: string) => ({ key, counts: [] })

test('marks of calls that start together are durable together, and none is told so before', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  const other = new Database(file, { readonly: true })
  const marked = other.prepare('SELECT key FROM listing WHERE flight IS NOT NULL ORDER BY key').pluck()
  const told: unknown[][] = []
  const writes = ['A', 'B', 'C'].map((key) =>
    store.ledger.begin('SN', 'north', 'create', [call(key)], 1).then(() => told.push(marked.all())),
  )
  expect(marked.all()).toEqual([])
  await Promise.all(writes)
  expect(told).toEqual([
    ['A', 'B', 'C'],
    ['A', 'B', 'C'],
    ['A', 'B', 'C'],
  ])
  other.close()
  await store.close()
})

test('a write that fails takes nothing of the others with it', async () => {
  const store = openStore(':memory:')
  const strange = { key: 'B', counts: ['create'] as const, copy: undefined }
  const results = await Promise.allSettled([
    store.ledger.begin('SN', 'north', 'create', [call('A')], 1),
    store.ledger.begin('SN', 'north', 'create', [call('X'), { ...strange, key: null as never }], 1),
    store.ledger.begin('SN', 'north', 'create', [call('C')], 1),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  const keys: string[] = []
  for await (const page of store.snapshot.rows('SN')) keys.push(...page.map(({ key }) => key))
  expect(keys).toEqual(['A', 'C'])
  await store.close()
})

test('a store that is closed has what was asked for before', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  const write = store.ledger.begin('SN', 'north', 'create', [call('A')], 1)
  await Promise.all([write, store.close()])
  const again = openStore(file)
  expect(await again.snapshot.isEmpty('SN', 'north')).toBe(false)
  await again.close()
})
