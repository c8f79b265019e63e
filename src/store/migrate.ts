/** Copies a whole store to a new one of another kind, and proves by count and hash of every table that the copy is whole. */
import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { UserError } from '../core/errors.ts'
import { column, connect } from './connection.ts'
import { asStoreError, inStore, storeError } from './failure.ts'
import { assertLocal } from './file-system.ts'
import { makeFolder } from './file.ts'
import { createPrivate, takeLock } from './lock.ts'
import { migrate, migrations } from './migrations.ts'
import { pack, unpack } from './packed.ts'
import { openPostgresDoor } from './postgres.ts'
import { jsonOf } from './postgres/door.ts'
import type { Asker } from './postgres/door.ts'
import { placeOf } from './postgres/failure.ts'
import { here } from './postgres/lease.ts'
import { lookedFor } from './postgres/snapshot.ts'
import { openSource } from './read-only.ts'
import { isBehind, noteBeside } from './serial.ts'

/** Every table that both kinds have, with its key, in an order in which rows can be written. Leases are not copied. */
const tables: readonly [name: string, key: readonly string[]][] = [
  ['payload', ['id']],
  ['listing', ['chatbot', 'key']],
  ['ledger', ['chatbot', 'feed', 'key', 'what', 'at']],
  ['absence', ['feed', 'chatbot', 'key']],
  ['hold', ['feed', 'key', 'part']],
  ['hold_event', ['number']],
  ['feed', ['name']],
  ['pending', ['feed', 'key']],
  ['run', ['number']],
  ['under_way', ['feed']],
  ['report', ['run']],
  ['home_event', ['number']],
  ['learnt', ['chatbot', 'name']],
  ['keys_used', ['chatbot', 'feed']],
  ['setting', ['chatbot', 'name']],
  ['setting_change', ['number']],
  ['writer', ['chatbot', 'feed', 'store']],
  ['start', ['one']],
  ['source', ['feed']],
  ['source_record', ['feed', 'key']],
]
/** Columns that are 0 or 1 in a file. */
const flags = new Set(['owned', 'ignored', 'current', 'interrupted'])
/** By table, the sequence on PostgreSQL that gives its numbers, so that none comes twice. */
const counters = { payload: 'payload_id_seq', run: 'run_number' } as const
const numbered = {
  hold_event: 'hold_event_number_seq',
  home_event: 'home_event_number_seq',
  setting_change: 'setting_change_number_seq',
}
const batch = 1000

type Row = Record<string, unknown>

/** What belongs to a store beside its tables. */
interface Nature {
  lineage: string
  token: number
  /** It is a copy, or was put back from a backup: the first lease on the new store must doubt it, too. */
  isBehind: boolean
  counters: Record<keyof typeof counters, number>
}

interface Readable {
  columnsOf(table: string): Promise<string[]>
  rows(table: string, key: readonly string[], columns: readonly string[]): AsyncIterable<Row[]>
}
interface Source extends Readable {
  nature(): Promise<Nature>
}
interface Target extends Readable {
  add(table: string, columns: readonly string[], rows: Row[]): Promise<void>
  become(nature: Nature): Promise<void>
}

/** How many rows each table has. */
export type Copied = ReadonlyMap<string, number>

/**
 * Copies the store `from` to `to`, each a file or a postgres:// address. Throws `UserError` if the new store is not empty, and
 * `StoreError` if a run or a daemon has one of them, or if the copy differs from the original: then nothing of it is left.
 */
export async function migrateStore(from: string, to: string): Promise<Copied> {
  return copy(from, to, false)
}

/**
 * Writes a copy of a store on PostgreSQL as of one moment to a new file, also while runs are under way. `migrateStore` puts it back,
 * and the next run finds out that it is a backup. Throws like `migrateStore`.
 */
export async function backUpPostgres(address: string, to: string): Promise<void> {
  await copy(address, to, true)
}

function copy(from: string, to: string, isBackup: boolean): Promise<Copied> {
  return reading(from, isBackup, (source) =>
    writing(to, async (target) => {
      const copied = new Map<string, number>()
      for (const [table, key] of tables) {
        const theirs = new Set(await target.columnsOf(table))
        const columns = (await source.columnsOf(table)).filter((name) => theirs.has(name))
        const read = digest(columns)
        for await (const rows of source.rows(table, key, columns)) {
          for (const row of rows) read.add(row)
          await target.add(table, columns, rows)
        }
        const written = digest(columns)
        for await (const rows of target.rows(table, key, columns)) for (const row of rows) written.add(row)
        if (read.end() !== written.end())
          throw storeError(
            shown(to),
            `the copy of ${table} is not like the original (${written.count()} of ${read.count()} rows, or another content); nothing of it is kept`,
          )
        copied.set(table, read.count())
      }
      const nature = await source.nature()
      await target.become({ ...nature, isBehind: isBackup || nature.isBehind })
      return copied
    }),
  )
}

const isAddress = (store: string): boolean => /^postgres(ql)?:\/\//.test(store)
/** How a store is named to people. */
export const shown = (store: string): string => (isAddress(store) ? placeOf(store) : store)

