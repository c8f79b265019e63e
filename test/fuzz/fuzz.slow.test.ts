/** Broken feeds through the program, in processes that may not hang or grow; five for each history of the simulation. */
import { expect, test } from 'vitest'
import { HISTORIES, testSeed } from '../support/random.ts'
import { runFleet } from './fleet.ts'
import { explained } from './shrink.ts'

const feeds = 5 * HISTORIES
const from = testSeed(0)

test(`${HISTORIES} hostile deliveries from seed ${from}: no crash, no hang, no growth, no delete`, async () => {
  const { planned, failures } = await runFleet(from, HISTORIES, 2, true)
  for (const { seed, violation } of failures) expect.fail(`seed ${seed}: ${violation}`)
  expect(planned).toBeGreaterThan(HISTORIES / 10)
})

test(`${feeds} broken feeds from seed ${from}: no crash, no hang, no growth, no delete without proof`, async () => {
  const { planned, complete, deletes, failures } = await runFleet(from, feeds, 2)
  for (const failure of failures) expect.fail(await explained(failure))
  // Else the feeds are so broken, or so little, that nothing is tried.
  expect(planned).toBeGreaterThan(feeds / 2)
  expect(planned - complete).toBeGreaterThan(feeds / 10)
  expect(complete).toBeGreaterThan(feeds / 5)
  expect(deletes).toBeGreaterThan(0)
})
