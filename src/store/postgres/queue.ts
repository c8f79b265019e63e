/**
 * The planned runs, on graphile-worker in the store's database: each waits there for its time, and whichever process is free
 * carries it out. Runs of one chatbot never overlap, as they are in one named queue.
 *
 * graphile-worker itself takes a process for dead after four hours. Here each process renews the locks of its runs, and loses them if
 * it has not done so for longer than a lease lasts. Its run is then put back as another job, so that a process that wakes up again
 * ends only its own job. That writes to graphile-worker's tables, so the package is pinned to one version.
 */
import { createRequire } from 'node:module'
import type * as Library from 'graphile-worker'
import type { TaskList } from 'graphile-worker'
import { StoreAwayError, messageOf } from '../../core/errors.ts'
import { shortHash } from '../../core/hash.ts'
import { atHomeIn, systemClock } from '../../core/machine.ts'
import type { Log } from '../../core/machine.ts'
import type { PlannedRun, Queue } from '../queue.ts'
import { openDoor, openPool } from './door.ts'
import type { Asker } from './door.ts'
import { leaseTime } from './lease.ts'

/** The number ("LSYQ") of the advisory lock under which one process at a time looks for missing or lost runs. */
const lockNumber = 0x4c535951
/** Milliseconds between two looks of an idle worker. */
const pollInterval = 2000
/** Milliseconds until work begins again after the database ended it. */
const rest = 5000
/** Connections of the workers: one listens, the others take jobs and give them back. */
const connections = 4
/** Milliseconds that a statement of theirs may take. Usual are a few. */
const longest = 10_000
/** If a run ended more processes in a row than this, it waits longer and longer before the next one takes it. */
const freeDeaths = 3

/** Adds a run for each row of `p`. */
const add = `graphile_worker.add_job('run', json_build_object('name', p.name, 'deaths', p.deaths), queue_name := p.queue,
  run_at := p.at, job_key := p.name)`
const jobs = 'graphile_worker._private_jobs'
const queues = 'graphile_worker._private_job_queues'
/** graphile-worker's schema, whatever the environment says of it. */
const schema = 'graphile_worker'
const timeOf = (milliseconds: string): string => `to_timestamp(${milliseconds}::float8 / 1000)`

/** A queue name that graphile-worker accepts. */
const queueOf = (chatbot: string): string => (chatbot.length <= 100 ? chatbot : shortHash(chatbot))

