/** The deliveries on SQLite: sizes in `delivery`, fingerprints in `generation`, validators in `feed`. */
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Deliveries, DeliveriesReader, Generation } from './store.ts'

/** The guard takes the median of five. */
const deliveriesKept = 5
/** Of a feed that comes every half hour, those of most of a day. */
const generationsKept = 30

interface StoredGeneration extends Omit<Generation, 'written'> {
  by: 'document' | 'server' | null
  writtenAt: number
}

export function createDeliveries(connection: Connection): Deliveries {
  const { database } = connection
  const accepted = database.prepare<[string], { at: number; records: number }>(
    'SELECT at, records FROM delivery WHERE feed = ? ORDER BY number DESC',
  )
  const lastKeys = column<Buffer>(database, 'SELECT keys FROM delivery WHERE feed = ? AND keys IS NOT NULL')
  const generations = database.prepare<string[], StoredGeneration>(
    `SELECT digest, at, written_by AS by, written_at AS writtenAt FROM generation
    WHERE feed = ? AND source = ? ORDER BY number DESC`,
  )
  const validators = column<string | null>(database, 'SELECT validators FROM feed WHERE name = ?')
  const dropKeys = database.prepare('UPDATE delivery SET keys = NULL WHERE feed = ? AND keys IS NOT NULL')
  const forgetAll = database.prepare('DELETE FROM delivery WHERE feed = ?')
  const add = database.prepare('INSERT INTO delivery (feed, at, records, keys) VALUES (?, ?, ?, ?)')
  const prune = database.prepare(`DELETE FROM delivery WHERE feed = @feed AND number <=
    (SELECT number FROM delivery WHERE feed = @feed ORDER BY number DESC LIMIT 1 OFFSET ${deliveriesKept})`)
  const setValidators = database.prepare(`INSERT INTO feed (name, validators) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET validators = excluded.validators`)
  const nextNumber = column<number>(database, 'SELECT coalesce(max(number), 0) + 1 FROM generation WHERE feed = ?')
  const dropOthers = database.prepare('DELETE FROM generation WHERE feed = ? AND source <> ?')
  const addGeneration = database.prepare('INSERT OR REPLACE INTO generation VALUES (?, ?, ?, ?, ?, ?, ?)')
  const pruneGenerations = database.prepare('DELETE FROM generation WHERE feed = ? AND number <= ?')
  return {
    ...promised<DeliveriesReader>(connection, {
      accepted: (feed) => accepted.all(feed),
      lastKeys(feed) {
        const blob = lastKeys.get(feed)
        if (blob === undefined) return null
        // Copied: a Buffer may begin where no 64-bit number can.
        return new BigUint64Array(blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.byteLength))
      },
      generations: (feed, source) =>
        generations
          .all(feed, source)
          .map(({ by, writtenAt, ...generation }) => ({ ...generation, written: by && { by, at: writtenAt } })),
      validators: (feed) => JSON.parse(validators.get(feed) ?? 'null'),
    }),
    ...inTransactions<Writes<Deliveries, DeliveriesReader>>(connection, {
      record(feed, delivery, validators) {
        if (delivery !== null) {
          const { at, records, keys, alone } = delivery
          if (alone) forgetAll.run(feed)
          dropKeys.run(feed)
          add.run(feed, at, records, Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength))
          prune.run({ feed })
        }
        setValidators.run(feed, JSON.stringify(validators))
      },
      recordGeneration(feed, source, { digest, at, written }) {
        const number = nextNumber.get(feed)!
        // Times of another server, or of another sender's program, are no measure.
        dropOthers.run(feed, source)
        addGeneration.run(feed, source, digest, number, at, written?.by ?? null, written?.at ?? null)
        pruneGenerations.run(feed, number - generationsKept)
      },
    }),
  }
}
