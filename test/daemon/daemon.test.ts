/** The daemon in this process, on a clock that the test lets pass, against the stand-in. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { daemonCommand } from '../../src/commands/daemon.ts'
import { backUp } from '../../src/store/backup.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { until } from '../support/until.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { ManualClock } from './manual-clock.ts'

const minute = 60_000

let world: RunWorld
let stop: AbortController
let ended: Promise<number> | null = null
let logged: { time: string; level: string; msg: string; [fact: string]: unknown }[]
afterEach(async () => {
  stop.abort()
  await ended
  ended = null
  await world.end()
})

async function begin(
  feed: object,
  service: object = {},
  keys: object = {},
  delay?: () => Promise<void>,
): Promise<void> {
  world = await RunWorld.start({ standIn: { keys, ...(delay && { delay }) }, feeds: { north: feed }, service })
  stop = new AbortController()
  logged = []
}

function start(clock: ManualClock): Promise<number> {
  const writeLog = (line: string): unknown => logged.push(JSON.parse(line))
  ended = daemonCommand({ ...world.context, signal: stop.signal, clock, writeLog })
  return ended
}

const said = (...messages: string[]) => logged.filter(({ msg }) => messages.includes(msg))
const stale = () =>
  said('the feed is stale: the last 3 scheduled runs did not succeed; see `listing-sync status north`')
const runs = (): number => said('run finished', 'run failed').length
const store = (): string => join(world.folder, 'store.db')

/** Advances time to the next scheduled run, and waits for its end. */
async function tick(clock: ManualClock, milliseconds = minute): Promise<void> {
  const before = runs()
  await clock.pass(milliseconds)
  await until(() => runs() > before)
}

test('runs when it is due, in the zone of the feed', async () => {
  await begin({ schedule: '15 2 * * *', timezone: 'Europe/Berlin' })
  world.deliver(zillowFeed(homes(1, 3)))
  // An hour before the clocks go forward: 02:15 is skipped on that day, and made up for at 03:00.
  const clock = new ManualClock('2026-03-29T00:00:00Z')
  void start(clock)
  await until(() => runs() === 1)
  await clock.pass(59 * minute)
  expect(runs()).toBe(1)
  await tick(clock)
  expect(new Date(clock.now()).toISOString()).toMatch(/^2026-03-29T01:00:00/)
  clock.jump(22 * 60 * minute)
  await clock.pass(60 * minute)
  expect(runs()).toBe(2)
  await tick(clock, 15 * minute)
  expect(runs()).toBe(3)
})

test.each([
  ['0 * * * *', 10 * minute],
  ['* * * * *', 10_000],
])('asleep for nine hours (%s), it makes one run up, not one for each, and is not stale', async (schedule, after) => {
  await begin({ schedule })
  world.deliver(zillowFeed(homes(1, 3)))
  const clock = new ManualClock('2026-11-21T12:30:30Z')
  void start(clock)
  await until(() => runs() === 1)
  // As when a host is suspended: the clock jumps, and no timer fired meanwhile.
  clock.jump(9 * 60 * minute)
  await tick(clock, 1)
  await clock.pass(after)
  expect(runs()).toBe(2)
  expect(stale()).toEqual([])
})

test('a clock that is set back a little makes no run twice; one that is set back by more goes on from there', async () => {
  await begin({ schedule: '*/10 * * * *' })
  world.deliver(zillowFeed(homes(1, 3)))
  const clock = new ManualClock('2026-11-21T12:09:30Z')
  void start(clock)
  await until(() => runs() === 1)
  await tick(clock, 30_000)
  expect(new Date(clock.now()).toISOString()).toMatch(/T12:10:00/)
  clock.jump(-50_000)
  await clock.pass(2 * minute)
  clock.jump(-35 * minute)
  await clock.pass(4 * minute)
  await until(() => runs() >= 3)
  stop.abort()
  await ended
  // A run that was begun twice has ended by now, or was skipped as the first was still under way.
  expect([runs(), logged.filter(({ msg }) => msg.startsWith('run skipped')).length]).toEqual([3, 0])
})

/** With so many starts on record that ended without a word. */
async function afterStarts(times: number): Promise<ManualClock> {
  await begin({ schedule: '*/10 * * * *' })
  world.deliver(zillowFeed(homes(1, 3)))
  const clock = new ManualClock('2026-11-21T12:01:00Z')
  const killed = openStore(store())
  for (let n = 0; n < times; n++) await killed.runs.noteStart(clock.now())
  await killed.close()
  return clock
}

