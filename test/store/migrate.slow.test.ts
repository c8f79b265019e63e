/** A store moves from a file to PostgreSQL and back, whole or not at all. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../../src/store/connection.ts'
import { backUpPostgres, migrateStore } from '../../src/store/migrate.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { confirmation, house, newHeld, runRecord } from '../contract/store.ts'
import { flattened } from '../support/pages.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { executed } from '../support/program.ts'
import { freshFolder } from './folder.ts'

const now = Date.UTC(2026, 10, 21, 12)
const chatbot = 'SN-1001'

/** Something in every table. */
async function fill(store: Store): Promise<void> {
  const many = Array.from({ length: 2300 }, (_, i) => confirmation(`K${i}`))
  await store.snapshot.confirm(chatbot, [...many, confirmation('Ünïcode \u{1F3E0}')])
  const sent = { listing: house('A', { Address: '1 Elm St', City: 'Troy', SalePrice: 5 }), moving: {} }
  await store.snapshot.confirm(chatbot, [confirmation('A', { sent, identifier: 'id-1', suspectUntil: now + 5 })])
  await store.ledger.begin(chatbot, 'north', 'delete', [{ key: 'K7', counts: ['delete'] }], now)
  await store.snapshot.forget(chatbot, ['K9'], null)
  await store.snapshot.refuse(chatbot, 'north', 'R', { content: 'c', mapping: 'm', at: now, message: 'no' })
  await store.history.noteAbsences(chatbot, 'north', { absent: ['K1'], returned: [], stillThere: [] }, now)
  const home = { address: '1 Elm St', city: 'Troy' } as never
  await store.holds.replace('north', [{ ...newHeld('K2', 'delete'), home }], { now, isWhole: true, letGo: () => 0 })
  await store.holds.decide('north', 'approved', 'me', now, null)
  await store.runs.begin({ feed: 'north', chatbot, command: 'sync', startedAt: now })
  await store.runs.record(runRecord({ interrupted: true, report: '{"a":1}' } as never))
  await store.runs.noteStart(now)
  await store.runs.begin({ feed: 'south', chatbot, command: 'sync', startedAt: now })
  await store.deliveries.record('north', { mapping: 'm', completeAt: now })
  await store.deliveries.notePending('north', [{ key: 'P', delivered: [], at: now }], now)
  const progress = {
    scope: 's',
    since: 1,
    watermark: null,
    loadedAt: null,
    readAt: null,
    walkedAt: null,
    acceptedAt: null,
  }
  await store.records.keep('north', [{ key: 'S', stamp: 't', body: Buffer.from([0, 1, 255]) }], progress)
  await store.learnt.setNumber(chatbot, 'deleteBatch', 25)
  await store.learnt.setKeys(chatbot, 'north', 0.25)
  const writer = { run: 1, since: 2, lookedAt: 3, roseAt: null, wroteAt: 5 }
  await store.learnt.setWriters(chatbot, 'north', new Map([['abcdef01', writer]]))
  await store.learnt.applySettings(chatbot, [{ name: 'Greeting', from: null, to: 'hello' }], now)
}

