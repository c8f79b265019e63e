/** Runs the corpus in processes of its own and ends those that hang. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Line, Sums } from './worker.ts'

export interface Failure {
  seed: number
  violation: string
}

/** Of all processes; memory and the longest run are the most of any. */
export interface FleetSums extends Sums {
  failures: Failure[]
}

/**
 * Milliseconds of processor time without a word after which a process hangs: a busy machine gives it little, and is no
 * reason. Where the system does not say how much it had, and for what waits without using any: of real time.
 */
const hangs = { processor: 30_000, real: 600_000 }
const heapMegabytes = 200

export function startWorker(...words: string[]): ChildProcess {
  const flags = [`--max-old-space-size=${heapMegabytes}`, '--disable-warning=ExperimentalWarning']
  const program = join(import.meta.dirname, 'worker.ts')
  return spawn(process.execPath, [...flags, program, ...words], { stdio: ['pipe', 'pipe', 'pipe'] })
}

/** Milliseconds of processor time that a process has had; null where the system does not say. */
function processorTime(pid: number): number | null {
  try {
    // In ticks of 10 ms, the 14th and 15th value of the line; the 2nd, the name, may hold anything.
    const values = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')
    return (Number(values[11]) + Number(values[12])) * 10
  } catch {
    return null
  }
}

/** Ends a process that is silent for too long. */
export class Watch {
  readonly #child: ChildProcess
  #last!: { real: number; processor: number }
  expired = false

  constructor(child: ChildProcess) {
    this.#child = child
    this.alive()
    const timer = setInterval(() => this.#look(), 1000)
    child.on('close', () => clearInterval(timer))
  }

  /** The process has said something. */
  alive(): void {
    this.#last = { real: performance.now(), processor: processorTime(this.#child.pid!) ?? 0 }
  }

  #look(): void {
    const processor = (processorTime(this.#child.pid!) ?? 0) - this.#last.processor
    if (processor < hangs.processor && performance.now() - this.#last.real < hangs.real) return
    this.expired = true
    this.#child.kill('SIGKILL')
  }
}

/** Runs the feeds of these seeds, broken ones or, by grammar, hostile ones; each process stops at its first failure. */
export async function runFleet(from: number, feeds: number, processes: number, hostile = false): Promise<FleetSums> {
  const none: Sums = { planned: 0, complete: 0, deletes: 0, megabytes: 0, longest: { took: 0, seed: from }, ends: {} }
  const sums = { ...none, failures: [] }
  const share = Math.ceil(feeds / processes)
  const starts = Array.from({ length: processes }, (_, index) => index * share)
  await Promise.all(starts.map((start) => runShare(from + start, Math.min(share, feeds - start), sums, hostile)))
  return sums
}

async function runShare(from: number, feeds: number, sums: FleetSums, hostile: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-fuzz-'))
  const child = startWorker(folder, String(from), String(feeds), ...(hostile ? ['hostile'] : []))
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
      if (line.longest.took > sums.longest.took) sums.longest = line.longest
      for (const [end, runs] of Object.entries(line.ends)) sums.ends[end] = (sums.ends[end] ?? 0) + runs
      ended = true
    }
  }
  const end = await closed
  rmSync(folder, { recursive: true, force: true })
  if (ended) return
  const violation = watch.expired
    ? `hangs for ${hangs.processor / 1000} s of processor time`
    : `the process died (${end}): ${complaint}`
  sums.failures.push({ seed, violation })
}
