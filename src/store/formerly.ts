/** Hands what is in the store under former names of feeds over to their present names. */
import type Database from 'better-sqlite3'
import { column } from './connection.ts'

/** The present names of feeds, by former names. */
export type Formerly = ReadonlyMap<string, string>

/** Whether anything is left to hand over. A feed's row tells, as it is written before anything else of the feed. */
export function isLeft(database: Database.Database, formerly: Formerly): boolean {
  const known = column<1>(database, 'SELECT 1 FROM feed WHERE name = ?')
  return [...formerly.keys()].some((name) => known.get(name) !== undefined)
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
  // A feed without a complete delivery has nothing that the next one could be compared with.
  const giveWay = database.prepare('DELETE FROM feed WHERE name = ? AND complete_at IS NULL')
  // "Not modified" would only be about what was delivered under one of the names.
  const forgetValidators = database.prepare('UPDATE feed SET validators = NULL WHERE name = ?')
  return database
    .transaction(() =>
      [...formerly].flatMap(([from, feed]) => {
        if (!isLeft(database, new Map([[from, feed]]))) return []
        const taken = { feed, from, listings: listings.get(from)! }
        for (const table of tables) rename(table, 'feed', { from, feed })
        giveWay.run(feed)
        rename('feed', 'name', { from, feed })
        forgetValidators.run(feed)
        return [taken]
      }),
    )
    .immediate()
}
