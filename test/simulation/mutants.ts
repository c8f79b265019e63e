/** Ways to break the program (fault-model 4.4), each of which the simulation must find. */
import { applyMutants } from './mutants/apply.ts'
import type { Mutant } from './mutants/mutant.ts'
import { planMutants } from './mutants/plan.ts'
import { portMutants } from './mutants/ports.ts'

export const mutants: readonly Mutant[] = [...planMutants, ...applyMutants, ...portMutants]

/** The text of the file with the defect in it. Throws where a patch does not fit exactly once: the list must stay true. */
export function patched({ name, file, from, to, also = [] }: Mutant, text: string): string {
  let broken = text
  for (const edit of [{ from, to }, ...also]) {
    const parts = broken.split(edit.from)
    if (parts.length !== 2)
      throw new Error(`mutant "${name}" fits ${parts.length - 1} times into ${file}: ${edit.from}`)
    broken = parts.join(edit.to)
  }
  return broken
}
