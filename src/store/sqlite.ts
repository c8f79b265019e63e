/** The store on embedded SQLite: opening for writing and for reading. */
import { statSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { assertSound, connect, makeDurable } from './connection.ts'
import { eachMethod, inStore, storeError, withStoreErrors } from './failure.ts'
import { openFile } from './file.ts'
import { createLeases } from './lease.ts'
import { createListings } from './listings.ts'
import { migrate, migrations } from './migrations.ts'
import { placeOf } from './place.ts'
import type { KindOf } from './place.ts'
import { openSource } from './read-only.ts'
import { createReader } from './reader.ts'
import { createRecords, createStartsWriter } from './records.ts'
import { aheadOf, createSerial, noteBeside } from './serial.ts'
import { createSettingsWriter } from './settings.ts'
import type { Store, StoreReader } from './store.ts'

/** Where a store may lie. */
export interface Place {
  /** A network file system is taken all the same. */
  allowNetwork?: boolean
  kindOf?: KindOf
  /** Is told of a place that may be a network file system. */
  warn?: (remark: string) => void
}

/**
 * Opens the store for reading and writing and makes it, with its folder, where there is none; ':memory:' is a store for
 * this object alone. `steps` are the schema's migrations. Throws `StoreError` where the file is no sound store of this or
 * an earlier version, can't be written, or lies on a network file system.
 */
export function openStore(file: string, steps: readonly string[] = migrations, place: Place = {}): Store {
  const isFile = file !== ':memory:'
  return inStore(file, () => {
    const remark = isFile && place.allowNetwork !== true ? placeOf(file, place.kindOf) : null
    if (remark !== null) place.warn?.(remark)
    const database = isFile ? openFile(file, steps) : connect(':memory:', {})
    try {
      if (isFile) {
        assertSound(database, file)
        makeDurable(database, file)
      } else migrate(database, steps)
      return storeOn(database, file, isFile)
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/**
 * Opens the store for reading only and leaves every byte of it, and its folder, as they are. A missing store reads as an
 * empty one. Throws `StoreError` as `openStore` does. Not for a process that has the store open for writing as well: where
 * it has to read a copy, making that would drop the locks which the writer holds.
 */
export function openStoreReader(file: string, steps: readonly string[] = migrations): StoreReader {
  return inStore(file, () => {
    // Before the store is read: a run under way writes the store first.
    const note = noteBeside(file)
    const source = openSource(file, steps)
    try {
      const isBehind = aheadOf(source.database, note) !== null
      const reader = createReader(source.database, file, isBehind)
      return withStoreErrors(file, { ...reader, close: () => source.close() })
    } catch (error) {
      source.close()
      throw error
    }
  })
}

/**
 * The store on a connection that has the schema, which it closes in the end; `file` is for messages. Where it is no file,
 * there is nothing to be in its place.
 */
export function storeOn(database: Database.Database, file: string, isFile: boolean): Store {
  const opened = isFile ? statSync(file).ino : null
  // A deleted or replaced file takes every write and loses it at the end (fault-model F68).
  const assertInPlace = (): void => {
    if (opened !== null && statSync(file, { throwIfNoEntry: false })?.ino !== opened)
      throw storeError(file, 'the file was moved, deleted or replaced while it was open; start the program again')
  }
  const serial = isFile ? createSerial(database, file) : null
  const leases = createLeases(database, { file: isFile ? file : null, assertInPlace, serial })
  const reader = createReader(database, file)
  const writer = inTransactions(database, {
    ...createListings(database),
    ...createRecords(database),
    ...createSettingsWriter(database),
    ...createStartsWriter(database),
  })
  return withStoreErrors(file, {
    ...reader,
    ...writer,
    markInFlight(...values: Parameters<Store['markInFlight']>) {
      writer.markInFlight(...values)
      serial?.keep()
    },
    lease: (chatbot: string, now: number) => leases.lease(chatbot, now),
    close() {
      if (!database.open) return
      try {
        leases.releaseAll()
      } finally {
        serial?.close()
        // Closing the last connection folds the log into the file and removes it.
        database.close()
      }
    },
  })
}

/** The same methods, each as one transaction that takes the write lock at once. */
function inTransactions<Methods extends object>(database: Database.Database, methods: Methods): Methods {
  return eachMethod(methods, (method) => {
    const transaction = database.transaction(method)
    return (...values) => transaction.immediate(...values)
  })
}
