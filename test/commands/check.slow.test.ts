/** `check`: everything that is wrong, at once, each with its remedy; and not a trace of it. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { UserError } from '../../src/core/errors.ts'
import { addHomes, startReso } from '../../src/stand-in/reso/server.ts'
import { homes, resoFeed, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ feeds: { north: { schedule: '0 2 * * *', timezone: 'Europe/Berlin' } } })
  world.deliver(zillowFeed(homes(1, 5)))
})
afterEach(() => world.end())

interface Told {
  ok: boolean
  checks: { what: string; feed: string | null; ok: boolean; found: string; remedy: string | null }[]
}

async function checked(): Promise<Told & { status: number | null }> {
  const { status, stdout } = await world.executed('check', '--format', 'json')
  return { status, ...(JSON.parse(stdout) as Told) }
}

async function wrong(): Promise<string[]> {
  const { checks } = await checked()
  return checks.flatMap(({ ok, what, feed, found, remedy }) => (ok ? [] : [`${feed} ${what}: ${found} → ${remedy}`]))
}

/** Every file of the folder with its content and its time. */
function traces(): Record<string, string> {
  const files = readdirSync(world.folder, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    files.map((name) => {
      const path = join(world.folder, name)
      return [name, statSync(path).isFile() ? `${statSync(path).mtimeMs} ${readFileSync(path, 'latin1')}` : 'folder']
    }),
  )
}

test('all is right: a line each, the next run in local time, status 0, and nothing written or changed', async () => {
  const before = traces()
  const { status, stdout } = await world.executed('check')
  expect(status).toBe(0)
  expect(
    stdout
      .split('\n')
      .filter((line) => /^[✓✗]/.test(line))
      .map((line) => line.slice(0, line.indexOf(':'))),
  ).toEqual([
    '✓ configuration',
    '✓ secrets',
    '✓ store',
    '✓ scratch',
    '✓ source north',
    '✓ service north',
    '✓ schedule north',
  ])
  // 12:00 UTC on a Saturday.
  expect(stdout).toContain('next run Sun 22 Nov 02:00 (Europe/Berlin)')
  expect(stdout).toContain('5 records of xml; the preset zillow fits by 9')
  expect(traces()).toEqual(before)
  expect(world.calls()).toMatchObject({ List: 1, Create: 0, Update: 0, Delete: 0 })

  await world.run()
  const after = traces()
  expect((await checked()).checks.find(({ what }) => what === 'store')?.found).toContain('store.db is sound')
  expect(traces()).toEqual(after)
})

test('of a long feed only the beginning is read, and that is said', async () => {
  world.deliver(zillowFeed(homes(1, 201)))
  expect((await world.executed('check')).stdout).toContain('the first 200 records of xml; the preset zillow fits by 9')
})

test('what `where` leaves out is counted, and a `where` that leaves nothing in is pointed at', async () => {
  world.deliver(zillowFeed(homes(1, 5)))
  world.configure({ north: { where: { City: 'Nowhere' } } })
  const { status, stdout } = await world.executed('check')
  expect(status).toBe(0)
  expect(stdout).toMatch(
    /fits by \d+ %; 5 of them are left out by `where`\n +→ if it should leave some in, compare its words/,
  )
  world.configure({ north: { where: { SaleType: 'for_sale' } } })
  expect((await world.executed('check')).stdout).not.toContain('left out by')
})

test('that a document is cut off is said, and that nothing is deleted for it', async () => {
  const whole = zillowFeed(homes(1, 5))
  world.deliver(whole.slice(0, whole.lastIndexOf('<ListingDetails>')))
  const { status, stdout } = await world.executed('check')
  expect(status).toBe(0)
  expect(stdout).toMatch(
    /✓ source north: 5 records .+; not whole: the document ends in the middle of record 5, byte \d+\n/,
  )
  expect(stdout).toMatch(/→ .*ask whoever delivers it; until it is whole, nothing is deleted for being absent\n/)
})

test('a second table that is missing is said, and prices that are too low', async () => {
  const media = { source: './media.csv', key: 'ResourceRecordKey', by: 'ListingDetails/MlsId' }
  world.configure({ north: { join: { media }, fields: { Images: { from: 'media:MediaURL', as: 'images' } } } })
  world.deliver(zillowFeed(homes(1, 5).map((home) => ({ ...home, price: 3 }))))
  const { stdout } = await world.executed('check')
  expect(stdout).toMatch(
    /✓ source north: 5 records .+; 5 of 5 prices are too low .+; The table media \(join\) is missing/,
  )
})

