/** The invariants of docs/design.md over seeded histories; the other half of them is in other-half.slow.test.ts. */
import { expect, test } from 'vitest'
import { numbersInTime } from '../support/in-time.ts'
import { testHalf } from './half.ts'
import { runHistory } from './history.ts'
import { explain } from './shrink.ts'

testHalf(0)

const traceOf = async (seed: number, signal: AbortSignal): Promise<string[]> => {
  const trace: string[] = []
  await runHistory(seed, { trace, signal })
  return trace
}

test('a seed tells the same history twice, whatever else is played at the time', async ({ signal }) => {
  const seeds = [3, 5, 8]
  const together = await Promise.all(seeds.map((seed) => traceOf(seed, signal)))
  for (const [index, seed] of seeds.entries()) {
    expect(together[index].length).toBeGreaterThan(20)
    expect(await traceOf(seed, signal), `seed ${seed}`).toEqual(together[index])
  }
})

test('a history is ended through its signal wherever it is, and is no failure then', async () => {
  const ending = new AbortController()
  const lines = new Proxy<string[]>([], {
    set(target, name, value) {
      if (target.length === 30) ending.abort(new Error('cut off'))
      return Reflect.set(target, name, value)
    },
  })
  await expect(runHistory(3, { trace: lines, signal: ending.signal })).rejects.toThrow('cut off')
  expect(lines.length).toBeLessThan(60)
})

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
    const told = await runHistory(seed, { diesAt, signal })
    if (told.violation !== null) expect.fail(await explain(told))
  }
})
