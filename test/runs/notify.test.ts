/** People are told, over real HTTP: what arrives, and what happens where nobody takes it. */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { App } from '../../src/app/app.ts'
import { openApp } from '../../src/app/open.ts'
import { UserError } from '../../src/core/errors.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { homes, zillowFeed } from '../support/homes.ts'
import { until } from '../support/until.ts'
import { RunWorld } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

const day = 86_400_000
const secretPath = '/services/T0/B0/a-secret-token'

interface Arrived {
  method: string
  path: string
  body: Record<string, unknown>
}

let world: RunWorld
let receiver: Server
let arrived: Arrived[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  arrived = []
  answer = (_, response) => void response.end('ok')
  receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      arrived.push({
        method: request.method!,
        path: request.url!,
        body: text === '' ? {} : (JSON.parse(text) as Arrived['body']),
      })
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  world = await RunWorld.start()
  configure([{ url: address(secretPath) }])
})
afterEach(async () => {
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
  await world.end()
})

const address = (path: string): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`
const configure = (notify: object[], more: object = {}): void =>
  world.configure({ north: {} }, {}, './store.db', { notify, ...more })
const titles = (): unknown[] => arrived.map(({ body }) => body['title'])

test('holds of which nobody is told, as after the loss of a store, are not read', async () => {
  world.deliver(zillowFeed(homes(1, 12)))
  await world.run()
  world.loseStore()
  world.deliver(zillowFeed(homes(1, 20)))
  const app = openApp(world.context, { logLevel: 'error' })
  const read = vi.spyOn(app.store().holds, 'held')
  expect((await world.run('sync', 'north', app)).counts).toMatchObject({ create: 0, hold: 8 })
  await app.close()
  expect(read).not.toHaveBeenCalled()
})

test('a feed that fails, goes on failing and recovers', async () => {
  await world.run()
  world.deliver(zillowFeed(homes(1, 3)))
  await world.run()
  await world.run()
  expect(titles()).toEqual(['north: runs fail', 'north is up to date again'])
  expect(arrived[0]).toMatchObject({
    method: 'POST',
    path: secretPath,
    body: { event: 'failed', is: 'new', feed: 'north', chatbot: 'SN-1', command: 'listing-sync check north' },
  })
  expect(String(arrived[0].body['lines'])).toContain('north.xml')
  expect(String(arrived[1].body['lines'])).toContain('shows 3 listings')
})

test('a run that was told to stop is no trouble of the feed', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  world.stop.abort(new UserError('stopped by SIGTERM'))
  expect(await world.run()).toMatchObject({ result: 'failed' })
  expect(titles()).toEqual([])
})

test('of holds of a whole large office some are read, and all are counted', async () => {
  const app = openApp(world.context, { logLevel: 'error' })
  const { holds } = app.store()
  const part = { part: 'delete', content: 'gone', rules: ['leaving'], ends: 'confirmed' } as const
  const all = Array.from({ length: 6000 }, (_, at) => ({ mlsNumber: `M-${at}`, why: 'gone from the feed', part }))
  await holds.replace('north', all, { now: world.clock.now(), isWhole: true, letGo: () => 0 })
  const read = vi.spyOn(holds, 'held')
  app.tell(app.config.feeds[0], {})
  await app.close()
  expect(titles()).toEqual(['north: 6000 changes held'])
  expect(arrived[0].body['lines']).toEqual(['6000 changes held by leaving', 'M-0; M-1; M-10; and 5997 more'])
  expect(Math.max(...(await Promise.all(read.mock.results.map(async ({ value }) => (await value).length))))).toBe(5000)
})

test('unseen characters of a feed are in no message', async () => {
  const all = homes(1, 12).map((home) => ({ ...home, mlsNumber: `${home.mlsNumber}\u202e` }))
  world.deliver(zillowFeed(all))
  await world.run()
  world.deliver(
    zillowFeed(all.map((original, at) => (at < 7 ? { ...original, price: original.price * 100 } : original))),
  )
  await world.run()
  const [text] = arrived[0].body['lines'] as string[]
  expect(text).toContain('the price of 7 of 12 listings')
  expect(JSON.stringify(arrived)).not.toContain('\u202e')
})

/** Runs of one program that stays open, as a daemon does. */
async function asDaemon(runs: (run: () => Promise<ReadReport>, app: App) => Promise<void>): Promise<void> {
  const app = openApp(world.context, { logLevel: 'error' })
  try {
    await runs(() => world.run('sync', 'north', app), app)
  } finally {
    await app.close()
  }
}

test('a run of which the store takes no record is told once, and what comes after it', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  configure([{ url: address(secretPath) }], { heartbeat: address('/ping') })
  const [store, moved] = [join(world.folder, 'store.db'), join(world.folder, 'moved.db')]
  await asDaemon(async (run, app) => {
    await run()
    renameSync(store, moved)
    for (let times = 0; times < 3; times++) expect(await run()).toMatchObject({ result: 'failed', unrecorded: 'lost' })
    expect(app.lostRun('north', null)).toMatchObject({ error: expect.stringContaining('the file was moved') })
    app.tell(app.config.feeds[0], {})
    renameSync(moved, store)
    expect(await run()).toMatchObject({ result: 'ok' })
    expect(app.lostRun('north', null)).toBe(null)
  })
  const messages = arrived.filter(({ method }) => method === 'POST')
  expect(messages.map(({ body }) => body['title'])).toEqual(['north: runs fail', 'north is up to date again'])
  expect(messages[0].body['lines']).toEqual([
    expect.stringContaining('the file was moved'),
    expect.stringMatching(/^The last good run was on /),
  ])
  const beats = arrived.filter(({ method }) => method === 'GET').map(({ path }) => path)
  expect(beats).toEqual(['/ping', '/ping/fail', '/ping/fail', '/ping/fail', '/ping'])
})

test('a run that was lost is over once another process has run the feed', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  await asDaemon(async (run, app) => {
    await run()
    renameSync(join(world.folder, 'store.db'), join(world.folder, 'moved.db'))
    await run()
    renameSync(join(world.folder, 'moved.db'), join(world.folder, 'store.db'))
    await until(() => arrived.length === 1)
    world.clock.advance(day)
    expect(await world.run()).toMatchObject({ result: 'ok' })
    app.tell(app.config.feeds[0], {})
  })
  expect(titles()).toEqual(['north: runs fail', 'north is up to date again'])
})

test('a store that cannot be opened is told, without what only it knows', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  mkdirSync(join(world.folder, 'store.db'))
  await asDaemon(async (run) => {
    await run()
    await run()
    rmSync(join(world.folder, 'store.db'), { recursive: true })
    await run()
  })
  expect(titles()).toEqual(['north: runs fail', 'north is up to date again'])
  expect(arrived[0].body['lines']).toEqual([expect.stringContaining('this is not a file')])
})

test('a run that could not begin is told at once', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  const folder = process.env['TMPDIR']
  process.env['TMPDIR'] = join(world.folder, 'north.xml')
  try {
    await asDaemon(async (run) => {
      await expect(run()).rejects.toThrow()
    })
  } finally {
    process.env['TMPDIR'] = folder
  }
  expect(titles()).toEqual(['north: runs fail'])
})

test('a run of another process is its own to tell', async () => {
  world.deliver(zillowFeed(homes(1, 3)))
  configure([{ url: address(secretPath) }], { heartbeat: address('/ping') })
  const other = openStore(join(world.folder, 'store.db'))
  const lease = await other.lease('SN-1', world.clock.now())
  await asDaemon(async (run) => {
    expect(await run()).toMatchObject({ result: 'failed', unrecorded: 'elsewhere' })
  })
  await lease.release()
  await other.close()
  expect(arrived).toEqual([])
})

test('what is held: how many, three homes, what to type; a reminder; its end', async () => {
  const all = homes(1, 20)
  world.deliver(zillowFeed(all))
  await world.run()
  world.deliver(zillowFeed(all.slice(0, 10)))
  await world.run()
  await world.run()
  expect(titles()).toEqual(['north: 10 changes held'])
  const [{ body }] = arrived
  expect(body['command']).toBe('listing-sync approve north')
  const [why, named] = body['lines'] as string[]
  expect(why).toContain('10 of 20 listings would leave the site')
  expect(named).toMatch(/^[^;]+; [^;]+; [^;]+; and 7 more$/)
  expect(named).toContain(all[10].street)
  world.clock.advance(day)
  await world.run()
  expect(titles()[1]).toMatch(/^north: 10 changes still held since /)
  await world.executed('approve', 'north', '--yes')
  await world.run()
  expect(titles()[2]).toBe('north: nothing is held any more (approved)')
  expect(titles()).toHaveLength(3)
})

test('what is held by a nightly sync is told again each day, also where a run ends sooner than the one before', async () => {
  world.deliver(zillowFeed(homes(1, 20)))
  await world.run()
  world.deliver(zillowFeed(homes(1, 10)))
  for (let night = 0; night < 3; night++) {
    await world.run()
    world.clock.advance(day - 1000)
  }
  expect(titles()).toEqual([
    'north: 10 changes held',
    ...[2, 3].map(() => expect.stringMatching(/^north: 10 changes still held since /) as string),
  ])
})

test('what was approved is not said to be carried out before a run did so', async () => {
  world.deliver(zillowFeed(homes(1, 20)))
  await world.run()
  world.deliver(zillowFeed(homes(1, 10)))
  await world.run()
  await world.approve()
  await asDaemon(async (_, app) => Promise.resolve(app.tell(app.config.feeds[0], {})))
  expect(titles().at(-1)).toBe('north: nothing is held any more (approved)')
  expect(arrived.at(-1)!.body['lines']).toEqual([expect.stringMatching(/ is held no more: it was approved\.$/)])
  expect(world.numbers()).toHaveLength(20)
})

test('what a run held after an approval is not said to be approved', async () => {
  const all = homes(1, 20)
  world.deliver(zillowFeed(all))
  await world.run()
  world.deliver(zillowFeed(all.slice(6)))
  await world.run()
  await world.approve()
  const dear = all.slice(6, 12).map((home) => ({ ...home, price: home.price * 2 }))
  world.deliver(zillowFeed([...dear, ...all.slice(12)]))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { delete: 6, hold: 6 } })
  world.clock.advance(3 * day)
  await world.run()
  expect(titles().at(-1)).toBe('north: nothing is held any more (let go)')
})

test.each([
  ['a run that found nothing of it', 'sync'],
  ['no run', null],
])('a reminder after %s says what was found and when it lets go', async (_, run) => {
  world.deliver(zillowFeed(homes(1, 20)))
  await world.run()
  world.deliver(zillowFeed(homes(1, 10)))
  await world.run()
  world.deliver('')
  world.clock.advance(day)
  if (run === null) await asDaemon(async (_, app) => Promise.resolve(app.tell(app.config.feeds[0], {})))
  else await world.run()
  const { title, lines } = arrived.at(-1)!.body
  expect(title).toMatch(/ still held since Sat 21 Nov 12:/)
  expect((lines as string[])[0]).toMatch(
    /^10 of 20 listings would leave the site; .*\. 10 changes held by leaving .*; they go by themselves on Tue 24 Nov 12:/,
  )
})

test('what was approved ended so, although one of many ended otherwise in the same run', async () => {
  const all = homes(1, 20)
  world.deliver(zillowFeed(all))
  await world.run()
  world.deliver(zillowFeed(all.slice(0, 10)))
  await world.run()
  await world.executed('approve', 'north', '--yes')
  world.deliver(zillowFeed(all.slice(0, 11)))
  await world.run()
  expect(titles().at(-1)).toBe('north: nothing is held any more (approved)')
})

test('what is held of a listing counts once, and each run knows its home, also one that only says that it was refused', async () => {
  const all = homes(1, 20)
  world.deliver(zillowFeed(all))
  await world.run()
  // Of each its price, and all of it.
  world.deliver(zillowFeed(all.map((home) => ({ ...home, price: home.price * 10 }))))
  await world.run()
  expect(titles()).toEqual(['north: 20 changes held'])
  expect(String(arrived[0].body['lines'])).toContain('and 17 more')
  world.deliver(zillowFeed(all.slice(0, 10)))
  await world.run()
  await world.executed('approve', 'north', '--refuse', '--yes')
  // More may leave after so long, and no rule asks.
  world.clock.advance(3 * day)
  await world.run()
  expect(titles().at(-1)).toMatch(/^north: 10 changes still held since /)
  expect(String(arrived.at(-1)!.body['lines'])).toContain(all[10].street)
  world.deliver(zillowFeed(all.slice(0, 16)))
  await world.executed('approve', 'north', '--revoke')
  await world.run()
  expect(titles().at(-1)).toBe('north: nothing is held any more (ended)')
  expect(arrived.at(-1)!.body['lines']).toEqual([
    expect.stringMatching(/ is held no more: it is not to be done any more\.$/),
  ])
})

test('forms: what Slack and Teams take, with nothing of the feed as markup', async () => {
  const all = homes(1, 20).map((home) => ({ ...home, street: `<!channel> [x](http://evil.example) ${home.street}` }))
  configure([
    { url: address('/slack'), form: 'slack' },
    { url: address('/teams'), form: 'teams' },
  ])
  world.deliver(zillowFeed(all))
  await world.run()
  world.deliver(zillowFeed(all.slice(0, 10)))
  await world.run()
  const slack = arrived.find(({ path }) => path === '/slack')!.body
  expect(slack).toMatchObject({ text: expect.stringContaining('*north: 10 changes held*') })
  expect(String(slack['text'])).toContain('&lt;!channel&gt;')
  expect(String(slack['text'])).toContain('Type: listing-sync approve north')
  const teams = JSON.stringify(arrived.find(({ path }) => path === '/teams')!.body)
  expect(teams).toContain('"type":"AdaptiveCard"')
  expect(teams).not.toContain('[x](http')
})

