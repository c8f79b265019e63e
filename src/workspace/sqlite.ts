/** The workspace on a SQLite file that may be lost at any time. */
import { join } from 'node:path'
import { openDatabase } from '../core/sqlite.ts'
import { createPlan } from './changes.ts'
import { createDelivery } from './delivery.ts'
import { createJoined } from './joined.ts'
import { limit, scratchError } from './scratch-file.ts'
import type { ScratchLimits } from './scratch-file.ts'
import { databaseName, makeFolder, removeFolder, temporaryFolder } from './folder.ts'
import { createShown } from './shown.ts'
import type { Workspace } from './workspace.ts'

/**
 * A new, empty workspace in a folder of its own under `directory`, by default the system's temporary folder. Throws `UserError` if
 * it can't be made; its methods throw that if they can't write.
 */
export function openWorkspace(directory: string = temporaryFolder(), limits: ScratchLimits | null = null): Workspace {
  try {
    const folder = makeFolder(directory)
    try {
      return workspaceIn(folder, limits)
    } catch (error) {
      removeFolder(folder)
      throw error
    }
  } catch (error) {
    throw scratchError(directory, error)
  }
}

function workspaceIn(folder: string, limits: ScratchLimits | null): Workspace {
  const database = openDatabase(join(folder, databaseName))
  // Nothing here outlives the run, so nothing is made safe against a crash: no journal, no waiting for the disk.
  database.pragma('journal_mode = OFF')
  database.pragma('synchronous = OFF')
  database.pragma('locking_mode = EXCLUSIVE')
  // kB of pages (SQLite's default: 16,000). The system caches the file as well, and frees that memory when it has to.
  database.pragma('cache_size = -4000')
  database.exec(schema)
  if (limits !== null) limit(database, limits)
  const delivery = createDelivery(database)
  return {
    folder,
    ...delivery,
    ...createShown(database),
    ...createJoined(database),
    ...createPlan(database, delivery),
    close() {
      database.close()
      removeFolder(folder)
    },
  }
}

/**
 * The workspace's tables. What is walked in order lies in tables sorted by key, without payload. Listings and items, a hundred
 * times as large, are fetched by number. `change.home`: see `homeOfPair`. `change.remembered` is NULL if nothing is remembered,
 * `change.weighed` if the guard left the change as planned.
 */
export const schema = `
CREATE TABLE delivered (
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  why TEXT,
  content TEXT,
  raw TEXT,
  parts INTEGER NOT NULL,
  home TEXT,
  moves_at INTEGER,
  PRIMARY KEY (key, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE delivered_listing (
  position INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  listing TEXT NOT NULL,
  moving TEXT NOT NULL
) STRICT;
CREATE TABLE reject (
  position INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  key TEXT,
  problems TEXT NOT NULL
) STRICT;
CREATE TABLE joined (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  rank REAL NOT NULL,
  cells TEXT NOT NULL
) STRICT;
CREATE TABLE shown (
  key TEXT NOT NULL,
  number INTEGER NOT NULL,
  hash TEXT NOT NULL,
  owner TEXT,
  is_former INTEGER NOT NULL,
  PRIMARY KEY (key, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE shown_item (
  number INTEGER PRIMARY KEY,
  item TEXT NOT NULL
) STRICT;
CREATE TABLE noted_listing (
  key TEXT PRIMARY KEY,
  listing TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE change (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  change TEXT NOT NULL,
  home TEXT,
  number TEXT,
  number_end TEXT,
  pair INTEGER NOT NULL DEFAULT 0,
  remembered TEXT,
  weighed TEXT,
  result TEXT,
  error TEXT
) STRICT;
CREATE INDEX change_by_kind ON change (kind, seq);
CREATE TABLE bookkeeping (
  number INTEGER PRIMARY KEY,
  entry TEXT NOT NULL
) STRICT;
`
