import * as fc from 'fast-check'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Lane, Limiter, TooLongPause } from '../../src/core/limiter.ts'
import { limiterContract } from '../contract/limiter.ts'
import { ManualClock } from '../service/clock.ts'

/** Sends `count` calls of `duration` milliseconds at once; returns their start times. */
function flood(limiter: Limiter, clock: ManualClock, count: number, duration = 0, lane = new Lane(4)): number[] {
  const starts: number[] = []
  for (let i = 0; i < count; i++) {
    void limiter.take(lane).then(async () => {
      starts.push(clock.now())
      if (duration > 0) await clock.sleep(duration)
      limiter.done(lane)
    })
  }
  return starts
}

function mostInOneSecond(starts: number[]): number {
  return Math.max(0, ...starts.map((start, i) => starts.slice(i).filter((other) => other < start + 1000).length))
}

test('no window of one second sees more than rate + 1 calls, and the rate is reached', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        rate: fc.integer({ min: 1, max: 60 }),
        concurrency: fc.integer({ min: 1, max: 8 }),
        // Waits before each burst of calls, in milliseconds: a limiter must not save up what was not used.
        bursts: fc.array(
          fc.record({ after: fc.integer({ min: 0, max: 3000 }), calls: fc.integer({ min: 1, max: 90 }) }),
          {
            minLength: 1,
            maxLength: 6,
          },
        ),
        lateness: fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 20 }),
      }),
      async ({ rate, concurrency, bursts, lateness }) => {
        const clock = new ManualClock()
        let timers = 0
        clock.lateness = () => lateness[timers++ % lateness.length]
        const limiter = new Limiter(clock, rate)
        const lanes = [new Lane(concurrency), new Lane(concurrency)]
        const all: number[][][] = [[], []]
        for (const [number, { after, calls }] of bursts.entries()) {
          await clock.advance(after)
          all[number % 2].push(flood(limiter, clock, calls, 0, lanes[number % 2]))
        }
        await clock.advance(600 * 1000)
        const starts = all.flat(2).toSorted((a, b) => a - b)
        expect(starts).toHaveLength(bursts.reduce((sum, { calls }) => sum + calls, 0))
        expect(mostInOneSecond(starts)).toBeLessThanOrEqual(rate + 1)
        // First come, first served.
        for (const own of all) expect(own.flat()).toEqual(own.flat().toSorted((a, b) => a - b))
      },
    ),
    { numRuns: 60 },
  )
})

test.for([
  [50, 3, 60],
  [50, 15, 60],
  [200, 4, 8],
  [5, 25, 60],
  [7, 90, 60],
])(
  'at %i calls a second with timers %i ms late at most, %i seconds hold 99 percent of the calls',
  async ([rate, late, seconds]) => {
    const clock = new ManualClock()
    let timers = 0
    clock.lateness = () => (timers++ * 7) % (late + 1)
    const limiter = new Limiter(clock, rate)
    const starts = flood(limiter, clock, rate * (seconds + 10))
    await clock.advance(seconds * 1000)
    expect(starts.length).toBeGreaterThanOrEqual(rate * seconds * 0.99)
    expect(starts.length).toBeLessThanOrEqual(rate * seconds + 1)
    expect(mostInOneSecond(starts)).toBeLessThanOrEqual(rate + 1)
  },
)

test('a second is counted from when a call has gone out', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 2)
  const lane = new Lane(4)
  const first = await limiter.take(lane)
  const begin = clock.now()
  await clock.advance(700)
  first()
  const starts = flood(limiter, clock, 3)
  await clock.advance(3000)
  expect(starts.map((start) => start - begin)).toEqual([700, 1100, 1750])
})

test('what was not used is not saved up', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 50)
  await clock.advance(10_000)
  const begin = clock.now()
  const starts = flood(limiter, clock, 4)
  await clock.advance(100)
  expect(starts.map((start) => start - begin)).toEqual([0, 5, 25, 45])
})

test('the concurrency bounds the calls under way', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 100)
  const starts = flood(limiter, clock, 9, 500, new Lane(3))
  await clock.advance(499)
  expect([starts.length, limiter.running, limiter.waiting]).toEqual([3, 3, 6])
  await clock.advance(2000)
  expect([starts.length, limiter.running, limiter.waiting]).toEqual([9, 0, 0])
})

