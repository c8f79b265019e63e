/** SIGTERM with the ten seconds of a container (docs/faults.md, F134 to F136): whatever a run waits for, it ends in time. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/stand-in/faults.ts'
import { startFeedServer } from '../runs/feed-server.ts'
import type { FeedServer } from '../runs/feed-server.ts'
import { Gate } from '../support/gate.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import type { Ended } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { slowness, tell } from '../support/signals.ts'
import { until } from '../support/until.ts'

const all = Array.from({ length: 12 }, (_, i) => home(i + 1))
const keys = all.map((home) => home.mlsNumber).toSorted()
/** The grace period of a container. */
const grace = 10_000

const worlds: RunWorld[] = []
const servers: FeedServer[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end()
  for (const server of servers.splice(0)) await server.close()
})

async function begin(options: { fault?: FaultRuleInput; source?: string; gate?: Gate } = {}): Promise<RunWorld> {
  const north = options.source === undefined ? {} : { source: options.source }
  const standIn = { now: () => Date.now(), ...(options.gate && { delay: options.gate.pass }) }
  const world = await RunWorld.start({ standIn, feeds: { north }, service: { concurrency: 2 } })
  worlds.push(world)
  world.deliver(zillowFeed(all))
  if (options.fault) world.standIn.addFault(options.fault)
  return world
}

/** Starts a sync and sends SIGTERM once `ready` says so; gives how it ended, and in how many milliseconds from `heard` on. */
async function stopped(
  world: RunWorld,
  ready: () => boolean,
  heard: (child: ChildProcess) => void = () => {},
): Promise<Ended & { took: number }> {
  let sentAt = 0
  const ended = await world.started(
    async (child) => {
      await until(ready)
      await tell(child.pid!, 'SIGTERM')
      sentAt = Date.now()
      heard(child)
    },
    'sync',
    '--format',
    'json',
  )
  return { ...ended, took: Date.now() - sentAt }
}

/** No listing twice; and runs of this process, on a clock that is past the time to settle, end with what the feed says. */
async function goesOn(world: RunWorld): Promise<void> {
  const shown = world.listings().map((item) => String(item['MLSNumber']))
  expect(new Set(shown).size).toBe(shown.length)
  world.standIn.clearFaults()
  world.configure({ north: {} })
  world.clock.advance(Date.now() - world.clock.now() + 3_600_000)
  await world.run()
  await world.run()
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: all.length } })
  const numbers = world.listings().map((item) => String(item['MLSNumber']))
  expect(numbers.toSorted()).toEqual(keys)
}

test('whatever it waits for, a run ends within ten seconds, and the next one is right', async () => {
  const drip = await startFeedServer()
  servers.push(drip)
  let asked = 0
  drip.give(zillowFeed(all), (response, content) => {
    asked++
    // The beginning, and then nothing more.
    response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 4000))
  })
  const gate = new Gate()
  const [list, create, answered, pause, feed] = await Promise.all([
    begin({ fault: { operations: ['List'], fault: { kind: 'hang' } } }),
    begin({ fault: { operations: ['Create'], nth: 3, fault: { kind: 'hang', carriedOut: true } } }),
    begin({ fault: { operations: ['Create'], fault: { kind: 'slow', wait: 1 } }, gate }),
    begin({ fault: { operations: ['Create'], nth: 3, fault: { kind: 'status', status: 429, retryAfter: 50 } } }),
    begin({ source: drip.url }),
  ])
  const [inList, inCreate, inAnswer, inPause, inFeed] = await Promise.all([
    stopped(list, () => list.standIn.counts.List === 1),
    stopped(create, () => create.standIn.counts.Create >= 3),
    stopped(
      answered,
      () => answered.standIn.counts.Create === 2,
      () => gate.open(),
    ),
    stopped(pause, () => pause.standIn.requests.some((entry) => entry.fault === 'status')),
    stopped(feed, () => asked > 0),
  ])
  const slow = slowness()
  for (const ended of [inList, inCreate, inAnswer, inPause, inFeed]) {
    expect(ended.status).toBe(1)
    expect(ended.took).toBeLessThan(grace * slow)
    expect(JSON.parse(ended.stdout)).toMatchObject({ result: 'failed' })
    expect(ended.stderr).toMatch(/stopped by|told to stop/)
    expect(ended.stderr).not.toContain('defect')
  }
  // Waiting ends at once; calls in flight are completed.
  for (const ended of [inList, inPause, inFeed]) expect(ended.took).toBeLessThan((grace / 2) * slow)
  expect(JSON.parse(inCreate.stdout)).toMatchObject({ outcomes: { unknown: 1 } })
  expect(JSON.parse(inAnswer.stdout)).toMatchObject({ outcomes: { done: 2, unknown: 0, skipped: 10 } })
  expect(answered.standIn.counts.Create).toBe(2)
  for (const world of [list, create, answered, pause, feed]) {
    const status = JSON.parse((await world.command('status', '--format', 'json')).stdout) as object
    expect(status).toMatchObject({ lastRun: { result: 'failed', interrupted: true } })
    await goesOn(world)
  }
})

