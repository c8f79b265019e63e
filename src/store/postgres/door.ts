/**
 * The door to a store on PostgreSQL: connections, transactions, and the groups in which writes are committed. `pg` is loaded with the
 * first use, so that nobody with a store in a file loads it.
 */
import type { Pool, PoolClient } from 'pg'
import { inWords, isAway, placeOf, storeError } from './failure.ts'

/** A parameter of a statement. U+0000, which PostgreSQL's text can't hold, becomes a replacement character. */
export type Value = string | number | boolean | null | Buffer | readonly (string | number)[]

export interface Asker {
  /** Rows of a statement. */
  all<Row>(sql: string, values?: readonly Value[]): Promise<Row[]>
  /** How many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
}

export interface Door extends Asker {
  readonly place: string
  /** One row, or undefined. */
  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined>
  /**
   * Does `task` in a transaction, after all earlier writes of this lane. Writes that wait by then share a commit. `task` may be done
   * more than once, if transactions collide. `lane`: a chatbot, or else a feed.
   */
  write<Result>(lane: string, task: (asker: Asker) => Promise<Result>): Promise<Result>
  /** The same for a feed, in the lane of the chatbot that it runs for. */
  writeOf<Result>(feed: string, task: (asker: Asker) => Promise<Result>): Promise<Result>
  /** Does `task` in a transaction of its own. */
  transaction<Result>(task: (asker: Asker) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export interface DoorOptions {
  /** Most connections. */
  most?: number | undefined
  /** Milliseconds that a transaction may wait for this process; 0: without limit. */
  mayIdle?: number
  readOnly: boolean
  /** Called once for a pool, before anything else: brings the schema up to date and checks the server. */
  prepare: (asker: Asker, transaction: Door['transaction']) => Promise<void>
  /** The chatbot that a feed of this process runs for. */
  chatbotOf: (feed: string) => string | undefined
  /** Called at the beginning of each transaction of a lane. Throws if it may not write. */
  assertMayWrite: (lane: string, asker: Asker) => Promise<void>
}

/** Connections of a process. A lane has one while it writes, and readers share the rest. */
const connections = 6
/** Milliseconds. The server ends a transaction of a worker that freezes in it before its lease is over. */
const patience = { connect: 10_000, statement: 120_000, lock: 30_000, idleInTransaction: 15_000 }
/** Most writes in one commit. */
const mostInGroup = 200

/**
 * Connections to the database of an address. A connection that is cut while idle is replaced when it is needed. `longest`:
 * milliseconds that a statement may take.
 */
export async function openPool(
  address: string,
  {
    most = connections,
    mayIdle = patience.idleInTransaction,
    readOnly = false,
    longest = patience.statement,
  }: Partial<Pick<DoorOptions, 'most' | 'mayIdle' | 'readOnly'> & { longest: number }> = {},
): Promise<Pool> {
  const { Pool, types } = await import('pg')
  const made = new Pool({
    connectionString: address,
    max: most,
    connectionTimeoutMillis: patience.connect,
    keepAlive: true,
    application_name: 'listing-sync',
    statement_timeout: longest,
    lock_timeout: patience.lock,
    query_timeout: longest + 5000,
    idle_in_transaction_session_timeout: mayIdle,
    ...(readOnly && { options: '-c default_transaction_read_only=on' }),
    // Read as numbers: times, ids and counts are below 2^53.
    types: {
      getTypeParser: ((oid: number, format: 'text') =>
        oid === 20 ? Number : types.getTypeParser(oid, format)) as never,
    },
  })
  made.on('error', () => undefined)
  made.on('connect', (client) => void client.on('error', () => undefined))
  return made
}

interface Waiting {
  task: (asker: Asker) => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

export function openDoor(
  address: string,
  { most, mayIdle = patience.idleInTransaction, readOnly, prepare, chatbotOf, assertMayWrite }: DoorOptions,
): Door {
  const place = placeOf(address)
  const lanes = new Map<string, Waiting[]>()
  let opened: Promise<Pool> | null = null
  let isClosed = false

  async function connect(): Promise<Pool> {
    const made = await openPool(address, { most, mayIdle, readOnly })
    try {
      await prepare(asker(made), (task) => transacted(made, task))
      return made
    } catch (error) {
      await made.end().catch(() => undefined)
      throw error
    }
  }

  const pool = async (): Promise<Pool> => {
    if (isClosed) throw storeError(place, 'the store is closed')
    opened ??= connect()
    const asked = opened
    return asked.catch((error: unknown) => {
      // The next use tries again.
      if (opened === asked) opened = null
      throw error
    })
  }

  const guarded = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    try {
      return await task()
    } catch (error) {
      throw inWords(place, error)
    }
  }

  /** Writes what waits in a lane until nothing does. */
  async function drain(lane: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostInGroup)
      const done = await transactedIn(
        lane,
        group.map(({ task }) => task),
      ).catch((error: unknown) => ({ error }))
      if (!('error' in done)) {
        for (const [index, { resolve }] of group.entries()) resolve(done[index] as never)
        continue
      }
      // Without an answer to the commit nobody knows whether it was done, and doing it again might do it twice.
      if (group.length === 1 || isAway(done.error)) {
        for (const { reject } of group) reject(done.error)
        continue
      }
      // One write is at fault. Done alone, only that one fails.
      for (const { task, resolve, reject } of group)
        await transactedIn(lane, [task]).then(([value]) => resolve(value as never), reject)
    }
    lanes.delete(lane)
  }

