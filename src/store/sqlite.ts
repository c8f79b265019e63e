/** The store on embedded SQLite: opened for writing or for reading, with its roles on one connection. */
import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { assertSound, connect, makeDurable, preparingLate, writeFileInRuns } from './connection.ts'
import { createChanges } from './changes.ts'
import { createDeliveries } from './deliveries.ts'
import { createGroups, promised } from './door.ts'
import type { Connection } from './door.ts'
import { inStore, storeError } from './failure.ts'
import { openFile } from './file.ts'
import { assertLocal } from './file-system.ts'
import type { KindOf } from './file-system.ts'
import type { Formerly } from './formerly.ts'
import { createHistory } from './history.ts'
import { createHolds } from './holds.ts'
import { createLearnt } from './learnt.ts'
import { createLeases, replaced } from './lease.ts'
import { createLedger } from './ledger.ts'
import { isLocked } from './lock.ts'
import { migrate, migrations } from './migrations.ts'
import { unpack } from './packed.ts'
import { openSource } from './read-only.ts'
import { createRecords } from './records.ts'
import { createRuns } from './runs.ts'
import { changedInOpening, createSerial, isAsLeft, isBehind, noteBeside } from './serial.ts'
import { createSnapshot } from './snapshot.ts'
import type { Store, StoreReader } from './store.ts'

/** Where a store may lie. */
export interface Place {
  /** Accepts a network file system all the same. */
  allowNetwork?: boolean
  kindOf?: KindOf
  /** Former names of feeds: what is kept under them belongs to the present names. */
  formerly?: Formerly
  /** Told if the place may be a network file system, and what feeds took over from their former names. */
  warn?: (remark: string) => void
}

/**
 * Opens the store for reading and writing, and makes it and its folder if there is none. ':memory:' is a store for this object
 * alone. `steps` are the schema's migrations. Throws `StoreError` if the file is no sound store of this or an earlier version, can't
 * be written, or lies on a network file system.
 */
export function openStore(file: string, steps: readonly string[] = migrations, place: Place = {}): Store {
  const isFile = file !== ':memory:'
  return inStore(file, () => {
    const remark = isFile && place.allowNetwork !== true ? assertLocal(file, place.kindOf) : null
    if (remark !== null) place.warn?.(remark)
    const note = noteBeside(file)
    const wasLeft = isFile && isAsLeft(file, note)
    const changed = changedInOpening(file, note)
    const database = isFile ? openFile(file, steps, changed.begin, place.formerly, place.warn) : connect(':memory:', {})
    try {
      if (isFile) {
        if (!wasLeft && !isLocked(file)) assertSound(database, file)
        makeDurable(database, file)
        changed.end(database)
        writeFileInRuns(database, false)
      } else migrate(database, steps)
      return storeOn(database, file, isFile, noteBeside(file))
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/**
 * Opens the store for reading only, and changes no byte of it or its folder. A missing store reads as an empty one; what a feed has
 * under a former name reads as its own. Throws `StoreError` as `openStore` does. Not for a process that also has the store open for
 * writing: making a copy, if one is needed, would drop the writer's locks.
 */
export function openStoreReader(
  file: string,
  steps: readonly string[] = migrations,
  { formerly = new Map() }: Pick<Place, 'formerly'> = {},
): StoreReader {
  return inStore(file, () => {
    // Read before the store, as a run under way writes the store first.
    const note = noteBeside(file)
    const source = openSource(file, steps, formerly, isAsLeft(file, note))
    try {
      const database = preparingLate(source.database)
      const connection = { database, file, groups: createGroups(database, file) }
      const behind = isBehind(source.database, file, note)
      return {
        ...rolesOn(
          connection,
          () => undefined,
          () => false,
        ),
        ...promised<Pick<StoreReader, 'isBehind' | 'close'>>(connection, {
          isBehind: () => behind,
          close: () => source.close(),
        }),
      }
    } catch (error) {
      source.close()
      throw error
    }
  })
}

/**
 * The store on a connection that has the schema. `close` closes that. `file` is for messages. `note`: what was beside the file before
 * it was opened.
 */
export function storeOn(
  database: Database.Database,
  file: string,
  isFile: boolean,
  note: ReturnType<typeof noteBeside> = null,
): Store {
  const opened = isFile ? statSync(file).ino : null
  // An open file that was deleted or replaced takes every write, and loses it at the end.
  const assertInPlace = (): void => {
    if (opened !== null && statSync(file, { throwIfNoEntry: false })?.ino !== opened) throw storeError(file, replaced)
  }
  const groups = createGroups(database, file)
  const connection = { database, file, groups }
  const serial = isFile ? createSerial(database, file, note) : null
  const leases = createLeases(connection, assertInPlace, serial)
  return {
    ...rolesOn(connection, () => serial?.keep(), leases.isHeld),
    ...promised<Pick<Store, 'isBehind' | 'lease' | 'close'>>(connection, {
      isBehind: (chatbot) => leases.isBehind(chatbot),
      lease: (chatbot, now) => leases.lease(chatbot, now),
      close() {
        if (!database.open) return
        groups.commit()
        try {
          leases.releaseAll()
        } finally {
          // Closing the last connection writes the log into the file and removes it.
          if (serial === null) database.close()
          else serial.close(() => database.close())
        }
      },
    }),
  }
}

type Roles = Omit<Store, 'isBehind' | 'lease' | 'close'>

/** The roles on a connection. If that takes no write, writing methods reject. `isUnderWay`: whether a run is, on this connection. */
function rolesOn(connection: Connection, begun: () => void, isUnderWay: () => boolean): Roles {
  // The roles' statements use these. SQLite's own `lower` knows no letters beyond ASCII.
  const own = { deterministic: true, directOnly: true }
  connection.database.function('unpack', own, unpack)
  connection.database.function('lower', own, (text: string | null) => text?.toLowerCase() ?? null)
  return {
    snapshot: createSnapshot(connection),
    ledger: createLedger(connection, begun),
    history: createHistory(connection),
    holds: createHolds(connection),
    runs: createRuns(connection, isUnderWay),
    deliveries: createDeliveries(connection),
    records: createRecords(connection),
    learnt: createLearnt(connection),
    changes: createChanges(connection),
  }
}
