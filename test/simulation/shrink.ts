/** Looks for the shortest history that still breaks the same invariant. */
import { runHistory } from './history.ts'
import type { Told } from './history.ts'

/** Masks mishaps, many at a time, then fewer, then one by one, as long as the same invariant stays broken. */
export async function shrink(failed: Told): Promise<{ told: Told; masked: Set<string> }> {
  let best = failed
  let masked = new Set<string>()
  for (let size = Math.ceil(failed.mishaps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.mishaps.length;) {
      const tried = new Set([...masked, ...best.mishaps.slice(from, from + size)])
      const told = await runHistory(failed.seed, tried, null)
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
export async function explain(failed: Told): Promise<string> {
  const { told, masked } = await shrink(failed)
  const trace: string[] = []
  await runHistory(failed.seed, masked, trace)
  return [`seed ${failed.seed}: ${told.violation}`, `mishaps: ${told.mishaps.join(', ')}`, ...trace].join('\n')
}
