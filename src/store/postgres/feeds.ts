/** On PostgreSQL: what the next delivery of a feed is compared with, records of live sources, and what was learnt. */
import type { KeptRecord } from '../../core/records.ts'
import { noDelivery } from '../deliveries.ts'
import { historyKept } from '../learnt.ts'
import type { Deliveries, LastDelivery, Learnt, Pending, Records, Writer } from '../store.ts'
import { distinct, inOrder, jsonOf, walk } from './door.ts'
import type { Asker, Door } from './door.ts'

/** Members that are kept as JSON. */
const structured = ['loaded', 'written', 'keyless', 'validators'] as const
type Stored = Omit<LastDelivery, (typeof structured)[number]> & Record<(typeof structured)[number], string | null>
type PendingRow = Omit<Pending, 'delivered'> & { delivered: string }
const pendingOf = ({ delivered, ...row }: PendingRow): Pending => ({ ...row, delivered: JSON.parse(delivered) })

export function createDeliveries(door: Door): Deliveries {
  async function last(asker: Pick<Asker, 'all'>, feed: string): Promise<LastDelivery> {
    const [row] = await asker.all<Stored>(
      `SELECT loaded, complete_at AS "completeAt", written, mapping, keyless, last_key AS "lastKey", validators
      FROM feed WHERE name = $1`,
      [feed],
    )
    if (row === undefined) return noDelivery
    const parsed = structured.map((name) => [name, JSON.parse(row[name] ?? 'null')])
    return { ...row, ...Object.fromEntries(parsed) } as LastDelivery
  }
  const columns = 'SELECT key, delivered, at FROM pending WHERE feed = $1'
  return {
    last: (feed) => last(door, feed),
    pending: (feed) =>
      walk(async (after, most) =>
        (await door.all<PendingRow>(`${columns} AND key > $2 ORDER BY key LIMIT $3`, [feed, after, most])).map(
          pendingOf,
        ),
      ),
    pendingOf: async (feed, keys) =>
      inOrder(
        keys,
        (await door.all<PendingRow>(`${columns} AND key = ANY ($2)`, [feed, keys])).map((row) => [
          row.key,
          pendingOf(row),
        ]),
      ),
    record: (feed, noted) =>
      door.writeOf(feed, async (asker) => {
        const { completeAt, mapping, lastKey, ...all } = { ...(await last(asker, feed)), ...noted }
        await asker.run(
          `INSERT INTO feed (name, complete_at, mapping, last_key, ${structured.join(', ')})
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO UPDATE SET complete_at = excluded.complete_at,
            mapping = excluded.mapping, last_key = excluded.last_key,
            ${structured.map((name) => `${name} = excluded.${name}`).join(', ')}`,
          [feed, completeAt, mapping, lastKey, ...structured.map((name) => JSON.stringify(all[name]))],
        )
      }),
    notePending: (feed, pending, now) =>
      door.writeOf(feed, async (asker) => {
        for (const group of distinct(pending, ({ key }) => key)) {
          const rows = group.map(({ key, delivered, at }) => ({ key, delivered: JSON.stringify(delivered), at }))
          await asker.run(
            `INSERT INTO pending (feed, key, delivered, at, noted) SELECT $1, c.key, c.delivered, c.at, $3::bigint
              FROM json_to_recordset($2::json) AS c(key text, delivered text, at bigint)
            ON CONFLICT (feed, key) DO UPDATE SET noted = excluded.noted, delivered = excluded.delivered, at = excluded.at`,
            [feed, jsonOf(rows), now],
          )
        }
      }),
    prunePending: (feed, now) =>
      door.writeOf(feed, async (asker) => {
        await asker.run('DELETE FROM pending WHERE feed = $1 AND noted <> $2', [feed, now])
      }),
    endPending: (feed, keys) =>
      door.writeOf(feed, async (asker) => {
        await asker.run('DELETE FROM pending WHERE feed = $1 AND key = ANY ($2)', [feed, keys])
      }),
  }
}

