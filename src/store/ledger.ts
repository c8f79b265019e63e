/** The ledger on SQLite. Rows of `listing` bear the marks of calls in flight; table `ledger` has what was changed. */
import type Database from 'better-sqlite3'
import type { Counted } from '../plan/guard/hold.ts'
import { slack } from '../core/turn.ts'
import { column } from './connection.ts'
import { inGroups, promised } from './door.ts'
import type { Connection } from './door.ts'
import { listingRows } from './snapshot.ts'
import type { Ledger, LedgerReader } from './store.ts'

const day = 86_400_000
/** Milliseconds for which a change counts. */
export const countedFor = day
/** Milliseconds for which it is known that a listing left: one that comes back by then is not new. */
export const leftFor = 45 * day

/** Runs that began by then no longer count. `slack`, as a scheduled run may begin a little earlier than the one before. */
export const countedFrom = (now: number): number => now - countedFor + slack

/** Gives the time after which changes count: all that a run changed counts until 24 hours after the run began. */
export function countedSince(database: Database.Database): (chatbot: string, feed: string, now: number) => number {
  const ended = column<number>(
    database,
    `SELECT finished_at FROM run WHERE chatbot = ? AND feed = ? AND started_at <= ? AND finished_at <= ?
    ORDER BY number DESC LIMIT 1`,
  )
  return (chatbot, feed, now) => Math.max(now - countedFor, ended.get(chatbot, feed, countedFrom(now), now) ?? 0)
}

/** `begun` is called once the marks of calls are on the disk. */
export function createLedger(connection: Connection, begun: () => void): Ledger {
  const { database } = connection
  const rows = listingRows(database)
  const of = 'FROM ledger WHERE chatbot = ? AND feed = ? AND at > ?'
  const counted = column<number>(database, `SELECT count(DISTINCT key) ${of} AND what = ?`)
  const since = countedSince(database)
  // Copies that `repair` deleted have entries under names that are no MLSNumber. Their listing is still there.
  const latest = column<string>(
    database,
    `SELECT key ${of} AND what IN ('delete', 'renumber', 'left') AND key NOT LIKE '% (ID %)' AND NOT EXISTS
      (SELECT 1 FROM listing WHERE chatbot = ledger.chatbot AND key = ledger.key)
    GROUP BY key ORDER BY max(at) DESC, key LIMIT ?`,
  )
  // Only the mark of a create says that the listing is ours: when another mark replaces it, the row has to say so.
  // A create makes another listing, of which the known identifier is not.
  const mark = database.prepare(`UPDATE listing SET flight = @kind, flight_at = @now, missed_at = NULL,
    identifier = CASE @kind WHEN 'create' THEN NULL ELSE identifier END,
    owned = CASE WHEN @kind <> 'create' AND flight = 'create' THEN 1 ELSE owned END,
    feed = CASE owned WHEN 1 THEN feed ELSE @feed END WHERE chatbot = @chatbot AND key = @key`)
  const miss = database.prepare(
    'UPDATE listing SET missed_at = coalesce(missed_at, ?) WHERE chatbot = ? AND key = ? AND flight IS NOT NULL',
  )
  const unmark = database.prepare('UPDATE listing SET flight = NULL, flight_at = NULL WHERE chatbot = ? AND key = ?')
  const countUpSerial = database.prepare('UPDATE meta SET serial = serial + 1')
  const enter = database.prepare('INSERT OR IGNORE INTO ledger VALUES (?, ?, ?, ?, ?)')
  // Only the entries of this call, as earlier ones stand for changes that were carried out. Of any feed: a feed that takes a
  // listing over marks a row that is still the other's.
  const removeEntries = database.prepare('DELETE FROM ledger WHERE chatbot = ? AND key = ? AND at = ?')
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
          countUpSerial.run()
          for (const { key, counts, copy } of calls) {
            const row = rows.findOrAdd(chatbot, key, feed)
            const name = nameOf(key, copy)
            // The same call again, after an attempt without effect, has one entry, not two.
            if (row.flight === kind) removeEntries.run(chatbot, name, row.flightAt)
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
          if (effect === 'none' && row.flight !== null) removeEntries.run(chatbot, nameOf(key, copy), row.flightAt)
        }
      },
    }),
  }
}

/**
 * Drops entries that nobody needs any more: of what left after 45 days, of the rest after twice 24 hours, in case the clock is
 * set back. Done once a run and not at each call, as it reads all entries of what left.
 */
export function ledgerPruning(database: Database.Database): (now: number) => void {
  const prune = database.prepare(
    "DELETE FROM ledger WHERE at < @counted AND (at < @left OR what NOT IN ('delete', 'renumber', 'left'))",
  )
  return (now) => void prune.run({ counted: now - 2 * countedFor, left: now - leftFor })
}