test('after three starts that ended without a word it waits, alive, before it calls anybody', async () => {
  const clock = await afterStarts(3)
  void start(clock)
  const waits = () => said('the last starts crashed: waiting before the first run')
  await until(() => waits().length > 0)
  await clock.pass(50_000)
  expect(waits()).toMatchObject([{ starts: 3, minutes: 1 }])
  expect(world.calls()).toMatchObject({ List: 0 })
  expect(statSync(`${store()}.alive`).mtimeMs).toBe(clock.now())
  await tick(clock, 10_000)
  expect(world.listings()).toHaveLength(3)
  // After ten minutes it no longer counts as a crash loop.
  expect(await starts()).toBe(4)
  await clock.pass(10 * minute)
  expect(await starts()).toBe(0)
})

test('while it waits, no run of a daemon that had the same process number, as in a container, is told as under way', async () => {
  const clock = await afterStarts(3)
  const killed = openStore(store())
  await killed.runs.begin({ feed: 'north', chatbot: 'SN-1', command: 'sync', startedAt: clock.now() })
  await killed.close()
  void start(clock)
  await until(() => said('the last starts crashed: waiting before the first run').length > 0)
  const { stdout } = await world.executed('status')
  expect(stdout).toContain('last sync: failed, interrupted, run 1, ended without a word at 12:01 (Sat 21 Nov)')
  expect(stdout).not.toContain('under way')
})

test('a clock that is set back while it waits makes it wait no longer', async () => {
  const clock = await afterStarts(3)
  void start(clock)
  await until(() => said('the last starts crashed: waiting before the first run').length > 0)
  clock.jump(-365 * 24 * 60 * minute)
  await tick(clock, 70_000)
  expect(world.listings()).toHaveLength(3)
})

test('told to stop while it waits it ends at once, and what was begun by a person does not count', async () => {
  const clock = await afterStarts(9)
  const daemon = start(clock)
  await clock.pass(10_000)
  expect(logged.map(({ minutes }) => minutes)).toContain(30)
  stop.abort()
  expect(await daemon).toBe(0)
  expect(world.calls()).toMatchObject({ List: 0 })
  expect(await starts()).toBe(0)
})

test('a backup that is made while a daemon runs tells of no crash', async () => {
  await begin({ schedule: '0 0 1 1 *' })
  const clock = new ManualClock('2026-11-21T12:00:00Z')
  const running = openStore(store())
  for (let times = 0; times < 3; times++) await running.runs.noteStart(clock.now())
  await running.close()
  const copy = join(world.folder, 'copy.db')
  backUp(store(), copy)
  expect([await starts(), await starts(copy)]).toEqual([3, 0])
})

/** As the store tells it to others. */
async function starts(file = store()): Promise<number> {
  const reader = openStore(file)
  try {
    return (await reader.runs.starts()).times
  } finally {
    await reader.close()
  }
}

test('says once that no run is good, whether they fail or hold everything, and when they are again', async () => {
  await begin({ schedule: '* * * * *' })
  world.deliver(zillowFeed(homes(1, 20)))
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  void start(clock)
  await until(() => runs() === 1)
  rmSync(join(world.folder, 'north.xml'))
  await tick(clock)
  // An empty feed is no failure, but nothing is carried out.
  world.deliver(zillowFeed([]))
  await tick(clock)
  expect(stale()).toEqual([])
  await tick(clock)
  // What is held is said each time with what lets it go, and is a warning where it is new.
  const held = said('run finished').filter(({ result }) => result === 'held')
  expect(held).toMatchObject([
    { run: 3, level: 'warn', approve: 'listing-sync approve north', next: 'Sat 21 Nov 12:03' },
    { run: 4, level: 'info', approve: 'listing-sync approve north', next: 'Sat 21 Nov 12:04' },
  ])
  expect(stale()).toMatchObject([{ level: 'error', feed: 'north', lastGood: '2026-11-21T12:00:30.000Z' }])
  await tick(clock)
  expect(stale()).toHaveLength(1)
  expect(said('the feed is up to date again')).toEqual([])
  world.deliver(zillowFeed(homes(1, 20)))
  await tick(clock)
  expect(said('the feed is up to date again')).toHaveLength(1)
})

