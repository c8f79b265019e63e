/** How often in a row a daemon on this store was started and ended without a word. */
import type Database from 'better-sqlite3'
import type { Store, StoreReader } from './store.ts'

export function createStartsReader(database: Database.Database): Pick<StoreReader, 'starts'> {
  const read = database.prepare<[], { times: number; at: number }>('SELECT times, at FROM start')
  return { starts: () => read.get() ?? { times: 0, at: 0 } }
}

export function createStartsWriter(database: Database.Database): Pick<Store, 'noteStart' | 'noteSteady'> {
  const note = database
    .prepare<[number], number>(
      `INSERT INTO start VALUES (1, 1, ?) ON CONFLICT (one) DO UPDATE SET times = times + 1, at = excluded.at
      RETURNING times`,
    )
    .pluck()
  const forget = database.prepare('UPDATE start SET times = 0')
  return {
    noteStart: (now) => note.get(now)! - 1,
    noteSteady() {
      forget.run()
    },
  }
}
