/**
 * What one, two and four workers carry with a store on PostgreSQL, side by side on this machine, and what that costs the
 * database. The rate is the highest that can be set, and all runs are due all the time.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ScaleWorld } from '../scale-out/world.ts'
import { homes } from '../support/homes.ts'
import { expected, figure } from './measure.ts'

const feeds = new Map(Array.from({ length: 40 }, (_, n) => [`feed-${n}`, `SN-${n}`]))
/** Homes of each feed, and seconds of runs without a change; with few homes it is a quick look at two workers alone. */
const [each, seconds] = process.argv.slice(3, 5).map(Number)

type Use = Record<'commits' | 'wal' | 'size' | 'connections' | 'runs', number>

for (const workers of each < 10 ? [2] : [1, 2, 4]) {
  const world = await ScaleWorld.start({
    feeds,
    rate: 1000,
    schedule: '* * * * * *',
    leaseTime: 60_000,
    settings: ['fsync=on'],
  })
  const use = async (): Promise<Use> => {
    const [found] = await world.ask(
      `SELECT xact_commit::float8 AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal,
        pg_database_size(datname)::float8 AS size, numbackends::float8 AS connections,
        coalesce(pg_sequence_last_value(to_regclass('run_number')), 0)::float8 AS runs
      FROM pg_stat_database WHERE datname = current_database()`,
    )
    return found as Use
  }
  const print = (what: string, value: number, unit: string): void =>
    figure('P14', `${workers} ${workers === 1 ? 'worker' : 'workers'}: ${what}`, value, unit)
  try {
    for (const [index, name] of [...feeds.keys()].entries())
      world.deliver(name, homes(index * 1000 + 1, index * 1000 + each))
    const before = await use()
    for (let worker = 0; worker < workers; worker++) world.startWorker(8)
    const all = feeds.size * each
    let made: number[] = []
    while (made.length < all) {
      await delay(500)
      if (world.workers.size < workers) throw new Error('a worker has ended')
      made = (await world.calls()).flatMap(({ operation, at }) => (operation === 'Create' ? [at] : []))
    }
    const loaded = await use()
    print('creates', (all * 1000) / (Math.max(...made) - Math.min(...made)), '/s')
    print('commits of a create', (loaded.commits - before.commits) / all, '')
    print('WAL of a create', (loaded.wal - before.wal) / all / 1000, 'kB')
    print('size of a listing', (loaded.size - before.size) / all / 1000, 'kB')
    await delay(Math.min(seconds, 5) * 1000)
    const [from, began] = [await use(), performance.now()]
    await delay(seconds * 1000)
    const [to, took] = [await use(), (performance.now() - began) / 1000]
    const runs = to.runs - from.runs
    print(`runs of ${each} listings without a change`, runs / took, '/s')
    print('commits of a run', (to.commits - from.commits) / runs, '')
    print('WAL of a run', (to.wal - from.wal) / runs / 1000, 'kB')
    print('connections', to.connections, '')
    await world.stopWorkers()
    let listings = 0
    for (const chatbot of feeds.values()) listings += new Set(await world.listings(chatbot)).size
    expected(
      'listings',
      [listings, (await world.calls()).filter(({ operation }) => operation === 'Create').length],
      [all, all],
    )
  } finally {
    await world.end()
  }
}
process.exit()
