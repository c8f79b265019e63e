/** Several processes with one store (docs/faults.md, F74 and F130): one at a time runs, the others name it. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

const everySecond = { north: { schedule: '* * * * * *' } }

let world: RunWorld
/** Answers that are slow wait for it. */
let gate: Gate
afterEach(() => world.end())

async function begin(feeds: Record<string, object>): Promise<void> {
  gate = new Gate()
  const standIn = { now: () => Date.now(), delay: gate.pass }
  world = await RunWorld.start({ standIn, feeds, service: { concurrency: 2 } })
  world.deliver(zillowFeed(homes(1, 6)))
}

const numbers = (): string[] => world.listings().map((item) => String(item['MLSNumber']))
const keysOf = (feed: readonly Home[]): string[] => feed.map((home) => home.mlsNumber).toSorted()
/** How often each listing was created. */
const creates = (): string[] =>
  world.standIn.requests
    .filter((entry) => entry.operation === 'Create')
    .map((entry) => String((entry.body as Record<string, unknown>)['MLSNumber']))

/** Whether a process is writing to the store. */
function isLocked(file: string): boolean {
  const database = new Database(file, { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch {
    return true
  } finally {
    database.close()
  }
}

/** What a child has written to its log so far. */
function logOf(child: ChildProcess): () => string {
  let text = ''
  child.stderr!.on('data', (piece: string) => (text += piece))
  return () => text
}

test('a run by hand while the daemon is at it: says which process has the store, and writes nothing', async () => {
  await begin(everySecond)
  world.standIn.addFault({ operations: ['Create'], times: 4, fault: { kind: 'slow', wait: 1 } })
  const daemon = await world.started(async (child) => {
    await until(() => world.standIn.counts.Create > 0)
    const byHand = await world.command('sync')
    expect(byHand.status).toBe(1)
    expect(byHand.stdout).toContain(`process ${child.pid} on `)
    expect(byHand.stdout).toContain('wait for it to end, or stop it')
    // Looking is not forbidden.
    expect((await world.command('status')).status).toBe(0)
    gate.open()
    await until(() => numbers().length === 6)
    // Between two runs of the daemon the store is free. A tick may fall on the run by hand, which is then said.
    let status: number | null = 1
    for (let attempt = 0; attempt < 50 && status !== 0; attempt++) status = (await world.command('sync')).status
    expect(status).toBe(0)
    child.kill('SIGTERM')
  }, 'daemon')
  expect(daemon.status).toBe(0)
  expect(daemon.stderr).not.toContain('defect')
  expect(creates().toSorted()).toEqual(keysOf(homes(1, 6)))
})

test('two daemons on one store: the second ends at once; when the first is killed, one started again takes over', async () => {
  await begin(everySecond)
  world.standIn.addFault({ operations: ['Create'], fault: { kind: 'slow', wait: 1 } })
  const later = homes(2, 9)
  await world.started(async (first) => {
    await until(() => world.standIn.counts.Create > 0)
    const second = await world.command('daemon')
    expect(second.status).toBe(1)
    expect(second.stderr).toContain(`process ${first.pid} on `)
    expect(second.stderr).toContain('Stop that one first')
    // Killed within a run: its lease dies with it, its marks stay.
    first.kill('SIGKILL')
  }, 'daemon')
  world.standIn.clearFaults()
  const third = await world.started(async (child) => {
    await until(() => numbers().length === 6)
    world.deliver(zillowFeed(later))
    await until(() => keysOf(later).every((text) => numbers().includes(text)))
    child.kill('SIGTERM')
  }, 'daemon')
  expect(third.status).toBe(0)
  expect(third.stderr).not.toContain('defect')
  expect(creates().toSorted()).toEqual(keysOf(homes(1, 9)))
  expect(new Set(numbers()).size).toBe(numbers().length)
  expect((await world.command('sync')).status).toBe(0)
  expect(numbers().toSorted()).toEqual(keysOf(later))
})

test('two daemons started together on an empty folder make one store and no listing twice', async () => {
  await begin(everySecond)
  const [ended, other] = await Promise.all(
    [1, 2].map(() =>
      world.started(async (child) => {
        const log = logOf(child)
        await until(() => log().includes('run finished') || child.exitCode !== null)
        if (child.exitCode === null) await until(() => numbers().length === 6)
        child.kill('SIGTERM')
      }, 'daemon'),
    ),
  )
  const [atWork, ...others] = [ended, other].toSorted((a, b) => a.status! - b.status!)
  expect(atWork.status).toBe(0)
  // One that starts only after the other has ended finds the store free.
  for (const { status, stderr } of others)
    if (status !== 0) expect(stderr).toMatch(/a daemon already runs on|another process/)
  expect(creates().toSorted()).toEqual(keysOf(homes(1, 6)))
})

test('a process that is suspended keeps the store, and goes on where it was', async () => {
  await begin({ north: {} })
  world.standIn.addFault({ operations: ['Create'], times: 2, fault: { kind: 'slow', wait: 1 } })
  const ended = await world.started(async (child) => {
    await until(() => world.standIn.counts.Create >= 2)
    // It waits for two answers now. In the middle of a write the others would only see a lock.
    for (child.kill('SIGSTOP'); isLocked(join(world.folder, 'store.db')); child.kill('SIGSTOP')) {
      child.kill('SIGCONT')
      await delay(50)
    }
    const second = await world.command('sync')
    expect(second.status).toBe(1)
    expect(second.stdout).toContain(`process ${child.pid} on `)
    child.kill('SIGCONT')
    gate.open()
  }, 'sync')
  expect(ended.status).toBe(0)
  expect(creates().toSorted()).toEqual(keysOf(homes(1, 6)))
  expect((await world.command('sync')).status).toBe(0)
})
