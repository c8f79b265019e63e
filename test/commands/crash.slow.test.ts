/** An uncaught error (docs/faults.md, F137), a crash loop (F138), and what tells an operator of it (F146). */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { heartbeatFile, touch } from '../../bin/heartbeat.mjs'
import { beTheOne } from '../../src/daemon/one-daemon.ts'
import { openStoreReader } from '../../src/store/sqlite.ts'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { command } from '../support/program.ts'
import type { Ended } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

/** Throws an uncaught error, whatever the program is doing. */
const defects = {
  exception: 'throw new Error("no such thing, test-secret-key")',
  rejection: 'void Promise.reject(new Error("no such thing, test-secret-key"))',
}

let world: RunWorld
let gate: Gate
beforeEach(async () => {
  gate = new Gate()
  world = await RunWorld.start({ standIn: { now: () => Date.now(), delay: gate.pass } })
  world.deliver(zillowFeed(homes(1, 6)))
})
afterEach(() => world.end())

const store = (): string => join(world.folder, 'store.db')

/** The program with a defect that shows on SIGUSR2, once two creates are under way. */
function crashing(defect: keyof typeof defects, name: string): Promise<Ended> {
  const preload = `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${defects[defect]} })`)}`
  return command(['--config', world.configFile, name], {
    env: { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${preload}` },
    onStart: async (child) => {
      const creates = world.standIn.counts.Create
      await until(() => world.standIn.counts.Create >= creates + 2)
      child.kill('SIGUSR2')
    },
  })
}

test.each(['exception', 'rejection'] as const)(
  'a defect (%s): said without secrets, the run is marked, the next one is right',
  async (defect) => {
    world.standIn.addFault({ operations: ['Create'], times: 2, fault: { kind: 'slow', wait: 1 } })
    const ended = await crashing(defect, 'sync')
    expect(ended.status).toBe(1)
    expect(ended.stderr).toMatch(
      /^listing-sync: this is a defect, please report it: Error: no such thing, \*\*\*\n +at /,
    )
    const status = await world.command('status')
    expect(status.stdout).toContain('last sync: failed, interrupted')
    expect(status.stdout).toContain('a defect ended the program in the middle of this run: no such thing, ***')
    expect(ended.stderr + ended.stdout + status.stdout).not.toContain('test-secret-key')
    world.standIn.clearFaults()
    // After the time in which the two may still take effect.
    world.clock.advance(Date.now() - world.clock.now() + 3_600_000)
    await world.run()
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 6 } })
    expect(world.listings()).toHaveLength(6)
  },
)

test('a daemon that crashes at each start waits before the fourth; status tells, and so does --ready', async () => {
  world.configure({ north: { schedule: '0 0 1 1 *' } })
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'slow', wait: 1 } })
  for (let start = 0; start < 3; start++) {
    world.deliver(zillowFeed(homes(1, 6 + 6 * start)))
    expect((await crashing('rejection', 'daemon')).status).toBe(1)
  }
  expect(await openedStarts()).toBe(3)
  world.standIn.clearFaults()
  world.calls()
  const fourth = await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => log.includes('waiting before the first run'))
    expect((await world.command('status', '--health')).status).toBe(0)
    const status = await world.command('status')
    expect(status.stdout).toContain('The daemon was started 4 times, each time after one that ended without a word')
    expect(await world.command('status', '--ready')).toMatchObject({
      status: 1,
      stdout: 'north: no run has been good yet\n',
    })
    child.kill('SIGTERM')
  }, 'daemon')
  expect(fourth.status).toBe(0)
  expect(world.calls()).toMatchObject({ List: 0, Create: 0 })
  // Stopped by a person: the next start begins at once.
  expect(await openedStarts()).toBe(0)
})

async function openedStarts(): Promise<number> {
  const reader = openStoreReader(store())
  try {
    return (await reader.runs.starts()).times
  } finally {
    await reader.close()
  }
}

test('--ready tells of a feed that is stale and of a daemon that is gone; --health of the daemon alone', async () => {
  world.clock.advance(Date.now() - world.clock.now() - 5 * 3_600_000)
  await world.run()
  // What is due once a year is still fresh, what is due every hour is not.
  world.configure({ north: { schedule: '0 0 1 1 *' } })
  expect(await world.command('status', '--ready')).toMatchObject({
    status: 1,
    stdout: 'no daemon is alive on this store\n',
  })
  const daemon = beTheOne(store(), Date.now())
  daemon.beat(Date.now())
  daemon.release()
  touch(heartbeatFile(world.configFile), Date.now())
  expect(await world.command('status', '--ready')).toMatchObject({ status: 0, stdout: '' })
  world.configure({ north: { schedule: '0 * * * *' } })
  const stale = await world.command('status', '--ready')
  expect(stale.status).toBe(1)
  expect(stale.stdout).toMatch(
    /^north: no run has been good since \w{3} \d+ \w{3} \d\d:\d\d, although 3 or more were due\n$/,
  )
  expect((await world.command('status', '--health')).status).toBe(0)
  expect((await world.command('status')).stdout).toContain('  stale: no run has been good since ')
})
