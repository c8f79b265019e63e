import { expect, test } from 'vitest'
import { many, valueInWords } from '../../src/core/text.ts'

test('a count and its noun agree', () => {
  expect([0, 1, 2].map((count) => many(count, 'listing'))).toEqual(['0 listings', '1 listing', '2 listings'])
  expect(many(1, 'property', 'properties')).toBe('1 property')
  expect(valueInWords('Images', ['a.jpg'])).toBe('1 entry')
  expect(valueInWords('Images', [])).toBe('0 entries')
})
