/** Ledger and history on PostgreSQL: calls in flight, what was changed lately, what is remembered of listings beside their rows. */
import type { History } from '../../plan/inputs.ts'
import { byKey, historyOf } from '../history.ts'
import type { Entered, HeldRow, Noted } from '../history.ts'
import { approvalLasts, doubted } from '../holds.ts'
import { countedFor, countedFrom, leftFor } from '../ledger.ts'
import type { AbsenceNotes, Ledger } from '../store.ts'
import { distinct, jsonOf, walk } from './door.ts'
import type { Asker, Door } from './door.ts'
import { addRows, removeRows } from './snapshot.ts'

const left = "what IN ('delete', 'renumber', 'left')"
const suffixOf = (copy: string | undefined): string => (copy === undefined ? '' : ` (ID ${copy})`)

/** Gives the time after which changes count (../ledger.ts). */
async function countedSince(door: Door, chatbot: string, feed: string, now: number): Promise<number> {
  const run = await door.get<{ ended: number }>(
    `SELECT finished_at AS ended FROM run WHERE chatbot = $1 AND feed = $2 AND started_at <= $3 AND finished_at <= $4
    ORDER BY number DESC LIMIT 1`,
    [chatbot, feed, countedFrom(now), now],
  )
  return Math.max(now - countedFor, run?.ended ?? 0)
}

export function createLedger(door: Door): Ledger {
  return {
    counted: async (chatbot, feed, what, now) =>
      (await door.get<{ keys: number }>(
        'SELECT count(DISTINCT key) AS keys FROM ledger WHERE chatbot = $1 AND feed = $2 AND at > $3 AND what = $4',
        [chatbot, feed, await countedSince(door, chatbot, feed, now), what],
      ))!.keys,
    // Copies that `repair` deleted have entries under names that are no MLSNumber. Their listing is still there.
    latest: async (chatbot, feed, since, most) =>
      (
        await door.all<{ key: string }>(
          `SELECT key FROM ledger WHERE chatbot = $1 AND feed = $2 AND at > $3 AND ${left} AND key NOT LIKE '% (ID %)'
            AND NOT EXISTS (SELECT 1 FROM listing WHERE chatbot = ledger.chatbot AND key = ledger.key)
          GROUP BY key ORDER BY max(at) DESC, key LIMIT $4`,
          [chatbot, feed, since, most],
        )
      ).map(({ key }) => key),
    begin: (chatbot, feed, kind, calls, now) =>
      door.write(chatbot, async (asker) => {
        for (const group of distinct(calls, ({ key }) => key)) {
          await addRows(
            asker,
            chatbot,
            group.map(({ key }) => ({ key, feed })),
          )
          const rows = jsonOf(group.map(({ key, copy }) => ({ key, name: key + suffixOf(copy) })))
          // The same call again, after an attempt without effect, has one entry, not two. Of any feed: a feed that takes a
          // listing over marks a row that is still the other's.
          await asker.run(
            `DELETE FROM ledger AS g USING listing AS l, json_to_recordset($2::json) AS c(key text, name text)
            WHERE l.chatbot = $1 AND l.key = c.key AND l.flight = $3 AND g.chatbot = $1 AND g.key = c.name AND g.at = l.flight_at`,
            [chatbot, rows, kind],
          )
          // Only the mark of a create says that the listing is ours: when another mark replaces it, the row has to say so.
          // A create makes another listing, of which the known identifier is not.
          await asker.run(
            `UPDATE listing AS l SET flight = $3, flight_at = $4, missed_at = NULL,
              identifier = CASE WHEN $3 = 'create' THEN NULL ELSE identifier END,
              owned = CASE WHEN $3 <> 'create' AND flight = 'create' THEN true ELSE owned END,
              feed = CASE WHEN owned THEN feed ELSE $5 END
            WHERE chatbot = $1 AND key = ANY ($2)`,
            [chatbot, group.map(({ key }) => key), kind, now, feed],
          )
          const entries = group.flatMap(({ key, counts, copy }) =>
            counts.map((what) => ({ key: key + suffixOf(copy), what })),
          )
          await asker.run(
            `INSERT INTO ledger SELECT $1, $2, c.key, c.what, $4 FROM json_to_recordset($3::json) AS c(key text, what text)
            ON CONFLICT DO NOTHING`,
            [chatbot, feed, jsonOf(entries), now],
          )
        }
      }),
    noteMissing: (chatbot, key, now) =>
      door.write(chatbot, async (asker) => {
        await asker.run(
          'UPDATE listing SET missed_at = coalesce(missed_at, $3) WHERE chatbot = $1 AND key = $2 AND flight IS NOT NULL',
          [chatbot, key, now],
        )
      }),
    end: (chatbot, keys, effect, copy) =>
      door.write(chatbot, async (asker) => {
        if (effect === 'none')
          await asker.run(
            `DELETE FROM ledger AS g USING listing AS l WHERE l.chatbot = $1 AND l.key = ANY ($2) AND l.flight IS NOT NULL
            AND g.chatbot = $1 AND g.key = l.key || $3 AND g.at = l.flight_at`,
            [chatbot, keys, suffixOf(copy)],
          )
        await removeRows(asker, chatbot, keys, 'NOT owned AND refused_at IS NULL')
        await asker.run('UPDATE listing SET flight = NULL, flight_at = NULL WHERE chatbot = $1 AND key = ANY ($2)', [
          chatbot,
          keys,
        ])
      }),
  }
}

