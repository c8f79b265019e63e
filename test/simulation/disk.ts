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
import { chatbot, hour } from './world.ts'

export class Disk {
  readonly store: Store
  readonly #database: Database.Database
  readonly #rows: Database.Statement<unknown[], number>
  readonly #row: Database.Statement<[string, string], Remembered>
  readonly #approved: Database.Statement<unknown[], string>
  readonly #left: Database.Statement<unknown[], number>
  readonly #deleted: Database.Statement<unknown[], number>
  readonly #owned: Database.Statement<unknown[], string>
  readonly #keylessAfter: Database.Statement<unknown[], number>

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
      `SELECT part || ' ' || key FROM hold WHERE feed = ? AND decision = 'approved' AND decided_at > ?`,
    )
    this.#owned = column(this.#database, 'SELECT key FROM listing WHERE feed = ? AND owned = 1')
    this.#keylessAfter = column(
      this.#database,
      `SELECT 1 FROM feed, json_each(feed.keyless) AS record, absence WHERE name = ? AND absence.feed = ? AND absence.key = ?
        AND json_extract(record.value, '$.since') > absence.since LIMIT 1`,
    )
    this.#left = column(
      this.#database,
      "SELECT 1 FROM ledger WHERE chatbot = ? AND feed = ? AND key = ? AND at >= ? AND what IN ('delete', 'renumber', 'left')",
    )
    this.#deleted = column(
      this.#database,
      "SELECT count(DISTINCT key) FROM ledger WHERE chatbot = ? AND feed = ? AND at > ? AND what IN ('delete', 'renumber', 'left')",
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

  /** What of which MLSNumbers an approval lets through now. */
  approved(feed: string, now: number): ReadonlySet<string> {
    return new Set(this.#approved.all(feed, now - 30 * 24 * hour))
  }

  /** MLSNumbers that it remembers as confirmed. */
  owned(feed: string): string[] {
    return this.#owned.all(feed)
  }

  /** Whether a record without MLSNumber came after this listing had gone: it can't be what went (docs/holds.md). */
  cameKeylessAfter(feed: string, key: string): boolean {
    return this.#keylessAfter.get(feed, feed, key) !== undefined
  }

  /** Whether the ledger says that this listing left, at `since` or later. */
  hasLeft(feed: string, key: string, since: number): boolean {
    return this.#left.get(chatbot, feed, key, since) !== undefined
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
