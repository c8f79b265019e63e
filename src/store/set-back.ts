/**
 * What a clock noted that was ahead for a while. Once it is right, a time after now is taken as now: what waits for minutes or
 * days would wait until that time, too. What was noted was noted before now, so nothing is done too early by it.
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

/** Statements that put the times of a feed right. */
export function settingBack(feed: string, now: string): string[] {
  const updates = Object.entries(times).map(([table, [name, ...columns]]) => {
    const values = columns.map((column) => `${column} = CASE WHEN ${column} > ${now} THEN ${now} ELSE ${column} END`)
    return `UPDATE ${table} SET ${values.join()} WHERE ${name} = ${feed} AND (${columns.map((column) => `${column} > ${now}`).join(' OR ')})`
  })
  return [
    // What moves by itself was sent as of that time: its records are read again.
    `UPDATE listing SET raw = NULL, suspect_until = suspect_until - sent_at + ${now} WHERE feed = ${feed} AND sent_at > ${now}`,
    ...updates,
    `INSERT INTO ledger SELECT DISTINCT chatbot, feed, key, what, CAST(${now} AS BIGINT) FROM ledger
    WHERE feed = ${feed} AND at > ${now} ON CONFLICT DO NOTHING`,
    `DELETE FROM ledger WHERE feed = ${feed} AND at > ${now}`,
  ]
}
