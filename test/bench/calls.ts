/** P6 and P7 at the server: which calls it got for a run, and when they came, also while the machine has other work. */
import { spawn } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { expected, figure, inFolder, mostInASecond, writeFeed } from './measure.ts'
import { configure, feedOf, openProgram, pageSize, startService } from './world.ts'
import type { Service } from './world.ts'

const [, , , size] = process.argv
const records = Number(size)
const rate = 50

/** When calls were written to their sockets: between that and the server lies what else the machine has to do. */
const left: number[] = []
subscribe('undici:client:sendHeaders', () => void left.push(Date.now()))

/** A whole run; `sync` at the rate of the file, a backfill at that of this bench. */
async function run(file: string, command: 'sync' | 'backfill') {
  const program = await openProgram(file, command === 'sync' ? null : rate)
  const report = await program.run(command)
  await program.app.close()
  return report
}

const feed = (folder: string, service: Service, count: number, changed = 0): string =>
  configure(folder, service.url, { bench: feedOf(writeFeed(folder, 'xml', count, changed), 'xml') }, { rate })

/** Loads the listings at 50 a second and tells when the server saw the calls. */
async function load(folder: string, service: Service, count: number, where = ''): Promise<void> {
  left.length = 0
  const before = process.cpuUsage()
  await run(feed(folder, service, count), 'backfill')
  const { user, system } = process.cpuUsage(before)
  const { calls, starts } = await service.told()
  expected('creates', calls.Create, count)
  const seconds = (starts.at(-1)! - starts[0]) / 1000
  const share = (starts.length - 1) / (rate * seconds)
  figure('P7', `${rate}/s at the server${where}: calls / (rate × time)`, share, '×', { least: 0.99 })
  if (where === '') figure('P3', `first load at ${rate}/s: a core`, (user + system) / 1e4 / seconds, '%', { most: 25 })
  // On a busy machine the server is late itself.
  const most = where === '' ? { most: rate + 1 } : null
  figure('P7', `${rate}/s at the server${where}: most in a second`, mostInASecond(starts), 'calls', most)
  figure('P7', `${rate}/s leaving this process${where}: most in a second`, mostInASecond(left), 'calls', {
    most: rate + 1,
  })
}

/** What a run of a changed feed may call, and how often it did. */
async function exactly(folder: string, service: Service): Promise<void> {
  await run(feed(folder, service, records), 'sync')
  await service.told()
  const same = await run(feed(folder, service, records), 'sync')
  expected('unchanged listings', [same.counts.unchanged, same.remote.listings], [records, records])
  const { calls: unchanged } = await service.told()
  const pages = Math.ceil(records / pageSize)
  figure('P6', 'nothing changed: calls beside the pages of one walk', sum(unchanged) - pages, '', { most: 1 })
  // A tenth is gone, some prices changed, nothing is new.
  const stay = Math.ceil(records * 0.9)
  const { counts, remote } = await run(feed(folder, service, stay, 10), 'sync')
  const dearer = Array.from({ length: stay }, (_, number) => number % 1000).filter((number) => number < 10)
  const { create, update, delete: deletes } = counts
  expected('the plan', [create, update, deletes], [0, dearer.length, records - stay])
  expected('listings of the list', remote.listings, records)
  const { calls } = await service.told()
  expected('writing calls', [calls.Create, calls.Update, calls.Delete], [0, update, Math.ceil(deletes / 50)])
  const writes = create + update
  figure(
    'P6',
    'writing calls / (creates + updates + ⌈deletes / batch⌉)',
    (sum(calls) - calls.List) / (writes + Math.ceil(deletes / 50)),
    '×',
    { most: 1 },
  )
  // What was written is looked at: the pages once more, or two calls a listing.
  const looks = Math.min(2 * writes, Math.max(remote.pages, pages))
  figure(
    'P6',
    'List calls beside the pages of one walk and of the look at what was written',
    calls.List - Math.max(remote.pages, pages) - looks,
    '',
    { most: 1 },
  )
}

const sum = (calls: object): number => Object.values(calls as Record<string, number>).reduce((a, b) => a + b, 0)

const service = await startService()
await inFolder(async (folder) => {
  await load(folder, service, records)
  await exactly(folder, service)
})
await service.end()

// As many processes that do nothing but work as there are processors.
const busy = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']))
const other = await startService()
try {
  await inFolder((folder) => load(folder, other, Math.ceil(records / 2), ', all processors busy'))
} finally {
  for (const child of busy) child.kill('SIGKILL')
  await Promise.all(busy.map((child) => once(child, 'exit')))
}
await other.end()