export function createRecords(door: Door): Records {
  const note = (asker: Asker, feed: string, progress: object): Promise<number> =>
    asker.run(
      'INSERT INTO source (feed, progress) VALUES ($1, $2) ON CONFLICT (feed) DO UPDATE SET progress = excluded.progress',
      [feed, JSON.stringify(progress)],
    )
  return {
    progress: async (feed) =>
      JSON.parse(
        (await door.get<{ progress: string }>('SELECT progress FROM source WHERE feed = $1', [feed]))?.progress ??
          'null',
      ),
    stamps: async (feed, keys) =>
      inOrder(
        keys,
        (
          await door.all<{ key: string; stamp: string }>(
            'SELECT key, stamp FROM source_record WHERE feed = $1 AND key = ANY ($2)',
            [feed, keys],
          )
        ).map(({ key, stamp }) => [key, stamp]),
      ),
    rows: (feed) =>
      walk((after, most) =>
        door.all<KeptRecord>(
          'SELECT key, stamp, body FROM source_record WHERE feed = $1 AND key > $2 ORDER BY key LIMIT $3',
          [feed, after, most],
        ),
      ),
    begin: (feed, progress) =>
      door.writeOf(feed, async (asker) => {
        await asker.run('DELETE FROM source_record WHERE feed = $1', [feed])
        await note(asker, feed, progress)
      }),
    keep: (feed, records, progress) =>
      door.writeOf(feed, async (asker) => {
        for (const group of distinct(records, ({ key }) => key))
          await asker.run(
            `INSERT INTO source_record (feed, key, stamp, body) SELECT $1, c.key, c.stamp, decode(c.body, 'base64')
              FROM json_to_recordset($2::json) AS c(key text, stamp text, body text)
            ON CONFLICT (feed, key) DO UPDATE SET stamp = excluded.stamp, body = excluded.body`,
            [feed, jsonOf(group.map(({ key, stamp, body }) => ({ key, stamp, body: body.toString('base64') })))],
          )
        await note(asker, feed, progress)
      }),
    drop: (feed, keys, progress) =>
      door.writeOf(feed, async (asker) => {
        await asker.run('DELETE FROM source_record WHERE feed = $1 AND key = ANY ($2)', [feed, keys])
        await note(asker, feed, progress)
      }),
  }
}

