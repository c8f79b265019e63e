/**
 * `npm run simulate:live -- --histories N --from SEED [--all]`: many histories of live sources; the first that fails, or all
 * that do, and how much happened in them. Ends with 1 where one fails.
 */
import { parseArgs } from 'node:util'
import { history, nothing } from './histories.ts'

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
  },
})
const [histories, from] = [Number(values.histories), Number(values.from)]
if (![histories, from].every((number) => Number.isInteger(number) && number >= 0))
  throw new Error('--histories and --from take whole numbers')
const began = performance.now()
const total = nothing()
let [played, failed] = [0, 0]
const tell = (): string => {
  const seconds = (performance.now() - began) / 1000
  const figures = Object.entries(total).map(([name, number]) => `${name} ${number}`)
  return `${played} histories from ${from} in ${seconds.toFixed(1)} s, ${failed} failed: ${figures.join(', ')}\n`
}
for (let seed = from; seed < from + histories && (failed === 0 || values.all); seed++) {
  try {
    const figures = await history(seed)
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += figures[name]
  } catch (error) {
    failed++
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`)
  }
  played++
  if (played % 1000 === 0) process.stderr.write(tell())
}
process.stdout.write(tell())
process.exitCode = failed === 0 ? 0 : 1