/** Drops entries that nobody needs any more (../ledger.ts). */
export async function pruneLedger(asker: Asker, now: number): Promise<void> {
  await asker.run(`DELETE FROM ledger WHERE at < $1 AND (at < $2 OR NOT (${left}))`, [
    now - 2 * countedFor,
    now - leftFor,
  ])
}

export function createHistory(door: Door): AbsenceNotes {
  async function page(
    [chatbot, feed, now, isPutBack]: Parameters<AbsenceNotes['rows']>,
    after: string,
    most: number,
  ): Promise<History[]> {
    const side = (table: string, of: string): string =>
      `(SELECT DISTINCT key FROM ${table} WHERE ${of} AND key > $3 ORDER BY key LIMIT $4)`
    const ofFeed = 'chatbot = $1 AND feed = $2'
    const keys = await door.all<{ key: string }>(
      `SELECT key FROM (${side('absence', ofFeed)} UNION ${side('ledger', ofFeed)} UNION ${side('hold', 'feed = $2')}) AS sides
      ORDER BY key LIMIT $4`,
      [chatbot, feed, after, most],
    )
    if (keys.length === 0) return []
    const range = [chatbot, feed, after, keys[keys.length - 1].key]
    const usual = "CASE WHEN decision = 'approved' AND decided_at <= $4 THEN NULL ELSE decision END"
    const { clock, decision } = isPutBack ? doubted('$4::bigint') : { clock: 'clock', decision: usual }
    const between = `${ofFeed} AND key > $3 AND key <= $4`
    const [countedAfter, absences, entries, holds] = await Promise.all([
      countedSince(door, chatbot, feed, now),
      door.all<Noted>(`SELECT key, runs, since FROM absence WHERE ${between}`, range),
      door.all<Entered>(
        `SELECT key, what, max(at) AS at, count(*)::int AS times FROM ledger WHERE ${between} GROUP BY key, what ORDER BY key, what`,
        range,
      ),
      door.all<HeldRow>(
        `SELECT key, part, content, rules, since, ends, ${clock} AS clock, ${decision} AS decision
        FROM hold WHERE feed = $1 AND key > $2 AND key <= $3 ORDER BY key, part`,
        [...range.slice(1), isPutBack ? now : now - approvalLasts],
      ),
    ])
    const [absence, entered, held] = [byKey(absences), byKey(entries), byKey(holds)]
    return keys.map(({ key }): History =>
      historyOf(key, { now, countedAfter }, absence(key)[0], entered(key), held(key)),
    )
  }
  return {
    rows: (...of) => walk((after, most) => page(of, after, most)),
    isAbsent: async (chatbot, feed, key) =>
      (await door.get('SELECT 1 FROM absence WHERE chatbot = $1 AND feed = $2 AND key = $3', [chatbot, feed, key])) !==
      undefined,
    noteAbsences: (chatbot, feed, { absent, returned, stillThere }, now) =>
      door.write(chatbot, async (asker) => {
        for (const group of distinct(absent, (key) => key))
          await asker.run(
            `INSERT INTO absence (feed, chatbot, key, runs, since, noted) SELECT $1, $2, key, 1, $4, $4 FROM unnest($3::text[]) AS key
            ON CONFLICT (feed, chatbot, key) DO UPDATE SET runs = absence.runs + 1, noted = excluded.noted`,
            [feed, chatbot, group, now],
          )
        await asker.run('DELETE FROM absence WHERE feed = $1 AND chatbot = $2 AND key = ANY ($3)', [
          feed,
          chatbot,
          returned,
        ])
        // Seldom any: not a question to the database for each batch.
        if (stillThere.length === 0) return
        await asker.run(
          "UPDATE hold SET clock = $1 WHERE feed = $2 AND key = ANY ($3) AND part = 'delete' AND clock IS NOT NULL",
          [now, feed, stillThere],
        )
      }),
    pruneAbsences: (chatbot, feed, now) =>
      door.write(chatbot, async (asker) => {
        await asker.run('DELETE FROM absence WHERE feed = $1 AND (chatbot <> $2 OR noted <> $3)', [feed, chatbot, now])
      }),
  }
}
