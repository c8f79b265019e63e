/**
 * Whether the simulation would notice: runs histories over the program broken in each of the ways of `mutants`, each in a
 * process of its own, until one fails. A patch that no longer fits exactly once stops everything, so that the list stays true.
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
  /** Histories until it was found; null: it was not. */
  after: number | null
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
    const found = await look(mutant, histories, from)
    all.push(found)
    const after = found.after === null ? `NOT FOUND in ${histories}` : `found by history ${found.after}`
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

/** What a process finds whose program is broken so. */
async function simulated(mutant: Mutant, histories: number, from: number): Promise<Brief> {
  const run = spawn(
    process.execPath,
    [
      '--import',
      import.meta.resolve('./break.ts'),
      'test/simulation/run.ts',
      '--histories',
      `${histories}`,
      '--from',
      `${from}`,
      '--brief',
    ],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, SIMULATION_MUTANT: mutant.name } },
  )
  let output = ''
  let errors = ''
  run.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  run.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  await new Promise((resolve) => {
    run.on('close', resolve)
  })
  if (!output.startsWith('{')) throw new Error(`${mutant.name}: the simulation did not run\n${output}${errors}`)
  return JSON.parse(output) as Brief
}

function summaryOf(all: readonly Found[]): string {
  const after = all.flatMap((one) => one.after ?? []).toSorted((a, b) => a - b)
  if (after.length === 0) return 'none found'
  return `${after.length} of ${all.length} mutants found; half of them within ${after[(after.length - 1) >> 1]} histories, the last after ${after.at(-1)}`
}

function tableOf(all: readonly Found[], histories: number, from: number): string {
  const rows = all
    .toSorted((a, b) => (a.after ?? Infinity) - (b.after ?? Infinity))
    .map(({ mutant, after, violation, mishaps }) => {
      const cells = [
        mutant.name,
        mutant.file,
        after ?? `not in ${histories}`,
        after === null && mutant.test !== undefined ? `noticed by ${mutant.test}` : violation,
        briefly(mishaps.filter((one) => !one.startsWith('feed begins with'))),
      ]
      return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
    })
  return `# What the simulation notices

Written by \`npm run simulate -- --mutants --histories ${histories} --from ${from}\`; don't edit. Each row is a defect put into the
program on purpose (\`mutants/\`), the number of histories until one broke an invariant, what it said, and what went wrong in
the shortest such history that was looked for. What random histories hardly meet is noticed by a test of its own.

${summaryOf(all)}.

<!-- prettier-ignore -->
| defect | in | histories | violation | mishaps |
|---|---|---|---|---|
${rows.join('\n')}
`
}
