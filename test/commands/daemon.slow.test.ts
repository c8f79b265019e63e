/** The daemon as a container runs it: a child process on a schedule, told to stop by SIGTERM. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { heartbeatFile } from '../../bin/heartbeat.mjs'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { command, program } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { slowness, tell } from '../support/signals.ts'
import { until } from '../support/until.ts'

let world: RunWorld
/** Answers that are slow wait for the gate that their `wait` is the number of. */
let gates: Gate[]
beforeEach(async () => {
  gates = [new Gate(), new Gate()]
  world = await RunWorld.start({
    standIn: { now: () => Date.now(), delay: (which) => gates[which].pass() },
    feeds: { north: { schedule: '* * * * * *' } },
  })
})
afterEach(() => world.end())

/** Messages of the log, which is JSON lines and all that standard error has. */
function logged(stderr: string): { level: unknown; msg: string; feed?: string }[] {
  const lines = stderr.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as { level: unknown; msg: string; feed?: string })
}

test('catches up at start, follows the feed, says that it is alive, stops cleanly', async () => {
  world.deliver(zillowFeed(homes(1, 5)))
  expect((await world.command('status', '--health')).status).toBe(1)
  let stoppedAt = 0
  const ended = await world.started(async (child) => {
    await until(() => world.listings().length === 5)
    world.deliver(zillowFeed(homes(2, 7)))
    await until(() => world.listings().length === 6)
    expect((await world.command('status', '--health')).status).toBe(0)
    stoppedAt = Date.now()
    child.kill('SIGTERM')
  }, 'daemon')
  expect(ended).toMatchObject({ status: 0, stdout: '' })
  expect(Date.now() - stoppedAt).toBeLessThan(10_000 * slowness())
  const messages = logged(ended.stderr).map(({ msg }) => msg)
  expect(messages[0]).toBe('daemon started')
  expect(messages).toContain('run finished')
  expect(messages.at(-1)).toBe('daemon stopped')
})

test('never overlaps a run with itself, and drains the call under way when it is stopped', async () => {
  world.deliver(zillowFeed(homes(1, 5)))
  world.standIn.addFault({ operations: ['List'], page: 1, fault: { kind: 'slow', wait: 0 } })
  world.standIn.addFault({ operations: ['Create'], nth: 3, fault: { kind: 'slow', wait: 1 } })
  world.configure({ north: { schedule: '* * * * * *' } }, { concurrency: 1 })
  const ended = await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => log.includes('run skipped'))
    gates[0].open()
    await until(() => world.standIn.counts.Create >= 3)
    await tell(child.pid!, 'SIGTERM')
    gates[1].open()
  }, 'daemon')
  expect(ended.status).toBe(0)
  // The call in flight was answered and recorded; nothing new was started.
  expect(world.calls()).toMatchObject({ List: 1, Create: 3 })
  expect(logged(ended.stderr).map(({ msg }) => msg)).toContain(
    'run skipped: the last run of this feed has not finished; set a longer `schedule` if this repeats',
  )
  world.standIn.clearFaults()
  const status = JSON.parse((await world.command('status', '--format', 'json')).stdout) as object
  expect(status).toMatchObject({ listings: 3, lastRun: { interrupted: true } })
  expect((await world.command('sync')).status).toBe(0)
  expect(world.listings()).toHaveLength(5)
})

// Elsewhere there is no such device.
test.skipIf(process.platform !== 'linux')('goes on where the disk under its log is full', async () => {
  world.deliver(zillowFeed(homes(1, 12)))
  const full = openSync('/dev/full', 'w')
  const words = ['--config', world.configFile, 'daemon']
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'ignore', full] })
  closeSync(full)
  const closed = once(child, 'close')
  await until(() => child.exitCode !== null || world.listings().length === 12)
  child.kill('SIGTERM')
  expect(await closed).toEqual([0, null])
})

test('goes on after a run that failed', async () => {
  const ended = await world.started(async (child) => {
    await until(() => world.standIn.counts.List === 0 && child.exitCode === null)
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => log.includes('run failed'))
    world.deliver(zillowFeed(homes(1, 3)))
    await until(() => world.listings().length === 3)
    child.kill('SIGINT')
  }, 'daemon')
  expect(ended.status).toBe(0)
})

test('a file of the program that can not be read once is read by the next run', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  // As where the machine has no more files to open for a moment.
  const loading = `import { registerHooks } from 'node:module'
    let isFirst = true
    registerHooks({ load(url, context, next) {
      if (!url.endsWith('/app/calls.ts') || !isFirst) return next(url, context)
      isFirst = false
      throw Object.assign(new Error('too many'), { code: 'EMFILE', syscall: 'open', path: 'calls.ts' })
    } })`
  const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(loading)}"` }
  const { status, stderr } = await command(['--config', world.configFile, 'daemon'], {
    env,
    onStart: async (child) => {
      await until(() => world.listings().length === 3)
      child.kill('SIGTERM')
    },
  })
  expect(status).toBe(0)
  expect(stderr).toContain('calls.ts: this process has too many files open (EMFILE)')
})

test('a heartbeat that can not be written is said and fails the health check, and the daemon goes on', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  // Like a read-only volume: the heartbeat file is a broken link.
  symlinkSync(join(world.folder, 'no', 'such', 'folder'), heartbeatFile(world.configFile))
  const ended = await world.started(async (child) => {
    await until(() => world.listings().length === 3)
    world.deliver(zillowFeed(homes(1, 4)))
    await until(() => world.listings().length === 4)
    expect((await world.command('status', '--health')).status).toBe(1)
    child.kill('SIGTERM')
  }, 'daemon')
  expect(ended.status).toBe(0)
  expect(logged(ended.stderr).map(({ msg }) => msg)).toContain('could not write the heartbeat file')
})

test('a store that is moved away under it is not written to: every run says so until it is started again', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  const ended = await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => log.includes('run finished'))
    renameSync(join(world.folder, 'store.db'), join(world.folder, 'away.db'))
    await until(() => log.includes('moved, deleted or replaced while it was open; start the program again'))
    world.deliver(zillowFeed(homes(2, 5)))
    const runs = log.split('run failed').length
    await until(() => log.split('run failed').length > runs + 1)
    child.kill('SIGTERM')
  }, 'daemon')
  expect(ended.status).toBe(0)
  expect(world.listings()).toHaveLength(3)
  renameSync(join(world.folder, 'away.db'), join(world.folder, 'store.db'))
  expect((await world.command('sync')).status).toBe(0)
  expect(world.listings()).toHaveLength(4)
})

test('without any schedule it is a wrong configuration', async () => {
  world.configure({ north: {} })
  expect(await world.command('daemon')).toMatchObject({ status: 78, stdout: '' })
})
