/** The scratch file: batched writes, reads in pages, and its failures in words for whoever has to mend them. */
import Database from 'better-sqlite3'
import { dirname } from 'node:path'
import { UserError, messageOf } from '../core/errors.ts'
import { assertRoom } from '../core/room.ts'

/** The error to throw for one of SQLite or the file system at `path`. A defect of the program stays as it is. */
export function scratchError(path: string, error: unknown): unknown {
  const isSqlite = error instanceof Database.SqliteError
  if (isSqlite && !/^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|CORRUPT)/.test(error.code)) return error
  if (!isSqlite && !(error instanceof Error && 'syscall' in error)) return error
  const isFull = isSqlite && error.code === 'SQLITE_FULL'
  const what = isFull ? 'the disk is full' : `the run's scratch file cannot be used: ${messageOf(error)}`
  return new UserError(`${path}: ${what}; free some space there or name another temporary folder`, { cause: error })
}

/** How large a scratch file may become, and what it leaves free. */
export interface ScratchLimits {
  maxScratchBytes: number
  keepFree: number
}

const limits = new WeakMap<Database.Database, ScratchLimits>()

/** Limits a scratch file, from now on. */
export function limit(database: Database.Database, { maxScratchBytes, keepFree }: ScratchLimits): void {
  const pageSize = Number(database.pragma('page_size', { simple: true }))
  database.pragma(`max_page_count = ${Math.min(Math.ceil(maxScratchBytes / pageSize), 2 ** 32 - 2)}`)
  limits.set(database, { maxScratchBytes, keepFree })
}

/** `task` as one transaction: thousands of rows cost one step of bookkeeping instead of one each. */
export function inOneGo<Values extends unknown[], Result>(
  database: Database.Database,
  task: (...values: Values) => Result,
): (...values: Values) => Result {
  const transaction = database.transaction(task)
  return (...values) => {
    const { maxScratchBytes = Infinity, keepFree = null } = limits.get(database) ?? {}
    // Checked each time, as others write to the disk as well.
    if (keepFree !== null) assertRoom(dirname(database.name), 0, keepFree)
    try {
      return transaction(...values)
    } catch (error) {
      throw isAtLimit(database, error)
        ? new UserError(
            `${database.name}: the run's scratch file would be larger than maxScratchBytes, ${maxScratchBytes}`,
          )
        : scratchError(database.name, error)
    }
  }
}

/** Whether the file has reached its limit, apart from pages rolled back. A full disk gives the same error. */
function isAtLimit(database: Database.Database, error: unknown): boolean {
  if (!(error instanceof Database.SqliteError && error.code === 'SQLITE_FULL')) return false
  const pages = (name: string): number => Number(database.pragma(name, { simple: true }))
  return pages('page_count') * 2 >= pages('max_page_count')
}

/** The rows of a table in pages; `page` reads what comes after a row. While one query is open, the file takes no write. */
export function* paged<Row>(most: number, page: (last: Row | undefined) => Row[]): Generator<Row> {
  for (let rows: Row[] = []; ;) {
    rows = page(rows.at(-1))
    yield* rows
    if (rows.length < most) return
  }
}
