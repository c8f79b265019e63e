/**
 * `npm run defences -- [WORD…]`: takes each defence whose name holds a word out of a copy of the program, all without words,
 * runs its tests there, and prints whether one failed. Exit status 1 where none did. Takes about a quarter of an hour.
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placesOf } from '../simulation/mutants/mutant.ts'
import { defences } from './defences.ts'
import type { Defence } from './defences.ts'

const root = join(import.meta.dirname, '../..')
process.on('SIGINT', () => process.exit(1))
process.on('SIGTERM', () => process.exit(1))
const words = process.argv.slice(2)
const chosen = defences.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
/** A test that hangs without its defence has noticed it, too. */
const patience = 300_000

const copy = mkdtempSync(join(tmpdir(), 'listing-sync-defences-'))
let unnoticed = 0
try {
  const tracked = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const name of tracked.stdout.toString().split('\0').filter(Boolean)) cpSync(join(root, name), join(copy, name))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const defence of chosen) {
    const began = performance.now()
    const failed = await without(defence)
    const seconds = Math.round((performance.now() - began) / 1000)
    if (failed === null) unnoticed++
    process.stdout.write(
      `${failed === null ? 'NOT NOTICED' : 'noticed'} (${seconds} s): ${defence.name}: ${failed ?? ''}\n`,
    )
  }
} finally {
  rmSync(copy, { recursive: true })
}
process.stdout.write(
  `${chosen.length - unnoticed} of ${chosen.length} defences are missed by a test when they are taken out\n`,
)
process.exitCode = unnoticed === 0 ? 0 : 1

/** What fails without a defence: the first test, or how they ended; null: all passed. */
async function without(defence: Defence): Promise<string | null> {
  const before = new Map<string, string>()
  try {
    for (const { file, from, to } of placesOf(defence)) {
      const path = join(copy, file)
      const text = readFileSync(path, 'utf8')
      if (!before.has(path)) before.set(path, text)
      if (text.split(from).length !== 2) throw new Error(`${defence.name}: ${from} is not in ${file} exactly once`)
      writeFileSync(
        path,
        text.replace(from, () => to),
      )
    }
    const program = join(copy, 'node_modules/vitest/vitest.mjs')
    const results = join(copy, 'results.json')
    rmSync(results, { force: true })
    const options = ['run', '--bail=1', '--reporter=json', `--outputFile=${results}`, ...defence.tests]
    if (defence.only !== undefined) options.push('-t', defence.only)
    const status = await ended(process.execPath, [program, ...options])
    if (status === 0) return null
    return firstFailed(results) ?? (status === null ? 'the tests hang' : 'the tests could not run')
  } finally {
    for (const [path, text] of before) writeFileSync(path, text)
  }
}

/** The exit status in the copy; null: it hangs, and was killed with all that it had started. */
async function ended(command: string, args: string[]): Promise<number | null> {
  const child = spawn(command, args, { cwd: copy, stdio: 'ignore', detached: true })
  const end = (): void => void process.kill(-child.pid!, 'SIGKILL')
  const timer = setTimeout(end, patience)
  process.once('exit', end)
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  process.removeListener('exit', end)
  clearTimeout(timer)
  return status
}

interface Results {
  testResults: { assertionResults: { status: string; fullName: string }[] }[]
}

function firstFailed(results: string): string | null {
  try {
    const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as Results
    const all = testResults.flatMap(({ assertionResults }) => assertionResults)
    return all.find(({ status }) => status === 'failed')?.fullName ?? null
  } catch {
    return null
  }
}
