/** What the Dockerfile makes, without an engine: its steps carried out in an empty folder, and the result run as a container runs it. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startStandIn } from '../src/stand-in/stand-in.ts'
import type { StandIn } from '../src/stand-in/stand-in.ts'
import { carriedOut, startOf } from './support/dockerfile.ts'
import type { Stage } from './support/dockerfile.ts'
import { homes, zillowFeed } from './support/homes.ts'
import { noPostgres, startPostgres } from './support/postgres.ts'
import { until } from './support/until.ts'

const isRoot = process.getuid?.() === 0

let folder: string
let image: Stage
let standIn: StandIn
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-image-'))
  // Others must get through to what is in it, as to the root of an image.
  chmodSync(folder, 0o755)
  image = carriedOut(join(import.meta.dirname, '..'), folder, { COMMIT: 'abc1234' })
  standIn = await startStandIn({})
})
afterAll(async () => {
  await standIn.close()
  rmSync(folder, { recursive: true })
})

interface Ended {
  status: number | null
  said: string
}

/**
 * A container: the image's environment and no other, its user where this one may be another, who can write to /data and the
 * temporary folder alone.
 */
async function container(
  words: readonly string[] | undefined,
  options: { env?: Record<string, string>; onStart?: (child: ChildProcess, said: () => string) => Promise<void> } = {},
): Promise<Ended> {
  const [command, args] = startOf(image, words)
  const [user, group] = image.user.split(':').map(Number)
  const data = join(image.root, 'data')
  const temporary = join(image.root, 'tmp')
  if (isRoot) {
    chownSync(data, user, group)
    chmodSync(temporary, 0o1777)
  }
  const paths = {
    LISTING_SYNC_CONFIG: join(image.root, image.env['LISTING_SYNC_CONFIG']),
    TMPDIR: join(image.root, image.env['TMPDIR']),
  }
  const child = spawn(command, args, {
    cwd: join(image.root, image.workdir),
    env: { ...image.env, ...paths, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot && { uid: user, gid: group }),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
  const status = new Promise<number | null>((resolve) => child.on('close', resolve))
  await options.onStart?.(child, () => output)
  return { status: await status, said: output }
}

const filesIn = (path: string): string[] => readdirSync(join(image.root, path)).toSorted()

test('holds the program and what it needs, and nothing that installs or builds', () => {
  expect(filesIn('app')).toEqual(['LICENSE', 'bin', 'config', 'dist', 'fixtures', 'node_modules', 'package.json'])
  expect(filesIn('app/fixtures')).toEqual(['demo'])
  expect(existsSync(join(image.root, 'usr/local/bin/npm'))).toBe(false)
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
  for (const name of Object.keys(dependencies)) expect(filesIn('app/node_modules')).toContain(name.split('/')[0])
  for (const name of ['typescript', 'vitest', 'oxlint', 'node']) expect(filesIn('app/node_modules')).not.toContain(name)
  expect(statSync(join(image.root, 'data')).mode & 0o777).toBe(0o770)
})

test('says its version, and helps', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await container(['--version'])).toMatchObject({ status: 0, said: `${version} (abc1234)\n` })
  expect(image.labels).toMatchObject({
    'org.opencontainers.image.title': 'listing-sync',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': 'abc1234',
  })
  expect(await container(['--help'])).toMatchObject({ status: 0, said: expect.stringContaining('daemon') })
})

test('plays the demo; without a temporary folder it says so', async () => {
  expect(await container(['demo'])).toMatchObject({ status: 0 })
  const { status, said } = await container(['demo'], { env: { TMPDIR: join(image.root, 'none') } })
  expect(status).toBe(1)
  expect(said).toContain(join(image.root, 'none'))
  expect(said).not.toContain('defect')
})

test('without its secrets the daemon says which, and ends', async () => {
  const { status, said } = await container(undefined)
  expect(status).toBe(78)
  expect(said).toContain('LISTING_SECRET_KEY')
})

