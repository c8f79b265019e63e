/** Signals, health and the start of the daemon, through real processes. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { heartbeatFile } from '../../bin/heartbeat.mjs'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { command, program } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

let world: RunWorld
let gate: Gate
beforeEach(async () => {
  gate = new Gate()
  world = await RunWorld.start({
    standIn: { now: () => Date.now(), delay: () => gate.pass() },
    feeds: { north: { schedule: '0 0 1 1 *' } },
  })
  world.deliver(zillowFeed(homes(1, 6)))
})
afterEach(async () => {
  rmSync(heartbeatFile(world.configFile), { force: true })
  await world.end()
})

interface Line {
  level: string
  msg: string
  [fact: string]: unknown
}
const lines = (log: string): Line[] =>
  log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)

const taken = 'the configuration was read again: later runs use it'
const refused = 'the changed configuration has problems: the one before stays in use'

test('a SIGHUP before the daemon is loaded does not end it, as it reads its configuration anyway', async () => {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (/\\bmain\\.(ts|cjs)$/.test(name)) process.kill(process.pid, 'SIGHUP')
      return next(name, context)
    } })`
  const ended = await command(['--config', world.configFile, 'daemon'], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` },
    onStart: async (child) => {
      gate.open()
      await Promise.race([once(child, 'exit'), until(() => world.listings().length === 6)])
      child.kill('SIGTERM')
    },
  })
  expect(ended.status).toBe(0)
  expect(lines(ended.stderr).map(({ level }) => level)).not.toContain('error')
})

test('20 SIGHUPs during a sync change nothing: one run, every listing once, no error', async () => {
  world.standIn.addFault({ operations: ['Create'], nth: 3, fault: { kind: 'slow', wait: 0 } })
  const ended = await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => world.standIn.counts.Create >= 3)
    for (let times = 0; times < 20; times++) {
      child.kill('SIGHUP')
      await delay(100)
    }
    await until(() => log.includes(taken))
    gate.open()
    await until(() => log.includes('run finished'))
    child.kill('SIGTERM')
  }, 'daemon')
  expect(ended.status).toBe(0)
  const messages = lines(ended.stderr)
  expect(messages.filter(({ msg }) => msg.startsWith('run '))).toMatchObject([{ msg: 'run finished', feed: 'north' }])
  expect(messages.filter(({ level }) => level !== 'info')).toEqual([])
  // Signals that come by the dozen are one wish, and then another.
  expect(messages.filter(({ msg }) => msg === taken).length).toBeLessThanOrEqual(5)
  expect(world.calls()).toMatchObject({ Create: 6, Update: 0, Delete: 0 })
})

test('a run under way finishes on the old configuration, the next has the new; a broken file changes nothing', async () => {
  world.configure({ north: { schedule: '* * * * * *' } }, {}, './store.db', { metrics: './metrics.prom' })
  world.deliver(zillowFeed(homes(1, 9)), 'south.xml')
  world.standIn.addFault({ operations: ['Create'], nth: 3, fault: { kind: 'slow', wait: 0 } })
  const good = readFileSync(world.configFile, 'utf8')
  const metric = (): string =>
    /^listing_sync_config_refused (\d)$/m.exec(readFileSync(join(world.folder, 'metrics.prom'), 'utf8'))![1]
  const ended = await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => world.standIn.counts.Create >= 3)
    // Without a signal: the file itself has settled.
    writeFileSync(world.configFile, good.replace('north.xml', 'south.xml'))
    await until(() => log.includes(taken))
    gate.open()
    await until(() => log.includes('run finished'))
    expect(world.listings().length).toBeGreaterThanOrEqual(6)
    const first = lines(log).find(({ msg }) => msg === 'run finished')!
    expect(first).toMatchObject({ counts: { create: 6 } })
    await until(() => world.listings().length === 9)

    writeFileSync(world.configFile, 'feeds: [\nservice: {')
    child.kill('SIGHUP')
    await until(() => log.includes(refused))
    expect((await world.command('status', '--health')).status).toBe(0)
    world.deliver(zillowFeed(homes(1, 10)), 'south.xml')
    await until(() => world.listings().length === 10)
    expect(metric()).toBe('1')
    writeFileSync(world.configFile, good)
    child.kill('SIGHUP')
    await until(() => metric() === '0')
    child.kill('SIGTERM')
  }, 'daemon')
  expect(ended.status).toBe(0)
  expect(lines(ended.stderr).filter(({ msg }) => msg === refused)).toHaveLength(1)
})

test('the health check reads the heartbeat alone, and is right while the configuration is broken or gone', async () => {
  const health = async (): Promise<number | null> => (await world.command('status', '--health')).status
  await world.started(async (child) => {
    await until(() => world.listings().length === 6)
    expect(await health()).toBe(0)
    writeFileSync(world.configFile, ': [ ${file:./nowhere}')
    expect(await health()).toBe(0)
    rmSync(world.configFile)
    expect(await health()).toBe(0)
    // With more words the whole program is asked, which looks no further either.
    expect((await world.command('status', '--health', '--format', 'json')).status).toBe(0)
    child.kill('SIGKILL')
  }, 'daemon')
  const aMinuteAgo = Date.now() / 1000 - 61
  utimesSync(heartbeatFile(world.configFile), aMinuteAgo, aMinuteAgo)
  expect(await health()).toBe(1)
})

test('the health check takes less than 80 ms beyond an empty Node', () => {
  const took = (...words: string[]): number => {
    const began = performance.now()
    spawnSync(process.execPath, words)
    return performance.now() - began
  }
  writeFileSync(heartbeatFile(world.configFile), '')
  // In turns, as other processes come and go; the least of each has met the fewest of them.
  const rounds = Array.from({ length: 7 }, () => [
    took('--eval', '0'),
    took(program, '--config', world.configFile, 'status', '--health'),
  ])
  const least = (which: number): number => Math.min(...rounds.map((round) => round[which]))
  expect(least(1) - least(0)).toBeLessThan(80)
})

test('a second daemon on the same store waits for nothing, ends and names the first', async () => {
  const hour = new Date().toISOString().slice(0, 13)
  await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => log.includes('run finished'))
    const { List: before } = world.standIn.counts
    const took: Record<'daemon' | 'status', number[]> = { daemon: [], status: [] }
    for (let round = 0; round < 3; round++) {
      for (const name of ['status', 'daemon'] as const) {
        const began = performance.now()
        const ended = await world.command(name)
        took[name].push(performance.now() - began)
        if (name === 'status') continue
        expect(ended).toMatchObject({ status: 1, stdout: '' })
        expect(ended.stderr).toContain(`process ${child.pid} on ${hostname()} since ${hour}`)
      }
    }
    // Beside a command that needs no lease, in turns, as the machine is slow for both.
    expect(Math.min(...took.daemon) - Math.min(...took.status)).toBeLessThan(1000)
    expect(world.standIn.counts.List).toBe(before)
    child.kill('SIGKILL')
  }, 'daemon')
  // The system takes the right back, even from one that was killed.
  const third = await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => log.includes('daemon started'))
    child.kill('SIGTERM')
  }, 'daemon')
  expect(third.status).toBe(0)
})
