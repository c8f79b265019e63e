/** Looks for the shortest history that still breaks the same invariant, and tells it. */
import { runHistory } from './history.ts'
import type { Told } from './history.ts'

/** Masks mishaps, many at a time, then fewer, then one by one, as long as the same invariant stays broken; `tries` at most. */
export async function shrink(failed: Told, tries = 1000): Promise<{ told: Told; masked: Set<string> }> {
  let best = failed
  let masked = new Set<string>()
  for (let size = Math.ceil(failed.mishaps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.mishaps.length && tries-- > 0;) {
      const tried = new Set([...masked, ...best.mishaps.slice(from, from + size)])
      const played = await runHistory(failed.seed, { masked: tried, diesAt: failed.diesAt })
      if (tag(played) === tag(failed)) {
        best = played
        masked = tried
      } else from += size
    }
  }
  return { told: best, masked }
}

function tag({ violation }: Told): string {
  return (violation ?? '').replaceAll(/[KHW]\d+|\d{2,}/g, '').slice(0, 40)
}

/** Everything a person needs to see why a seed fails: what went wrong in it at the least, and what happened then. */
export async function explain(failed: Told): Promise<string> {
  const { told, masked } = await shrink(failed)
  const trace: string[] = []
  await runHistory(failed.seed, { masked, trace, diesAt: failed.diesAt })
  const point = failed.diesAt === null ? '' : `, dead at point ${failed.diesAt}`
  const was = `${told.mishaps.length} mishaps left of ${failed.mishaps.length}`
  const end = trace.findIndex((line) => line.includes('VIOLATION'))
  return [
    `seed ${failed.seed}${point}: ${told.violation}`,
    `the shortest such history that was found (${was}):`,
    ...byPart(told.mishaps),
    ...trace.slice(0, end + 1),
  ].join('\n')
}

/** The mishaps of each part of the history, each once with its number. */
function byPart(mishaps: readonly string[]): string[] {
  const groups = new Map<string, string[]>()
  for (const mishap of mishaps) {
    const [, part = 'at first', name] = /^(?:(round \d+|calm): )?(.*)$/.exec(mishap)!
    groups.set(part, [...(groups.get(part) ?? []), name])
  }
  return [...groups].map(([part, names]) => `  ${part}: ${briefly(names) || 'nothing goes wrong'}`)
}

/** What went wrong, each mishap once with its number, without what every history has. */
export function briefly(mishaps: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const mishap of mishaps) {
    const name = mishap.replace(/^(?:round \d+|calm): /, '').replace(/ \d+$/, '')
    if (name !== 'takes place') counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`)).join(', ')
}
