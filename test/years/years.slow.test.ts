/** A small share of `npm run years`: what has to be 0 has to be 0 in any fifty office-years. */
import { expect, test } from 'vitest'
import { testSeed } from '../support/random.ts'
import { playCases } from './cases.ts'
import { seedOf } from './chance.ts'
import { defaultSetting, playTrials, playYears } from './play.ts'
import type { Schedule } from './play.ts'
import { linesOf, tableOf } from './table.ts'
import type { Told } from './table.ts'
import { loadWorld } from './world.ts'

/** Size, schedule, offices and the years of each. */
const played: readonly (readonly [number, Schedule, number, number])[] = [
  [3, 'nightly', 4, 2],
  [8, 'nightly', 4, 2],
  [40, 'nightly', 5, 2],
  [100, 'nightly', 3, 1],
  [600, 'nightly', 1, 1],
  [40, 'weekly', 4, 5],
]
const sizesOfTrials = [8, 100]

test('fifty office-years and the incidents on an office of each size', async () => {
  const seed = testSeed()
  const setting = defaultSetting(loadWorld(), seed)
  const outcome: Told = { years: [], trials: [], cases: await playCases(setting) }
  for (const [size, schedule, offices, years] of played)
    for (let i = 0; i < offices; i++)
      outcome.years.push(await playYears({ ...setting, seed: seedOf(seed, size, schedule, i) }, size, years, schedule))
  for (const size of sizesOfTrials)
    for await (const trial of playTrials({ ...setting, seed: seedOf(seed, size) }, size)) outcome.trials.push(trial)
  const lines = linesOf(outcome)
  const missed = lines.filter(({ isZero, isMet }) => isZero && !isMet)
  expect(missed, `seed ${seed}\n${tableOf(lines)}`).toEqual([])
})