test('is not stale if the third run is good, and is told so at the time of the fourth if the third hangs', async () => {
  const answer = Promise.withResolvers<void>()
  await begin({ schedule: '* * * * *' }, { timeout: '1h' }, {}, () => answer.promise)
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  world.deliver(zillowFeed(homes(1, 20)))
  void start(clock)
  await until(() => runs() === 1)
  const fail = async (): Promise<void> => {
    rmSync(join(world.folder, 'north.xml'))
    for (const _tick of [1, 2]) await tick(clock)
    world.deliver(zillowFeed(homes(1, 20)))
  }
  await fail()
  await tick(clock)
  expect(stale()).toEqual([])
  await fail()
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
  await clock.pass(minute)
  expect(stale()).toEqual([])
  await clock.pass(minute)
  await until(() => stale().length === 1)
  answer.resolve()
  await until(() => said('the feed is up to date again').length === 1)
})

test.each([
  [2, 0],
  [3, 1],
])('a delta of %i records that are all rejected makes a feed stale: %i', async (records, times) => {
  await begin({ schedule: '* * * * *', delivery: 'delta' })
  world.deliver(zillowFeed(homes(1, 20)))
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  void start(clock)
  await until(() => runs() === 1)
  world.deliver(zillowFeed(homes(21, 20 + records)).replaceAll('Bedrooms>', 'Chambers>'))
  for (const _tick of [1, 2, 3]) await tick(clock)
  expect(said('run finished').at(-1)).toMatchObject({ result: 'partial' })
  expect(stale()).toHaveLength(times)
  world.deliver(zillowFeed(homes(21, 20 + records)))
  await tick(clock)
  expect(said('the feed is up to date again')).toHaveLength(times)
})

/** Takes messages; `url`: where they go to. */
async function receiver() {
  const arrived: { title: string; lines: string[] }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      arrived.push(JSON.parse(text) as (typeof arrived)[0])
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { arrived, url, close }
}

test.each([
  [
    'of which no record can be read',
    (text: string) => text.replaceAll('Bedrooms>', 'Chambers>'),
    'All records were rejected',
  ],
  ['that is cut', (text: string) => text.slice(0, -200), 'The last delivery was not complete: '],
])('a delivery %s is not good, and is told as the reason that the feed is stale', async (_, spoil, reason) => {
  const { arrived, url, close } = await receiver()
  try {
    await begin({ schedule: '* * * * *' })
    world.configure({ north: { schedule: '* * * * *' } }, {}, undefined, {
      notify: [{ url, on: ['stale', 'recovered'] }],
    })
    world.deliver(zillowFeed(homes(1, 20)))
    const clock = new ManualClock('2026-11-21T12:00:30Z')
    void start(clock)
    await until(() => runs() === 1)
    world.deliver(spoil(zillowFeed(homes(1, 20))))
    for (const _tick of [1, 2, 3]) await tick(clock)
    await until(() => arrived.length >= 1)
    // A message may arrive twice: the test's clock may pass a minute before its answer is there.
    expect(arrived[0]).toMatchObject({
      title: 'north is stale: no run has been good for a while',
      lines: [expect.any(String), expect.stringContaining(reason)],
    })
    world.deliver(zillowFeed(homes(1, 20)))
    await tick(clock)
    await until(() => arrived.at(-1)?.title === 'north is up to date again')
  } finally {
    await close()
  }
})

test('a daemon that crashes at each start tells that its feeds are stale, and only once', async () => {
  const { arrived, url, close } = await receiver()
  try {
    const clock = await afterStarts(0)
    world.configure({ north: { schedule: '*/10 * * * *' } }, {}, undefined, { notify: [{ url }] })
    void start(clock)
    await until(() => runs() === 1)
    stop.abort()
    await ended
    for (const starts of [3, 4]) {
      const killed = openStore(store())
      while ((await killed.runs.starts()).times < starts) await killed.runs.noteStart(clock.now())
      await killed.close()
      clock.jump(60 * minute)
      stop = new AbortController()
      logged = []
      void start(clock)
      await until(() => said('the last starts crashed: waiting before the first run').length > 0)
      stop.abort()
      await ended
    }
    expect(arrived.map(({ title }) => title)).toEqual(['north is stale: no run has been good for a while'])
  } finally {
    await close()
  }
})

