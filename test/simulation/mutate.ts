/**
 * Whether the simulation would notice: runs histories over the program broken in each of the ways of `mutants`, each in a
 * process of its own, until one fails; or the test that a mutant names. A patch that no longer fits exactly once stops
 * everything, so that the list stays true.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { runHistory } from './history.ts'
import pLimit from 'p-limit'
import type { Told } from './history.ts'
import { mutants, patched } from './mutants.ts'
import type { Mutant } from './mutants/mutant.ts'
import { briefly } from './shrink.ts'

const root = join(import.meta.dirname, '../..')

/** What `run.ts --brief` prints: the first history that failed, and how many it took. */
interface Brief {
  histories: number
  found: Told | null
}

/** What became of one mutant. */
interface Found {
  mutant: Mutant
  /** Histories until it was found; 'a test': by the one that it names; null: it was not. */
  after: number | 'a test' | null
  violation: string
  mishaps: string[]
  seconds: number
}

/**
 * Prints what becomes of each mutant whose name holds `only`, and writes the table `MUTANTS.md` where that is all of them, row by row.
 * Gives the number of those not found within `histories` from seed `from`.
 */
export async function runMutants(histories: number, from: number, only: string): Promise<number> {
  for (const mutant of mutants) patched(mutant, (file) => readFileSync(join(root, file), 'utf8'))
  const all: Found[] = []
  const examine = async (mutant: Mutant): Promise<void> => {
    const found =
      mutant.test === undefined ? await look(mutant, histories, from) : await lookByTest(mutant, mutant.test)
    all.push(found)
    const after =
      found.after === null
        ? `NOT FOUND in ${histories}`
        : `found by ${found.after === 'a test' ? '' : 'history '}${found.after}`
    process.stdout.write(`${mutant.name}: ${after}, ${found.seconds.toFixed(0)} s: ${found.violation}\n`)
    if (only === '') writeFileSync(join(import.meta.dirname, 'MUTANTS.md'), tableOf(all, histories, from))
  }
  const limit = pLimit(availableParallelism())
  await Promise.all(mutants.filter(({ name }) => name.includes(only)).map((mutant) => limit(() => examine(mutant))))
  process.stdout.write(`${summaryOf(all)}\n`)
  return all.filter(({ after }) => after === null).length
}

async function look(mutant: Mutant, histories: number, from: number): Promise<Found> {
  const began = performance.now()
  let before = 0
  while (before < histories) {
    const { histories: after, found } = await simulated(mutant, histories - before, from + before)
    before += after
    if (found === null) break
    const violation = found.violation!.split('\n')[0]
    if (violation.startsWith('threw ')) throw new Error(`${mutant.name} is no defect but nonsense: ${violation}`)
    // What breaks an invariant without any defect proves nothing of one.
    if ((await runHistory(found.seed)).violation !== null) continue
    return { mutant, after: before, violation, mishaps: found.mishaps, seconds: (performance.now() - began) / 1000 }
  }
  return { mutant, after: null, violation: '', mishaps: [], seconds: (performance.now() - began) / 1000 }
}

async function lookByTest(mutant: Mutant, test: string): Promise<Found> {
  const began = performance.now()
  const [file, title] = test.split(' › ')
  const name = title.replaceAll(/[()?.*+]/g, '.').replaceAll(/%[si]/g, '.+')
  const config = ['--config', 'test/simulation/broken.config.ts', '--reporter', 'tap-flat']
  const { output, errors } = await broken(mutant, [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...config,
    mutant.runs ?? file,
    '-t',
    name,
  ])
  const ran = output.split('\n').filter((line) => /^(not )?ok /.test(line) && !line.includes('# SKIP'))
  if (ran.length === 0) throw new Error(`${mutant.name}: its test did not run\n${output}${errors}`)
  const after = ran.some((line) => line.startsWith('not ok')) ? 'a test' : null
  return { mutant, after, violation: test, mishaps: [], seconds: (performance.now() - began) / 1000 }
}

/** What a process finds whose program is broken so. */
async function simulated(mutant: Mutant, histories: number, from: number): Promise<Brief> {
  const numbers = ['--histories', `${histories}`, '--from', `${from}`, '--brief']
  const loader = ['--import', import.meta.resolve('./break.ts')]
  const { output, errors } = await broken(mutant, [...loader, 'test/simulation/run.ts', ...numbers])
  if (!output.startsWith('{')) throw new Error(`${mutant.name}: the simulation did not run\n${output}${errors}`)
  return JSON.parse(output) as Brief
}

async function broken({ name }: Mutant, command: readonly string[]): Promise<{ output: string; errors: string }> {
  const env = { ...process.env, SIMULATION_MUTANT: name }
  const run = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env })
  const captured = { output: '', errors: '' }
  run.stdout.on('data', (chunk: Buffer) => (captured.output += chunk.toString()))
  run.stderr.on('data', (chunk: Buffer) => (captured.errors += chunk.toString()))
  await new Promise((resolve) => {
    run.on('close', resolve)
  })
  return captured
}

function summaryOf(all: readonly Found[]): string {
  const after = all.flatMap((found) => (typeof found.after === 'number' ? found.after : [])).toSorted((a, b) => a - b)
  const byTest = all.filter((found) => found.after === 'a test').length
  const found = `${after.length + byTest} of ${all.length} mutants found, ${byTest} of them by a test of their own`
  if (after.length === 0) return found
  return `${found}; of the others half within ${after[(after.length - 1) >> 1]} histories, the last after ${after.at(-1)}`
}

const rankOf = ({ after }: Found): number => (typeof after === 'number' ? after : Infinity)

function tableOf(all: readonly Found[], histories: number, from: number): string {
  const rows = all
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map(({ mutant, after, violation, mishaps }) => {
      const cells = [
        mutant.name,
        mutant.file,
        after ?? `not in ${histories}`,
        violation,
        briefly(mishaps.filter((text) => !text.startsWith('feed begins with'))),
      ]
      return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
    })
  return `# What the simulation notices

Written by \`npm run simulate -- --mutants --histories ${histories} --from ${from}\`; don't edit. Each row is a defect put into the
program on purpose (\`mutants/\`), the number of histories until one broke an invariant, what it said, and what went wrong in
the shortest such history that was looked for. What random histories hardly meet has a test, which was seen to fail with it.

${summaryOf(all)}.

<!-- prettier-ignore -->
| defect | in | histories | violation | mishaps |
|---|---|---|---|---|
${rows.join('\n')}
`
}