describe.skipIf(noPostgres !== null)('store migrate', () => {
  let server: PostgresServer
  let file: string
  let address: string
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())
  beforeEach(async () => {
    file = join(freshFolder(), 'store.db')
    address = await server.database()
  })
  const ask = (sql: string) => server.ask(sql, new URL(address).pathname.slice(1))
  async function filled(): Promise<void> {
    const store = openStore(file)
    await (await store.lease(chatbot, now)).release()
    await fill(store)
    await store.close()
  }
  /** All that is in a file but what says which file it is. */
  function contentOf(path: string): unknown {
    const database = connect(path, { readonly: true, fileMustExist: true })
    try {
      const names = database
        .prepare<[], { name: string }>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT IN ('meta', 'lease') ORDER BY name",
        )
        .all()
      return names.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all()])
    } finally {
      database.close()
    }
  }

  it('copies all that is in a store there and back, and it goes on as the same store', async () => {
    await filled()
    const before = openStore(file)
    const [stamp, fingerprint] = [await before.runs.stamp(), await before.snapshot.fingerprint(chatbot, 'north')]
    const newest = Math.max(...(await flattened(before.snapshot.rows(chatbot))).map(({ id }) => id))
    await before.close()
    const copied = await migrateStore(file, address)
    expect([...copied].filter(([, rows]) => rows === 0)).toEqual([])
    const store = openPostgres(address)
    expect([await store.runs.stamp(), await store.snapshot.fingerprint(chatbot, 'north')]).toEqual([stamp, fingerprint])
    expect(await store.snapshot.hasAddress(chatbot, '1 Elm St')).toBe(true)
    await store.close()

    const back = join(freshFolder(), 'back.db')
    await migrateStore(address, back)
    expect(contentOf(back)).toEqual(contentOf(file))
    expect(readdirSync(join(back, '..'))).toEqual(['back.db'])

    const on = openPostgres(address)
    const lease = await on.lease(chatbot, now)
    expect([lease.isBehind, lease.token]).toEqual([false, stamp.run])
    await on.snapshot.confirm(chatbot, [confirmation('new')])
    const row = (await flattened(on.snapshot.rows(chatbot))).find(({ key }) => key === 'new')
    expect(row!.id).toBeGreaterThan(newest)
    await on.runs.record(runRecord())
    await lease.release()
    await on.close()
    const again = openStore(back)
    const taken = await again.lease(chatbot, now)
    expect([taken.isBehind, taken.token]).toEqual([false, stamp.run])
    await taken.release()
    await again.close()
  })

  it('goes on counting its runs and rows where it comes back without a run between', async () => {
    const store = openStore(file)
    await store.snapshot.confirm(chatbot, [confirmation('A'), confirmation('B')])
    await store.snapshot.forget(chatbot, ['B'], null)
    await store.runs.record(runRecord())
    await store.close()
    await migrateStore(file, address)
    const back = join(freshFolder(), 'back.db')
    await migrateStore(address, back)
    const again = openStore(back)
    await again.runs.record(runRecord())
    expect((await again.runs.latest('north', 9)).map(({ number }) => number)).toEqual([2, 1])
    await again.snapshot.confirm(chatbot, [confirmation('C')])
    expect((await flattened(again.snapshot.rows(chatbot))).map(({ id }) => id)).toEqual([1, 3])
    await again.close()
  })

  it('is refused while a run or a daemon has the store, of either kind', async () => {
    await filled()
    const store = openStore(file)
    const lease = await store.lease(chatbot, now)
    await expect(migrateStore(file, address)).rejects.toThrow('a run or a daemon has this store')
    await lease.release()
    await store.close()
    await migrateStore(file, address)
    const other = openPostgres(address)
    const held = await other.lease(chatbot, now)
    const back = `${file}.back`
    await expect(migrateStore(address, back)).rejects.toThrow(`has chatbot ${chatbot}`)
    expect(existsSync(back)).toBe(false)
    await held.release()
    await other.close()
    await migrateStore(address, back)
  })

  it('overwrites nothing', async () => {
    await filled()
    await migrateStore(file, address)
    await expect(migrateStore(file, address)).rejects.toThrow('has a store already: name an empty database')
    await expect(migrateStore(address, file)).rejects.toThrow('is there already')
    await expect(migrateStore(join(freshFolder(), 'none.db'), address)).rejects.toThrow('there is no store at')
  })

  it('keeps nothing of a copy that is not like the original', async () => {
    await filled()
    await openPostgres(address).runs.stamp()
    await ask(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN IF NEW.key = ''K42'' THEN NEW.content = ''another''; END IF; RETURN NEW; END'`)
    await ask('CREATE TRIGGER spoil BEFORE INSERT ON listing FOR EACH ROW EXECUTE FUNCTION spoil()')
    await expect(migrateStore(file, address)).rejects.toThrow('the copy of listing is not like the original')
    expect(await ask('SELECT count(*)::int AS rows FROM listing')).toEqual([{ rows: 0 }])
  })

  it('a backup that was put back is doubted in its new place, too', async () => {
    await filled()
    await migrateStore(file, address)
    await ask("UPDATE meta SET place = 'of another server'")
    const back = `${file}.back`
    await migrateStore(address, back)
    const store = openStore(back)
    const lease = await store.lease(chatbot, now)
    expect(lease.isBehind).toBe(true)
    await lease.release()
    await store.close()
  })

  it('a backup is taken while a run is under way, and doubted once it is put back', async () => {
    const store = openPostgres(address)
    await fill(store)
    const lease = await store.lease(chatbot, now)
    const backup = `${file}.backup`
    await backUpPostgres(address, backup)
    await lease.release()
    const count = await store.snapshot.count(chatbot, 'north')
    await store.close()
    const other = await server.database()
    await migrateStore(backup, other)
    const again = openPostgres(other)
    expect(await again.snapshot.count(chatbot, 'north')).toBe(count)
    const taken = await again.lease(chatbot, now)
    expect(taken.isBehind).toBe(true)
    await taken.release()
    await again.close()
  })

  it('is a command whose passwords come from the environment and are not shown', async () => {
    await filled()
    const password = new URL(address).password
    const named = address.replace(password, '${DB_PASSWORD}')
    const { status, stdout, stderr } = await executed(['store', 'migrate', file, named], {
      env: { DB_PASSWORD: password },
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/is copied to the database test_\d+ at 127\.0\.0\.1:\d+: 2302 listings, \d+ rows in all/)
    expect(stdout).not.toContain(password)
    expect((await executed(['store', 'migrate', file, named])).status).toBe(64)
    // As in `store` of the configuration, where the same variable has to be right, too.
    for (const DB_PASSWORD of ['ge/heim', 'ge?heim', 'ge#heim']) {
      const broken = await executed(['store', 'migrate', file, named], { env: { DB_PASSWORD } })
      expect(broken).toMatchObject({ status: 64, stderr: expect.stringContaining('write %2F for /') })
      expect(broken.stderr).not.toContain('heim')
    }
    const escaped = `%${Buffer.from(password)
      .toString('hex')
      .replaceAll(/..(?!$)/g, '$&%')}`
    const again = await executed(['store', 'migrate', file, named], { env: { DB_PASSWORD: escaped } })
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('has a store already') })
    for (const DB_PASSWORD of ['geheim-12345', 'ge%heim']) {
      const wrong = await executed(['store', 'migrate', named, `${file}.x`], { env: { DB_PASSWORD } })
      expect(wrong).toMatchObject({ status: 78, stderr: expect.stringContaining('it refuses the password') })
      expect(wrong.stderr).not.toContain('heim')
    }
  })
})
