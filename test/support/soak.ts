/** Many runs in one process on a virtual clock, as a daemon makes them over months, and what they leave behind. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openApp } from '../../src/app/open.ts'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { home, zillowFeed } from './homes.ts'
import type { Home } from './homes.ts'
import { pick, seeded } from './random.ts'
import { RunWorld } from './run-world.ts'

/** What the process and its folder hold at one moment; sizes in bytes. */
export interface Holdings {
  runs: number
  /** Used heap after a collection of garbage. */
  heap: number
  /** Timers, sockets and the like that Node has open. */
  handles: number
  /** Open files and sockets of the process; null where the system does not say. */
  descriptors: number | null
  store: number
  log: number
  /** Runs by their results so far. */
  results: Record<string, number>
}

const quarterHour = 15 * 60_000
const moods: FaultRuleInput['fault'][] = [
  { kind: 'status', status: 429 },
  { kind: 'status', status: 503, body: 'html' },
  { kind: 'status', status: 500, carriedOut: true },
  { kind: 'body', form: 'html' },
  { kind: 'body', form: 'cut-json' },
  { kind: 'reset', when: 'after-carrying-out' },
  { kind: 'reset', when: 'after-reading' },
  { kind: 'refuse', message: 'Not this one' },
  { kind: 'credentials' },
]

/**
 * Runs one feed so many times, a quarter of an hour apart: listings come, change and go, one run in five meets a fault,
 * one delivery in fifty is no feed (with `failing` every one). `noted` gets the holdings after each number of runs in `at`.
 */
export async function soak(
  runs: number,
  at: readonly number[],
  noted: (holdings: Holdings) => void,
  options: { failing?: boolean } = {},
): Promise<void> {
  const random = seeded(20_261_121)
  const north = { limits: 'off' }
  const world = await RunWorld.start({ standIn: { keepRequests: 100 }, feeds: { north } })
  // What is logged is not looked at here, and must not fill the screen.
  const app = openApp(world.context, { logLevel: 'error' })
  const [feed] = app.config.feeds
  const results: Holdings['results'] = {}
  let homes: Home[] = Array.from({ length: 12 }, (_, i) => home(i + 1))
  let next = 13
  try {
    for (let run = 1; run <= runs; run++) {
      homes = [...homes.slice(1), home(next++)]
      const changed = Math.floor(random() * homes.length)
      homes[changed] = { ...homes[changed], price: homes[changed].price + 100 }
      world.deliver(
        run % 50 === 0 || options.failing ? '<html><title>Down for maintenance</title></html>' : zillowFeed(homes),
      )
      world.standIn.clearFaults()
      if (random() < 0.2) world.standIn.addFault({ probability: 0.3, seed: run, fault: pick(random, moods) })
      const { report, close } = await app.sync(feed, 'sync')
      close()
      results[report.result] = (results[report.result] ?? 0) + 1
      world.clock.advance(quarterHour)
      if (at.includes(run)) noted(holdings(world, run, { ...results }))
    }
  } finally {
    await app.close()
    await world.end()
  }
}

function holdings(world: RunWorld, runs: number, results: Holdings['results']): Holdings {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Twice: what a finaliser frees goes with the second.
  collect()
  collect()
  const sizeOf = (name: string): number => statSync(join(world.folder, name), { throwIfNoEntry: false })?.size ?? 0
  return {
    runs,
    heap: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().length,
    descriptors: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : null,
    store: sizeOf('store.db'),
    log: sizeOf('store.db-wal'),
    results,
  }
}
