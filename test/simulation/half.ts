/** Half of the histories of `npm test`, so that two workers share them. */
import { expect, test } from 'vitest'
import { runHistory } from './history.ts'
import { explain } from './shrink.ts'

/** SIMULATION_HISTORIES sets how many there are in both halves, SIMULATION_FROM the first seed. */
export function testHalf(half: 0 | 1): void {
  const histories = Math.ceil(Number(process.env['SIMULATION_HISTORIES'] ?? 2000) / 2)
  const from = Number(process.env['SIMULATION_FROM'] ?? 0) + half * histories
  test(
    `${histories} histories from seed ${from} break no invariant`,
    { timeout: 60_000 + histories * 300 },
    async () => {
      let writes = 0
      for (let seed = from; seed < from + histories; seed++) {
        const told = await runHistory(seed)
        if (told.violation !== null) expect.fail(await explain(told))
        writes += told.calls
      }
      expect(writes).toBeGreaterThan(histories)
    },
  )
}
