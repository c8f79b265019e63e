/** Completion, in the shells themselves where this machine has them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { command } from '../support/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'listing-sync-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

async function script(shell: string): Promise<string> {
  const { status, stdout } = await command(['completion', shell])
  expect(status).toBe(0)
  const file = join(folder, shell)
  writeFileSync(file, stdout)
  return file
}

describe.runIf(has('bash'))('bash', () => {
  const offers = async (...typed: string[]): Promise<string[]> => {
    const file = await script('bash')
    const line = `source ${file}; COMP_WORDS=(listing-sync "$@"); COMP_CWORD=$#; _listing_sync; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['--norc', '-c', line, 'bash', ...typed], { encoding: 'utf8' })
      .trim()
      .split('\n')
  }

  test('offers commands, options of the command that was named, and what an option takes', async () => {
    expect(await offers('dae')).toEqual(['daemon'])
    expect(await offers('--config', 'x.yaml', 'appr')).toEqual(['approve'])
    expect(await offers('approve', 'north', '--re')).toEqual(['--refuse', '--revoke'])
    expect(await offers('diff', '--format', 'm')).toEqual(['markdown'])
    expect(await offers('completion', '--log-level', '')).toEqual(['debug', 'info', 'warn', 'error'])
  })
})

test.each(['bash', 'zsh', 'fish'])('%s: every command of --help is in it, and the shell reads it', async (shell) => {
  const file = await script(shell)
  const text = execFileSync('cat', [file], { encoding: 'utf8' })
  const { stdout } = await command(['--help'])
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)(?: [[<]| {2,}|$)/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(15)
  for (const name of names.filter((text) => text !== 'help')) expect(text).toMatch(new RegExp(`\\b${name}\\b`))
  if (has(shell)) execFileSync(shell, ['-n', file])
})

test('another shell is wrong usage', async () => {
  expect(await command(['completion', 'tcsh'])).toMatchObject({ status: 64 })
})
