/** The snapshot on PostgreSQL: the rows of `listing` that are owned, and in `payload` what was sent. */
import { createHash } from 'node:crypto'
import type { FeedFigures } from '../../core/figures.ts'
import type { Listing } from '../../core/listing.ts'
import type { RowInBrief, SnapshotRow } from '../../plan/inputs.ts'
import { parsed, rowColumns, settled } from '../listing-row.ts'
import type { Payload } from '../listing-row.ts'
import { knownHashes } from '../known-hashes.ts'
import type { KnownRow } from '../known-hashes.ts'
import type { KnownHashes, Snapshot } from '../store.ts'
import { distinct, inOrder, jsonOf, walk } from './door.ts'
import type { Asker, Door } from './door.ts'
import { storeError } from './failure.ts'

/** While an earlier attempt may still land, that the old state is shown does not mean that the write was ignored. */
const isStillSuspect = '(c.ignored AND coalesce(l.suspect_until, 0) > c.at)'
const onOffer = `FROM listing JOIN payload USING (id) WHERE chatbot = $1 AND owned AND payload.offer IS NOT NULL
  AND payload.offer::json ->> 'status' <> 'Sold'`

/** The parts of a listing that queries look for. */
export function lookedFor(listing: Listing): { address: string | null; offer: string } {
  const { Address, Status, SaleType, CurrencySymbol, SalePrice, RentPrice, City } = listing
  const offer = { status: Status, sale: SaleType === 'for_sale', currency: CurrencySymbol, city: City }
  return {
    address: Address ?? null,
    offer: jsonOf({ ...offer, price: SaleType === 'for_sale' ? SalePrice : RentPrice }),
  }
}

