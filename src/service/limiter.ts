/**
 * The rate of calls to one service, shared by all its chatbots: evenly paced, first
 * come first served, with at most `concurrency` calls under way.
 *
 * The pace is a grid of slots 1/rate apart (GCRA). A slot that is used late keeps the grid where it is, as long as it is
 * late by less than a slot, so that the jitter of timers costs no throughput; and no window of one second ever sees more
 * than rate + 1 calls.
 */
import type { Clock } from '../core/machine.ts'

/** How long after the last slowing the rate grows by a step, in milliseconds. */
const recoveryInterval = 10_000
/**
 * How late, as a share of a slot, a call may be without moving the grid. With a whole slot the bound of rate + 1 would be
 * met to the very millisecond, and calls that are held up a little on their way would break it (52 were seen at 50/s).
 */
const longestDebt = 0.75
/**
 * No more than `rate` calls start within a second less this share of a slot, however late their timers were: then the next
 * one makes rate + 1 in a second, and what delays calls on their way to the service has room to make no more of it.
 */
const windowSlack = 0.5
/** A step of recovery, and the least the rate falls to, as a share of the configured rate. */
const smallestShare = 1 / 16

export class Limiter {
  readonly #clock: Clock
  readonly #configured: number
  readonly #concurrency: number
  /** In the order of arrival; `leave` ends a wait that would be longer than `patience`. */
  readonly #waiting = new Map<() => void, { patience: number; leave: () => void }>()
  #running = 0
  #nextAt: number
  #pause = { until: 0, length: 0 }
  #slowed: { at: number; to: number }
  #sleeping: AbortController | null = null
  /** When the last `rate` calls started, a ring: what a late call makes good must not crowd a second. */
  readonly #starts: number[]
  #oldest = 0

  /** `rate` in calls a second; Infinity for no limit. */
  constructor(clock: Clock, rate: number, concurrency: number) {
    this.#clock = clock
    this.#configured = rate
    this.#concurrency = concurrency
    this.#nextAt = clock.now()
    this.#starts = rate === Infinity ? [] : Array<number>(Math.max(1, Math.floor(rate))).fill(-Infinity)
    this.#slowed = { at: -Infinity, to: rate }
  }

  /** Calls a second at present: the configured rate, or less for a while after `slowDown`. */
  get rate(): number {
    const steps = Math.max(0, Math.floor((this.#clock.now() - this.#slowed.at) / recoveryInterval))
    return Math.min(this.#configured, this.#slowed.to + steps * this.#configured * smallestShare)
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Calls under way. */
  get running(): number {
    return this.#running
  }

  /** Milliseconds that a pause still lasts. */
  get paused(): number {
    return Math.max(0, Math.min(this.#pause.until - this.#clock.now(), this.#pause.length))
  }

  /**
   * Resolves when it is the caller's turn; `done` must follow. Rejects with the signal's reason when aborted before, and
   * at once where a pause lasts longer than `patience` milliseconds.
   */
  async take(signal?: AbortSignal, patience = Infinity): Promise<void> {
    if (signal?.aborted) throw signal.reason
    if (this.paused > patience) throw new Error('the pause is longer than the caller waits')
    if (this.#waiting.size === 0 && this.#running < this.#concurrency && this.#wait() <= 0) return this.#start()
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.delete(start)
        // Nobody is left to be woken, and a timer would keep the process alive.
        if (this.#waiting.size === 0) this.#sleeping?.abort()
        signal?.removeEventListener('abort', leave)
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason is the caller's own.
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.set(start, { patience, leave })
      this.#startWaiting()
    })
  }

  /** A call that `take` let through is over. */
  done(): void {
    this.#running--
    this.#startWaiting()
  }

  /** Lets nobody start for so many milliseconds (Retry-After); a longer pause already under way stays. */
  pause(milliseconds: number): void {
    const until = this.#clock.now() + milliseconds
    if (until > this.#pause.until) this.#pause = { until, length: milliseconds }
    for (const { patience, leave } of this.#waiting.values()) if (this.paused > patience) leave()
  }

  /**
   * Halves the rate (429, 503), which then grows back step by step. `sentAt` is when the call went out that was told so:
   * several calls refused at once are one piece of news.
   */
  slowDown(sentAt: number): void {
    if (sentAt <= this.#slowed.at || this.#configured === Infinity) return
    const to = Math.max(this.#configured * smallestShare, this.rate / 2)
    this.#slowed = { at: this.#clock.now(), to }
  }

  #slot(): number {
    return 1000 / this.rate
  }

  /** Milliseconds until the next call may start. */
  #wait(): number {
    const now = this.#clock.now()
    // A clock that was set back must not stop the calls until it has caught up.
    this.#nextAt = Math.min(this.#nextAt, now + this.#slot())
    this.#pause.until = Math.min(this.#pause.until, now + this.#pause.length)
    const window = 1000 - windowSlack * this.#slot()
    const windowEnd = (this.#starts[this.#oldest] ?? -Infinity) + window
    return Math.max(this.#nextAt, this.#pause.until, windowEnd <= now + window ? windowEnd : -Infinity) - now
  }

  #start(): void {
    const slot = this.#slot()
    const now = this.#clock.now()
    this.#nextAt = Math.max(this.#nextAt, now - longestDebt * slot) + slot
    if (this.#starts.length > 0) {
      this.#starts[this.#oldest] = now
      this.#oldest = (this.#oldest + 1) % this.#starts.length
    }
    this.#running++
  }

  #startWaiting(): void {
    for (const start of this.#waiting.keys()) {
      if (this.#running >= this.#concurrency) return
      const wait = this.#wait()
      if (wait > 0) return this.#wakeAfter(wait)
      this.#waiting.delete(start)
      this.#start()
      start()
    }
  }

  #wakeAfter(wait: number): void {
    if (this.#sleeping) return
    const sleeping = new AbortController()
    this.#sleeping = sleeping
    const woken = () => {
      this.#sleeping = null
      this.#startWaiting()
    }
    // Timers take whole milliseconds and cut the rest off.
    this.#clock.sleep(Math.ceil(wait), sleeping.signal).then(woken, woken)
  }
}
