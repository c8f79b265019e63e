/** The one way to a SQLite file: store, lock and scratch database are opened here, and the architecture test holds it. */
import Database from 'better-sqlite3'

/**
 * Opens a database and trusts nothing in its file: a CHECK, a default, an index or a view that names a function that could do harm
 * fails instead of calling it. `path` may be a database's bytes, for one in memory. Throws what SQLite throws.
 */
export function openDatabase(path: string | Buffer, options: Database.Options = {}): Database.Database {
  const database = new Database(path, options)
  database.pragma('trusted_schema = OFF')
  return database
}
