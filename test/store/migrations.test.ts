/** What a store of an older version becomes. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { migrate, migrations } from '../../src/store/migrations.ts'
import { openStore, openStoreReader } from '../../src/store/sqlite.ts'
import type { StoreReader } from '../../src/store/store.ts'
import { flattened } from '../support/pages.ts'
import { freshFolder } from './folder.ts'

const hour = 3_600_000
const now = Date.UTC(2026, 10, 21, 12)
/** Approvals of before end by the clock of the machine, which tests also move ahead. */
const future = Date.UTC(2200, 0)
const past = Date.UTC(2020, 0)

/** A store before the step that noted the guard's counts, with these rows. */
function before(file: string, rows: string): void {
  const database = new Database(file)
  migrate(database, migrations.slice(0, 7))
  database.exec(rows)
  database.close()
}

/** What a store of the present program, and a reader of an old one, have of it. */
async function opened(rows: string, look: (store: StoreReader) => Promise<unknown>): Promise<unknown> {
  const file = join(freshFolder(), 'store.db')
  before(file, rows)
  const reader = openStoreReader(file)
  const read = await look(reader)
  await reader.close()
  const store = openStore(file)
  expect(await look(store)).toEqual(read)
  await store.close()
  expect(existsSync(`${file}.version-7`)).toBe(true)
  return read
}

it('keeps listings, with neither home nor birth', async () => {
  const rows = `
    INSERT INTO payload (id, listing, moving) VALUES (7, '{"MLSNumber":"A"}', '{}'), (8, NULL, NULL);
    INSERT INTO listing (chatbot, key, id, feed, owned, content, raw, mapping, filled, sent_at, baseline)
      VALUES ('SN-1', 'A', 7, 'north', 1, 'content', 'raw', 'mapping', 31, ${now}, 'baseline');
    INSERT INTO listing (chatbot, key, id, feed, flight, flight_at) VALUES ('SN-1', 'B', 8, 'north', 'create', ${now});`
  const listings = await opened(rows, async ({ snapshot }) => [
    await flattened(snapshot.rows('SN-1')),
    await snapshot.recall([7]),
    (await snapshot.knownRecords('SN-1', 'north', 'mapping')).find('raw'),
  ])
  const known = { content: 'content', raw: 'raw', mapping: 'mapping', sentAt: now, baseline: 'baseline' }
  const unknown = { home: null, bornAt: null, identifier: null, missedAt: null }
  expect(listings).toEqual([
    [
      expect.objectContaining({ id: 7, key: 'A', owned: true, ...known, ...unknown }),
      expect.objectContaining({ id: 8, key: 'B', owned: false, flight: 'create', flightAt: now, ...unknown }),
    ],
    new Map([[7, { listing: { MLSNumber: 'A' }, moving: {} }]]),
    [7],
  ])
})

it('keeps the deletes of the last hours, of each feed and chatbot', async () => {
  const rows = `INSERT INTO delete_ledger VALUES ('SN-1', 'north', 'A', ${now}), ('SN-1', 'north', 'A', ${now + hour}),
    ('SN-1', 'south', 'B', ${now}), ('SN-2', 'north', 'C', ${now})`
  const looked = await opened(rows, async ({ history, ledger }) => [
    await flattened(history.rows('SN-1', 'north', now + hour)),
    await ledger.counted('SN-1', 'south', 'delete', now + hour),
    await ledger.latest('SN-2', 'north', 0, 9),
  ])
  const nothing = { absence: null, heldSince: null, holds: [] }
  expect(looked).toEqual([[{ ...nothing, key: 'A', leftAt: now + hour, deletes: 2, counted: ['delete'] }], 1, ['C']])
})

it('keeps what is held, and approvals that are open', async () => {
  const approvals = [
    ['delete', 'open', future, 0, null],
    ['delete', 'used', future, 1, null],
    ['delete', 'revoked', future, 0, now],
    ['delete', 'over', past, 0, null],
    ['update', 'other kind', future, 0, null],
    ['delete', 'no longer held', future, 0, null],
  ].map(
    ([kind, key, expires, used, revoked]) =>
      `('north', '${kind}', '${key}', 'Ada', ${now}, ${expires}, ${used}, ${revoked})`,
  )
  const keys = ['open', 'used', 'revoked', 'over', 'other kind']
  const rows = `
    INSERT INTO held (feed, key, kind, why, since) VALUES
      ${keys.map((key) => `('north', '${key}', 'delete', 'too many', ${now - hour})`).join(', ')},
      ('north', 'twice', NULL, 'two of them', ${now - hour}), ('south', 'open', 'delete', 'too many', ${now});
    INSERT INTO approval (feed, kind, key, approved_by, at, expires, used, revoked_at) VALUES ${approvals.join(', ')}`
  const looked = await opened(rows, async ({ history, holds }) => [
    await holds.held('north', now),
    await holds.held('south', now),
    (await flattened(history.rows('SN-1', 'north', now))).filter(({ key }) => key === 'open' || key === 'twice'),
  ])
  const since = now - hour
  // The rule that holds such a change now: what held it then has gone.
  const held = { part: 'delete', why: 'too many', rules: ['leaving'], since, clock: since, decision: null, home: null }
  const approved = { is: 'approved', by: 'Ada', at: now }
  const nothing = { absence: null, leftAt: null, counted: [], heldSince: since }
  expect(looked).toEqual([
    [
      { ...held, mlsNumber: 'open', decision: approved },
      { ...held, mlsNumber: 'other kind' },
      { ...held, mlsNumber: 'over' },
      { ...held, mlsNumber: 'revoked' },
      { ...held, mlsNumber: 'twice', part: null, why: 'two of them', rules: [], clock: null },
      { ...held, mlsNumber: 'used' },
    ].toSorted((a, b) => (a.mlsNumber < b.mlsNumber ? -1 : 1)),
    [{ ...held, mlsNumber: 'open', since: now, clock: now }],
    [
      {
        ...nothing,
        key: 'open',
        holds: [
          {
            part: 'delete',
            content: null,
            since,
            ends: 'confirmed',
            clock: since,
            isOfRule: true,
            decision: 'approved',
          },
        ],
      },
      { ...nothing, key: 'twice', holds: [] },
    ],
  ])
})

