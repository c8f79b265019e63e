/**
 * P4: peak resident memory of whole runs of the program, each in a process of its own against a stand-in in another: the
 * backfill of an empty service, a sync in which nothing changed, and one in which one listing in a hundred did.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { inFolder, ratio, writeFeed } from './measure.ts'

const sizes = process.argv[3].split(',').map(Number)
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const program = here('../../bin/listing-sync.mjs')

interface Peak {
  what: string
  megabytes: number
}

const peaks: Peak[] = []
for (const format of ['xml', 'csv'] as const) for (const size of sizes) peaks.push(...(await peaksOf(format, size)))
const megabytes = peaks.map((peak) => peak.megabytes)
ratio('largest of all, MB', Math.max(...megabytes), 'at most 200')
ratio('largest / smallest', Math.max(...megabytes) / Math.min(...megabytes), 'at most 1.5')

async function peaksOf(format: 'xml' | 'csv', size: number): Promise<Peak[]> {
  const found: Peak[] = []
  await inFolder(async (folder) => {
    const feeds = { same: writeFeed(folder, format, size), changed: writeFeed(folder, format, size, 10) }
    const standIn = spawn(process.execPath, [program, 'stand-in', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = (await once(createInterface(standIn.stdout), 'line')) as [string]
      const baseUrl = /http:\S+/.exec(line)![0]
      const peak = async (what: string, ...words: string[]): Promise<void> => {
        const { megabytes: used, seconds } = await measured(folder, words)
        found.push({ what, megabytes: used })
        const label = `memory ${format}, ${size} listings, ${what}`
        console.log(`${label.padEnd(62)} ${used.toFixed(0).padStart(8)} MB ${seconds.toFixed(1).padStart(8)} s`)
      }
      configure(folder, format, baseUrl, feeds.same)
      await peak('backfill', here('backfill.ts'), join(folder, 'listing-sync.yaml'))
      // The first sync after a load notes how the service shows what it was sent.
      await peak('first sight', program, 'sync', '--format', 'json')
      await peak('nothing changed', program, 'sync', '--format', 'json')
      configure(folder, format, baseUrl, feeds.changed)
      await peak('one in a hundred changed', program, 'sync', '--format', 'json')
    } finally {
      await ended(standIn)
    }
  })
  return found
}

function configure(folder: string, format: 'xml' | 'csv', baseUrl: string, source: string): void {
  const preset = format === 'xml' ? 'zillow' : 'reso-csv'
  const config = {
    service: { baseUrl, secretKey: 'bench', rate: 1000, concurrency: 8 },
    store: join(folder, 'store.db'),
    feeds: { bench: { chatbot: 'BENCH', source, preset } },
  }
  writeFileSync(join(folder, 'listing-sync.yaml'), stringify(config))
}

/** Runs Node on these words and gives the peak that the process itself reports at its end. Throws unless it ends well. */
async function measured(folder: string, words: string[]): Promise<{ megabytes: number; seconds: number }> {
  const peakFile = join(folder, 'peak')
  const start = performance.now()
  const child = spawn(process.execPath, ['--import', here('report-peak.ts'), ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, BENCH_PEAK_FILE: peakFile, LISTING_SYNC_CONFIG: join(folder, 'listing-sync.yaml') },
  })
  const [status] = (await once(child, 'exit')) as [number | null]
  if (status !== 0) throw new Error(`${words.join(' ')} ended with status ${status}`)
  return { megabytes: Number(readFileSync(peakFile, 'utf8')) / 1024, seconds: (performance.now() - start) / 1000 }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}
