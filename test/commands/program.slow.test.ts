/** The program as a child process, for what needs one: two at once, a signal, stopping a server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { command, program } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { tell } from '../support/signals.ts'
import { until } from '../support/until.ts'

const all = homes(1, 12)

let world: RunWorld
let gate: Gate
beforeEach(async () => {
  gate = new Gate()
  world = await RunWorld.start({ standIn: { delay: gate.pass } })
  world.deliver(zillowFeed(all))
})
afterEach(() => world.end())

test('two processes for one chatbot: the second one says who has it and writes nothing', async () => {
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
  const first = world.command('sync')
  await until(() => world.standIn.counts.List > 0)
  const second = await world.command('sync')
  gate.open()
  expect(second.status).toBe(1)
  expect(await first).toMatchObject({ status: 0 })
  expect(world.listings()).toHaveLength(12)
})

test('SIGTERM during a sync: the call under way is ended, status 1, and the next run carries on', async () => {
  const { mlsNumber } = all[5]
  world.standIn.addFault({ operations: ['Create'], mlsNumber, fault: { kind: 'slow', wait: 1 } })
  world.configure({ north: {} }, { concurrency: 1 })
  const ended = await world.started(
    async (child) => {
      await until(() => world.standIn.counts.Create >= 6)
      await tell(child.pid!, 'SIGTERM')
      gate.open()
    },
    'sync',
    '--format',
    'json',
  )
  expect(ended.status).toBe(1)
  expect(JSON.parse(ended.stdout)).toMatchObject({ result: 'failed', outcomes: { done: 6, unknown: 0, skipped: 6 } })
  expect(JSON.parse((await world.command('status', '--format', 'json')).stdout)).toMatchObject({
    lastRun: { interrupted: true },
  })
  world.standIn.clearFaults()
  expect(await world.command('sync')).toMatchObject({ status: 0 })
  expect(world.listings()).toHaveLength(12)
})

test.each([
  [undefined, 0o077],
  ['007', 0o007],
  ['022', 0o022],
])('what it makes is for this user alone, unless LISTING_SYNC_UMASK says otherwise (%s)', async (umask, mask) => {
  gate.open()
  const folder = join(world.folder, 'made')
  world.configure({ north: {} }, {}, join(folder, 'store.db'), { metrics: join(folder, 'metrics.prom') })
  const report = join(world.folder, 'report.html')
  const env: Record<string, string> = umask === undefined ? {} : { LISTING_SYNC_UMASK: umask }
  const words = ['--config', world.configFile]
  expect(await command([...words, 'sync'], { env })).toMatchObject({ status: 0 })
  await command([...words, 'diff', '--format', 'html', '--out', report], { env })
  const modes = Object.fromEntries(
    [folder, report, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => [
      relative(world.folder, path),
      statSync(path).mode & 0o777,
    ]),
  )
  expect(modes).toEqual({
    made: 0o770 & ~mask,
    'report.html': 0o666 & ~mask,
    'made/metrics.prom': 0o666 & ~mask,
    'made/store.db': 0o660 & ~mask,
    'made/store.db.lock': 0o660 & ~mask,
    'made/store.db.serial': 0o660 & ~mask,
  })
})

test.each([
  ['NODE_TLS_REJECT_UNAUTHORIZED', '0', /lets any server take the place of the service .* unset it/],
  ['LISTING_SYNC_UMASK', '888', /LISTING_SYNC_UMASK takes three octal digits/],
])('%s=%s is refused before anything is read', async (name, value, message) => {
  const ended = await command(['--config', world.configFile, 'sync'], { env: { [name]: value } })
  expect(ended).toMatchObject({ status: 78, stdout: '', stderr: expect.stringMatching(message) })
  expect(world.standIn.counts.List).toBe(0)
})

test('stand-in serves until told to stop, and keeps its listings in a file', async () => {
  const data = join(world.folder, 'stand-in.json')
  const ended = await command(['stand-in', '--port', '0', '--data', data], {
    onStart: async (child) => {
      let output = ''
      child.stdout!.on('data', (text: string) => (output += text))
      await until(() => output.includes('\n'))
      const baseUrl = /http:\S+/.exec(output)![0]
      world.configure({ north: {} }, { baseUrl })
      expect(await world.command('sync')).toMatchObject({ status: 0 })
      expect(await world.command('diff')).toMatchObject({ status: 0 })
      child.kill('SIGTERM')
    },
  })
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  expect(readFileSync(data, 'utf8').split('\n').length).toBeGreaterThanOrEqual(12)
  expect(world.calls()).toMatchObject({ Create: 0 })
})

// Elsewhere there is no such device.
test.skipIf(process.platform !== 'linux')('what a full disk did not take is told', async () => {
  const full = openSync('/dev/full', 'w')
  const words = ['--config', world.configFile, 'status']
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', full, 'pipe'] })
  closeSync(full)
  let output = ''
  child.stderr!.on('data', (text: string) => (output += text))
  expect(await once(child, 'close')).toEqual([1, null])
  expect(output).toBe("listing-sync: standard output can't be written: the disk is full (ENOSPC)\n")
})
