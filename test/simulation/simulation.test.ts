/** The invariants of DESIGN §3 over seeded histories; the other half of them is in other-half.test.ts. */
import { expect, test } from 'vitest'
import { testHalf } from './half.ts'
import { crashPoints, runHistory } from './history.ts'
import { explain } from './shrink.ts'

testHalf(0)

test('a seed tells the same history twice', async () => {
  for (const seed of [3, 5, 8]) {
    const traces: string[][] = [[], []]
    for (const trace of traces) await runHistory(seed, { trace })
    expect(traces[0].length).toBeGreaterThan(20)
    expect(traces[1], `seed ${seed}`).toEqual(traces[0])
  }
})

test('a process may die at each point of a history, before or after a write to the store or a call', async () => {
  let histories = 0
  for (const seed of [25, 47])
    for await (const told of crashPoints(seed, 1)) {
      if (told.violation !== null) expect.fail(await explain(told))
      histories++
    }
  expect(histories).toBeGreaterThan(50)
})
