/** The right of one process to a store, kept by the operating system: it is free at once when the process dies, even by SIGKILL. */
import { closeSync, lstatSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'
import { storeError } from './failure.ts'
import { openDatabase } from '../core/sqlite.ts'

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
  const database = openDatabase(path, { timeout: patience })
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

/** Whether another connection has the lock. Leaves no trace; who asks for the lock at this very moment waits for a moment. */
export function isLocked(file: string): boolean {
  let database
  try {
    database = openDatabase(`${file}.lock`, { readonly: true, timeout: 0 })
    database.pragma('schema_version')
    return false
  } catch (error) {
    return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
  } finally {
    database?.close()
  }
}

/** Throws `StoreError` where a link is in place of the store or of a file beside it: it could be anybody's file. */
export function assertNoLinks(file: string): void {
  for (const beside of ['', '.lock', '.daemon.lock', '.serial', '-wal', '-shm']) {
    const path = file + beside
    if (!isLink(path)) continue
    throw storeError(
      path,
      'this is a symbolic link, which the store does not follow; name the file itself, or delete the link',
    )
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    // Nothing there, or not to be looked at, which opening it says better.
    return false
  }
}

/**
 * Makes an empty file that nobody but this user and, where the umask allows it, its group may use, where there is none. An existing file is not even opened: closing it
 * again would drop every POSIX lock that this process holds on it.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o660))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
