/**
 * Limits the rate of calls to one service for all its chatbots: evenly spaced, first come first served. Each chatbot has a lane with
 * a limit of its own for calls in flight, so that one that hangs takes no place of another.
 *
 * Calls use slots 1/rate apart (GCRA). What must be done before a call is done before its slot comes, so that nothing lies between
 * slot and wire. Delays by late timers are caught up on at once, but no second ever sees more than rate + 1 calls.
 */
import type { Clock } from './machine.ts'

/** The rate grows by a step this long after it was last halved, in milliseconds. */
const recoveryInterval = 10_000
/** Milliseconds that waiting calls may be behind their slots without moving later slots. */
const longestDebt = 100
/** The same, as a share of a slot, for a call that comes when none waits. Unused slots are not saved up. */
const longestRest = 0.75
/**
 * Evenly spaced, rate + 1 calls take more than a second by one slot. Up to so many milliseconds of that are kept even when late
 * timers are caught up on, as calls take unequal times on their way to the service.
 */
const longestSlack = 50
/** A step of recovery, and the lowest rate, as a share of the configured rate. */
const smallestShare = 1 / 16
/**
 * A call is made ready `ahead` of its slot: enough for a slow disk, and few calls are made ready in vain. If the slot comes later than
 * `for` after that, the call is made ready again. Milliseconds.
 */
export const ready = { ahead: 250, for: 2000 }

/** No calls start before `until`. `length` limits the wait if the clock is set back meanwhile. */
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

/** The pause is longer than the caller waits. */
export class TooLongPause extends Error {
  override message = 'the pause is longer than the caller waits'
}

/** A call in line. */
interface Waiting {
  readonly lane: Lane
  readonly patience: number
  /** Makes the call ready to go out; null: it always is. */
  readonly prepare: (() => Promise<void>) | null
  /** When it was made ready. */
  readyAt: number
  preparing: Promise<void> | null
  readonly start: (sent: () => void) => void
  readonly fail: (reason: unknown) => void
}

/** What callers of a service use of its limiter, whether one process has it alone or several share it. */
export type CallLimiter = Pick<Limiter, 'take' | 'done' | 'paused' | 'pause' | 'slowDown' | 'retune'>

export class Limiter {
  readonly #clock: Clock
  #configured: number
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>()
  #running = 0
  #nextAt: number
  #pause: Pause = { until: 0, length: 0 }
  #slowed: { at: number; to: number }
  #sleeping: { until: number; end: AbortController } | null = null
  /** When the last rate + 1 calls went out, as a ring, so that catching up never crowds a second. */
  #starts: { at: number }[]
  #oldest = 0

