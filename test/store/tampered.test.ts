/** A store that another program has written code into: every command refuses it, and nothing of it runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/core/sqlite.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
afterEach(() => world.end())

/** A column's definition written over: what the program makes has no such words, and SQLite takes them from the file. */
const rewritten = (words: string): string =>
  `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'chatbot TEXT', 'chatbot TEXT ${words}') WHERE name = 'run'`

/** What is done to the store with a plain connection, which trusts what it finds; and what is said of it. */
const tampering: Record<string, [sql: string, said: string]> = {
  'a trigger on every run': [
    'CREATE TRIGGER evil AFTER INSERT ON run BEGIN DELETE FROM listing; END',
    'it has a trigger evil',
  ],
  'a trigger of its tables': [
    "CREATE TRIGGER evil BEFORE UPDATE ON listing BEGIN INSERT INTO run (feed) VALUES ('x'); END",
    'it has a trigger evil',
  ],
  'a view in place of a table': [
    'ALTER TABLE listing RENAME TO old; CREATE VIEW listing AS SELECT * FROM old',
    'it has a view listing',
  ],
  'a virtual table': ['CREATE VIRTUAL TABLE evil USING fts5(a)', 'it has a table evil'],
  'a check that calls a function': [rewritten('CHECK (rtreedepth(zeroblob(99)) = 0)'), 'unsafe use of rtreedepth()'],
  'another application id': ['PRAGMA application_id = 7', 'not a store of listing-sync'],
}

test.each(Object.entries(tampering))('%s is refused by every command', async (_, [sql, sentence]) => {
  world = await RunWorld.start()
  world.deliver(zillowFeed([home(1), home(2), home(3)]))
  expect((await world.executed('sync')).status).toBe(0)
  const file = join(world.folder, 'store.db')
  const database = new Database(file)
  database.unsafeMode()
  database.exec(sql)
  database.close()
  const before = readFileSync(file)
  world.deliver(zillowFeed([home(1), home(4)]))
  world.standIn.resetCounts()
  for (const words of [['sync'], ['diff'], ['status'], ['approve', 'north', '--yes'], ['backfill', 'north']]) {
    const { status, stdout, stderr } = await world.executed(...words)
    expect(status, `${words[0]}: ${stdout}`).toBe(1)
    expect(stdout + stderr, words[0]).toContain(sentence)
    expect(stdout + stderr, words[0]).toContain(file)
  }
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(world.standIn.counts).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
})

test('a database is opened without trust in its file: a table that calls a function does not', () => {
  const plain = new Database(':memory:')
  plain.exec('CREATE TABLE t (a CHECK (rtreedepth(zeroblob(99)) = 0)); INSERT INTO t VALUES (1)')
  const opened = openDatabase(plain.serialize())
  expect(() => opened.exec('INSERT INTO t VALUES (2)')).toThrow('unsafe use of rtreedepth()')
  plain.close()
  opened.close()
})
