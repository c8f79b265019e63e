/** `probe` as a child process: what it asks, prints and ends with, stopped and killed in the middle. */
import { afterEach, expect, test } from 'vitest'
import type { ChildProcess } from 'node:child_process'
import type { RunWorld } from '../support/run-world.ts'
import { keys, leftOf, othersOf, probeWorld } from '../probe/world.ts'
import { slowness } from '../support/signals.ts'
import { until } from '../support/until.ts'

let world: RunWorld
let before: string
afterEach(() => world.end())

async function begin(profile: object = { maxPageSize: 20 }, service: object = {}): Promise<void> {
  const standIn = { profile, now: () => Date.now() }
  ;({ world, before } = await probeWorld(standIn, { rate: 200, ...service }))
}

/** Waits for so many calls, and then does something to the program. */
const after =
  (calls: number, act: (child: ChildProcess) => void) =>
  async (child: ChildProcess): Promise<void> => {
    const sent = (): number => Object.values(world.standIn.counts).reduce((sum, count) => sum + count, 0)
    await until(() => sent() >= calls || child.exitCode !== null)
    act(child)
  }

test('it prints what it learnt, and a profile; without a terminal it needs --yes', async () => {
  await begin()
  const asked = await world.command('probe', '--feed', 'north')
  expect(asked).toMatchObject({ status: 64, stdout: '' })
  expect(asked.stderr).toContain('probe asks for confirmation on a terminal; elsewhere pass --yes')
  expect(Object.values(world.standIn.counts).every((count) => count === 0)).toBe(true)

  const text = await world.command('probe', '--feed', 'north', '--yes')
  expect(text).toMatchObject({ status: 0, stderr: '' })
  expect(text.stdout).toContain('21 of 21 questions answered in full')
  expect(text.stdout).toMatch(
    /service:\n {2}profile:\n {4}pageSize: 20\n {4}virtualCount: total\n {4}clear: empty\n {4}nativeId: list-id\n$/,
  )

  const json = await world.command('probe', '--feed', 'north', '--yes', '--format', 'json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    result: 'ok',
    profile: { pageSize: 20, virtualCount: 'total', clear: 'empty', nativeId: 'list-id' },
    left: [],
  })
  expect(text.stdout + json.stdout).not.toContain(keys.secret)
  expect(leftOf(world)).toEqual([])
  expect(othersOf(world)).toBe(before)

  expect(await world.command('probe', '--feed', 'south', '--yes')).toMatchObject({ status: 64 })
  expect(await world.command('probe', '--yes')).toMatchObject({ status: 64 })
})

test('questions that stay open end with 4, a service that is down with 1', async () => {
  await begin({ createdIdentifier: 'guid' })
  const open = await world.command('probe', '--feed', 'north', '--yes')
  expect(open.status).toBe(4)
  expect(open.stdout.replace(/\s+/g, ' ')).toContain(
    'whether Delete takes the ID of the list as NativeId, by which repair could delete single copies, because',
  )
  world.standIn.addFault({ fault: { kind: 'credentials' } })
  const json = await world.command('probe', '--feed', 'north', '--yes', '--format', 'json')
  expect(json.status).toBe(1)
  expect(json.stderr).toContain('The service refused the keys')
  expect(JSON.parse(json.stdout)).toMatchObject({ result: 'failed', left: [] })
  expect(othersOf(world)).toBe(before)
})

test.each(['SIGINT', 'SIGTERM'] as const)('%s in the middle: within ten seconds, nothing is left', async (signal) => {
  await begin()
  // So that calls are under way.
  world.standIn.addFault({ fault: { kind: 'slow', wait: 30 } })
  for (const calls of [12, 40, 90]) {
    world.standIn.resetCounts()
    let at = 0
    const send = (child: ChildProcess): void => {
      at = Date.now()
      child.kill(signal)
    }
    const ended = await world.started(after(calls, send), 'probe', '--feed', 'north', '--yes')
    expect(Date.now() - at).toBeLessThan(10_000 * slowness())
    expect(ended.status).toBe(1)
    expect(ended.stdout).toContain(`The probe ended early: it was stopped by a signal`)
    expect(leftOf(world)).toEqual([])
  }
  expect(othersOf(world)).toBe(before)
})

test('a call that never ends is given up in time, and what it may have done is said', async () => {
  await begin()
  world.standIn.addFault({ operations: ['Create'], nth: 1, fault: { kind: 'hang', carriedOut: true } })
  let at = 0
  const ended = await world.started(
    async (child) => {
      await until(() => world.standIn.counts.Create > 0)
      at = Date.now()
      child.kill('SIGINT')
    },
    'probe',
    '--feed',
    'north',
    '--yes',
  )
  expect(Date.now() - at).toBeLessThan(10_000 * slowness())
  expect(ended.status).toBe(1)
  expect(ended.stdout).toContain('MAY APPEAR')
  expect(leftOf(world)).toEqual([])
})

test('kill -9 in the middle: the next probe finds what is left and removes it', async () => {
  await begin()
  world.standIn.addFault({ fault: { kind: 'slow', wait: 10 } })
  let found = 0
  for (const calls of [35, 75, 110]) {
    world.standIn.resetCounts()
    const kill = (child: ChildProcess): void => void child.kill('SIGKILL')
    await world.started(after(calls, kill), 'probe', '--feed', 'north', '--yes')
    // What was under way when it was killed is carried out before the next one asks.
    const left = leftOf(world)
    if (left.length > 0) found++
    world.standIn.clearFaults()
    const next = await world.command('probe', '--feed', 'north', '--yes')
    expect(next.status).toBe(0)
    for (const mlsNumber of left) expect(next.stdout).toContain(mlsNumber)
    expect(leftOf(world)).toEqual([])
    expect(othersOf(world)).toBe(before)
    world.standIn.addFault({ fault: { kind: 'slow', wait: 10 } })
  }
  expect(found).toBeGreaterThan(1)
})
