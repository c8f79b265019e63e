/** The scratch file: written in one go, read in pages, its failures in words for the person who has to put them right. */
import Database from 'better-sqlite3'
import { UserError, messageOf } from '../core/errors.ts'

/** The error to throw for what SQLite or the file system threw at `path`; a fault of the program's own stays as it is. */
export function scratchError(path: string, error: unknown): unknown {
  const isSqlite = error instanceof Database.SqliteError
  if (isSqlite && !/^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|CORRUPT)/.test(error.code)) return error
  if (!isSqlite && !(error instanceof Error && 'syscall' in error)) return error
  const isFull = isSqlite && error.code === 'SQLITE_FULL'
  const what = isFull ? 'the disk is full' : `the run's scratch file cannot be used: ${messageOf(error)}`
  return new UserError(`${path}: ${what}; free some space there or name another temporary folder`, { cause: error })
}

/** `work` as one transaction: thousands of rows cost one step of bookkeeping instead of one each. */
export function inOneGo<Values extends unknown[]>(
  database: Database.Database,
  work: (...values: Values) => void,
): (...values: Values) => void {
  const transaction = database.transaction(work)
  return (...values) => {
    try {
      transaction(...values)
    } catch (error) {
      throw scratchError(database.name, error)
    }
  }
}

/** The rows of a table in pages; `page` reads what comes after a row. While one query is open, the file takes no write. */
export function* paged<Row>(most: number, page: (last: Row | undefined) => Row[]): Generator<Row> {
  for (let rows: Row[] = []; ;) {
    rows = page(rows.at(-1))
    yield* rows
    if (rows.length < most) return
  }
}
