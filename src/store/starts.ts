/** How often in a row a daemon on this store was started and ended without a word. */
import type Database from 'better-sqlite3'
import type { StoreReader } from './store.ts'

/** What a daemon notes of its own starts. Times in milliseconds. */
export interface StartsWriter {
  /** Notes that a daemon starts. Gives how many did before it that neither stayed up nor ended in order (fault-model F138). */
  noteStart(now: number): number
  /** A daemon stayed up or ends in order: the starts so far count no more. */
  noteSteady(): void
}

export function createStartsReader(database: Database.Database): Pick<StoreReader, 'starts'> {
  const read = database.prepare<[], { times: number; at: number }>('SELECT times, at FROM start')
  return { starts: () => read.get() ?? { times: 0, at: 0 } }
}

export function createStartsWriter(database: Database.Database): StartsWriter {
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
