/** The right of one process to a store, kept by the operating system: it is free at once when the process dies, even by SIGKILL. */
import { closeSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'

export interface Lock {
  release(): void
}

/**
 * Locks `<store>.lock` for as long as the lock is held; null where another process has it for longer than `patience`
 * milliseconds. Throws what SQLite throws where the lock file can't be used.
 */
export function takeLock(file: string, patience: number): Lock | null {
  const path = `${file}.lock`
  createPrivate(path)
  const database = new Database(path, { timeout: patience })
  try {
    // Nothing is ever written to it, so no journal need lie beside it.
    database.pragma('journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return null
    throw error
  }
  return { release: () => database.close() }
}

/**
 * Makes an empty file that only this user may read, where there is none. An existing file is not even opened: closing it
 * again would drop every POSIX lock that this process holds on it.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
