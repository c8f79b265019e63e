/**
 * The store under test, on a connection that the simulation holds too: it can read its bytes, and cut the power. What the
 * invariants are judged by is read past the code that writes it, and at once, as calls arrive.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { column, connect, makeDurable } from '../../src/store/connection.ts'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { storeOn } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { chatbot } from './world.ts'

export class Disk {
  readonly store: Store
  readonly #database: Database.Database
  readonly #rows: Database.Statement<unknown[], number>
  readonly #row: Database.Statement<[string, string], Remembered>
  readonly #approved: Database.Statement<unknown[], string>
  readonly #deleted: Database.Statement<unknown[], number>

  /** A new store, or the one that these bytes are. */
  constructor(bytes: Buffer = emptyStore()) {
    this.#database = connect(bytes, {})
    this.store = storeOn(this.#database, ':memory:', false)
    this.#rows = column(this.#database, 'SELECT count(*) FROM listing')
    this.#row = this.#database.prepare(
      'SELECT flight, baseline, suspect_until AS suspectUntil FROM listing WHERE chatbot = ? AND key = ?',
    )
    this.#approved = column(
      this.#database,
      `SELECT kind || ' ' || key FROM approval WHERE feed = ? AND expires > ? AND used = 0 AND revoked_at IS NULL`,
    )
    this.#deleted = column(
      this.#database,
      'SELECT count(DISTINCT key) FROM delete_ledger WHERE chatbot = ? AND feed = ? AND at > ?',
    )
  }

  /** Rows that it remembers listings in. */
  rows(): number {
    return this.#rows.get()!
  }

  /** Everything that is in the store, byte by byte. */
  bytes(): Buffer {
    return this.#database.serialize()
  }

  /** What is remembered of an MLSNumber; null: nothing. `flight`: the call that it is marked with. */
  row(key: string): Remembered | null {
    return this.#row.get(chatbot, key) ?? null
  }

  /** Kinds and MLSNumbers that an approval lets through now. */
  approved(feed: string, now: number): ReadonlySet<string> {
    return new Set(this.#approved.all(feed, now))
  }

  /** MLSNumbers in the ledger after `since`. */
  deletedSince(feed: string, since: number): number {
    return this.#deleted.get(chatbot, feed, since)!
  }
}

interface Remembered {
  flight: string | null
  baseline: string | null
  suspectUntil: number | null
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