  async function transactedIn(lane: string, works: readonly Waiting['task'][]): Promise<unknown[]> {
    return transacted(await pool(), async (asker) => {
      await assertMayWrite(lane, asker)
      const values: unknown[] = []
      for (const task of works) values.push(await task(asker))
      return values
    })
  }

  const write = <Result>(lane: string, task: (asker: Asker) => Promise<Result>): Promise<Result> =>
    guarded(
      () =>
        new Promise((resolve, reject) => {
          const waiting = lanes.get(lane)
          if (waiting === undefined) {
            const started: Waiting[] = [{ task, resolve, reject }]
            lanes.set(lane, started)
            void drain(lane, started)
          } else waiting.push({ task, resolve, reject })
        }),
    )

  return {
    place,
    write,
    writeOf: (feed, task) => write(chatbotOf(feed) ?? `feed ${feed}`, task),
    all: (sql, values) => guarded(async () => asker(await pool()).all(sql, values)),
    run: (sql, values) => guarded(async () => asker(await pool()).run(sql, values)),
    get: async <Row>(sql: string, values?: readonly Value[]) =>
      (await guarded(async () => asker(await pool()).all<Row>(sql, values)))[0],
    transaction: (task) => guarded(async () => transacted(await pool(), task)),
    async close() {
      if (isClosed) return
      isClosed = true
      await (await opened?.catch(() => null))?.end()
    },
  }
}

function asker(client: Pool | PoolClient): Asker {
  const asked = (sql: string, values: readonly Value[] = []) => client.query(sql, values.map(storable))
  return {
    all: async <Row>(sql: string, values?: readonly Value[]) => (await asked(sql, values)).rows as Row[],
    run: async (sql, values) => (await asked(sql, values)).rowCount ?? 0,
  }
}

function storable<One extends Value>(value: One): One
function storable(value: Value): Value {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
  return Array.isArray(value) ? value.map(storable) : value
}

/** How often a transaction is tried that collides with another one. */
const attempts = 5

async function transacted<Result>(pool: Pool, task: (asker: Asker) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect()
    let broken = false
    try {
      await client.query('BEGIN')
      const value = await task(asker(client))
      await client.query('COMMIT')
      return value
    } catch (error) {
      broken = isAway(error)
      if (!broken) await client.query('ROLLBACK').catch(() => (broken = true))
      if (attempt < attempts && isCollision(error)) continue
      throw error
    } finally {
      client.release(broken)
    }
  }
}

/** Whether it is a serialization failure or a deadlock: trying again will do. */
function isCollision(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40001' || error.code === '40P01')
}

/** JSON that PostgreSQL can read. Rows become one parameter for `json_to_recordset`, so that a batch of any size is one statement. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storable(part).toWellFormed() : part))
}

/** The found values in the order of the keys. */
export function inOrder<Key, Value>(keys: readonly Key[], found: readonly (readonly [Key, Value])[]): Map<Key, Value> {
  const byKey = new Map(found)
  return new Map(keys.flatMap((key) => (byKey.has(key) ? [[key, byKey.get(key)!]] : [])))
}

/** Rows in groups without two of the same name, in their order, as one statement can't write a row twice. */
export function distinct<Row>(rows: Iterable<Row>, nameOf: (row: Row) => string, most = 1000): Row[][] {
  const groups: Row[][] = []
  let names = new Set<string>()
  for (const row of rows) {
    const name = nameOf(row)
    if (groups.length === 0 || names.has(name) || names.size >= most) {
      groups.push([])
      names = new Set()
    }
    names.add(name)
    groups[groups.length - 1].push(row)
  }
  return groups
}

/** Walks over rows sorted by key. `page` reads so many of them after a key. Between two pages anything may be written. */
export async function* walk<Row extends { key: string }>(
  page: (after: string, most: number) => Promise<Row[]>,
  pageRows = 1000,
): AsyncGenerator<readonly Row[]> {
  for (let after = ''; ;) {
    const rows = await page(after, pageRows)
    if (rows.length > 0) yield rows
    if (rows.length < pageRows) return
    after = rows[rows.length - 1].key
  }
}
