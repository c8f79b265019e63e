/** No feed, however it goes wrong in size, drains a chatbot; and the guard lets go. */
import { expect, test } from 'vitest'
import { numbersInTime } from '../support/in-time.ts'
import { HISTORIES, testSeed } from '../support/random.ts'
import { drain } from './drain.ts'

const histories = Math.ceil(HISTORIES / 10)
const from = testSeed(0)

test(`${histories} histories of deliveries from seed ${from} lose no more than is allowed, and come right`, async ({
  signal,
}) => {
  const all = { runs: 0, deletes: 0, heldRuns: 0, approvals: 0 }
  let played = 0
  for (const seed of numbersInTime(from, histories, 'histories', signal)) {
    const drained = await drain(seed, { signal })
    if (drained.violation !== null) {
      const trace: string[] = []
      await drain(seed, { trace, signal })
      expect.fail(`seed ${seed}: ${drained.violation}\n${trace.join('\n')}`)
    }
    for (const name of ['runs', 'deletes', 'heldRuns', 'approvals'] as const) all[name] += drained[name]
    played++
  }
  // Histories in which nothing is lost, held or let go would prove nothing.
  expect(all.deletes).toBeGreaterThan(played)
  expect(all.heldRuns).toBeGreaterThan(played)
  expect(all.approvals).toBeGreaterThan(played / 4)
})
