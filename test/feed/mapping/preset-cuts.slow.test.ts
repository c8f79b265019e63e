/** Every preset's fixture, cut off: at each byte of its end and at many others it is never taken for a whole delivery. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { formats } from '../../../src/feed/format/formats.ts'
import { FeedError } from '../../../src/core/errors.ts'
import { presetNames } from '../../fuzz/feeds.ts'
import { fixtureOf, mappingOf } from '../../support/preset-fixtures.ts'
import { readingOf } from '../../support/reading.ts'

const [lastBytes, stride] = [400, 13]

test.each(presetNames)('%s', async (name) => {
  const whole = readFileSync(fixtureOf(name))
  const mapping = mappingOf(name)
  const reasonsOf = async (bytes: Buffer): Promise<readonly string[]> => {
    async function* sent() {
      yield bytes
    }
    try {
      const reading = readingOf(mapping, sent(), { lengthProven: () => false })
      for await (const _ of reading.records);
      return reading.end().reasons
    } catch (error) {
      if (!(error instanceof FeedError)) throw error
      return [error.message]
    }
  }
  expect(await reasonsOf(whole)).toEqual([])
  const end = whole.toString('latin1').trimEnd().length
  let tried = 0
  for (let length = 0; length < end; length += length >= end - lastBytes ? 1 : stride) {
    const cut = whole.subarray(0, length)
    // A format without an end mark is whole at the end of a row, as far as it can tell: there the length has to prove it.
    if (!formats[mapping.format].hasEndMark && /[\r\n]$/.test(cut.toString('latin1'))) continue
    expect(await reasonsOf(cut), `cut after ${length} of ${whole.length} bytes`).not.toEqual([])
    tried++
  }
  expect(tried).toBeGreaterThan(100)
})
