import { ALL_ENTITIES } from '@nodable/entities'
import { expect, test } from 'vitest'
import { htmlDecoder } from '../../../src/feed/format/entities.ts'

test('every entity that the package names is decoded', () => {
  const decoder = htmlDecoder()
  const names = Object.keys(ALL_ENTITIES)
  expect(names.length).toBeGreaterThan(900)
  const wrong = names.filter((name) => decoder.decode(`&${name};`) !== ALL_ENTITIES[name])
  expect(wrong).toEqual([])
})
