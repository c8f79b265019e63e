/** The package as somebody gets it: built, packed, installed in an empty folder, and run there. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
let folder: string
let installed: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-package-'))
  const source = join(folder, 'source')
  installed = join(folder, 'installed')
  mkdirSync(source)
  mkdirSync(installed)
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }
  const sources = [...files.filter((name) => name !== 'dist'), 'src', 'scripts', 'tsconfig.json', 'tsconfig.build.json']
  for (const name of [...sources, 'package.json', 'LICENSE', 'README.md'])
    cpSync(join(root, name), join(source, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'))
  run(source, 'npm', ['run', '-s', 'build'], { COMMIT: 'abc1234' })
  run(source, 'npm', ['pack', '--ignore-scripts'])
  const packed = readdirSync(source).find((name) => name.endsWith('.tgz'))!
  writeFileSync(join(installed, 'package.json'), '{}')
  run(installed, 'npm', ['install', '--ignore-scripts', '--no-audit', '--prefer-offline', join(source, packed)])
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true }))

function run(cwd: string, command: string, words: readonly string[], env: Record<string, string> = {}): string {
  // The Node of these tests stands for a user's; npm keeps the registry that it is told here.
  const path = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)
  const result = spawnSync(command, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH: path, ...env },
    timeout: 200_000,
  })
  if (result.status !== 0) throw new Error(`${command} ${words.join(' ')}: ${result.stdout}${result.stderr}`)
  return result.stdout
}

function bytesOf(path: string): number {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

test('takes less than 80 MB and brings no Node, no tests and no tools', () => {
  const modules = readdirSync(join(installed, 'node_modules'))
  expect(bytesOf(join(installed, 'node_modules'))).toBeLessThan(80_000_000)
  expect(modules.filter((name) => /^node-(?:linux|win)|^(?:typescript|vitest|oxlint|knip)$/.test(name))).toEqual([])
  expect(readdirSync(join(installed, 'node_modules/listing-sync')).toSorted()).toEqual(
    ['LICENSE', 'README.md', 'bin', 'config', 'dist', 'fixtures', 'package.json'].toSorted(),
  )
})

test('npx runs it: version and commit, help, demo', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(run(installed, 'npx', ['listing-sync', '--version'])).toBe(`${version} (abc1234)\n`)
  expect(run(installed, 'npx', ['listing-sync', 'sync', '--help'])).toContain('Examples:')
  expect(run(installed, 'npx', ['listing-sync', 'demo'])).toContain('The third run wrote nothing')
})

test('on an older Node it says in a sentence which one it needs', () => {
  const code = `Object.defineProperty(process.versions, 'node', { value: '20.11.0' }); await import('./node_modules/listing-sync/bin/listing-sync.mjs')`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: installed,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'listing-sync needs Node 22.19 or newer, this is 20.11.0\n' })
})