export function createLearnt(door: Door): Learnt {
  const setSettings = async (
    asker: Asker,
    chatbot: string,
    settings: Iterable<[string, unknown]>,
    now: number,
  ): Promise<void> => {
    const rows = Array.from(settings, ([name, value]) => ({ name, value: JSON.stringify(value) }))
    for (const group of distinct(rows, ({ name }) => name))
      await asker.run(
        `INSERT INTO setting (chatbot, name, value, at) SELECT $1, c.name, c.value, $3
          FROM json_to_recordset($2::json) AS c(name text, value text)
        ON CONFLICT (chatbot, name) DO UPDATE SET value = excluded.value, at = excluded.at`,
        [chatbot, jsonOf(group), now],
      )
  }
  return {
    number: async (chatbot, name) =>
      (await door.get<{ value: number }>('SELECT value FROM learnt WHERE chatbot = $1 AND name = $2', [chatbot, name]))
        ?.value ?? null,
    keys: async (chatbot, feed) =>
      (await door.get<{ keys: number }>('SELECT keys FROM keys_used WHERE chatbot = $1 AND feed = $2', [chatbot, feed]))
        ?.keys ?? null,
    writers: async (chatbot, feed) =>
      new Map(
        (
          await door.all<Writer & { store: string }>(
            `SELECT store, run, since, looked_at AS "lookedAt", rose_at AS "roseAt", wrote_at AS "wroteAt" FROM writer
            WHERE chatbot = $1 AND feed = $2 ORDER BY store`,
            [chatbot, feed],
          )
        ).map(({ store, ...writer }) => [store, writer]),
      ),
    forms: async (feed) =>
      JSON.parse((await door.get<{ forms: string }>('SELECT forms FROM feed WHERE name = $1', [feed]))?.forms ?? '[]'),
    settings: async (chatbot, since = 0) =>
      new Map(
        (
          await door.all<{ name: string; value: string }>(
            'SELECT name, value FROM setting WHERE chatbot = $1 AND at >= $2 ORDER BY name',
            [chatbot, since],
          )
        ).map(({ name, value }) => [name, JSON.parse(value)]),
      ),
    settingsHistory: async (chatbot) =>
      (
        await door.all<{ number: number; at: number; changes: string }>(
          `SELECT number, at, changes FROM setting_change WHERE chatbot = $1 ORDER BY number DESC LIMIT ${historyKept}`,
          [chatbot],
        )
      ).map(({ number, at, changes }) => ({ number, at, changes: JSON.parse(changes) })),
    setNumber: (chatbot, name, value) =>
      door.write(chatbot, async (asker) => {
        await asker.run(
          'INSERT INTO learnt VALUES ($1, $2, $3) ON CONFLICT (chatbot, name) DO UPDATE SET value = excluded.value',
          [chatbot, name, value],
        )
      }),
    setKeys: (chatbot, feed, keys) =>
      door.write(chatbot, async (asker) => {
        await asker.run(
          'INSERT INTO keys_used VALUES ($1, $2, $3) ON CONFLICT (chatbot, feed) DO UPDATE SET keys = excluded.keys',
          [chatbot, feed, keys],
        )
      }),
    setWriters: (chatbot, feed, writers) =>
      door.write(chatbot, async (asker) => {
        const rows = Array.from(writers, ([store, writer]) => ({ store, ...writer }))
        await asker.run(
          `INSERT INTO writer (chatbot, feed, store, run, since, looked_at, rose_at, wrote_at)
            SELECT $1, $2, c.store, c.run, c.since, c."lookedAt", c."roseAt", c."wroteAt" FROM json_to_recordset($3::json)
              AS c(store text, run bigint, since bigint, "lookedAt" bigint, "roseAt" bigint, "wroteAt" bigint)
          ON CONFLICT (chatbot, feed, store) DO UPDATE SET run = excluded.run, since = excluded.since,
            looked_at = excluded.looked_at, rose_at = excluded.rose_at, wrote_at = excluded.wrote_at`,
          [chatbot, feed, jsonOf(rows)],
        )
      }),
    addForms: (feed, fields) =>
      door.writeOf(feed, async (asker) => {
        await asker.run('INSERT INTO feed (name) VALUES ($1) ON CONFLICT DO NOTHING', [feed])
        const [{ forms }] = await asker.all<{ forms: string }>('SELECT forms FROM feed WHERE name = $1 FOR UPDATE', [
          feed,
        ])
        const all = [...new Set([...(JSON.parse(forms) as string[]), ...fields])].sort()
        await asker.run('UPDATE feed SET forms = $2 WHERE name = $1', [feed, JSON.stringify(all)])
      }),
    setSettings: (chatbot, settings, now) => door.write(chatbot, (asker) => setSettings(asker, chatbot, settings, now)),
    applySettings: (chatbot, changes, now) =>
      door.write(chatbot, async (asker) => {
        await setSettings(
          asker,
          chatbot,
          changes.map(({ name, to }) => [name, to]),
          now,
        )
        await asker.run('INSERT INTO setting_change (chatbot, at, changes) VALUES ($1, $2, $3)', [
          chatbot,
          now,
          JSON.stringify(changes),
        ])
        await asker.run(
          `DELETE FROM setting_change WHERE chatbot = $1 AND number <=
            (SELECT number FROM setting_change WHERE chatbot = $1 ORDER BY number DESC LIMIT 1 OFFSET ${historyKept})`,
          [chatbot],
        )
      }),
    forgetSettings: (chatbot, names) =>
      door.write(chatbot, async (asker) => {
        await asker.run('DELETE FROM setting WHERE chatbot = $1 AND name = ANY ($2)', [chatbot, names])
      }),
  }
}