test('what a feed left behind that has another name now is pointed at', async () => {
  world.deliver(zillowFeed(homes(1, 5)))
  await world.run()
  world.configure({ south: { source: 'north.xml' } })
  const { status, stdout } = await world.executed('check')
  expect(status).toBe(0)
  expect(stdout).toMatch(/✓ store: north is no longer in the configuration, and left 5 listings in chatbot \S+\n/)
  expect(stdout).toMatch(
    /→ Nothing is done with them\. If a feed of another name has them now, write there: formerly: \[north\]/,
  )
})

test('a feed from standard input is not advised to take a schedule, which it can not have', async () => {
  world.configure({ north: { source: '-', schedule: undefined } })
  expect((await checked()).checks.find(({ what }) => what === 'schedule')).toMatchObject({
    found: 'runs by hand only',
    remedy: 'the daemon leaves it out',
  })
})

test('the folder of the metrics file may be that of the store, which the first run makes', async () => {
  world.configure({ north: {} }, {}, './data/store.db', { metrics: './data/north.prom' })
  world.deliver(zillowFeed(homes(1, 3)))
  expect((await world.executed('check')).stdout).toMatch(/✓ metrics: .+north\.prom will be written by each run/)
  await world.run()
  expect(existsSync(join(world.folder, 'data/north.prom'))).toBe(true)
})

test('the folder of the metrics file is looked at', async () => {
  world.configure({ north: {} }, {}, './store.db', { metrics: './metrics/north.prom' })
  const before = traces()
  expect(await wrong()).toEqual([
    expect.stringMatching(/^null metrics: .+north\.prom: there is no folder .+metrics → make it, or change `metrics`$/),
  ])
  expect(traces()).toEqual(before)
  mkdirSync(join(world.folder, 'metrics'))
  expect(await wrong()).toEqual([])
  expect((await world.executed('check')).stdout).toMatch(/✓ metrics: .+north\.prom will be written by each run/)
})

test("the page's address is tried, too: free, taken, or the running daemon's own", async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  // As a process, on the machine's clock: a daemon that runs is known by its heartbeat.
  const page = async () => {
    const { stdout } = await world.command('check', '--format', 'json')
    return (JSON.parse(stdout) as { checks: { what: string }[] }).checks.find(({ what }) => what === 'page')
  }
  world.configure({ north: { schedule: '0 0 1 1 *' } }, {}, undefined, { http: { listen: `127.0.0.1:${port}` } })
  expect(await page()).toMatchObject({
    ok: false,
    found: expect.stringContaining('another program listens there'),
    remedy: expect.stringContaining('http.listen'),
  })
  await new Promise((resolve) => server.close(resolve))
  expect(await page()).toMatchObject({ ok: true, found: `the daemon will show it at http://127.0.0.1:${port}` })
  await world.started(async (child) => {
    let log = ''
    child.stderr!.on('data', (text: string) => (log += text))
    await until(() => log.includes('"daemon started"'))
    const found = await page()
    child.kill('SIGTERM')
    expect(found).toMatchObject({ ok: true, found: `the daemon that runs has http://127.0.0.1:${port}` })
  }, 'daemon')
})

test('everything that is wrong is named at once, with its remedy', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/secret') response.writeHead(401).end()
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<html><head><title>Log in</title></head></html>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  world.deliver('MLS,Price\n1,2\n', 'table.csv')
  world.deliver(zillowFeed(homes(1, 3)), 'east.xml')
  writeFileSync(join(world.folder, 'not-a-store.db'), 'no database at all')
  world.configure(
    {
      gone: { source: './nowhere.xml' },
      page: { source: `http://127.0.0.1:${port}/page` },
      closed: { source: `http://127.0.0.1:${port}/secret` },
      east: { preset: 'reso-csv' },
    },
    { secretKey: 'another-key' },
    './not-a-store.db',
  )
  try {
    const { status } = await checked()
    const problems = await wrong()
    expect(status).toBe(1)
    expect(problems.filter((text) => text.startsWith('null'))).toEqual([
      expect.stringMatching(/^null store: .*not-a-store\.db: the store is damaged/),
    ])
    expect(problems.filter((text) => / source: /.test(text))).toEqual([
      expect.stringMatching(/^gone source: .*nowhere\.xml does not exist → check `source`/),
      expect.stringMatching(/^page source: .*HTML page.* → open the address in a browser/),
      expect.stringMatching(/^closed source: .*HTTP 401.* → .*log-in/),
      expect.stringMatching(/^east source: .*is XML; the preset reso-csv reads CSV → write `preset: zillow`/),
    ])
  } finally {
    server.close()
  }
})

test('a key that the service refuses, and a service that is not there', async () => {
  await world.end()
  world = await RunWorld.start({ standIn: { keys: { secret: 'the-only-key' } } })
  world.deliver(zillowFeed(homes(1, 3)))
  expect(await wrong()).toEqual([expect.stringMatching(/^north service: .* → check secretKey or sessionKey/)])
  await world.standIn.close()
  expect(await wrong()).toEqual([expect.stringMatching(/^north service: .* → check service\.baseUrl/)])
})

