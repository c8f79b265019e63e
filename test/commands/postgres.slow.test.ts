/** The program with its store on PostgreSQL, as processes: what one leaves, another goes on with. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

/** The server's clock stays the machine's, and a program that is far away from it rightly refuses to write. */
const isShifted = process.env['SHIFT_DAYS'] !== undefined

describe.skipIf(noPostgres !== null || isShifted)('with a store on PostgreSQL', () => {
  let server: PostgresServer
  let world: RunWorld
  let address: string
  let gate: Gate
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())
  beforeEach(async () => {
    gate = new Gate()
    address = await server.database()
    world = await RunWorld.start({ standIn: { now: () => Date.now(), delay: () => gate.pass() } })
    configure()
    world.deliver(zillowFeed(homes(1, 6)))
  })
  afterEach(() => world.end())

  const configure = (store = address, feed: object = {}): void =>
    world.configure({ north: feed }, { concurrency: 1 }, store)
  /** Configures a place that is told, and gives the events that it was told of. */
  const telling = async (schedule: string): Promise<string[]> => {
    const told: string[] = []
    const receiver = createServer((request, response) => {
      request.on('data', (body: Buffer) => told.push((JSON.parse(body.toString()) as { event: string }).event))
      response.end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void receiver.close())
    await once(receiver, 'listening')
    const notify = [{ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`, form: 'json' }]
    world.configure({ north: { schedule } }, {}, address, { notify })
    return told
  }
  const expire = (): Promise<unknown> =>
    server.ask("UPDATE lease SET expires = clock_timestamp() - interval '1 second'", database())
  const database = (): string => new URL(address).pathname.slice(1)
  const numbers = (): string[] =>
    world
      .listings()
      .map(({ MLSNumber }) => String(MLSNumber))
      .sort()

  it('a feed is carried over, changed, held and approved as with any store', async () => {
    expect(await world.command('check')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('postgres: it can be used'),
    })
    expect((await world.command('diff')).status).toBe(2)
    expect(await world.command('sync')).toMatchObject({ status: 0, stderr: '' })
    expect(world.listings()).toHaveLength(6)
    expect((await world.command('diff')).status).toBe(0)
    world.deliver(zillowFeed(homes(2, 8)))
    expect((await world.command('sync')).status).toBe(0)
    expect(world.listings()).toHaveLength(7)
    world.deliver(zillowFeed(homes(8, 8)))
    expect((await world.command('sync')).status).toBe(3)
    expect(await world.command('status')).toMatchObject({ stdout: expect.stringContaining('6 held') })
    expect((await world.command('approve', 'north', '--yes')).status).toBe(0)
    expect((await world.command('sync')).status).toBe(0)
    expect(world.listings()).toHaveLength(1)
    const { stdout } = await world.command('runs', '--format', 'json')
    expect(JSON.parse(stdout)).toHaveLength(4)
  })

  it('who only looks leaves tables of an older version to it, and says so', async () => {
    expect((await world.command('sync')).status).toBe(0)
    await server.ask('DROP TABLE pace; UPDATE schema_version SET version = 1', database())
    const ask = ['ask', '--feed', 'north', '--session', '1', 'Hello']
    const words = [['check'], ['diff'], ['status'], ask, ['backup', `${world.folder}/copy.db`]]
    for (const word of words) {
      const { status, stdout, stderr } = await world.command(...word)
      expect([status, stdout + stderr], word[0]).toEqual([1, expect.stringContaining('one of an older version')])
    }
    expect(await server.ask('SELECT version FROM schema_version', database())).toEqual([{ version: 1 }])
    expect((await world.command('sync')).status).toBe(0)
    expect(await server.ask('SELECT version FROM schema_version', database())).toEqual([{ version: 2 }])
  })

  it('a run that was killed is gone on with: nothing twice, nothing missing', async () => {
    world.standIn.addFault({ operations: ['Create'], nth: 3, fault: { kind: 'slow', wait: 0 } })
    const killed = await world.started(async (child) => {
      await until(() => world.standIn.counts.Create >= 3)
      child.kill('SIGKILL')
    }, 'sync')
    expect(killed.status).toBeNull()
    gate.open()
    expect(await world.command('sync')).toMatchObject({ status: 1, stdout: expect.stringContaining('has had chatbot') })
    await expire()
    expect((await world.command('sync')).status).toBe(0)
    expect(new Set(numbers()).size).toBe(6)
    expect(numbers()).toHaveLength(6)
  })

  it('a run that was frozen for longer than its lease writes nothing, and calls nothing it could not mark', async () => {
    world.standIn.addFault({ operations: ['Create'], nth: 3, fault: { kind: 'slow', wait: 0 } })
    let creates = 0
    const frozen = await world.started(async (child) => {
      await until(() => world.standIn.counts.Create >= 3)
      child.kill('SIGSTOP')
      await expire()
      gate.open()
      expect((await world.command('sync')).status).toBeLessThanOrEqual(4)
      creates = world.standIn.counts.Create
      child.kill('SIGCONT')
    }, 'sync')
    expect(frozen).toMatchObject({ status: 1, stdout: expect.stringContaining('has lost chatbot') })
    expect(world.standIn.counts.Create).toBe(creates)
    await world.command('sync')
    expect(new Set(numbers()).size).toBe(numbers().length)
  })

  it('a wrong password is a wrong configuration, a database that is away is not; no secret is shown', async () => {
    configure(address.replace(/:[\da-f]+@/, ':geheim-12345@'))
    for (const words of [['sync'], ['diff'], ['status'], ['approve', 'north', '--yes']]) {
      const { status, stdout, stderr } = await world.command(...words)
      expect({ words, status, stderr }).toEqual({
        words,
        status: 78,
        stderr: expect.stringContaining('it refuses the password'),
      })
      expect(stdout + stderr).not.toContain('geheim')
    }
    configure('postgres://u:geheim-12345@127.0.0.1:1/db')
    const { status, stdout, stderr } = await world.command('sync')
    expect([status, stdout + stderr]).toEqual([
      1,
      expect.stringContaining(
        "it can't be reached (ECONNREFUSED): check that it runs, and its address in `store`. Nothing is lost",
      ),
    ])
    expect(stdout + stderr).not.toContain('geheim')
    expect(world.standIn.counts.Create).toBe(0)
  })

  it('the daemon waits for the database, and goes on when it is back', async () => {
    configure(address, { schedule: '* * * * * *' })
    await server.stop()
    const ended = await world.started(async (child) => {
      let log = ''
      child.stderr!.on('data', (text: string) => (log += text))
      await until(() => log.includes('the store is away: waiting for it'))
      await server.start()
      await until(() => world.listings().length === 6)
      await server.stop()
      await until(() => log.includes("can't be reached") && log.includes('run failed'))
      world.deliver(zillowFeed(homes(1, 9)))
      await server.start()
      await until(() => world.listings().length === 9)
      child.kill('SIGTERM')
    }, 'daemon')
    expect(ended.status).toBe(0)
  })

  it.each(['as the daemon starts', 'between two runs'])(
    'people are told where the database is away when a run is due: %s',
    async (when) => {
      const told = await telling('*/20 * * * * *')
      gate.open()
      if (when === 'as the daemon starts') await server.stop()
      const ended = await world.started(async (child) => {
        let log = ''
        child.stderr!.on('data', (text: string) => (log += text))
        if (when === 'between two runs') {
          await until(() => log.includes('run finished'))
          await server.stop()
        }
        await until(() => told.length > 0)
        await server.start()
        await until(() => told.length > 1)
        child.kill('SIGTERM')
      }, 'daemon')
      expect({ status: ended.status, told }).toEqual({ status: 0, told: ['failed', 'recovered'] })
    },
  )

  it('nobody is told where the database is away for a moment when a run is due', async () => {
    const told = await telling('*/30 * * * * *')
    gate.open()
    const ended = await world.started(async (child) => {
      let log = ''
      child.stderr!.on('data', (text: string) => (log += text))
      await until(() => log.includes('run finished'))
      // Long enough before a run is due, so that none is under way when the database goes.
      await until(() => new Date().getSeconds() % 30 === 20)
      await server.stop()
      await until(() => log.includes('could not plan the next runs'))
      await server.start()
      const before = log.length
      await until(() => log.slice(before).includes('run finished'))
      child.kill('SIGTERM')
    }, 'daemon')
    expect({ status: ended.status, told }).toEqual({ status: 0, told: [] })
  })

  it('two daemons share the runs of one store: none overlaps, none fails, and what one leaves the other goes on with', async () => {
    // A slow machine has time for three of them before a feed is stale.
    const feed = { schedule: '*/5 * * * * *' }
    world.configure({ north: feed, south: feed }, { concurrency: 1 }, address)
    world.deliver(zillowFeed(homes(7, 9)), 'south.xml')
    let first: ChildProcess | null = null
    const logs = ['', '']
    const read = (child: ChildProcess, which: number): void =>
      void child.stderr!.on('data', (text: string) => (logs[which] += text))
    const runs = (log: string): number => log.split('"run finished"').length - 1
    const ended = await Promise.all([
      world.started(
        async (child) => {
          first = child
          read(child, 0)
        },
        'daemon',
        '--workers',
        '1',
      ),
      world.started(async (child) => {
        read(child, 1)
        await until(() => runs(logs[0]) > 0 && runs(logs[1]) > 0 && world.listings().length === 9)
        expect(await world.command('status', '--ready')).toMatchObject({ status: 0, stdout: '' })
        // Told to stop within a run.
        world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 0 } })
        await until(() => world.standIn.requests.some(({ fault }) => fault !== null))
        first!.kill('SIGTERM')
        await delay(100)
        child.kill('SIGTERM')
        gate.open()
      }, 'daemon'),
    ])
    expect(ended.map(({ status }) => status)).toEqual([0, 0])
    const { stdout } = await world.command('runs', '--format', 'json')
    const all = JSON.parse(stdout) as { startedAt: string; finishedAt: string; result: string }[]
    all.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    expect(all.slice(1).filter(({ startedAt }, index) => startedAt < all[index].finishedAt)).toEqual([])
    // Both wait for their time: nothing is lost.
    expect(await server.ask('SELECT key FROM graphile_worker.jobs ORDER BY key', database())).toEqual(
      ['*', 'north', 'south'].map((key) => ({ key })),
    )
  })

  it('a daemon that does not know a feed says that it leaves out its run', async () => {
    const feed = { schedule: '* * * * * *' }
    gate.open()
    world.configure({ north: feed, south: { ...feed, source: './north.xml', chatbot: 'SN-2002' } }, {}, address)
    const untilSaid = (words: string) =>
      world.started(async (child) => {
        let log = ''
        child.stderr!.on('data', (text: string) => (log += text))
        await until(() => log.split('\n').some((line) => line.includes(words) && line.includes('"feed":"south"')))
        child.kill('SIGTERM')
      }, 'daemon')
    await untilSaid('run finished')
    configure(address, feed)
    expect((await untilSaid('run left out')).status).toBe(0)
  })

  it.each([
    ['ended all the same is not made again', 2, false],
    ['was cut is gone on with by another at once', 1, true],
  ])('a run that was told to stop and %s', async (_, nth, isDue) => {
    configure(address, { schedule: '0 0 1 1 *' })
    // Its first list, or that by which it looks at what it wrote.
    world.standIn.addFault({ operations: ['List'], nth, fault: { kind: 'slow', wait: 0 } })
    const ended = await world.started(async (child) => {
      await until(() => world.standIn.requests.some(({ fault }) => fault !== null))
      child.kill('SIGTERM')
      // The first list is never answered.
      if (isDue) return
      await delay(100)
      gate.open()
    }, 'daemon')
    gate.open()
    expect(ended.status).toBe(0)
    expect(numbers()).toHaveLength(isDue ? 0 : 6)
    expect(
      await server.ask("SELECT run_at <= now() AS due FROM graphile_worker.jobs WHERE key = 'north'", database()),
    ).toEqual([{ due: isDue }])
  })
})
