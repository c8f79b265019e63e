import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { UserError } from '../../src/core/errors.ts'
import { inOneGo } from '../../src/workspace/scratch-file.ts'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import { workspaceContract } from '../contract/workspace.ts'
import { freshFolder } from '../store/folder.ts'

workspaceContract('in a temporary file', () => openWorkspace(freshFolder()))

it('leaves nothing behind, and two at once are strangers', () => {
  const folder = freshFolder()
  const first = openWorkspace(folder)
  const other = openWorkspace(folder)
  first.addBookkeeping([{ op: 'absent', key: 'A' }])
  expect([...other.bookkeeping()]).toEqual([])
  first.close()
  expect([...other.bookkeeping()]).toEqual([])
  other.close()
  expect(readdirSync(folder)).toEqual([])
})

it('says where it cannot be made', () => {
  const file = join(freshFolder(), 'a file')
  writeFileSync(file, '')
  expect(() => openWorkspace(file)).toThrow(/a file: the run's scratch file cannot be used: .*another temporary folder/)
})

it('says that its disk is full', () => {
  const file = join(freshFolder(), 'workspace.db')
  const database = new Database(file)
  database.exec('CREATE TABLE note (text TEXT NOT NULL); PRAGMA max_page_count = 5')
  const write = inOneGo(database, (text: string | null) => {
    database.prepare('INSERT INTO note VALUES (?)').run(text)
  })
  expect(() => write('x'.repeat(100_000))).toThrow(UserError)
  expect(() => write('x'.repeat(100_000))).toThrow(`${file}: the disk is full; free some space`)
  expect(() => write(null)).toThrow(Database.SqliteError)
  database.close()
})
