/** The invariants of DESIGN §3 over seeded histories; the other half of them is in other-half.test.ts. */
import { expect, test } from 'vitest'
import { testHalf } from './half.ts'
import { runHistory } from './history.ts'

testHalf(0)

test('a seed tells the same history twice', async () => {
  for (const seed of [3, 5, 8]) {
    const traces: string[][] = [[], []]
    for (const trace of traces) await runHistory(seed, { trace })
    expect(traces[0].length).toBeGreaterThan(20)
    expect(traces[1], `seed ${seed}`).toEqual(traces[0])
  }
})
