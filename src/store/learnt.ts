/** What was learnt, on SQLite: numbers in `learnt`, forms in `feed`, applied settings in `setting`. */
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Learnt, LearntReader } from './store.ts'

export function createLearnt(connection: Connection): Learnt {
  const { database } = connection
  const number = column<number>(database, 'SELECT value FROM learnt WHERE chatbot = ? AND name = ?')
  const forms = column<string>(database, 'SELECT echo_reported FROM feed WHERE name = ?')
  const settings = database.prepare<[string], { name: string; value: string }>(
    'SELECT name, value FROM setting WHERE chatbot = ? ORDER BY name',
  )
  const setNumber = database.prepare('INSERT OR REPLACE INTO learnt VALUES (?, ?, ?)')
  const addForms = database.prepare(`INSERT INTO feed (name, echo_reported) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET echo_reported = (SELECT json_group_array(value) FROM
      (SELECT value FROM json_each(feed.echo_reported) UNION SELECT value FROM json_each(excluded.echo_reported)))`)
  const setSetting = database.prepare('INSERT OR REPLACE INTO setting (chatbot, name, value, at) VALUES (?, ?, ?, ?)')
  const forgetSetting = database.prepare('DELETE FROM setting WHERE chatbot = ? AND name = ?')
  return {
    ...promised<LearntReader>(connection, {
      number: (chatbot, name) => number.get(chatbot, name) ?? null,
      forms: (feed) => JSON.parse(forms.get(feed) ?? '[]'),
      settings: (chatbot) => new Map(settings.all(chatbot).map(({ name, value }) => [name, JSON.parse(value)])),
    }),
    ...inTransactions<Writes<Learnt, LearntReader>>(connection, {
      setNumber: (chatbot, name, value) => void setNumber.run(chatbot, name, value),
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
