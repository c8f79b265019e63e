/**
 * The store under test, on a connection that the simulation holds too: it can read its bytes, and cut the power. What the
 * invariants are judged by is read past the code that writes it, and at once, as calls arrive.
 */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import type { Delivered } from '../../src/core/listing.ts'
import { connect, makeDurable } from '../../src/store/connection.ts'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { unpack } from '../../src/store/packed.ts'
import { storeOn } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { chatbot } from './world.ts'
import { hour } from './time.ts'

type Value = string | number

/** Makes a disk of a backup, with the note beside it if there is one. */
export type PutBack = (withNote: boolean) => Disk

/** A store, and what is asked of it past its code; what a store of another kind says otherwise is its own. */
export abstract class Disk {
  abstract readonly store: Store

  /** Rows of a statement, at once. */
  protected abstract all<Row>(sql: string, ...values: Value[]): Row[]

  /** Everything that is in the store, byte by byte. */
  abstract bytes(): Buffer

  /** A process that had it is dead: what it had not committed is gone, and its leases are free. */
  abstract outlive(): Promise<void>

  /** Closes the store; what only this held is gone. */
  abstract close(): Promise<void>

  /** Left out: its bytes are its backup. The store must be at rest. */
  backUp?(): Promise<PutBack>

  /** Whether a record without MLSNumber came after this listing had gone: it can't be what went (docs/guard.md). */
  abstract cameKeylessAfter(feed: string, key: string): boolean

  /** Rows that it remembers listings in. */
  rows(): number {
    return this.all<{ rows: number }>('SELECT count(*) AS rows FROM listing')[0].rows
  }

  /** What is remembered of an MLSNumber; null: nothing. `flight`: the call that it is marked with. */
  row(key: string): Remembered | null {
    const [row] = this.all<Remembered>(
      'SELECT feed, flight, baseline, suspect_until AS "suspectUntil" FROM listing WHERE chatbot = $1 AND key = $2',
      chatbot,
      key,
    )
    return row ?? null
  }

  /** What of which MLSNumbers an approval lets through now. */
  approved(feed: string, now: number): ReadonlySet<string> {
    const rows = this.all<{ what: string }>(
      `SELECT part || ' ' || key AS what FROM hold WHERE feed = $1 AND decision = 'approved' AND decided_at > $2`,
      feed,
      now - 30 * 24 * hour,
    )
    return new Set(rows.map(({ what }) => what))
  }

  /** What is held, as `approved` has it. */
  held(feed: string): ReadonlySet<string> {
    const rows = this.all<{ what: string }>(`SELECT part || ' ' || key AS what FROM hold WHERE feed = $1`, feed)
    return new Set(rows.map(({ what }) => what))
  }

  /** MLSNumbers that it remembers as confirmed. */
  owned(feed: string): string[] {
    return this.all<{ key: string }>('SELECT key FROM listing WHERE feed = $1 AND owned', feed).map(({ key }) => key)
  }

  /** MLSNumbers of which it can't know whether a create of a feed was carried out. */
  maybeCreated(feed: string): string[] {
    return this.all<{ key: string }>(`SELECT key FROM listing WHERE feed = $1 AND flight = 'create'`, feed).map(
      ({ key }) => key,
    )
  }

  /**
   * What deltas of a feed said, no run has carried out and the next one plans, by MLSNumber: not what a person is asked about, or
   * approved no later than `approvedSince`.
   */
  pending(feed: string, approvedSince: number): Map<string, Delivered[]> {
    const rows = this.all<{ key: string; delivered: string | Uint8Array }>(
      `SELECT key, delivered FROM pending WHERE feed = $1 AND NOT EXISTS (SELECT 1 FROM hold
        WHERE hold.feed = pending.feed AND hold.key = pending.key AND rules LIKE '%older%'
          AND (decision IS DISTINCT FROM 'approved' OR decided_at <= $2))`,
      feed,
      approvedSince,
    )
    return new Map(rows.map(({ key, delivered }) => [key, JSON.parse(unpack(delivered)) as Delivered[]]))
  }

  /** Feeds of which a run was good. */
  known(): ReadonlySet<string> {
    const rows = this.all<{ feed: string }>(`SELECT DISTINCT feed FROM run WHERE result <> 'failed'`)
    return new Set(rows.map(({ feed }) => feed))
  }

  /** Whether the ledger says that this listing left, at `since` or later. */
  hasLeft(feed: string, key: string, since: number): boolean {
    const left = this.all(
      `SELECT 1 FROM ledger WHERE chatbot = $1 AND feed = $2 AND key = $3 AND at >= $4 AND what IN ('delete', 'renumber', 'left')`,
      chatbot,
      feed,
      key,
      since,
    )
    return left.length > 0
  }

  /** MLSNumbers in the ledger after `since`. */
  deletedSince(feed: string, since: number): number {
    return this.all<{ keys: number }>(
      `SELECT count(DISTINCT key) AS keys FROM ledger
      WHERE chatbot = $1 AND feed = $2 AND at > $3 AND what IN ('delete', 'renumber', 'left')`,
      chatbot,
      feed,
      since,
    )[0].keys
  }
}

export class SqliteDisk extends Disk {
  readonly store: Store
  readonly #database: Database.Database
  readonly #statements = new Map<string, Database.Statement>()

  /** A store in memory of these bytes, or in a file that has them already. */
  constructor(place: Buffer | string = emptyStore(1)) {
    super()
    const file = typeof place === 'string' ? place : null
    this.#database = connect(place, {})
    if (file !== null) {
      makeDurable(this.#database, file)
      // Whether a commit outlasts a power cut is asked elsewhere, and waiting for the disk would take most of the time.
      this.#database.pragma('synchronous = OFF')
    }
    this.store = storeOn(this.#database, file ?? ':memory:', file !== null)
  }

  protected all<Row>(sql: string, ...values: Value[]): Row[] {
    let statement = this.#statements.get(sql)
    if (statement === undefined)
      this.#statements.set(sql, (statement = this.#database.prepare(sql.replaceAll(/\$\d/g, '?'))))
    return statement.all(...values) as Row[]
  }

  bytes(): Buffer {
    return this.#database.serialize()
  }

  /** What was committed is there, and a lock ends with its process. */
  outlive(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return this.store.close()
  }

  cameKeylessAfter(feed: string, key: string): boolean {
    const came = this.all(
      `SELECT 1 FROM feed, json_each(feed.keyless) AS record, absence WHERE name = $1 AND absence.feed = name AND absence.key = $2
        AND json_extract(record.value, '$.since') > absence.since LIMIT 1`,
      feed,
      key,
    )
    return came.length > 0
  }
}

/** Where stores lie that backups are made of: in a folder of their own, in memory where the system has that. */
export class Shelf {
  readonly #folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'listing-sync-store-'))
  readonly #file = join(this.#folder, 'store.db')

  /** The store of these bytes; what lay there before must be closed. */
  open(bytes: Buffer): SqliteDisk {
    writeFileSync(`${this.#file}.new`, bytes)
    for (const beside of ['-wal', '-shm']) rmSync(this.#file + beside, { force: true })
    renameSync(`${this.#file}.new`, this.#file)
    return new SqliteDisk(this.#file)
  }

  /** Gives what puts it back, with the note that lay beside it, or with the one that lies there by then. */
  backUp(store: Buffer): PutBack {
    const noteFile = `${this.#file}.serial`
    const note = existsSync(noteFile) ? readFileSync(noteFile) : null
    return (withNote) => {
      if (withNote && note !== null) writeFileSync(noteFile, note)
      return this.open(store)
    }
  }

  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

interface Remembered {
  feed: string
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
