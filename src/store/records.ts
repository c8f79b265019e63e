/** What is kept of live sources, on SQLite: `source` has how far each was read, `source_record` its records. */
import type { KeptRecord, SourceProgress } from '../core/records.ts'
import { column } from './connection.ts'
import { inTransactions, promised, walk } from './door.ts'
import type { Connection, Writes } from './door.ts'
import { byKey } from './snapshot.ts'
import type { Records, RecordsReader } from './store.ts'

export function createRecords(connection: Connection): Records {
  const { database } = connection
  const find = column<string>(database, 'SELECT progress FROM source WHERE feed = ?')
  const stamp = column<string>(database, 'SELECT stamp FROM source_record WHERE feed = ? AND key = ?')
  const page = database.prepare<[string, string, number], KeptRecord>(
    'SELECT key, stamp, body FROM source_record WHERE feed = ? AND key > ? ORDER BY key LIMIT ?',
  )
  const note = database.prepare(`INSERT INTO source (feed, progress) VALUES (?, ?)
    ON CONFLICT (feed) DO UPDATE SET progress = excluded.progress`)
  const put = database.prepare(`INSERT INTO source_record (feed, key, stamp, body) VALUES (@feed, @key, @stamp, @body)
    ON CONFLICT (feed, key) DO UPDATE SET stamp = @stamp, body = @body`)
  const remove = database.prepare('DELETE FROM source_record WHERE feed = ? AND key = ?')
  const clear = database.prepare('DELETE FROM source_record WHERE feed = ?')
  const write = (feed: string, progress: SourceProgress): void => void note.run(feed, JSON.stringify(progress))
  return {
    rows: (feed) => walk(connection, (after, most) => page.all(feed, after, most)),
    ...promised<Omit<RecordsReader, 'rows'>>(connection, {
      progress: (feed) => JSON.parse(find.get(feed) ?? 'null'),
      stamps: (feed, keys) => byKey(keys, (key) => stamp.get(feed, key)),
    }),
    ...inTransactions<Writes<Records, RecordsReader>>(connection, {
      begin(feed, progress) {
        clear.run(feed)
        write(feed, progress)
      },
      keep(feed, records, progress) {
        for (const record of records) put.run({ ...record, feed })
        write(feed, progress)
      },
      drop(feed, keys, progress) {
        for (const key of keys) remove.run(feed, key)
        write(feed, progress)
      },
    }),
  }
}
