/** Opens the store's file. It is made whole or not at all, and updated only after a copy was made. What is no store is refused. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { codeOf, messageOf, systemReason } from '../core/errors.ts'
import { many } from '../core/text.ts'
import { assertSound, assertStore, connect } from './connection.ts'
import { storeError } from './failure.ts'
import { handOver, isLeft } from './formerly.ts'
import type { Formerly } from './formerly.ts'
import { assertNoLinks, createPrivate, hasOtherDaemon, takeLock } from './lock.ts'
import { migrate, versionOf } from './migrations.ts'
import { packAll, packedSince } from './packed.ts'

/**
 * Opens the store's file, and makes it if there is none. Brings it to the newest schema version, and every feed to its present name.
 * `changing` is called before anything in it is changed; `tell` is told what was handed over. Throws `StoreError`, and what SQLite
 * throws.
 */
export function openFile(
  file: string,
  steps: readonly string[],
  changing: () => void,
  formerly: Formerly = new Map(),
  tell: (remark: string) => void = () => undefined,
): Database.Database {
  assertNoLinks(file)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) create(file, steps)
  assertStoreFile(file)
  const database = connect(file, { fileMustExist: true })
  try {
    if (assertStore(database, file, steps.length) < steps.length) upgrade(database, file, steps, changing)
    if (steps.length >= packedSince) makeSmall(database, changing)
    if (isLeft(database, formerly))
      whileLocked(file, () => {
        changing()
        for (const { feed, from, listings } of handOver(database, formerly))
          tell(`${feed} took over ${many(listings, 'listing')} that the store had under ${from} (formerly)`)
      })
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Throws if the path leads to something that can't be a store. SQLite would take an empty file for a new database. */
export function assertStoreFile(file: string): void {
  const found = statSync(file)
  if (!found.isFile()) throw storeError(file, 'this is not a file; name a file as the store')
  if (found.size === 0)
    throw storeError(
      file,
      'the store is an empty file: what was in it is lost. Stop the daemon. Remove it with the -wal and -shm beside it. Then restore a backup, or start with a new store',
    )
}

/** Makes a folder and those above it, one by one: told to make all, Node never ends on a file system that makes none, such as /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o770 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Makes the store under another name and moves it into place whole, so that a crash leaves either no store or a good one. */
function create(file: string, steps: readonly string[]): void {
  const directory = dirname(file)
  try {
    makeFolder(directory)
  } catch (error) {
    throw storeError(file, `its folder cannot be made: ${systemReason(error) ?? messageOf(error)}`, error)
  }
  whileLocked(file, () => {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
    const unfinished = `${file}.new`
    rmSync(unfinished, { force: true })
    createPrivate(unfinished)
    const database = connect(unfinished, {})
    try {
      database.pragma('auto_vacuum = INCREMENTAL')
      migrate(database, steps)
    } finally {
      database.close()
    }
    renameSync(unfinished, file)
    flush(directory)
  })
}

/** Puts a copy of an older store beside it and brings the store up to date. */
function upgrade(database: Database.Database, file: string, steps: readonly string[], changing: () => void): void {
  whileLocked(file, () => {
    const version = versionOf(database)
    if (version >= steps.length) return
    // Between two runs it has no lease, and its next run would meet another schema.
    if (hasOtherDaemon(file))
      throw storeError(
        file,
        'it has to be brought up to date, but a daemon has it; if that is of an older version, stop it',
      )
    assertSound(database, file)
    const copy = `${file}.version-${version}`
    const unfinished = `${copy}.new`
    rmSync(unfinished, { force: true })
    createPrivate(unfinished)
    try {
      database.prepare('VACUUM INTO ?').run(unfinished)
      flush(unfinished)
      renameSync(unfinished, copy)
    } finally {
      // Half a copy would keep a full disk full, also for the earlier version.
      rmSync(unfinished, { force: true })
    }
    flush(dirname(file))
    changing()
    migrate(database, steps)
  })
}

/** Packs an older version's store and rewrites the file once, without the pages that this leaves free. */
function makeSmall(database: Database.Database, changing: () => void): void {
  packAll(database, changing)
  if (database.pragma('auto_vacuum', { simple: true }) !== 0) return
  changing()
  try {
    database.pragma('auto_vacuum = INCREMENTAL')
    database.exec('VACUUM')
  } catch (error) {
    // No room, or another process is at work: the store is sound all the same.
    if (!/^SQLITE_(FULL|BUSY|LOCKED|IOERR)/.test(codeOf(error))) throw error
  }
}

/** Keeps other processes out while the store is half made. */
function whileLocked(file: string, task: () => void): void {
  let lock
  try {
    lock = takeLock(file, 1000)
  } catch (error) {
    if (error instanceof Database.SqliteError) throw error
    throw storeError(file, `its folder cannot be written to: ${messageOf(error)}`, error)
  }
  if (lock === null)
    throw storeError(
      file,
      'the store has to be made or brought up to date, but another process holds it; stop that one',
    )
  try {
    task()
  } finally {
    lock.release()
  }
}

/** Makes sure that a file's content, or a folder's names, is on the disk. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
