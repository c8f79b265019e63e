/** Ten thousand broken feeds through the program, in processes that may not hang or grow. FUZZ_FEEDS and FUZZ_FROM choose others. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runFleet } from './fleet.ts'
import { Corpus } from './fuzz.ts'
import { mutations } from './mutations.ts'
import { explained } from './shrink.ts'

const feeds = Number(process.env['FUZZ_FEEDS'] ?? 10_000)
const from = Number(process.env['FUZZ_FROM'] ?? 0)

test(
  `${feeds} broken feeds from seed ${from}: no crash, no hang, no growth, no delete without proof`,
  { timeout: 120_000 + feeds * 60 },
  async () => {
    const { planned, complete, deletes, failures } = await runFleet(from, feeds, 2)
    for (const failure of failures) expect.fail(await explained(failure))
    // Else the feeds are so broken, or so little, that nothing is tried.
    expect(planned).toBeGreaterThan(feeds / 2)
    expect(planned - complete).toBeGreaterThan(feeds / 10)
    expect(complete).toBeGreaterThan(feeds / 5)
    expect(deletes).toBeGreaterThan(0)
  },
)

test('a seed makes the same feed twice, and every mutation is drawn', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-fuzz-'))
  const drawn = new Set<string>()
  const hashes: string[] = []
  for (let round = 0; round < 2; round++) {
    const corpus = await Corpus.open(folder)
    const hash = createHash('sha256')
    for (let seed = 0; seed < 600; seed++) {
      const { bytes, done } = corpus.feed(seed)
      hash.update(bytes)
      for (const kind of done) drawn.add(kind)
    }
    hashes.push(hash.digest('hex'))
  }
  rmSync(folder, { recursive: true })
  expect(hashes[0]).toBe(hashes[1])
  expect([...drawn].toSorted()).toEqual([...Object.keys(mutations), 'compressed'].toSorted())
})
