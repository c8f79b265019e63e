/** SIGTERM while the program reads a hostile delivery, at any moment: it ends within the ten seconds of a container. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seeded, testSeed } from '../support/random.ts'
import { RunWorld } from '../support/run-world.ts'
import { slowness, tell } from '../support/signals.ts'
import { Corpus } from './fuzz.ts'

const from = testSeed(0)
const samples = 10

let folder: string
let corpus: Corpus
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-fuzz-'))
  corpus = await Corpus.open(folder, ['zillow', 'blm', 'rets-compact', 'reso-csv'])
})
afterAll(() => rmSync(folder, { recursive: true }))

test(`${samples} hostile deliveries from seed ${from}: SIGTERM ends the program at any moment`, async () => {
  let running = 0
  for (let seed = from; seed < from + samples; seed++) {
    const random = seeded(seed)
    const { preset, bytes } = corpus.hostile(seed)
    const world = await RunWorld.start({ feeds: { north: { preset } }, standIn: { now: () => Date.now() } })
    world.deliver(bytes)
    const limit = 10_000 * slowness()
    let hung = false
    await world.started(async (child) => {
      await delay(300 + random() * 1200)
      if (child.exitCode !== null) return
      running++
      await tell(child.pid!, 'SIGTERM').catch(() => undefined)
      for (let waited = 0; waited < limit && child.exitCode === null && child.signalCode === null; waited += 50)
        await delay(50)
      hung = child.exitCode === null && child.signalCode === null
      if (hung) child.kill('SIGKILL')
    }, 'sync')
    expect(hung, `seed ${seed} goes on after SIGTERM`).toBe(false)
    expect(world.standIn.counts.Delete, `seed ${seed}`).toBe(0)
    await world.end()
  }
  // Else nothing is tried.
  expect(running).toBeGreaterThan(samples / 3)
})
