/** The table of defects (MUTANTS.md) is only worth what its patches fit: code that moves takes them along. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutants } from './mutants.ts'
import { placesOf } from './mutants/mutant.ts'

test.each(mutants)('$name: its place is found once', (mutant) => {
  for (const { file, from } of placesOf(mutant))
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split(from), from).toHaveLength(2)
})

test.each(mutants.filter(({ test: noticing }) => noticing !== undefined))('$name: its test is there', (mutant) => {
  const [file, name] = mutant.test!.split(' › ')
  expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toContain(name)
})

test('each is in the table', () => {
  const table = readFileSync(new URL('MUTANTS.md', import.meta.url), 'utf8')
  const names = [...table.matchAll(/^\| (.+?) \| src\//gm)].map(([, name]) => name)
  const known = mutants.map(({ name }) => name)
  expect(names.toSorted()).toEqual(known.toSorted())
})