it('knows what is held of each kind for what a rule of today holds, so that all who ask are told of it', async () => {
  const kinds = ['create', 'delete', 'update', 'update']
  const rows = `INSERT INTO held (feed, key, kind, why, since) VALUES
    ${kinds.map((kind, index) => `('north', '${index}', '${kind}', 'too many', ${now})`).join(', ')}`
  const looked = await opened(rows, async ({ holds }) => [
    await holds.waitingByRule('north', now),
    await holds.waiting('north', now),
    await holds.clocks('north', now),
  ])
  const single = [
    ['arriving', 1],
    ['facts', 2],
    ['leaving', 1],
  ] as const
  expect(looked).toEqual([
    new Map(single),
    4,
    new Map([
      ['create', 1],
      ['delete', 1],
      ['update', 2],
    ]),
  ])
})

it('takes what an older store held for the same hold, whatever it wants', async () => {
  const file = join(freshFolder(), 'store.db')
  before(
    file,
    `INSERT INTO held (feed, key, kind, why, since) VALUES ('north', 'A', 'delete', 'too many', ${now});
    INSERT INTO approval (feed, kind, key, approved_by, at, expires) VALUES ('north', 'delete', 'A', 'Ada', ${now}, ${future})`,
  )
  const store = openStore(file)
  const hold = (content: string, at: number): Promise<void> => {
    const part = { part: 'delete', content, rules: ['leaving'], ends: 'confirmed' } as const
    return store.holds.replace('north', [{ mlsNumber: 'A', why: 'too many', part }], {
      now: at,
      isWhole: true,
      letGo: () => 0,
    })
  }
  await hold('content', now + hour)
  expect((await store.holds.held('north', now))[0]).toMatchObject({ since: now, clock: now, decision: { by: 'Ada' } })
  await hold('other', now + 2 * hour)
  expect((await store.holds.held('north', now))[0]).toMatchObject({ since: now + 2 * hour, decision: null })
  await store.close()
})

it('knows which feeds were loaded before, to which chatbot, and when they were last complete', async () => {
  const run = (feed: string, chatbot: string, result: string, at: number): string =>
    `INSERT INTO run (feed, chatbot, command, started_at, finished_at, result, interrupted, figures)
      VALUES ('${feed}', '${chatbot}', 'sync', ${at}, ${at}, '${result}', 0, '{}');`
  const rows = `
    INSERT INTO feed (name, last_success, validators) VALUES ('north', ${now}, '{"etag":"1"}'), ('south', NULL, NULL),
      ('west', ${now}, NULL);
    ${run('north', 'SN-0', 'ok', now - hour)} ${run('north', 'SN-1', 'failed', now)} ${run('south', 'SN-1', 'failed', now)}
    INSERT INTO delivery (feed, at, records) VALUES ('north', ${now}, 5), ('north', ${now - hour}, 5), ('south', ${now - 1}, 5);
    INSERT INTO generation VALUES ('north', 'a', 'digest', 1, ${now}, 'document', ${now})`
  const looked = await opened(rows, async ({ deliveries, runs }) => [
    await Promise.all(['north', 'south', 'west'].map((feed) => deliveries.last(feed))),
    await runs.lastSuccess('north'),
  ])
  const none = {
    loaded: null,
    completeAt: null,
    written: null,
    mapping: null,
    keyless: [],
    lastKey: null,
    validators: null,
  }
  expect(looked).toEqual([
    [
      { ...none, loaded: { chatbot: 'SN-1', at: now }, completeAt: now, validators: { etag: '1' } },
      { ...none, completeAt: now - 1 },
      none,
    ],
    now,
  ])
})

it('takes a complete delivery of the first version, which noted no more, for an accepted one', async () => {
  const run = (feed: string, at: number, result: string, figures: object): string =>
    `INSERT INTO run (feed, chatbot, command, started_at, finished_at, result, interrupted, figures)
      VALUES ('${feed}', 'SN-1', 'sync', ${at}, ${at}, '${result}', 0, '${JSON.stringify(figures)}');`
  const rows = `
    ${run('north', now - 3 * hour, 'ok', { delivery: { complete: true } })}
    ${run('north', now - 2 * hour, 'partial', { delivery: { complete: false } })}
    ${run('north', now - hour, 'failed', { delivery: { complete: true } })}
    ${run('north', now, 'failed', {})}
    ${run('south', now, 'held', { delivery: { complete: true }, accepted: false })}`
  const looked = await opened(rows, ({ runs }) =>
    Promise.all(['north', 'south'].map((feed) => runs.lastAccepted(feed))),
  )
  expect(looked).toEqual([now - 3 * hour, null])
})
