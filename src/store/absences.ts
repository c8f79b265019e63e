/** The absences on SQLite. */
import type { Absence } from '../plan/inputs.ts'
import { inTransactions, walk } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Absences, AbsencesReader } from './store.ts'

export function createAbsences(connection: Connection): Absences {
  const { database } = connection
  const page = database.prepare<[string, string, string, number], Absence>(
    'SELECT key, runs, since FROM absence WHERE feed = ? AND chatbot = ? AND key > ? ORDER BY key LIMIT ?',
  )
  const count = database.prepare(`INSERT INTO absence (feed, chatbot, key, runs, since, noted)
    VALUES (@feed, @chatbot, @key, 1, @now, @now)
    ON CONFLICT (feed, chatbot, key) DO UPDATE SET runs = runs + 1, noted = @now`)
  const end = database.prepare('DELETE FROM absence WHERE feed = ? AND chatbot = ? AND key = ?')
  const endOthers = database.prepare('DELETE FROM absence WHERE feed = ? AND (chatbot <> ? OR noted <> ?)')
  return {
    rows: (chatbot, feed) => walk(connection, (after, most) => page.all(feed, chatbot, after, most)),
    ...inTransactions<Writes<Absences, AbsencesReader>>(connection, {
      note(chatbot, feed, { absent, returned }, now) {
        for (const key of absent) count.run({ feed, chatbot, key, now })
        for (const key of returned) end.run(feed, chatbot, key)
      },
      prune(chatbot, feed, now) {
        endOthers.run(feed, chatbot, now)
      },
    }),
  }
}
