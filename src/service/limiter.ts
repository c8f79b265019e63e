/**
 * Limits the rate of calls to one service for all its chatbots: evenly spaced, first come first served, with at most
 * `concurrency` calls in flight.
 *
 * Calls use slots 1/rate apart (GCRA). A call that is late by less than a slot does not move the later slots, so that timer
 * jitter costs no throughput. No second ever sees more than rate + 1 calls.
 */
import type { Clock } from '../core/machine.ts'

/** The rate grows by a step this long after it was last halved, in milliseconds. */
const recoveryInterval = 10_000
/**
 * How late, as a share of a slot, a call may be without moving later slots. With a whole slot, calls delayed on their way
 * would break the limit of rate + 1 (52 were seen at 50/s).
 */
const longestDebt = 0.75
/**
 * At most `rate` calls start within a second less this share of a slot, however late their timers were, which leaves room for
 * delays on the way to the service.
 */
const windowSlack = 0.5
/** A step of recovery, and the lowest rate, as a share of the configured rate. */
const smallestShare = 1 / 16

export class Limiter {
  readonly #clock: Clock
  readonly #configured: number
  readonly #concurrency: number
  /** In order of arrival; `leave` ends a wait that would exceed `patience`. */
  readonly #waiting = new Map<() => void, { patience: number; leave: () => void }>()
  #running = 0
  #nextAt: number
  #pause = { until: 0, length: 0 }
  #slowed: { at: number; to: number }
  #sleeping: AbortController | null = null
  /** Start times of the last `rate` calls, a ring: catching up must not crowd a second. */
  readonly #starts: number[]
  #oldest = 0

  /** `rate`: calls per second; Infinity: no limit. */
  constructor(clock: Clock, rate: number, concurrency: number) {
    this.#clock = clock
    this.#configured = rate
    this.#concurrency = concurrency
    this.#nextAt = clock.now()
    this.#starts = rate === Infinity ? [] : Array<number>(Math.max(1, Math.floor(rate))).fill(-Infinity)
    this.#slowed = { at: -Infinity, to: rate }
  }

  /** Calls per second now: the configured rate, or less after `slowDown`. */
  get rate(): number {
    const steps = Math.max(0, Math.floor((this.#clock.now() - this.#slowed.at) / recoveryInterval))
    return Math.min(this.#configured, this.#slowed.to + steps * this.#configured * smallestShare)
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Calls in flight. */
  get running(): number {
    return this.#running
  }

  /** Milliseconds left of a pause. */
  get paused(): number {
    return Math.max(0, Math.min(this.#pause.until - this.#clock.now(), this.#pause.length))
  }

  /**
   * Resolves when it is the caller's turn; `done` must follow. Rejects with the signal's reason when aborted before, and at
   * once if a pause lasts longer than `patience` milliseconds.
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
        // Nothing waits any more, and the timer would keep the process alive.
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

  /** Ends a call that `take` let through. */
  done(): void {
    this.#running--
    this.#startWaiting()
  }

  /** Starts no calls for so many milliseconds (Retry-After), or until the end of a longer pause. */
  pause(milliseconds: number): void {
    const until = this.#clock.now() + milliseconds
    if (until > this.#pause.until) this.#pause = { until, length: milliseconds }
    for (const { patience, leave } of this.#waiting.values()) if (this.paused > patience) leave()
  }

  /**
   * Halves the rate (429, 503), which then grows back step by step. `sentAt`: when the refused call was sent, as several calls
   * refused together halve the rate only once.
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
    // A clock that was set back must not stop calls until it has caught up.
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
    // Timers truncate to whole milliseconds.
    this.#clock.sleep(Math.ceil(wait), sleeping.signal).then(woken, woken)
  }
}
