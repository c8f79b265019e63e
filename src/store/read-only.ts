/** Finds where a reader reads: the store itself if that leaves no trace, else a copy. */
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { assertSound, assertStore, connect } from './connection.ts'
import { isFull, storeError } from './failure.ts'
import { assertStoreFile } from './file.ts'
import { assertNoLinks, isLocked } from './lock.ts'
import { handOver, isLeft } from './formerly.ts'
import type { Formerly } from './formerly.ts'
import { migrate } from './migrations.ts'

/** An open store. `database` takes no write. */
export interface Source {
  database: Database.Database
  close(): void
}

/**
 * Opens a store for reading without changing a byte of it or of its folder. What SQLite does with a store in WAL mode
 * decides the way (tried on 3.54):
 * - No log beside it: a read-only connection leaves an empty `-wal` and a `-shm` behind; one that may write, but is told
 *   `query_only`, takes them away when it closes.
 * - A log and its index, by a process at work or a crashed one: a connection that may write would fold the log into the
 *   file when it closes; a read-only one leaves all three as they are.
 * - A log without its index, an older schema, a feed to be handed over to its new name, or a folder that this user can't
 *   write to or whose disk is full: both ways would leave a trace or fail, so a copy is read.
 *
 * `wasLeft`: the store is as a run that ended in order left it, so its pages need not be checked.
 */
export function openSource(
  file: string,
  steps: readonly string[],
  formerly: Formerly = new Map(),
  wasLeft = false,
): Source {
  assertNoLinks(file)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) {
    const database = connect(':memory:', {})
    migrate(database, steps)
    return sourceOf(database)
  }
  assertStoreFile(file)
  if (existsSync(`${file}-wal`) && !existsSync(`${file}-shm`)) return copiedSource(file, steps, formerly)
  return inPlace(file, steps, formerly, wasLeft) ?? copiedSource(file, steps, formerly)
}

function sourceOf(database: Database.Database, close: () => void = () => database.close()): Source {
  database.pragma('query_only = ON')
  return { database, close }
}

/** The store itself, open for reading; null: it can't be read without a copy. */
function inPlace(file: string, steps: readonly string[], formerly: Formerly, wasLeft: boolean): Source | null {
  let database
  try {
    database = connect(file, { readonly: existsSync(`${file}-wal`), fileMustExist: true })
    database.pragma('query_only = ON')
    if (assertStore(database, file, steps.length) === steps.length && !isLeft(database, formerly)) {
      if (!wasLeft && !isLocked(file)) assertSound(database, file)
      return sourceOf(database)
    }
  } catch (error) {
    database?.close()
    if (isUnwritable(error)) return null
    throw error
  }
  database.close()
  return null
}

/** Whether the folder takes no log and no index. */
function isUnwritable(error: unknown): boolean {
  return error instanceof Database.SqliteError && (isFull(error.code) || /^SQLITE_(CANTOPEN|READONLY)/.test(error.code))
}

function copiedSource(file: string, steps: readonly string[], formerly: Formerly): Source {
  const directory = mkdtempSync(join(tmpdir(), `listing-sync-store-${process.pid}-`))
  let database: Database.Database | null = null
  const close = (): void => {
    database?.close()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const copy = join(directory, 'store.db')
    copyStill(file, copy)
    // A copy takes over who may write to the file; an older schema is brought up to date in it.
    for (const part of [copy, `${copy}-wal`]) if (existsSync(part)) chmodSync(part, 0o600)
    database = connect(copy, { fileMustExist: true })
    assertStore(database, file, steps.length)
    assertSound(database, file)
    migrate(database, steps)
    handOver(database, formerly)
    return sourceOf(database, close)
  } catch (error) {
    close()
    throw error
  }
}

/** Copies the file and its log. Copies again if a writer began meanwhile, as the copy may be torn. */
function copyStill(file: string, copy: string): void {
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = fingerprint(file)
    copyFileSync(file, copy)
    rmSync(`${copy}-wal`, { force: true })
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
    if (fingerprint(file) === before) return
  }
  throw storeError(file, 'the store is being written to and cannot be copied for reading; try again')
}

function fingerprint(file: string): string {
  return [file, `${file}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .map((found) => (found === undefined ? 'none' : `${found.ino} ${found.size} ${found.mtimeMs}`))
    .join(', ')
}