test('calls that hang take no place of another chatbot', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 10)
  const [hanging, lively] = [new Lane(2), new Lane(2)]
  const hung = flood(limiter, clock, 8, 60_000, hanging)
  const starts = flood(limiter, clock, 20, 100, lively)
  await clock.advance(3000)
  expect([hung.length, starts.length, hanging.running, lively.running]).toEqual([2, 20, 2, 0])
  await clock.advance(60_000)
  expect([hung.length, hanging.running]).toEqual([4, 2])
})

test('the pause of one chatbot is its own, and who waits for it keeps nobody', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 10)
  const [paused, lively] = [new Lane(4), new Lane(4)]
  limiter.pause(3_600_000, paused)
  expect([limiter.paused(paused), limiter.paused(lively)]).toEqual([3_600_000, 0])
  const later = flood(limiter, clock, 2, 0, paused)
  const starts = flood(limiter, clock, 20, 0, lively)
  await clock.advance(3000)
  expect([later.length, starts.length]).toEqual([0, 20])
  await clock.advance(3_600_000)
  expect([later.length, clock.sleeping]).toEqual([2, 0])
})

test('a pause holds everyone, and a shorter one does not end it', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 10)
  limiter.pause(5000, null)
  limiter.pause(100, null)
  const begin = clock.now()
  const starts = flood(limiter, clock, 3)
  await clock.advance(4999)
  expect(starts).toEqual([])
  await clock.advance(1000)
  expect(starts.map((start) => start - begin)).toEqual([5000, 5100, 5200])
})

test('who would wait longer than he may is sent away, at once or when the pause begins', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 1)
  const lane = new Lane(4)
  await limiter.take(lane)
  const [patient, hasty] = [limiter.take(lane, undefined, 60_000), limiter.take(lane, undefined, 2000)]
  limiter.pause(5000, null)
  await expect(hasty).rejects.toThrow(TooLongPause)
  await expect(limiter.take(lane, undefined, 2000)).rejects.toThrow(TooLongPause)
  expect([limiter.paused(lane), limiter.waiting]).toEqual([5000, 1])
  await clock.advance(5000)
  await patient
  expect([limiter.paused(lane), limiter.waiting, clock.sleeping]).toEqual([0, 0, 0])
})

test('the rate halves once for calls refused together, has a floor, and grows back to the configured one', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 16)
  const sentAt = clock.now()
  await clock.advance(10)
  for (let i = 0; i < 4; i++) limiter.slowDown(sentAt)
  expect(limiter.rate).toBe(8)
  const starts = flood(limiter, clock, 200)
  await clock.advance(9000)
  expect(starts.length).toBeLessThanOrEqual(8 * 9 + 1)
  await clock.advance(2000)
  expect(limiter.rate).toBe(9)
  for (let i = 0; i < 10; i++) {
    limiter.slowDown(clock.now())
    await clock.advance(1)
  }
  expect(limiter.rate).toBe(1)
  await clock.advance(3_600_000)
  expect(limiter.rate).toBe(16)
})

test('an aborted call leaves the queue, keeps its reason and leaves no timer behind', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 1)
  const starts = flood(limiter, clock, 1)
  const stop = new AbortController()
  const lane = new Lane(4)
  const waiting = [limiter.take(lane, stop.signal), limiter.take(lane, stop.signal)]
  expect(limiter.waiting).toBe(2)
  stop.abort(new Error('enough'))
  for (const take of waiting) await expect(take).rejects.toThrow('enough')
  await expect(limiter.take(lane, stop.signal)).rejects.toThrow('enough')
  await setImmediate()
  expect([limiter.waiting, limiter.running, clock.sleeping, starts.length]).toEqual([0, 0, 0, 1])
  const later = flood(limiter, clock, 1)
  await clock.advance(1000)
  expect(later).toHaveLength(1)
})

test('a clock that is set back costs a slot at most, or a pause once more', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, 2)
  const starts = flood(limiter, clock, 2)
  clock.setBack(3_600_000)
  await clock.advance(1000)
  expect(starts).toHaveLength(2)
  limiter.pause(3000, null)
  const later = flood(limiter, clock, 2)
  clock.setBack(3_600_000)
  await clock.advance(6500)
  expect(later).toHaveLength(2)
})

test('without a limit nobody waits, even after a 429', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter(clock, Infinity)
  limiter.slowDown(clock.now())
  const starts = flood(limiter, clock, 500, 0, new Lane(1000))
  await setImmediate()
  expect(starts).toHaveLength(500)
})

