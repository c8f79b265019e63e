import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { UserError } from '../../src/core/errors.ts'
import { inOneGo } from '../../src/workspace/failure.ts'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import { workspaceContract } from '../contract/workspace.ts'
import { freshFolder } from '../store/folder.ts'

workspaceContract('in a temporary file', () => openWorkspace(freshFolder()))

it('leaves nothing behind, and two at once are strangers', () => {
  const folder = freshFolder()
  const one = openWorkspace(folder)
  const other = openWorkspace(folder)
  one.addBookkeeping([{ op: 'steady', snapshot: 1 }])
  expect([...other.bookkeeping()]).toEqual([])
  one.close()
  expect([...other.bookkeeping()]).toEqual([])
  other.close()
  expect(readdirSync(folder)).toEqual([])
})

it('sweeps the folder of a process that was killed, and no other', () => {
  const folder = freshFolder()
  const url = new URL('../../src/workspace/sqlite.ts', import.meta.url).href
  const script = `import { openWorkspace } from ${JSON.stringify(url)}
    openWorkspace(${JSON.stringify(folder)}).addBookkeeping([{ op: 'steady', snapshot: 1 }])
    process.kill(process.pid, 'SIGKILL')`
  const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  expect(killed.signal).toBe('SIGKILL')
  const [left] = readdirSync(folder)
  expect(left).toMatch(new RegExp(`^listing-sync-run-${killed.pid}-`))
  // A container gives every process the number of the one before it.
  const ofForerunner = join(folder, `listing-sync-run-${process.pid}-zzz`)
  mkdirSync(ofForerunner)
  writeFileSync(join(folder, 'listing-sync-run-notes.txt'), 'not a workspace')

  const mine = openWorkspace(folder)
  const second = openWorkspace(folder)
  expect(existsSync(join(folder, left))).toBe(false)
  expect(existsSync(ofForerunner)).toBe(false)
  expect(readdirSync(folder).filter((name) => name.includes(`-${process.pid}-`))).toHaveLength(2)
  mine.close()
  second.close()
  expect(readdirSync(folder)).toEqual(['listing-sync-run-notes.txt'])
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
