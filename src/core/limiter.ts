/**
 * Limits the rate of calls to one service for all its chatbots: evenly spaced, first come first served. How many calls may be
 * in flight is each chatbot's own limit, its lane: one that hangs takes no place of another.
 *
 * Calls use slots 1/rate apart (GCRA). A call that is late by less than a slot does not move the later slots, so that timer
 * jitter costs no throughput. No second ever sees more than rate + 1 calls.
 */
import type { Clock } from './machine.ts'

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

/** No calls start until then; `length`, as a clock may be set back meanwhile. */
interface Pause {
  until: number
  length: number
}

/** The calls of one chatbot: at most `most` are in flight. */
export class Lane {
  readonly most: number
  running = 0
  pause: Pause = { until: 0, length: 0 }

  constructor(most: number) {
    this.most = most
  }
}

export class Limiter {
  readonly #clock: Clock
  #configured: number
  /** In order of arrival; `leave` ends a wait that would exceed `patience`. */
  readonly #waiting = new Map<() => void, { lane: Lane; patience: number; leave: () => void }>()
  #running = 0
  #nextAt: number
  #pause: Pause = { until: 0, length: 0 }
  #slowed: { at: number; to: number }
  #sleeping: { until: number; end: AbortController } | null = null
  /** Start times of the last `rate` calls, a ring: catching up must not crowd a second. */
  #starts: number[]
  #oldest = 0

  /** `rate`: calls per second; Infinity: no limit. */
  constructor(clock: Clock, rate: number) {
    this.#clock = clock
    this.#configured = rate
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

  /** Takes another rate, which a call may have to wait for that would have started at the old one. */
  retune(rate: number): void {
    if (rate === this.#configured) return
    const latest = [...this.#starts.slice(this.#oldest), ...this.#starts.slice(0, this.#oldest)]
    const most = rate === Infinity ? 0 : Math.max(1, Math.floor(rate))
    const older = Array<number>(Math.max(0, most - latest.length)).fill(-Infinity)
    this.#starts = [...older, ...latest.slice(Math.max(0, latest.length - most))]
    this.#oldest = 0
    this.#configured = rate
    this.#startWaiting()
  }

  /** Milliseconds left of a pause, of the lane or the whole service. */
  paused(lane: Lane): number {
    const now = this.#clock.now()
    return Math.max(0, ...[this.#pause, lane.pause].map(({ until, length }) => Math.min(until - now, length)))
  }

  /**
   * Resolves when it is the caller's turn; `done` must follow. Rejects with the signal's reason when aborted before, and at
   * once if a pause lasts longer than `patience` milliseconds.
   */
  async take(lane: Lane, signal?: AbortSignal, patience = Infinity): Promise<void> {
    if (signal?.aborted) throw signal.reason
    if (this.paused(lane) > patience) throw new Error('the pause is longer than the caller waits')
    if (this.#waiting.size === 0 && lane.running < lane.most && this.#wait(lane) <= 0) return this.#start(lane)
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.delete(start)
        // Nothing waits any more, and the timer would keep the process alive.
        if (this.#waiting.size === 0) this.#sleeping?.end.abort()
        signal?.removeEventListener('abort', leave)
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason is the caller's own.
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.set(start, { lane, patience, leave })
      this.#startWaiting()
    })
  }

  /** Ends a call that `take` let through. */
  done(lane: Lane): void {
    this.#running--
    lane.running--
    this.#startWaiting()
  }

  /** Starts no calls for so many milliseconds (Retry-After), or until the end of a longer pause; null: those of no lane. */
  pause(milliseconds: number, only: Lane | null): void {
    const until = this.#clock.now() + milliseconds
    const before = only?.pause ?? this.#pause
    if (until > before.until) Object.assign(before, { until, length: milliseconds })
    for (const { lane, patience, leave } of this.#waiting.values()) if (this.paused(lane) > patience) leave()
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

  /** Milliseconds until the next call of a lane may start. */
  #wait(lane: Lane): number {
    const now = this.#clock.now()
    // A clock that was set back must not stop calls until it has caught up.
    this.#nextAt = Math.min(this.#nextAt, now + this.#slot())
    for (const pause of [this.#pause, lane.pause]) pause.until = Math.min(pause.until, now + pause.length)
    const window = 1000 - windowSlack * this.#slot()
    const windowEnd = (this.#starts[this.#oldest] ?? -Infinity) + window
    const paused = Math.max(this.#pause.until, lane.pause.until)
    return Math.max(this.#nextAt, paused, windowEnd <= now + window ? windowEnd : -Infinity) - now
  }

  #start(lane: Lane): void {
    const slot = this.#slot()
    const now = this.#clock.now()
    this.#nextAt = Math.max(this.#nextAt, now - longestDebt * slot) + slot
    if (this.#starts.length > 0) {
      this.#starts[this.#oldest] = now
      this.#oldest = (this.#oldest + 1) % this.#starts.length
    }
    this.#running++
    lane.running++
  }

  #startWaiting(): void {
    let soonest = Infinity
    for (const [start, { lane }] of this.#waiting) {
      if (lane.running >= lane.most) continue
      const wait = this.#wait(lane)
      if (wait > 0) {
        soonest = Math.min(soonest, wait)
        // Nobody may start before, unless the wait is the lane's own.
        if (lane.pause.until > this.#clock.now()) continue
        break
      }
      this.#waiting.delete(start)
      this.#start(lane)
      start()
    }
    if (soonest < Infinity) this.#wakeAfter(soonest)
  }

  #wakeAfter(wait: number): void {
    const until = this.#clock.now() + wait
    if (this.#sleeping !== null) {
      // One that waits for the end of its pause must not keep the others.
      if (until < this.#sleeping.until - 1) this.#sleeping.end.abort()
      return
    }
    const sleeping = { until, end: new AbortController() }
    this.#sleeping = sleeping
    const woken = () => {
      this.#sleeping = null
      this.#startWaiting()
    }
    // Timers truncate to whole milliseconds.
    this.#clock.sleep(Math.ceil(wait), sleeping.end.signal).then(woken, woken)
  }
}
