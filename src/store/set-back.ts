/**
 * What a clock noted that was wrong for a while. A time after now is of one that was ahead, or the clock is behind now: it is
 * taken as now, as what waits for minutes or days would wait until that time, too. Once the clock is at such times again, it was
 * behind: what was noted then, or taken for then, is taken as now, too. So a wait may last longer, and none is over too early.
 */

/**
 * By table, its column with the feed's name, and those with a time that something is counted from. Not since when a listing is
 * absent: an absence of a time to come keeps what may be a record without MLSNumber.
 */
const times = {
  hold: ['feed', 'since', 'clock', 'decided_at'],
  listing: ['feed', 'born_at', 'sent_at', 'put_right_at', 'flight_at', 'missed_at', 'refused_at'],
  pending: ['feed', 'at'],
  writer: ['feed', 'since', 'looked_at', 'rose_at', 'wrote_at'],
  feed: ['name', 'last_success', 'lost_at', 'complete_at'],
}

/** Whether a run of a feed began or ended after now; `feed` and `now` are parameters as the store writes them, here and below. */
export const isAhead = (feed: string, now: string): string =>
  `SELECT 1 AS ahead FROM run WHERE feed = ${feed} AND (finished_at > ${now} OR started_at > ${now}) LIMIT 1`

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Of a run that was killed nobody knows when it wrote last. */
const slack = hour

/**
 * Gives, where runs of a feed began before an earlier one ended, and none since then did not, `from` and `until` when they were made. Such
 * a run may have ended under a clock that was put right meanwhile. A clock that was ahead looks the same once it is later than that;
 * but then less time has passed than these runs took. A run without figures was killed. Clocks of two machines differ by seconds,
 * and a run may begin while the one before ends.
 */
export const wasBehind = (feed: string, now: string): string => `
  WITH made AS (
    SELECT number, started_at, finished_at, CASE WHEN figures = '{}' THEN ${slack} ELSE 0 END AS slack FROM run
      WHERE feed = ${feed} AND finished_at <= ${now}
    UNION ALL SELECT number, started_at, seen_at, ${slack} FROM under_way WHERE feed = ${feed}),
  ordered AS (SELECT made.*, started_at + ${minute} >= coalesce(max(finished_at) OVER (
      ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS follows FROM made),
  last AS (SELECT number, finished_at FROM ordered WHERE follows ORDER BY number DESC LIMIT 1),
  wrong AS (SELECT started_at, last.finished_at AS last, made.finished_at + slack AS until, made.finished_at AS ended,
      made.finished_at > last.finished_at AS mended FROM made JOIN last ON made.number > last.number)
  SELECT min(started_at) - 1 AS "from", max(CASE WHEN mended THEN started_at + ${day} ELSE until END) AS until FROM wrong
  HAVING max(last) + max(CASE WHEN mended THEN started_at ELSE ended END) - min(started_at) <= ${now} + ${minute}`

/** Whether the next run of a feed takes other times for what the last ones noted, by more than clocks of two machines differ. */
export const isWrong = (feed: string, now: string): string => `
  SELECT 1 AS wrong FROM (SELECT started_at, finished_at FROM run WHERE feed = ${feed} ORDER BY number DESC LIMIT 1) AS latest
    WHERE started_at > ${now} + ${minute} OR finished_at > ${now} + ${minute}
  UNION ALL SELECT 1 FROM under_way WHERE feed = ${feed} AND (started_at > ${now} + ${minute} OR seen_at > ${now} + ${minute})
  UNION ALL SELECT 1 FROM (${wasBehind(feed, now)}) AS behind LIMIT 1`

/** Statements that take the times of a feed after now for now. */
export const settingBack = (feed: string, now: string): string[] => moving(feed, (column) => `${column} > ${now}`, now)

/** Statements that take the times of a feed from `from` to `until` for now. */
export const settingForward = (feed: string, from: string, until: string, now: string): string[] =>
  moving(feed, (column) => `${column} BETWEEN ${from} AND ${until}`, now)

function moving(feed: string, is: (column: string) => string, to: string): string[] {
  const updates = Object.entries(times).map(([table, [name, ...columns]]) => {
    const values = columns.map((column) => `${column} = CASE WHEN ${is(column)} THEN ${to} ELSE ${column} END`)
    return `UPDATE ${table} SET ${values.join()} WHERE ${name} = ${feed} AND (${columns.map(is).join(' OR ')})`
  })
  return [
    // What moves by itself was sent as of that time: its records are read again.
    `UPDATE listing SET raw = NULL, suspect_until = suspect_until - sent_at + ${to} WHERE feed = ${feed} AND ${is('sent_at')}`,
    ...updates,
    `INSERT INTO ledger SELECT DISTINCT chatbot, feed, key, what, CAST(${to} AS BIGINT) FROM ledger
    WHERE feed = ${feed} AND ${is('at')} ON CONFLICT DO NOTHING`,
    `DELETE FROM ledger WHERE feed = ${feed} AND ${is('at')} AND at <> ${to}`,
  ]
}
