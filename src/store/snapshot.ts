/** The snapshot on SQLite: the owned rows of `listing`, and in `payload` the listings that were sent. */
import { createHash } from 'node:crypto'
import type Database from 'better-sqlite3'
import type { FeedFigures } from '../core/figures.ts'
import type { RowInBrief, SnapshotRow } from '../plan/inputs.ts'
import { column } from './connection.ts'
import { inGroups, promised, walk } from './door.ts'
import type { Connection, Writes } from './door.ts'
import { storeError } from './failure.ts'
import { pack } from './packed.ts'
import { parsed, rowColumns, settled } from './listing-row.ts'
import type { Payload } from './listing-row.ts'
import { knownHashes } from './known-hashes.ts'
import type { KnownRow } from './known-hashes.ts'
import type { KnownHashes, Snapshot, SnapshotReader } from './store.ts'

/** While an earlier attempt may still land, that the old state is shown does not mean that the write was ignored. */
const isStillSuspect = '(@ignored AND coalesce(suspect_until, 0) > @at)'

/** Columns that are 0 or 1. */
type Flag = 'owned' | 'ignored'
type StoredRow = Omit<SnapshotRow, Flag> & Record<Flag, number>

/** Changes the row in place: to copy a million rows would cost as much as to read them. */
const rowIn = (row: StoredRow): SnapshotRow =>
  Object.assign(row, { owned: row.owned === 1, ignored: row.ignored === 1 })

/** Rows of a page while hashes are read into memory. */
const knownPage = 1000

const sent = 'FROM listing JOIN payload USING (id) WHERE chatbot = ? AND owned = 1 AND payload.moving IS NOT NULL'
/** A field of the listing that was sent. */
const field = (name: string): string => `json_extract(unpack(coalesce(payload.packed, payload.listing)), '$.${name}')`
const onOffer = `${sent} AND ${field('Status')} <> 'Sold'`

