/** Writing what is remembered of a feed's past: runs, deliveries, what is held and approved, what was learnt. */
import type Database from 'better-sqlite3'
import { ledgerKept } from './listings.ts'
import type { Store, StoreReader, StartsWriter } from './store.ts'

type RecordMethods = Pick<
  Store,
  | 'noteAbsences'
  | 'pruneAbsences'
  | 'recordRun'
  | 'recordVerified'
  | 'recordDelivery'
  | 'recordGeneration'
  | 'recordLost'
  | 'reportEcho'
  | 'replaceHeld'
  | 'approve'
  | 'revoke'
  | 'consumeApproval'
  | 'learn'
>

/** Runs kept per feed (fault-model F141). */
const runsKept = 1000
/** Deliveries kept per feed: the guard takes the median of five. */
const deliveriesKept = 5
/** Different deliveries known again: of a feed that comes every half hour, those of most of a day. */
const generationsKept = 30
/** Approvals stay on record for 90 days. */
const approvalsKept = 90 * 86_400_000

export function createRecords(database: Database.Database): RecordMethods {
  const noteFeed = database.prepare('INSERT OR IGNORE INTO feed (name) VALUES (?)')

  const addRun = database.prepare(`INSERT INTO run
    (feed, chatbot, command, started_at, finished_at, result, interrupted, error, figures)
    VALUES (@feed, @chatbot, @command, @startedAt, @finishedAt, @result, @interrupted, @error, @figures)`)
  const pruneRuns = database.prepare(`DELETE FROM run WHERE feed = @feed AND number <=
    (SELECT number FROM run WHERE feed = @feed ORDER BY number DESC LIMIT 1 OFFSET ${runsKept})`)
  const noteEnd = database.prepare('UPDATE feed SET first_run = coalesce(first_run, @finishedAt) WHERE name = @feed')
  const noteSuccess = database.prepare('UPDATE feed SET last_success = @finishedAt WHERE name = @feed')
  const pruneLedger = database.prepare('DELETE FROM delete_ledger WHERE at < ?')
  const recordRun: Store['recordRun'] = (run) => {
    noteFeed.run(run.feed)
    addRun.run({ ...run, interrupted: run.interrupted ? 1 : 0 })
    pruneRuns.run({ feed: run.feed })
    const succeeded = run.result === 'ok' || run.result === 'held' || run.result === 'partial'
    if (succeeded) {
      // A run that failed may not have seen the service, whose marks tell that an earlier store was lost.
      noteEnd.run({ feed: run.feed, finishedAt: run.finishedAt })
      noteSuccess.run({ feed: run.feed, finishedAt: run.finishedAt })
    }
    pruneLedger.run(run.finishedAt - ledgerKept)
  }

  const addVerified = database.prepare(
    `UPDATE run SET figures = json_set(figures, '$.verified', json(?)) WHERE feed = ? AND started_at = ?`,
  )
  const recordVerified: Store['recordVerified'] = (feed, startedAt, verified) => {
    addVerified.run(JSON.stringify(verified), feed, startedAt)
  }

  const dropKeys = database.prepare('UPDATE delivery SET keys = NULL WHERE feed = ? AND keys IS NOT NULL')
  const forgetDeliveries = database.prepare('DELETE FROM delivery WHERE feed = ?')
  const addDelivery = database.prepare('INSERT INTO delivery (feed, at, records, keys) VALUES (?, ?, ?, ?)')
  const pruneDeliveries = database.prepare(`DELETE FROM delivery WHERE feed = @feed AND number <=
    (SELECT number FROM delivery WHERE feed = @feed ORDER BY number DESC LIMIT 1 OFFSET ${deliveriesKept})`)
  const setValidators = database.prepare('UPDATE feed SET validators = ? WHERE name = ?')
  const recordDelivery: Store['recordDelivery'] = (feed, delivery, validators) => {
    noteFeed.run(feed)
    if (delivery !== null) {
      const { at, records, keys, alone } = delivery
      if (alone) forgetDeliveries.run(feed)
      dropKeys.run(feed)
      addDelivery.run(feed, at, records, Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength))
      pruneDeliveries.run({ feed })
    }
    setValidators.run(JSON.stringify(validators), feed)
  }

  const nextGeneration = database
    .prepare<[string], number>('SELECT coalesce(max(number), 0) + 1 FROM generation WHERE feed = ?')
    .pluck()
  const dropOthers = database.prepare('DELETE FROM generation WHERE feed = ? AND source <> ?')
  const addGeneration = database.prepare('INSERT OR REPLACE INTO generation VALUES (?, ?, ?, ?, ?, ?, ?)')
  const pruneGenerations = database.prepare('DELETE FROM generation WHERE feed = ? AND number <= ?')
  const recordGeneration: Store['recordGeneration'] = (feed, source, { digest, at, written }) => {
    const number = nextGeneration.get(feed)!
    // Times of another server, or of another sender's program, are no measure.
    dropOthers.run(feed, source)
    addGeneration.run(feed, source, digest, number, at, written?.by ?? null, written?.at ?? null)
    pruneGenerations.run(feed, number - generationsKept)
  }

  const setLost = database.prepare('UPDATE feed SET lost_at = ? WHERE name = ?')
  const recordLost: Store['recordLost'] = (feed, at) => {
    noteFeed.run(feed)
    setLost.run(at, feed)
  }

  const reportedFields = database.prepare<[string], string>('SELECT echo_reported FROM feed WHERE name = ?').pluck()
  const setReported = database.prepare('UPDATE feed SET echo_reported = ? WHERE name = ?')
  const reportEcho: Store['reportEcho'] = (feed, fields) => {
    noteFeed.run(feed)
    const before: string[] = JSON.parse(reportedFields.get(feed) ?? '[]')
    setReported.run(JSON.stringify([...new Set([...before, ...fields])]), feed)
  }

  const doubtHeld = database.prepare('UPDATE held SET current = 0 WHERE feed = ?')
  const hold = database.prepare(`INSERT INTO held (feed, key, kind, why, since) VALUES (@feed, @key, @kind, @why, @now)
    ON CONFLICT (feed, key) DO UPDATE SET kind = @kind, why = @why, current = 1`)
  const dropHeld = database.prepare('DELETE FROM held WHERE feed = ? AND current = 0')
  const replaceHeld: Store['replaceHeld'] = (feed, held, now) => {
    doubtHeld.run(feed)
    for (const { mlsNumber, kind, why } of held) hold.run({ feed, key: mlsNumber, kind, why, now })
    dropHeld.run(feed)
  }

  // "Exactly the changes held now": what an earlier approval allowed and nobody used is allowed no longer.
  const withdraw = database.prepare(
    'DELETE FROM approval WHERE feed = ? AND ((used = 0 AND revoked_at IS NULL) OR at < ?)',
  )
  const allow = database.prepare(`INSERT OR REPLACE INTO approval (feed, kind, key, approved_by, at, expires)
    SELECT feed, kind, key, @by, @now, @expires FROM held WHERE feed = @feed AND kind IS NOT NULL`)
  const approve: Store['approve'] = (feed, by, now, expires) => {
    withdraw.run(feed, now - approvalsKept)
    return allow.run({ feed, by, now, expires }).changes
  }

  const takeBack = database.prepare(`UPDATE approval SET revoked_by = @by, revoked_at = @now
    WHERE feed = @feed AND used = 0 AND revoked_at IS NULL AND expires > @now`)
  const revoke: Store['revoke'] = (feed, by, now) => takeBack.run({ feed, by, now }).changes

  const use = database.prepare('UPDATE approval SET used = 1 WHERE feed = ? AND kind = ? AND key = ?')
  const consumeApproval: Store['consumeApproval'] = (feed, kind, mlsNumbers) => {
    for (const mlsNumber of mlsNumbers) use.run(feed, kind, mlsNumber)
  }

  const noteAbsence = database.prepare(`INSERT INTO absence (feed, chatbot, key, runs, since, noted)
    VALUES (@feed, @chatbot, @key, 1, @now, @now)
    ON CONFLICT (feed, chatbot, key) DO UPDATE SET runs = runs + 1, noted = @now`)
  const endAbsence = database.prepare('DELETE FROM absence WHERE feed = ? AND chatbot = ? AND key = ?')
  const noteAbsences: Store['noteAbsences'] = (feed, chatbot, { absent, returned }, now) => {
    for (const key of absent) noteAbsence.run({ feed, chatbot, key, now })
    for (const key of returned) endAbsence.run(feed, chatbot, key)
  }

  const endAbsences = database.prepare('DELETE FROM absence WHERE feed = ? AND (chatbot <> ? OR noted <> ?)')
  const pruneAbsences: Store['pruneAbsences'] = (feed, chatbot, now) => {
    endAbsences.run(feed, chatbot, now)
  }

  const setLearnt = database.prepare('INSERT OR REPLACE INTO learnt VALUES (?, ?, ?)')
  const learn: Store['learn'] = (chatbot, name, value) => {
    setLearnt.run(chatbot, name, value)
  }

  return {
    noteAbsences,
    pruneAbsences,
    recordRun,
    recordVerified,
    recordDelivery,
    recordGeneration,
    recordLost,
    reportEcho,
    replaceHeld,
    approve,
    revoke,
    consumeApproval,
    learn,
  }
}

/** How often in a row a daemon on this store was started and ended without a word. */

export function createStartsReader(database: Database.Database): Pick<StoreReader, 'starts'> {
  const read = database.prepare<[], { times: number; at: number }>('SELECT times, at FROM start')
  return { starts: () => read.get() ?? { times: 0, at: 0 } }
}

export function createStartsWriter(database: Database.Database): StartsWriter {
  const note = database
    .prepare<[number], number>(
      `INSERT INTO start VALUES (1, 1, ?) ON CONFLICT (one) DO UPDATE SET times = times + 1, at = excluded.at
      RETURNING times`,
    )
    .pluck()
  const forget = database.prepare('UPDATE start SET times = 0')
  return {
    noteStart: (now) => note.get(now)! - 1,
    noteSteady() {
      forget.run()
    },
  }
}
