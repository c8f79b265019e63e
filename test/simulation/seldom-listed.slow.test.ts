/** The invariants of docs/design.md where not every run reads the service's list. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { numbersInTime } from '../support/in-time.ts'
import { runHistory } from './history.ts'
import { inEach } from './mishap.ts'
import { explain } from './shrink.ts'
import { seldomListed } from './world.ts'

beforeAll(() => void inEach.add(seldomListed))
afterAll(() => void inEach.delete(seldomListed))

const histories = 200

test(`${histories} histories break no invariant`, async ({ signal }) => {
  let [writes, played] = [0, 0]
  for (const seed of numbersInTime(5048, histories, 'histories', signal)) {
    const outcome = await runHistory(seed, { signal })
    if (outcome.violation !== null) expect.fail(await explain(outcome))
    writes += outcome.calls
    played++
  }
  expect(writes).toBeGreaterThan(played)
})
