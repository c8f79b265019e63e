/** What was learnt, on SQLite: numbers in `learnt`, forms in `feed`, applied settings in `setting`. */
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Learnt, LearntReader, Writer } from './store.ts'

/** Changes of settings that are kept of each chatbot. */
export const historyKept = 100

export function createLearnt(connection: Connection): Learnt {
  const { database } = connection
  const number = column<number>(database, 'SELECT value FROM learnt WHERE chatbot = ? AND name = ?')
  const forms = column<string>(database, 'SELECT forms FROM feed WHERE name = ?')
  const settings = database.prepare<[string, number], { name: string; value: string }>(
    'SELECT name, value FROM setting WHERE chatbot = ? AND at >= ? ORDER BY name',
  )
  const writers = database.prepare<[string, string], Writer & { store: string }>(
    'SELECT store, run, since, looked_at AS lookedAt, rose_at AS roseAt, wrote_at AS wroteAt FROM writer WHERE chatbot = ? AND feed = ? ORDER BY store',
  )
  const setWriter = database.prepare(
    `INSERT OR REPLACE INTO writer (chatbot, feed, store, run, since, looked_at, rose_at, wrote_at)
      VALUES (@chatbot, @feed, @store, @run, @since, @lookedAt, @roseAt, @wroteAt)`,
  )
  const setNumber = database.prepare('INSERT OR REPLACE INTO learnt VALUES (?, ?, ?)')
  const keys = column<number>(database, 'SELECT keys FROM keys_used WHERE chatbot = ? AND feed = ?')
  const setKeys = database.prepare('INSERT OR REPLACE INTO keys_used VALUES (?, ?, ?)')
  const addForms = database.prepare(`INSERT INTO feed (name, forms) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET forms = (SELECT json_group_array(value) FROM
      (SELECT value FROM json_each(feed.forms) UNION SELECT value FROM json_each(excluded.forms)))`)
  const setSetting = database.prepare('INSERT OR REPLACE INTO setting (chatbot, name, value, at) VALUES (?, ?, ?, ?)')
  const forgetSetting = database.prepare('DELETE FROM setting WHERE chatbot = ? AND name = ?')
  const applied = database.prepare<[string], { number: number; at: number; changes: string }>(
    `SELECT number, at, changes FROM setting_change WHERE chatbot = ? ORDER BY number DESC LIMIT ${historyKept}`,
  )
  const noteApplied = database.prepare('INSERT INTO setting_change (chatbot, at, changes) VALUES (?, ?, ?)')
  const forgetApplied = database.prepare(
    `DELETE FROM setting_change WHERE chatbot = ? AND number <=
      (SELECT number FROM setting_change WHERE chatbot = ? ORDER BY number DESC LIMIT 1 OFFSET ${historyKept})`,
  )
  return {
    ...promised<LearntReader>(connection, {
      number: (chatbot, name) => number.get(chatbot, name) ?? null,
      keys: (...of) => keys.get(...of) ?? null,
      writers: (...of) => new Map(writers.all(...of).map(({ store, ...writer }) => [store, writer])),
      forms: (feed) => JSON.parse(forms.get(feed) ?? '[]'),
      settings: (chatbot, since = 0) =>
        new Map(settings.all(chatbot, since).map(({ name, value }) => [name, JSON.parse(value)])),
      settingsHistory: (chatbot) =>
        applied.all(chatbot).map(({ number, at, changes }) => ({ number, at, changes: JSON.parse(changes) })),
    }),
    ...inTransactions<Writes<Learnt, LearntReader>>(connection, {
      setNumber: (chatbot, name, value) => void setNumber.run(chatbot, name, value),
      setKeys: (...of) => void setKeys.run(...of),
      setWriters(chatbot, feed, all) {
        for (const [store, writer] of all) setWriter.run({ chatbot, feed, store, ...writer })
      },
      addForms: (feed, fields) => void addForms.run(feed, JSON.stringify(fields)),
      setSettings(chatbot, settings, now) {
        for (const [name, value] of settings) setSetting.run(chatbot, name, JSON.stringify(value), now)
      },
      applySettings(chatbot, changes, now) {
        for (const { name, to } of changes) setSetting.run(chatbot, name, JSON.stringify(to), now)
        noteApplied.run(chatbot, now, JSON.stringify(changes))
        forgetApplied.run(chatbot, chatbot)
      },
      forgetSettings(chatbot, names) {
        for (const name of names) forgetSetting.run(chatbot, name)
      },
    }),
  }
}
