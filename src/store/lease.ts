/** Leases: one run at a time for a chatbot, one process at a time for a store (fault-model F74). */
import { hostname } from 'node:os'
import type Database from 'better-sqlite3'
import { inStore, storeError } from './failure.ts'
import { busyTimeout } from './connection.ts'
import { takeLock } from './lock.ts'
import type { Lock } from './lock.ts'
import type { Serial } from './serial.ts'
import type { Lease } from './store.ts'

export interface Leases {
  lease(chatbot: string, now: number): Lease
  releaseAll(): void
}

export interface LeaseParts {
  /** null for a store in memory, which no other process sees. */
  file: string | null
  /** Throws where the file on disk is no longer the one that is open. */
  assertInPlace: () => void
  serial: Serial | null
}

export function createLeases(database: Database.Database, { file, assertInPlace, serial }: LeaseParts): Leases {
  const name = file ?? ':memory:'
  const holder = `process ${process.pid} on ${hostname()}`
  const held = new Map<string, Lease>()
  let lock: Lock | null = null

  const forgetDead = database.prepare('UPDATE lease SET held = 0')
  const nextToken = database.prepare<[], number>('SELECT coalesce(max(token), 0) + 1 FROM lease').pluck()
  const note = database.prepare(`INSERT INTO lease VALUES (@chatbot, @token, @holder, @now, 1)
    ON CONFLICT (chatbot) DO UPDATE SET token = @token, holder = @holder, since = @now, held = 1`)
  const noteRelease = database.prepare('UPDATE lease SET held = 0 WHERE chatbot = ? AND token = ?')
  const latest = database.prepare<[], { chatbot: string; holder: string; since: number }>(
    'SELECT chatbot, holder, since FROM lease WHERE held = 1 ORDER BY token DESC LIMIT 1',
  )

  const goOn = database.prepare<[number]>('UPDATE meta SET serial = max(serial, ?) + 1')
  const doubt = database.prepare<[number]>('UPDATE feed SET lost_at = ?')

  const noteLease = database.transaction(
    (chatbot: string, now: number, isFirst: boolean, ahead: number | null): number => {
      // With the lock in hand, every lease still noted is one of a process that died.
      if (isFirst) forgetDead.run()
      goOn.run(ahead ?? 0)
      // What was done since is as unknown as where the store was lost.
      if (ahead !== null) doubt.run(now)
      const token = nextToken.get() ?? 1
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
    lock?.release()
    lock = null
    // Folds the log back into the file now that the run is over (F76), unless a reader is in the way.
    database.pragma('busy_timeout = 0')
    try {
      database.pragma('wal_checkpoint(TRUNCATE)')
    } finally {
      database.pragma(`busy_timeout = ${busyTimeout}`)
    }
  }

  function lease(chatbot: string, now: number): Lease {
    if (held.has(chatbot)) throw storeError(name, `a run for chatbot ${chatbot} is already under way in this process`)
    assertInPlace()
    const isFirst = held.size === 0
    if (isFirst && file !== null) {
      lock = takeLock(file, 0)
      if (lock === null) throw storeError(file, `${holderInWords()}; wait for it to end, or stop it`)
    }
    try {
      const ahead = isFirst && serial !== null ? serial.ahead() : null
      const token = noteLease.immediate(chatbot, now, isFirst, ahead)
      serial?.keep()
      const lease: Lease = {
        token,
        isBehind: ahead !== null,
        release: () => inStore(name, () => release(chatbot, token)),
      }
      held.set(chatbot, lease)
      return lease
    } catch (error) {
      if (isFirst) unlock()
      throw error
    }
  }

  function release(chatbot: string, token: number): void {
    if (held.get(chatbot)?.token !== token) return
    held.delete(chatbot)
    try {
      noteRelease.run(chatbot, token)
    } finally {
      if (held.size === 0) unlock()
    }
  }

  return {
    lease,
    releaseAll() {
      for (const lease of held.values()) lease.release()
    },
  }
}
