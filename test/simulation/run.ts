/**
 * `node test/simulation/run.ts --histories N --from SEED [--all]`: many histories; the first that fails, or all that do.
 * `--crash-points`: each history once for every point at which a process can die in it, before or after a write to the
 * store or a call. `--with NAME`: every history draws a share of this mishap, and how many had it is told. `--mutants [--only WORD]`: how many histories it takes to find each deliberate defect of `mutants`.
 */
import { parseArgs } from 'node:util'
import { crashPoints, seeds } from './history.ts'
import type { Told } from './history.ts'
import { inEach } from './mishap.ts'
import { runMutants } from './mutate.ts'
import { explain, shrink } from './shrink.ts'

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    from: { type: 'string' },
    all: { type: 'boolean' },
    mutants: { type: 'boolean' },
    only: { type: 'string' },
    'crash-points': { type: 'boolean' },
    brief: { type: 'boolean' },
    with: { type: 'string', multiple: true },
  },
})
const from = Number(values.from ?? 0)
const all = values.all === true
for (const name of values.with ?? []) inEach.add(name)
if (values.mutants === true) {
  const missed = await runMutants(Number(values.histories ?? 20_000), from, values.only ?? '')
  process.exitCode = missed === 0 ? 0 : 1
} else if (values['crash-points'] === true) await simulate(crashPoints(from, Number(values.histories ?? 10)))
else await simulate(seeds(from, Number(values.histories ?? 1000)))

async function simulate(histories: AsyncIterable<Told>): Promise<void> {
  const began = performance.now()
  const failed: Told[] = []
  let runs = 0
  let calls = 0
  let count = 0
  const had = new Map<string, number>()
  const figures = (): string => {
    const seconds = (performance.now() - began) / 1000
    return `${count} histories, ${runs} runs, ${calls} writing calls in ${seconds.toFixed(1)} s (${(count / seconds).toFixed(1)} a second), ${failed.length} failed\n`
  }
  for await (const played of histories) {
    runs += played.runs
    calls += played.calls
    count++
    for (const name of inEach)
      if (played.mishaps.some((id) => id.includes(name))) had.set(name, (had.get(name) ?? 0) + 1)
    if (count % 1000 === 0 && values.brief !== true) process.stderr.write(figures())
    if (played.violation === null) continue
    failed.push(played)
    if (all) process.stdout.write(`${played.seed}: ${played.violation.split('\n')[0]}\n`)
    else break
  }
  if (values.brief === true) return tellBriefly(count, failed)
  process.stdout.write(figures())
  for (const [name, histories] of had) process.stdout.write(`${histories} with: ${name}\n`)
  if (failed.length === 0) return
  process.exitCode = 1
  process.stdout.write(`${await explain(failed[0])}\n`)
}

/** One line of JSON, for `mutate.ts`. */
async function tellBriefly(histories: number, [first]: readonly Told[]): Promise<void> {
  const found = first === undefined ? null : (await shrink(first, 40)).told
  process.stdout.write(`${JSON.stringify({ histories, found })}\n`)
}