/** Opens the queue in the database of an address. `time`: milliseconds of a lease. It connects with its first use. */
export function openQueue(address: string, log: Log, time = leaseTime): Queue {
  /** Milliseconds: by then a lease of a process that died has ended, too. */
  const deadAfter = 1.5 * time
  const door = openDoor(address, {
    readOnly: false,
    chatbotOf: () => undefined,
    assertMayWrite: () => Promise.resolve(),
    prepare: (_, transaction) => transaction((asker) => makeTables(asker, address, log)),
  })
  /** By the id of each job of this process, the pool of workers that has it. */
  const underWay = new Map<string, string>()

  /** Does work while no other process does such work, so that nothing is planned twice. */
  const exclusive = <Result>(task: (asker: Asker) => Promise<Result>): Promise<Result> =>
    door.transaction(async (asker) => {
      await asker.run('SELECT pg_advisory_xact_lock($1)', [lockNumber])
      return task(asker)
    })

  /** Says that the runs of this process are alive. */
  async function beat(): Promise<void> {
    if (underWay.size === 0) return
    await door.run(
      `WITH mine AS (
        UPDATE ${jobs} AS job SET locked_at = now() FROM unnest($1::bigint[], $2::text[]) AS m(id, pool)
        WHERE job.id = m.id AND job.locked_by = m.pool RETURNING job.job_queue_id, m.pool
      ) UPDATE ${queues} AS queue SET locked_at = now() FROM mine
      WHERE queue.id = mine.job_queue_id AND queue.locked_by = mine.pool`,
      [[...underWay.keys()], [...underWay.values()]],
    )
  }

  /** Puts back runs of processes that are not heard of any more. */
  async function bury(): Promise<void> {
    const isDead = "locked_at < now() - $1 * interval '1 millisecond'"
    if ((await door.get(`SELECT 1 FROM ${jobs} WHERE ${isDead} LIMIT 1`, [deadAfter])) === undefined) return
    const lost = await exclusive(async (asker) => {
      const dead = await asker.all<{ name: string; deaths: number; queue: number }>(
        `DELETE FROM ${jobs} WHERE ${isDead}
        RETURNING key AS name, (payload ->> 'deaths')::int + 1 AS deaths, job_queue_id AS queue`,
        [deadAfter],
      )
      await asker.run(`UPDATE ${queues} SET locked_at = NULL, locked_by = NULL WHERE ${isDead}`, [deadAfter])
      await asker.run(
        `SELECT ${add} FROM (
          SELECT lost.name, lost.deaths, queue_name AS queue,
            now() + CASE WHEN lost.deaths < $2 THEN 0 ELSE least(30, 2 ^ (lost.deaths - $2)) END * interval '1 minute' AS at
          FROM json_to_recordset($1) AS lost(name text, deaths int, queue int) JOIN ${queues} AS q ON q.id = lost.queue
        ) AS p`,
        [JSON.stringify(dead), freeDeaths],
      )
      return dead
    })
    for (const { name, deaths } of lost)
      log.warn(
        { feed: name, deaths },
        'the process that had a run of this feed is not heard of any more: the run is given to another one',
      )
  }

  /** By real time, as for leases. */
  async function stayAlive(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      try {
        await beat()
        await bury()
      } catch (error) {
        log.debug({ problem: messageOf(error) }, 'could not look after the queue')
      }
      await systemClock.sleep(time / 3, end).catch(() => undefined)
    }
  }

  /** Ends a run of this process and plans the next one. Does nothing if another process has been given the run. */
  async function finish(id: string, pool: string, next: PlannedRun | null): Promise<void> {
    await door.transaction(async (asker) => {
      const [job] = await asker.all<{ queue: number }>(
        `DELETE FROM ${jobs} WHERE id = $1 AND locked_by = $2 RETURNING job_queue_id AS queue`,
        [id, pool],
      )
      if (job === undefined) return
      await asker.run(`UPDATE ${queues} SET locked_at = NULL, locked_by = NULL WHERE id = $1 AND locked_by = $2`, [
        job.queue,
        pool,
      ])
      if (next === null) return
      await asker.run(`SELECT ${add} FROM (SELECT $1 AS name, 0 AS deaths, $2 AS queue, ${timeOf('$3')} AS at) AS p`, [
        next.name,
        queueOf(next.chatbot),
        next.at,
      ])
    })
  }

  /** The same, also if the database is away for a while. If it is too long, another process is given the run. */
  async function finishSurely(id: string, pool: string, next: PlannedRun | null, end: AbortSignal): Promise<void> {
    const since = systemClock.now()
    for (;;) {
      try {
        return await finish(id, pool, next)
      } catch (error) {
        const isOver = end.aborted || systemClock.now() - since > deadAfter
        if (isOver || !(error instanceof StoreAwayError)) throw error
        await systemClock.sleep(1000, end).catch(() => undefined)
      }
    }
  }

  return {
    async names() {
      const found = await door.all<{ name: string }>(
        `SELECT key AS name FROM ${jobs} WHERE key IS NOT NULL AND (locked_at IS NOT NULL OR attempts < max_attempts)`,
      )
      return new Set(found.map(({ name }) => name))
    },
    plan: (runs) =>
      exclusive(async (asker) => {
        await asker.run(
          `SELECT ${add} FROM (
            SELECT r.name, coalesce((job.payload ->> 'deaths')::int, 0) AS deaths, r.queue,
              CASE WHEN job.attempts < job.max_attempts AND job.run_at <= now() THEN job.run_at ELSE ${timeOf('r.at')} END AS at,
              job.id, job.locked_at, job.run_at, job.attempts < job.max_attempts AS waits, q.queue_name
            FROM json_to_recordset($1) AS r(name text, queue text, at float8)
            LEFT JOIN ${jobs} AS job ON job.key = r.name LEFT JOIN ${queues} AS q ON q.id = job.job_queue_id
          ) AS p
          WHERE p.id IS NULL OR p.locked_at IS NULL
            AND (NOT p.waits OR p.queue <> p.queue_name OR (p.at < p.run_at AND p.at > now()))`,
          [JSON.stringify(runs.map(({ name, chatbot, at }) => ({ name, queue: queueOf(chatbot), at })))],
        )
      }),
    async workOff(most, carryOut, end) {
      const running = new Set<Promise<void>>()
      const task = async (name: string, id: string, pool: string, due: number): Promise<void> => {
        underWay.set(id, pool)
        try {
          await finishSurely(id, pool, await carryOut(name, due), end)
        } finally {
          underWay.delete(id)
        }
      }
      const taskList: TaskList = {
        async run(payload, { job }) {
          const { name } = payload as { name: string }
          const done = task(name, job.id, job.locked_by!, job.run_at.getTime())
          running.add(done)
          await done.finally(() => running.delete(done))
        },
      }
      const over = new AbortController()
      const alive = stayAlive(over.signal)
      while (!end.aborted) {
        await workUntilTrouble(address, most - running.size, taskList, log, end)
        await systemClock.sleep(rest, end).catch(() => undefined)
      }
      await Promise.allSettled(running)
      over.abort()
      await alive
    },
    close: () => door.close(),
  }
}

