/** The shell commands that README.md shows for use are run, so that they go on being true. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { startStandIn } from '../src/stand-in/stand-in.ts'
import type { StandIn } from '../src/stand-in/stand-in.ts'
import { home, zillowFeed } from './support/homes.ts'
import { program } from './support/run-world.ts'

const root = dirname(dirname(program))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(/^```(\w+)\n([^]*?)^```/gm)].flatMap(([, name, text]) => (name === language ? [text] : []))

/** The lines of all shell blocks without their comments, lines that go on joined. */
const commands = blocks('sh')
  .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter((line) => line !== '')

/** What an installation, a test run within a test run, and a machine without Docker can't have run here. */
const notHere = (line: string): boolean => /^docker |^npm ci && npm test$/.test(line)
/** npm ci would take away the modules that this very test runs on. */
const withoutInstalling = (line: string): string => line.replace('npm ci && ', '')

let folder: string
let standIn: StandIn
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-test-'))
  standIn = await startStandIn({ keys: { session: 'readme-session-key' } })
})
afterEach(async () => {
  await standIn.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a line in a shell, with the program on its path and this test's Node as `node`. */
function shell(
  line: string,
  cwd: string,
  env: Record<string, string>,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const start = `#!/bin/sh\nexec '${process.execPath}'`
  writeFileSync(join(bin, 'listing-sync'), `${start} '${program}' "$@"\n`, { mode: 0o755 })
  writeFileSync(join(bin, 'node'), `${start} "$@"\n`, { mode: 0o755 })
  const child = spawn('sh', ['-c', line], {
    cwd,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve) => {
    child.on('close', (status) => resolve({ status, stdout, stderr }))
  })
}

/** The README's first configuration, with its service and feed on this machine. */
function firstConfiguration(): Record<string, string> {
  const [text] = blocks('yaml')
  const written = parse(text) as { service: { baseUrl: string }; feeds: { north: { source: string } } }
  written.service.baseUrl = standIn.url
  written.feeds.north.source = './export.xml'
  mkdirSync(join(folder, 'config'))
  writeFileSync(join(folder, 'config', 'listing-sync.yaml'), stringify(written))
  writeFileSync(join(folder, 'config', 'export.xml'), zillowFeed([1, 2, 3].map((number) => home(number))))
  return { LISTING_SESSION_KEY: 'readme-session-key' }
}

test('there are commands to hold', () => {
  expect(commands.length).toBeGreaterThanOrEqual(6)
  expect(commands.filter((line) => !notHere(line)).length).toBeGreaterThanOrEqual(5)
})

describe('with the first configuration', () => {
  /** What each line ends with on a service that holds nothing yet. */
  const expected: Record<string, number> = {
    'npm ci && npm run demo': 0,
    'npm run -s listing-sync -- diff north': 2,
    'listing-sync backfill north': 0,
    'listing-sync diff': 2,
    'listing-sync diff north --format json --out diff.json': 2,
    'listing-sync approve north': 0,
  }

  test.each(commands.filter((line) => !notHere(line)))('%s', async (line) => {
    const inRepository = line.includes('npm ')
    const env = firstConfiguration()
    const config = join(folder, 'config', 'listing-sync.yaml')
    const ended = await shell(withoutInstalling(line), inRepository ? root : folder, {
      ...env,
      ...(inRepository && { LISTING_SYNC_CONFIG: config }),
    })
    expect(Object.keys(expected), 'a command that this test does not know yet').toContain(line)
    expect(ended).toMatchObject({ status: expected[line], stderr: '' })
    if (line.includes('backfill')) expect(standIn.listings('SN-1001')).toHaveLength(3)
    else expect(standIn.counts.Create).toBe(0)
    if (line.includes('--out'))
      expect(JSON.parse(readFileSync(join(folder, 'diff.json'), 'utf8'))).toMatchObject({ counts: { create: 3 } })
  })
})

test('every command that it names is one, and every one is named', async () => {
  const { stdout } = await shell('listing-sync --help', folder, {})
  const known = [...stdout.matchAll(/^ {2}([a-z][a-z-]*)(?: .*)?$/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== 'help')
  const table = readme.slice(readme.indexOf('## Commands'), readme.indexOf('## When something is wrong'))
  const named = [...table.matchAll(/^\| `([a-z-]+)/gm)].map(([, name]) => name)
  expect(named.toSorted()).toEqual(known.toSorted())
})

test('the files that it points to are there', () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path)
  expect(links.length).toBeGreaterThan(0)
  for (const path of links)
    expect(() => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)))).not.toThrow()
})
