/** The table of defects (MUTANTS.md) is only worth what its patches fit: code that moves takes them along. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { applyMutants } from './mutants/apply.ts'
import { placesOf } from './mutants/mutant.ts'
import { planMutants } from './mutants/plan.ts'
import { portMutants } from './mutants/ports.ts'

test.each([...planMutants, ...applyMutants, ...portMutants])('$name: its place is found once', (mutant) => {
  for (const { file, from } of placesOf(mutant))
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split(from), from).toHaveLength(2)
})

test('each is in the table', () => {
  const table = readFileSync(new URL('MUTANTS.md', import.meta.url), 'utf8')
  const names = [...table.matchAll(/^\| (.+?) \| src\//gm)].map(([, name]) => name)
  const known = [...planMutants, ...applyMutants, ...portMutants].map(({ name }) => name)
  expect(names.toSorted()).toEqual(known.toSorted())
})
