/**
 * Corrects times that were noted while the clock was wrong. A time later than now comes from a clock that was ahead, or the clock is
 * behind now. It is set to now, or what waits for minutes or days would wait until that time, too. Times noted while the clock was
 * behind are set to now as soon as that shows. So a wait may last longer, but none ends too early.
 */

/**
 * For each table: the column with the feed's name, and the columns with times from which something is counted. Not `absence.since`:
 * an absence with a future time keeps a listing that may be a record without MLSNumber.
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

/** Milliseconds added to a killed run, as nobody knows when it wrote last. */
const slack = hour

/**
 * Finds the last runs of a feed if the clock was behind in them: each of them began before an earlier run had ended. Gives the span
 * (`from`, `until`) in which they wrote, or no row. The clock may have been put right during such a run (`mended`). If instead it
 * was ahead in the run before them, that looks the same later on; but then less time has passed since than these runs took
 * (`HAVING`). A run without figures was killed. A minute is allowed for, as clocks of two machines differ by seconds, and a run may
 * begin while the one before ends.
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

/** Whether the next run of a feed will correct times of the last ones, by more than the clocks of two machines differ. */
export const isWrong = (feed: string, now: string): string => `
  SELECT 1 AS wrong FROM (SELECT started_at, finished_at FROM run WHERE feed = ${feed} ORDER BY number DESC LIMIT 1) AS latest
    WHERE started_at > ${now} + ${minute} OR finished_at > ${now} + ${minute}
  UNION ALL SELECT 1 FROM under_way WHERE feed = ${feed} AND (started_at > ${now} + ${minute} OR seen_at > ${now} + ${minute})
  UNION ALL SELECT 1 FROM (${wasBehind(feed, now)}) AS behind LIMIT 1`

/** Statements that set a feed's times later than now to now. */
export const settingBack = (feed: string, now: string): string[] => moving(feed, (column) => `${column} > ${now}`, now)

/** Statements that set a feed's times between `from` and `until` to now. */
export const settingForward = (feed: string, from: string, until: string, now: string): string[] =>
  moving(feed, (column) => `${column} BETWEEN ${from} AND ${until}`, now)

function moving(feed: string, is: (column: string) => string, to: string): string[] {
  const updates = Object.entries(times).map(([table, [name, ...columns]]) => {
    const values = columns.map((column) => `${column} = CASE WHEN ${is(column)} THEN ${to} ELSE ${column} END`)
    return `UPDATE ${table} SET ${values.join()} WHERE ${name} = ${feed} AND (${columns.map(is).join(' OR ')})`
  })
  return [
    // Fields that move by themselves were sent as of the wrong time, so the records are parsed again.
    `UPDATE listing SET raw = NULL, suspect_until = suspect_until - sent_at + ${to} WHERE feed = ${feed} AND ${is('sent_at')}`,
    ...updates,
    `INSERT INTO ledger SELECT DISTINCT chatbot, feed, key, what, CAST(${to} AS BIGINT) FROM ledger
    WHERE feed = ${feed} AND ${is('at')} ON CONFLICT DO NOTHING`,
    `DELETE FROM ledger WHERE feed = ${feed} AND ${is('at')} AND at <> ${to}`,
  ]
}