test('a run by hand ends the trouble that a feed is stale: nobody is told of it once more', async () => {
  const { arrived, url, close } = await receiver()
  try {
    const schedule = '0 2 * * *'
    await begin({ schedule })
    world.configure({ north: { schedule } }, {}, undefined, { notify: [{ url, on: ['stale', 'recovered'] }] })
    world.deliver(zillowFeed(homes(1, 20)))
    const clock = new ManualClock('2026-11-21T12:00:30Z')
    void start(clock)
    await until(() => runs() === 1)
    world.deliver(zillowFeed(homes(1, 20)).slice(0, -200))
    clock.jump(13 * 60 * minute)
    await tick(clock, 60 * minute)
    for (const _night of [2, 3]) {
      clock.jump(23 * 60 * minute)
      await tick(clock, 60 * minute)
    }
    await until(() => arrived.length === 1)
    clock.jump(8 * 60 * minute)
    world.deliver(zillowFeed(homes(1, 20)))
    world.clock.advance(clock.now() - world.clock.now())
    expect(await world.run()).toMatchObject({ result: 'ok' })
    await clock.pass(121 * minute)
    expect(arrived.map(({ title }) => title)).toEqual([
      'north is stale: no run has been good for a while',
      'north is up to date again',
    ])
    expect(said('the feed is up to date again')).toHaveLength(1)
  } finally {
    await close()
  }
})

test('runs of which none was ever good count also where the daemon was started anew in between', async () => {
  await begin({ schedule: '0 2 * * *' })
  world.deliver(zillowFeed(homes(1, 20)).slice(0, -200))
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  void start(clock)
  await until(() => runs() === 1)
  for (const night of [1, 2]) {
    stop.abort()
    await ended
    stop = new AbortController()
    void start(clock)
    await until(() => said('daemon started').length === night + 1)
    expect(stale()).toEqual([])
    clock.jump((night === 1 ? 13 : 23) * 60 * minute)
    await tick(clock, 60 * minute)
  }
  await until(() => stale().length === 1)
  expect(stale()).toMatchObject([{ lastGood: 'never' }])
})

test('what was run by hand in between counts as well', async () => {
  await begin({ schedule: '* * * * *' })
  world.deliver(zillowFeed(homes(1, 20)))
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  void start(clock)
  await until(() => runs() === 1)
  const feed = join(world.folder, 'north.xml')
  for (const _tick of [1, 2]) {
    rmSync(feed, { force: true })
    await tick(clock)
  }
  world.deliver(zillowFeed(homes(1, 20)))
  world.clock.advance(clock.now() - world.clock.now())
  expect(await world.run()).toMatchObject({ result: 'ok' })
  rmSync(feed)
  await tick(clock)
  expect(stale()).toEqual([])
  await tick(clock)
  await tick(clock)
  expect(stale()).toHaveLength(1)
})

test('a lock of the daemon that this user can not use is named, and runs go on', async () => {
  await begin({ schedule: '* * * * *' })
  world.deliver(zillowFeed(homes(1, 20)))
  mkdirSync(`${store()}.daemon.lock`)
  void start(new ManualClock('2026-11-21T12:00:30Z'))
  await until(() => runs() === 1)
  expect(said('could not write the heartbeat file')[0].problem).toBe(
    `${store()}.daemon.lock: this user has to be able to write to the file (unable to open database file)`,
  )
})

test('a key that was changed in its file is used by the next run, and neither is ever shown', async () => {
  const keys = { secret: 'key-of-spring-77' }
  const key = (text: string): void => writeFileSync(join(world.folder, 'key.txt'), `${text}\n`)
  await begin({ schedule: '* * * * *' }, { secretKey: '${file:./key.txt}' }, keys)
  key('key-of-spring-77')
  world.deliver(zillowFeed(homes(1, 3)))
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  void start(clock)
  await until(() => runs() === 1)
  expect(said('run finished')).toHaveLength(1)

  // The service accepts only the new key; its file is written a little later, and is empty for a moment.
  keys.secret = 'key-of-autumn-88'
  await tick(clock)
  expect(said('run failed')).toHaveLength(1)
  key('')
  await tick(clock)
  expect(said('could not read the secrets again: using the earlier ones')).toHaveLength(1)
  expect(said('run failed')).toHaveLength(2)
  key('key-of-autumn-88')
  world.deliver(zillowFeed(homes(1, 4)))
  await tick(clock)
  expect(said('secrets have changed: using the new ones')).toHaveLength(1)
  expect(said('run finished')).toHaveLength(2)
  expect(world.listings()).toHaveLength(4)

  // Without the file, the known key is used.
  rmSync(join(world.folder, 'key.txt'))
  await tick(clock)
  expect(said('run finished')).toHaveLength(3)
  expect(JSON.stringify(logged)).not.toMatch(/key-of-(spring|autumn)/)
})

const taken = 'the configuration was read again: later runs use it'
const refused = 'the changed configuration has problems: the one before stays in use'
const edit = (from: string, to: string): void =>
  writeFileSync(world.configFile, readFileSync(world.configFile, 'utf8').replace(from, to))

