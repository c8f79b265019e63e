/** What was done about each home, on SQLite: `home_event`, the latest 90 days of it. */
import type Database from 'better-sqlite3'
import type { FieldChange } from '../core/compare-listings.ts'
import type { Home } from '../core/home.ts'
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Changes, ChangesReader, Done, HomeEvent } from './store.ts'

export const keptFor = 90 * 86_400_000
/** Most rows that the end of a run drops: the rows of a first load of a million homes must not hold up a run. */
export const mostDropped = 20_000
/** For each row that is noted, so many old ones are dropped at most: a run may note more than its end drops. */
export const droppedForEach = 2
/** Most characters of JSON that are kept of one field's change. */
const mostOfField = 4000
/** How many of the latest events a search by address looks at. */
export const searched = 20_000

interface EventRow extends Omit<HomeEvent, 'home' | 'fields'> {
  home: string | null
  fields: string | null
}

export function createChanges(connection: Connection): Changes {
  const { database } = connection
  const of = database.prepare<[string, number], EventRow>(
    `SELECT feed, key AS mlsNumber, at, what, result, why, error, by_whom AS by, home, fields FROM home_event
    WHERE key = ? ORDER BY number DESC LIMIT ?`,
  )
  const find = column<string>(
    database,
    `SELECT DISTINCT key FROM (SELECT key, home FROM home_event ORDER BY number DESC LIMIT ${searched})
    WHERE instr(lower(coalesce(json_extract(home, '$.address'), '') || ', ' || coalesce(json_extract(home, '$.city'), '')),
      lower(?)) > 0 LIMIT ?`,
  )
  const add = database.prepare(`INSERT INTO home_event (feed, key, at, what, result, why, error, home, fields)
    VALUES (@feed, @mlsNumber, @at, @what, @result, @why, @error, @home, @fields)`)
  const prune = changesPruning(database)
  return {
    ...promised<ChangesReader>(connection, {
      of: (mlsNumber, most) =>
        of.all(mlsNumber, most).map(({ home, fields, ...row }) => ({
          ...row,
          home: home === null ? null : (JSON.parse(home) as Home),
          fields: fields === null ? [] : (JSON.parse(fields) as FieldChange[]),
        })),
      find: (words, most) => find.all(words, most),
    }),
    ...inTransactions<Writes<Changes, ChangesReader>>(connection, {
      note(feed, events) {
        for (const { home, fields, ...event } of events)
          add.run({
            ...event,
            feed,
            home: home === null ? null : JSON.stringify(home),
            fields: fields.length === 0 ? null : JSON.stringify(fields.map(asFarAsKept)),
          })
        prune(latestOf(events), droppedForEach * events.length)
      },
    }),
  }
}

/** The change without values that are too long to keep: that the field changed is kept. */
export function asFarAsKept({ field, from, to }: FieldChange): FieldChange {
  return JSON.stringify([from, to]).length > mostOfField ? { field, from: null, to: null } : { field, from, to }
}

export const latestOf = (events: readonly Done[]): number => Math.max(...events.map(({ at }) => at))

/** Drops what is older than 90 days, so many rows at most. */
export function changesPruning(database: Database.Database): (now: number, most?: number) => void {
  const prune = database.prepare(`DELETE FROM home_event WHERE number IN
    (SELECT number FROM home_event WHERE at < ? ORDER BY at LIMIT ?)`)
  return (now, most = mostDropped) => void prune.run(now - keptFor, most)
}
