/** Leases: one run at a time for a chatbot, one process at a time for a store. */
import { hostname } from 'node:os'
import type Database from 'better-sqlite3'
import { StoreTakenError } from '../core/errors.ts'
import { busyTimeout, column, writeFileInRuns } from './connection.ts'
import { promised } from './door.ts'
import type { Connection } from './door.ts'
import { storeError } from './failure.ts'
import { takeLock } from './lock.ts'
import { versionOf } from './migrations.ts'
import type { Lock } from './lock.ts'
import { doubtingHolds } from './holds.ts'
import { renameStore } from './serial.ts'
import type { Serial } from './serial.ts'
import type { Lease } from './store.ts'

/** The error on record of a run whose process died. */
export const endedWithoutAWord = 'its process ended without a word'

/** Records the runs under way for which an SQL condition holds as ended without a word. */
export function burial(database: Database.Database, condition: string): (values: object) => void {
  const bury = database.prepare(
    `INSERT INTO run (number, feed, chatbot, command, started_at, finished_at, result, interrupted, error, figures)
    SELECT number, feed, chatbot, command, started_at, seen_at, 'failed', 1, @error, '{}' FROM under_way WHERE ${condition}`,
  )
  const forget = database.prepare(`DELETE FROM under_way WHERE ${condition}`)
  return (values) => {
    bury.run({ ...values, error: endedWithoutAWord })
    forget.run(values)
  }
}

/** Of a store that is open, and whose file is another one by now. */
export const replaced = 'the file was moved, deleted or replaced while it was open; start the program again'

/** Milliseconds to wait for a process that only asks whether the lock is taken. */
const aMoment = 50

/** `assertInPlace` throws if the file on disk is no longer the open one. A store in memory has no `serial`. */
export function createLeases(connection: Connection, assertInPlace: () => void, serial: Serial | null) {
  const { database, file } = connection
  const holder = `process ${process.pid} on ${hostname()}`
  /** Fencing numbers by chatbot. */
  const held = new Map<string, number>()
  let lock: Lock | null = null
  const version = versionOf(database)

  const forgetDead = database.prepare('UPDATE lease SET held = 0')
  const nextToken = column<number>(database, 'SELECT coalesce(max(token), 0) + 1 FROM lease')
  const note = database.prepare(`INSERT INTO lease VALUES (@chatbot, @token, @holder, @now, 1)
    ON CONFLICT (chatbot) DO UPDATE SET token = @token, holder = @holder, since = @now, held = 1`)
  const noteRelease = database.prepare('UPDATE lease SET held = 0 WHERE chatbot = ? AND token = ?')
  const latest = database.prepare<[], { chatbot: string; holder: string; since: number }>(
    'SELECT chatbot, holder, since FROM lease WHERE held = 1 ORDER BY token DESC LIMIT 1',
  )

  const buryRuns = burial(database, 'TRUE')

  const goOn = database.prepare<[string | null]>('UPDATE meta SET serial = serial + 1, place = coalesce(?, place)')
  const doubt = database.prepare<[number]>('UPDATE feed SET lost_at = ?, last_key = NULL')
  const doubtHolds = database.prepare<{ now: number }>(doubtingHolds('@now'))
  /** The chatbot whose lease found the store behind, and is not released yet. */
  let behind: string | null = null
  /** Whether another file was found in the place of this one: for good, as the next program that opens that notes its time. */
  let isReplaced = false

  const noteLease = database.transaction(
    (chatbot: string, now: number, isFirst: boolean, isBehind: boolean): number => {
      // While this process has the lock, every other lease on record is of a process that died.
      if (isFirst) {
        forgetDead.run()
        buryRuns({})
      }
      goOn.run(serial?.place() ?? null)
      if (isBehind) {
        // What was done since is unknown, as after a loss, and so is the last delivery. Another program may go on under the old name.
        doubtHolds.run({ now })
        doubt.run(now)
        renameStore(database)
      }
      const token = nextToken.get()!
      note.run({ chatbot, token, holder, now })
      return token
    },
  )

  function holderInWords(): string {
    const row = latest.get()
    if (row === undefined) return 'another process has the store'
    return `${row.holder} has had the store since ${new Date(row.since).toISOString()}, for chatbot ${row.chatbot}`
  }

  function unlock(): void {
    // Folds the log back into the file now that the run is over, unless a reader is in the way.
    database.pragma('busy_timeout = 0')
    try {
      writeFileInRuns(database, false)
      database.pragma('wal_checkpoint(TRUNCATE)')
      serial?.leave()
    } finally {
      database.pragma(`busy_timeout = ${busyTimeout}`)
      lock?.release()
      lock = null
    }
  }

  function release(chatbot: string, token: number): void {
    if (held.get(chatbot) !== token) return
    held.delete(chatbot)
    if (behind === chatbot) behind = null
    try {
      noteRelease.run(chatbot, token)
    } finally {
      if (held.size === 0) unlock()
    }
  }

  return {
    lease(chatbot: string, now: number): Lease {
      if (held.has(chatbot))
        throw new StoreTakenError(`${file}: a run for chatbot ${chatbot} is already under way in this process`)
      assertInPlace()
      const isFirst = held.size === 0
      if (isFirst && serial !== null) {
        lock = takeLock(file, aMoment)
        if (lock === null) throw new StoreTakenError(`${file}: ${holderInWords()}; wait for it to end, or stop it`)
      }
      try {
        if (isFirst && (isReplaced ||= serial?.isOverwritten() ?? false)) {
          // SQLite has pages of the earlier file in memory, which would damage this one.
          database.pragma('query_only = ON')
          throw storeError(file, replaced)
        }
        if (versionOf(database) !== version)
          throw storeError(
            file,
            'a newer version of the program has brought it up to date while it was open; start that one in place of this',
          )
        const isBehind = isFirst && (serial?.isUnnoticed() ?? false)
        const token = noteLease.immediate(chatbot, now, isFirst, isBehind)
        serial?.keep()
        serial?.noticed()
        if (isFirst) writeFileInRuns(database, true)
        held.set(chatbot, token)
        if (isBehind) behind = chatbot
        const released = promised<Pick<Lease, 'release'>>(connection, { release: () => release(chatbot, token) })
        return { token, isBehind, ...released }
      } catch (error) {
        // The file is left as it is, unlike at the end of a lease: it would have another time than the note beside it says.
        if (isFirst) {
          lock?.release()
          lock = null
        }
        throw error
      }
    },
    // Without a lease this is for a dry run, which foretells what the next one finds.
    isBehind: (chatbot: string): boolean => behind === chatbot || (held.size === 0 && serial?.isUnnoticed() === true),
    isHeld: () => held.size > 0,
    releaseAll(): void {
      for (const [chatbot, token] of held) release(chatbot, token)
    },
  }
}
