/**
 * What a clock noted that was ahead for a while. Once it is right, a time after now is taken as now: what waits for days would
 * wait until that time and those days. Marks of calls stay as they are: none of these is looked for too early.
 */

/** By table, the columns of which the guard, or a refusal, counts the time. */
const times = { hold: ['since', 'clock', 'decided_at'], listing: ['refused_at'] }

/** Whether a run of a feed ended after now; `feed` and `now` are parameters as the store writes them, here and below. */
export const isAhead = (feed: string, now: string): string =>
  `SELECT 1 AS ahead FROM run WHERE feed = ${feed} AND finished_at > ${now} LIMIT 1`

/** Statements that put the times of a feed right. */
export function settingBack(feed: string, now: string): string[] {
  const updates = Object.entries(times).flatMap(([table, columns]) =>
    columns.map((column) => `UPDATE ${table} SET ${column} = ${now} WHERE feed = ${feed} AND ${column} > ${now}`),
  )
  return [
    ...updates,
    `INSERT INTO ledger SELECT DISTINCT chatbot, feed, key, what, CAST(${now} AS BIGINT) FROM ledger
    WHERE feed = ${feed} AND at > ${now} ON CONFLICT DO NOTHING`,
    `DELETE FROM ledger WHERE feed = ${feed} AND at > ${now}`,
  ]
}
