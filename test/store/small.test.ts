/** A store's file stays small: listings are packed in it, what is free goes back, and one of a version before becomes so. */
import Database from 'better-sqlite3'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Listing } from '../../src/core/listing.ts'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { mostGivenBack, pack, packedSince, unpack } from '../../src/store/packed.ts'
import { openStore, openStoreReader } from '../../src/store/sqlite.ts'
import type { StoreReader } from '../../src/store/store.ts'
import { confirmation } from '../contract/store.ts'
import { freshFolder } from './folder.ts'

const now = Date.UTC(2026, 10, 21, 12)
const keys = Array.from({ length: 2500 }, (_, number) => `K-${number}`)
const listing = (key: string): Listing =>
  ({
    SaleType: 'for_sale',
    Status: 'Active',
    City: 'Zürich',
    Description: `${key}: küche, garten & “aussicht” \u0000 😀 `.repeat(20),
    Images: Array.from({ length: 20 }, (_, photo) => `https://photos.example.com/${key}/${photo}.jpg`),
    MLSNumber: key,
  }) as Listing

const confirmed = (key: string) => confirmation(key, { sent: { listing: listing(key), moving: {} }, identifier: key })

/** What lies in the file itself. */
function inFile(file: string, sql: string): unknown {
  const database = new Database(file)
  const value = database.prepare(sql).pluck().get()
  database.close()
  return value
}

/** What a delta said of a listing. */
const pending = (key: string) => ({
  key,
  delivered: [{ kind: 'listing', at: 'record 1', listing: listing(key), moving: {} } as const],
  at: now,
})

const run = { feed: 'north', chatbot: 'SN', command: 'sync', startedAt: now, finishedAt: now, result: 'ok' } as const

test('listings are packed, and what is left free goes back with the next runs', async () => {
  const file = join(freshFolder(), 'store.db')
  const store = openStore(file)
  await store.snapshot.confirm('SN', keys.map(confirmed))
  await store.deliveries.notePending('north', keys.map(pending), now)
  const known = await store.snapshot.confirmed('SN', 'north', ['K-7'])
  expect(known.get('K-7')?.listing).toEqual(listing('K-7'))
  expect(await store.snapshot.figures('SN', 'north')).toMatchObject({ listings: 2500, cities: 1 })
  await store.close()
  const full = statSync(file).size
  const text = JSON.stringify(listing('K-7')).length
  expect(inFile(file, 'SELECT max(length(packed)) FROM payload')).toBeLessThan(text / 4)
  expect(inFile(file, 'SELECT count(listing) FROM payload')).toBe(0)
  expect(inFile(file, 'SELECT max(length(delivered)) FROM pending')).toBeLessThan(text / 4)

  const again = openStore(file)
  await again.deliveries.endPending('north', keys)
  await again.snapshot.forget('SN', keys.slice(100), null)
  await again.runs.record({ ...run, interrupted: false, error: null, figures: '{}' })
  await again.close()
  expect(statSync(file).size).toBeLessThan(full / 2)
  expect(inFile(file, 'PRAGMA integrity_check')).toBe('ok')
})

test('a large store gives back a sixteenth of itself at once, any other 40 MB, and each keeps an eighth', () => {
  expect(mostGivenBack(1000, 125)).toBe(0)
  expect(mostGivenBack(1000, 525)).toBe(400)
  expect(mostGivenBack(100_000, 50_000)).toBe(10_000)
  expect(mostGivenBack(400_000, 200_000)).toBe(25_000)
})

test('a text of any length is packed whole, and alone', () => {
  const texts = [1, 100, 21_845, 21_846, 65_537, 10, 0].map((length) => '€'.repeat(length))
  expect(texts.filter((text) => unpack(pack(text)) !== text)).toEqual([])
})

