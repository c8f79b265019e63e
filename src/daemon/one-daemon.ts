/** Sees to it that a store has one daemon. A second one is told at once who has the store, and not only when their runs meet. */
import { lstatSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { UserError, messageOf } from '../core/errors.ts'
import { makeFolder } from '../store/file.ts'
import { takeLock } from '../store/lock.ts'
import type { Lock } from '../store/lock.ts'
import { isFresh } from '../../bin/heartbeat.mjs'

/** The note beside the store. Its text says which daemon wrote it, and the file's time when. */
const noteOf = (beside: string): string => `${beside}.alive`

export interface OneDaemon {
  /** Says that the daemon is alive. Throws what the system throws. */
  beat(now: number): void
  release(): void
}

/**
 * Takes the right to run the daemon of a store. The system frees it when the process dies. Throws `UserError` if another process has
 * it, and what the system throws if the folder can't be written to.
 */
export function beTheOne(beside: string, now: number): OneDaemon {
  makeFolder(dirname(beside))
  const lock = lockOf(beside)
  if (lock === null)
    throw new UserError(`a daemon already runs on the store ${beside}: ${holder(beside)}. Stop that one first`)
  const note = noteOf(beside)
  const whose = `process ${process.pid} on ${hostname()} since ${new Date(now).toISOString()}\n`
  return {
    beat(at) {
      if (readNote(note) !== whose) {
        // Never through a link.
        rmSync(note, { force: true })
        writeFileSync(note, whose, { flag: 'wx' })
      }
      utimesSync(note, at / 1000, at / 1000)
    },
    release: () => lock.release(),
  }
}

/** null: another process has it. SQLite does not say which file it can't use, such as one that another user's daemon has left. */
function lockOf(beside: string): Lock | null {
  try {
    return takeLock(`${beside}.daemon`, 0)
  } catch (error) {
    const what = `${beside}.daemon.lock: this user has to be able to write to the file (${messageOf(error)})`
    throw new Error(what, { cause: error })
  }
}

/** Whether the daemon of a store was seen within a minute. */
export function isAlive(beside: string, now: number): boolean {
  return isFresh(noteOf(beside), now)
}

function readNote(note: string): string | null {
  try {
    return lstatSync(note).isFile() ? readFileSync(note, 'utf8') : null
  } catch {
    return null
  }
}

function holder(beside: string): string {
  return (
    /^process \d+ on \S+ since \S+(?=\n$)/.exec(readNote(noteOf(beside)) ?? '')?.[0] ??
    'a process that has just started'
  )
}
