/**
 * P4, and how all that a run costs grows: peak resident memory, time, calls and the store's bytes of whole runs of the
 * program, built, as it is started and without flags, each in a process of its own against a stand-in in another: the
 * backfill of an empty service, at the highest rate that a configuration may ask for, a sync in which nothing changed, one in
 * which one listing in a hundred did, and one whose store was lost.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expected, figure, inFolder, quickDisk, writeFeed } from './measure.ts'
import { configure, feedOf, programFile, startService } from './world.ts'

const sizes = process.argv[3].split(',').map(Number)
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const peaks: number[] = []
// Both at once, as peaks were the same beside other work; the times are those of a machine with two runs on it.
const peaksOfAll = async (format: 'xml' | 'csv'): Promise<void> => {
  for (const size of sizes) await peaksOf(format, size)
}
await Promise.all([peaksOfAll('xml'), peaksOfAll('csv')])
figure('P4', 'memory: the largest of all', Math.max(...peaks), 'MB', { most: 200 })
figure('P4', 'memory: largest / smallest', Math.max(...peaks) / Math.min(...peaks), '×', { most: 1.5 })

async function peaksOf(format: 'xml' | 'csv', size: number): Promise<void> {
  const service = await startService()
  await inFolder(async (folder) =>
    inFolder(async (quick) => {
      const feeds = { same: writeFeed(folder, format, size), changed: writeFeed(folder, format, size, 10) }
      const peak = async (what: string, source: string, words: string[], counts: object): Promise<void> => {
        const config = configure(
          folder,
          service.url,
          { bench: feedOf(source, format) },
          { store: join(quick, 'store.db') },
        )
        const { megabytes, seconds, counts: found } = await measured(folder, config, words)
        const { calls } = await service.told()
        for (const [kind, count] of Object.entries(counts)) expected(kind, found[kind], count)
        peaks.push(megabytes)
        const where = `${format.toUpperCase()}, ${size} listings, ${what}`
        figure('P4', `${where}: memory`, megabytes, 'MB', { most: 200 })
        figure('growth', `${where}: time`, seconds, 's')
        figure('growth', `${where}: calls`, sum(calls), '')
        figure('store', `${where}: the store`, statSync(join(quick, 'store.db')).size / size, 'bytes a listing')
      }
      const changed = Math.ceil(size / 1000) * 10
      const [backfill, sync] = ['backfill', 'sync'].map((command) => [programFile, command, '--format', 'json'])
      await peak('backfill', feeds.same, backfill, { create: size })
      // The first sync after a load notes how the service shows what it was sent.
      await peak('first sight', feeds.same, sync, { unchanged: size })
      await peak('nothing changed', feeds.same, sync, { unchanged: size })
      await peak('one in a hundred changed', feeds.changed, sync, { update: changed })
      for (const name of readdirSync(quick)) rmSync(join(quick, name))
      await peak('adoption by an empty store', feeds.changed, sync, { adopt: size })
    }, quickDisk),
  )
  await service.end()
}

function sum(calls: Readonly<Record<string, number>>): number {
  return Object.values(calls).reduce((all, number) => all + number, 0)
}

/** Runs Node on these words, without any flag, and gives the peak that the process itself reports at its end. */
async function measured(folder: string, config: string, words: string[]) {
  const peakFile = join(folder, 'peak')
  const start = performance.now()
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=${here('report-peak.mjs')}`,
      BENCH_PEAK_FILE: peakFile,
      LISTING_SYNC_CONFIG: config,
    },
  })
  // A report of a million creates is longer than a text of Node's can be; its counts come before them.
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    if (output.length < 65_536) output += more
  })
  const [status] = (await once(child, 'close')) as [number | null]
  expected(`status of ${words.join(' ')}`, status, 0)
  const seconds = (performance.now() - start) / 1000
  const [, counts] = /"counts":\s*(\{[^}]*\})/.exec(output)!
  return {
    megabytes: Number(readFileSync(peakFile, 'utf8')) / 1024,
    seconds,
    counts: JSON.parse(counts) as Record<string, number>,
  }
}