test.each([
  [
    'answers 500',
    3,
    (_: IncomingMessage, response: ServerResponse) => void response.writeHead(500).end(),
    'answers HTTP 500, 3 times',
  ],
  ['hangs', 3, () => undefined, 'gives no answer within 10 s, 3 times'],
  [
    'redirects',
    1,
    (_: IncomingMessage, response: ServerResponse) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    'answers HTTP 302, a redirect, which is not followed',
  ],
  [
    'is not there',
    1,
    (_: IncomingMessage, response: ServerResponse) => void response.writeHead(404).end(),
    'answers HTTP 404: check the address',
  ],
])(
  'a receiver that %s: the run is as it was, it is said, and told after the next run',
  async (_, times, how, sentence) => {
    answer = how
    const { status, stderr } = await world.executed('sync', 'north')
    expect(status).toBe(1)
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('a-secret-token')
    expect(arrived).toHaveLength(times)
    expect(arrived.every(({ path }) => path === secretPath)).toBe(true)
    answer = (_, response) => void response.end()
    await world.run()
    expect(titles().at(-1)).toBe('north: runs fail')
  },
)

test('an address that stands twice, for other events, is told each of them once', async () => {
  const url = address(secretPath)
  configure([
    { url, on: ['failed', 'recovered'] },
    { url, on: ['held'] },
  ])
  for (const _run of [1, 2, 3]) await world.run()
  world.deliver(zillowFeed(homes(1, 30)))
  await world.run()
  world.deliver(zillowFeed(homes(1, 15)))
  for (const _run of [1, 2]) await world.run()
  expect(titles()).toEqual(['north: runs fail', 'north is up to date again', 'north: 15 changes held'])
})