/**
 * While it is loaded, graphile-worker runs what it takes for its configuration in the working folder and above, up to the user's
 * home, and ends the program if the user has none. So it is loaded as if the program's own folder were both.
 */
function library(): typeof Library {
  // It prints some faults past the log, which gets them, too.
  console.trace = () => undefined
  return atHomeIn(import.meta.dirname, () => createRequire(import.meta.url)('graphile-worker') as typeof Library)
}

const quarrel = 'the queue of runs has trouble with the database'

/** graphile-worker's logger: its faults are logged, and which job is completed is not. */
function loggerTo(log: Log) {
  const { Logger } = library()
  return new Logger(() => (level, problem) => {
    if (level === 'error') log.warn({ problem }, quarrel)
  })
}

/** Brings graphile-worker's tables up to date. Waits for another process that is doing so. */
async function makeTables(asker: Asker, address: string, log: Log): Promise<void> {
  const { runMigrations } = library()
  await asker.run('SELECT pg_advisory_xact_lock($1)', [lockNumber])
  const pgPool = await openPool(address, { most: 1 })
  try {
    await runMigrations({ pgPool, schema, logger: loggerTo(log) })
  } finally {
    await pgPool.end()
  }
}

/**
 * Runs graphile-worker until it ends, as when it could not write down the end of a job, or can look for none. Jobs under way go on,
 * and are ended here. Resolves when it takes no more jobs.
 */
async function workUntilTrouble(
  address: string,
  concurrency: number,
  taskList: TaskList,
  log: Log,
  end: AbortSignal,
): Promise<void> {
  const { run } = library()
  const pgPool = await openPool(address, { most: connections, longest })
  const stopped = Promise.withResolvers<void>()
  try {
    const runner = await run({
      pgPool,
      schema,
      concurrency: Math.max(1, concurrency),
      noHandleSignals: true,
      pollInterval,
      taskList,
      logger: loggerTo(log),
      // Without this, an end that it could not write down would end the process.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    })
    runner.events.on('pool:gracefulShutdown', () => stopped.resolve())
    const stop = (): void => void runner.stop().catch(() => undefined)
    // It asks for the numbers of tasks once, and keeps the answer even if that is a fault: no look for jobs would succeed any more.
    // And it goes on using connections that give no answer, where the network swallows what is sent.
    let latest: unknown = null
    runner.events.on('worker:getJob:error', ({ error }) => {
      if (error === latest || /timeout/i.test(messageOf(error))) stop()
      latest = error
    })
    end.addEventListener('abort', stop, { once: true })
    if (end.aborted) stop()
    // Not waited for: connections to a database that is away may take long to end.
    void runner.promise
      .catch(() => undefined)
      .then(() => pgPool.end())
      .catch(() => undefined)
    await stopped.promise
    end.removeEventListener('abort', stop)
  } catch (error) {
    log.warn({ problem: messageOf(error) }, quarrel)
    void pgPool.end().catch(() => undefined)
  }
}
