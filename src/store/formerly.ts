/** Hands what is in the store under former names of feeds over to their present names. */
import type Database from 'better-sqlite3'
import { column } from './connection.ts'

/** The present names of feeds, by former names. */
export type Formerly = ReadonlyMap<string, string>

/** A number of a chatbot, as in the table `learnt`. */
export interface LearntNumber {
  chatbot: string
  name: string
  value: number
}

/** Whether anything is left to hand over. A feed's row tells, as it is written before anything else of the feed. */
export function isLeft(database: Database.Database, formerly: Formerly): boolean {
  const known = column<1>(database, 'SELECT 1 FROM feed WHERE name = ?')
  return [...formerly.keys()].some((name) => known.get(name) !== undefined)
}

/**
 * What a number that was learnt is called if the feed in its name, as in "run of north" or "file of north, ./drop-*.xml", has another
 * one; null: it is of no such feed. No name of a feed has a blank or a comma.
 */
export function renamedNumber(number: string, from: string, feed: string): string | null {
  // Behind the comma stands the name of a source, which may have anything in it.
  const [, what, of, rest] = /^(run of |(?:full )?files? of |number of files of )([^ ,]+)(.*)$/s.exec(number) ?? []
  return of === from ? what + feed + rest : null
}

/**
 * Renames everything under former names, in one transaction. If both names have something, as when the feed already ran under the new
 * one, the new one's stays. Gives, for each present name, the former name and how many listings it had.
 */
export function handOver(
  database: Database.Database,
  formerly: Formerly,
): { feed: string; from: string; listings: number }[] {
  // Found by its column, so that tables added later are not missed.
  const tables = column<string>(
    database,
    `SELECT schema.name FROM sqlite_schema AS schema JOIN pragma_table_info(schema.name) AS info
    WHERE schema.type = 'table' AND info.name = 'feed' ORDER BY schema.name`,
  ).all()
  const listings = column<number>(database, 'SELECT count(*) FROM listing WHERE feed = ? AND owned = 1')
  const rename = (table: string, name: string, names: { from: string; feed: string }): void => {
    database.prepare(`UPDATE OR IGNORE ${table} SET ${name} = @feed WHERE ${name} = @from`).run(names)
    database.prepare(`DELETE FROM ${table} WHERE ${name} = @from`).run(names)
  }
  const numbers = database.prepare<[], LearntNumber>('SELECT chatbot, name, value FROM learnt')
  // They grow: runs are counted, and files come later. The greater one is of the latest.
  const setNumber = database.prepare<[LearntNumber]>(`INSERT INTO learnt VALUES (@chatbot, @name, @value)
    ON CONFLICT (chatbot, name) DO UPDATE SET value = max(value, excluded.value)`)
  const dropNumber = database.prepare<[LearntNumber]>('DELETE FROM learnt WHERE chatbot = @chatbot AND name = @name')
  const renameNumbers = (from: string, feed: string): void => {
    for (const row of numbers.all()) {
      const name = renamedNumber(row.name, from, feed)
      if (name === null) continue
      setNumber.run({ ...row, name })
      dropNumber.run(row)
    }
  }
  // A feed without a complete delivery has nothing that the next one could be compared with, and one that never loaded anything
  // would be a beginner, with whom the guard's rules sleep.
  const giveWay = database.prepare(
    "DELETE FROM feed WHERE name = ? AND (complete_at IS NULL OR coalesce(loaded, 'null') = 'null')",
  )
  // If they filled two chatbots, the feed is a beginner in neither: what it has in the other one was there before.
  const noteLoaded = database.prepare<[{ from: string; feed: string }]>(`UPDATE feed
    SET loaded = json_set(loaded, '$.at', (SELECT coalesce(max(sent_at), 0) + 1 FROM listing WHERE feed = @feed))
    WHERE name = @feed AND loaded ->> 'chatbot' <> (SELECT loaded ->> 'chatbot' FROM feed WHERE name = @from)`)
  // "Not modified" would only be about what was delivered under one of the names.
  const forgetValidators = database.prepare('UPDATE feed SET validators = NULL WHERE name = ?')
  return database
    .transaction(() =>
      [...formerly].flatMap(([from, feed]) => {
        if (!isLeft(database, new Map([[from, feed]]))) return []
        const taken = { feed, from, listings: listings.get(from)! }
        for (const table of tables) rename(table, 'feed', { from, feed })
        renameNumbers(from, feed)
        giveWay.run(feed)
        noteLoaded.run({ from, feed })
        rename('feed', 'name', { from, feed })
        forgetValidators.run(feed)
        return [taken]
      }),
    )
    .immediate()
}
