/** Looks for the shortest history that still breaks the same invariant. */
import { runHistory } from './history.ts'
import type { Told } from './history.ts'

/** Masks mishaps, many at a time, then fewer, then one by one, as long as the same invariant stays broken; `tries` at most. */
async function shrink(failed: Told, tries: number): Promise<{ told: Told; masked: Set<string> }> {
  let best = failed
  let masked = new Set<string>()
  for (let size = Math.ceil(failed.mishaps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.mishaps.length && tries-- > 0;) {
      const tried = new Set([...masked, ...best.mishaps.slice(from, from + size)])
      const told = await runHistory(failed.seed, { masked: tried, diesAt: failed.diesAt })
      if (tag(told) === tag(failed)) {
        best = told
        masked = tried
      } else from += size
    }
  }
  return { told: best, masked }
}

function tag({ violation }: Told): string {
  return (violation ?? '').replaceAll(/[KH]\d+|\d{2,}/g, '').slice(0, 40)
}

/** Everything a person needs to see why a seed fails: what went wrong in it at the least, and what happened then. */
export async function explain(failed: Told, tries = 1000): Promise<string> {
  const { told, masked } = await shrink(failed, tries)
  const trace: string[] = []
  await runHistory(failed.seed, { masked, trace, diesAt: failed.diesAt })
  const point = failed.diesAt === null ? '' : `, dead at point ${failed.diesAt}`
  return [`seed ${failed.seed}${point}: ${told.violation}`, `mishaps: ${told.mishaps.join(', ')}`, ...trace].join('\n')
}
