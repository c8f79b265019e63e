/** What can be wrong with a database, or go wrong with it in the middle of a run: one sentence, the right exit status, nothing lost. */
import { spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openPostgres } from '../../src/store/postgres.ts'
import { steps } from '../../src/store/postgres/schema.ts'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { command } from '../support/program.ts'
import type { Ended } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

/** The server's clock stays the machine's, and a program that is far away from it rightly refuses to write. */
const isShifted = process.env['SHIFT_DAYS'] !== undefined

describe.skipIf(noPostgres !== null || isShifted)('a database on PostgreSQL', () => {
  let server: PostgresServer
  let world: RunWorld
  let gate: Gate
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())
  beforeEach(async () => {
    gate = new Gate()
    world = await RunWorld.start({ standIn: { now: () => Date.now(), delay: () => gate.pass() } })
    world.deliver(zillowFeed(homes(1, 6)))
  })
  afterEach(() => world.end())

  const configure = (store: string): void =>
    world.configure({ north: { schedule: '0 * * * *', limits: 'off' } }, { concurrency: 1 }, store)
  const nameOf = (address: string): string => new URL(address).pathname.slice(1)
  const numbers = (): string[] =>
    world
      .listings()
      .map(({ MLSNumber }) => String(MLSNumber))
      .toSorted()
  const secret = 'geheim-12345'
  /** The same database for a new user without any rights. */
  async function stranger(address: string): Promise<string> {
    const role = `stranger_${nameOf(address)}`
    await server.ask(`CREATE ROLE ${role} LOGIN PASSWORD '${secret}'`)
    return address.replace(/\/\/[^@]+@/, `//${role}:${secret}@`)
  }

  describe('that can not be used as it is', () => {
    const faults: { what: string; status: number; says: string; prepare: () => Promise<string> }[] = [
      {
        what: 'nobody listens',
        status: 1,
        says: "it can't be reached (ECONNREFUSED): check that it runs, and its address in `store`. Nothing is lost",
        prepare: async () => `postgres://u:${secret}@127.0.0.1:1/db`,
      },
      {
        what: 'who listens hangs up',
        status: 1,
        says: "it can't be reached (Connection terminated unexpectedly): check that it runs, and its address in `store`. Nothing is lost",
        prepare: async () => addressOf(await listening(createServer((socket) => socket.end()))),
      },
      {
        what: 'all connections are taken',
        status: 1,
        says: 'it has no connection left for this process; raise max_connections',
        async prepare() {
          const address = await stranger(await server.database())
          await server.ask(`ALTER ROLE ${new URL(address).username} CONNECTION LIMIT 0`)
          return address
        },
      },
      {
        what: 'it is too old',
        status: 78,
        says: 'this is PostgreSQL 12, but the store needs 14 or newer; update it',
        prepare: async () => addressOf(await listening(oldPostgres())),
      },
      {
        what: 'it has no encoding',
        status: 78,
        says: 'its encoding is SQL_ASCII, but the store needs UTF8',
        prepare: () => encoded('SQL_ASCII'),
      },
      {
        what: 'it has another encoding',
        status: 78,
        says: 'its encoding is LATIN1, but the store needs UTF8',
        prepare: () => encoded('LATIN1'),
      },
      {
        what: 'the password is wrong',
        status: 78,
        says: 'it refuses the password',
        prepare: async () => (await server.database()).replace(/:[\da-f]+@/, `:${secret}@`),
      },
      {
        what: 'nobody has given a password',
        status: 78,
        says: 'it refuses the password',
        prepare: async () => (await server.database()).replace(/:[\da-f]+@/, '@'),
      },
      {
        what: 'there is none of that name',
        status: 78,
        says: 'there is no such database',
        prepare: async () => `${await server.database()}_not_there`,
      },
      {
        what: 'the user may not connect',
        status: 78,
        says: 'this user may not do that; give it all rights',
        async prepare() {
          const address = await server.database()
          await server.ask(`REVOKE CONNECT ON DATABASE ${nameOf(address)} FROM PUBLIC`)
          return stranger(address)
        },
      },
      {
        what: 'the user may make no tables',
        status: 78,
        says: 'this user may not do that; give it all rights',
        prepare: async () => stranger(await server.database()),
      },
      {
        what: 'its tables are those of another user',
        status: 78,
        says: 'this user may not do that; give it all rights',
        async prepare() {
          const address = await server.database()
          await filled(address)
          return stranger(address)
        },
      },
      {
        what: 'its server takes no TLS',
        status: 78,
        says: 'it takes no TLS connections; leave sslmode out of `store`',
        prepare: async () => `${await server.database()}?sslmode=verify-full`,
      },
      {
        what: 'its certificate is of an unknown authority',
        status: 78,
        says: 'its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); name the file of its authority in `store`',
        async prepare() {
          await server.ask('ALTER SYSTEM SET ssl = on')
          for (const [name, mode] of [
            ['certificate', 0o644],
            ['key', 0o600],
          ] as const) {
            const file = join(server.folder, 'data', name === 'key' ? 'server.key' : 'server.crt')
            copyFileSync(`fixtures/tls/${name}.pem`, file)
            const { uid, gid } = statSync(server.folder)
            chownSync(file, uid, gid)
            chmodSync(file, mode)
          }
          await server.stop()
          await server.start()
          return `${await server.database()}?sslmode=verify-full`
        },
      },
      {
        what: 'the file of its authority is not there',
        status: 78,
        says: "a file that `store` names can't be read: ",
        prepare: async () => `${await server.database()}?sslmode=verify-full&sslrootcert=/not-there.pem`,
      },
      {
        what: 'its socket on this machine is not there',
        status: 1,
        says: "it can't be reached (ENOENT): check that it runs, and its address in `store`. Nothing is lost",
        prepare: async () => `postgres://u:${secret}@/db?host=/not-there`,
      },
      {
        what: 'its search path names no schema',
        status: 78,
        says: 'its search path names no schema that is there; make the schema, or leave search_path out',
        prepare: async () => `${await server.database()}?options=-c%20search_path%3Dnowhere`,
      },
      {
        what: 'it has a table of the same name that is not ours',
        status: 78,
        says: 'its tables are not those of a store',
        async prepare() {
          const address = await server.database()
          await server.ask('CREATE TABLE schema_version (installed_rank INTEGER)', nameOf(address))
          return address
        },
      },
      {
        what: 'it has the schema of a newer version',
        status: 78,
        says: `the store has schema version ${steps.length + 1}, but this program knows versions up to ${steps.length}`,
        async prepare() {
          const address = await server.database()
          await filled(address, [...steps, 'CREATE TABLE later (one INTEGER)'])
          return address
        },
      },
    ]
    it.each(faults)('$what: exit status $status, in one sentence', async ({ status, says, prepare }) => {
      configure(await prepare())
      for (const words of [
        ['sync'],
        ['backfill', 'north'],
        ['diff'],
        ['status'],
        ['runs'],
        ['approve', 'north', '--yes'],
      ]) {
        const ended = await world.executed(...words)
        expect({ words, ...ended }).toMatchObject({ words, status })
        assertOneSentence(ended, says)
      }
      // A daemon waits where waiting helps.
      if (status === 78) {
        const ended = await world.executed('daemon')
        expect(ended.status).toBe(78)
        assertOneSentence(
          {
            ...ended,
            stderr: ended.stderr
              .split('\n')
              .filter((line) => !line.startsWith('{'))
              .join('\n'),
          },
          says,
        )
      }
      expect(world.standIn.counts.Create).toBe(0)
    })

    it.each([
      ['ahead of', 3],
      ['behind', -3],
    ])('this machine is hours %s it: exit status 1, in one sentence, and nothing is written', async (how, hours) => {
      const address = await server.database()
      configure(address)
      const shift = fileURLToPath(new URL('../support/shifted-clock.mjs', import.meta.url))
      const env = { SHIFT_DAYS: String(hours / 24), NODE_OPTIONS: `--import=${shift}` }
      for (const words of [['sync'], ['status']]) {
        const ended = await command(['--config', world.configFile, ...words], { env })
        expect(ended.status).toBe(1)
        assertOneSentence(
          ended,
          `this machine's clock is 180 minutes ${how} the database's; set it right. Nothing was written`,
        )
      }
      expect(world.standIn.counts.Create).toBe(0)
      expect(await server.ask("SELECT to_regclass('meta') AS meta", nameOf(address))).toEqual([{ meta: null }])
    })

    const readOnly: { what: string; make: (server: PostgresServer, name: string) => Promise<unknown> }[] = [
      {
        what: 'it is set to read only',
        make: (server, name) => server.ask(`ALTER DATABASE ${name} SET default_transaction_read_only = on`),
      },
      {
        what: 'it is a standby',
        async make(server) {
          await server.stop()
          writeFileSync(join(server.folder, 'data', 'standby.signal'), '')
          await server.start()
        },
      },
    ]
    it.each(readOnly)('$what: what asks the store alone goes on, all else says it', async ({ make }) => {
      const own = await startPostgres()
      try {
        const address = await own.database()
        configure(address)
        expect((await world.executed('sync')).status).toBe(0)
        await make(own, nameOf(address))
        world.deliver(zillowFeed(homes(1, 7)))
        expect(await world.executed('status')).toMatchObject({
          status: 0,
          stdout: expect.stringContaining('6 listings'),
        })
        expect((await world.executed('runs')).status).toBe(0)
        // Calls to the service are paced together with those of other processes, and that is written down.
        for (const command of ['diff', 'sync']) {
          const ended = await world.executed(command)
          expect(ended.status).toBe(1)
          assertOneSentence(ended, 'it takes no writes now: it is a standby, or set to read only')
        }
        const { status, stdout } = await world.executed('check')
        expect(status).toBe(1)
        expect(stdout).toMatch(/^✗ store: .*: it takes no writes now: it is a standby, or set to read only$/m)
        expect(stdout).toContain('was not asked, as its calls are paced by the store')
        expect(numbers()).toHaveLength(6)
      } finally {
        await own.remove()
      }
    })
  })

  it('a table that is gone is told as that, and no call is made', async () => {
    const address = await server.database()
    await filled(address)
    await server.ask('DROP TABLE payload CASCADE', nameOf(address))
    configure(address)
    const ended = await world.executed('sync')
    expect(ended.status).toBe(1)
    assertOneSentence(ended, 'its tables are not those of a store (relation "payload" does not exist)')
    expect(world.standIn.counts.Create).toBe(0)
  })

  it('a user who may make no schema for the queue: a daemon ends with status 78, in one sentence', async () => {
    const address = await server.database()
    await server.ask(`REVOKE CREATE ON DATABASE ${nameOf(address)} FROM PUBLIC`)
    const limited = await stranger(address)
    await server.ask(`GRANT ALL ON SCHEMA public TO ${new URL(limited).username}`, nameOf(address))
    configure(limited)
    expect((await world.executed('sync')).status).toBe(0)
    const { status, stderr } = await world.executed('daemon')
    expect([status, stderr]).toEqual([78, expect.stringContaining('this user may not do that; give it all rights')])
  })

  it('a user who owns the database and has no other right is all that it takes', async () => {
    const address = await stranger(await server.database())
    await server.ask(`ALTER DATABASE ${nameOf(address)} OWNER TO ${new URL(address).username}`)
    configure(address)
    expect(await world.executed('sync')).toMatchObject({ status: 0 })
    expect(await world.executed('status')).toMatchObject({ status: 0 })
    expect(numbers()).toHaveLength(6)
  })

  it('whose queue is made: what lies in the working folder, or the environment says of another one, is not taken for it', async () => {
    configure(await server.database())
    const cwd = join(world.folder, 'elsewhere')
    const ran = join(world.folder, 'ran')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'package.json'), '{ broken')
    writeFileSync(join(cwd, '.graphile-workerrc.js'), `require('node:fs').writeFileSync(${JSON.stringify(ran)}, '')`)
    writeFileSync(join(cwd, 'crontab'), 'this is none')
    const onStart = async (child: ChildProcess): Promise<void> => {
      await until(() => child.exitCode !== null || numbers().length === 6)
      child.kill('SIGTERM')
    }
    const env = { GRAPHILE_WORKER_SCHEMA: 'elsewhere' }
    const ended = await command(['--config', world.configFile, 'daemon'], { cwd, env, onStart })
    expect(ended).toMatchObject({ status: 0, stderr: expect.not.stringMatching(/defect|trouble/) })
    expect(existsSync(ran)).toBe(false)
  })

  describe('that goes away in the middle of a run', () => {
    const ways: { what: string; cut: () => Promise<unknown> }[] = [
      { what: 'its connections are cut', cut: () => server.ask(`SELECT pg_terminate_backend(pid) ${ofProgram}`) },
      { what: 'it is restarted', cut: () => server.stop().then(() => server.start()) },
    ]
    it.each(ways)(
      '$what: the run fails, and the next one goes on, with nothing twice and nothing missing',
      async ({ cut }) => {
        const address = await server.database()
        configure(address)
        world.standIn.addFault({ operations: ['Create'], nth: 3, fault: { kind: 'slow', wait: 0 } })
        const locker = new Client({ connectionString: address })
        locker.on('error', () => undefined)
        await locker.connect()
        onTestFinished(() => locker.end().catch(() => undefined))
        const run = world.executed('sync')
        await until(() => world.standIn.counts.Create >= 3)
        // The answer to the third create is on its way, and what is to be written of it gets no further than the database.
        await locker.query('BEGIN')
        await locker.query('LOCK TABLE listing')
        gate.open()
        for (let waiting = 0; waiting === 0;)
          waiting = (await server.ask(`SELECT 1 ${ofProgram} AND wait_event_type = 'Lock'`)).length
        await cut()
        await locker.query('ROLLBACK').catch(() => undefined)
        const ended = await run
        expect(ended.status).toBe(1)
        // The report names the listing that it came upon, too.
        const [headline] = ended.stdout.split('\n')
        assertOneSentence({ ...ended, stdout: headline }, "it can't be reached (57P0")
        expect(world.standIn.counts.Create).toBe(3)
        // Where the lease could not be given back it ends by itself.
        await server.ask("UPDATE lease SET expires = clock_timestamp() - interval '1 second'", nameOf(address))
        expect(await world.executed('sync')).toMatchObject({ status: 0 })
        expect(numbers()).toHaveLength(6)
        expect(new Set(numbers()).size).toBe(6)
        expect((await world.executed('diff')).status).toBe(0)
      },
    )
  })

  it('whose disk is full: the run fails, and with room the next one goes on, with nothing twice and nothing missing', async ({
    skip,
  }) => {
    const disk = join(server.folder, 'small')
    mkdirSync(disk)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk])
    if (mounted.error || mounted.status !== 0) skip('no file system in memory can be mounted here')
    const tables = join(disk, 'tables')
    const filler = join(disk, 'filler')
    try {
      mkdirSync(tables)
      chmodSync(disk, 0o755)
      chownSync(tables, 65_534, 65_534)
      await server.ask(`CREATE TABLESPACE small LOCATION '${tables}'`)
      await server.ask('CREATE DATABASE crowded TABLESPACE small')
      const address = (await server.database()).replace(/[^/]+$/, 'crowded')
      configure(address)
      expect((await world.executed('sync')).status).toBe(0)
      world.deliver(zillowFeed(homes(1, 400)))
      for (const size of [65_536, 4096]) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size))
        } catch {
          // It is full, to pieces of this size.
        }
      }
      const full = await world.executed('sync')
      expect(full.status).toBe(1)
      assertOneSentence(full, 'its disk is full and this step was not written; free some space')
      rmSync(filler)
      expect(await world.executed('sync')).toMatchObject({ status: 0 })
      expect(numbers()).toHaveLength(400)
      expect(new Set(numbers()).size).toBe(400)
      await server.ask('DROP DATABASE crowded WITH (FORCE)')
      await server.ask('DROP TABLESPACE small')
    } finally {
      spawnSync('umount', ['--lazy', disk])
    }
  })

  /** Nothing but the sentence, once of the run and once of each change in whose midst it came: no stack, no name of a class, no secret. */
  function assertOneSentence({ stdout, stderr }: Ended, says: string): void {
    const text = stdout + stderr
    const inMidst = text.match(/^ {2}\S+ +\w+ unknown: /gm) ?? []
    expect(text.split(says)).toHaveLength(2 + inMidst.length)
    expect(text).not.toMatch(/defect|\n\s+at |Error:/)
    expect(text).not.toContain(secret)
  }

  const ofProgram = "FROM pg_stat_activity WHERE application_name = 'listing-sync'"
  const addressOf = (port: number): string => `postgres://u:${secret}@127.0.0.1:${port}/db`

  async function encoded(encoding: string): Promise<string> {
    const name = `in_${encoding.toLowerCase()}`
    await server.ask(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`)
    return (await server.database()).replace(/[^/]+$/, name)
  }

  /** Makes the tables of a version. */
  async function filled(address: string, migrations = steps): Promise<void> {
    const store = openPostgres(address, { migrations })
    await store.runs.feeds()
    await store.close()
  }
})

async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A server that speaks as much of PostgreSQL's protocol as it takes to be asked for its version: 12. */
function oldPostgres(): Server {
  const message = (type: string, ...pieces: Buffer[]): Buffer => {
    const body = Buffer.concat(pieces)
    const head = Buffer.alloc(5)
    head.write(type)
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const int = (value: number, size: 2 | 4): Buffer => {
    const bytes = Buffer.alloc(size)
    bytes.writeIntBE(value, 0, size)
    return bytes
  }
  const text = (value: string): Buffer => Buffer.from(`${value}\0`)
  const ready = message('Z', Buffer.from('I'))
  const hello = [message('R', int(0, 4)), message('S', text('server_version'), text('12.22')), ready]
  const columns = { version: 23, encoding: 25, now: 20 }
  const described = Object.entries(columns).map(([name, type]) =>
    Buffer.concat([text(name), int(0, 4), int(0, 2), int(type, 4), int(-1, 2), int(-1, 4), int(0, 2)]),
  )
  const row = ['120022', 'UTF8', String(Date.now())].map((value) =>
    Buffer.concat([int(value.length, 4), Buffer.from(value)]),
  )
  const answer = [
    message('T', int(3, 2), ...described),
    message('D', int(3, 2), ...row),
    message('C', text('SELECT 1')),
    ready,
  ]
  return createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.concat(hello))
      socket.on('data', (asked) => {
        if (asked.toString('latin1', 0, 1) === 'Q') socket.write(Buffer.concat(answer))
      })
    })
  })
}
