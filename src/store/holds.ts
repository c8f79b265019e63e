/** The holds on SQLite: `held` has what the last run holds, `approval` what a person let through. */
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import { byKey } from './snapshot.ts'
import type { Held, Holds, HoldsReader, OpenApproval } from './store.ts'

/** Approvals stay on record for 90 days. */
const approvalsKept = 90 * 86_400_000

const isOpen = 'feed = @feed AND used = 0 AND revoked_at IS NULL AND expires > @now'

export function createHolds(connection: Connection): Holds {
  const { database } = connection
  const held = database.prepare<[string], Held>(
    'SELECT key AS mlsNumber, kind, why, since FROM held WHERE feed = ? ORDER BY key',
  )
  const count = column<number>(database, 'SELECT count(*) FROM held WHERE feed = ?')
  const since = column<number>(database, 'SELECT since FROM held WHERE feed = ? AND key = ?')
  const approved = column<string>(database, `SELECT kind || ' ' || key FROM approval WHERE ${isOpen}`)
  const openApprovals = database.prepare<[{ feed: string; now: number }], OpenApproval>(
    `SELECT approved_by AS by, at, expires, count(*) AS changes FROM approval
    WHERE ${isOpen} GROUP BY approved_by, at, expires ORDER BY at`,
  )
  const doubt = database.prepare('UPDATE held SET current = 0 WHERE feed = ?')
  const hold = database.prepare(`INSERT INTO held (feed, key, kind, why, since) VALUES (@feed, @key, @kind, @why, @now)
    ON CONFLICT (feed, key) DO UPDATE SET kind = @kind, why = @why, current = 1`)
  const drop = database.prepare('DELETE FROM held WHERE feed = ? AND current = 0')
  // "Exactly the changes held now": what an earlier approval allowed and nobody used is allowed no longer.
  const withdraw = database.prepare(
    'DELETE FROM approval WHERE feed = ? AND ((used = 0 AND revoked_at IS NULL) OR at < ?)',
  )
  const allow = database.prepare(`INSERT OR REPLACE INTO approval (feed, kind, key, approved_by, at, expires)
    SELECT feed, kind, key, @by, @now, @expires FROM held WHERE feed = @feed AND kind IS NOT NULL`)
  const takeBack = database.prepare(`UPDATE approval SET revoked_by = @by, revoked_at = @now WHERE ${isOpen}`)
  const use = database.prepare('UPDATE approval SET used = 1 WHERE feed = ? AND kind = ? AND key = ?')
  return {
    ...promised<HoldsReader>(connection, {
      held: (feed) => held.all(feed),
      count: (feed) => count.get(feed)!,
      since: (feed, mlsNumbers) => byKey(mlsNumbers, (mlsNumber) => since.get(feed, mlsNumber)),
      approved: (feed, now) => new Set(approved.all({ feed, now })),
      openApprovals: (feed, now) => openApprovals.all({ feed, now }),
    }),
    ...inTransactions<Writes<Holds, HoldsReader>>(connection, {
      replace(feed, held, now) {
        doubt.run(feed)
        for (const { mlsNumber, kind, why } of held) hold.run({ feed, key: mlsNumber, kind, why, now })
        drop.run(feed)
      },
      approve(feed, by, now, expires) {
        withdraw.run(feed, now - approvalsKept)
        return allow.run({ feed, by, now, expires }).changes
      },
      revoke: (feed, by, now) => takeBack.run({ feed, by, now }).changes,
      use(feed, kind, mlsNumbers) {
        for (const mlsNumber of mlsNumbers) use.run(feed, kind, mlsNumber)
      },
    }),
  }
}
