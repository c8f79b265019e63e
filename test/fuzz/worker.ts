/**
 * A process that runs feeds, so that another one can end it when it hangs or grows. It tells what it is at by lines of
 * JSON: `node worker.ts FOLDER FROM FEEDS [hostile]` runs seeds, `node worker.ts FOLDER PRESET` the files whose paths it is sent.
 */
import { readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Corpus } from './fuzz.ts'

/** What a worker says: which seed it begins, what is wrong with one, and its sums at the end. */
export type Line =
  | { at: number }
  | { seed: number | null; violation: string | null; preset: string; done: string[] }
  | { planned: number; complete: number; deletes: number; megabytes: number }

/** Most memory of the whole process, in megabytes; a heap of `--max-old-space-size` is part of it. */
const mostMegabytes = 480

/** Written at once: what is begun must be known however the process ends. */
function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

function megabytes(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}

async function runSeeds(corpus: Corpus, from: number, feeds: number, hostile: boolean): Promise<void> {
  const sums = { planned: 0, complete: 0, deletes: 0 }
  for (let seed = from; seed < from + feeds; seed++) {
    say({ at: seed })
    const { preset, bytes, done } = hostile ? corpus.hostile(seed) : corpus.feed(seed)
    const verdict = await corpus.judge(preset, bytes)
    sums.planned += Number(verdict.planned)
    sums.complete += Number(verdict.complete)
    sums.deletes += verdict.deletes
    const violation =
      verdict.violation ??
      (hostile && verdict.deletes > 0 ? `${verdict.deletes} deletes` : null) ??
      (megabytes() > mostMegabytes ? `memory: ${megabytes()} MB` : null)
    if (violation !== null) return say({ seed, violation, preset, done })
  }
  say({ ...sums, megabytes: megabytes() })
}

async function runFiles(corpus: Corpus, preset: string): Promise<void> {
  for await (const path of createInterface({ input: process.stdin })) {
    const { violation } = await corpus.judge(preset, readFileSync(path))
    say({ seed: null, violation: violation ?? (megabytes() > mostMegabytes ? 'memory' : null), preset, done: [] })
  }
}

const [folder, first, feeds, kind] = process.argv.slice(2)
if (feeds === undefined) await runFiles(await Corpus.open(folder, [first]), first)
else await runSeeds(await Corpus.open(folder), Number(first), Number(feeds), kind === 'hostile')
