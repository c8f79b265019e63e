/**
 * What one, two and four workers carry on one database, with a service that has no limit: `node test/scale-out/throughput.ts`.
 * The figures of docs/scale-out.md come from it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { homes } from '../support/homes.ts'
import { ScaleWorld } from './world.ts'

const feeds = new Map(Array.from({ length: 40 }, (_, n) => [`feed-${n}`, `SN-${n}`]))
const each = 100
const seconds = 20

for (const workers of [1, 2, 4]) {
  // The service has no limit, and all runs are due all the time.
  const world = await ScaleWorld.start({
    feeds,
    rate: 100_000,
    schedule: '* * * * * *',
    leaseTime: 60_000,
    settings: ['fsync=on'],
  })
  try {
    for (const [index, name] of [...feeds.keys()].entries())
      world.deliver(name, homes(index * 1000 + 1, index * 1000 + each))
    const database = async () => {
      const [found] = await world.ask(
        `SELECT xact_commit::float8 AS commits, (SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8) AS wal,
          pg_database_size(datname)::float8 AS size, numbackends::float8 AS connections
        FROM pg_stat_database WHERE datname = current_database()`,
      )
      return found as Record<'commits' | 'wal' | 'size' | 'connections', number>
    }
    const before = await database()
    for (let worker = 0; worker < workers; worker++) world.startWorker(8)
    const creates = async (): Promise<number[]> =>
      (await world.calls()).flatMap(({ operation, at }) => (operation === 'Create' ? [at] : []))
    let made: number[] = []
    while (made.length < feeds.size * each) {
      await delay(500)
      made = await creates()
    }
    const loaded = await database()
    const load = (Math.max(...made) - Math.min(...made)) / 1000
    await delay(5000)
    const runs = async (): Promise<number> =>
      Number((await world.ask('SELECT last_value AS n FROM run_number'))[0]['n'])
    const [first, from, began] = [await runs(), await database(), performance.now()]
    await delay(seconds * 1000)
    const [last, to, took] = [await runs(), await database(), (performance.now() - began) / 1000]
    const n = made.length
    console.log(
      JSON.stringify({
        workers,
        createsPerSecond: Math.round(n / load),
        commitsPerCreate: ((loaded.commits - before.commits) / n).toFixed(2),
        walPerCreate: Math.round((loaded.wal - before.wal) / n),
        sizePerListing: Math.round((loaded.size - before.size) / n),
        unchangedRunsPerSecond: ((last - first) / took).toFixed(1),
        commitsPerRun: ((to.commits - from.commits) / (last - first)).toFixed(1),
        walPerRun: Math.round((to.wal - from.wal) / (last - first)),
        connections: to.connections,
      }),
    )
    await world.stopWorkers()
  } finally {
    await world.end()
  }
}
