/** A short soak (`npm run soak` is the long one): what months of runs in one process must not pile up. */
import { expect, test } from 'vitest'
import { soak } from '../support/soak.ts'
import type { Holdings } from '../support/soak.ts'

/** Compiled code and caches of the first runs; beyond them nothing grows by the run. */
const warm = 100
const runs = 300

test(`${runs} runs in one process: memory, handles, descriptors and files stay as they are`, async () => {
  const at: Holdings[] = []
  await soak(runs, [warm, runs], (holdings) => at.push(holdings))
  const [before, after] = at
  // A thousand runs are kept for `status`, each some hundred bytes; until then the store grows by them.
  expect(after.store - before.store).toBeLessThan((runs - warm) * 2000)
  expect(after.log).toBe(0)
  expect(after.descriptors ?? 0).toBeLessThanOrEqual((before.descriptors ?? 0) + 2)
  expect(after.handles).toBeLessThanOrEqual(before.handles + 4)
  // One run that is kept whole is 40 kB and more; compiled code still comes in.
  expect((after.heap - before.heap) / (runs - warm)).toBeLessThan(12_000)
  expect(Object.keys(after.results).toSorted()).toEqual(
    ['failed', 'held', 'ok', 'partial'].filter((text) => text in after.results),
  )
  expect(after.results['ok']).toBeGreaterThan(runs / 2)
  expect(after.results['failed']).toBeGreaterThan(5)
})

test('a run that fails leaves nothing on the signal of the process that lives on', async () => {
  const at: Holdings[] = []
  await soak(120, [60, 120], (holdings) => at.push(holdings), { failing: true })
  const [before, after] = at
  expect(after.results).toEqual({ failed: 120 })
  expect((after.heap - before.heap) / 60).toBeLessThan(12_000)
})
