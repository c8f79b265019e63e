/** No feed, however it goes wrong in size, drains a chatbot; and the guard lets go. DRAIN_HISTORIES and DRAIN_FROM as for the simulation. */
import { expect, test } from 'vitest'
import { drain } from './drain.ts'

const histories = Number(process.env['DRAIN_HISTORIES'] ?? 60)
const from = Number(process.env['DRAIN_FROM'] ?? 0)

test(
  `${histories} histories of deliveries from seed ${from} lose no more than is allowed, and come right`,
  {
    timeout: 60_000 + histories * 1000,
  },
  async () => {
    const all = { runs: 0, deletes: 0, heldRuns: 0, approvals: 0 }
    for (let seed = from; seed < from + histories; seed++) {
      const told = await drain(seed)
      if (told.violation !== null) {
        const trace: string[] = []
        await drain(seed, trace)
        expect.fail(`seed ${seed}: ${told.violation}\n${trace.join('\n')}`)
      }
      for (const name of ['runs', 'deletes', 'heldRuns', 'approvals'] as const) all[name] += told[name]
    }
    // Histories in which nothing is lost, held or let go would prove nothing.
    expect(all.deletes).toBeGreaterThan(histories)
    expect(all.heldRuns).toBeGreaterThan(histories)
    expect(all.approvals).toBeGreaterThan(histories / 4)
  },
)
