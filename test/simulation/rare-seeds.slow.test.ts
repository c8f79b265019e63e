/**
 * Histories outside the range that is played each time, in which several extremes meet: in the first eight the program was
 * wrong, in the others the model.
 */
import { expect, test } from 'vitest'
import { runHistory } from './history.ts'
import { explain } from './shrink.ts'

const seeds = [
  7700639, 840, 9100180, 9101724, 4096, 9801024, 9820917, 9820884, 2326, 9100511, 9101265, 9101888, 90100, 2000219,
  2001018, 2001258, 2002021, 4000231, 4001341, 4000012, 6000400, 9401667, 9601613, 9400903, 9400696, 9700254, 9900264,
  9900312, 9400529, 7400065, 2220002033, 2220002363,
]

test.each(seeds)('seed %i', async (seed) => {
  const played = await runHistory(seed)
  if (played.violation !== null) expect.fail(await explain(played))
})
