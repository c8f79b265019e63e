/** P6 and P7 at the server: which calls it got for a run, and when they came. */
import { expected, figure, inFolder, writeFeed } from './measure.ts'
import { configure, feedOf, openProgram, pageSize, startService } from './world.ts'

const [, , , size] = process.argv
const records = Number(size)
const rate = 50

await inFolder(async (folder) => {
  const service = await startService()
  const feed = (count: number, changed = 0) =>
    configure(folder, service.url, { bench: feedOf(writeFeed(folder, 'xml', count, changed), 'xml') }, { rate })
  const run = async (file: string, command: 'sync' | 'backfill') => {
    const program = await openProgram(file, command === 'sync' ? null : rate)
    const report = await program.run(command)
    await program.app.close()
    return report
  }
  await run(feed(records), 'backfill')
  const { calls: loaded, starts } = await service.told()
  expected('creates', loaded.Create, records)
  const seconds = (starts.at(-1)! - starts[0]) / 1000
  figure('P7', `${rate}/s at the server: calls / (rate × time)`, (starts.length - 1) / (rate * seconds), '×', {
    least: 0.99,
  })
  figure('P7', `${rate}/s at the server: most in a second`, mostInASecond(starts), 'calls', { most: rate + 1 })
  await run(feed(records), 'sync')
  await service.told()
  // A tenth is gone, some prices changed, nothing is new.
  const left = Math.ceil(records * 0.9)
  const { counts, remote } = await run(feed(left, 10), 'sync')
  expected('deletes of the plan', counts.delete, records - left)
  const { calls } = await service.told()
  const least = counts.create + counts.update + Math.ceil(counts.delete / 50)
  figure(
    'P6',
    'writing calls / (creates + updates + ⌈deletes / batch⌉)',
    (calls.Create + calls.Update + calls.Delete) / least,
    '×',
    { most: 1 },
  )
  figure(
    'P6',
    'List calls beside the pages of one walk',
    calls.List - Math.max(remote.pages, Math.ceil(records / pageSize)),
    '',
    { most: 1 },
  )
  await service.end()
})

function mostInASecond(starts: readonly number[]): number {
  let most = 0
  for (let first = 0, last = 0; last < starts.length; last++) {
    while (starts[last] - starts[first] >= 1000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
