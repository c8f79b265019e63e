/** What was done about each home, on PostgreSQL: `home_event`, the latest 90 days of it. */
import type { FieldChange } from '../../core/compare-listings.ts'
import type { Home } from '../../core/home.ts'
import { asFarAsKept, droppedForEach, keptFor, latestOf, mostDropped, searched } from '../changes.ts'
import type { Changes, HomeEvent } from '../store.ts'
import { distinct, jsonOf } from './door.ts'
import type { Asker, Door } from './door.ts'

interface EventRow extends Omit<HomeEvent, 'home' | 'fields'> {
  home: string | null
  fields: string | null
}

export function createChanges(door: Door): Changes {
  return {
    of: async (mlsNumber, most) =>
      (
        await door.all<EventRow>(
          `SELECT feed, key AS "mlsNumber", at, what, result, why, error, by_whom AS by, home, fields FROM home_event
          WHERE key = $1 ORDER BY number DESC LIMIT $2`,
          [mlsNumber, most],
        )
      ).map(({ home, fields, ...row }) => ({
        ...row,
        home: home === null ? null : (JSON.parse(home) as Home),
        fields: fields === null ? [] : (JSON.parse(fields) as FieldChange[]),
      })),
    find: async (words, most) =>
      (
        await door.all<{ key: string }>(
          `SELECT key FROM (SELECT number, key, home FROM home_event ORDER BY number DESC LIMIT ${searched}) AS latest
          WHERE home IS NOT NULL AND strpos(lower(coalesce(home::json ->> 'address', '') || ', ' ||
            coalesce(home::json ->> 'city', '')), lower($1)) > 0
          GROUP BY key ORDER BY max(number) DESC LIMIT $2`,
          [words, most],
        )
      ).map(({ key }) => key),
    note: (feed, events) =>
      door.writeOf(feed, async (asker) => {
        const rows = events.map(({ home, fields, ...event }) => ({
          ...event,
          home: home === null ? null : jsonOf(home),
          fields: fields.length === 0 ? null : JSON.stringify(fields.map(asFarAsKept)),
        }))
        let number = 0
        for (const group of distinct(rows, () => `${number++}`))
          await asker.run(
            `INSERT INTO home_event (feed, key, at, what, result, why, error, home, fields)
            SELECT $1, c."mlsNumber", c.at, c.what, c.result, c.why, c.error, c.home, c.fields
            FROM json_to_recordset($2::json) AS c("mlsNumber" text, at bigint, what text, result text, why text, error text,
              home text, fields text)`,
            [feed, jsonOf(group)],
          )
        if (events.length > 0) await pruneChanges(asker, latestOf(events), droppedForEach * events.length)
      }),
  }
}

/** Drops what is older than 90 days, so many rows at most. */
export async function pruneChanges(asker: Asker, now: number, most = mostDropped): Promise<void> {
  await asker.run(
    'DELETE FROM home_event WHERE number IN (SELECT number FROM home_event WHERE at < $1 ORDER BY at LIMIT $2)',
    [now - keptFor, most],
  )
}
