/** The reading half of the store, on an open connection. */
import type Database from 'better-sqlite3'
import type { Absence, Recalled, SnapshotRow } from '../plan/inputs.ts'
import { inStore, storeError } from './failure.ts'
import { knownRecords } from './known-records.ts'
import type { KnownRow } from './known-records.ts'
import { createRecentReader } from './recent.ts'
import { createStartsReader } from './records.ts'
import { createSettingsReader } from './settings.ts'
import type { FeedState, Held, OpenApproval, RunRecord, StoreReader } from './store.ts'

const day = 86_400_000

/** Rows of the snapshot read at a time: between two pages anything may be written. */
const pageRows = 1000

const rowColumns = `id, key, feed, owned, content, raw, parts, mapping, filled, sent_at AS sentAt, baseline,
  moves_at AS movesAt, suspect_until AS suspectUntil, streak, streak_reason AS streakReason,
  flight, flight_at AS flightAt, refused_content AS refusedContent, refused_mapping AS refusedMapping,
  refused_at AS refusedAt, refused_message AS refusedMessage`

/** `file` is for messages. `isBehind`: the note beside the store is further, as the next lease will find. */
export function createReader(database: Database.Database, file: string, isBehind = false): Omit<StoreReader, 'close'> {
  const page = database.prepare<[string, string], StoredRow>(
    `SELECT ${rowColumns} FROM listing WHERE chatbot = ? AND key > ? ORDER BY key LIMIT ${pageRows}`,
  )
  const recalled = database.prepare<[number], { listing: string; moving: string; echo: string | null }>(
    'SELECT listing, moving, echo FROM payload WHERE id = ? AND listing IS NOT NULL',
  )
  const confirmed = database.prepare<[string, string, string], { listing: string; moving: string }>(
    `SELECT payload.listing, payload.moving FROM listing JOIN payload USING (id)
    WHERE chatbot = ? AND feed = ? AND key = ? AND owned = 1 AND payload.listing IS NOT NULL`,
  )
  const baseline = database
    .prepare<[string, string], string | null>(
      'SELECT baseline FROM listing WHERE chatbot = ? AND key = ? AND owned = 1 AND flight IS NULL',
    )
    .pluck()
  const generations = database.prepare<[string, string], StoredGeneration>(
    `SELECT digest, at, written_by AS by, written_at AS writtenAt FROM generation
    WHERE feed = ? AND source = ? ORDER BY number DESC`,
  )
  const approved = database
    .prepare<[string, number], string>(
      `SELECT kind || ' ' || key FROM approval WHERE feed = ? AND used = 0 AND revoked_at IS NULL AND expires > ?`,
    )
    .pluck()
  const openApprovals = database.prepare<[string, number], OpenApproval>(
    `SELECT approved_by AS by, at, expires, count(*) AS changes FROM approval
    WHERE feed = ? AND used = 0 AND revoked_at IS NULL AND expires > ? GROUP BY approved_by, at, expires ORDER BY at`,
  )
  const held = database.prepare<[string], Held>(
    'SELECT key AS mlsNumber, kind, why, since FROM held WHERE feed = ? ORDER BY key',
  )
  const heldSince = database
    .prepare<[string, string], number>('SELECT since FROM held WHERE feed = ? AND key = ?')
    .pluck()
  const learnt = database
    .prepare<[string, string], number>('SELECT value FROM learnt WHERE chatbot = ? AND name = ?')
    .pluck()
  const inLedger = database
    .prepare<[string, string, number], number>(
      'SELECT 1 FROM delete_ledger WHERE feed = ? AND key = ? AND at > ? LIMIT 1',
    )
    .pluck()
  const pageOfAbsences = database.prepare<[string, string, string], Absence>(
    `SELECT key, runs, since FROM absence WHERE feed = ? AND chatbot = ? AND key > ? ORDER BY key LIMIT ${pageRows}`,
  )
  function* absences(feed: string, chatbot: string): Generator<Absence> {
    for (let after = ''; ;) {
      const rows = inStore(file, () => pageOfAbsences.all(feed, chatbot, after))
      yield* rows
      if (rows.length < pageRows) return
      after = rows[rows.length - 1].key
    }
  }
  const settings = createSettingsReader(database)
  const readFeed = database.transaction(feedStateOf(database))

  // Not one query of a million rows: while such an iteration is open, the connection takes no write.
  function* snapshot(chatbot: string): Generator<SnapshotRow> {
    for (let after = ''; ;) {
      const rows = inStore(file, () => page.all(chatbot, after))
      for (const row of rows) {
        // Changed in place: a copy of each of a million rows would cost as much as reading them.
        yield Object.assign(row, { owned: row.owned === 1 })
      }
      if (rows.length < pageRows) return
      after = rows[rows.length - 1].key
    }
  }

  function recall(id: number): Recalled {
    const row = recalled.get(id)
    if (row === undefined) throw storeError(file, `no listing is remembered under number ${id}`)
    return {
      listing: JSON.parse(row.listing),
      moving: JSON.parse(row.moving),
      echo: row.echo === null ? {} : JSON.parse(row.echo),
    }
  }

  const countKnown = database
    .prepare<[string, string, string], number>(
      'SELECT count(*) FROM listing WHERE feed = ? AND chatbot = ? AND mapping = ? AND owned = 1 AND raw IS NOT NULL',
    )
    .pluck()
  // The index holds all of this, so that the table itself is not read.
  const known = database
    .prepare<[string, string, string], KnownRow>(
      'SELECT raw, parts, id FROM listing WHERE feed = ? AND chatbot = ? AND mapping = ? AND owned = 1 AND raw IS NOT NULL',
    )
    .raw()

  return {
    feedState(feed, chatbot, now) {
      const state = readFeed(feed, chatbot, now)
      // As the lease writes it: what was done since is as unknown as where the store was lost.
      return isBehind && !state.isNew ? { ...state, lostAt: now } : state
    },
    isBehind: () => isBehind,
    snapshot,
    absences,
    knownRecords: (feed, chatbot, mapping) =>
      inStore(file, () =>
        knownRecords(countKnown.get(feed, chatbot, mapping) ?? 0, known.iterate(feed, chatbot, mapping)),
      ),
    recall,
    generations: (feed, source) =>
      generations.all(feed, source).map(({ digest, at, by, writtenAt }) => ({
        digest,
        at,
        written: by === null ? null : { by, at: writtenAt },
      })),
    confirmed(chatbot, feed, mlsNumber) {
      const row = confirmed.get(chatbot, feed, mlsNumber)
      return row === undefined ? null : { listing: JSON.parse(row.listing), moving: JSON.parse(row.moving) }
    },
    baseline: (chatbot, key) => baseline.get(chatbot, key) ?? null,
    approved: (feed, now) => new Set(approved.all(feed, now)),
    held: (feed) => held.all(feed),
    heldSince: (feed, mlsNumber) => heldSince.get(feed, mlsNumber) ?? null,
    openApprovals: (feed, now) => openApprovals.all(feed, now),
    inLedger: (feed, mlsNumber, now) => inLedger.get(feed, mlsNumber, now - day) !== undefined,
    learnt: (chatbot, name) => learnt.get(chatbot, name) ?? null,
    ...settings,
    ...createRecentReader(database),
    ...createStartsReader(database),
  }
}

