/** What a stop signal ends in a probe, and when, on a manual clock. */
import { getEventListeners } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { Calls } from '../../src/probe/calls.ts'
import { ServiceClient } from '../../src/service/client.ts'
import { ManualClock } from '../service/clock.ts'
import { keepLog, startServer, testSettings } from '../service/server.ts'
import type { TestServer } from '../service/server.ts'

let server: TestServer
let client: ServiceClient
afterEach(async () => {
  await client.close()
  await server.close()
})

/** Calls to a service that never answers. */
async function begin(): Promise<{ calls: Calls; clock: ManualClock; stop: AbortController }> {
  server = await startServer(() => 'silence')
  const clock = new ManualClock()
  const settings = testSettings(server.baseUrl)
  client = new ServiceClient(settings, { clock, random: () => 0.5, log: keepLog().log })
  const stop = new AbortController()
  return { calls: new Calls(client, 'SN', 100, clock, stop.signal), clock, stop }
}

const stopped = { kind: 'stopped' }

/** How it has ended so far. */
function watched(promise: Promise<unknown>): { end: unknown } {
  const state: { end: unknown } = { end: 'under way' }
  promise.then(
    () => (state.end = 'through'),
    (error: unknown) => (state.end = error),
  )
  return state
}

test('waiting ends at once, a call under way after three seconds', async () => {
  const { calls, clock, stop } = await begin()
  const pause = watched(calls.pause(60_000))
  const call = watched(calls.remove('MLSNumber', ['A-1']))
  await server.received(1)
  stop.abort()
  const next = watched(calls.list({}))
  await clock.advance(2999)
  expect(pause.end).toMatchObject(stopped)
  expect(next.end).toMatchObject({ ...stopped, effect: 'none' })
  expect(call.end).toBe('under way')
  await clock.advance(1)
  expect(call.end).toMatchObject({ ...stopped, effect: 'unknown' })
})

test('while what is on the service is removed a stop ends nothing, until eight seconds are over', async () => {
  const { calls, clock, stop } = await begin()
  stop.abort()
  calls.cleanUp()
  const [short, long] = [watched(calls.pause(7000)), watched(calls.pause(60_000))]
  const call = watched(calls.remove('MLSNumber', ['A-1']))
  await server.received(1)
  await clock.advance(7999)
  expect([short.end, long.end, call.end]).toEqual(['through', 'under way', 'under way'])
  await clock.advance(1)
  expect(long.end).toMatchObject(stopped)
  expect(call.end).toMatchObject({ ...stopped, effect: 'unknown' })
})

test('once it is over it leaves the signal alone', async () => {
  const { calls, stop } = await begin()
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
  calls.end()
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
})
