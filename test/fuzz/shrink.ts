/** Makes the input of a failure small: pieces are taken out as long as the same goes wrong. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Watch, startWorker } from './fleet.ts'
import type { Failure } from './fleet.ts'
import { Corpus } from './fuzz.ts'
import type { Line } from './worker.ts'

/** Inputs tried at most: what hangs takes its time each time. */
const mostTries = 400
const mostHangs = 10

/** Judges bytes in a process of its own, which may hang or die of it. */
class Judge {
  readonly #folder: string
  readonly #preset: string
  #child: ChildProcess | null = null
  #lines: AsyncIterator<string> | null = null
  #watch: Watch | null = null
  hangs = 0

  constructor(folder: string, preset: string) {
    this.#folder = folder
    this.#preset = preset
  }

  async ask(bytes: Buffer): Promise<string | null> {
    if (this.#child === null) {
      this.#child = startWorker(this.#folder, this.#preset)
      this.#child.stderr!.resume()
      this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]()
      this.#watch = new Watch(this.#child)
    }
    const path = join(this.#folder, 'input')
    writeFileSync(path, bytes)
    this.#watch!.alive()
    this.#child.stdin!.write(`${path}\n`)
    const { done, value } = await this.#lines!.next()
    if (done !== true) return (JSON.parse(value) as Extract<Line, { violation: unknown }>).violation
    this.#child = null
    if (this.#watch!.expired) this.hangs++
    return this.#watch!.expired ? 'hangs' : 'the process died'
  }

  end(): void {
    this.#child?.kill('SIGKILL')
  }
}

/** What goes wrong, without the numbers and values of this one input. */
function kindOf(violation: string): string {
  return violation.slice(0, 24).replaceAll(/\d+/g, 'N')
}

/** The failure with a small input that shows it, which is kept in a temporary folder. One at a time. */
export async function explained(failure: Failure): Promise<string> {
  const { seed, violation } = failure
  return `seed ${seed}: ${violation}\n  a small input: ${await shrunkenInput(failure)}`
}

async function shrunkenInput({ seed, violation }: Failure): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-fuzz-'))
  const corpus = await Corpus.open(folder)
  const { preset, bytes } = corpus.feed(seed)
  const judge = new Judge(folder, preset)
  let best = bytes
  let tries = 0
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < best.length && tries < mostTries && judge.hangs < mostHangs; tries++) {
      const tried = Buffer.concat([best.subarray(0, start), best.subarray(start + size)])
      const found = await judge.ask(tried)
      if (found !== null && kindOf(found) === kindOf(violation)) best = tried
      else start += size
    }
  }
  judge.end()
  const kept = mkdtempSync(join(tmpdir(), 'listing-sync-fuzz-found-'))
  const path = join(kept, `${preset}-seed-${seed}`)
  writeFileSync(path, best)
  rmSync(folder, { recursive: true, force: true })
  return path
}