function feedStateOf(database: Database.Database): StoreReader['feedState'] {
  const deliveries = database.prepare<[string], { at: number; records: number }>(
    'SELECT at, records FROM delivery WHERE feed = ? ORDER BY number DESC LIMIT 5',
  )
  const lastKeys = database
    .prepare<[string], Buffer | null>('SELECT keys FROM delivery WHERE feed = ? ORDER BY number DESC LIMIT 1')
    .pluck()
  const owned = database
    .prepare<[string, string], number>('SELECT count(*) FROM listing WHERE feed = ? AND chatbot = ? AND owned = 1')
    .pluck()
  const rows = database
    .prepare<[string, string], number>('SELECT count(*) FROM listing WHERE chatbot = ? AND feed = ?')
    .pluck()
  const deletes = database
    .prepare<[string, string, number], number>(
      'SELECT count(DISTINCT key) FROM delete_ledger WHERE chatbot = ? AND feed = ? AND at > ?',
    )
    .pluck()
  const lastRun = database.prepare<
    [string],
    StoredRun
  >(`SELECT feed, chatbot, command, started_at AS startedAt, finished_at AS finishedAt,
    result, interrupted, error, figures FROM run WHERE feed = ? ORDER BY number DESC LIMIT 1`)
  const past = database.prepare<[string], FeedRow>('SELECT * FROM feed WHERE name = ?')

  return (feed, chatbot, now): FeedState => {
    const row = past.get(feed)
    const run = lastRun.get(feed)
    return {
      deliveries: deliveries.all(feed),
      lastKeys: keysFrom(lastKeys.get(feed) ?? null),
      owned: owned.get(feed, chatbot) ?? 0,
      rows: rows.get(chatbot, feed) ?? 0,
      deletes24h: deletes.get(chatbot, feed, now - day) ?? 0,
      lostAt: row?.lost_at ?? null,
      isNew: row === undefined || row.first_run === null,
      lastRun: run === undefined ? null : { ...run, interrupted: run.interrupted === 1 },
      lastSuccess: row?.last_success ?? null,
      validators: row === undefined || row.validators === null ? null : JSON.parse(row.validators),
      echoReported: row === undefined ? [] : JSON.parse(row.echo_reported),
    }
  }
}

type StoredRow = Omit<SnapshotRow, 'owned'> & { owned: number }
interface StoredGeneration {
  digest: string
  at: number
  by: 'document' | 'server' | null
  writtenAt: number
}

type StoredRun = Omit<RunRecord, 'interrupted'> & { interrupted: number }

interface FeedRow {
  first_run: number | null
  last_success: number | null
  lost_at: number | null
  validators: string | null
  echo_reported: string
}

/** The blob's bytes, copied: a Buffer may begin where no 64-bit number can. */
function keysFrom(blob: Buffer | null): BigUint64Array | null {
  if (blob === null) return null
  return new BigUint64Array(blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.byteLength))
}
