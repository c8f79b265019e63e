/** `npm run soak -- [RUNS]`: 10,000 runs in one process on a virtual clock; prints what the process and its store hold. */
import { soak } from '../support/soak.ts'
import type { Holdings } from '../support/soak.ts'

const runs = Number(process.argv[2] ?? 10_000)
if (!Number.isInteger(runs) || runs < 10) {
  console.error('usage: npm run soak -- [number of runs, 10 at least]')
  process.exit(64)
}
const began = performance.now()
const marks = [0.01, 0.1, 0.2, 0.4, 0.6, 0.8, 1].map((share) => Math.ceil(runs * share))
const all: Holdings[] = []

console.log('    runs   heap MB  handles  descriptors  store kB   log kB  seconds  results')
await soak(runs, marks, (holdings) => {
  all.push(holdings)
  const seconds = (performance.now() - began) / 1000
  const cells = [
    String(holdings.runs).padStart(8),
    (holdings.heap / 1e6).toFixed(2).padStart(9),
    String(holdings.handles).padStart(8),
    String(holdings.descriptors ?? '').padStart(12),
    (holdings.store / 1000).toFixed(0).padStart(9),
    (holdings.log / 1000).toFixed(0).padStart(8),
    seconds.toFixed(0).padStart(8),
  ]
  console.log(`${cells.join(' ')}  ${JSON.stringify(holdings.results)}`)
})
const [, first] = all
const last = all.at(-1)!
const perRun = (last.heap - first.heap) / (last.runs - first.runs)
console.log(`heap per run after the first tenth: ${perRun.toFixed(0)} bytes   goal at most 1000`)