test('stopped by a signal, it blames nobody', async () => {
  world.standIn.addFault({ operations: ['List'], nth: 1, fault: { kind: 'hang' } })
  const checking = world.executed('check')
  await until(() => world.standIn.counts.List > 0)
  world.stop.abort(new UserError('stopped by SIGINT'))
  expect(await checking).toEqual({ status: 1, stdout: '', stderr: 'listing-sync: stopped by SIGINT\n' })
})

test('a wrong configuration: every problem on a line of its own, secrets apart, status 78', async () => {
  world.configure({ north: { nonsense: 1, schedule: '* * *' } }, { secretKey: '${NOWHERE_SET}' })
  const { status, ok, checks } = await checked()
  expect([status, ok]).toEqual([78, false])
  expect(checks.map(({ what, found }) => `${what} ${found.split(':')[0]}`)).toEqual([
    'secrets service.secretKey',
    'configuration feeds.north.nonsense',
    'configuration feeds.north.schedule',
  ])
})

test('a feed of which most records would be rejected is wrong; a key in the file is said and is not', async () => {
  world.deliver(zillowFeed(homes(1, 3)).replaceAll(/<YearBuilt>[^<]*<\/YearBuilt>/g, ''))
  expect(await wrong()).toEqual([
    expect.stringMatching(/^north source: 3 records.*3 would be rejected → .*inspect north/),
  ])
  world.deliver(zillowFeed(homes(1, 3)))
  world.configure({ north: {} }, { baseUrl: 'https://listings.invalid', secretKey: 'in-the-file' })
  const secrets = (await checked()).checks.find(({ what }) => what === 'secrets')
  expect(secrets).toMatchObject({ ok: true, remedy: expect.stringContaining('service.secretKey') })
  expect(JSON.stringify(secrets)).not.toContain('in-the-file')
})

test('a whole delivery without a record is right, and what it means is said; one that is cut, or of no bytes, is wrong', async () => {
  const source = async () => (await checked()).checks.find(({ what }) => what === 'source')
  world.deliver(zillowFeed([]))
  expect(await checked()).toMatchObject({ status: 0, ok: true })
  expect(await source()).toMatchObject({
    found: expect.stringMatching(
      /^the document is whole and has no record, so to a sync every listing .* is gone\. It holds/,
    ),
    remedy: expect.stringContaining('ask whoever delivers it'),
  })
  world.configure({ north: { delivery: 'delta' } })
  expect(await source()).toMatchObject({ ok: true, found: expect.stringContaining('as a delta it'), remedy: null })
  world.deliver(resoFeed([]))
  world.configure({ north: { preset: 'reso-csv' } })
  expect(await source()).toMatchObject({ ok: true, found: expect.stringContaining('has no record') })

  world.configure({ north: {} })
  for (const [content, why] of [
    [zillowFeed([]).slice(0, -3), 'the document ends before'],
    ['', 'is empty'],
    [zillowFeed(homes(1, 3)).replaceAll(/<(\/?)Listing>/g, '<$1Home>'), 'no record under'],
  ]) {
    world.deliver(content)
    expect(await source()).toMatchObject({ ok: false, found: expect.stringContaining(why) })
  }
})

test('a live source is asked what a run asks, with its credentials, and a wrong one says what to write', async () => {
  const secret = 'the-secret-of-the-client-5512'
  const reso = await startReso({ vendor: 'trestle', client: { id: 'client', secret }, now: () => world.clock.now() })
  try {
    addHomes(reso.world, 3)
    const live = (clientSecret: string, vendor = 'trestle', root = reso.root): void =>
      world.configure({
        north: {
          preset: 'reso-web-api',
          source: {
            reso: root,
            vendor,
            auth: { clientId: 'client', clientSecret, tokenUrl: reso.tokenUrl },
          },
        },
      })
    live(secret)
    expect((await checked()).checks.find(({ what }) => what === 'source')).toMatchObject({
      ok: true,
      found: expect.stringContaining('answers as'),
    })
    live('a-wrong-secret')
    expect(await wrong()).toEqual([
      expect.stringMatching(/^north source: .*answers HTTP 400 with HTML.*→ check `auth`: the token/),
    ])
    live(secret, 'crea')
    expect(await wrong()).toEqual([
      expect.stringMatching(/^north source: .*PropertyReplication.*→ check `vendor`, `reso` and/),
    ])
    live(secret, 'bridge')
    expect(await wrong()).toEqual([expect.stringMatching(/^north source: .*no readable BridgeModificationTimestamp/)])
    live(secret, 'trestle', 'http://127.0.0.1:9/odata')
    expect(await wrong()).toEqual([
      expect.stringMatching(/^north source: .*→ check the address under `reso`, that the API/),
    ])
  } finally {
    await reso.close()
  }
})
