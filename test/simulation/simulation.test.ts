/** The invariants of DESIGN §3 over seeded histories; SIMULATION_HISTORIES sets how many, SIMULATION_FROM the first seed. */
import { expect, test } from 'vitest'
import { runHistory } from './history.ts'
import { explain } from './shrink.ts'

const histories = Number(process.env['SIMULATION_HISTORIES'] ?? 300)
const from = Number(process.env['SIMULATION_FROM'] ?? 0)

test(`${histories} histories from seed ${from} break no invariant`, { timeout: 60_000 + histories * 200 }, async () => {
  let writes = 0
  for (let seed = from; seed < from + histories; seed++) {
    const told = await runHistory(seed, new Set(), null)
    if (told.violation !== null) expect.fail(await explain(told))
    writes += told.calls
  }
  expect(writes).toBeGreaterThan(histories)
})

test('a seed tells the same history twice', async () => {
  for (const seed of [3, 5, 8]) {
    const traces: string[][] = [[], []]
    for (const trace of traces) await runHistory(seed, new Set(), trace)
    expect(traces[0].length).toBeGreaterThan(20)
    expect(traces[1], `seed ${seed}`).toEqual(traces[0])
  }
})