/** A store of the version before, with a listing for each key, a mark, a hold, and what a delta said. */
function textStore(file: string): void {
  const database = new Database(file)
  migrate(database, migrations.slice(0, packedSince - 1))
  const payload = database.prepare("INSERT INTO payload (id, listing, moving) VALUES (?, ?, '{}')")
  const row = database.prepare(
    "INSERT INTO listing (chatbot, key, id, feed, owned, content, mapping, sent_at) VALUES ('SN', ?, ?, 'north', 1, 'c', 'm', 1)",
  )
  database.transaction(() => {
    for (const [index, key] of keys.entries()) {
      payload.run(index + 1, JSON.stringify(listing(key)))
      row.run(key, index + 1)
    }
    database.exec(`UPDATE listing SET flight = 'update', flight_at = ${now} WHERE key = 'K-3';
      INSERT INTO payload (id) VALUES (9000);
      INSERT INTO listing (chatbot, key, id, feed, flight, flight_at) VALUES ('SN', 'new', 9000, 'north', 'create', ${now});
      INSERT INTO hold (feed, key, part, why, since, decision, decided_by, decided_at)
        VALUES ('north', 'K-9', 'delete', 'gone', ${now}, 'approved', 'somebody', ${now})`)
    const { key, delivered } = pending('K-5')
    database
      .prepare("INSERT INTO pending (feed, key, delivered, at, noted) VALUES ('north', ?, ?, ?, ?)")
      .run(key, JSON.stringify(delivered), now - 2, now - 1)
  })()
  database.close()
}

async function contentOf({ snapshot, holds, deliveries }: StoreReader): Promise<unknown> {
  const rows: unknown[] = []
  for await (const page of deliveries.pending('north')) rows.push(...page)
  for await (const page of snapshot.rows('SN')) rows.push(...page)
  const ids = keys.map((_, index) => index + 1)
  return [rows, await snapshot.recall(ids), await holds.held('north', now), await snapshot.isEmpty('SN', 'north')]
}

test('a store of the version before is packed and written anew once, and has all that it had', async () => {
  const file = join(freshFolder(), 'store.db')
  textStore(file)
  const size = statSync(file).size
  const reader = openStoreReader(file)
  const before = await contentOf(reader)
  await reader.close()
  const store = openStore(file)
  expect(await contentOf(store)).toEqual(before)
  // Packed when it is noted again; it is still the same.
  await store.deliveries.notePending('north', [{ ...pending('K-5'), at: now - 2 }], now)
  expect(await contentOf(store)).toEqual(before)
  await store.close()
  expect(inFile(file, 'SELECT typeof(delivered) FROM pending')).toBe('blob')
  expect(statSync(file).size).toBeLessThan(size / 2)
  expect(inFile(file, 'PRAGMA auto_vacuum')).toBe(2)
  expect(inFile(file, 'SELECT count(listing) FROM payload')).toBe(0)
  expect(inFile(file, "SELECT group_concat(key || flight, ' ') FROM listing WHERE flight IS NOT NULL")).toBe(
    'K-3update newcreate',
  )
})

test('packing that was broken off goes on with the next opening; until then both forms are read', async () => {
  const file = join(freshFolder(), 'store.db')
  textStore(file)
  const reader = openStoreReader(file)
  const before = await contentOf(reader)
  await reader.close()
  // As a process leaves it that dies after the step of the schema and some rows.
  const packed = join(freshFolder(), 'store.db')
  textStore(packed)
  await openStore(packed).close()
  const half = new Database(file)
  migrate(half, migrations)
  half.exec(`ATTACH '${packed}' AS other;
    UPDATE payload SET listing = NULL, packed = (SELECT packed FROM other.payload AS o WHERE o.id = payload.id)
    WHERE id <= 1200`)
  half.close()
  const mixed = openStoreReader(file)
  expect(await contentOf(mixed)).toEqual(before)
  await mixed.close()
  const store = openStore(file)
  expect(await contentOf(store)).toEqual(before)
  await store.close()
  expect(inFile(file, 'SELECT count(listing) FROM payload')).toBe(0)
})