test('a file that was edited is taken once it has settled, and a broken one refused once, with every problem', async () => {
  await begin({ schedule: '* * * * *' })
  world.deliver(zillowFeed(homes(1, 3)))
  world.deliver(zillowFeed(homes(1, 4)), 'south.xml')
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  void start(clock)
  await until(() => runs() === 1)
  edit('north.xml', 'south.xml')
  await tick(clock)
  await until(() => said(taken).length > 0)
  await tick(clock)
  expect([said(taken).length, world.listings().length]).toEqual([1, 4])

  edit('chatbot: SN-1', 'chatbot: SN-1\n    nonsense: 1\n    rubbish: 2')
  await tick(clock)
  await until(() => said(refused).length > 0)
  world.deliver(zillowFeed(homes(1, 5)), 'south.xml')
  await tick(clock)
  await tick(clock)
  expect(said(refused)).toHaveLength(1)
  const { level, problems } = said(refused)[0]
  expect([level, String(problems)]).toEqual(['error', expect.stringMatching(/nonsense.*rubbish/)])
  expect(world.listings()).toHaveLength(5)
  edit('\n    nonsense: 1\n    rubbish: 2', '')
  await tick(clock)
  await tick(clock)
  // Back as it was: nothing is wrong any more, and that is said.
  expect(said(taken)).toHaveLength(2)
})

test('a run under way when the schedule changes tells the next run by the new one', async () => {
  const answer = Promise.withResolvers<void>()
  await begin({ schedule: '0 2 * * *' }, { timeout: '1h' }, {}, () => answer.promise)
  world.deliver(zillowFeed(homes(1, 3)))
  world.standIn.addFault({ operations: ['List'], times: 1, fault: { kind: 'slow', wait: 1 } })
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  void start(clock)
  await until(() => said('daemon started').length === 1)
  world.configure({ north: { schedule: '0 5 * * *' } })
  await clock.pass(20_000)
  await until(() => said('the configuration was read again: later runs use it').length === 1)
  answer.resolve()
  await until(() => runs() === 1)
  expect(said('run finished')).toMatchObject([{ next: 'Sun 22 Nov 05:00' }])
})

test('a file that is still being written is left alone until it has stayed as it is', async () => {
  await begin({ schedule: '0 * * * *' })
  world.deliver(zillowFeed(homes(1, 3)))
  const clock = new ManualClock('2026-11-21T12:01:00Z')
  void start(clock)
  await until(() => runs() === 1)
  const whole = readFileSync(world.configFile, 'utf8')
  for (const length of [10, 20, 30]) {
    writeFileSync(world.configFile, whole.slice(0, length))
    await clock.pass(10_000)
    writeFileSync(world.configFile, whole.slice(0, length + 5))
    await clock.pass(2000)
  }
  writeFileSync(world.configFile, `${whole}# edited\n`)
  await clock.pass(20_000)
  await until(() => said(taken).length > 0)
  expect([said(refused).length, said(taken).length]).toEqual([0, 1])
})

test('a feed that comes is run, one that goes is not, and a store can not be changed under way', async () => {
  await begin({ schedule: '* * * * *' })
  world.deliver(zillowFeed(homes(1, 3)))
  world.deliver(zillowFeed(homes(11, 15)), 'south.xml')
  const clock = new ManualClock('2026-11-21T12:00:30Z')
  let hangup: () => void = () => undefined
  const writeLog = (line: string): unknown => logged.push(JSON.parse(line))
  const onHangup = (listener: () => void): void => void (hangup = listener)
  ended = daemonCommand({ ...world.context, signal: stop.signal, clock, writeLog, onHangup })
  await until(() => runs() === 1)
  // Without waiting for a look at the clock.
  const hangUp = async (message: string): Promise<void> => {
    const before = said(message).length
    hangup()
    await until(() => said(message).length > before)
  }
  world.configure({ south: { schedule: '0 0 1 1 *', chatbot: 'SN-2' } })
  await hangUp(taken)
  await until(() => runs() === 2)
  await clock.pass(2 * minute)
  expect(logged.filter(({ msg }) => msg === 'run finished').map(({ feed }) => feed)).toEqual(['north', 'south'])

  world.configure({ south: { schedule: '* * * * *', chatbot: 'SN-2' } }, {}, './other.db')
  await hangUp(refused)
  expect(String(said(refused)[0].problems)).toContain('store: takes effect when the daemon is started again')
  world.configure({ south: { chatbot: 'SN-2' } })
  await hangUp(refused)
  expect(String(said(refused)[1].problems)).toContain('no feed has a schedule')
})
