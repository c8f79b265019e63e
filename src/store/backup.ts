/** A whole copy of the store while it is in use. */
import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { UserError, codeOf, messageOf, systemReason } from '../core/errors.ts'
import { connect } from './connection.ts'
import { inStore } from './failure.ts'
import { migrations } from './migrations.ts'
import { openSource } from './read-only.ts'

/**
 * Writes a whole copy of a store as of one moment to a new file. A run under way goes on meanwhile. If the copy is put back, the
 * next run finds that out. Throws `UserError` if there is no store, or if the file exists or can't be written; `StoreError` if the
 * store can't be read.
 */
export function backUp(store: string, to: string): void {
  inStore(store, () => {
    if (statSync(store, { throwIfNoEntry: false }) === undefined)
      throw new UserError(`there is no store at ${store} to back up`)
    const source = openSource(store, migrations)
    let isOurs = false
    try {
      // Readable by this user alone, and never through a link or over another file.
      closeSync(openSync(to, 'wx', 0o600))
      isOurs = true
      source.database.pragma('query_only = OFF')
      source.database.prepare('VACUUM INTO ?').run(to)
      endStart(to)
      const written = openSync(to, 'r+')
      fsyncSync(written)
      closeSync(written)
    } catch (error) {
      if (isOurs) rmSync(to, { force: true })
      if (codeOf(error) === 'EEXIST')
        throw new UserError(`${to} is there already: name a new file, or remove that one first`)
      throw new UserError(`the backup can't be written to ${to}: ${systemReason(error) ?? messageOf(error)}`)
    } finally {
      source.close()
    }
  })
}

/** A daemon that runs while it is copied has not ended: put back, the copy would count its start as a crash. */
function endStart(copy: string): void {
  const database = connect(copy, { fileMustExist: true })
  try {
    const has = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'start'").get() !== undefined
    if (has) database.exec('DELETE FROM start')
  } finally {
    database.close()
  }
}
