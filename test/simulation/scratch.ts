/** Workspaces in memory, made once for a history and emptied for each run: the file would cost more than the run. */
import Database from 'better-sqlite3'
import { createPlan } from '../../src/workspace/changes.ts'
import { createDelivery } from '../../src/workspace/delivery.ts'
import { createShown } from '../../src/workspace/shown.ts'
import { schema } from '../../src/workspace/sqlite.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'

interface Made {
  database: Database.Database
  shown: ReturnType<typeof createShown>
  clear: () => void
}

const tables = ['delivered', 'delivered_listing', 'reject', 'change', 'bookkeeping']

export class Scratch {
  readonly #made: Made[] = []

  /** The workspace of this place, empty. It serves one run at a time. */
  workspace(place = 0): Workspace {
    const { database, shown, clear } = (this.#made[place] ??= make())
    clear()
    // Anew for each run: it holds in memory which rows of the snapshot were delivered.
    const delivery = createDelivery(database)
    return { folder: '', ...delivery, ...shown, ...createPlan(database, delivery.isSeen), close: () => {} }
  }

  close(): void {
    for (const { database } of this.#made.splice(0)) database.close()
  }
}

function make(): Made {
  const database = new Database(':memory:')
  database.exec(schema)
  const shown = createShown(database)
  const statements = tables.map((table) => database.prepare(`DELETE FROM ${table}`))
  const clear = database.transaction(() => {
    for (const statement of statements) statement.run()
    shown.clearShown()
  })
  return { database, shown, clear }
}
