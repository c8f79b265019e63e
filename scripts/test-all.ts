/**
 * `npm run test:all`, for releases: every test, slow ones and 2,000 histories included, with a random seed that is printed;
 * then with the clock set ahead, in zones on both sides of the date line. Ends with the names of the tests that failed and why,
 * and "N passed, N failed". `-- --results FILE` writes the two numbers there, too, as JSON.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

interface Pass {
  title: string
  words: readonly string[]
  env: Record<string, string>
}

interface Results {
  passed: number
  failed: number
}

/** What vitest's reporter writes, as far as it is read here. */
interface Written {
  numPassedTests: number
  numFailedTests: number
  testResults: { name: string; message: string; assertionResults: Tested[] }[]
}

interface Tested {
  status: string
  fullName: string
  failureMessages: string[]
}

const { values } = parseArgs({ options: { results: { type: 'string' } } })
const seed = process.env['TEST_SEED'] ?? String(randomInt(1, 2 ** 31))

/** A pass with the clock so many days ahead, in every process, without the random tests. */
function shifted(days: number, zone: string, title: string, words: readonly string[]): Pass {
  const preload = new URL('../test/support/shifted-clock.mjs', import.meta.url).href
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --import=${preload}`.trim()
  const env = { SHIFT_DAYS: String(days), TZ: zone, NODE_OPTIONS: options, HISTORIES: '100' }
  return { title: `${title}, the clock ${days} days ahead, in ${zone}`, words, env }
}

const fast = ['fast tests', ['--project', '!slow']] as const
const passes: Pass[] = [
  { title: 'all tests', words: [], env: { HISTORIES: process.env['HISTORIES'] ?? '2000', TEST_SEED: seed } },
  shifted(1, 'Pacific/Kiritimati', ...fast),
  shifted(183, 'Pacific/Pago_Pago', ...fast),
  shifted(365, 'America/St_Johns', ...fast),
  shifted(365, 'Pacific/Kiritimati', 'the program as a process', ['--project', 'slow', 'test/commands']),
]

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'listing-sync-results-'))

/** A run without results, as when a file can't be loaded, counts as one failure. */
async function run({ words, env }: Pass, file: string): Promise<Results> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const child = spawn(process.execPath, [vitest, 'run', ...words, ...reporters], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const found = { passed: 0, failed: 0 }
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(file, 'utf8')) as Written
    Object.assign(found, { passed: numPassedTests, failed: numFailedTests })
    for (const { name, message, assertionResults } of testResults) {
      if (message !== '') failures.push(`${name}: ${message}`)
      for (const { status: is, fullName, failureMessages } of assertionResults)
        if (is === 'failed') failures.push(`${name}, ${fullName}: ${failureMessages.join('\n').slice(0, 2000)}`)
    }
  } catch {
    // Without results only the status tells.
  }
  return status === 0 ? found : { ...found, failed: Math.max(1, found.failed) }
}

const began = performance.now()
const sum: Results = { passed: 0, failed: 0 }
const told: string[] = []
/** Said again at the end: what failed an hour ago is far above. */
const failures: string[] = []
for (const [index, pass] of passes.entries()) {
  process.stdout.write(`\n> ${pass.title}\n`)
  const passBegan = performance.now()
  const { passed, failed } = await run(pass, join(folder, `${index}.json`))
  sum.passed += passed
  sum.failed += failed
  told.push(`${pass.title}: ${passed} passed, ${failed} failed, ${minutes(passBegan)}`)
}
// Wrong results fail; a machine that is busy with all of this is no judge of goals, which are only printed.
process.stdout.write('\n> npm run bench -- --quick\n')
const bench = spawn(process.execPath, [fileURLToPath(new URL('../test/bench/bench.ts', import.meta.url)), '--quick'], {
  stdio: 'inherit',
})
const isRight = (await new Promise<number | null>((resolve) => bench.on('close', resolve))) === 0
sum[isRight ? 'passed' : 'failed']++
told.push(`the quick bench: ${isRight ? 'right results' : 'wrong results'}`)
rmSync(folder, { recursive: true })
for (const failure of failures) process.stdout.write(`\nfailed: ${failure}\n`)
process.stdout.write(
  `\n${told.join('\n')}\nTEST_SEED=${seed} npm run test:all repeats these tests; ${minutes(began)}\n`,
)
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed\n`)
if (values.results !== undefined) writeFileSync(values.results, JSON.stringify(sum))
process.exitCode = sum.failed === 0 ? 0 : 1

function minutes(since: number): string {
  return `${((performance.now() - since) / 60_000).toFixed(1)} minutes`
}
