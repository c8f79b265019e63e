/** Runs the corpus in processes of its own and ends those that hang. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Line } from './worker.ts'

export interface Failure {
  seed: number
  violation: string
}

export interface Sums {
  feeds: number
  /** How many feeds led to a plan, were taken for whole, and how many deletes were planned in all. */
  planned: number
  complete: number
  deletes: number
  /** Of the largest process. */
  megabytes: number
  failures: Failure[]
}

/** Real milliseconds without a word after which a process hangs, however busy the machine is. */
const hangs = 30_000
const heapMegabytes = 200

export function startWorker(...words: string[]): ChildProcess {
  const flags = [`--max-old-space-size=${heapMegabytes}`, '--disable-warning=ExperimentalWarning']
  const program = join(import.meta.dirname, 'worker.ts')
  return spawn(process.execPath, [...flags, program, ...words], { stdio: ['pipe', 'pipe', 'pipe'] })
}

/** Ends a process that is silent for too long. */
export class Watch {
  #timer: NodeJS.Timeout
  readonly #child: ChildProcess
  expired = false

  constructor(child: ChildProcess) {
    this.#child = child
    this.#timer = this.#wait()
    child.on('close', () => clearTimeout(this.#timer))
  }

  alive(): void {
    clearTimeout(this.#timer)
    this.#timer = this.#wait()
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => {
      this.expired = true
      this.#child.kill('SIGKILL')
    }, hangs)
  }
}

/** Runs the feeds of these seeds; each process stops at its first failure. */
export async function runFleet(from: number, feeds: number, processes: number): Promise<Sums> {
  const sums: Sums = { feeds, planned: 0, complete: 0, deletes: 0, megabytes: 0, failures: [] }
  const share = Math.ceil(feeds / processes)
  const starts = Array.from({ length: processes }, (_, index) => index * share)
  await Promise.all(starts.map((start) => runShare(from + start, Math.min(share, feeds - start), sums)))
  return sums
}

async function runShare(from: number, feeds: number, sums: Sums): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-fuzz-'))
  const child = startWorker(folder, String(from), String(feeds))
  const watch = new Watch(child)
  let seed = from
  let ended = false
  let complaint = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-3000)))
  const closed = new Promise<string>((resolve) => child.on('close', (code, signal) => resolve(signal ?? String(code))))
  for await (const text of createInterface({ input: child.stdout! })) {
    watch.alive()
    const line = JSON.parse(text) as Line
    if ('at' in line) seed = line.at
    else if ('violation' in line) {
      sums.failures.push({ seed, violation: `${line.violation} (${line.preset}: ${line.done.join(', ')})` })
      ended = true
    } else {
      sums.planned += line.planned
      sums.complete += line.complete
      sums.deletes += line.deletes
      sums.megabytes = Math.max(sums.megabytes, line.megabytes)
      ended = true
    }
  }
  const end = await closed
  rmSync(folder, { recursive: true, force: true })
  if (ended) return
  const violation = watch.expired ? `hangs for ${hangs / 1000} s` : `the process died (${end}): ${complaint}`
  sums.failures.push({ seed, violation })
}
