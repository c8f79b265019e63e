/** The folder of one workspace: made anew, removed at the end, or by a later run if the process died first. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openDatabase } from '../core/sqlite.ts'

const prefix = 'listing-sync-run-'
export const databaseName = 'workspace.db'

/** Folders that this process uses. Its process number does not tell: in a container the process before may have had the same. */
const inUse = new Set<string>()

/** Where runs have their scratch files. */
export const temporaryFolder = (): string => tmpdir()

/** Makes a folder in `directory`, after removing those of dead processes. */
export function makeFolder(directory: string): string {
  // Not recursive: below some folders of the kernel, such as /proc, Node would try to make the ones above for ever.
  if (!existsSync(directory)) mkdirSync(directory)
  sweep(directory)
  const folder = mkdtempSync(join(directory, `${prefix}${process.pid}-`))
  inUse.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  inUse.delete(folder)
  rmSync(folder, { recursive: true, force: true })
}

function sweep(directory: string): void {
  for (const name of readdirSync(directory)) {
    const process = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    const folder = join(directory, name)
    if (process === undefined || inUse.has(folder) || isAlive(Number(process)) || isLocked(folder)) continue
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // Another user's leftovers are not ours to remove, and no reason not to run.
    }
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

/** Whether a process uses it that can't be seen from here, as in another container with the same volume. */
function isLocked(folder: string): boolean {
  try {
    const database = openDatabase(join(folder, databaseName), { fileMustExist: true, timeout: 0 })
    try {
      database.exec('BEGIN EXCLUSIVE')
      return false
    } finally {
      database.close()
    }
  } catch (error) {
    return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
  }
}
