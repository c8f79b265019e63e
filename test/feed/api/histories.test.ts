import { expect, test } from 'vitest'
import { HISTORIES, testSeed } from '../../support/random.ts'
import { history, nothing } from './histories.ts'
import type { Figures } from './histories.ts'

/** `HISTORIES=20000` makes more of them, `TEST_SEED` another beginning. */
const count = HISTORIES
const first = testSeed(1)

test(`${count} histories of live sources`, async () => {
  const total = nothing()
  for (let seed = first; seed < first + count; seed++) {
    const figures = await history(seed)
    for (const name of Object.keys(total) as (keyof Figures)[]) total[name] += figures[name]
  }
  if (process.env.HISTORIES) console.log(total)
  // Each of them has to have happened, or the histories prove nothing.
  for (const [name, number] of Object.entries(total)) expect(number, name).toBeGreaterThan(0)
}, 3_600_000)
