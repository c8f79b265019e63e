/**
 * What a clock noted that was wrong for a while. A time after now is of one that was ahead, or the clock is behind now: it is
 * taken as now, as what waits for minutes or days would wait until that time, too. Once such times are over, the clock was behind:
 * what was noted meanwhile, or taken for then, is taken as the end of the last run before, as it is no older than that for sure.
 * Either way a wait may last longer, and none is over too early.
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

/** Whether a run of a feed ended after now; `feed` and `now` are parameters as the store writes them, here and below. */
export const isAhead = (feed: string, now: string): string =>
  `SELECT 1 AS ahead FROM run WHERE feed = ${feed} AND finished_at > ${now} LIMIT 1`

/** A clock that was behind for longer is not found out by this: what waited for then has waited. */
const longestBehind = 7 * 86_400_000

/**
 * Gives, where the runs of a feed that came last ended before an earlier one, `from` and `until` when they were made, and `last`, when
 * that one ended.
 */
export const wasBehind = (feed: string, now: string): string => `
  WITH made AS (SELECT number, started_at, finished_at FROM run WHERE feed = ${feed}
    UNION ALL SELECT number, started_at, seen_at FROM under_way WHERE feed = ${feed}),
  last AS (SELECT number, finished_at FROM made ORDER BY finished_at DESC, number DESC LIMIT 1)
  SELECT min(made.started_at) - 1 AS "from", max(made.finished_at) AS until, max(last.finished_at) AS last
  FROM made JOIN last ON made.number > last.number
  HAVING max(last.finished_at) <= ${now} AND max(made.finished_at) - min(made.started_at) <= ${longestBehind}`

/** Statements that take the times of a feed after now for now. */
export const settingBack = (feed: string, now: string): string[] => moving(feed, (column) => `${column} > ${now}`, now)

/** Statements that take the times of a feed between two for another one. */
export const settingForward = (feed: string, from: string, until: string, last: string): string[] =>
  moving(feed, (column) => `${column} BETWEEN ${from} AND ${until}`, last)

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
