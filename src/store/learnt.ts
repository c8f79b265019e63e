/** What was learnt, on SQLite: numbers in `learnt`, forms in `feed`, applied settings in `setting`. */
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Learnt, LearntReader, Writer } from './store.ts'

export function createLearnt(connection: Connection): Learnt {
  const { database } = connection
  const number = column<number>(database, 'SELECT value FROM learnt WHERE chatbot = ? AND name = ?')
  const forms = column<string>(database, 'SELECT forms FROM feed WHERE name = ?')
  const settings = database.prepare<[string], { name: string; value: string }>(
    'SELECT name, value FROM setting WHERE chatbot = ? ORDER BY name',
  )
  const writers = database.prepare<[string, string], Writer & { store: string }>(
    'SELECT store, run, since, looked_at AS lookedAt, wrote_at AS wroteAt FROM writer WHERE chatbot = ? AND feed = ? ORDER BY store',
  )
  const setWriter = database.prepare(
    'INSERT OR REPLACE INTO writer VALUES (@chatbot, @feed, @store, @run, @since, @lookedAt, @wroteAt)',
  )
  const setNumber = database.prepare('INSERT OR REPLACE INTO learnt VALUES (?, ?, ?)')
  const addForms = database.prepare(`INSERT INTO feed (name, forms) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET forms = (SELECT json_group_array(value) FROM
      (SELECT value FROM json_each(feed.forms) UNION SELECT value FROM json_each(excluded.forms)))`)
  const setSetting = database.prepare('INSERT OR REPLACE INTO setting (chatbot, name, value, at) VALUES (?, ?, ?, ?)')
  const forgetSetting = database.prepare('DELETE FROM setting WHERE chatbot = ? AND name = ?')
  return {
    ...promised<LearntReader>(connection, {
      number: (chatbot, name) => number.get(chatbot, name) ?? null,
      writers: (...of) => new Map(writers.all(...of).map(({ store, ...writer }) => [store, writer])),
      forms: (feed) => JSON.parse(forms.get(feed) ?? '[]'),
      settings: (chatbot) => new Map(settings.all(chatbot).map(({ name, value }) => [name, JSON.parse(value)])),
    }),
    ...inTransactions<Writes<Learnt, LearntReader>>(connection, {
      setNumber: (chatbot, name, value) => void setNumber.run(chatbot, name, value),
      setWriters(chatbot, feed, all) {
        for (const [store, writer] of all) setWriter.run({ chatbot, feed, store, ...writer })
      },
      addForms: (feed, fields) => void addForms.run(feed, JSON.stringify(fields)),
      setSettings(chatbot, settings, now) {
        for (const [name, value] of settings) setSetting.run(chatbot, name, JSON.stringify(value), now)
      },
      forgetSettings(chatbot, names) {
        for (const name of names) forgetSetting.run(chatbot, name)
      },
    }),
  }
}
