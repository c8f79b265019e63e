import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../src/core/machine.ts'

interface Sleeper {
  at: number
  wake(): void
}

/**
 * A clock that only moves when told. Sleeps of at most `jump` milliseconds advance it, so that back-off takes no time while the
 * longer timeout of a call never fires.
 */
export class ManualClock implements Clock {
  readonly sleeps: number[] = []
  /** Milliseconds by which each sleep ends late, as a real timer's does. */
  lateness: () => number = () => 0
  readonly #jump: number
  readonly #sleepers = new Set<Sleeper>()
  #now = Date.UTC(2026, 10, 21)

  constructor(jump = 0) {
    this.#jump = jump
  }

  now(): number {
    return this.#now
  }

  /** Sets the clock back; timers are not affected. */
  setBack(milliseconds: number): void {
    this.#now -= milliseconds
    for (const sleeper of this.#sleepers) sleeper.at -= milliseconds
  }

  /** Lets time pass of which no timer hears before it is over, as while the process is frozen. */
  skip(milliseconds: number): void {
    this.#now += milliseconds
  }

  /** Sleeps that have not ended. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(milliseconds)
    await new Promise<void>((resolve, reject) => {
      const sleeper = { at: this.#now + milliseconds + this.lateness(), wake: resolve }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper)
        reject(new Error('sleep was aborted', { cause: signal.reason }))
      })
      if (milliseconds <= this.#jump) globalThis.setImmediate(() => this.#wakeUntil(Math.max(this.#now, sleeper.at)))
    })
  }

  /** Advances time, waking sleepers in order and letting each run as far as it can. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    await setImmediate()
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.#wakeUntil(next.at)
      await setImmediate()
    }
    this.#now = end
  }

  #next(): Sleeper | undefined {
    let next: Sleeper | undefined
    for (const sleeper of this.#sleepers) if (!next || sleeper.at < next.at) next = sleeper
    return next
  }

  #wakeUntil(time: number): void {
    this.#now = Math.max(this.#now, time)
    for (const sleeper of this.#sleepers) {
      if (sleeper.at > this.#now) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}
