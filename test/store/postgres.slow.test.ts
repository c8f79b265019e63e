/** The store on PostgreSQL: what every store must do, and what only one for several machines has to. */
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { StoreError, StoreTakenError } from '../../src/core/errors.ts'
import { openPostgres, openPostgresReader } from '../../src/store/postgres.ts'
import type { PostgresOptions } from '../../src/store/postgres.ts'
import { leaseTime } from '../../src/store/postgres/lease.ts'
import { steps } from '../../src/store/postgres/schema.ts'
import type { Store, StoreReader } from '../../src/store/store.ts'
import { confirmation, newHeld, runRecord, storeContract } from '../contract/store.ts'
import { flattened } from '../support/pages.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'

const now = Date.UTC(2026, 10, 21, 12)
const chatbot = 'SN-1001'

describe.skipIf(noPostgres !== null)('PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())

  const closed = <Opened extends StoreReader>(store: Opened): Opened => {
    onTestFinished(() => store.close())
    return store
  }
  const open = (address: string, options: PostgresOptions = {}): Store => closed(openPostgres(address, options))
  const nameOf = (address: string): string => new URL(address).pathname.slice(1)
  /** What a store rejects with at its first use. */
  async function refusal(address: string, options: PostgresOptions = {}): Promise<StoreError> {
    const error: unknown = await open(address, options)
      .runs.feeds()
      .catch((thrown: unknown) => thrown)
    if (!(error instanceof StoreError)) throw new Error(`no StoreError: ${String(error)}`)
    return error
  }

  storeContract('on PostgreSQL', async () => openPostgres(await server.database()))

  it('asks once for what is held of many listings', async () => {
    const { holds } = open(await server.database())
    const held = Array.from({ length: 2000 }, (_, i) => newHeld(`${i}`, 'delete'))
    await holds.replace('north', held, { now, isWhole: true, letGo: () => 0 })
    const asked = vi.spyOn(Client.prototype, 'query')
    onTestFinished(() => asked.mockRestore())
    const keys = Array.from({ length: 1000 }, (_, i) => `${2 * i + 1}`)
    expect((await holds.held('north', now, { keys })).map(({ mlsNumber }) => mlsNumber)).toEqual(keys.toSorted())
    expect(asked).toHaveBeenCalledOnce()
  })

  describe('several workers on one database', () => {
    it('make its tables once, however many start at the same time', async () => {
      const address = await server.database()
      const all = Array.from({ length: 8 }, () => open(address))
      expect(new Set(await Promise.all(all.map(async ({ runs }) => (await runs.stamp()).store))).size).toBe(1)
    })

    it('have one chatbot one at a time, and different ones at once', async () => {
      const address = await server.database()
      const [store, other] = [open(address), open(address)]
      const lease = await store.lease(chatbot, now)
      await expect(other.lease(chatbot, now)).rejects.toThrow(
        `has had chatbot ${chatbot} since 2026-11-21T12:00:00.000Z`,
      )
      await (await other.lease('SN-2002', now)).release()
      await lease.release()
      await (await other.lease(chatbot, now)).release()
    })

    it('one that slept through its lease writes nothing, whatever it writes; who took over is not disturbed', async () => {
      const address = await server.database()
      const [sleeper, other] = [open(address), open(address)]
      const lease = await sleeper.lease(chatbot, now)
      await sleeper.runs.begin({ feed: 'north', chatbot, command: 'sync', startedAt: now })
      await sleeper.snapshot.confirm(chatbot, [confirmation('A')])
      // As the server sees a process that was stopped: it renews no more.
      await server.ask("UPDATE lease SET expires = clock_timestamp() - interval '1 second'", nameOf(address))
      const taken = await other.lease(chatbot, now + 1)
      expect(taken.token).toBeGreaterThan(lease.token)
      const lost = /has lost chatbot SN-1001 to others/
      await expect(sleeper.snapshot.confirm(chatbot, [confirmation('B')])).rejects.toBeInstanceOf(StoreTakenError)
      await expect(sleeper.snapshot.confirm(chatbot, [confirmation('B')])).rejects.toThrow(lost)
      await expect(sleeper.ledger.begin(chatbot, 'north', 'create', [{ key: 'B', counts: [] }], now)).rejects.toThrow(
        lost,
      )
      const [{ id }] = await flattened(sleeper.snapshot.rows(chatbot))
      const touch = { content: 'x', raw: 'x', parts: 1, home: null, movesAt: null, mapping: 'x', moving: {} }
      await expect(sleeper.snapshot.touch([{ id, ...touch }])).rejects.toThrow(lost)
      await expect(sleeper.runs.record(runRecord())).rejects.toThrow(lost)
      const held = [newHeld('C', 'delete')]
      await expect(sleeper.holds.replace('north', held, { now, isWhole: true, letGo: () => 0 })).rejects.toThrow(lost)
      await expect(sleeper.deliveries.record('north', { mapping: 'm' })).rejects.toThrow(lost)
      await lease.release()
      expect((await flattened(other.snapshot.rows(chatbot))).map(({ key }) => key)).toEqual(['A'])
      await other.snapshot.confirm(chatbot, [confirmation('D')])
      await expect(open(address).lease(chatbot, now)).rejects.toThrow('has had chatbot')
      expect(await other.runs.last('north')).toMatchObject({
        result: 'failed',
        error: 'its process ended without a word',
      })
      await taken.release()
    })

    it('in its last part a lease keeps others out, and nothing is written under it: a call marked then might come too late', async () => {
      const address = await server.database()
      const [store, other] = [open(address), open(address)]
      const lease = await store.lease(chatbot, now)
      const left = (seconds: number): Promise<unknown> =>
        server.ask(`UPDATE lease SET expires = clock_timestamp() + interval '${seconds} seconds'`, nameOf(address))
      await left(17)
      await store.snapshot.confirm(chatbot, [confirmation('A')])
      await left(14)
      const over = store.snapshot.confirm(chatbot, [confirmation('B')])
      // Nobody has taken it, so this run fails: none of another process counts in its place.
      await expect(over).rejects.toThrow('its right to chatbot SN-1001 is over')
      await expect(over).rejects.not.toBeInstanceOf(StoreTakenError)
      await expect(other.lease(chatbot, now)).rejects.toThrow('has had chatbot')
      await lease.release()
    })

    it('a lease that is renewed does not end', async () => {
      const address = await server.database()
      const [store, other] = [open(address, { leaseTime: 600 }), open(address)]
      const lease = await store.lease(chatbot, now)
      for (let seen = 0; seen < 3;) {
        const [{ left }] = await server.ask(
          'SELECT extract(epoch FROM expires - since_seen) AS left FROM (SELECT expires, clock_timestamp() AS since_seen FROM lease) AS l',
          nameOf(address),
        )
        if (Number(left) > 0.55) seen++
        await expect(other.lease(chatbot, now)).rejects.toThrow('has had chatbot')
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
      await lease.release()
    })

    it('commit writes that wait at the same time together, and one that fails takes none with it', async () => {
      const address = await server.database()
      const store = open(address)
      await store.runs.stamp()
      const commits = async (): Promise<number> => {
        const [{ xact }] = await server.ask('SELECT txid_snapshot_xmax(txid_current_snapshot())::text AS xact')
        return Number(xact)
      }
      const before = await commits()
      const keys = Array.from({ length: 300 }, (_, i) => `K${i}`)
      const writes = keys.map((key) =>
        store.ledger.begin(chatbot, 'north', 'create', [{ key, counts: ['arrive' as never] }], now),
      )
      const broken = store.snapshot.confirm(chatbot, [{ ...confirmation('bad'), at: Number.NaN }])
      await expect(broken).rejects.toThrow()
      await Promise.all(writes)
      expect(await flattened(store.snapshot.rows(chatbot))).toHaveLength(300)
      expect((await commits()) - before).toBeLessThan(300)
    })
  })

  describe('what is wrong is said in one sentence', () => {
    it('a database that is not there', async () => {
      const { message, exitStatus } = await refusal('postgres://u:geheim123@127.0.0.1:1/db')
      expect(message).toMatch(
        /^the database db at 127\.0\.0\.1:1: it can't be reached \(ECONNREFUSED\): check that it runs, and its address in `store`\. Nothing is lost/,
      )
      expect(exitStatus).toBe(1)
    })

    it('a wrong password, no such database: the configuration is wrong, and no secret is shown', async () => {
      const address = await server.database()
      const wrong = await refusal(address.replace(/:[\da-f]+@/, ':geheim123@'))
      expect([wrong.exitStatus, wrong.message]).toEqual([78, expect.stringContaining('it refuses the password')])
      expect(JSON.stringify([wrong.message, wrong.stack])).not.toContain('geheim123')
      const missing = await refusal(`${address}_not_there`)
      expect([missing.exitStatus, missing.message]).toEqual([78, expect.stringContaining('there is no such database')])
    })

    it('a schema of a newer version, and nothing is changed', async () => {
      const address = await server.database()
      const newer = open(address, { migrations: [...steps, 'CREATE TABLE later (one INTEGER)'] })
      await newer.snapshot.confirm(chatbot, [confirmation('A')])
      for (const { message, exitStatus } of [await refusal(address)]) {
        expect(message).toContain(
          `schema version ${steps.length + 1}, but this program knows versions up to ${steps.length}`,
        )
        expect(exitStatus).toBe(78)
      }
      expect(await flattened(newer.snapshot.rows(chatbot))).toHaveLength(1)
    })

    it('a clock that is hours off', async () => {
      const address = await server.database()
      const real = Date.now
      onTestFinished(() => void (Date.now = real))
      Date.now = () => real() + 3 * 3_600_000
      expect((await refusal(address)).message).toMatch(
        /this machine's clock is (179|180) minutes ahead of the database's/,
      )
      Date.now = real
      expect(await server.ask("SELECT to_regclass('meta') AS meta", nameOf(address))).toEqual([{ meta: null }])
    })

    it('a clock that is set hours off while the process runs', async () => {
      const store = open(await server.database())
      const lease = await store.lease(chatbot, now)
      await lease.release()
      const real = Date.now
      onTestFinished(() => void (Date.now = real))
      Date.now = () => real() - 3 * 3_600_000
      await expect(store.lease(chatbot, now)).rejects.toThrow(
        /this machine's clock is (179|180) minutes behind the database's; set it right. Nothing was written$/,
      )
      Date.now = real
      await (await store.lease(chatbot, now)).release()
    })
  })

  it('goes on when the database is back, also in the middle of a run', async () => {
    const address = await server.database()
    const store = open(address)
    const lease = await store.lease(chatbot, now)
    await store.snapshot.confirm(chatbot, [confirmation('A')])
    await server.stop()
    await expect(store.snapshot.confirm(chatbot, [confirmation('B')])).rejects.toThrow("can't be reached")
    await server.start()
    await store.snapshot.confirm(chatbot, [confirmation('B')])
    expect(await flattened(store.snapshot.rows(chatbot))).toHaveLength(2)
    await server.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    )
    await store.snapshot.confirm(chatbot, [confirmation('C')]).catch(() => undefined)
    await store.snapshot.confirm(chatbot, [confirmation('C')])
    await lease.release()
  })

  it('a run that ended while the database was away keeps nobody out once it is back', async () => {
    const address = await server.database()
    const [store, other] = [open(address), open(address)]
    const lease = await store.lease(chatbot, now)
    await server.stop()
    await lease.release()
    await server.start()
    const began = performance.now()
    while (performance.now() - began < leaseTime / 2) {
      const taken = await other.lease(chatbot, now).catch(() => null)
      if (taken !== null) return taken.release()
      await delay(100)
    }
    throw new Error('it is still kept')
  })

  it('a copy of a database is found out by the first lease, which doubts what the store knows', async () => {
    const address = await server.database()
    const store = openPostgres(address)
    await (await store.lease(chatbot, now)).release()
    await store.runs.record(runRecord())
    await store.holds.replace('north', [newHeld('A', 'delete')], { now, isWhole: true, letGo: () => 0 })
    await store.holds.decide('north', 'approved', 'ann', now, null)
    const { store: name } = await store.runs.stamp()
    await store.close()
    await server.ask(`CREATE DATABASE copied TEMPLATE ${nameOf(address)}`)
    const copy = address.replace(nameOf(address), 'copied')
    expect(await closed(openPostgresReader(copy)).isBehind(chatbot)).toBe(true)
    const opened = open(copy)
    const lease = await opened.lease(chatbot, now + 5)
    const other = await opened.lease('SN-other', now + 6)
    expect([lease.isBehind, other.isBehind]).toEqual([true, false])
    expect([await opened.isBehind(chatbot), await opened.isBehind('SN-other')]).toEqual([true, false])
    const again = open(copy)
    expect(await again.runs.lostAt('north')).toBe(now + 5)
    const approved = { is: 'approved', by: 'ann', at: now }
    expect(await again.holds.held('north', now)).toMatchObject([{ since: now, clock: now + 5, decision: approved }])
    expect((await again.runs.stamp()).store).not.toBe(name)
    await lease.release()
    const next = await again.lease(chatbot, now + 6)
    expect(next.isBehind).toBe(false)
    await next.release()
  })

  it('hands over what a feed has under a former name, and a reader says that it is still to be done', async () => {
    const address = await server.database()
    const before = open(address)
    await before.snapshot.confirm(chatbot, [confirmation('A', { feed: 'old' })])
    await before.runs.record(runRecord({ feed: 'old' }))
    await before.learnt.setNumber(chatbot, 'file of old, ./list of 4711', 7)
    await before.learnt.setNumber(chatbot, 'file of old-2, ./list of 4711', 8)
    const formerly = new Map([['old', 'new']])
    await expect(closed(openPostgresReader(address, { formerly })).runs.feeds()).rejects.toThrow(
      'old still under its former name',
    )
    const remarks: string[] = []
    const store = open(address, { formerly, warn: (remark) => remarks.push(remark) })
    expect(await store.snapshot.count(chatbot, 'new')).toBe(1)
    expect(await store.runs.feeds()).toEqual(['new'])
    const numbers = ['new', 'old', 'old-2'].map((name) =>
      store.learnt.number(chatbot, `file of ${name}, ./list of 4711`),
    )
    expect(await Promise.all(numbers)).toEqual([7, null, 8])
    expect(remarks).toEqual(['new took over 1 listing that the store had under old (formerly)'])
    const reader = closed(openPostgresReader(address, { formerly })) as Store
    expect(await reader.snapshot.count(chatbot, 'new')).toBe(1)
    await expect(reader.snapshot.confirm(chatbot, [confirmation('B')])).rejects.toThrow(StoreError)
    // A daemon of before the change goes on with the former name for a while.
    await before.runs.record(runRecord({ feed: 'old' }))
    await (await store.lease(chatbot, now)).release()
    expect(await closed(openPostgresReader(address, { formerly })).runs.feeds()).toEqual(['new'])
  })

  it('what a feed loaded under a former name is no beginning, as where the new name had nothing yet, or another chatbot', async () => {
    const address = await server.database()
    const before = open(address)
    await before.snapshot.confirm(chatbot, [confirmation('A', { feed: 'old', at: 100 })])
    for (const [name, loaded] of Object.entries({
      old: { chatbot, at: 5 },
      new: { chatbot: 'SN-other', at: 6 },
      first: { chatbot, at: 7 },
      empty: null,
    }))
      await before.deliveries.record(name, { completeAt: 1, loaded })
    const formerly = new Map([
      ['old', 'new'],
      ['first', 'empty'],
    ])
    const { deliveries } = open(address, { formerly })
    expect((await deliveries.last('new')).loaded).toEqual({ chatbot: 'SN-other', at: 101 })
    expect((await deliveries.last('empty')).loaded).toEqual({ chatbot, at: 7 })
  })
})
