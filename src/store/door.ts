/** The door of the store on SQLite: behind it everything is synchronous, before it are the roles with their promises. */
import type Database from 'better-sqlite3'
import { inStore } from './failure.ts'

/** What the roles are made on. Those of one connection can share a transaction. */
export interface Connection {
  readonly database: Database.Database
  /** For messages. */
  readonly file: string
  readonly groups: Groups
}

export type Groups = ReturnType<typeof createGroups>

interface Waiting {
  work: () => unknown
  /** Follows the commit, once for all of a group that have the same. */
  after: (() => void) | undefined
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/**
 * Commits in groups: writes that are asked for in one turn of the event loop share a transaction, and so one wait for the
 * disk. Each is undone alone where it fails, and none is told to be done before all are durable.
 */
export function createGroups(database: Database.Database, file: string) {
  let waiting: Waiting[] = []
  const alone = database.transaction((work: () => unknown) => work())
  const together = database.transaction((group: readonly Waiting[]) =>
    group.map(({ work, resolve, reject }) => {
      try {
        const value = inStore(file, () => alone(work))
        return () => resolve(value)
      } catch (error) {
        // SQLite has given the whole transaction up, as it does where the disk is full.
        if (!database.inTransaction) throw error
        return () => reject(error)
      }
    }),
  )

  function commit(): void {
    const group = waiting
    waiting = []
    if (group.length === 0) return
    try {
      const ends = inStore(file, () => together.immediate(group))
      for (const after of new Set(group.map((one) => one.after))) after?.()
      for (const end of ends) end()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  return {
    add(work: () => unknown, after?: () => void): Promise<unknown> {
      // What has come in with it is looked at first: its writes are committed with this one.
      if (waiting.length === 0) setImmediate(commit)
      return new Promise((resolve, reject) => waiting.push({ work, after, resolve, reject }))
    },
    /** Commits what waits, at once. */
    commit,
  }
}

/** The methods of a role as they are behind the door: each gives its value at once. */
type Direct<Role> = {
  [Name in keyof Role]: Role[Name] extends (...values: infer Values) => Promise<infer Value>
    ? (...values: Values) => Value
    : never
}

/** What a role has beside its reading half. */
export type Writes<Role extends Reader, Reader> = Omit<Role, keyof Reader>

/** Methods that promise what `methods` give; what SQLite throws becomes a `StoreError`. */
export function promised<Role>({ file }: Connection, methods: Direct<Role>): Role {
  return eachMethod(file, methods, (work) => work())
}

/** The same, each call in one transaction that takes the write lock at once; `after` follows its commit. */
export function inTransactions<Role>(
  { database, file }: Connection,
  methods: Direct<Role>,
  after: () => void = () => undefined,
): Role {
  const transaction = database.transaction((work: () => unknown) => work())
  return eachMethod(file, methods, (work) => {
    const value = transaction.immediate(work)
    after()
    return value
  })
}

/** The same, but what is asked for at one time is one transaction (`createGroups`): for what is written at each call. */
export function inGroups<Role>({ groups }: Connection, methods: Direct<Role>, after?: () => void): Role {
  const entries = Object.entries(methods as Record<string, (...values: unknown[]) => unknown>)
  const grouped = entries.map(([name, method]) => [
    name,
    (...values: unknown[]) => groups.add(() => method(...values), after),
  ])
  return Object.fromEntries(grouped) as Role
}

function eachMethod<Role>(file: string, methods: Direct<Role>, run: (work: () => unknown) => unknown): Role {
  const entries = Object.entries(methods as Record<string, (...values: unknown[]) => unknown>)
  // An async function runs up to its first `await` at once, and there is none here: the work is done before the promise is
  // returned. A process that ends on a defect records its runs so, as it can wait for nothing any more.
  const promising = entries.map(([name, method]) => [
    name,
    async (...values: unknown[]) => inStore(file, () => run(() => method(...values))),
  ])
  return Object.fromEntries(promising) as Role
}

const pageRows = 1000

/**
 * A walk over rows sorted by key; `page` reads so many of them after a key. It is not one query: while that is open, the
 * connection takes no write.
 */
export async function* walk<Row extends { key: string }>(
  { file }: Connection,
  page: (after: string, most: number) => Row[],
): AsyncGenerator<readonly Row[]> {
  for (let after = ''; ;) {
    const rows = inStore(file, () => page(after, pageRows))
    if (rows.length > 0) yield rows
    if (rows.length < pageRows) return
    after = rows[rows.length - 1].key
  }
}
