/** `npm run fuzz -- --feeds N --from SEED [--processes N]`, or `--hostile N`: many broken or hostile feeds; the first failures, each with a small input. */
import { parseArgs } from 'node:util'
import { runFleet } from './fleet.ts'
import { explained } from './shrink.ts'

const { values } = parseArgs({
  options: {
    feeds: { type: 'string' },
    hostile: { type: 'string' },
    from: { type: 'string' },
    processes: { type: 'string' },
  },
})
const feeds = Number(values.hostile ?? values.feeds ?? 10_000)
const isHostile = values.hostile !== undefined
const from = Number(values.from ?? 0)
const processes = Number(values.processes ?? 2)
/** So many at a time: processes do not grow old, and the rate is told on the way. */
const portion = 20_000

const began = performance.now()
for (let done = 0; done < feeds; done += portion) {
  const count = Math.min(portion, feeds - done)
  const { planned, complete, deletes, megabytes, failures } = await runFleet(from + done, count, processes, isHostile)
  const seconds = (performance.now() - began) / 1000
  const rate = Math.round((done + count) / seconds)
  process.stdout.write(
    `${done + count} feeds in ${seconds.toFixed(1)} s (${rate} a second): of the last ${count}, ${planned} planned, ${complete} complete, ${deletes} deletes, ${megabytes} MB at most, ${failures.length} failed\n`,
  )
  for (const { seed, violation } of failures) process.stdout.write(`seed ${seed}: ${violation}\n`)
  if (!isHostile) for (const failure of failures) process.stdout.write(`${await explained(failure)}\n`)
  if (failures.length > 0) {
    process.exitCode = 1
    break
  }
}
