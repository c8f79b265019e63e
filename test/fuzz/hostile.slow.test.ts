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

/** How a sync of these bytes ends that is told to after so many milliseconds: it was through before, it hears, or it does not. */
async function outcomeOf(preset: string, bytes: Buffer, after: number): Promise<'through' | 'hears' | 'deaf'> {
  const world = await RunWorld.start({ feeds: { north: { preset } }, standIn: { now: () => Date.now() } })
  world.deliver(bytes)
  const limit = 10_000 * slowness()
  let end: 'through' | 'hears' | 'deaf' = 'through'
  await world.started(async (child) => {
    const isThrough = (): boolean => child.exitCode !== null || child.signalCode !== null
    await delay(after)
    if (isThrough()) return
    await tell(child.pid!, 'SIGTERM').catch(() => undefined)
    for (let waited = 0; waited < limit && !isThrough(); waited += 50) await delay(50)
    end = isThrough() ? 'hears' : 'deaf'
    child.kill('SIGKILL')
  }, 'sync')
  expect(world.standIn.counts.Delete).toBe(0)
  await world.end()
  return end
}

test(`${samples} hostile deliveries from seed ${from}: SIGTERM ends the program at any moment`, async () => {
  const ends: string[] = []
  for (let seed = from; seed < from + samples; seed++) {
    const { preset, bytes } = corpus.hostile(seed)
    const end = await outcomeOf(preset, bytes, 100 + seeded(seed)() * 700 * slowness())
    expect(end, `seed ${seed}`).not.toBe('deaf')
    ends.push(end)
  }
  // Else nothing is tried; how many are through before depends on the machine.
  expect(ends).toContain('hears')
})

/** Documents of which a quiet machine reads far more than ten seconds: what does not hear the signal goes on. */
const endless: Record<string, { preset: string; head: string; record: string; records: number }> = {
  'records that lack everything': { preset: 'zillow', head: '<Listings>', record: '<Listing/>', records: 900_000 },
  'records of a second each': {
    preset: 'zillow',
    head: '<Listings>',
    record: `<Listing>${'<!-- x -->'.repeat(100_000)}</Listing>`,
    records: 80,
  },
  'rows with too many cells': {
    preset: 'reso-csv',
    head: 'ListingKey,ListPrice\n',
    record: '1,2,3\n',
    records: 900_000,
  },
  'rows of RETS with too many cells': {
    preset: 'rets-compact',
    head: '<RETS ReplyCode="0"><DELIMITER value="09"/><COLUMNS>\tLIST_105\tListPrice\t</COLUMNS>',
    record: '<DATA>\t1\t2\t3\t</DATA>',
    records: 900_000,
  },
  'records of BLM that are too short': {
    preset: 'blm',
    head: "#HEADER#\nVERSION : 3\nEOF : '^'\nEOR : '~'\n#DEFINITION#\nAGENT_REF^PRICE^~\n#DATA#\n",
    record: '1~',
    records: 900_000,
  },
}

test.each(Object.entries(endless))('SIGTERM while it reads %s', async (_, { preset, head, record, records }) => {
  const bytes = Buffer.from(head + record.repeat(records))
  // While it starts, and in the midst of the reading: sooner, where a machine that was slow a moment ago is through by then.
  for (const part of [0.2, 1]) {
    let after = part * 2000 * slowness()
    let end = await outcomeOf(preset, bytes, after)
    for (; end === 'through' && after > 10; end = await outcomeOf(preset, bytes, after)) after /= 2
    expect(end).toBe('hears')
  }
})
