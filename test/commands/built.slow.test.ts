/** Which program a checkout runs: what was built, where that is newer than all that it is made of, else the sources. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'built-'))
  cpSync(join(import.meta.dirname, '../../bin'), join(root, 'bin'), { recursive: true })
  const says = (word: string): string => `main = () => console.log('${word}')`
  for (const [path, text] of [
    ['package.json', '{ "type": "module" }'],
    ['package-lock.json', '{}'],
    ['src/main.ts', `export const ${says('sources')}`],
    ['src/app/open.ts', ''],
    ['dist/program/main.cjs', `exports.${says('built')}`],
    ['dist/commit.txt', 'abc1234'],
  ])
    write(path, text)
})

/** An hour ago, or now. */
function write(path: string, text: string, isNew = path === 'dist/commit.txt'): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  const at = Date.now() / 1000 - (isNew ? 0 : 3600)
  for (const text of [file, dirname(file)]) utimesSync(text, at, at)
}

const runs = (env: Record<string, string> = {}): string =>
  execFileSync(process.execPath, [join(root, 'bin/listing-sync.mjs'), '--help'], {
    encoding: 'utf8',
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: undefined, ...env },
  }).trim()

test('what was built, as nothing is newer', () => {
  expect(runs()).toBe('built')
  rmSync(join(root, 'src'), { recursive: true })
  expect(runs()).toBe('built')
})

test.each([['src/app/open.ts'], ['package.json'], ['package-lock.json']])('the sources, as %s is newer', (path) => {
  write('dist/commit.txt', 'abc1234', false)
  write(path, path === 'package.json' ? '{ "type": "module" }' : '', true)
  expect(runs()).toBe('sources')
})

test('what an editor leaves in a folder that is being edited ends nothing', () => {
  for (const name of ['.#main.ts', 'main.ts~']) symlinkSync('me@here.4711', join(root, 'src', name))
  expect(runs()).toBe('built')
})

test('what Node made of it is kept in the folder for caches, and in no other', () => {
  const HOME = join(root, 'home')
  mkdirSync(HOME)
  expect(runs({ XDG_CACHE_HOME: 'here', HOME })).toBe('built')
  expect([existsSync(join(root, 'here')), existsSync(join(HOME, '.cache/listing-sync/brief'))]).toEqual([false, true])
  expect(runs({ XDG_CACHE_HOME: join(root, 'there'), HOME: '' })).toBe('built')
  expect(existsSync(join(root, 'there/listing-sync/brief'))).toBe(true)
  expect(runs({ XDG_CACHE_HOME: '', HOME: 'home2' })).toBe('built')
  expect(existsSync(join(root, 'home2'))).toBe(false)
})
