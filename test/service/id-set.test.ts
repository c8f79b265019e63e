import { expect, test } from 'vitest'
import { IdSet } from '../../src/service/observe.ts'
import { seeded } from '../support/random.ts'

test.each([1, 2, 3])('tells IDs apart as a Set does, seed %i', (seed) => {
  const random = seeded(seed)
  const ids = new IdSet()
  const expected = new Set<number | string>()
  const odd = ['', 'a-1', 0, -1, 1.5, 2 ** 32, 2 ** 32 - 1, 2 ** 53]
  for (let i = 0; i < 20_000; i++) {
    const id = random() < 0.01 ? odd[Math.floor(random() * odd.length)] : Math.floor(random() * 30_000)
    const isNew = !expected.has(id)
    expected.add(id)
    expect(ids.add(id)).toBe(isNew)
  }
})
