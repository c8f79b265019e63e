/** The deliveries on SQLite: what the next one is compared with, and the validators, all in `feed`. */
import { column } from './connection.ts'
import { inTransactions, promised } from './door.ts'
import type { Connection, Writes } from './door.ts'
import type { Deliveries, DeliveriesReader, LastDelivery } from './store.ts'

type Stored = Omit<LastDelivery, 'loaded' | 'written' | 'keyless'> & {
  loaded: string | null
  written: string | null
  keyless: string
}

const none: LastDelivery = { loaded: null, completeAt: null, written: null, mapping: null, keyless: [] }

export function createDeliveries(connection: Connection): Deliveries {
  const { database } = connection
  const find = database.prepare<[string], Stored>(
    'SELECT loaded, complete_at AS completeAt, written, mapping, keyless FROM feed WHERE name = ?',
  )
  const validators = column<string | null>(database, 'SELECT validators FROM feed WHERE name = ?')
  const set = database.prepare(`INSERT INTO feed (name, loaded, complete_at, written, mapping, keyless)
    VALUES (@feed, @loaded, @completeAt, @written, @mapping, @keyless) ON CONFLICT (name) DO UPDATE SET
    loaded = @loaded, complete_at = @completeAt, written = @written, mapping = @mapping, keyless = @keyless`)
  const setValidators = database.prepare(`INSERT INTO feed (name, validators) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET validators = excluded.validators`)
  const last = (feed: string): LastDelivery => {
    const row = find.get(feed)
    if (row === undefined) return none
    const [loaded, written, keyless] = [row.loaded, row.written, row.keyless].map((text) => JSON.parse(text ?? 'null'))
    return { ...row, loaded, written, keyless }
  }
  return {
    ...promised<DeliveriesReader>(connection, {
      last,
      validators: (feed) => JSON.parse(validators.get(feed) ?? 'null'),
    }),
    ...inTransactions<Writes<Deliveries, DeliveriesReader>>(connection, {
      record(feed, noted) {
        const { completeAt, mapping, ...others } = { ...last(feed), ...noted }
        const [loaded, written, keyless] = [others.loaded, others.written, others.keyless].map((it) =>
          JSON.stringify(it),
        )
        set.run({ feed, completeAt, mapping, loaded, written, keyless })
      },
      setValidators: (feed, saved) => void setValidators.run(feed, JSON.stringify(saved)),
    }),
  }
}
