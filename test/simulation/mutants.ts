/** Ways to break the program, each of which the simulation, or a test of its own, must find. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyMutants } from './mutants/apply.ts'
import { guardMutants } from './mutants/guard.ts'
import { placesOf } from './mutants/mutant.ts'
import type { Mutant } from './mutants/mutant.ts'
import { planMutants } from './mutants/plan.ts'
import { portMutants } from './mutants/ports.ts'

export const mutants: readonly Mutant[] = [...planMutants, ...guardMutants, ...applyMutants, ...portMutants]

/** The texts of its files with the defect in them. Throws where a patch does not fit exactly once: the list must stay true. */
export function patched(mutant: Mutant, read: (file: string) => string): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { file, from, to } of placesOf(mutant)) {
    const pieces = (texts.get(file) ?? read(file)).split(from)
    if (pieces.length !== 2)
      throw new Error(`mutant "${mutant.name}" fits ${pieces.length - 1} times into ${file}: ${from}`)
    texts.set(file, pieces.join(to))
  }
  return texts
}

const root = join(import.meta.dirname, '../..')

/** What the files of the mutant named by SIMULATION_MUTANT are read as, by their paths. Throws where none is of that name. */
export function brokenSources(): Map<string, string> {
  const name = process.env['SIMULATION_MUTANT']
  const mutant = mutants.find((candidate) => candidate.name === name)
  if (mutant === undefined) throw new Error(`no mutant is named ${name}`)
  const texts = patched(mutant, (file) => readFileSync(join(root, file), 'utf8'))
  return new Map([...texts].map(([file, text]) => [join(root, file), text]))
}
