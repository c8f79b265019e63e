/**
 * Whether the simulation would notice: breaks a copy of the program in each of the ways of `mutants.ts` and runs histories
 * over it until one fails. A patch that no longer fits exactly once stops everything, so that the list stays true.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mutants } from './mutants.ts'
import type { Mutant } from './mutants.ts'

const root = join(import.meta.dirname, '../..')

/** Prints one row of a table for each mutant whose name holds `only`; gives the number of those not found. */
export async function runMutants(histories: number, from: number, only: string): Promise<number> {
  for (const mutant of mutants) patched(mutant)
  process.stdout.write('| mutant | found by history | broken | shortest history |\n|---|---|---|---|\n')
  let missed = 0
  for (const mutant of mutants.filter(({ name }) => name.includes(only))) {
    const { status, output } = await simulate(mutant, histories, from)
    const [, number] = /^(\d+) histories/m.exec(output) ?? []
    const [, violation] = /^seed \d+: (.*)$/m.exec(output) ?? []
    const [, mishaps = ''] = /^mishaps: (.*)$/m.exec(output) ?? []
    if (status !== 1 || violation === undefined) missed++
    if (number === undefined) throw new Error(`${mutant.name}: the simulation did not run\n${output}`)
    const cells = violation === undefined ? ['not found', `of ${number}`, ''] : [number, violation, briefly(mishaps)]
    process.stdout.write(`| ${[mutant.name, ...cells].join(' | ')} |\n`)
  }
  return missed
}

/** The file with the patch in it. Throws where it does not fit exactly once. */
function patched({ name, file, from, to }: Mutant): string {
  const parts = readFileSync(join(root, file), 'utf8').split(from)
  if (parts.length !== 2) throw new Error(`mutant "${name}" fits ${parts.length - 1} times into ${file}: ${from}`)
  return parts.join(to)
}

async function simulate(
  mutant: Mutant,
  histories: number,
  from: number,
): Promise<{ status: number | null; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-mutant-'))
  try {
    for (const part of ['src', 'test/simulation', 'package.json']) {
      mkdirSync(join(folder, part, '..'), { recursive: true })
      cpSync(join(root, part), join(folder, part), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, mutant.file), patched(mutant))
    const run = spawn(
      process.execPath,
      ['test/simulation/run.ts', '--histories', String(histories), '--from', String(from)],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const chunks: Buffer[] = []
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    const status = await new Promise<number | null>((resolve) => {
      run.on('close', resolve)
    })
    return { status, output: Buffer.concat(chunks).toString() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What went wrong, each mishap once with its number. */
function briefly(mishaps: string): string {
  const counts = new Map<string, number>()
  for (const mishap of mishaps.split(', ')) {
    const name = mishap.replace(/ \d+$/, '')
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`)).join(', ')
}
