/**
 * `node test/simulation/run.ts --histories N --from SEED [--all]`: many histories; the first that fails, or a count of all
 * that do. `--mutants [--only WORD]`: how many histories it takes to find each deliberate defect of `mutants.ts`.
 */
import { parseArgs } from 'node:util'
import { runHistory } from './history.ts'
import type { Told } from './history.ts'
import { runMutants } from './mutate.ts'
import { explain } from './shrink.ts'

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    from: { type: 'string' },
    all: { type: 'boolean' },
    mutants: { type: 'boolean' },
    only: { type: 'string' },
  },
})
const from = Number(values.from ?? 0)
if (values.mutants === true) {
  const missed = await runMutants(Number(values.histories ?? 20_000), from, values.only ?? '')
  process.exitCode = missed === 0 ? 0 : 1
} else await simulate(Number(values.histories ?? 1000), values.all === true)

async function simulate(histories: number, all: boolean): Promise<void> {
  const began = performance.now()
  const failed: Told[] = []
  let runs = 0
  let calls = 0
  let told = 0
  for (let seed = from; seed < from + histories; seed++) {
    const one = await runHistory(seed, new Set(), null)
    runs += one.runs
    calls += one.calls
    told++
    if (one.violation === null) continue
    failed.push(one)
    if (!all) break
  }
  const seconds = (performance.now() - began) / 1000
  process.stdout.write(
    `${told} histories, ${runs} runs, ${calls} writing calls in ${seconds.toFixed(1)} s (${(told / seconds).toFixed(1)} a second), ${failed.length} failed\n`,
  )
  if (failed.length === 0) return
  process.exitCode = 1
  process.stdout.write(`${await explain(failed[0])}\n`)
  if (!all) return
  for (const { seed, violation } of failed) process.stdout.write(`${seed}: ${violation?.split('\n')[0]}\n`)
}