test('its daemon syncs a feed, is healthy, writes in /data alone for its user and group, and stops when it is told to', async () => {
  const configuration = join(image.root, 'config', 'listing-sync.yaml')
  const feed = join(image.root, 'config', 'homes.xml')
  const own = readFileSync(configuration, 'utf8')
  writeFileSync(feed, zillowFeed(homes(1, 3)))
  writeFileSync(
    configuration,
    [
      `service: { baseUrl: "${standIn.url}", secretKey: demo }`,
      'store: ../data/listing-sync.db',
      'feeds:',
      '  north: { chatbot: C-1, source: homes.xml, preset: zillow, schedule: "* * * * * *" }',
    ].join('\n'),
  )
  try {
    const { status, said } = await container(undefined, {
      async onStart(child, soFar) {
        await until(() => soFar().includes('"msg":"run finished"'))
        const check = startOf({ ...image, entrypoint: [] }, image.healthcheck)
        const healthy = await container(['status', '--health'])
        expect(check[1].slice(-2)).toEqual(['status', '--health'])
        expect(healthy.status).toBe(0)
        child.kill('SIGTERM')
      },
    })
    expect(said).not.toContain('defect')
    expect(status).toBe(0)
    expect(standIn.listings('C-1')).toHaveLength(3)
    const store = statSync(join(image.root, 'data', 'listing-sync.db'))
    expect(store.mode & 0o777).toBe(0o660)
    if (isRoot) expect([store.uid, store.gid]).toEqual(image.user.split(':').map(Number))
    expect(filesIn('tmp')).toEqual([])
  } finally {
    writeFileSync(configuration, own)
    rmSync(feed)
  }
})

test.skipIf(noPostgres !== null || process.env['SHIFT_DAYS'] !== undefined)(
  'workers as the pattern for several machines has them: they share the feeds of one database, and keep nothing',
  async () => {
    const server = await startPostgres()
    const configuration = join(image.root, 'config', 'listing-sync.yaml')
    const own = readFileSync(configuration, 'utf8')
    const secrets = join(image.root, 'run', 'secrets')
    try {
      mkdirSync(secrets, { recursive: true })
      for (const name of ['database-password', 'session-key', 'page-token'])
        writeFileSync(join(secrets, name), 'a-secret-of-the-test-0123456789')
      await server.ask(`CREATE ROLE "listing-sync" LOGIN PASSWORD 'a-secret-of-the-test-0123456789'`)
      await server.ask('CREATE DATABASE listings OWNER "listing-sync"')
      for (const name of ['north', 'south'])
        writeFileSync(join(image.root, 'config', `${name}.xml`), zillowFeed(homes(1, 3)))
      const pattern = readFileSync('deploy/scale-out/listing-sync.yaml', 'utf8')
        .replace('https://listings.example.com', standIn.url)
        .replaceAll('/run/secrets', secrets)
        .replace('@database/', `@127.0.0.1:${server.port}/`)
        .replace('0.0.0.0:9464', '127.0.0.1:0')
        .replaceAll(/https:\S+\/(\w+\.xml)\.gz/g, '$1')
        // Half past the hour no second run begins, which might find the first still under way.
        .replaceAll("'*/30 * * * *'", "'0 0 1 1 *'")
      writeFileSync(configuration, pattern)
      const { services } = parse(readFileSync('deploy/scale-out/compose.yaml', 'utf8')) as {
        services: { worker: { command: string[] } }
      }
      const heard: (() => string)[] = []
      // A run that is stopped after its last create, before its end, warns.
      const isDone = (): boolean =>
        heard.reduce((runs, said) => runs + said().split('"msg":"run finished"').length - 1, 0) >= 2
      const worker = async (name: string): Promise<Ended> => {
        const env = { TMPDIR: join(image.root, 'data', name) }
        mkdirSync(env.TMPDIR)
        if (isRoot) chownSync(env.TMPDIR, 10_001, 0)
        const ended = await container(services.worker.command, {
          env,
          async onStart(child, said) {
            heard.push(said)
            await until(() => isDone() && said().includes('"msg":"daemon started"'))
            const [, address] = /"address":"([^"]+)"/.exec(said())!
            expect((await fetch(`${address}/livez`)).status).toBe(200)
            expect(await container(['status', '--health'], { env })).toMatchObject({ status: 0 })
            child.kill('SIGTERM')
          },
        })
        expect(readdirSync(env.TMPDIR)).toEqual([])
        return ended
      }
      for (const { status, said } of await Promise.all([worker('one'), worker('other')])) {
        expect(said).not.toMatch(/defect|"level":"(?:error|warn)"|a-secret-of/)
        expect(status).toBe(0)
      }
      expect(['SN-1001', 'SN-1002'].map((chatbot) => standIn.listings(chatbot).length)).toEqual([3, 3])
      expect(filesIn('config')).toEqual(['listing-sync.yaml', 'north.xml', 'south.xml'])
    } finally {
      writeFileSync(configuration, own)
      await server.remove()
    }
  },
)
