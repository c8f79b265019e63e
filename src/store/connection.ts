/** One connection to a store, with every pragma that its promises rest on. */
import type Database from 'better-sqlite3'
import { openDatabase } from '../core/sqlite.ts'
import { applicationId, versionOf } from './migrations.ts'
import { damaged, storeError, tampered } from './failure.ts'

/** Milliseconds to wait for another process that is writing; it blocks the event loop. */
export const busyTimeout = 5000

/** Opens a connection. `path` may be a database's bytes, for one in memory. Throws what SQLite throws; callers put it in words. */
export function connect(
  path: string | Buffer,
  options: Pick<Database.Options, 'readonly' | 'fileMustExist'>,
): Database.Database {
  const database = openDatabase(path, { ...options, timeout: busyTimeout })
  database.pragma('foreign_keys = ON')
  return database
}

/** A statement whose rows are one value each. */
export function column<Value>(database: Database.Database, sql: string): Database.Statement<unknown[], Value> {
  return database.prepare<unknown[], Value>(sql).pluck()
}

/**
 * Gives the store's version. Throws for what is not a store, or was written by a later version of this program; also for one with a
 * trigger, a view or a virtual table (no root page): no version makes any, and they would run with the program's own statements.
 */
export function assertStore(database: Database.Database, file: string, known: number): number {
  if (database.pragma('application_id', { simple: true }) !== applicationId)
    throw storeError(file, 'this is a SQLite database, but not a store of listing-sync; name another file as the store')
  const version = versionOf(database)
  if (version > known)
    throw storeError(
      file,
      `the store has schema version ${version}, but this program knows versions up to ${known}; run the newer program, or put back the backup made before it`,
    )
  const strange = column<string>(
    database,
    "SELECT type || ' ' || name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR rootpage = 0",
  ).get()
  if (strange !== undefined) throw storeError(file, tampered(`it has a ${strange}`))
  return version
}

/**
 * Reads through all pages, and throws if they are not sound. That takes seconds for a million listings, so it is left out for a store
 * as a run left it, and while a run is under way, whose process has done it.
 */
export function assertSound(database: Database.Database, file: string): void {
  const answer = String(database.pragma('quick_check(1)', { simple: true }))
  if (answer !== 'ok') throw storeError(file, damaged(answer.slice(answer.lastIndexOf('\n') + 1)))
}

/** Turns on what makes a commit survive a power cut, reads it back, and bounds the cache of pages. */
export function makeDurable(database: Database.Database, file: string): void {
  // kB of pages (SQLite's default: 16,000). The system caches the file as well, and frees that memory when it has to. Not set for
  // readers: with it, SQLite no longer refused a table whose check calls a function.
  database.pragma('cache_size = -8000')
  const mode = String(database.pragma('journal_mode = WAL', { simple: true }))
  if (mode !== 'wal') throw storeError(file, `the file system gives journal mode ${mode} where the store needs WAL`)
  database.pragma('synchronous = FULL')
  if (database.pragma('synchronous', { simple: true }) !== 2)
    throw storeError(file, 'SQLite does not accept synchronous=FULL; a crash could undo what was noted')
  // After a large transaction the log goes back to this size, in bytes.
  database.pragma(`journal_size_limit = ${2 ** 26}`)
  // Takes the write lock once, so that a read-only file or folder shows now and not in the middle of a run.
  database.exec('BEGIN IMMEDIATE; COMMIT')
}

/**
 * Lets SQLite write its log to the file by itself during a run only. At rest the file keeps the time that was noted of it, however
 * much is approved. Closing the store, or the next run, writes the log.
 */
export function writeFileInRuns(database: Database.Database, isUnderWay: boolean): void {
  database.pragma(`wal_autocheckpoint = ${isUnderWay ? 1000 : 0}`)
}

/**
 * The connection for readers: each statement is prepared at its first use, as a reader uses few of a hundred. Not for writers: that
 * a store lacks what a statement names must show before a run, not during one.
 */
export function preparingLate(database: Database.Database): Database.Database {
  const prepare = (sql: string): LateStatement => late(() => database.prepare(sql))
  return new Proxy(database, {
    get(target, name) {
      if (name === 'prepare') return prepare
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

type LateStatement = Pick<Database.Statement, 'get' | 'all' | 'run' | 'iterate'> &
  Record<'pluck' | 'raw', () => LateStatement>

function late(make: () => Database.Statement): LateStatement {
  let made: Database.Statement | null = null
  const statement = (): Database.Statement => (made ??= make())
  return {
    pluck: () => late(() => statement().pluck()),
    raw: () => late(() => statement().raw()),
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
    run: (...values) => statement().run(...values),
    iterate: (...values) => statement().iterate(...values),
  }
}
