/** What happened last to a feed: its listings, its deletes, its deliveries, its verification. */
import type Database from 'better-sqlite3'
import type { Verified, RecentReader } from './store.ts'

export function createRecentReader(database: Database.Database): RecentReader {
  const confirmed = database
    .prepare<[string, string, number], string>(
      `SELECT key FROM listing WHERE chatbot = ? AND feed = ? AND owned = 1 AND content IS NOT NULL AND flight IS NULL
      ORDER BY sent_at DESC, key LIMIT ?`,
    )
    .pluck()
  // Copies that "repair" took off are in the ledger too, under names that are no MLSNumber; their listing is still there.
  const deleted = database
    .prepare<{ chatbot: string; feed: string; since: number; most: number }, string>(
      `SELECT key FROM delete_ledger AS one WHERE chatbot = @chatbot AND feed = @feed AND at > @since AND key NOT LIKE '% (ID %)'
        AND NOT EXISTS (SELECT 1 FROM listing WHERE chatbot = @chatbot AND key = one.key)
      GROUP BY key ORDER BY max(at) DESC, key LIMIT @most`,
    )
    .pluck()
  const addressed = database
    .prepare<[string, string], number>(
      `SELECT 1 FROM listing JOIN payload USING (id) WHERE chatbot = ? AND owned = 1 AND payload.listing IS NOT NULL
        AND json_extract(payload.listing, '$.Address') = ? AND json_extract(payload.listing, '$.Status') <> 'Sold' LIMIT 1`,
    )
    .pluck()
  const held = database.prepare<[string], number>('SELECT count(*) FROM held WHERE feed = ?').pluck()
  const acceptedRun = database
    .prepare<[string], number>(
      `SELECT started_at FROM run WHERE feed = ? AND json_extract(figures, '$.accepted') ORDER BY number DESC LIMIT 1`,
    )
    .pluck()
  const delivery = database
    .prepare<[string], number>('SELECT at FROM delivery WHERE feed = ? ORDER BY number DESC LIMIT 1')
    .pluck()
  const verified = database.prepare<[string], { at: number; figures: string }>(
    `SELECT finished_at AS at, json_extract(figures, '$.verified') AS figures FROM run
    WHERE feed = ? AND json_extract(figures, '$.verified.asked') > 0 ORDER BY number DESC LIMIT 1`,
  )
  return {
    latestConfirmed: (chatbot, feed, most) => confirmed.all(chatbot, feed, most),
    latestDeleted: (chatbot, feed, since, most) => deleted.all({ chatbot, feed, since, most }),
    hasAddress: (chatbot, address) => addressed.get(chatbot, address) !== undefined,
    heldCount: (feed) => held.get(feed)!,
    lastAccepted: (feed) => acceptedRun.get(feed) ?? delivery.get(feed) ?? null,
    lastVerified(feed) {
      const row = verified.get(feed)
      return row === undefined ? null : { ...(JSON.parse(row.figures) as Omit<Verified, 'at'>), at: row.at }
    },
  }
}