function digest(columns: readonly string[]) {
  const hash = createHash('sha256')
  let rows = 0
  return {
    add(row: Row): void {
      rows++
      hash.update(`${jsonOf(columns.map((name) => plain(row[name])))}\n`)
    },
    count: () => rows,
    end: () => hash.copy().digest('hex'),
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

async function reading<Result>(
  store: string,
  isBackup: boolean,
  task: (source: Source) => Promise<Result>,
): Promise<Result> {
  if (isAddress(store)) {
    const door = openPostgresDoor(store)
    try {
      return await door.transaction(async (asker) => {
        await asker.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
        if (!isBackup) await lockLeases(asker, store)
        return task({ ...readablePostgres(asker), nature: () => natureOf(asker) })
      })
    } finally {
      await door.close()
    }
  }
  const locks = inStore(store, () => {
    if (statSync(store, { throwIfNoEntry: false }) === undefined) throw new UserError(`there is no store at ${store}`)
    return ['', '.daemon'].map((part) => takeLock(store + part, 0))
  })
  try {
    if (locks.includes(null)) throw storeError(store, 'a run or a daemon has this store; stop it first')
    const note = noteBeside(store)
    const source = inStore(store, () => openSource(store, migrations))
    try {
      const { database } = source
      return await task({
        ...readableFile(store, database),
        nature: () =>
          Promise.resolve({
            lineage: column<string>(database, 'SELECT lineage FROM meta').get()!,
            token: column<number>(database, 'SELECT coalesce(max(token), 0) FROM lease').get()!,
            isBehind: isBehind(database, store, note),
            counters: { payload: sequenceOf(database, 'payload'), run: sequenceOf(database, 'run') },
          }),
      })
    } finally {
      source.close()
    }
  } finally {
    for (const lock of locks) lock?.release()
  }
}

async function writing<Result>(store: string, task: (target: Target) => Promise<Result>): Promise<Result> {
  if (isAddress(store)) {
    const door = openPostgresDoor(store)
    try {
      return await door.transaction(async (asker) => {
        await lockLeases(asker, store)
        const [found] = await asker.all(
          'SELECT 1 FROM feed UNION ALL SELECT 1 FROM listing UNION ALL SELECT 1 FROM run LIMIT 1',
        )
        if (found !== undefined) throw new UserError(`${shown(store)} has a store already: name an empty database`)
        return task(targetPostgres(asker))
      })
    } finally {
      await door.close()
    }
  }
  if (existsSync(store)) throw new UserError(`${store} is there already: name a new file, or remove that one first`)
  assertLocal(store)
  try {
    return await writingFile(store, task)
  } catch (error) {
    // What the disk refuses is no defect.
    throw asStoreError(store, error)
  }
}

async function writingFile<Result>(store: string, task: (target: Target) => Promise<Result>): Promise<Result> {
  makeFolder(dirname(store))
  const unfinished = `${store}.unfinished`
  rmSync(unfinished, { force: true })
  createPrivate(unfinished)
  try {
    const database = connect(unfinished, {})
    let result: Result
    try {
      database.pragma('auto_vacuum = INCREMENTAL')
      migrate(database, migrations)
      result = await task(targetFile(store, database))
    } finally {
      database.close()
    }
    renameSync(unfinished, store)
    return result
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** Keeps anybody from taking a lease until the transaction ends. Throws if somebody has one. */
async function lockLeases(asker: Asker, store: string): Promise<void> {
  await asker.run('LOCK TABLE lease IN SHARE MODE')
  const [lease] = await asker.all<{ holder: string; chatbot: string }>(
    'SELECT holder, chatbot FROM lease WHERE held AND expires > clock_timestamp() LIMIT 1',
  )
  if (lease !== undefined)
    throw storeError(shown(store), `${lease.holder} has chatbot ${lease.chatbot}; wait for it to end, or stop it`)
}

async function natureOf(asker: Asker): Promise<Nature> {
  const [meta] = await asker.all<Omit<Nature, 'counters'>>(
    `SELECT lineage, token, place IS NOT NULL AND place <> ${here} AS "isBehind" FROM meta`,
  )
  const last = async (table: keyof typeof counters): Promise<number> => {
    const [found] = await asker.all<{ last: number }>(
      `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${counters[table]}`,
    )
    return found.last
  }
  return { ...meta, counters: { payload: await last('payload'), run: await last('run') } }
}

function readablePostgres(asker: Asker): Readable {
  return {
    columnsOf: async (table) =>
      (
        await asker.all<{ name: string }>(
          `SELECT attname::text AS name FROM pg_attribute
          WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
          [table],
        )
      ).map(({ name }) => name),
    async *rows(table, key, columns) {
      await asker.run(
        `DECLARE walk NO SCROLL CURSOR FOR SELECT ${columns.join(', ')} FROM ${table} ORDER BY ${key.map((name) => order(table, name)).join(', ')}`,
      )
      for (;;) {
        const rows = await asker.all<Row>(`FETCH ${batch} FROM walk`)
        if (rows.length > 0) yield rows
        if (rows.length < batch) break
      }
      await asker.run('CLOSE walk')
    },
  }
}

/** Sorts by bytes, as a file does. */
const order = (table: string, name: string): string =>
  table === 'ledger' && name === 'what' ? 'what COLLATE "C"' : name

function targetPostgres(asker: Asker): Target {
  const inRow = (name: string, value: unknown): unknown => {
    if (flags.has(name)) return value === 1 || value === true
    return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value
  }
  return {
    ...readablePostgres(asker),
    async add(table, columns, rows) {
      const isPayload = table === 'payload'
      const written = rows.map((row) => ({
        ...Object.fromEntries(columns.map((name) => [name, inRow(name, row[name])])),
        ...(isPayload && typeof row['listing'] === 'string' && lookedFor(JSON.parse(row['listing']))),
      }))
      const all = [...new Set([...columns, ...(isPayload ? ['address', 'offer'] : [])])].join(', ')
      await asker.run(
        `INSERT INTO ${table} (${all}) SELECT ${all} FROM json_populate_recordset(NULL::${table}, $1::json)`,
        [jsonOf(written)],
      )
    },
    async become({ lineage, token, isBehind, counters: last }) {
      await asker.run('UPDATE meta SET lineage = $1, token = $2, place = $3', [
        lineage,
        token,
        isBehind ? 'a copy' : null,
      ])
      for (const [table, sequence] of Object.entries(numbered))
        await asker.run(`SELECT setval('${sequence}', 1 + coalesce((SELECT max(number) FROM ${table}), 0), false)`)
      for (const [table, sequence] of Object.entries(counters))
        await asker.run(`SELECT setval('${sequence}', $1::bigint, false)`, [1 + last[table as keyof typeof counters]])
      // In a file, a run under way has a number that the counter does not have yet.
      await asker.run(
        "SELECT setval('run_number', greatest(nextval('run_number'), 1 + (SELECT max(number) FROM under_way)), false)",
      )
    },
  }
}

function readableFile(store: string, database: Database.Database): Readable {
  return {
    // Only a file packs listings.
    columnsOf: (table) =>
      Promise.resolve(
        column<string>(database, `SELECT name FROM pragma_table_info('${table}') WHERE name <> 'packed'`).all(),
      ),
    async *rows(table, key, names) {
      const columns = table === 'payload' ? [...names, 'packed'] : names
      // By keys and not as one query, as the connection takes no write while a query is open.
      const after = database.prepare<unknown[], Row>(
        `SELECT ${columns.join(', ')} FROM ${table} WHERE (${key.join(', ')}) > (${key.map(() => '?').join(', ')}) ORDER BY ${key.join(', ')} LIMIT ${batch}`,
      )
      const first = database.prepare<unknown[], Row>(
        `SELECT ${columns.join(', ')} FROM ${table} ORDER BY ${key.join(', ')} LIMIT ${batch}`,
      )
      const following = (last?: Row): Row[] =>
        inStore(store, () => (last === undefined ? first.all() : after.all(key.map((name) => last[name]))))
      for (let rows = following(); rows.length > 0; rows = following(rows[rows.length - 1]))
        yield await Promise.resolve(rows.map((row) => unpacked(table, row)))
    },
  }
}

/** A row with the packed listing as text, as other stores have it. */
function unpacked(table: string, row: Row): Row {
  if (table === 'pending') return { ...row, delivered: unpack(row['delivered'] as Uint8Array | string) }
  if (table !== 'payload') return row
  const { packed, ...others } = row
  return { ...others, listing: unpack((packed ?? row['listing']) as Uint8Array | string | null) }
}

const sequenceOf = (database: Database.Database, table: string): number =>
  column<number>(database, 'SELECT seq FROM sqlite_sequence WHERE name = ?').get(table) ?? 0

function targetFile(store: string, database: Database.Database): Target {
  return {
    ...readableFile(store, database),
    add(table, columns, rows) {
      const isListing = (name: string): boolean => table === 'payload' && name === 'listing'
      const isPacked = (name: string): boolean => isListing(name) || (table === 'pending' && name === 'delivered')
      const names = columns.map((name) => (isListing(name) ? 'packed' : name))
      const add = database.prepare(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      )
      const inRow = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value)
      const packed = (value: unknown): unknown => (typeof value === 'string' ? pack(value) : value)
      database.transaction(() => {
        for (const row of rows) add.run(columns.map((name) => (isPacked(name) ? packed : inRow)(row[name])))
      })()
      return Promise.resolve()
    },
    become({ lineage, token, isBehind, counters: last }) {
      // A place where no file is: so the first run finds out that this is a copy.
      database.prepare('UPDATE meta SET lineage = ?, serial = 1, place = ?').run(lineage, isBehind ? '0 0 1' : null)
      database.prepare("INSERT INTO lease VALUES ('', ?, 'the store before this one', 0, 0)").run(token)
      for (const [table, number] of Object.entries(last)) {
        database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table)
        database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, number)
      }
      return Promise.resolve()
    },
  }
}
