/** The right of one process to a store. The operating system keeps it, and frees it when the process dies, even by SIGKILL. */
import { closeSync, lstatSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import Database from 'better-sqlite3'
import { storeError } from './failure.ts'
import { openDatabase } from '../core/sqlite.ts'

export interface Lock {
  release(): void
}

/** The lock files that this process has locked. */
const ours = new Set<string>()

/**
 * Locks `<store>.lock` until it is released; null: another process had it for longer than `patience` milliseconds. Throws what SQLite
 * throws if the lock file can't be used.
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
  const place = resolve(path)
  ours.add(place)
  return {
    release: () => {
      ours.delete(place)
      database.close()
    },
  }
}

/** Whether another connection has the lock. Leaves no trace. Whoever takes the lock at this moment has to wait a little. */
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

/** Whether another process runs a daemon on the store. */
export function hasOtherDaemon(file: string): boolean {
  return !ours.has(resolve(`${file}.daemon.lock`)) && isLocked(`${file}.daemon`)
}

/** Throws `StoreError` if the store, or a file beside it, is a link: it could lead to anybody's file. */
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
    // It does not exist, or can't be read: opening it will tell better.
    return false
  }
}

/**
 * Makes an empty file, if there is none, that only this user may use, and its group if the umask allows it. An existing file is not
 * even opened: closing it would drop every POSIX lock that this process holds on it.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o660))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
