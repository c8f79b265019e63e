/** The limiter that several processes share, on a real database and a clock that the test lets pass. */
import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SharedLimiter } from '../../src/core/shared-limiter.ts'
import type { Pace } from '../../src/core/shared-limiter.ts'
import { openPace } from '../../src/store/postgres/pace.ts'
import { Lane } from '../../src/core/limiter.ts'
import { flood, limiterContract, mostInOneSecond } from '../contract/limiter.ts'
import type { LimiterWorld } from '../contract/limiter.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { ManualClock } from '../service/clock.ts'

describe.skipIf(noPostgres !== null)('the limiter of several processes', () => {
  let server: PostgresServer
  let paces: ReturnType<typeof openPace>[] = []
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())
  afterEach(async () => {
    for (const pace of paces) await pace.close()
    paces = []
  })

  /** Time stands still while the database is asked. */
  async function begin(): Promise<LimiterWorld> {
    const address = await server.database()
    const clock = new ManualClock()
    const asked = new Set<Promise<unknown>>()
    const counted = <Value>(asking: Promise<Value>): Promise<Value> => {
      const answer = asking.finally(() => asked.delete(answer))
      asked.add(answer)
      return answer
    }
    const settle = async (): Promise<void> => {
      do {
        await Promise.allSettled(asked)
        for (let round = 0; round < 5; round++) await setImmediate()
      } while (asked.size > 0)
    }
    return {
      clock,
      reached: 0.92,
      open(rate) {
        const pace = openPace(address, 'http://service', () => clock.now())
        paces.push(pace)
        const asking: Pace = {
          ask: (...words) => counted(pace.ask(...words)),
          pause: (...words) => counted(pace.pause(...words)),
          slowDown: (...words) => counted(pace.slowDown(...words)),
        }
        return new SharedLimiter(clock, rate, () => Promise.resolve(asking))
      },
      async pass(milliseconds) {
        const end = clock.now() + milliseconds
        await settle()
        while (clock.now() < end) {
          await clock.advance(Math.min(5, end - clock.now()))
          await settle()
        }
      },
    }
  }

  limiterContract(begin)

  it.for([
    [20, 12],
    [100, 4],
  ])(
    'three processes together stay within %i a second and use it, each chatbot as much as another',
    async ([rate, seconds]) => {
      const world = await begin()
      let timers = 0
      world.clock.lateness = () => (timers++ * 17) % 45
      const starts = [1, 1, 4].map((chatbots) => {
        const limiter = world.open(rate)
        return Array.from({ length: chatbots }, () => flood(limiter, world.clock, 200, 30))
      })
      await world.pass(seconds * 1000)
      const all = starts.flat(2)
      expect(mostInOneSecond(all)).toBeLessThanOrEqual(rate + 1)
      expect(all.length).toBeGreaterThanOrEqual(rate * seconds * 0.92)
      const counts = starts.flat().map(({ length }) => length)
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(0.7 * Math.max(...counts))
    },
  )

  it('what one is told by the service, a wait or a slower rate, all go by', async () => {
    const world = await begin()
    const [first, other] = [world.open(20), world.open(20)]
    const before = flood(other, world.clock, 1)
    await world.pass(100)
    first.pause(3000, null)
    first.slowDown(world.clock.now() - 50)
    const at = world.clock.now()
    await world.pass(10)
    const starts = flood(other, world.clock, 200)
    await world.pass(2900)
    expect([before.length, starts.length]).toEqual([1, 0])
    expect(other.paused(new Lane(1))).toBeGreaterThan(0)
    await world.pass(4100)
    expect(starts[0] - at).toBeGreaterThanOrEqual(3000)
    expect(starts.length).toBeLessThanOrEqual(10 * 4 + 2)
  })

  it('a call that comes late, as after a freeze, takes another slot, and is made ready anew', async () => {
    const world = await begin()
    const limiter = world.open(10)
    const asked: number[] = []
    let started = 0
    const call = limiter
      .take(new Lane(1), undefined, Infinity, async () => {
        asked.push(world.clock.now())
        // The process is frozen while the mark is written.
        if (asked.length === 1) world.clock.skip(60_000)
      })
      .then(() => (started = world.clock.now()))
    await world.pass(1000)
    await call
    expect(asked).toHaveLength(2)
    expect(started - asked[1]).toBeLessThanOrEqual(300)
  })

  it('the database that is away is told to the caller', async () => {
    const address = await server.database()
    await server.stop()
    const pace = openPace(address, 'http://service')
    paces.push(pace)
    const lane = new Lane(1)
    const limiter = new SharedLimiter(new ManualClock(), 10, () => Promise.resolve(pace))
    await expect(limiter.take(lane)).rejects.toThrow("can't be reached")
    expect(lane.running).toBe(0)
    await server.start()
  })
})
