/** What feeds left in the store under names that they had before: handed over to the names that they have now. */
import type Database from 'better-sqlite3'
import { column } from './connection.ts'

/** The present names of feeds, by names that they had before. */
export type Formerly = ReadonlyMap<string, string>

/** Whether anything is left to hand over. A feed has its row before anything else of it is written. */
export function isLeft(database: Database.Database, formerly: Formerly): boolean {
  const known = column<1>(database, 'SELECT 1 FROM feed WHERE name = ?')
  return [...formerly.keys()].some((name) => known.get(name) !== undefined)
}

/**
 * Hands everything over that stands under a former name, in one transaction. Of what both names have, as when the feed ran
 * under the new one already, the new one's stays. Gives for each name what it took over from, with how many listings.
 */
export function handOver(
  database: Database.Database,
  formerly: Formerly,
): { feed: string; from: string; listings: number }[] {
  // Whatever table is added later, it is found by its column.
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
  // A feed that had no complete delivery yet knows nothing that the next one could be compared with.
  const giveWay = database.prepare('DELETE FROM feed WHERE name = ? AND complete_at IS NULL')
  // "Not modified" would be said of what the feed delivered under one name alone.
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