  /** `rate`: calls per second; Infinity: no limit. */
  constructor(clock: Clock, rate: number) {
    this.#clock = clock
    this.#configured = rate
    this.#nextAt = clock.now()
    this.#starts = longAgo(callsCounted(rate))
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

  /** Sets another rate. A call that would have started at the old one may have to wait longer. */
  retune(rate: number): void {
    if (rate === this.#configured) return
    const latest = [...this.#starts.slice(this.#oldest), ...this.#starts.slice(0, this.#oldest)]
    const most = callsCounted(rate)
    const older = longAgo(Math.max(0, most - latest.length))
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
   * Resolves when it is the caller's turn; `done` must follow. Gives a function to be called once the call has gone out, as the
   * process may have been kept waiting meanwhile. `prepare` makes the call ready to go out, shortly before its turn, and again if
   * that comes much later than expected. Rejects with the signal's reason if aborted before, with what `prepare` throws, and at once
   * with `TooLongPause` if a pause is longer than `patience` milliseconds; never while `prepare` is at work.
   */
  async take(
    lane: Lane,
    signal?: AbortSignal,
    patience = Infinity,
    prepare: Waiting['prepare'] = null,
  ): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.paused(lane) > patience) throw new TooLongPause()
    if (this.#waiting.size === 0) this.#nextAt = Math.max(this.#nextAt, this.#clock.now() - longestRest * this.#slot())
    let leave = (): void => undefined
    try {
      return await new Promise<() => void>((start, fail) => {
        const waiting: Waiting = { lane, patience, prepare, readyAt: -Infinity, preparing: null, start, fail }
        this.#waiting.add(waiting)
        this.#startWaiting()
        if (!this.#waiting.has(waiting)) return
        leave = () => this.#leave(waiting, signal!.reason)
        signal?.addEventListener('abort', leave, { once: true })
      })
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  /** Ends a call that `take` let through. */
  done(lane: Lane): void {
    this.#running--
    lane.running--
    this.#startWaiting()
  }

  /** Starts no calls for so many milliseconds (Retry-After), or until a longer pause ends. `only`: of this lane; null: of any. */
  pause(milliseconds: number, only: Lane | null): void {
    const until = this.#clock.now() + milliseconds
    const before = only?.pause ?? this.#pause
    if (until > before.until) Object.assign(before, { until, length: milliseconds })
    for (const waiting of this.#waiting)
      if (this.paused(waiting.lane) > waiting.patience) this.#leave(waiting, new TooLongPause())
  }

  /**
   * Halves the rate (429, 503), which then grows back step by step. `sentAt`: when the refused call was sent. Several calls that are
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

  /** When the next call may start, in any lane that is not paused. */
  #freeAt(now: number): number {
    // A clock that was set back must not stop calls until it has caught up.
    this.#nextAt = Math.min(this.#nextAt, now + this.#slot())
    const beyond = (this.#starts.length * 1000) / this.#configured - 1000
    const window = 1000 + Math.min(beyond, longestSlack)
    const windowEnd = (this.#starts[this.#oldest]?.at ?? -Infinity) + window
    return Math.max(this.#nextAt, endOf(this.#pause, now), windowEnd <= now + window ? windowEnd : -Infinity)
  }

  /** Starts a call. Gives the function that notes when it has gone out. */
  #start(lane: Lane, now: number): () => void {
    const slot = this.#slot()
    this.#nextAt = Math.max(this.#nextAt, this.#pause.until, now - longestDebt) + slot
    const start = { at: now }
    if (this.#starts.length > 0) {
      this.#starts[this.#oldest] = start
      this.#oldest = (this.#oldest + 1) % this.#starts.length
    }
    this.#running++
    lane.running++
    return () => void (start.at = this.#clock.now())
  }

  #startWaiting(): void {
    const now = this.#clock.now()
    const slot = this.#slot()
    let freeAt = this.#freeAt(now)
    let soonest = Infinity
    let ahead = 0
    for (const waiting of this.#waiting) {
      const { lane } = waiting
      if (lane.running >= lane.most) continue
      const wait = Math.max(freeAt, endOf(lane.pause, now)) - now
      const due = Math.max(0, wait) + ahead * slot
      if (due <= ready.ahead && !this.#isReady(waiting, now)) this.#prepare(waiting)
      if (!this.#isReady(waiting, now)) {
        if (waiting.preparing === null) soonest = Math.min(soonest, due - ready.ahead)
      } else if (wait <= 0) {
        this.#waiting.delete(waiting)
        waiting.start(this.#start(lane, now))
        freeAt = this.#freeAt(now)
        continue
      } else soonest = Math.min(soonest, wait)
      // Calls behind one that is not ready yet need not be ready either, unless only this lane has to wait.
      if (lane.pause.until > now) continue
      if (due > ready.ahead) break
      ahead++
    }
    if (soonest < Infinity) this.#wakeAfter(soonest)
  }

  #isReady({ prepare, preparing, readyAt }: Waiting, now: number): boolean {
    return prepare === null || (preparing === null && now - readyAt <= ready.for)
  }

  #prepare(waiting: Waiting): void {
    if (waiting.preparing !== null) return
    // Not within the walk over the line: `prepare` may end this call and others.
    waiting.preparing = Promise.resolve()
      .then(waiting.prepare)
      .then(() => {
        waiting.preparing = null
        waiting.readyAt = this.#clock.now()
        if (this.#waiting.has(waiting)) this.#startWaiting()
      })
      .catch((error: unknown) => {
        waiting.fail(error)
        this.#leave(waiting, error)
      })
  }

  /** Takes a call out of the line. If it is being made ready, as by writing its mark, its caller is told after that. */
  #leave(waiting: Waiting, reason: unknown): void {
    if (!this.#waiting.delete(waiting)) return
    // Nothing waits any more, and a timer would keep the process alive.
    if (this.#waiting.size === 0) this.#sleeping?.end.abort()
    const tell = (): void => waiting.fail(reason)
    if (waiting.preparing === null) tell()
    else void waiting.preparing.then(tell)
  }

  #wakeAfter(wait: number): void {
    const until = this.#clock.now() + wait
    if (this.#sleeping !== null) {
      // A wait for the end of a pause must not hold up other lanes.
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

/** The most calls that any second may see. */
const callsCounted = (rate: number): number => (rate === Infinity ? 0 : Math.floor(rate) + 1)

/** The end of a pause. If the clock was set back since, it is the pause's whole length from now. */
const endOf = (pause: Pause, now: number): number => (pause.until = Math.min(pause.until, now + pause.length))

const longAgo = (length: number): { at: number }[] => Array.from({ length }, () => ({ at: -Infinity }))
