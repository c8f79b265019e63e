/**
 * A process that runs feeds, so that another one can end it when it hangs or grows. It tells what it is at by lines of
 * JSON: `node worker.ts FOLDER FROM FEEDS [hostile]` runs seeds, `node worker.ts FOLDER PRESET` the files whose paths it is sent.
 */
import { readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { presetNames, usualLimits } from './feeds.ts'
import { Corpus } from './fuzz.ts'

/** What runs came to. */
export interface Sums {
  /** How many feeds led to a plan, were taken for whole, and how many deletes were planned in all. */
  planned: number
  complete: number
  deletes: number
  /** Most memory of the process. */
  megabytes: number
  /** Milliseconds of the longest run, and its seed. */
  longest: { took: number; seed: number }
  /** How many runs ended how, by format: "xml refused", "csv cut", "blm whole". */
  ends: Record<string, number>
}

/** What a worker says: which seed it begins, what is wrong with one, and its sums at the end. */
export type Line =
  | { at: number }
  | { seed: number | null; violation: string | null; preset: string; done: string[] }
  | Sums

/**
 * Megabytes that a process may grow by once its worlds are open: with one of them, which takes 140, it stays below 512. A heap of
 * `--max-old-space-size` is part of it.
 */
const mostGrown = 370

/** Written at once: what is begun must be known however the process ends. */
function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

function megabytes(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}

/** Why the process has grown too far; null: it has not. */
function overgrown(most: number): string | null {
  const now = megabytes()
  return now > most ? `memory: at most ${most} MB are allowed, ${now} are used` : null
}

async function runSeeds(corpus: Corpus, from: number, feeds: number, hostile: boolean): Promise<void> {
  const sums: Sums = { planned: 0, complete: 0, deletes: 0, megabytes: 0, longest: { took: 0, seed: from }, ends: {} }
  const most = megabytes() + mostGrown
  for (let seed = from; seed < from + feeds; seed++) {
    say({ at: seed })
    const { preset, bytes, done } = hostile ? corpus.hostile(seed) : corpus.feed(seed)
    const { planned, complete, deletes, unasked, took, ...verdict } = await corpus.judge(preset, bytes)
    sums.planned += Number(planned)
    sums.complete += Number(complete)
    sums.deletes += deletes
    sums.megabytes = megabytes()
    if (took > sums.longest.took) sums.longest = { took, seed }
    const end = `${corpus.format(preset)} ${planned ? (complete ? 'whole' : 'cut') : 'refused'}`
    sums.ends[end] = (sums.ends[end] ?? 0) + 1
    const violation =
      verdict.violation ??
      (hostile && unasked > 0 ? `${unasked} deletes that no record asks for` : null) ??
      overgrown(most)
    if (violation !== null) return say({ seed, violation, preset, done })
  }
  say(sums)
}

async function runFiles(corpus: Corpus, preset: string): Promise<void> {
  const most = megabytes() + mostGrown
  for await (const path of createInterface({ input: process.stdin })) {
    const { violation } = await corpus.judge(preset, readFileSync(path))
    say({ seed: null, violation: violation ?? overgrown(most), preset, done: [] })
  }
}

const [folder, first, feeds, kind] = process.argv.slice(2)
if (feeds === undefined) await runFiles(await Corpus.open(folder, [first]), first)
else {
  const hostile = kind === 'hostile'
  const corpus = await (hostile ? Corpus.open(folder, presetNames, usualLimits) : Corpus.open(folder))
  await runSeeds(corpus, Number(first), Number(feeds), hostile)
}