export function createSnapshot(door: Door): Snapshot {
  /** Of all rows that `which` selects of a feed; it takes the values from $5 on. */
  async function hashesOf(
    columns: string,
    which: string,
    chatbot: string,
    feed: string,
    ...values: string[]
  ): Promise<KnownHashes> {
    const rows = `FROM listing WHERE chatbot = $1 AND feed = $2 AND owned AND key > $3 AND ${which}`
    const sql = `SELECT key, id, ${columns} ${rows} ORDER BY key LIMIT $4`
    const asked = (after: string, most: number): (string | number)[] => [chatbot, feed, after, most, ...values]
    const count = await door.get<{ rows: number }>(`SELECT count(*) AS rows ${rows} LIMIT $4`, asked('', 1))
    const known = knownHashes(count!.rows)
    const pages = walk(
      (after, most) => door.all<{ key: string; hash: string; parts: number; id: number }>(sql, asked(after, most)),
      20_000,
    )
    for await (const page of pages) known.add(page.map(({ hash, parts, id }): KnownRow => [hash, parts, id]))
    return known
  }
  return {
    rows: (chatbot) =>
      walk((after, most) =>
        door.all<SnapshotRow>(
          `SELECT ${rowColumns} FROM listing WHERE chatbot = $1 AND key > $2 ORDER BY key LIMIT $3`,
          [chatbot, after, most],
        ),
      ),
    inBrief: (chatbot, feed) =>
      walk((after, most) =>
        door.all<RowInBrief>(
          `SELECT id, key, CASE WHEN feed = $2 AND owned AND NOT ignored AND ${settled} THEN sent_at END AS "settledSince"
          FROM listing WHERE chatbot = $1 AND key > $3 ORDER BY key LIMIT $4`,
          [chatbot, feed, after, most],
        ),
      ),
    rowsOf: async (chatbot, keys) =>
      inOrder(
        keys,
        (
          await door.all<SnapshotRow>(`SELECT ${rowColumns} FROM listing WHERE chatbot = $1 AND key = ANY ($2)`, [
            chatbot,
            keys,
          ])
        ).map((row) => [row.key, row]),
      ),
    async fingerprint(chatbot, feed) {
      const hash = createHash('sha256')
      const pages = walk((after, most) =>
        door.all<{ key: string; id: number; content: string | null }>(
          'SELECT key, id, content FROM listing WHERE chatbot = $1 AND feed = $2 AND owned AND key > $3 ORDER BY key LIMIT $4',
          [chatbot, feed, after, most],
        ),
      )
      for await (const page of pages) for (const { id, content } of page) hash.update(`${id} ${content}\n`)
      return hash.digest('hex')
    },
    count: async (chatbot, feed) =>
      (await door.get<{ listings: number }>(
        'SELECT count(*) AS listings FROM listing WHERE chatbot = $1 AND feed = $2 AND owned',
        [chatbot, feed],
      ))!.listings,
    chatbots: (feed) =>
      door.all(
        'SELECT chatbot, count(*) AS listings FROM listing WHERE feed = $1 AND owned GROUP BY chatbot ORDER BY chatbot',
        [feed],
      ),
    isEmpty: async (chatbot, feed) =>
      (await door.get('SELECT 1 FROM listing WHERE chatbot = $1 AND feed = $2 LIMIT 1', [chatbot, feed])) === undefined,
    knownRecords: (chatbot, feed, mapping) =>
      hashesOf('raw AS hash, parts', 'raw IS NOT NULL AND mapping = $5', chatbot, feed, mapping),
    knownItems: (chatbot, feed) =>
      hashesOf(
        'baseline AS hash, 1 AS parts',
        'baseline IS NOT NULL AND NOT ignored AND flight IS NULL',
        chatbot,
        feed,
      ),
    async recall(ids) {
      const found = await door.all<Payload & { id: number }>(
        'SELECT id, listing, moving FROM payload WHERE id = ANY ($1) AND listing IS NOT NULL',
        [ids],
      )
      const byId = inOrder(
        ids,
        found.map((row) => [row.id, parsed(row)]),
      )
      const missing = ids.find((id) => !byId.has(id))
      if (missing !== undefined) throw storeError(door.place, `no listing is remembered under number ${missing}`)
      return byId
    },
    ids: async (chatbot, feed, keys) =>
      inOrder(
        keys,
        (
          await door.all<{ key: string; id: number }>(
            'SELECT key, id FROM listing WHERE chatbot = $1 AND feed = $2 AND key = ANY ($3) AND owned',
            [chatbot, feed, keys],
          )
        ).map(({ key, id }) => [key, id]),
      ),
    confirmed: async (chatbot, feed, keys) =>
      inOrder(
        keys,
        (
          await door.all<Payload & { key: string }>(
            `SELECT key, payload.listing, payload.moving FROM listing JOIN payload USING (id) WHERE chatbot = $1 AND owned
            AND payload.listing IS NOT NULL AND feed = $2 AND key = ANY ($3)`,
            [chatbot, feed, keys],
          )
        ).map((row) => [row.key, parsed(row)]),
      ),
    identifier: async (chatbot, feed, key) =>
      (
        await door.get<{ identifier: string | null }>(
          'SELECT identifier FROM listing WHERE chatbot = $1 AND feed = $2 AND key = $3 AND owned',
          [chatbot, feed, key],
        )
      )?.identifier ?? null,
    baselines: async (chatbot, keys) =>
      inOrder(
        keys,
        (
          await door.all<{ key: string; baseline: string }>(
            `SELECT key, baseline FROM listing WHERE chatbot = $1 AND key = ANY ($2) AND owned AND NOT ignored
            AND flight IS NULL AND baseline IS NOT NULL`,
            [chatbot, keys],
          )
        ).map(({ key, baseline }) => [key, baseline]),
      ),
    latest: async (chatbot, feed, most) =>
      (
        await door.all<{ key: string }>(
          `SELECT key FROM listing WHERE chatbot = $1 AND feed = $2 AND owned AND content IS NOT NULL AND flight IS NULL
          ORDER BY sent_at DESC, key LIMIT $3`,
          [chatbot, feed, most],
        )
      ).map(({ key }) => key),
    hasAddress: async (chatbot, address) =>
      (await door.get(`SELECT 1 ${onOffer} AND payload.address = $2 LIMIT 1`, [chatbot, address])) !== undefined,
    async figures(chatbot, feed) {
      // Cities are compared as feeds spell them, but for letter case and blanks around them.
      const offered = await door.get<Pick<FeedFigures, 'listings' | 'cities'>>(
        `SELECT count(*) AS listings, count(DISTINCT nullif(lower(trim(payload.offer::json ->> 'city')), '')) AS cities
        ${onOffer} AND feed = $2`,
        [chatbot, feed],
      )
      // Homes for sale come before rentals, and among currencies, which can't be compared, the one of most listings.
      const minPrice = await door.get<NonNullable<FeedFigures['minPrice']>>(
        `SELECT min(price) AS amount, currency FROM (SELECT payload.offer::json ->> 'sale' AS sale,
            payload.offer::json ->> 'currency' AS currency, (payload.offer::json ->> 'price')::float8 AS price
          ${onOffer} AND feed = $2) AS offers
        WHERE price > 0 GROUP BY sale, currency
        ORDER BY sale DESC, count(*) DESC, currency COLLATE "C" NULLS FIRST LIMIT 1`,
        [chatbot, feed],
      )
      return { ...offered!, minPrice: minPrice ?? null }
    },
    confirm: (chatbot, confirmations) =>
      door.write(chatbot, async (asker) => {
        for (const group of distinct(confirmations, ({ key }) => key)) {
          await addRows(asker, chatbot, group)
          const rows = group.map(({ sent, record, identifier, ...columns }) => ({
            ...columns,
            keep: record === null,
            raw: record?.raw ?? null,
            parts: record?.parts ?? 1,
            sameListing: identifier === undefined,
            identifier: identifier ?? null,
            listing: JSON.stringify(sent.listing),
            moving: JSON.stringify(sent.moving),
            ...lookedFor(sent.listing),
          }))
          await asker.run(
            `WITH c AS (SELECT * FROM json_to_recordset($2::json) AS c(key text, feed text, content text, keep boolean,
                raw text, parts integer, mapping text, home text, "bornAt" bigint, at bigint, baseline text, "movesAt" bigint,
                "suspectUntil" bigint, "isPutRight" boolean, ignored boolean, "sameListing" boolean, identifier text,
                listing text, moving text, address text, offer text)),
              confirmed AS (UPDATE listing AS l SET owned = true, feed = c.feed, content = c.content,
                raw = CASE WHEN c.keep THEN l.raw ELSE c.raw END, parts = CASE WHEN c.keep THEN l.parts ELSE c.parts END,
                mapping = c.mapping, home = c.home, born_at = coalesce(c."bornAt", l.born_at), sent_at = c.at,
                baseline = CASE WHEN ${isStillSuspect} THEN NULL ELSE c.baseline END, moves_at = c."movesAt",
                suspect_until = CASE WHEN l.suspect_until > c.at
                  THEN greatest(l.suspect_until, coalesce(c."suspectUntil", 0)) ELSE c."suspectUntil" END,
                undone = CASE WHEN c."isPutRight" THEN l.undone + 1 ELSE 0 END,
                put_right_at = CASE WHEN c."isPutRight" THEN c.at ELSE l.put_right_at END,
                ignored = c.ignored AND NOT ${isStillSuspect}, flight = NULL, flight_at = NULL,
                identifier = CASE WHEN c."sameListing" THEN l.identifier ELSE c.identifier END,
                refused_content = NULL, refused_mapping = NULL, refused_at = NULL, refused_message = NULL
                FROM c WHERE l.chatbot = $1 AND l.key = c.key
                RETURNING l.id, c.listing, c.moving, c.address, c.offer)
            UPDATE payload AS p SET listing = d.listing, moving = d.moving, address = d.address, offer = d.offer
            FROM confirmed AS d WHERE p.id = d.id`,
            [chatbot, jsonOf(rows)],
          )
        }
      }),
    forget: (chatbot, keys, unsettledAt) =>
      door.write(chatbot, async (asker) => {
        await removeRows(asker, chatbot, keys, unsettledAt === null ? 'true' : "flight IS DISTINCT FROM 'delete'")
        if (unsettledAt === null) return
        const left = await asker.all<{ id: number; key: string; feed: string }>(
          'DELETE FROM listing WHERE chatbot = $1 AND key = ANY ($2) RETURNING id, key, feed',
          [chatbot, keys],
        )
        // A fresh row under the old id, so that nothing of the old one is taken for known.
        await asker.run(
          `INSERT INTO listing (chatbot, key, id, feed, flight, flight_at) SELECT $1, key, id, feed, 'delete', $3
          FROM json_to_recordset($2::json) AS c(key text, id bigint, feed text)`,
          [chatbot, jsonOf(left), unsettledAt],
        )
        await asker.run(
          'UPDATE payload SET listing = NULL, moving = NULL, address = NULL, offer = NULL WHERE id = ANY ($1)',
          [left.map(({ id }) => id)],
        )
      }),
    forgetIdentifier: (chatbot, key) =>
      door.write(chatbot, async (asker) => {
        await asker.run('UPDATE listing SET identifier = NULL WHERE chatbot = $1 AND key = $2', [chatbot, key])
      }),
    refuse: (chatbot, feed, key, { content, mapping, at, message, unsettled = false }) =>
      door.write(chatbot, async (asker) => {
        await addRows(asker, chatbot, [{ key, feed }])
        await asker.run(
          `UPDATE listing SET flight = CASE WHEN $8 THEN flight END, flight_at = CASE WHEN $8 THEN flight_at END,
            feed = CASE WHEN owned THEN feed ELSE $3 END, refused_content = $4, refused_mapping = $5, refused_at = $6,
            refused_message = $7 WHERE chatbot = $1 AND key = $2`,
          [chatbot, key, feed, content, mapping, at, message, unsettled],
        )
      }),
    async touch(touches) {
      // Their chatbots are found by their ids.
      const ids = touches.map(({ id }) => id)
      const whose = await door.get<{ chatbot: string }>('SELECT chatbot FROM listing WHERE id = ANY ($1) LIMIT 1', [
        ids,
      ])
      if (whose === undefined) return
      await door.write(whose.chatbot, async (asker) => {
        for (const group of distinct(touches, ({ id }) => `${id}`)) {
          const rows = group.map(({ moving, ...columns }) => ({ ...columns, moving: JSON.stringify(moving) }))
          await asker.run(
            `WITH c AS (SELECT * FROM json_to_recordset($1::json) AS c(id bigint, content text, raw text, parts integer,
                mapping text, home text, "movesAt" bigint, moving text)),
              touched AS (UPDATE listing AS l SET content = c.content, raw = c.raw, parts = c.parts, mapping = c.mapping,
                home = c.home, moves_at = c."movesAt" FROM c WHERE l.id = c.id AND l.owned)
            UPDATE payload AS p SET moving = c.moving FROM c WHERE p.id = c.id AND p.listing IS NOT NULL`,
            [jsonOf(rows)],
          )
        }
      })
    },
    setBaselines: (chatbot, baselines, now) =>
      door.write(chatbot, async (asker) => {
        for (const group of distinct(baselines, ({ key }) => key))
          await asker.run(
            `UPDATE listing AS l SET baseline = c.hash, ignored = c.ignored,
              undone = CASE WHEN c."isAtRest" THEN 0 ELSE l.undone END
            FROM json_to_recordset($2::json) AS c(key text, hash text, ignored boolean, "isAtRest" boolean)
            WHERE l.chatbot = $1 AND l.key = c.key AND l.owned AND l.flight IS NULL AND coalesce(l.suspect_until, 0) <= $3`,
            [chatbot, jsonOf(group), now],
          )
      }),
  }
}

