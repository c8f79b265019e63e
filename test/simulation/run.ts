/** `node test/simulation/run.ts --histories N --from SEED [--all]`: many histories; the first that fails, or a count of all that do. */
import { parseArgs } from 'node:util'
import { runHistory } from './history.ts'
import type { Told } from './history.ts'
import { explain } from './shrink.ts'

const { values } = parseArgs({
  options: { histories: { type: 'string' }, from: { type: 'string' }, all: { type: 'boolean' } },
})
const histories = Number(values.histories ?? 1000)
const from = Number(values.from ?? 0)
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
  if (values.all !== true) break
}
const seconds = (performance.now() - began) / 1000
process.stdout.write(
  `${told} histories, ${runs} runs, ${calls} writing calls in ${seconds.toFixed(1)} s (${Math.round(told / seconds)} a second), ${failed.length} failed\n`,
)
if (failed.length > 0) {
  process.stdout.write(`${await explain(failed[0])}\n`)
  if (values.all === true) {
    for (const { seed, violation } of failed) process.stdout.write(`${seed}: ${violation?.split('\n')[0]}\n`)
  }
  process.exitCode = 1
}
