/** A defence whose place has moved, or whose test is gone, could no longer be taken out to see it missed. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { placesOf } from '../simulation/mutants/mutant.ts'
import { defences } from './defences.ts'

test.each(defences)('$name: its place is found once, and its tests are there', (defence) => {
  for (const { file, from } of placesOf(defence)) expect(readFileSync(file, 'utf8').split(from), from).toHaveLength(2)
  for (const path of defence.tests) expect(existsSync(path), path).toBe(true)
})

test('each has a name of its own', () => {
  expect(new Set(defences.map(({ name }) => name)).size).toBe(defences.length)
})
