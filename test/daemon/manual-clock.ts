import { setImmediate as nextRound } from 'node:timers/promises'
import type { Clock } from '../../src/core/machine.ts'

/** Waits that are over at once: the rate, and tries again. */
const shortSleep = 2000

/** Time that stands still until a test lets it pass; who sleeps is woken when it has. */
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

  /** Time passes and nobody is woken. */
  jump(milliseconds: number): void {
    this.#now += milliseconds
  }

  /** Lets time pass in steps of at most ten seconds; whoever wakes has its turn before the next one. */
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
