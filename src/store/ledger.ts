/** The ledger on SQLite: marks of calls in flight, which stand on the rows of `listing`, and what was changed in `ledger`. */
import type Database from 'better-sqlite3'
import type { Counted } from '../plan/guard/hold.ts'
import { slack } from '../plan/guard/scales.ts'
import { column } from './connection.ts'
import { inGroups, promised } from './door.ts'
import type { Connection } from './door.ts'
import { listingRows } from './snapshot.ts'
import type { Ledger, LedgerReader } from './store.ts'

const day = 86_400_000
/** What was changed counts for so many milliseconds. */
export const countedFor = day
/** That a listing left is remembered for so long: one that comes back within it is not new. */
export const leftFor = 45 * day

/** Runs that began by then count no more: those by the clock begin a little earlier than the one before, now and then. */
export const countedFrom = (now: number): number => now - countedFor + slack

/** What was changed after then counts: what a run changed until 24 hours after it began. */
export function countedSince(database: Database.Database): (chatbot: string, feed: string, now: number) => number {
  const ended = column<number>(
    database,
    `SELECT finished_at FROM run WHERE chatbot = ? AND feed = ? AND started_at <= ? AND finished_at <= ?
    ORDER BY number DESC LIMIT 1`,
  )
  return (chatbot, feed, now) => Math.max(now - countedFor, ended.get(chatbot, feed, countedFrom(now), now) ?? 0)
}

/** `begun` is called once marks are on the disk. */
export function createLedger(connection: Connection, begun: () => void): Ledger {
  const { database } = connection
  const rows = listingRows(database)
  const of = 'FROM ledger WHERE chatbot = ? AND feed = ? AND at > ?'
  const counted = column<number>(database, `SELECT count(DISTINCT key) ${of} AND what = ?`)
  const since = countedSince(database)
  // Copies that "repair" took off are in the ledger too, under names that are no MLSNumber; their listing is still there.
  const latest = column<string>(
    database,
    `SELECT key ${of} AND what IN ('delete', 'renumber', 'left') AND key NOT LIKE '% (ID %)' AND NOT EXISTS
      (SELECT 1 FROM listing WHERE chatbot = ledger.chatbot AND key = ledger.key)
    GROUP BY key ORDER BY max(at) DESC, key LIMIT ?`,
  )
  // The mark of a create is all that says a listing is ours: before another mark takes its place, the row says it.
  // What is created is another listing than the one that an identifier is known of.
  const mark = database.prepare(`UPDATE listing SET flight = @kind, flight_at = @now, missed_at = NULL,
    identifier = CASE @kind WHEN 'create' THEN NULL ELSE identifier END,
    owned = CASE WHEN @kind <> 'create' AND flight = 'create' THEN 1 ELSE owned END,
    feed = CASE owned WHEN 1 THEN feed ELSE @feed END WHERE chatbot = @chatbot AND key = @key`)
  const miss = database.prepare(
    'UPDATE listing SET missed_at = coalesce(missed_at, ?) WHERE chatbot = ? AND key = ? AND flight IS NOT NULL',
  )
  const unmark = database.prepare('UPDATE listing SET flight = NULL, flight_at = NULL WHERE chatbot = ? AND key = ?')
  const comeFurther = database.prepare('UPDATE meta SET serial = serial + 1')
  const enter = database.prepare('INSERT OR IGNORE INTO ledger VALUES (?, ?, ?, ?, ?)')
  // This call's own entries: an earlier one stands for a change that was carried out.
  // Of whichever feed: one that takes a listing over marks a row that is still the other's.
  const leave = database.prepare('DELETE FROM ledger WHERE chatbot = ? AND key = ? AND at = ?')
  const nameOf = (key: string, copy: string | undefined): string => (copy === undefined ? key : `${key} (ID ${copy})`)

  return {
    ...promised<LedgerReader>(connection, {
      counted: (chatbot, feed, what: Counted, now) => counted.get(chatbot, feed, since(chatbot, feed, now), what)!,
      latest: (chatbot, feed, since, most) => latest.all(chatbot, feed, since, most),
    }),
    ...inGroups<Pick<Ledger, 'begin'>>(
      connection,
      {
        begin(chatbot, feed, kind, calls, now) {
          comeFurther.run()
          for (const { key, counts, copy } of calls) {
            const row = rows.findOrAdd(chatbot, key, feed)
            const name = nameOf(key, copy)
            // The same call once more, after an attempt that came to nothing: one entry, not two.
            if (row.flight === kind) leave.run(chatbot, name, row.flightAt)
            mark.run({ chatbot, key, feed, kind, now })
            for (const what of counts) enter.run(chatbot, feed, name, what, now)
          }
        },
      },
      begun,
    ),
    ...inGroups<Pick<Ledger, 'noteMissing' | 'end'>>(connection, {
      noteMissing: (chatbot, key, now) => void miss.run(now, chatbot, key),
      end(chatbot, keys, effect, copy) {
        for (const key of keys) {
          const row = rows.find(chatbot, key)
          if (row === undefined) continue
          if (row.owned === 0 && row.refusedAt === null) rows.remove(chatbot, key, row.id)
          else unmark.run(chatbot, key)
          if (effect === 'none' && row.flight !== null) leave.run(chatbot, nameOf(key, copy), row.flightAt)
        }
      },
    }),
  }
}

/**
 * Drops entries that nobody asks for any more: of what left late, of all else after twice 24 hours, in case the clock is
 * set back. It reads all that left, so it is done once a run and not at each call.
 */
export function ledgerPruning(database: Database.Database): (now: number) => void {
  const prune = database.prepare(
    "DELETE FROM ledger WHERE at < @counted AND (at < @left OR what NOT IN ('delete', 'renumber', 'left'))",
  )
  return (now) => void prune.run({ counted: now - 2 * countedFor, left: now - leftFor })
}
