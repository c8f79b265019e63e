/** The delivery in the workspace: what the feed's records became. */
import type Database from 'better-sqlite3'
import { BitSet } from '../core/bit-set.ts'
import type { Delivered, MovingListing, Problem } from '../core/listing.ts'
import type { DeliveredRow } from '../plan/inputs.ts'
import { inOneGo, paged } from './scratch-file.ts'
import type { NewDelivered, RejectRow, StoredDelivered, Workspace } from './workspace.ts'

const pageRows = 1000
/** Most MLSNumbers have one record. */
const readablePage = 20

interface StoredReject {
  position: number
  at: string
  key: string | null
  problems: string
}

export function createDelivery(database: Database.Database) {
  const insert = database.prepare('INSERT INTO delivered VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const add = (row: NewDelivered, key: string, why: string | null): void => {
    const { position, delivered, content, raw, parts, home, movesAt } = row
    insert.run(key, position, delivered.at, delivered.kind, why, content, raw, parts, home, movesAt)
  }
  const addListing = database.prepare('INSERT INTO delivered_listing VALUES (?, ?, ?, ?)')
  const addReject = database.prepare('INSERT INTO reject VALUES (?, ?, ?, ?)')
  const listingAt = database.prepare<[number], { listing: string; moving: string }>(
    'SELECT listing, moving FROM delivered_listing WHERE position = ?',
  )
  const columns = 'key, position, at, kind, why, content, raw, parts, home, moves_at AS movesAt'
  const page = database.prepare<[string, number], StoredDelivered>(
    `SELECT ${columns} FROM delivered WHERE (key, position) > (?, ?) ORDER BY key, position LIMIT ${pageRows}`,
  )
  const rowAt = database.prepare<[{ position: number }], StoredDelivered>(
    `SELECT ${columns} FROM delivered WHERE position = @position
      AND key = (SELECT key FROM delivered_listing WHERE position = @position)`,
  )
  type Readable = Pick<StoredDelivered, 'kind' | 'at' | 'why' | 'position'>
  const readable = database.prepare<[string, number], Readable>(
    `SELECT kind, at, why, position FROM delivered WHERE key = ? AND position > ? AND kind <> 'reject'
      ORDER BY position LIMIT ${readablePage}`,
  )
  const anyRow = database
    .prepare<[string, number], number>('SELECT 1 FROM delivered WHERE key = ? AND position > ? LIMIT 1')
    .pluck()
  const remove = database.prepare<[string], Pick<StoredDelivered, 'kind'>>(
    "DELETE FROM delivered WHERE key = ? AND kind <> 'reject' RETURNING kind",
  )
  interface Place {
    position: number
    kind: Delivered['kind']
  }
  const places = database.prepare<[string, number], Place>(
    'SELECT position, kind FROM delivered WHERE key = ? AND position <= ?',
  )
  const removeAt = database.prepare('DELETE FROM delivered WHERE key = ? AND position = ?')
  const [removeRejects, removeListings] = ['reject', 'delivered_listing'].map((table) =>
    database.prepare<[number, number]>(`DELETE FROM ${table} WHERE position > ? AND position <= ?`),
  )
  const pageOfRejects = database.prepare<[number], StoredReject>(
    `SELECT * FROM reject WHERE position > ? ORDER BY position LIMIT ${pageRows}`,
  )
  function readListing(position: number): MovingListing {
    const row = listingAt.get(position)
    if (row === undefined) throw new Error(`Position ${position} of the delivery holds no listing`)
    return { listing: JSON.parse(row.listing), moving: JSON.parse(row.moving) }
  }
  const seen = new BitSet()
  let areAllSeen = false
  return {
    addDelivered: inOneGo(database, (rows: readonly NewDelivered[]) => {
      for (const row of rows) {
        const { position, delivered } = row
        if (delivered.kind === 'listing') {
          const { listing, moving } = delivered
          add(row, listing.MLSNumber, null)
          addListing.run(position, listing.MLSNumber, JSON.stringify(listing), JSON.stringify(moving))
        } else if (delivered.kind === 'reject') {
          const problems = delivered.problems.map(problemInWords)
          addReject.run(position, delivered.at, delivered.mlsNumber, JSON.stringify(problems))
          if (delivered.mlsNumber !== null) add(row, delivered.mlsNumber, problems.join('; '))
        } else add(row, delivered.mlsNumber, delivered.why)
      }
    }),
    *delivered(): Generator<DeliveredRow> {
      const rows = paged<StoredDelivered>(pageRows, (last) => page.all(last?.key ?? '', last?.position ?? -1))
      for (const row of rows) yield Object.assign(row, { listing: () => readListing(row.position) })
    },
    addSeen: (id: number) => seen.add(id) && !areAllSeen,
    addAllSeen(): void {
      areAllSeen = true
    },
    isSeen: (id: number) => areAllSeen || seen.has(id),
    takeBack(key: string, id: number | null): Delivered['kind'][] {
      const taken = remove.all(key).map(({ kind }) => kind)
      return id !== null && seen.delete(id) ? [...taken, 'listing'] : taken
    },
    replace: inOneGo<Parameters<Workspace['replace']>, ReturnType<Workspace['replace']>>(
      database,
      (records, upTo, isLater) =>
        records.map(({ key, isReadable }) => {
          const before = places.all(key, upTo)
          if (before.some(({ position, kind }) => kind !== 'reject' && isLater(position))) return null
          const replaced = isReadable ? before.filter(({ position }) => !isLater(position)) : []
          for (const { position } of replaced) {
            removeAt.run(key, position)
            for (const from of [removeRejects, removeListings]) from.run(position - 1, position)
          }
          return replaced.map(({ kind }) => kind)
        }),
    ),
    drop: inOneGo<Parameters<Workspace['drop']>, Delivered['kind'][]>(database, (spans) => {
      // Only a delivery of several documents needs it.
      database.exec('CREATE INDEX IF NOT EXISTS delivered_by_position ON delivered (position)')
      const removeRows = database.prepare<[number, number], Place>(
        'DELETE FROM delivered WHERE position > ? AND position <= ? RETURNING kind',
      )
      return spans.flatMap((span) => {
        removeListings.run(...span)
        const rejects = Array.from({ length: removeRejects.run(...span).changes }, () => 'reject' as const)
        return [...rejects, ...removeRows.all(...span).flatMap(({ kind }) => (kind === 'reject' ? [] : kind))]
      })
    }),
    *deliveredAs(key: string): Generator<Delivered> {
      const rows = paged<Readable>(readablePage, (last) => readable.all(key, last?.position ?? -1))
      for (const { kind, at, why, position } of rows)
        if (kind === 'listing') yield { kind, at, ...readListing(position) }
        else yield { kind: kind as 'removal' | 'filtered', at, mlsNumber: key, why: why! }
    },
    isReadable: (key: string) => readable.get(key, -1) !== undefined,
    isDelivered: (key: string, behind = -1) => anyRow.get(key, behind) !== undefined,
    deliveredAt(position: number): StoredDelivered & MovingListing {
      const listing = readListing(position)
      return Object.assign(rowAt.get({ position })!, listing)
    },
    *rejects(): Generator<RejectRow> {
      const rows = paged<StoredReject>(pageRows, (last) => pageOfRejects.all(last?.position ?? -1))
      for (const { at, key, problems } of rows) yield { at, mlsNumber: key, problems: JSON.parse(problems) }
    },
  }
}

/** One problem as a sentence. Where nothing was found (`value` null) the problem itself says that it is missing. */
function problemInWords({ field, value, problem }: Problem): string {
  return value === null ? `${field}: ${problem}` : `${field}: '${value}' ${problem}`
}
