/** The door of the store on SQLite: behind it all is synchronous, in front of it are the roles, which give promises. */
import type Database from 'better-sqlite3'
import { inStore } from './failure.ts'

/** What roles are made on. Roles of one connection can share a transaction. */
export interface Connection {
  readonly database: Database.Database
  /** For messages. */
  readonly file: string
  readonly groups: Groups
}

export type Groups = ReturnType<typeof createGroups>

interface Waiting {
  task: () => unknown
  /** Called after the commit: once for all writes of a group that have the same one. */
  after: (() => void) | undefined
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/**
 * Commits in groups: writes that are asked for in one turn of the event loop share a transaction, and so one wait for the disk. A
 * write that fails is undone alone. No promise resolves before all are durable.
 */
export function createGroups(database: Database.Database, file: string) {
  let waiting: Waiting[] = []
  const alone = database.transaction((task: () => unknown) => task())
  const together = database.transaction((group: readonly Waiting[]) =>
    group.map(({ task, resolve, reject }) => {
      try {
        const value = inStore(file, () => alone(task))
        return () => resolve(value)
      } catch (error) {
        // SQLite has rolled the whole transaction back, as when the disk is full.
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
      for (const after of new Set(group.map((waiting) => waiting.after))) after?.()
      for (const end of ends) end()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  return {
    add(task: () => unknown, after?: () => void): Promise<unknown> {
      // Not at once: writes that are asked for in the same turn are committed with this one.
      if (waiting.length === 0) setImmediate(commit)
      return new Promise((resolve, reject) => waiting.push({ task, after, resolve, reject }))
    },
    /** Commits what waits, at once. */
    commit,
  }
}

/** The methods of a role behind the door: each gives its value at once. */
type Direct<Role> = {
  [Name in keyof Role]: Role[Name] extends (...values: infer Values) => Promise<infer Value>
    ? (...values: Values) => Value
    : never
}

/** The methods that a role has beyond its reading half. */
export type Writes<Role extends Reader, Reader> = Omit<Role, keyof Reader>

/** Methods that give promises of what `methods` give. What SQLite throws becomes a `StoreError`. */
export function promised<Role>({ file }: Connection, methods: Direct<Role>): Role {
  return eachMethod(file, methods, (task) => task())
}

/** The same, each call in one transaction that takes the write lock at once. `after` is called after its commit. */
export function inTransactions<Role>(
  { database, file }: Connection,
  methods: Direct<Role>,
  after: () => void = () => undefined,
): Role {
  const transaction = database.transaction((task: () => unknown) => task())
  return eachMethod(file, methods, (task) => {
    const value = transaction.immediate(task)
    after()
    return value
  })
}

/** The same, but calls of one turn share a transaction (`createGroups`): for what is written with each call of the service. */
export function inGroups<Role>({ groups }: Connection, methods: Direct<Role>, after?: () => void): Role {
  const entries = Object.entries(methods as Record<string, (...values: unknown[]) => unknown>)
  const grouped = entries.map(([name, method]) => [
    name,
    (...values: unknown[]) => groups.add(() => method(...values), after),
  ])
  return Object.fromEntries(grouped) as Role
}

function eachMethod<Role>(file: string, methods: Direct<Role>, run: (task: () => unknown) => unknown): Role {
  const entries = Object.entries(methods as Record<string, (...values: unknown[]) => unknown>)
  // Without an `await`, an async function does all its work before it returns the promise. A process that ends on a defect relies
  // on that to record its runs, as it can't wait any more.
  const promising = entries.map(([name, method]) => [
    name,
    async (...values: unknown[]) => inStore(file, () => run(() => method(...values))),
  ])
  return Object.fromEntries(promising) as Role
}

const pageRows = 1000

/**
 * Walks over rows sorted by key. `page` reads so many of them after a key. Not one long query, as a connection takes no write while a
 * query is open.
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
