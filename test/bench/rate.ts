/**
 * P7: the share of the configured rate that is reached, and the most calls in any window of one second. A minute at each
 * rate on a virtual clock whose timers come late, as real ones do, and some seconds of real time: the minute of it is in `calls`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../src/core/machine.ts'
import { Lane, Limiter } from '../../src/core/limiter.ts'
import { seeded } from '../support/random.ts'
import { figure, mostInASecond } from './measure.ts'

const second = 1000
/** As many as it takes at any of the rates. */
const concurrency = 256
const random = seeded(20261121)

/** Time passes from one sleeper to the next; each is woken up to `lateness` milliseconds late. */
class VirtualClock implements Clock {
  readonly #lateness: number
  #now = 0
  #sleepers: { at: number; wake: () => void }[] = []

  constructor(lateness: number) {
    this.#lateness = lateness
  }

  now(): number {
    return Math.floor(this.#now)
  }

  sleep(milliseconds: number): Promise<void> {
    const at = this.#now + milliseconds + random() * this.#lateness
    return new Promise((wake) => this.#sleepers.push({ at, wake }))
  }

  /** Lets time pass up to an instant. */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      const next = this.#sleepers.reduce((a, b) => (b.at < a.at ? b : a), { at: Infinity, wake: () => {} })
      if (next.at > end) return
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next)
      this.#now = Math.max(this.#now, next.at)
      next.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/** Calls as fast as the limiter lets them, each under way for 20 to 200 ms; notes when they start, until told to end. */
function calling(clock: Clock, rate: number, ending: AbortSignal): number[] {
  const limiter = new Limiter(clock, rate)
  const lane = new Lane(concurrency)
  const starts: number[] = []
  const caller = async (): Promise<void> => {
    while (!ending.aborted) {
      const sent = await limiter.take(lane)
      starts.push(clock.now())
      sent()
      await clock.sleep(20 + random() * 180)
      limiter.done(lane)
    }
  }
  for (let number = 0; number < concurrency; number++) void caller()
  return starts
}

function report(what: string, starts: readonly number[], rate: number, seconds: number): void {
  const within = starts.filter((at) => at < starts[0] + seconds * second)
  figure('P7', `rate ${what}: calls / (rate × time)`, within.length / (rate * seconds), '×', { least: 0.99 })
  figure('P7', `rate ${what}: most calls in a second`, mostInASecond(within), 'calls', { most: rate + 1 })
}

for (const rate of [5, 50, 200, 1000]) {
  const clock = new VirtualClock(4)
  const starts = calling(clock, rate, new AbortController().signal)
  await clock.runUntil(61 * second)
  report(`${rate}/s, a minute of virtual time, timers up to 4 ms late`, starts, rate, 60)
}

const realClock: Clock = { now: () => Date.now(), sleep: (milliseconds) => delay(milliseconds) }
const ending = new AbortController()
const starts = calling(realClock, 50, ending.signal)
const seconds = Number(process.argv[3])
await delay((seconds + 0.5) * second)
ending.abort()
report(`50/s, ${seconds} seconds of real time`, starts, 50, seconds)
