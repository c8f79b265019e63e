/** Rows of second tables (`join`) in the workspace. */
import type Database from 'better-sqlite3'
import { inOneGo } from './scratch-file.ts'
import type { Workspace } from './workspace.ts'

export function createJoined(database: Database.Database) {
  const add = database.prepare('INSERT INTO joined (name, key, rank, cells) VALUES (?, ?, ?, ?)')
  const drop = database.prepare('DELETE FROM joined WHERE name = ?')
  // Made once all rows are there: they come in any order, and sorting them once is cheaper.
  const index = 'CREATE INDEX IF NOT EXISTS joined_by_key ON joined (name, key, rank, number)'
  const largest = 'SELECT key FROM joined WHERE name = ? GROUP BY key HAVING SUM(LENGTH(cells)) > ? LIMIT 1'
  const rowsOf = 'SELECT cells FROM joined WHERE name = ? AND key = ? ORDER BY rank, number'
  let read: Database.Statement<[string, string], string> | null = null
  return {
    addJoined: inOneGo(database, (name: string, rows: Parameters<Workspace['addJoined']>[1]) => {
      for (const { key, rank, cells } of rows) add.run(name, key, rank, JSON.stringify(cells))
    }),
    dropJoined: inOneGo(database, (name: string) => void drop.run(name)),
    joinedBeyond: inOneGo(database, (name: string, most: number): string | null => {
      database.exec(index)
      return database.prepare<[string, number], string>(largest).pluck().get(name, most) ?? null
    }),
    joinedOf(name: string, key: string): string[][] {
      read ??= database.prepare<[string, string], string>(rowsOf).pluck()
      return read.all(name, key).map((cells) => JSON.parse(cells) as string[])
    },
  }
}
