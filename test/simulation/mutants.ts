/** Ways to break the program, each of which the simulation must find. */
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
    const parts = (texts.get(file) ?? read(file)).split(from)
    if (parts.length !== 2)
      throw new Error(`mutant "${mutant.name}" fits ${parts.length - 1} times into ${file}: ${from}`)
    texts.set(file, parts.join(to))
  }
  return texts
}
