/** What SQLite throws, in words for whoever has to mend it. */
import Database from 'better-sqlite3'
import { StoreAwayError, StoreError, codeOf, messageOf } from '../core/errors.ts'

/** Whether a result code means a full disk. The second one: the log's index can't grow, which is the first thing that it refuses. */
export const isFull = (code: string): boolean => code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE'

/** The sentence for a result code; null: the fault is the program's own and not the store's. */
function sentence(code: string, message: string): string | null {
  if (isFull(code)) return 'the disk is full and this step was not written; free some space and run again'
  if (code.startsWith('SQLITE_READONLY'))
    return 'the store is read-only; give this user the right to write to the file and its folder'
  if (code.startsWith('SQLITE_IOERR'))
    return `the disk refused a read or a write (${code}); nothing of this step was kept. Check the volume and its limits`
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return 'another process has kept the store locked for more than five seconds; is it open in a shell?'
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB')
    return damaged(code === 'SQLITE_NOTADB' ? 'it is not a SQLite database' : message)
  // SQLite has no code of its own for a function in a schema that `trusted_schema` forbids.
  if (message.startsWith('unsafe use of ')) return tampered(message)
  if (code.startsWith('SQLITE_CANTOPEN'))
    return 'the store cannot be opened; the file and its folder must exist and be readable and writable for this user'
  if (code === 'SQLITE_PERM' || code === 'SQLITE_AUTH') return 'this user may not use the store'
  return null
}

/** What is wrong with a damaged file, and what to do. It is never replaced without being asked. */
export function damaged(what: string): string {
  return `the store is damaged: ${what}. Stop the daemon. Move the file aside, with the -wal and -shm beside it: they would damage a backup. Then restore a backup, or start with a new store: listings marked as a feed's are then found again on the service`
}

/** The same of a store that another program has written to. */
export function tampered(what: string): string {
  return `the store was changed by another program: ${what}. Nothing of it was run. Stop the daemon. Move the file aside, with the -wal and -shm beside it. Then restore a backup, or start with a new store`
}

export function storeError(file: string, what: string, cause?: unknown): StoreError {
  return new StoreError(`${file}: ${what}`, { cause })
}

/** Runs `task` and turns what SQLite and the system throw into a `StoreError`. Everything else passes as it is. */
export function inStore<Result>(file: string, task: () => Result): Result {
  try {
    return task()
  } catch (error) {
    throw asStoreError(file, error)
  }
}

/** What SQLite or the system has thrown, as a `StoreError`; everything else as it is. */
export function asStoreError(file: string, error: unknown): unknown {
  if (error instanceof Error && 'syscall' in error) return storeError(file, refusal(file, error), error)
  if (!(error instanceof Database.SqliteError)) return error
  const what = sentence(error.code, error.message)
  if (what === null) return error
  // With room it is there again.
  return isFull(error.code) ? new StoreAwayError(`${file}: ${what}`, { cause: error }) : storeError(file, what, error)
}

/** The sentence for an error of the system, about the store's own file or a copy of it in the temporary folder. */
function refusal(file: string, error: Error): string {
  const isForbidden = ['EACCES', 'EPERM'].includes(codeOf(error))
  return isForbidden && 'path' in error && [file, `${file}-wal`].includes(String(error.path))
    ? 'this user may not read the store; give it the right to read the file and its folder'
    : `the store cannot be used: ${messageOf(error)}`
}
