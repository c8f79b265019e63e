/** The queue of runs on PostgreSQL: several of them on one database stand for as many processes. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/core/machine.ts'
import { openQueue } from '../../src/store/postgres/queue.ts'
import type { PlannedRun, Queue } from '../../src/store/queue.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { until } from '../support/until.ts'

type CarryOut = Parameters<Queue['workOff']>[1]

/** Milliseconds that a lease lasts for those who look after each other, and for one that is not heard of. */
const lively = 300
const unheard = 3_600_000

describe.skipIf(noPostgres !== null)('the queue of runs', () => {
  let server: PostgresServer
  let address: string
  let processes: { queue: Queue; end: AbortController; ended: Promise<void> }[]
  let lines: string[]
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())
  beforeEach(async () => {
    address = await server.database()
    processes = []
    lines = []
  })
  afterEach(async () => {
    for (const { end } of processes) end.abort()
    for (const { queue, ended } of processes) {
      await ended
      await queue.close()
    }
  })

  const say = (facts: object | string, ...words: unknown[]): void =>
    void lines.push(typeof facts === 'string' ? facts : String(words[0]))
  const log = { debug: say, info: say, warn: say, error: say }
  const ask = (sql: string) => server.ask(sql, new URL(address).pathname.slice(1))
  const now = (): number => systemClock.now()
  const run = (name: string, chatbot = name, at = now()): PlannedRun => ({ name, chatbot, at })

  function begin(carryOut: CarryOut, most = 4, lease = lively, to = address) {
    const queue = openQueue(to, log, lease)
    const end = new AbortController()
    const worker = { queue, end, ended: queue.workOff(most, carryOut, end.signal) }
    processes.push(worker)
    return worker
  }

  /** One that plans and carries nothing out. */
  function planner(): Queue {
    const queue = openQueue(address, log)
    processes.push({ queue, end: new AbortController(), ended: Promise.resolve() })
    return queue
  }

  /** Also where the connection was just cut. */
  async function planned(plannedRun: PlannedRun): Promise<void> {
    const queue = planner()
    for (let isDone = false; !isDone;)
      isDone = await queue.plan([plannedRun]).then(
        () => true,
        () => false,
      )
  }

  it('a run that two processes plan is carried out once, and the one after it is planned', async () => {
    const done: string[] = []
    const carryOut: CarryOut = async (name) => {
      done.push(name)
      await delay(100)
      return run(name, name, now() + 3_600_000)
    }
    const two = [begin(carryOut), begin(carryOut)]
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(two.map(({ queue }) => queue.plan(names.map((name) => run(name)))))
    await until(() => done.length >= names.length)
    await Promise.all(two.map(({ queue }) => queue.plan(names.map((name) => run(name)))))
    for (const { end } of two) end.abort()
    await Promise.all(two.map(({ ended }) => ended))
    expect(done.toSorted()).toEqual(names)
    expect(await two[0].queue.names()).toEqual(new Set(names))
  })

  it('a database that fails as work begins is worked on once it is well', async () => {
    const traces = vi.spyOn(console, 'trace')
    await planner().names()
    const tasks = 'graphile_worker._private_tasks'
    await ask(`ALTER TABLE ${tasks} RENAME TO _private_tasks_away`)
    const failed = async (): Promise<unknown> =>
      (await ask('SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()'))[0]['xact_rollback']
    const before = await failed()
    let isDone = false
    begin(async () => {
      isDone = true
      return null
    })
    while ((await failed()) === before) await delay(50)
    await ask('ALTER TABLE graphile_worker._private_tasks_away RENAME TO _private_tasks')
    await planned(run('north'))
    await until(() => isDone)
    expect(traces).not.toHaveBeenCalled()
  })

  it.each([
    ['between two runs', 'between'],
    ['as a run ends', 'atEnd'],
    ['as the end of a run is half written', 'within'],
  ])(
    'goes on over new connections where the network swallows what is sent over those that are open, %s',
    async (_, moment) => {
      const sockets = new Set<Socket>()
      let isSwallowing = false
      const network = createServer((client) => {
        const database = connect(server.port, '127.0.0.1')
        const isLost = (): boolean => isSwallowing && sockets.has(client)
        for (const [from, to] of [
          [client, database],
          [database, client],
        ]) {
          from.on('data', (bytes) => {
            if (isLost()) return
            to.write(bytes)
            isSwallowing ||= moment === 'within' && bytes.includes('DELETE FROM graphile_worker._private_jobs WHERE id')
          })
          from.on('close', () => isLost() || to.destroy())
          from.on('error', () => undefined)
        }
        if (!isSwallowing) sockets.add(client)
      })
      await once(network.listen(0, '127.0.0.1'), 'listening')
      const through = new URL(address)
      through.port = String((network.address() as { port: number }).port)
      const done: string[] = []
      begin(
        async (name) => {
          done.push(name)
          isSwallowing ||= moment === 'atEnd'
          return null
        },
        3,
        lively,
        through.href,
      )
      await planned(run('before'))
      await until(() => done.length === 1)
      // Its end has to be in the database, or it would be swallowed, too.
      if (moment === 'between') while ((await planner().names()).size > 0) await delay(10)
      if (moment === 'within') await until(() => isSwallowing)
      isSwallowing = true
      await planned(run('after'))
      // Not how many: a run whose end was swallowed is carried out again, perhaps in the same moment.
      await until(() => done.includes('after'))
      for (const socket of sockets) socket.destroy()
      network.close()
    },
  )

  it('runs of one chatbot never overlap, and those of two do', async () => {
    let together = 0
    let most = 0
    const within = new Map<string, number>()
    let over = 0
    const carryOut: CarryOut = async (name) => {
      const [chatbot] = name.split('.')
      within.set(chatbot, (within.get(chatbot) ?? 0) + 1)
      most = Math.max(most, within.get(chatbot)!)
      together = Math.max(together, [...within.values()].filter((count) => count > 0).length)
      await delay(150)
      within.set(chatbot, within.get(chatbot)! - 1)
      over++
      return null
    }
    const { queue } = begin(carryOut)
    begin(carryOut)
    await queue.plan(['x.1', 'y.1', 'x.2', 'y.2', 'x.3'].map((name) => run(name, name.split('.')[0])))
    await until(() => over >= 5)
    expect([together, most]).toEqual([2, 1])
  })

  it('a run that waits takes a new chatbot, and an earlier time that is to come', async () => {
    const queue = planner()
    const at = async (): Promise<unknown> =>
      (
        await ask(
          'SELECT queue_name AS chatbot, floor(extract(epoch FROM run_at) * 1000)::float8 AS at FROM graphile_worker.jobs',
        )
      )[0]
    const later = now() + 3_600_000
    await queue.plan([run('a', 'x', later)])
    await queue.plan([run('a', 'x', later + 60_000)])
    await queue.plan([run('a', 'x', now() - 60_000)])
    expect(await at()).toEqual({ chatbot: 'x', at: later })
    await queue.plan([run('a', 'x', later - 60_000)])
    expect(await at()).toEqual({ chatbot: 'x', at: later - 60_000 })
    await queue.plan([run('a', 'y', later)])
    expect(await at()).toEqual({ chatbot: 'y', at: later })
  })

  it('a run that is due stays due under a new chatbot, as where a feed was moved while no daemon was up', async () => {
    const queue = planner()
    const due = now() - 60_000
    await queue.plan([run('a', 'x', due)])
    await queue.plan([run('a', 'y', now() + 3_600_000)])
    expect(
      await ask(
        'SELECT queue_name AS chatbot, floor(extract(epoch FROM run_at) * 1000)::float8 AS at FROM graphile_worker.jobs',
      ),
    ).toEqual([{ chatbot: 'y', at: due }])
  })

  it('a run that takes longer than a lease stays with its process', async () => {
    let begun = 0
    let over = 0
    const carryOut: CarryOut = async () => {
      begun++
      await delay(5 * lively)
      over++
      return null
    }
    begin(carryOut)
    const { queue } = begin(carryOut)
    await queue.plan([run('a')])
    await until(() => over >= 1)
    expect([begun, lines]).toEqual([1, []])
  })

  it('the run of a process that is not heard of comes again, and what that one does late changes nothing', async () => {
    const wake = Promise.withResolvers<void>()
    let begun = 0
    const frozen = begin(
      async (name) => {
        begun++
        await wake.promise
        return run(name, name, now() + 3_600_000)
      },
      // With room for another run it may take this one itself, once it is given back.
      1,
      unheard,
    )
    await frozen.queue.plan([run('a')])
    await until(() => begun >= 1)
    const release = Promise.withResolvers<void>()
    let taken = 0
    const other = begin(async () => {
      taken++
      await release.promise
      return null
    })
    await until(() => taken >= 1)
    expect(lines.some((sentence) => sentence.includes('not heard of'))).toBe(true)
    frozen.end.abort()
    wake.resolve()
    await frozen.ended
    // Still the other one's, and only its end frees the chatbot.
    expect(await ask('SELECT key, locked_at IS NOT NULL AS held FROM graphile_worker.jobs')).toEqual([
      { key: 'a', held: true },
    ])
    release.resolve()
    other.end.abort()
    await other.ended
    expect(await ask('SELECT key FROM graphile_worker.jobs')).toEqual([])
    expect(await ask('SELECT 1 FROM graphile_worker._private_job_queues WHERE locked_by IS NOT NULL')).toEqual([])
  })

  it.for([
    [1, false],
    [2, true],
  ])('a run that %i processes before the last one died of waits for another one: %s', async ([deaths, waits]) => {
    const queue = planner()
    await queue.plan([run('a', 'a', now() + 3_600_000)])
    await ask(`UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '1 day', locked_by = 'gone',
      payload = json_build_object('name', 'a', 'deaths', ${deaths})`)
    await ask("UPDATE graphile_worker._private_job_queues SET locked_at = now() - interval '1 day', locked_by = 'gone'")
    let taken = 0
    begin(async () => {
      taken++
      return null
    })
    await until(() => lines.some((sentence) => sentence.includes('not heard of')))
    if (waits)
      expect(
        await ask("SELECT run_at > now() + interval '50 seconds' AS waits, locked_at FROM graphile_worker.jobs"),
      ).toEqual([{ waits: true, locked_at: null }])
    else await until(() => taken >= 1)
  })

  it('told to end, a process gives its run to another', async () => {
    let begun = 0
    const first = begin(async (name) => {
      begun++
      return new Promise((resolve) => first.end.signal.addEventListener('abort', () => resolve(run(name))))
    })
    await first.queue.plan([run('a')])
    await until(() => begun >= 1)
    first.end.abort()
    await first.ended
    let taken = 0
    begin(async () => {
      taken++
      return null
    })
    await until(() => taken >= 1)
  })

  it('a run whose end fell into a restart of the database is ended after it', async () => {
    const away = Promise.withResolvers<void>()
    let begun = 0
    const { queue } = begin(async (name) => {
      if (++begun === 1) await away.promise
      return run(name, name, now() + 3_600_000)
    })
    await queue.plan([run('a')])
    await until(() => begun >= 1)
    const { port } = server
    await server.stop()
    away.resolve()
    await delay(100)
    await server.start()
    expect(server.port).toBe(port)
    const waits = (): Promise<unknown[]> => ask('SELECT 1 FROM graphile_worker.jobs WHERE run_at > now()')
    while ((await waits()).length === 0) await delay(50)
    await queue.plan([run('b')])
    await until(() => begun >= 2)
  })

  it('goes on after a restart of the database, and after its connections were cut', async () => {
    const done: string[] = []
    const { queue } = begin(async (name) => {
      done.push(name)
      return null
    })
    await queue.plan([run('a')])
    // Names, not how many: a run whose end was cut off is carried out again.
    await until(() => done.includes('a'))
    await server.stop()
    await server.start()
    await planned(run('b'))
    await until(() => done.includes('b'))
    await ask('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    await planned(run('c'))
    await until(() => done.includes('c'))
  })
})
