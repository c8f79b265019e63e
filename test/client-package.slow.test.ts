/** The client as a package of its own: built, packed, installed in an empty folder; its example answers a browser there. */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startStandIn } from '../src/stand-in/stand-in.ts'
import type { StandIn } from '../src/stand-in/stand-in.ts'

const source = 'scripts/client'
const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc')
let folder: string
let installed: string
let packed: string
let standIn: StandIn
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-client-'))
  const made = join(folder, 'made')
  installed = join(folder, 'installed')
  mkdirSync(installed)
  for (const name of ['package.json', 'README.md', 'LICENSE', 'example'])
    cpSync(join(source, name), join(made, name), { recursive: true })
  run('.', process.execPath, [compiler, '-p', `${source}/tsconfig.json`, '--outDir', join(made, 'dist')])
  run(made, 'npm', ['pack', '--ignore-scripts'])
  packed = join(
    made,
    readdirSync(made).find((name) => name.endsWith('.tgz'))!,
  )
  writeFileSync(join(installed, 'package.json'), '{"type":"module"}')
  run(installed, 'npm', ['install', '--ignore-scripts', '--no-audit', '--prefer-offline', packed])
  standIn = await startStandIn({ keys: { secret: 'example-key' } })
}, 300_000)
afterAll(async () => {
  await standIn.close()
  rmSync(folder, { recursive: true })
})

function run(cwd: string, command: string, words: readonly string[]): string {
  const path = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)
  const env = { ...process.env, PATH: path }
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8', env, timeout: 200_000 })
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

function bytesOf(path: string): number {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

/** The example's address, in a process of its own. */
async function example(env: Record<string, string>): Promise<string> {
  const script = join(installed, 'node_modules/listing-sync-client/example/server.mjs')
  const child = spawn(process.execPath, [script], { cwd: installed, env: { ...process.env, PORT: '0', ...env } })
  onTestFinished(() => void child.kill())
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return /http:\S+/.exec(line.toString())![0]
}

/** The events of an answer, as a browser gets them. */
async function eventsOf(address: string): Promise<{ event: string; data: Record<string, unknown> }[]> {
  const response = await fetch(address)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const blocks = (await response.text()).split('\n\n').filter((block) => block !== '')
  return blocks.map((block) => {
    const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!
    return { event, data: JSON.parse(data) as Record<string, unknown> }
  })
}

test('is under 100 kB packed and 4 MB installed, with undici alone', () => {
  expect(statSync(packed).size).toBeLessThan(100_000)
  const modules = readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(modules.toSorted()).toEqual(['listing-sync-client', 'undici'])
  expect(bytesOf(join(installed, 'node_modules'))).toBeLessThan(4_000_000)
  expect(readdirSync(join(installed, 'node_modules/listing-sync-client')).toSorted()).toEqual(
    ['LICENSE', 'README.md', 'dist', 'example', 'package.json'].toSorted(),
  )
})

test('its example streams an answer to a browser, piece by piece', async () => {
  standIn.seed('SN-1', [{ MLSNumber: 'A-1', City: 'Oxford', Address: '12 Elm Street', SaleType: 'for_sale' }])
  const address = await example({ LISTING_SERVICE: standIn.url, LISTING_SECRET_KEY: 'example-key' })
  expect(await (await fetch(address)).text()).toContain('new EventSource')
  const events = await eventsOf(`${address}/ask?session=1&text=What+about+12+Elm+Street%3F`)
  const pieces = events.filter(({ event }) => event === 'piece').map(({ data }) => data.content as string)
  const last = events.at(-1)!
  expect(pieces.length).toBeGreaterThan(2)
  expect(last.event).toBe('whole')
  expect(last.data.Answer).toBe(pieces.join(''))
  expect(last.data.Answer).toContain('12 Elm Street')
})

test('its example tells a visitor of a failure, without the words of the service', async () => {
  const address = await example({ LISTING_SERVICE: standIn.url, LISTING_SECRET_KEY: 'another-key' })
  expect(await eventsOf(`${address}/ask?session=1&text=Hello`)).toEqual([
    { event: 'failure', data: { problem: 'The chatbot can not be reached at the moment.', retryable: false } },
  ])
  expect(await eventsOf(`${address}/ask?text=Hello`)).toEqual([
    { event: 'failure', data: { problem: 'This can not be asked.', retryable: false } },
  ])
})

test('its types stand alone', () => {
  writeFileSync(
    join(installed, 'typed.ts'),
    `
    import { createService } from 'listing-sync-client'
    import type { ChatbotSettings, RealEstateListItem } from 'listing-sync-client'
    const service = createService({ baseUrl: 'http://127.0.0.1:1' })
    export const settings: ChatbotSettings = { Name: 'Cedar', MessageLimit: 5, VerifyDomain: true }
    export async function all(): Promise<RealEstateListItem[]> {
      const items: RealEstateListItem[] = []
      for await (const item of service.listAll({ SerialNumber: 'A' }, { timeout: 5 })) items.push(item)
      return items
    }
    // @ts-expect-error a number is no name
    export const wrong: ChatbotSettings = { Name: 5 }
    `,
  )
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--lib',
    'es2024,dom',
    '--types',
  ]
  run(installed, process.execPath, [compiler, ...options, '', 'typed.ts'])
})

test('an older Node gets a sentence', () => {
  const code = `Object.defineProperty(process.versions, 'node', { value: '20.11.0' }); await import('listing-sync-client')`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: installed,
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toContain('the client of the listing service needs Node 22.19 or newer, this is 20.11.0')
})
