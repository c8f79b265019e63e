/** Deliveries on SQLite: `feed` has what the next one is compared with and asked for with, `pending` what deltas left to do. */
import { inTransactions, promised, walk } from './door.ts'
import type { Connection, Writes } from './door.ts'
import { pack } from './packed.ts'
import { byKey } from './snapshot.ts'
import type { Deliveries, DeliveriesReader, LastDelivery, Pending } from './store.ts'

/** Members that are kept as JSON. */
const structured = ['loaded', 'written', 'keyless', 'validators'] as const
type Stored = Omit<LastDelivery, (typeof structured)[number]> & Record<(typeof structured)[number], string | null>

type PendingRow = Omit<Pending, 'delivered'> & { delivered: string }
const parsed = ({ delivered, ...row }: PendingRow): Pending => ({ ...row, delivered: JSON.parse(delivered) })

/** The last delivery of a feed that has had none. */
export const noDelivery: LastDelivery = {
  loaded: null,
  completeAt: null,
  written: null,
  mapping: null,
  keyless: [],
  lastKey: null,
  validators: null,
}

export function createDeliveries(connection: Connection): Deliveries {
  const { database } = connection
  const find = database.prepare<[string], Stored>(
    `SELECT loaded, complete_at AS completeAt, written, mapping, keyless, last_key AS lastKey, validators
    FROM feed WHERE name = ?`,
  )
  const set = database.prepare(`INSERT INTO feed (name, loaded, complete_at, written, mapping, keyless, last_key,
      validators)
    VALUES (@feed, @loaded, @completeAt, @written, @mapping, @keyless, @lastKey, @validators) ON CONFLICT (name) DO UPDATE SET
    loaded = @loaded, complete_at = @completeAt, written = @written, mapping = @mapping, keyless = @keyless,
    last_key = @lastKey, validators = @validators`)
  const last = (feed: string): LastDelivery => {
    const row = find.get(feed)
    if (row === undefined) return noDelivery
    const parsed = structured.map((name) => [name, JSON.parse(row[name] ?? 'null')])
    return { ...row, ...Object.fromEntries(parsed) }
  }
  const columns = 'SELECT key, unpack(delivered) AS delivered, at FROM pending WHERE feed = ?'
  const page = database.prepare<[string, string, number], PendingRow>(`${columns} AND key > ? ORDER BY key LIMIT ?`)
  const pendingOne = database.prepare<[string, string], PendingRow>(`${columns} AND key = ?`)
  const note = database.prepare(`INSERT INTO pending (feed, key, delivered, at, noted)
    VALUES (@feed, @key, @packed, @at, @now) ON CONFLICT (feed, key) DO UPDATE SET
    at = @at, delivered = @packed, noted = @now`)
  const prune = database.prepare('DELETE FROM pending WHERE feed = ? AND noted <> ?')
  const end = database.prepare('DELETE FROM pending WHERE feed = ? AND key = ?')
  return {
    pending: (feed) => walk(connection, (after, most) => page.all(feed, after, most).map(parsed)),
    ...promised<Omit<DeliveriesReader, 'pending'>>(connection, {
      last,
      pendingOf: (feed, keys) =>
        byKey(keys, (key) => {
          const found = pendingOne.get(feed, key)
          return found && parsed(found)
        }),
    }),
    ...inTransactions<Writes<Deliveries, DeliveriesReader>>(connection, {
      record(feed, noted) {
        const all = { ...last(feed), ...noted }
        const written = structured.map((name) => [name, JSON.stringify(all[name])])
        set.run({ ...all, ...Object.fromEntries(written), feed })
      },
      notePending(feed, pending, now) {
        for (const { key, delivered, at } of pending)
          note.run({ feed, key, packed: pack(JSON.stringify(delivered)), at, now })
      },
      prunePending: (feed, now) => void prune.run(feed, now),
      endPending(feed, keys) {
        for (const key of keys) end.run(feed, key)
      },
    }),
  }
}
