/** The service's list items in the workspace. */
import type Database from 'better-sqlite3'
import type { Shown } from '../core/listing.ts'
import type { ShownRow } from '../plan/inputs.ts'
import { inOneGo } from './failure.ts'
import type { Workspace } from './workspace.ts'

type ShownMethods = Pick<Workspace, 'addShown' | 'clearShown' | 'shown' | 'shownAs'>

const pageRows = 1000

export function createShown(database: Database.Database): ShownMethods {
  // The service may show one MLSNumber twice (service-unknowns U3): the number tells the items apart.
  let last = 0
  const add = database.prepare('INSERT INTO shown VALUES (?, ?, ?, ?)')
  const addItem = database.prepare('INSERT INTO shown_item VALUES (?, ?)')
  const addShown = inOneGo(database, (rows: Parameters<Workspace['addShown']>[0]): void => {
    for (const { shown, keep } of rows) {
      last++
      add.run(shown.mlsNumber, last, shown.hash, shown.owner)
      if (keep) addItem.run(last, JSON.stringify(shown))
    }
  })

  const clearShown = inOneGo(database, (): void => {
    database.exec('DELETE FROM shown; DELETE FROM shown_item')
    last = 0
  })

  const itemAt = database.prepare<[number], string>('SELECT item FROM shown_item WHERE number = ?').pluck()
  function readItem(number: number): Shown | null {
    const item = itemAt.get(number)
    return item === undefined ? null : JSON.parse(item)
  }

  const page = database.prepare<[string, number], StoredShown>(
    `SELECT key, number, hash, owner FROM shown WHERE (key, number) > (?, ?) ORDER BY key, number LIMIT ${pageRows}`,
  )
  function* shown(): Generator<ShownRow> {
    for (let key = '', number = 0; ;) {
      const rows = page.all(key, number)
      for (const row of rows)
        yield { key: row.key, hash: row.hash, owner: row.owner, shown: () => readItem(row.number) }
      if (rows.length < pageRows) return
      ;({ key, number } = rows[rows.length - 1])
    }
  }

  const hashesOf = database.prepare<[string], { hash: string }>('SELECT hash FROM shown WHERE key = ?')

  return { addShown, clearShown, shown, shownAs: (key) => hashesOf.all(key) }
}

interface StoredShown {
  key: string
  number: number
  hash: string
  owner: string | null
}
