/** The invariants of docs/design.md where a process dies at each of its points in turn. */
import { expect, test } from 'vitest'
import { numbersInTime } from '../support/in-time.ts'
import { runHistory } from './history.ts'
import { explain } from './shrink.ts'

test('a process may die at each point of a history, before or after a write to the store or a call', async ({
  signal,
}) => {
  const deaths: { seed: number; diesAt: number }[] = []
  for (const seed of [25, 47]) {
    const { points } = await runHistory(seed, { signal })
    for (let diesAt = 1; diesAt <= points; diesAt++) deaths.push({ seed, diesAt })
  }
  expect(deaths.length).toBeGreaterThan(50)
  for (const number of numbersInTime(0, deaths.length, 'points', signal)) {
    const { seed, diesAt } = deaths[number]
    const played = await runHistory(seed, { diesAt, signal })
    if (played.violation !== null) expect.fail(await explain(played))
  }
})
