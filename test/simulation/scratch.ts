/** Workspaces in memory, made once and emptied for each run: the file would cost more than the run. */
import Database from 'better-sqlite3'
import { createPlan } from '../../src/workspace/changes.ts'
import { createDelivery } from '../../src/workspace/delivery.ts'
import { createShown } from '../../src/workspace/shown.ts'
import { schema } from '../../src/workspace/sqlite.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'

const made: { workspace: Workspace; empty(): void }[] = []

/** The workspace of this place, of which each can serve one run at a time. */
export function emptyWorkspace(place: number): Workspace {
  made[place] ??= make()
  made[place].empty()
  return made[place].workspace
}

function make(): { workspace: Workspace; empty(): void } {
  const database = new Database(':memory:')
  database.exec(schema)
  const workspace = {
    folder: '',
    ...createDelivery(database),
    ...createShown(database),
    ...createPlan(database),
    close: () => {},
  }
  const tables = ['delivered', 'delivered_listing', 'reject', 'change', 'bookkeeping']
  const clear = tables.map((table) => database.prepare(`DELETE FROM ${table}`))
  return {
    workspace,
    empty: database.transaction(() => {
      for (const statement of clear) statement.run()
      workspace.clearShown()
    }),
  }
}
