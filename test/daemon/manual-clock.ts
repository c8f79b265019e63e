import { setImmediate as nextRound } from 'node:timers/promises'
import type { Clock } from '../../src/core/machine.ts'

/** Waits that end at once: for the rate, and for retries. */
const shortSleep = 2000

/** A clock that only a test advances; sleepers wake when their time has passed. */
export class ManualClock implements Clock {
  #now: number
  #sleepers = new Set<{ due: number; wake: () => void }>()

  constructor(start: string) {
    this.#now = Date.parse(start)
  }

  now(): number {
    return this.#now
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (milliseconds <= shortSleep) this.#now += Math.max(0, milliseconds)
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const sleeper = { due: this.#now + (milliseconds <= shortSleep ? 0 : milliseconds), wake: resolve }
      if (sleeper.due <= this.#now) return resolve()
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper)
        reject(signal.reason)
      })
    })
  }

  /** Time passes and nobody is woken; or the clock is set back, of which timers know nothing. */
  jump(milliseconds: number): void {
    this.#now += milliseconds
    if (milliseconds < 0) for (const sleeper of this.#sleepers) sleeper.due += milliseconds
  }

  /** Advances time in steps of at most ten seconds; sleepers that wake run before the next step. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    while (this.#now < end) {
      this.#now = Math.min(end, this.#now + 10_000)
      for (const sleeper of this.#sleepers) {
        if (sleeper.due > this.#now) continue
        this.#sleepers.delete(sleeper)
        sleeper.wake()
      }
      for (let round = 0; round < 5; round++) await nextRound()
    }
  }
}
