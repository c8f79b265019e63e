/** One feed of the corpus, by its seed: broken, run through the program, checked. */
import { pick, seeded } from '../support/random.ts'
import { patience, violation } from './check.ts'
import { presetNames, smallLimits } from './feeds.ts'
import { hostileDelivery } from './hostile.ts'
import { mutated } from './mutations.ts'
import { FuzzWorld } from './world.ts'

export interface Fuzzed {
  preset: string
  bytes: Buffer
  /** The mutations, in their order. */
  done: string[]
}

export interface Verdict {
  /** null: all is well. */
  violation: string | null
  /** Whether there was a plan, and whether the delivery was taken for whole. */
  planned: boolean
  complete: boolean
  deletes: number
  /** Those of listings that no record says are gone. */
  unasked: number
  /** Milliseconds that the run took, of real time. */
  took: number
}

/** Everything that the feeds of a process share. */
export class Corpus {
  readonly #worlds: Map<string, FuzzWorld>

  private constructor(worlds: Map<string, FuzzWorld>) {
    this.#worlds = worlds
  }

  /** `folder` takes the deliveries; `presets` are those that feeds can be judged of. */
  static async open(folder: string, presets: readonly string[] = presetNames, limits = smallLimits): Promise<Corpus> {
    const worlds = new Map<string, FuzzWorld>()
    for (const preset of presets) worlds.set(preset, await FuzzWorld.open(preset, folder, limits))
    return new Corpus(worlds)
  }

  /** The feed of a seed: always the same one. */
  feed(seed: number): Fuzzed {
    const random = seeded(seed)
    const preset = presetNames[seed % presetNames.length]
    const { sound } = this.#worlds.get(preset)!
    const other = this.#worlds.get(pick(random, presetNames))!.sound
    return { preset, ...mutated({ sound, other, random }) }
  }

  /** The format of a preset. */
  format(preset: string): string {
    return this.#worlds.get(preset)!.sound.format
  }

  /** The hostile delivery of a seed, made by grammar for one of the corpus' presets. */
  hostile(seed: number): Fuzzed {
    const presets = [...this.#worlds.keys()]
    const preset = presets[seed % presets.length]
    return { preset, ...hostileDelivery(this.#worlds.get(preset)!.sound, seeded(seed)) }
  }

  /** Runs bytes as a delivery of a preset and judges what became of it. */
  async judge(preset: string, bytes: Buffer): Promise<Verdict> {
    const world = this.#worlds.get(preset)!
    const began = performance.now()
    try {
      const report = await world.run(bytes)
      const took = performance.now() - began
      const size = Math.max(bytes.length, report.delivery.bytes)
      const slow = took > patience(size) ? await slowness(world, bytes, size) : null
      return {
        violation: slow ?? violation(world, bytes, report),
        planned: report.result !== 'failed',
        complete: report.delivery.complete,
        deletes: report.counts.delete,
        unasked: report.changes.filter(({ kind, cause }) => kind === 'delete' && cause !== 'feed-says-so').length,
        took,
      }
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
      return {
        violation: `crashed: ${message}`,
        planned: false,
        complete: false,
        deletes: 0,
        unasked: 0,
        took: performance.now() - began,
      }
    }
  }
}

/** On a busy machine everything takes long; what counts is the processor time. */
async function slowness(world: FuzzWorld, bytes: Buffer, size: number): Promise<string | null> {
  const before = process.cpuUsage()
  await world.run(bytes)
  const { user, system } = process.cpuUsage(before)
  const spent = (user + system) / 1000
  return spent > patience(size) ? `took ${Math.round(spent)} ms for ${size} bytes` : null
}