export function createSnapshot(connection: Connection): Snapshot {
  const { database, file } = connection
  const page = database.prepare<[string, string, number], StoredRow>(
    `SELECT ${rowColumns} FROM listing WHERE chatbot = ? AND key > ? ORDER BY key LIMIT ?`,
  )
  const pageInBrief = database.prepare<[string, string, string, number], RowInBrief>(
    `SELECT id, key, CASE WHEN feed = ? AND owned = 1 AND ignored = 0 AND ${settled} THEN sent_at END AS settledSince
    FROM listing WHERE chatbot = ? AND key > ? ORDER BY key LIMIT ?`,
  )
  const wholeRow = database.prepare<[string, string], StoredRow>(
    `SELECT ${rowColumns} FROM listing WHERE chatbot = ? AND key = ?`,
  )
  const count = column<number>(database, 'SELECT count(*) FROM listing WHERE chatbot = ? AND feed = ? AND owned = 1')
  const contents = database
    .prepare<string[], [number, string | null]>(
      'SELECT id, content FROM listing WHERE chatbot = ? AND feed = ? AND owned = 1 ORDER BY key',
    )
    .raw()
  const chatbots = database.prepare<[string], { chatbot: string; listings: number }>(
    'SELECT chatbot, count(*) AS listings FROM listing WHERE feed = ? AND owned = 1 GROUP BY chatbot ORDER BY chatbot',
  )
  const anyRow = column<1>(database, 'SELECT 1 FROM listing WHERE chatbot = ? AND feed = ? LIMIT 1')
  // An index covers these two, so that the table itself is not read.
  const parsedUnder = 'FROM listing WHERE chatbot = ? AND feed = ? AND mapping = ? AND owned = 1 AND raw IS NOT NULL'
  const countKnown = column<number>(database, `SELECT count(*) ${parsedUnder}`)
  const known = database
    .prepare<(string | number)[], KnownRow>(
      `SELECT raw, parts, id ${parsedUnder} AND (raw, parts, id) > (?, ?, ?) ORDER BY raw, parts, id LIMIT ${knownPage}`,
    )
    .raw()
  // `+feed` keeps SQLite from the index, by which each row would be looked up: it reads in the order of the table.
  const asBefore =
    'FROM listing WHERE chatbot = ? AND +feed = ? AND owned = 1 AND ignored = 0 AND flight IS NULL AND baseline IS NOT NULL'
  const countAsBefore = column<number>(database, `SELECT count(*) ${asBefore}`)
  const baselinesOf = database
    .prepare<string[], KnownRow>(`SELECT baseline, 1, id, key ${asBefore} AND key > ? ORDER BY key LIMIT ${knownPage}`)
    .raw()
  const payload = database.prepare<[number], Payload>(
    'SELECT unpack(coalesce(packed, listing)) AS listing, moving FROM payload WHERE id = ? AND moving IS NOT NULL',
  )
  const confirmed = database.prepare<string[], Payload>(
    `SELECT unpack(coalesce(payload.packed, payload.listing)) AS listing, payload.moving ${sent} AND feed = ? AND key = ?`,
  )
  const idOf = column<number>(
    database,
    'SELECT id FROM listing WHERE chatbot = ? AND feed = ? AND key = ? AND owned = 1',
  )
  const baseline = column<string | null>(
    database,
    'SELECT baseline FROM listing WHERE chatbot = ? AND key = ? AND owned = 1 AND ignored = 0 AND flight IS NULL',
  )
  const identifier = column<string | null>(
    database,
    'SELECT identifier FROM listing WHERE chatbot = ? AND feed = ? AND key = ? AND owned = 1',
  )
  const latest = column<string>(
    database,
    `SELECT key FROM listing WHERE chatbot = ? AND feed = ? AND owned = 1 AND content IS NOT NULL AND flight IS NULL
    ORDER BY sent_at DESC, key LIMIT ?`,
  )
  const addressed = column<1>(database, `SELECT 1 ${onOffer} AND ${field('Address')} = ? LIMIT 1`)
  // Cities are compared as feeds spell them, but for letter case and blanks around them.
  const offered = database.prepare<string[], Pick<FeedFigures, 'listings' | 'cities'>>(
    `SELECT count(*) AS listings, count(DISTINCT nullif(lower(trim(${field('City')})), '')) AS cities
    ${onOffer} AND feed = ?`,
  )
  // Homes for sale come before rentals, and among currencies, which can't be compared, the one of most listings.
  const minPrice = database.prepare<string[], NonNullable<FeedFigures['minPrice']>>(
    `SELECT min(price) AS amount, currency FROM (
      SELECT ${field('SaleType')} = 'for_sale' AS isSale, ${field('CurrencySymbol')} AS currency,
        CASE ${field('SaleType')} WHEN 'for_sale' THEN ${field('SalePrice')} ELSE ${field('RentPrice')} END AS price
      ${onOffer} AND feed = ?)
    WHERE price > 0 GROUP BY isSale, currency ORDER BY isSale DESC, count(*) DESC, currency LIMIT 1`,
  )
  const rows = listingRows(database)
  const confirmRow = database.prepare(`UPDATE listing SET owned = 1, feed = @feed, content = @content,
    raw = CASE WHEN @keep THEN raw ELSE @raw END, parts = CASE WHEN @keep THEN parts ELSE @parts END, mapping = @mapping,
    home = @home, born_at = coalesce(@bornAt, born_at), sent_at = @at, baseline = CASE WHEN ${isStillSuspect} THEN NULL ELSE @baseline END, moves_at = @movesAt,
    suspect_until = CASE WHEN suspect_until > @at THEN max(suspect_until, coalesce(@suspectUntil, 0)) ELSE @suspectUntil END,
    undone = CASE WHEN @isPutRight THEN undone + 1 ELSE 0 END,
    put_right_at = CASE WHEN @isPutRight THEN @at ELSE put_right_at END, ignored = @ignored AND NOT ${isStillSuspect}, flight = NULL, flight_at = NULL,
    identifier = CASE WHEN @sameListing THEN identifier ELSE @identifier END,
    refused_content = NULL, refused_mapping = NULL, refused_at = NULL, refused_message = NULL
    WHERE chatbot = @chatbot AND key = @key`)
  const savePayload = database.prepare('UPDATE payload SET packed = ?, listing = NULL, moving = ? WHERE id = ?')
  // A fresh row under the old id, so that nothing of the old one is taken for known.
  const disown = database.prepare(`INSERT OR REPLACE INTO listing (chatbot, key, id, feed, flight, flight_at)
    VALUES (@chatbot, @key, @id, @feed, 'delete', @at)`)
  const noteRefusal =
    database.prepare(`UPDATE listing SET flight = CASE WHEN @unsettled THEN flight END, flight_at = CASE WHEN @unsettled THEN flight_at END,
    feed = CASE owned WHEN 1 THEN feed ELSE @feed END, refused_content = @content, refused_mapping = @mapping,
    refused_at = @at, refused_message = @message WHERE chatbot = @chatbot AND key = @key`)
  const dropIdentifier = database.prepare('UPDATE listing SET identifier = NULL WHERE chatbot = ? AND key = ?')
  const touchRow =
    database.prepare(`UPDATE listing SET content = @content, raw = @raw, parts = @parts, mapping = @mapping,
    home = @home, moves_at = @movesAt WHERE id = @id AND owned = 1`)
  const saveMoving = database.prepare('UPDATE payload SET moving = ? WHERE id = ? AND moving IS NOT NULL')
  const setBaseline = database.prepare(`UPDATE listing SET baseline = @hash, ignored = @ignored,
    undone = CASE WHEN @isAtRest THEN 0 ELSE undone END
    WHERE chatbot = @chatbot AND key = @key AND owned = 1 AND flight IS NULL AND coalesce(suspect_until, 0) <= @now`)

  return {
    rows: (chatbot) => walk(connection, (after, most) => page.all(chatbot, after, most).map(rowIn)),
    inBrief: (chatbot, feed) => walk(connection, (after, most) => pageInBrief.all(feed, chatbot, after, most)),
    ...promised<Omit<SnapshotReader, 'rows' | 'inBrief'>>(connection, {
      // In one transaction, as look-ups outside of one take twice the time.
      rowsOf: database.transaction((chatbot: string, keys: readonly string[]) =>
        byKey(keys, (key) => {
          const row = wholeRow.get(chatbot, key)
          return row && rowIn(row)
        }),
      ),
      fingerprint(...of) {
        const hash = createHash('sha256')
        for (const [id, content] of contents.iterate(...of)) hash.update(`${id} ${content}\n`)
        return hash.digest('hex')
      },
      count: (chatbot, feed) => count.get(chatbot, feed)!,
      chatbots: (feed) => chatbots.all(feed),
      isEmpty: (chatbot, feed) => anyRow.get(chatbot, feed) === undefined,
      knownRecords: database.transaction((...of: [string, string, string]) => {
        const pages = knownPages(([raw, parts, id]) => known.all(...of, raw, parts, id))
        return hashesOf(countKnown.get(...of)!, pages)
      }),
      knownItems: database.transaction((...of: [string, string]) => {
        const pages = knownPages(([, , , key]) => baselinesOf.all(...of, key))
        return hashesOf(countAsBefore.get(...of)!, pages)
      }),
      recall: (ids) =>
        byKey(ids, (id) => {
          const found = payload.get(id)
          if (found === undefined) throw storeError(file, `no listing is remembered under number ${id}`)
          return parsed(found)
        }),
      ids: (chatbot, feed, keys) => byKey(keys, (key) => idOf.get(chatbot, feed, key)),
      confirmed: (chatbot, feed, keys) =>
        byKey(keys, (key) => {
          const found = confirmed.get(chatbot, feed, key)
          return found && parsed(found)
        }),
      baselines: (chatbot, keys) => byKey(keys, (key) => baseline.get(chatbot, key) ?? undefined),
      identifier: (...of) => identifier.get(...of) ?? null,
      latest: (chatbot, feed, most) => latest.all(chatbot, feed, most),
      hasAddress: (chatbot, address) => addressed.get(chatbot, address) !== undefined,
      figures: (...of) => ({ ...offered.get(...of)!, minPrice: minPrice.get(...of) ?? null }),
    }),
    ...inGroups<Writes<Snapshot, SnapshotReader>>(connection, {
      confirm(chatbot, confirmations) {
        for (const { sent, record, identifier, ...columns } of confirmations) {
          const { id } = rows.findOrAdd(chatbot, columns.key, columns.feed)
          confirmRow.run({
            ...columns,
            chatbot,
            isPutRight: columns.isPutRight ? 1 : 0,
            ignored: columns.ignored ? 1 : 0,
            keep: record === null ? 1 : 0,
            raw: record?.raw ?? null,
            parts: record?.parts ?? 1,
            sameListing: identifier === undefined ? 1 : 0,
            identifier: identifier ?? null,
          })
          savePayload.run(pack(JSON.stringify(sent.listing)), JSON.stringify(sent.moving), id)
        }
      },
      forget(chatbot, keys, unsettledAt) {
        for (const key of keys) {
          const row = rows.find(chatbot, key)
          if (row === undefined) continue
          if (unsettledAt === null || row.flight !== 'delete') {
            rows.remove(chatbot, key, row.id)
            continue
          }
          savePayload.run(null, null, row.id)
          disown.run({ chatbot, key, id: row.id, feed: row.feed, at: unsettledAt })
        }
      },
      forgetIdentifier: (chatbot, key) => void dropIdentifier.run(chatbot, key),
      refuse(chatbot, feed, key, refusal) {
        rows.findOrAdd(chatbot, key, feed)
        noteRefusal.run({ chatbot, feed, key, ...refusal, unsettled: refusal.unsettled === true ? 1 : 0 })
      },
      touch(touches) {
        for (const { moving, ...columns } of touches) {
          touchRow.run(columns)
          saveMoving.run(JSON.stringify(moving), columns.id)
        }
      },
      setBaselines(chatbot, baselines, now) {
        for (const { key, hash, ignored, isAtRest } of baselines)
          setBaseline.run({ chatbot, now, key, hash, ignored: ignored ? 1 : 0, isAtRest: isAtRest ? 1 : 0 })
      },
    }),
  }
}