/** Adds rows for keys without one, each with its payload; they are neither owned nor marked. */
export async function addRows(
  asker: Asker,
  chatbot: string,
  rows: readonly { key: string; feed: string }[],
): Promise<void> {
  await asker.run(
    `WITH added AS (INSERT INTO listing (chatbot, key, id, feed)
        SELECT $1, key, nextval('payload_id_seq'), feed FROM (
          SELECT c.key, c.feed
          FROM ROWS FROM (json_to_recordset($2::json) AS (key text, feed text)) WITH ORDINALITY AS c(key, feed, n)
          WHERE NOT EXISTS (SELECT 1 FROM listing WHERE chatbot = $1 AND key = c.key) ORDER BY c.n) AS new
        ON CONFLICT (chatbot, key) DO NOTHING RETURNING id)
    INSERT INTO payload (id) SELECT id FROM added`,
    [chatbot, jsonOf(rows.map(({ key, feed }) => ({ key, feed })))],
  )
}

/** Removes rows with their payloads; `which`: a condition on them. */
export async function removeRows(asker: Asker, chatbot: string, keys: readonly string[], which: string): Promise<void> {
  await asker.run(
    `WITH gone AS (DELETE FROM listing WHERE chatbot = $1 AND key = ANY ($2) AND ${which} RETURNING id)
    DELETE FROM payload USING gone WHERE payload.id = gone.id`,
    [chatbot, keys],
  )
}
