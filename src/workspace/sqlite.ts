/** The workspace on a SQLite file that nobody minds losing. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createPlan } from './changes.ts'
import { createDelivery } from './delivery.ts'
import { databaseName, makeFolder, removeFolder } from './folder.ts'
import { schema } from './schema.ts'
import { scratchError } from './scratch.ts'
import { createShown } from './shown.ts'
import type { Workspace } from './workspace.ts'

/**
 * A new, empty workspace in a folder of its own under `directory`, by default the system's temporary folder. Throws
 * `UserError` where it can't be made, and its methods throw that where they can't write.
 */
export function openWorkspace(directory: string = tmpdir()): Workspace {
  try {
    const folder = makeFolder(directory)
    try {
      return workspaceIn(folder)
    } catch (error) {
      removeFolder(folder)
      throw error
    }
  } catch (error) {
    throw scratchError(directory, error)
  }
}

function workspaceIn(folder: string): Workspace {
  const database = new Database(join(folder, databaseName))
  // Nothing here outlives the run, so nothing is made safe against a crash: no journal, no waiting for the disk.
  database.pragma('journal_mode = OFF')
  database.pragma('synchronous = OFF')
  database.pragma('locking_mode = EXCLUSIVE')
  // Pages, in kB (16,000 by itself): the system keeps the file's pages as well, and gives them up when it has to.
  database.pragma('cache_size = -4000')
  database.exec(schema)
  return {
    folder,
    ...createDelivery(database),
    ...createShown(database),
    ...createPlan(database),
    close() {
      database.close()
      removeFolder(folder)
    },
  }
}