test('another rate holds at once, also over the moment of the change, and for calls that wait', async () => {
  for (const [before, after] of [
    [50, 5],
    [5, 50],
    [10, 1],
  ]) {
    const clock = new ManualClock()
    const limiter = new Limiter(clock, before)
    const starts = flood(limiter, clock, 400)
    await clock.advance(3000)
    limiter.retune(after)
    const changedAt = clock.now()
    await clock.advance(5000)
    const since = starts.filter((start) => start > changedAt)
    expect(mostInOneSecond(since)).toBeLessThanOrEqual(after + 1)
    expect(mostInOneSecond(starts)).toBeLessThanOrEqual(Math.max(before, after) + 1)
    expect(since.length).toBeGreaterThanOrEqual(after * 4)
    expect(limiter.rate).toBe(after)
  }
})

describe('a limiter of a process alone', () =>
  limiterContract(async () => {
    const clock = new ManualClock()
    return { clock, reached: 0.97, open: (rate) => new Limiter(clock, rate), pass: (time) => clock.advance(time) }
  }))

describe('what makes a call ready', () => {
  /** Sends calls that are made ready by `prepare`; returns when each was asked to be ready, and when it started. */
  function prepared(limiter: Limiter, clock: ManualClock, count: number, prepare: () => Promise<void>) {
    const lane = new Lane(1000)
    const asked: number[] = []
    const starts: number[] = []
    for (let i = 0; i < count; i++) {
      const ask = () => {
        asked.push(clock.now())
        return prepare()
      }
      void limiter.take(lane, undefined, Infinity, ask).then(() => {
        starts.push(clock.now())
        limiter.done(lane)
      })
    }
    return { asked, starts }
  }

  test('is done before its slot, however long it takes, and shortly before', async () => {
    const clock = new ManualClock()
    const limiter = new Limiter(clock, 50)
    let turns = 0
    const { asked, starts } = prepared(limiter, clock, 500, () => clock.sleep((turns++ * 37) % 60))
    await clock.advance(5000)
    expect(starts.length).toBeGreaterThanOrEqual(248)
    // Those before were not ready at once.
    const gaps = starts.slice(10).map((start, i) => start - starts[i + 9])
    expect(new Set(gaps)).toEqual(new Set([20]))
    // A stop leaves few of them ready in vain.
    expect(asked.length - starts.length).toBeLessThanOrEqual(14)
  })

  test('keeps nobody else while it takes its time', async () => {
    const clock = new ManualClock()
    const limiter = new Limiter(clock, 50)
    const slow = prepared(limiter, clock, 1, () => clock.sleep(400))
    const others = prepared(limiter, clock, 10, async () => {})
    await clock.advance(399)
    expect([slow.starts.length, others.starts.length]).toEqual([0, 10])
    await clock.advance(1)
    expect(slow.starts).toHaveLength(1)
  })

  test('is done again where the slot comes later than expected, and not while a pause lasts', async () => {
    const clock = new ManualClock()
    const limiter = new Limiter(clock, 2)
    const { asked, starts } = prepared(limiter, clock, 2, async () => {})
    await clock.advance(1)
    expect([asked.length, starts.length]).toEqual([1, 1])
    await clock.advance(300)
    expect([asked.length, starts.length]).toEqual([2, 1])
    limiter.pause(60_000, null)
    const end = clock.now() + 60_000
    await clock.advance(61_000)
    expect([asked.length, starts.length]).toEqual([3, 2])
    expect([asked[2], starts[1]]).toEqual([end, end])
  })

  test('is waited for where the call leaves the line meanwhile; what it throws goes through', async () => {
    const clock = new ManualClock()
    const limiter = new Limiter(clock, 50)
    const stop = new AbortController()
    const written = Promise.withResolvers<void>()
    let left = false
    const call = limiter.take(new Lane(1), stop.signal, Infinity, () => written.promise)
    const rejected = expect(call.finally(() => (left = true))).rejects.toThrow('enough')
    await setImmediate()
    stop.abort(new Error('enough'))
    await setImmediate()
    expect([left, limiter.waiting]).toEqual([false, 0])
    written.resolve()
    await rejected
    const failing = limiter.take(new Lane(1), undefined, Infinity, () => Promise.reject(new Error('disc full')))
    await expect(failing).rejects.toThrow('disc full')
    expect([limiter.waiting, limiter.running, clock.sleeping]).toEqual([0, 0, 0])
  })
})
