/**
 * Whether the store is as this program left it. What tells: how far it has come, noted beside it, so that one which was put
 * back from a backup, or lost the end of its log to bad sectors, is behind its own note; which file it is, noted in it, so that
 * a copy is told from it; when that file was last written, noted beside it, as a copy may take the place of the very file.
 */
import { closeSync, constants, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { messageOf } from '../core/errors.ts'
import { storeError } from './failure.ts'

export type Serial = ReturnType<typeof createSerial>

/** How far a store has come, which one it is, and which file it was in its last run. */
export interface Progress {
  lineage: string
  serial: number
  place: string | null
}

/** What is noted beside a store. `written`: its file's time when it was left, in nanoseconds; 0: a run may be under way. */
type Note = Omit<Progress, 'place'> & { written: bigint }

const noteOf = (file: string): string => `${file}.serial`
const progress = 'SELECT lineage, serial, place FROM meta'

/** null: nothing that can be read. */
export function noteBeside(file: string): Note | null {
  try {
    const found = /^([\da-f]{32}) (\d{15})(?: (\d{20}))?\n/.exec(readFileSync(noteOf(file), 'utf8'))
    return found && { lineage: found[1], serial: Number(found[2]), written: BigInt(found[3] ?? 0) }
  } catch {
    return null
  }
}

/** Whether the store is a copy, was put back from a backup, or lost its end; `note`: what was beside it before it was opened. */
export function isBehind(database: Database.Database, file: string, note: Note | null): boolean {
  const store = database.prepare<[], Progress>(progress).get()
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  // One in which no run ever was knows nothing that could be old.
  if (store === undefined || found === undefined || store.serial === 0) return false
  if (store.place !== null && !isAt(store.place, found)) return true
  if (note === null) return false
  if (note.lineage !== store.lineage || note.serial > store.serial) return true
  return note.written !== 0n && note.written !== found.mtimeNs
}

/**
 * Whether the store's last run ended in order, and nobody has written to its file since; `note` as for `isBehind`. What may lie in
 * its log since then, as an approval, SQLite takes whole or not at all, by check sums.
 */
export function isAsLeft(file: string, note: Note | null): boolean {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return note !== null && found !== undefined && note.written === found.mtimeNs
}

/** Gives the store another name: what went out under its old one is no longer its own. */
export function renameStore(database: Database.Database): void {
  database.exec('UPDATE meta SET lineage = lower(hex(randomblob(16)))')
}

interface Found {
  dev: bigint
  ino: bigint
  birthtimeNs: bigint
  ctimeNs: bigint
}

/** Where a file system keeps no time of birth, Node gives that of the last change, which is as good as none. */
function placeOf({ dev, ino, birthtimeNs, ctimeNs }: Found): string {
  return `${dev} ${ino} ${birthtimeNs === ctimeNs ? 0 : birthtimeNs}`
}

/** The number of a file that was deleted is soon given again, and that of a disk may change when it is plugged in again. */
function isAt(place: string, { dev, ino, birthtimeNs }: Found): boolean {
  const [device, number, birth] = place.split(' ')
  return number === `${ino}` && (birth === '0' ? device === `${dev}` : birth === `${birthtimeNs}`)
}

const timeOf = (file: string): bigint => statSync(file, { bigint: true }).mtimeNs

/** What writes the note of a store; it opens it at the first time. */
function writerOf(file: string) {
  const path = noteOf(file)
  let descriptor: number | null = null
  return {
    write: ({ lineage, serial }: Pick<Progress, 'lineage' | 'serial'>, written: bigint): void => {
      try {
        descriptor ??= openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o660)
        // Always as long, so that each note goes over the last one. A power cut may lose it, which proves nothing.
        const numbers = [serial.toString().padStart(15, '0'), written.toString().padStart(20, '0')]
        writeSync(descriptor, `${[lineage, ...numbers].join(' ')}\n`, 0)
      } catch (error) {
        throw storeError(file, `${path} beside it cannot be written: ${messageOf(error)}`, error)
      }
    },
    close: (): void => {
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}

/**
 * For an opening that changes a store, as one of a version before: whoever finds its file with another time must not take it for a
 * copy. `note`: what was beside it before.
 */
export function changedInOpening(file: string, note: Note | null) {
  const wasLeft = isAsLeft(file, note)
  let isChanging = false
  return {
    /** Before a change. From here on the process may die. */
    begin: (): void => {
      if (isChanging || note === null || !wasLeft) return
      isChanging = true
      noteOnce(file, note, 0n)
    },
    /** After all of them, with the file as it is then. */
    end: (database: Database.Database): void => {
      if (!isChanging) return
      database.pragma('wal_checkpoint(TRUNCATE)')
      noteOnce(file, note!, timeOf(file))
    },
  }
}

function noteOnce(file: string, note: Note, written: bigint): void {
  const writer = writerOf(file)
  try {
    writer.write(note, written)
  } finally {
    writer.close()
  }
}

/** The note of a store that is open for writing; `before`: what was beside it when it was opened. */
export function createSerial(database: Database.Database, file: string, before: Note | null) {
  const present = database.prepare<[], Progress>(progress)
  const { write, close: closeNote } = writerOf(file)
  let isUnnoticed = isBehind(database, file, before)

  return {
    /** Whether the store was behind when it was opened; once, as a run takes note of it. */
    takeNotice(): boolean {
      const isFound = isUnnoticed
      isUnnoticed = false
      return isFound
    },
    place: (): string => placeOf(statSync(file, { bigint: true })),
    /** Notes how far the store has come in a run under way. Throws `StoreError`. */
    keep: (): void => write(present.get()!, 0n),
    /** Notes that no run is under way any more, and the file's time. Throws `StoreError`. */
    leave: (): void => write(present.get()!, timeOf(file)),
    /** Around the closing of the store, which may write its file once more. */
    close(closeStore: () => void): void {
      const note = noteBeside(file)
      const isAsLeft = note?.written === statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs
      closeStore()
      if (note !== null && isAsLeft) write(note, timeOf(file))
      closeNote()
    },
  }
}
