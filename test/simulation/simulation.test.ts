/** The invariants of docs/design.md over seeded histories; the other half of them is in other-half.slow.test.ts, deaths at every point in crash-points.slow.test.ts. */
import { expect, test } from 'vitest'
import { testHalf } from './half.ts'
import { runHistory } from './history.ts'

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
