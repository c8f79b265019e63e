/**
 * Tells whether the store is as this program left it, by three notes:
 * - how far it has come, noted beside it: a store that was put back from a backup, or lost its last writes, is behind that note;
 * - which file it is, noted in it: a copy is another file;
 * - when the file was last written, noted beside it: a copy may have been written over the very file.
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

/** The note beside a store. `written`: the file's time when a run left it, in nanoseconds; 0: a run may be under way. */
type Note = Omit<Progress, 'place'> & { written: bigint }

const noteOf = (file: string): string => `${file}.serial`
const progress = 'SELECT lineage, serial, place FROM meta'

/** Reads the note beside a store; null: there is none that can be read. */
export function noteBeside(file: string): Note | null {
  try {
    const found = /^([\da-f]{32}) (\d{15})(?: (\d{20}))?\n/.exec(readFileSync(noteOf(file), 'utf8'))
    return found && { lineage: found[1], serial: Number(found[2]), written: BigInt(found[3] ?? 0) }
  } catch {
    return null
  }
}

/** Whether the store is a copy, was put back from a backup, or lost its last writes. `note`: what was beside it before it was opened. */
export function isBehind(database: Database.Database, file: string, note: Note | null): boolean {
  const store = database.prepare<[], Progress>(progress).get()
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  // A store that no run has used knows nothing that could be old.
  if (store === undefined || found === undefined || store.serial === 0) return false
  if (store.place !== null && !isAt(store.place, found)) return true
  if (note === null) return false
  if (note.lineage !== store.lineage || note.serial > store.serial) return true
  return note.written !== 0n && note.written !== found.mtimeNs
}

/**
 * Whether the store's last run ended in order, and nobody has written to its file since. `note` as for `isBehind`. Later writes in
 * the log, such as an approval, do no harm: SQLite takes each whole or not at all, by check sums.
 */
export function isAsLeft(file: string, note: Note | null): boolean {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return note !== null && found !== undefined && note.written === found.mtimeNs
}

/** Gives the store another name, so that marks with its old one are another store's. */
export function renameStore(database: Database.Database): void {
  database.exec('UPDATE meta SET lineage = lower(hex(randomblob(16)))')
}

interface Found {
  dev: bigint
  ino: bigint
  birthtimeNs: bigint
  ctimeNs: bigint
}

/** Which file this is. If the file system keeps no time of birth, Node gives that of the last change, which tells nothing. */
function placeOf({ dev, ino, birthtimeNs, ctimeNs }: Found): string {
  return `${dev} ${ino} ${birthtimeNs === ctimeNs ? 0 : birthtimeNs}`
}

/** Whether a file is the noted one. A deleted file's number is soon used again, and a disk's may change when it is plugged in again. */
function isAt(place: string, { dev, ino, birthtimeNs }: Found): boolean {
  const [device, number, birth] = place.split(' ')
  return number === `${ino}` && (birth === '0' ? device === `${dev}` : birth === `${birthtimeNs}`)
}

const timeOf = (file: string): bigint => statSync(file, { bigint: true }).mtimeNs

/** Writes the note of a store. Opens it with the first write. */
function writerOf(file: string) {
  const path = noteOf(file)
  let descriptor: number | null = null
  return {
    write: ({ lineage, serial }: Pick<Progress, 'lineage' | 'serial'>, written: bigint): void => {
      try {
        descriptor ??= openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o660)
        // All notes have one length, so that each overwrites the last. A power cut may lose one: an older note does not doubt the store.
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
 * For an opening that changes a store, as when an older version's is brought up to date: its file then has another time, and must not
 * be taken for a copy. `note`: what was beside it before.
 */
export function changedInOpening(file: string, note: Note | null) {
  const wasLeft = isAsLeft(file, note)
  let isChanging = false
  return {
    /** Call it before a change. From here on the process may die. */
    begin: (): void => {
      if (isChanging || note === null || !wasLeft) return
      isChanging = true
      noteOnce(file, note, 0n)
    },
    /** Call it after the last change. */
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

/** Keeps the note of a store that is open for writing. `before`: what was beside it when it was opened. */
export function createSerial(database: Database.Database, file: string, before: Note | null) {
  const present = database.prepare<[], Progress>(progress)
  const { write, close: closeNote } = writerOf(file)
  let isUnnoticed = isBehind(database, file, before)

  return {
    /** Whether somebody has written over the file since this program opened it: between two runs no program writes to it. */
    isOverwritten(): boolean {
      const note = isUnnoticed ? null : noteBeside(file)
      // The note may still be that of a store which was lost.
      if (note === null || note.lineage !== present.get()?.lineage) return false
      return note.written !== 0n && note.written !== timeOf(file)
    },
    /** Whether the store was behind when it was opened, and no lease has noted that in it. */
    isUnnoticed: (): boolean => isUnnoticed,
    noticed: (): void => void (isUnnoticed = false),
    place: (): string => placeOf(statSync(file, { bigint: true })),
    /** Notes how far the store has come in a run under way. Throws `StoreError`. */
    keep: (): void => write(present.get()!, 0n),
    /** Notes that no run is under way any more, and the file's time. Throws `StoreError`. */
    leave: (): void => write(present.get()!, timeOf(file)),
    /** Closes the store, which may write its file once more, and keeps the note right. */
    close(closeStore: () => void): void {
      const note = noteBeside(file)
      const isAsLeft = note?.written === statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs
      closeStore()
      if (note !== null && isAsLeft) write(note, timeOf(file))
      closeNote()
    },
  }
}
