/** What is left of a limit over a length of time that moves on. */
import { expect, test } from 'vitest'
import { Quota } from '../../../src/feed/api/quota.ts'
import { seeded, testSeed } from '../../support/random.ts'

test('no stretch of the time ever sees more than the limit, and what is waited for is there then', () => {
  const random = seeded(testSeed())
  for (const [most, time] of [
    [10, 60_000],
    [500, 3_600_000],
    [1, 86_400_000],
  ] as const) {
    const quota = new Quota(most, time)
    const used: number[] = []
    let now = Date.UTC(2026, 10, 1)
    let waited = 0
    for (let n = 0; n < 3000; n++) {
      now += random() < 0.1 / most ? random() * 2 * time : (random() * time) / most / 4
      const wait = quota.wait(now)
      expect(wait).toBeLessThanOrEqual(time + time / 60)
      if (wait > 0) waited++
      now += wait
      expect(quota.wait(now)).toBe(0)
      quota.add(1, now)
      used.push(now)
      const first = used.findLastIndex((at) => at <= now - time) + 1
      expect(used.length - first).toBeLessThanOrEqual(most)
    }
    expect(waited).toBeGreaterThan(10)
  }
})
