/**
 * How far the store has come, noted beside it: a store that is behind its own note was put back from a backup, or lost the
 * end of its log to bad sectors, which SQLite drops without a word.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { messageOf } from '../core/errors.ts'
import { storeError } from './failure.ts'

export type Serial = ReturnType<typeof createSerial>

/** How far a store has come, and which one it is. */
export interface Progress {
  lineage: string
  serial: number
}

const noteOf = (file: string): string => `${file}.serial`
const progress = 'SELECT lineage, serial FROM meta'

/** What is noted beside a store; null: nothing that can be read. */
export function noteBeside(file: string): Progress | null {
  try {
    const found = /^([\da-f]{32}) (\d{15})\n/.exec(readFileSync(noteOf(file), 'utf8'))
    return found === null ? null : { lineage: found[1], serial: Number(found[2]) }
  } catch {
    return null
  }
}

/** The note's number where it is of this very store and the store is behind it; else null. */
export function aheadOf(database: Database.Database, note: Progress | null): number | null {
  const store = database.prepare<[], Progress>(progress).get()
  return note !== null && note.lineage === store?.lineage && note.serial > store.serial ? note.serial : null
}

/** The note of a store that is open for writing. */
export function createSerial(database: Database.Database, file: string) {
  const path = noteOf(file)
  const present = database.prepare<[], Progress>(progress)
  let descriptor: number | null = null

  return {
    ahead: (): number | null => aheadOf(database, noteBeside(file)),
    /** Notes how far the store has come. Throws `StoreError`. */
    keep(): void {
      const { lineage, serial } = present.get()!
      try {
        descriptor ??= openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
        // Always as long, so that each note goes over the last one. A power cut may lose it, which proves nothing.
        writeSync(descriptor, `${lineage} ${String(serial).padStart(15, '0')}\n`, 0)
      } catch (error) {
        throw storeError(file, `${path} beside it cannot be written: ${messageOf(error)}`, error)
      }
    },
    close(): void {
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}