test('a second signal ends it at once, and the next run is right all the same', async () => {
  const world = await begin({ fault: { operations: ['Create'], nth: 3, fault: { kind: 'hang', carriedOut: true } } })
  const ended = await stopped(
    world,
    () => world.standIn.counts.Create >= 3,
    (child) => child.kill('SIGTERM'),
  )
  expect(ended.status).toBe(1)
  // The call that hangs would be waited for.
  expect(ended.took).toBeLessThan(2000 * slowness())
  await goesOn(world)
})

const canUnshare = process.platform === 'linux' && spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0

test.skipIf(!canUnshare)('as process 1 of a container it hears SIGTERM, too', async () => {
  const gate = new Gate()
  const world = await begin({ fault: { operations: ['Create'], fault: { kind: 'slow', wait: 1 } }, gate })
  const program = fileURLToPath(new URL('../../bin/listing-sync.mjs', import.meta.url))
  const words = ['--pid', '--fork', '--kill-child', process.execPath, program, '--config', world.configFile, 'sync']
  const outer = spawn('unshare', words, { stdio: 'ignore' })
  const exit = once(outer, 'exit')
  try {
    await until(() => world.standIn.counts.Create >= 2)
    const inner = Number(readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8').trim())
    expect(readFileSync(`/proc/${inner}/status`, 'utf8')).toMatch(/^NSpid:\s+\d+\s+1$/m)
    await tell(inner, 'SIGTERM')
    gate.open()
    expect(await exit).toEqual([1, null])
  } finally {
    outer.kill('SIGKILL')
  }
  expect(world.listings()).toHaveLength(2)
  await goesOn(world)
})

// A terminal of its own is made by util-linux.
test.skipIf(spawnSync('script', ['--version']).status !== 0).each([
  ['Ctrl-D at the question is no', 6, '[y/N]', '\u0004', /^(?!.*(?:defect|AbortError|stopped))/s],
  ['Ctrl-C at the question ends the command', 6, '[y/N]', '\u0003', /stopped by SIGINT\s*$/],
  [
    'so it does between two pages, and nobody is asked',
    18,
    'q goes on',
    '\u0003',
    /^(?!.*\[y\/N\]).*stopped by SIGINT\s*$/s,
  ],
] as const)('approve on a terminal: %s', async (_, gone, question, key, expected) => {
  const world = await begin()
  const some = homes(1, 40)
  world.deliver(zillowFeed(some))
  expect((await world.command('sync')).status).toBe(0)
  world.deliver(zillowFeed(some.slice(0, -10 - gone)))
  expect((await world.command('sync')).status).toBe(3)
  const program = fileURLToPath(new URL('../../bin/listing-sync.mjs', import.meta.url))
  const words = [process.execPath, program, '--config', world.configFile, 'approve', 'north']
  const terminal = spawn('script', ['-qec', words.join(' '), '/dev/null'])
  let shown = ''
  terminal.stdout.on('data', (part) => (shown += String(part)))
  await until(() => shown.includes(question))
  // If the key only led to another question, the end of the input answers that.
  terminal.stdin.end(key)
  const [status] = (await once(terminal, 'exit')) as [number]
  expect(shown).toMatch(expected)
  expect(status).toBe(1)
  expect((await world.command('status')).stdout).toContain('listing-sync approve north')
})
