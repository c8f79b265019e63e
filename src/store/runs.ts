/** Runs on SQLite: table `run` has the last ones of each feed, `feed` what outlasts them, `start` the daemon's starts. */
import { hostname } from 'node:os'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Stamp } from '../core/mark.ts'
import { changesPruning } from './changes.ts'
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import { ledgerPruning } from './ledger.ts'
import { giveBack } from './packed.ts'
import { doubtingHolds } from './holds.ts'
import { burial } from './lease.ts'
import { renameStore } from './serial.ts'
import { isAhead, isWrong, settingBack, settingForward, wasBehind } from './set-back.ts'
import type { NumberedRun, Runs, RunsReader, RunUnderWay, Verified } from './store.ts'

type RunRow = Omit<NumberedRun, 'interrupted'> & { interrupted: number }

const host = hostname()
export const runsKept = 1000
/** How many reports of each feed are kept. Their size is limited where they are made. */
export const reportsKept = 30

/** `isUnderWay`: whether a run is under way on this connection. Its lease is then the latest; else the next run is still to come. */
export function createRuns(connection: Connection, isUnderWay: () => boolean): Runs {
  const { database } = connection
  // Eight digits are enough to tell a few stores apart.
  const stampOf = database.prepare<[number], Stamp>(
    'SELECT substr(lineage, 1, 8) AS store, coalesce((SELECT max(token) FROM lease), 0) + ? AS run FROM meta',
  )
  const stamp = (): Stamp => stampOf.get(isUnderWay() ? 0 : 1)!
  const feeds = column<string>(database, 'SELECT name FROM feed ORDER BY name')
  const columns = `number, feed, chatbot, command, started_at AS startedAt, finished_at AS finishedAt, result, interrupted,
    error, figures`
  const latest = database.prepare<[string | null, number], RunRow>(
    `SELECT ${columns} FROM run WHERE feed = coalesce(?, feed) ORDER BY number DESC LIMIT ?`,
  )
  const last = database.prepare<[string], RunRow>(
    `SELECT ${columns} FROM run WHERE feed = ? ORDER BY number DESC LIMIT 1`,
  )
  const numbered = database.prepare<[number], RunRow>(`SELECT ${columns} FROM run WHERE number = ?`)
  const underWay = database.prepare<[string], RunUnderWay>(
    `SELECT feed, number, chatbot, command, started_at AS startedAt, seen_at AS seenAt, process, host, progress
    FROM under_way WHERE feed = ?`,
  )
  const runOf = (row: RunRow | undefined): NumberedRun | null =>
    row === undefined ? null : { ...row, interrupted: row.interrupted === 1 }
  const report = column<Buffer>(database, 'SELECT body FROM report WHERE run = ?')
  const addReport = database.prepare('INSERT OR REPLACE INTO report (run, feed, body) VALUES (?, ?, ?)')
  const pruneReports = database.prepare(`DELETE FROM report WHERE feed = @feed AND run <=
    (SELECT run FROM report WHERE feed = @feed ORDER BY run DESC LIMIT 1 OFFSET ${reportsKept})`)
  const nextNumber = column<number>(
    database,
    `SELECT 1 + max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'run'), 0),
      coalesce((SELECT max(number) FROM under_way), 0))`,
  )
  const begin = database.prepare(`INSERT OR REPLACE INTO under_way
    (feed, number, chatbot, command, started_at, seen_at, process, host, progress)
    VALUES (@feed, @number, @chatbot, @command, @startedAt, @startedAt, @process, @host, NULL)`)
  const ahead = database.prepare<[{ feed: string; now: number }]>(isAhead('@feed', '@now'))
  const setBack = settingBack('@feed', '@now').map((sql) => database.prepare(sql))
  const behind = database.prepare<[{ feed: string; now: number }], object>(wasBehind('@feed', '@now'))
  const setForward = settingForward('@feed', '@from', '@until', '@now').map((sql) => database.prepare(sql))
  /** Corrects what a wrong clock noted (`set-back.ts`). */
  const mendTimes = (feed: string, at: number): void => {
    // A millisecond earlier, so as not to look like what this run notes.
    const before = { feed, now: at - 1 }
    const wrong = behind.get(before)
    if (wrong !== undefined) for (const statement of setForward) statement.run({ ...before, ...wrong })
    if (ahead.get(before) !== undefined) for (const statement of setBack) statement.run(before)
  }
  const wrongClock = database.prepare<[{ feed: string; now: number }]>(isWrong('@feed', '@now'))
  const noteProgress = database.prepare('UPDATE under_way SET progress = ?, seen_at = ? WHERE feed = ?')
  const end = column<number>(
    database,
    'DELETE FROM under_way WHERE feed = ? AND process = ? AND host = ? RETURNING number',
  )
  const success = column<number | null>(database, 'SELECT last_success FROM feed WHERE name = ?')
  const filled = column<string>(
    database,
    `SELECT chatbot FROM run WHERE feed = ? AND result <> 'failed' ORDER BY number DESC LIMIT 1`,
  )
  const lost = column<number | null>(database, 'SELECT lost_at FROM feed WHERE name = ?')
  const lastLost = column<number | null>(database, 'SELECT max(lost_at) FROM feed')
  const notified = column<string | null>(database, 'SELECT told FROM feed WHERE name = ?')
  // The first version did not note whether a delivery was accepted, but whether it was complete.
  const accepted = column<number | null>(
    database,
    `SELECT started_at FROM run WHERE feed = ? AND (result <> 'failed' OR NOT ?) AND
      coalesce(json_extract(figures, '$.accepted'), result <> 'failed' AND json_extract(figures, '$.delivery.complete'))
    ORDER BY number DESC LIMIT 1`,
  )
  const verified = database.prepare<[string], { at: number; figures: string }>(
    `SELECT finished_at AS at, json_extract(figures, '$.verified') AS figures FROM run
    WHERE feed = ? AND json_extract(figures, '$.verified.asked') > 0 ORDER BY number DESC LIMIT 1`,
  )
  const starts = database.prepare<[], { times: number; at: number }>('SELECT times, at FROM start')
  const add = database.prepare(`INSERT INTO run
    (number, feed, chatbot, command, started_at, finished_at, result, interrupted, error, figures)
    VALUES (@number, @feed, @chatbot, @command, @startedAt, @finishedAt, @result, @interrupted, @error, @figures)`)
  const prune = database.prepare(`DELETE FROM run WHERE feed = @feed AND number <=
    (SELECT number FROM run WHERE feed = @feed ORDER BY number DESC LIMIT 1 OFFSET ${runsKept})`)
  // Also for a feed that only ever failed: a lease that finds the store behind notes that in the row of each feed.
  const noteFeed = database.prepare(`INSERT INTO feed (name, last_success) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET last_success = coalesce(excluded.last_success, last_success)`)
  const pruneLedger = ledgerPruning(database)
  const pruneChanges = changesPruning(database)
  const addSettled = column<number>(
    database,
    `UPDATE run SET result = @result, figures = json_set(figures, '$.unsettled', @unsettled)
    WHERE feed = @feed AND started_at = @startedAt RETURNING number`,
  )
  const addVerified = database.prepare(
    `UPDATE run SET figures = json_set(figures, '$.verified', json(?)) WHERE feed = ? AND started_at = ?`,
  )
  const doubtHolds = database.prepare<{ now: number }>(doubtingHolds('@now'))
  const noteLost = database.prepare(`INSERT INTO feed (name, lost_at) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET lost_at = excluded.lost_at`)
  const noteTold = database.prepare(`INSERT INTO feed (name, told) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET told = excluded.told`)
  const noteStart = column<number>(
    database,
    'INSERT INTO start VALUES (1, 1, ?) ON CONFLICT (one) DO UPDATE SET times = times + 1, at = excluded.at RETURNING times',
  )
  // In a container each daemon has the number of the one before it, so that nobody could see that this one is dead.
  const buryNamesakes = burial(database, 'process = @process AND host = @host')
  const forgetStarts = database.prepare('UPDATE start SET times = 0')
  return {
    ...promised<RunsReader>(connection, {
      stamp,
      feeds: () => feeds.all(),
      last: (feed) => runOf(last.get(feed)),
      latest: (feed, most) => latest.all(feed, most).map((row) => runOf(row)!),
      numbered: (number) => runOf(numbered.get(number)),
      report(number) {
        const body = report.get(number)
        return body === undefined ? null : gunzipSync(body).toString('utf8')
      },
      underWay: (feed) => underWay.get(feed) ?? null,
      lastSuccess: (feed) => success.get(feed) ?? null,
      lastFilled: (feed) => filled.get(feed) ?? null,
      lastAccepted: (feed, succeeded = false) => accepted.get(feed, succeeded ? 1 : 0) ?? null,
      lastVerified(feed) {
        const row = verified.get(feed)
        return row === undefined ? null : { ...(JSON.parse(row.figures) as Omit<Verified, 'at'>), at: row.at }
      },
      notified: (feed) => notified.get(feed) ?? null,
      lostAt: (feed) => (feed === null ? lastLost.get() : lost.get(feed)) ?? null,
      hadWrongClock: (feed, now) => wrongClock.get({ feed, now }) !== undefined,
      starts: () => starts.get() ?? { times: 0, at: 0 },
    }),
    ...inTransactions<Writes<Runs, RunsReader>>(connection, {
      begin(run) {
        const number = nextNumber.get()!
        mendTimes(run.feed, run.startedAt)
        begin.run({ ...run, number, process: process.pid, host })
        return number
      },
      noteProgress: (feed, progress, now) => void noteProgress.run(progress, now, feed),
      record({ report: reportText, ...run }) {
        const { feed, result, finishedAt } = run
        // A run that failed before it began, or without the lease, has no number yet.
        const begun = end.get(feed, process.pid, host)
        if (begun === undefined && result === 'failed') mendTimes(feed, finishedAt)
        const number = begun ?? nextNumber.get()!
        add.run({ ...run, number, interrupted: run.interrupted ? 1 : 0 })
        if (reportText !== undefined) addReport.run(number, feed, gzipSync(reportText))
        pruneReports.run({ feed })
        prune.run({ feed })
        // A run that failed may not have seen the service, whose marks tell that an earlier store was lost.
        const succeeded = result === 'ok' || result === 'held' || result === 'partial'
        noteFeed.run(feed, succeeded ? finishedAt : null)
        pruneLedger(finishedAt)
        pruneChanges(finishedAt)
        giveBack(database)
      },
      recordVerified: (feed, startedAt, verified) => void addVerified.run(JSON.stringify(verified), feed, startedAt),
      recordSettled(feed, startedAt, { report: reportText, ...settled }) {
        const number = addSettled.get({ feed, startedAt, ...settled })
        if (number !== undefined) addReport.run(number, feed, gzipSync(reportText))
      },
      recordLost: (feed, at) => void noteLost.run(feed, at),
      noteTold: (feed, text) => void noteTold.run(feed, text),
      renew(name, now) {
        if (stamp().store === name) {
          renameStore(database)
          doubtHolds.run({ now })
        }
        return stamp()
      },
      noteStart(now) {
        buryNamesakes({ process: process.pid, host })
        return noteStart.get(now)! - 1
      },
      noteSteady: () => void forgetStarts.run(),
    }),
  }
}
