/** What every limiter of calls to a service does, whether a process has it alone or several share it. */
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Lane, TooLongPause } from '../../src/core/limiter.ts'
import type { CallLimiter } from '../../src/core/limiter.ts'
import { ManualClock } from '../service/clock.ts'

/** Limiters of one service, each as a process has it. `rate`: the share of the configured rate that is reached. */
export interface LimiterWorld {
  readonly clock: ManualClock
  readonly reached: number
  open(rate: number): CallLimiter
  /** Lets time pass; what is under way goes as far as it can. */
  pass(milliseconds: number): Promise<void>
}

/** Sends so many calls of a duration at once; gives their start times. */
export function flood(
  limiter: CallLimiter,
  clock: ManualClock,
  count: number,
  duration = 0,
  lane = new Lane(4),
): number[] {
  const starts: number[] = []
  for (let i = 0; i < count; i++)
    void limiter.take(lane).then(async () => {
      starts.push(clock.now())
      if (duration > 0) await clock.sleep(duration)
      limiter.done(lane)
    })
  return starts
}

export const mostInOneSecond = (starts: readonly number[]): number => mostWithin(1000, starts)

/** The most of these times within so many milliseconds. */
export function mostWithin(milliseconds: number, starts: readonly number[]): number {
  const sorted = starts.toSorted((a, b) => a - b)
  let most = 0
  for (let first = 0, last = 0; last < sorted.length; last++) {
    while (sorted[last] - sorted[first] >= milliseconds) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

export function limiterContract(begin: () => Promise<LimiterWorld>): void {
  test.for([
    [20, 1],
    [7, 40],
  ])(
    'at %i calls a second with timers %i ms late no second has more than one more, and nearly all are used',
    async ([rate, late]) => {
      const world = await begin()
      const { clock } = world
      let timers = 0
      clock.lateness = () => (timers++ * 7) % (late + 1)
      const starts = flood(world.open(rate), clock, rate * 14)
      await world.pass(10_000)
      expect(mostInOneSecond(starts)).toBeLessThanOrEqual(rate + 1)
      expect(starts.length).toBeGreaterThanOrEqual(rate * 10 * world.reached)
    },
  )

  test('what was not used is not saved up', async () => {
    const world = await begin()
    const limiter = world.open(10)
    const first = flood(limiter, world.clock, 1)
    await world.pass(20_000)
    const starts = flood(limiter, world.clock, 20)
    await world.pass(1000)
    expect(first).toHaveLength(1)
    expect(starts.length).toBeLessThanOrEqual(11)
  })

  test('calls that hang take no place of another chatbot', async () => {
    const world = await begin()
    const limiter = world.open(10)
    const [hanging, lively] = [new Lane(2), new Lane(2)]
    const hung = flood(limiter, world.clock, 8, 60_000, hanging)
    const starts = flood(limiter, world.clock, 10, 100, lively)
    await world.pass(4000)
    expect([hung.length, starts.length, hanging.running, lively.running]).toEqual([2, 10, 2, 0])
  })

  test('a pause holds everyone, and who would wait longer than he may is sent away', async () => {
    const world = await begin()
    const limiter = world.open(10)
    const lane = new Lane(4)
    limiter.pause(5000, null)
    const at = world.clock.now()
    const starts = flood(limiter, world.clock, 3)
    await expect(limiter.take(lane, undefined, 2000)).rejects.toThrow(TooLongPause)
    await world.pass(4900)
    expect(starts).toEqual([])
    await world.pass(1000)
    expect(starts).toHaveLength(3)
    expect(starts[0] - at).toBeGreaterThanOrEqual(5000)
    expect(lane.running).toBe(0)
  })

  test('the pause of one chatbot is its own', async () => {
    const world = await begin()
    const limiter = world.open(10)
    const [paused, lively] = [new Lane(4), new Lane(4)]
    limiter.pause(30_000, paused)
    const later = flood(limiter, world.clock, 2, 0, paused)
    const starts = flood(limiter, world.clock, 10, 0, lively)
    await world.pass(3000)
    expect([later.length, starts.length]).toEqual([0, 10])
    await world.pass(30_000)
    expect(later).toHaveLength(2)
  })

  test('the rate halves once for calls refused together, and grows back', async () => {
    const world = await begin()
    const limiter = world.open(16)
    const sent = flood(limiter, world.clock, 4)
    await world.pass(1000)
    for (let i = 0; i < 4; i++) limiter.slowDown(sent[0])
    await world.pass(100)
    const slow = flood(limiter, world.clock, 300)
    await world.pass(9000)
    expect(slow.length).toBeLessThanOrEqual(8 * 9 + 1)
    expect(slow.length).toBeGreaterThanOrEqual(8 * 9 * world.reached - 2)
    await world.pass(120_000)
    const full = flood(limiter, world.clock, 300)
    await world.pass(5000)
    expect(full.length).toBeGreaterThanOrEqual(16 * 5 * world.reached - 2)
  })

  test('an aborted call leaves the line with its reason, and its place with it', async () => {
    const world = await begin()
    const limiter = world.open(1)
    const lane = new Lane(4)
    flood(limiter, world.clock, 1)
    const stop = new AbortController()
    const waiting = [limiter.take(lane, stop.signal), limiter.take(lane, stop.signal)]
    const rejected = waiting.map((turn) => expect(turn).rejects.toThrow('enough'))
    await world.pass(100)
    stop.abort(new Error('enough'))
    await Promise.all(rejected)
    await setImmediate()
    expect(lane.running).toBe(0)
  })

  test('a call is made ready shortly before its slot; what that throws goes through', async () => {
    const world = await begin()
    const limiter = world.open(2)
    const lane = new Lane(20)
    const asked: number[] = []
    const starts: number[] = []
    for (let i = 0; i < 8; i++)
      void limiter
        .take(lane, undefined, Infinity, async () => void asked.push(world.clock.now()))
        .then(() => {
          starts.push(world.clock.now())
          limiter.done(lane)
        })
    await world.pass(3000)
    expect(starts.length).toBeGreaterThanOrEqual(5)
    expect(asked.length - starts.length).toBeLessThanOrEqual(1)
    for (const [index, start] of starts.entries()) expect(start - asked[index]).toBeLessThanOrEqual(300)
    const failing = limiter.take(new Lane(1), undefined, Infinity, () => Promise.reject(new Error('disc full')))
    const rejected = expect(failing).rejects.toThrow('disc full')
    await world.pass(3000)
    await rejected
  })
}
