/** Half of the histories, so that two workers share them. */
import { expect, test } from 'vitest'
import { numbersInTime } from '../support/in-time.ts'
import { HISTORIES, testSeed } from '../support/random.ts'
import { runHistory } from './history.ts'
import { explain } from './shrink.ts'

export function testHalf(half: 0 | 1): void {
  const histories = Math.ceil(HISTORIES / 2)
  const from = testSeed(0) + half * histories
  test(`${histories} histories from seed ${from} break no invariant`, async ({ signal }) => {
    let [writes, played] = [0, 0]
    for (const seed of numbersInTime(from, histories, 'histories', signal)) {
      const outcome = await runHistory(seed, { signal })
      if (outcome.violation !== null) expect.fail(await explain(outcome))
      writes += outcome.calls
      played++
    }
    // Histories in which nothing is written would prove nothing.
    expect(writes).toBeGreaterThan(played)
  })
}
