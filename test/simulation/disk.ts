/** The store under test, on a connection that the simulation holds too: it can read its bytes, and cut the power. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { connect, makeDurable } from '../../src/store/connection.ts'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { storeOn } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { chatbot } from './world.ts'

export class Disk {
  readonly store: Store
  readonly #database: Database.Database
  readonly #rows: Database.Statement<[], number>
  readonly #mark: Database.Statement<[string, string], string | null>

  /** A new store, or the one that these bytes are. */
  constructor(bytes: Buffer = emptyStore()) {
    this.#database = connect(bytes, {})
    this.store = storeOn(this.#database, ':memory:', false)
    this.#rows = this.#database.prepare<[], number>('SELECT count(*) FROM listing').pluck()
    this.#mark = this.#database
      .prepare<[string, string], string | null>('SELECT flight FROM listing WHERE chatbot = ? AND key = ?')
      .pluck()
  }

  /** Rows that it remembers listings in. */
  rows(): number {
    return this.#rows.get()!
  }

  /** Everything that is in the store, byte by byte. */
  bytes(): Buffer {
    return this.#database.serialize()
  }

  /** The call that an MLSNumber is marked with, read past the code that marks it. */
  markOf(key: string): string | null {
    return this.#mark.get(chatbot, key) ?? null
  }
}

let empty: Buffer | null = null
/** Migrated once: every history begins with a copy. */
function emptyStore(): Buffer {
  if (empty !== null) return empty
  const database = connect(':memory:', {})
  migrate(database, migrations)
  empty = database.serialize()
  database.close()
  return empty
}

let outlasts: boolean | null = null
/** Whether a commit of a store in a file outlasts a power cut: asked of the connection that the program makes durable. */
export function outlastsPowerCuts(): boolean {
  if (outlasts !== null) return outlasts
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-power-'))
  const database = connect(join(folder, 'store.db'), {})
  try {
    makeDurable(database, 'store.db')
    outlasts = database.pragma('synchronous', { simple: true }) === 2
    return outlasts
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}
