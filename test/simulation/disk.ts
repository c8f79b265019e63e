/**
 * The store under test, on a connection that the simulation holds too: it can read its bytes, and cut the power. What the
 * invariants are judged by is read past the code that writes it, and at once, as calls arrive.
 */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import type { Delivered } from '../../src/core/listing.ts'
import { column, connect, makeDurable } from '../../src/store/connection.ts'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { storeOn } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { chatbot } from './world.ts'
import { hour } from './time.ts'

export class Disk {
  readonly store: Store
  readonly #database: Database.Database
  readonly #rows: Database.Statement<unknown[], number>
  readonly #row: Database.Statement<[string, string], Remembered>
  readonly #approved: Database.Statement<unknown[], string>
  readonly #left: Database.Statement<unknown[], number>
  readonly #deleted: Database.Statement<unknown[], number>
  readonly #good: Database.Statement<unknown[], string>
  readonly #owned: Database.Statement<unknown[], string>
  readonly #keylessAfter: Database.Statement<unknown[], number>
  readonly #pending: Database.Statement<[string], { key: string; delivered: string }>

  /** A store in memory of these bytes, or in a file that has them already. */
  constructor(place: Buffer | string = emptyStore(1)) {
    const file = typeof place === 'string' ? place : null
    this.#database = connect(place, {})
    if (file !== null) {
      makeDurable(this.#database, file)
      // Whether a commit outlasts a power cut is asked elsewhere, and waiting for the disk would take most of the time.
      this.#database.pragma('synchronous = OFF')
    }
    this.store = storeOn(this.#database, file ?? ':memory:', file !== null)
    this.#rows = column(this.#database, 'SELECT count(*) FROM listing')
    this.#row = this.#database.prepare(
      'SELECT flight, baseline, suspect_until AS suspectUntil FROM listing WHERE chatbot = ? AND key = ?',
    )
    this.#approved = column(
      this.#database,
      `SELECT part || ' ' || key FROM hold WHERE feed = ? AND decision = 'approved' AND decided_at > ?`,
    )
    this.#good = column(this.#database, `SELECT DISTINCT feed FROM run WHERE result <> 'failed'`)
    this.#owned = column(this.#database, 'SELECT key FROM listing WHERE feed = ? AND owned = 1')
    this.#keylessAfter = column(
      this.#database,
      `SELECT 1 FROM feed, json_each(feed.keyless) AS record, absence WHERE name = ? AND absence.feed = ? AND absence.key = ?
        AND json_extract(record.value, '$.since') > absence.since LIMIT 1`,
    )
    this.#pending = this.#database.prepare('SELECT key, delivered FROM pending WHERE feed = ?')
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

  /** What deltas of a feed said and no run has carried out, by MLSNumber. */
  pending(feed: string): Map<string, Delivered[]> {
    const rows = this.#pending.all(feed)
    return new Map(rows.map(({ key, delivered }) => [key, JSON.parse(delivered) as Delivered[]]))
  }

  /** Feeds of which a run was good. */
  known(): ReadonlySet<string> {
    return new Set(this.#good.all())
  }

  /** Whether a record without MLSNumber came after this listing had gone: it can't be what went (docs/guard.md). */
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

/** Where stores lie that backups are made of: in a folder of their own, in memory where the system has that. */
export class Shelf {
  readonly #folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'listing-sync-store-'))
  readonly #file = join(this.#folder, 'store.db')
  readonly #backups: { store: Buffer; note: Buffer | null }[] = []

  /** The store of these bytes; what lay there before must be closed. */
  open(bytes: Buffer): Disk {
    writeFileSync(`${this.#file}.new`, bytes)
    for (const beside of ['-wal', '-shm']) rmSync(this.#file + beside, { force: true })
    renameSync(`${this.#file}.new`, this.#file)
    return new Disk(this.#file)
  }

  /** Gives its number. */
  backUp(store: Buffer): number {
    const note = `${this.#file}.serial`
    return this.#backups.push({ store, note: existsSync(note) ? readFileSync(note) : null }) - 1
  }

  get backups(): number {
    return this.#backups.length
  }

  /** A backup put back, with the note that lay beside it, or with the one that lies there now. */
  putBack(number: number, withNote: boolean): Disk {
    const { store, note } = this.#backups[number]
    if (withNote && note !== null) writeFileSync(`${this.#file}.serial`, note)
    return this.open(store)
  }

  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

interface Remembered {
  flight: string | null
  baseline: string | null
  suspectUntil: number | null
}

const empty = new Map<number, Buffer>()
/** Migrated once: histories begin with a copy. Each store of a history has its own number, and so a name that no chance gives. */
export function emptyStore(number: number): Buffer {
  const known = empty.get(number)
  if (known !== undefined) return known
  const database = connect(':memory:', {})
  migrate(database, migrations)
  database.prepare('UPDATE meta SET lineage = ?').run(number.toString(16).padStart(8, '0').padEnd(32, '0'))
  const bytes = database.serialize()
  empty.set(number, bytes)
  database.close()
  return bytes
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
