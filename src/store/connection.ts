/** One connection to a store, with every pragma that the promises rest on. */
import type Database from 'better-sqlite3'
import { openDatabase } from '../core/sqlite.ts'
import { applicationId, versionOf } from './migrations.ts'
import { damaged, storeError, tampered } from './failure.ts'

/** Milliseconds to wait for another process that is writing; it blocks the event loop. */
export const busyTimeout = 5000

/** `path` may be a database's bytes, for one in memory. Throws what SQLite throws: the callers put it in words. */
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
 * Refuses what is not a store, one that a later version of this program has written, and one with a trigger, a view or a
 * virtual table (without a root page): no version makes any, and they would run with the program's own statements. Gives
 * its version.
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
 * Reads through the pages; SQLite throws or answers with rows where they are not sound. That takes seconds where there are a million
 * listings: not for a store as it was left, nor while a run is under way, whose process did this before it.
 */
export function assertSound(database: Database.Database, file: string): void {
  const answer = String(database.pragma('quick_check(1)', { simple: true }))
  if (answer !== 'ok') throw storeError(file, damaged(answer.slice(answer.lastIndexOf('\n') + 1)))
}

/** Turns on what makes a commit survive a power cut, reads it back, and bounds the cache of pages. */
export function makeDurable(database: Database.Database, file: string): void {
  // In kB (16,000 by itself): the system keeps the file's pages as well, and gives them up when it has to. Not where a store
  // is only read: asked for there, SQLite no longer refused a table whose check calls a function.
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
 * Whether SQLite writes its log to the file once much has come together there: while a run is under way. At rest the file keeps the time
 * that was noted of it, however much is approved; its end, or the next run, writes it.
 */
export function writeFileInRuns(database: Database.Database, isUnderWay: boolean): void {
  database.pragma(`wal_autocheckpoint = ${isUnderWay ? 1000 : 0}`)
}

/**
 * The connection for what only reads: a statement is prepared at its first use, as a reader uses few of a hundred. Not for what
 * writes: a store that lacks what a statement names has to show before a run, not within.
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
