/**
 * P4: peak resident memory of whole runs of the program, built and started as in the container, each in a process of its
 * own against a stand-in in another: the backfill of an empty service, a sync in which nothing changed, and one in which
 * one listing in a hundred did.
 */
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { inFolder, ratio, writeFeed } from './measure.ts'

const sizes = process.argv[3].split(',').map(Number)
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const repository = here('../..')

await inFolder(async (built) => {
  build(built)
  const megabytes: number[] = []
  for (const format of ['xml', 'csv'] as const) {
    for (const size of sizes) megabytes.push(...(await peaksOf(built, format, size)))
  }
  ratio('memory: the largest of all, MB', Math.max(...megabytes), 'at most 200')
  ratio('memory: largest / smallest', Math.max(...megabytes) / Math.min(...megabytes), 'at most 1.5')
})

/** The program as it is published, in a folder of its own. */
function build(folder: string): void {
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const options = ['-p', join(repository, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')]
  execFileSync(process.execPath, [compiler, ...options])
  for (const part of ['bin', 'config', 'package.json'])
    cpSync(join(repository, part), join(folder, part), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
}

/** What the container gives Node beside the program. */
function nodeOptions(): string[] {
  const entry = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(repository, 'Dockerfile'), 'utf8'))!
  return (JSON.parse(entry[1]) as string[]).filter((word) => word.startsWith('--'))
}

async function peaksOf(built: string, format: 'xml' | 'csv', size: number): Promise<number[]> {
  const program = join(built, 'bin/listing-sync.mjs')
  const found: number[] = []
  await inFolder(async (folder) => {
    // Where there is one, a disk in memory: each call is noted on disk twice, and waiting for that is all a backfill does.
    const quick = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'listing-sync-bench-'))
    const store = join(quick, 'store.db')
    const feeds = { same: writeFeed(folder, format, size), changed: writeFeed(folder, format, size, 10) }
    const standIn = spawn(process.execPath, [program, 'stand-in', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = (await once(createInterface(standIn.stdout), 'line')) as [string]
      const baseUrl = /http:\S+/.exec(line)![0]
      const peak = async (what: string, ...words: string[]): Promise<void> => {
        const { megabytes: used, seconds } = await measured(folder, words)
        found.push(used)
        const label = `memory ${format}, ${size} listings, ${what}`
        console.log(`${label.padEnd(62)} ${used.toFixed(0).padStart(8)} MB ${seconds.toFixed(1).padStart(8)} s`)
      }
      configure(folder, store, format, baseUrl, feeds.same)
      await peak('backfill', here('backfill.mjs'), built, join(folder, 'listing-sync.yaml'))
      // The first sync after a load notes how the service shows what it was sent.
      await peak('first sight', program, 'sync', '--format', 'json')
      await peak('nothing changed', program, 'sync', '--format', 'json')
      configure(folder, store, format, baseUrl, feeds.changed)
      await peak('one in a hundred changed', program, 'sync', '--format', 'json')
    } finally {
      await ended(standIn)
      rmSync(quick, { recursive: true, force: true })
    }
  })
  return found
}

function configure(folder: string, store: string, format: 'xml' | 'csv', baseUrl: string, source: string): void {
  const preset = format === 'xml' ? 'zillow' : 'reso-csv'
  const config = {
    service: { baseUrl, secretKey: 'bench', rate: 1000, concurrency: 8 },
    store,
    feeds: { bench: { chatbot: 'BENCH', source, preset } },
  }
  writeFileSync(join(folder, 'listing-sync.yaml'), stringify(config))
}

/** Runs Node on these words and gives the peak that the process itself reports at its end. Throws unless it ends well. */
async function measured(folder: string, words: string[]): Promise<{ megabytes: number; seconds: number }> {
  const peakFile = join(folder, 'peak')
  const start = performance.now()
  const child = spawn(process.execPath, [...nodeOptions(), '--import', here('report-peak.mjs'), ...words], {
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
