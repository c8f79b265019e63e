/** Writes that are asked for at one time are committed together, and each fails alone. */
import Database from 'better-sqlite3'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createGroups } from '../../src/store/door.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { freshFolder } from './folder.ts'

const call = (key: string) => ({ key, counts: [] })

test('marks of calls that start together are durable together, and none is told so before', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  const other = new Database(file, { readonly: true })
  const marked = other.prepare('SELECT key FROM listing WHERE flight IS NOT NULL ORDER BY key').pluck()
  const groups: unknown[][] = []
  const writes = ['A', 'B', 'C'].map((key) =>
    store.ledger.begin('SN', 'north', 'create', [call(key)], 1).then(() => groups.push(marked.all())),
  )
  expect(marked.all()).toEqual([])
  await Promise.all(writes)
  expect(groups).toEqual([
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

/** Groups on a table whose commit can fail: a child needs its parent by then. */
function groupsOn() {
  const database = new Database(':memory:')
  database.pragma('foreign_keys = ON')
  database.exec(`CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)`)
  const children = database.prepare('SELECT id FROM child ORDER BY id').pluck()
  return { database, groups: createGroups(database, ':memory:'), children: () => children.all() }
}

test.each([
  ['its commit', 'INSERT INTO child VALUES (9, 404)'],
  ['a write that gives up the whole transaction', 'INSERT OR ROLLBACK INTO child VALUES (1, NULL)'],
])('a group fails as a whole with %s: nobody is told to be done, and nothing follows', async (_, failing) => {
  const { database, groups, children } = groupsOn()
  let followed = 0
  const after = (): void => void followed++
  const add = (sql: string) => groups.add(() => database.prepare(sql).run(), after)
  const group = ['INSERT INTO child VALUES (1, NULL)', failing, 'INSERT INTO child VALUES (2, NULL)'].map(add)
  const ends = await Promise.allSettled(group)
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect([children(), followed]).toEqual([[], 0])
  // The next group is one of its own.
  await add('INSERT INTO child VALUES (3, NULL)')
  expect([children(), followed]).toEqual([[3], 1])
})

test('what follows a commit comes once, when all is durable and before anybody is told', async () => {
  const { database, groups, children } = groupsOn()
  const events: unknown[] = []
  const after = (): void => void events.push(['after', database.inTransaction, children()])
  const writes = [1, 2].map((id) =>
    groups.add(() => database.prepare('INSERT INTO child VALUES (?, NULL)').run(id), after).then(() => events.push(id)),
  )
  await Promise.all(writes)
  expect(events).toEqual([['after', false, [1, 2]], 1, 2])
})

test('a mark is noted beside the store once it is durable', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  const lease = await store.lease('SN', 1)
  const before = readFileSync(`${file}.serial`, 'utf8')
  await store.ledger.begin('SN', 'north', 'create', [call('A')], 1)
  expect(readFileSync(`${file}.serial`, 'utf8')).not.toBe(before)
  await lease.release()
  await store.close()
})
