/** `npm run fuzz -- --feeds N --from SEED [--processes N]`, or `--hostile N`: many broken or hostile feeds; the first failures, of broken feeds with a small input. */
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
  const sums = await runFleet(from + done, count, processes, isHostile)
  const { planned, complete, deletes, megabytes, longest, ends, failures } = sums
  const seconds = (performance.now() - began) / 1000
  const rate = ((done + count) / seconds).toFixed(1)
  process.stdout.write(
    `${done + count} feeds in ${seconds.toFixed(1)} s (${rate} a second): of the seeds from ${from + done} to ${from + done + count - 1}, ${planned} planned, ${complete} complete, ${deletes} deletes, ${megabytes} MB at most, ${Math.round(longest.took)} ms at most (seed ${longest.seed}), ${failures.length} failed\n`,
  )
  const counts = Object.entries(ends).toSorted(([text], [other]) => text.localeCompare(other))
  process.stdout.write(`${counts.map(([end, runs]) => `${end} ${runs}`).join(', ')}\n`)
  for (const { seed, violation } of failures) process.stdout.write(`seed ${seed}: ${violation}\n`)
  if (!isHostile) for (const failure of failures) process.stdout.write(`${await explained(failure)}\n`)
  if (failures.length > 0) {
    process.exitCode = 1
    break
  }
}
