import { expect, test } from 'vitest'
import { IdSet } from '../../src/service/observe.ts'
import { seeded } from '../support/random.ts'

test.each([
  ['one after another', 1, 30_000],
  ['far from each other', 2, 2 ** 32],
  ['some thousand to each upper half', 3, 2 ** 19],
])('tells IDs apart as a Set does, where they are %s (seed %i)', (_, seed, most) => {
  const random = seeded(seed)
  const ids = new IdSet()
  const expected = new Set<number | string>()
  const given: (number | string)[] = ['', 'a-1', 0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 32 - 1, 2 ** 53]
  for (let i = 0; i < 20_000; i++) {
    const isRepeated = random() < 0.1
    const id = isRepeated ? given[Math.floor(random() * given.length)] : Math.floor(random() * most)
    given.push(id)
    const isNew = !expected.has(id)
    expected.add(id)
    expect(ids.add(id)).toBe(isNew)
  }
})
