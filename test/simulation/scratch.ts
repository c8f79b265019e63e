/** Workspaces in memory, made once for a history and emptied for each run: the file would cost more than the run. */
import Database from 'better-sqlite3'
import { createPlan } from '../../src/workspace/changes.ts'
import { createDelivery } from '../../src/workspace/delivery.ts'
import { createJoined } from '../../src/workspace/joined.ts'
import { createShown } from '../../src/workspace/shown.ts'
import { schema } from '../../src/workspace/sqlite.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'

interface Made {
  database: Database.Database
  shown: ReturnType<typeof createShown>
  clear: () => void
}

const tables = ['joined', 'delivered', 'delivered_listing', 'reject', 'change', 'bookkeeping']

export class Scratch {
  readonly #made: (Made | undefined)[] = []

  /** The workspace of this place, empty. It serves one run at a time. `room`: pages that the disk has left, in a new one. */
  workspace(place = 0, room: number | null = null): Workspace {
    const { database, shown, clear } = room === null ? (this.#made[place] ??= make()) : this.#small(room)
    clear()
    // Anew for each run: it holds in memory which rows of the snapshot were delivered.
    const delivery = createDelivery(database)
    const plan = createPlan(database, delivery)
    return { folder: '', ...delivery, ...createJoined(database), ...shown, ...plan, close: () => {} }
  }

  #small(room: number): Made {
    const made = make(512)
    this.#made[7]?.database.close()
    this.#made[7] = made
    const pages = Number(made.database.pragma('page_count', { simple: true }))
    made.database.pragma(`max_page_count = ${pages + room}`)
    return made
  }

  close(): void {
    for (const made of this.#made.splice(0)) made?.database.close()
  }
}

function make(pageSize = 4096): Made {
  const database = new Database(':memory:')
  database.pragma(`page_size = ${pageSize}`)
  database.exec(schema)
  const shown = createShown(database)
  const statements = tables.map((table) => database.prepare(`DELETE FROM ${table}`))
  const clear = database.transaction(() => {
    for (const statement of statements) statement.run()
    shown.clearShown()
  })
  return { database, shown, clear }
}
