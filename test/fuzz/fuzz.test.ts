/** Broken feeds through the program in this process: as many as the simulation has histories. The slow test has more of them. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { numbersInTime } from '../support/in-time.ts'
import { HISTORIES, testSeed } from '../support/random.ts'
import { Corpus } from './fuzz.ts'
import { mutations } from './mutations.ts'
import { explained } from './shrink.ts'

const from = testSeed(0)

let folder: string
let corpus: Corpus
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-fuzz-'))
  corpus = await Corpus.open(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

test(`${HISTORIES} broken feeds from seed ${from}: no crash, no delete without proof`, async ({ signal }) => {
  const sums = { judged: 0, planned: 0, complete: 0 }
  for (const seed of numbersInTime(from, HISTORIES, 'feeds', signal)) {
    const { preset, bytes } = corpus.feed(seed)
    const { violation, planned, complete } = await corpus.judge(preset, bytes)
    if (violation !== null) expect.fail(await explained({ seed, violation }))
    sums.judged++
    sums.planned += Number(planned)
    sums.complete += Number(complete)
  }
  expect(sums.planned).toBeGreaterThan(sums.judged / 2)
  expect(sums.planned - sums.complete).toBeGreaterThan(sums.judged / 10)
})

test('a seed makes the same feed twice, and every mutation is drawn', async () => {
  const drawn = new Set<string>()
  const hashes: string[] = []
  for (const each of [corpus, await Corpus.open(folder)]) {
    const hash = createHash('sha256')
    for (let seed = 0; seed < 600; seed++) {
      const { bytes, done } = each.feed(seed)
      hash.update(bytes)
      for (const kind of done) drawn.add(kind)
    }
    hashes.push(hash.digest('hex'))
  }
  expect(hashes[0]).toBe(hashes[1])
  expect([...drawn].toSorted()).toEqual([...Object.keys(mutations), 'compressed'].toSorted())
})