test.each([
  ['north', 'north'],
  ['mls-2', 'mls-2'],
  ['sync', 'north'],
])('an address that ends in the plain word %s takes that word out of no message', async (word, feed) => {
  world.configure({ north: {}, 'mls-2': {} }, {}, './store.db', {
    notify: [{ url: address(secretPath) }],
    heartbeat: address(`/${word}`),
  })
  const { stdout, stderr } = await world.executed('sync', feed)
  expect(titles()).toContain(`${feed}: runs fail`)
  expect(stdout + stderr).not.toContain('***')
})

test('what a place took is not told again where it did not take what came with it', async () => {
  world.deliver(zillowFeed(homes(1, 30)))
  await world.run()
  rmSync(join(world.folder, 'north.xml'))
  await world.run()
  // Like a place that limits how many messages come at a time.
  answer = (_, response) => void response.writeHead(arrived.at(-1)!.body['event'] === 'held' ? 429 : 200).end()
  world.deliver(zillowFeed(homes(1, 15)))
  for (const _run of [1, 2]) await world.run()
  answer = (_, response) => void response.end()
  await world.run()
  expect(titles().filter((title) => title === 'north is up to date again')).toHaveLength(1)
  expect(titles().at(-1)).toBe('north: 15 changes held')
})

test('a stop signal does not wait for a receiver that hangs; it is told after the next run', async () => {
  const { clock } = world
  const sleep = clock.sleep.bind(clock)
  let heardAt = 0
  let isEnding = false
  // The time of a try goes by only beside the end of the program, however long the machine takes to come there.
  vi.spyOn(clock, 'sleep').mockImplementation(async (milliseconds, signal) => {
    if (milliseconds === 10_000) await until(() => isEnding)
    else if (heardAt > 0 && milliseconds > 5000) isEnding = true
    return sleep(milliseconds, signal)
  })
  answer = () => {
    heardAt ||= clock.now()
    world.stop.abort(new UserError('stopped by SIGTERM'))
  }
  const { status, stderr } = await world.executed('sync', 'north')
  expect(status).toBe(1)
  expect(stderr).toContain('stopped before everybody was told')
  // It is tried three times, ten seconds each.
  expect(arrived.length).toBeLessThan(3)
  expect(clock.now() - heardAt).toBeLessThan(20_000)
  vi.restoreAllMocks()
  world.stop = new AbortController()
  answer = (_, response) => void response.end()
  await world.run()
  expect(titles().at(-1)).toBe('north: runs fail')
})

test('the heartbeat is called after good runs, and with /fail after others', async () => {
  configure([], { heartbeat: address('/ping/uuid?x=1') })
  await world.run()
  world.deliver(zillowFeed(homes(1, 3)))
  await world.run()
  expect(arrived.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /ping/uuid/fail?x=1',
    'GET /ping/uuid?x=1',
  ])
})

test('notify --test sends one of each, and says what became of it', async () => {
  const good = await world.executed('notify', '--test')
  expect(good.status).toBe(0)
  expect(good.stdout.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(4)
  expect(arrived.map(({ body }) => String(body['event'])).toSorted()).toEqual(['failed', 'held', 'recovered', 'stale'])
  expect(titles().every((title) => String(title).startsWith('Test: '))).toBe(true)
  answer = (_, response) => void response.writeHead(403).end()
  const refused = await world.executed('notify', '--test')
  expect(refused.status).toBe(1)
  expect(refused.stdout).toContain('answers HTTP 403: check the address')
  expect(refused.stdout + refused.stderr).not.toContain('a-secret-token')
  configure([])
  expect(await world.executed('notify', '--test')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('nobody is to be told'),
  })
})