/** Rows in pages; `page` gives the rows after one. Read one by one from SQLite they would take twice the time. */
function* knownPages(page: (last: KnownRow) => KnownRow[]): Generator<KnownRow[]> {
  for (let last: KnownRow | undefined = ['', 0, 0, '']; last !== undefined;) {
    const rows = page(last)
    yield rows
    last = rows.length < knownPage ? undefined : rows.at(-1)
  }
}

function hashesOf(count: number, pages: Iterable<readonly KnownRow[]>): KnownHashes {
  const known = knownHashes(count)
  for (const page of pages) known.add(page)
  return known
}

/** What `find` gives for each key, without keys for which it gives nothing. */
export function byKey<Key, Value>(keys: readonly Key[], find: (key: Key) => Value | undefined): Map<Key, Value> {
  const found = new Map<Key, Value>()
  for (const key of keys) {
    const value = find(key)
    if (value !== undefined) found.set(key, value)
  }
  return found
}

interface ListingRow {
  id: number
  feed: string
  owned: number
  flight: string | null
  flightAt: number | null
  refusedAt: number | null
}

/** Rows of `listing`, owned or not, each with its payload: the ledger's marks stand on them, too. */
export function listingRows(database: Database.Database) {
  const rowOf = database.prepare<[string, string], ListingRow>(
    'SELECT id, feed, owned, flight, flight_at AS flightAt, refused_at AS refusedAt FROM listing WHERE chatbot = ? AND key = ?',
  )
  const addPayload = database.prepare('INSERT INTO payload DEFAULT VALUES')
  const add = database.prepare('INSERT INTO listing (chatbot, key, id, feed) VALUES (?, ?, ?, ?)')
  const removeRow = database.prepare('DELETE FROM listing WHERE chatbot = ? AND key = ?')
  const removePayload = database.prepare('DELETE FROM payload WHERE id = ?')
  return {
    find: (chatbot: string, key: string) => rowOf.get(chatbot, key),
    /** A new row is neither owned nor marked. */
    findOrAdd(chatbot: string, key: string, feed: string): ListingRow {
      const row = rowOf.get(chatbot, key)
      if (row !== undefined) return row
      const id = Number(addPayload.run().lastInsertRowid)
      add.run(chatbot, key, id, feed)
      return { id, feed, owned: 0, flight: null, flightAt: null, refusedAt: null }
    },
    remove(chatbot: string, key: string, id: number): void {
      removeRow.run(chatbot, key)
      removePayload.run(id)
    },
  }
}
