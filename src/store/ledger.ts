/** The ledger on SQLite: marks of calls in flight, which stand on the rows of `listing`, and deletes in `delete_ledger`. */
import type Database from 'better-sqlite3'
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection } from './door.ts'
import { listingRows } from './snapshot.ts'
import type { Ledger, LedgerReader } from './store.ts'

const day = 86_400_000

/** `begun` is called once marks are on the disk. */
export function createLedger(connection: Connection, begun: () => void): Ledger {
  const { database } = connection
  const rows = listingRows(database)
  const entries = 'FROM delete_ledger WHERE chatbot = ? AND feed = ? AND at > ?'
  const deletes = column<number>(database, `SELECT count(DISTINCT key) ${entries}`)
  const entry = column<1>(database, `SELECT 1 ${entries} AND key = ? LIMIT 1`)
  // Copies that "repair" took off are in the ledger too, under names that are no MLSNumber; their listing is still there.
  const latest = column<string>(
    database,
    `SELECT key ${entries} AND key NOT LIKE '% (ID %)' AND NOT EXISTS
      (SELECT 1 FROM listing WHERE chatbot = delete_ledger.chatbot AND key = delete_ledger.key)
    GROUP BY key ORDER BY max(at) DESC, key LIMIT ?`,
  )
  // The mark of a create is all that says a listing is ours: before another mark takes its place, the row says it.
  const mark = database.prepare(`UPDATE listing SET flight = @kind, flight_at = @now,
    owned = CASE WHEN @kind <> 'create' AND flight = 'create' THEN 1 ELSE owned END,
    feed = CASE owned WHEN 1 THEN feed ELSE @feed END WHERE chatbot = @chatbot AND key = @key`)
  const unmark = database.prepare('UPDATE listing SET flight = NULL, flight_at = NULL WHERE chatbot = ? AND key = ?')
  const comeFurther = database.prepare('UPDATE meta SET serial = serial + 1')
  const enter = database.prepare('INSERT OR IGNORE INTO delete_ledger VALUES (?, ?, ?, ?)')
  // This call's own entry, which an approved one has not: an earlier one stands for a delete that was carried out.
  const leave = database.prepare('DELETE FROM delete_ledger WHERE chatbot = ? AND feed = ? AND key = ? AND at = ?')
  const prune = ledgerPruning(database)

  return {
    ...promised<LedgerReader>(connection, {
      deletes24h: (chatbot, feed, now) => deletes.get(chatbot, feed, now - day)!,
      has: (chatbot, feed, keys, now) =>
        new Set(keys.filter((key) => entry.get(chatbot, feed, now - day, key) !== undefined)),
      latest: (chatbot, feed, since, most) => latest.all(chatbot, feed, since, most),
    }),
    ...inTransactions<Pick<Ledger, 'begin'>>(
      connection,
      {
        begin(chatbot, feed, kind, keys, now, approved) {
          const counts = kind === 'delete' && !approved
          comeFurther.run()
          for (const key of keys) {
            const row = rows.findOrAdd(chatbot, key, feed)
            // The same delete once more, after an attempt that came to nothing: one entry, not two.
            if (counts && row.flight === 'delete') leave.run(chatbot, row.feed, key, row.flightAt)
            mark.run({ chatbot, key, feed, kind, now })
            if (counts) enter.run(chatbot, feed, key, now)
          }
          if (counts) prune(now)
        },
      },
      begun,
    ),
    ...inTransactions<Pick<Ledger, 'end' | 'countDelete'>>(connection, {
      end(chatbot, keys, effect) {
        for (const key of keys) {
          const row = rows.find(chatbot, key)
          if (row === undefined) continue
          if (row.owned === 0 && row.refusedAt === null) rows.remove(chatbot, key, row.id)
          else unmark.run(chatbot, key)
          if (effect === 'none' && row.flight === 'delete') leave.run(chatbot, row.feed, key, row.flightAt)
        }
      },
      countDelete(chatbot, feed, name, now) {
        enter.run(chatbot, feed, name, now)
      },
    }),
  }
}

/** Drops entries that count no more. Twice 24 hours are kept, in case the clock is set back. */
export function ledgerPruning(database: Database.Database): (now: number) => void {
  const prune = database.prepare('DELETE FROM delete_ledger WHERE at < ?')
  return (now) => void prune.run(now - 2 * day)
}
