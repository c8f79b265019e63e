/** Runs on record, under way and killed, as an operator sees them, through real processes. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Gate } from '../support/gate.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { command } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

let world: RunWorld
let gate: Gate
beforeEach(async () => {
  gate = new Gate()
  world = await RunWorld.start({
    standIn: { now: () => Date.now(), delay: () => gate.pass() },
    feeds: { north: { schedule: '0 2 * * *', timezone: 'Europe/Berlin' } },
  })
  world.deliver(zillowFeed(homes(1, 6)))
})
afterEach(() => world.end())

const status = async (): Promise<string> => (await world.command('status')).stdout

test('a run is in status from its start; one that was killed ended without a word, before and after the next one', async () => {
  world.standIn.addFault({ operations: ['Create'], nth: 3, fault: { kind: 'slow', wait: 0 } })
  await world.started(async (child) => {
    await until(() => world.standIn.counts.Create >= 3)
    expect(await status()).toMatch(/sync under way since \w{3} \d+ \w{3} \d\d:\d\d \(run 1\)/)
    child.kill('SIGKILL')
  }, 'sync')
  gate.open()
  world.standIn.clearFaults()
  expect(await status()).toMatch(/last sync \(run 1\): ended without a word at \d\d:\d\d \(/)
  expect((await world.command('sync')).status).toBe(0)
  const after = await status()
  expect(after).not.toContain('under way')
  expect(after).toMatch(/last sync: ok, run 2, .* after \d+ s\n {2}changes: .*unchanged/)
  expect(after).toMatch(/next run: \w{3} \d+ \w{3} 02:00 \(Europe\/Berlin\)/)
  const { stdout } = await world.command('runs')
  expect(stdout.split('\n').slice(0, -1)).toEqual([
    expect.stringMatching(/^ +2 .* north {2}sync: ok in \d+ s; .*unchanged/),
    expect.stringMatching(/^ +1 .* north {2}sync: ended without a word at \d\d:\d\d/),
  ])
})

test('runs: one by its number, as text and JSON; one that is not there, and a number that is none', async () => {
  expect((await world.command('runs')).stdout).toBe('no run is on record\n')
  expect((await world.command('sync')).status).toBe(0)
  const ended = await world.command('runs', 'north', '--run', '1')
  expect(ended.stdout).toMatch(/^run 1: sync of north → chatbot SN-1: ok\n/)
  expect(ended.stdout).toContain('changes   6 created')
  const json = JSON.parse((await world.command('runs', '--run', '1', '--format', 'json')).stdout) as object
  expect(json).toMatchObject({ run: 1, feed: 'north', result: 'ok', error: null, counts: { create: 6 } })
  const list = JSON.parse((await world.command('runs', '--format', 'json')).stdout) as object[]
  expect(list).toHaveLength(1)
  expect(await world.command('runs', '--run', '9')).toMatchObject({ status: 1, stdout: '' })
  expect(await world.command('runs', '--run', 'x')).toMatchObject({ status: 64, stdout: '' })
  expect(await world.command('runs', 'south')).toMatchObject({ status: 64, stdout: '' })
})

test('what is held is in status by rule, with the line to approve it', async () => {
  world.deliver(zillowFeed(homes(1, 40)))
  expect((await world.command('sync')).status).toBe(0)
  world.deliver(zillowFeed(homes(1, 20)))
  expect((await world.command('sync')).status).toBe(3)
  expect(await status()).toMatch(/\n {2}20 changes held by leaving since .*; now: listing-sync approve north\n/)
})

test('--log-level is heard, an unknown one is wrong usage, and so is an unknown one of the environment', async () => {
  const lines = async (level: string): Promise<string> =>
    (
      await world.started(
        async (child) => {
          let log = ''
          child.stderr!.on('data', (more: Buffer) => (log += more.toString()))
          await until(() => world.listings().length === 6)
          if (level === 'info') await until(() => log.includes('daemon started'))
          else await new Promise((resolve) => setTimeout(resolve, 500))
          child.kill('SIGTERM')
        },
        'daemon',
        '--log-level',
        level,
      )
    ).stderr
  expect(await lines('error')).toBe('')
  expect(await lines('info')).toContain('daemon started')
  expect(await world.command('--log-level', 'loud', 'status')).toMatchObject({ status: 64, stdout: '' })
  const env = { LISTING_SYNC_LOG: 'loud' }
  const wrong = await command(['--config', world.configFile, 'status'], { env })
  expect([wrong.status, wrong.stderr]).toEqual([
    78,
    'listing-sync: LISTING_SYNC_LOG takes debug, info, warn or error\n',
  ])
})
