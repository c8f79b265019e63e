/**
 * The limiter of a service that several processes call. Each keeps its own line, and all take slots from one pace. A call goes out at
 * its slot, or takes another one: a late call would crowd the slots of others.
 */
import { Limiter, TooLongPause, ready } from './limiter.ts'
import type { CallLimiter, Lane } from './limiter.ts'
import type { Clock } from './machine.ts'

/** The pace of a service, which all processes share. */
export interface Pace {
  /**
   * Reserves so many slots at a rate, or a lower one after `slowDown`. All in milliseconds: `wait` from the question to the first
   * slot; `gap` from one slot to the next; `paused` until a pause of the whole service ends, after which the slots come.
   */
  ask(calls: number, rate: number): Promise<{ wait: number; gap: number; paused: number }>
  /** Gives no slots for so many milliseconds. */
  pause(milliseconds: number): Promise<void>
  /** Halves the rate, unless that was done within the last `ago` milliseconds, since the call was sent. */
  slowDown(ago: number, rate: number): Promise<void>
}

/** How late after its slot a call may go out, in milliseconds. The pace leaves as much room in each second. */
export const mostLate = 50
/** How many slots a call may miss in a row. A database that is too far away for that can't pace calls more exactly. */
const mostMissed = 3
interface Asking {
  resolve(slot: { at: number }): void
  reject(error: unknown): void
}

export class SharedLimiter implements CallLimiter {
  readonly #clock: Clock
  readonly #pace: () => Promise<Pace>
  readonly #own: Limiter
  readonly #asking: Asking[] = []
  #isAsking = false
  #rate: number

  /** `rate`: calls per second of all processes together. `pace` is asked for with the first call. */
  constructor(clock: Clock, rate: number, pace: () => Promise<Pace>) {
    this.#clock = clock
    this.#rate = rate
    this.#pace = pace
    this.#own = new Limiter(clock, rate)
  }

  /** Like `Limiter.take`; rejects also with what the pace throws. */
  async take(
    lane: Lane,
    signal?: AbortSignal,
    patience = Infinity,
    prepare: (() => Promise<void>) | null = null,
  ): Promise<() => void> {
    const sent = await this.#own.take(lane, signal, patience)
    try {
      let readyAt = -Infinity
      for (let missed = 0; missed < mostMissed;) {
        const { at } = await this.#slot()
        if (this.paused(lane) > patience) throw new TooLongPause()
        if (prepare !== null && at > readyAt + ready.for) {
          await this.#sleepUntil(at - ready.ahead, signal)
          // From the beginning, as the process may be frozen meanwhile.
          readyAt = this.#clock.now()
          await prepare()
        }
        await this.#sleepUntil(at, signal)
        const paused = this.paused(lane)
        if (paused > patience) throw new TooLongPause()
        if (paused > 0) await this.#sleepUntil(this.#clock.now() + paused, signal)
        else if (this.#clock.now() <= at + mostLate) break
        else missed++
      }
      return sent
    } catch (error) {
      this.#own.done(lane)
      throw error
    }
  }

  done(lane: Lane): void {
    this.#own.done(lane)
  }

  paused(lane: Lane): number {
    return this.#own.paused(lane)
  }

  pause(milliseconds: number, only: Lane | null): void {
    this.#own.pause(milliseconds, only)
    if (only === null) this.#tell((pace) => pace.pause(milliseconds))
  }

  slowDown(sentAt: number): void {
    const ago = Math.max(0, this.#clock.now() - sentAt)
    this.#tell((pace) => pace.slowDown(ago, this.#rate))
  }

  retune(rate: number): void {
    this.#rate = rate
    this.#own.retune(rate)
  }

  /** Tells the pace something. If that fails, the next call finds it out again. */
  #tell(what: (pace: Pace) => Promise<void>): void {
    if (this.#rate === Infinity) return
    void this.#pace()
      .then(what)
      .catch(() => undefined)
  }

  #slot(): Promise<{ at: number }> {
    if (this.#rate === Infinity) return Promise.resolve({ at: this.#clock.now() })
    return new Promise((resolve, reject) => {
      this.#asking.push({ resolve, reject })
      if (!this.#isAsking) void this.#ask()
    })
  }

  /** Asks for slots. Calls that come while an answer is under way share the next question. */
  async #ask(): Promise<void> {
    this.#isAsking = true
    while (this.#asking.length > 0) {
      const asking = this.#asking.splice(0)
      const sentAt = this.#clock.now()
      try {
        const { wait, gap, paused } = await (await this.#pace()).ask(asking.length, this.#rate)
        if (paused > 0) this.#own.pause(paused, null)
        for (const [index, asker] of asking.entries()) asker.resolve({ at: sentAt + wait + index * gap })
      } catch (error) {
        for (const asker of asking) asker.reject(error)
      }
    }
    this.#isAsking = false
  }

  async #sleepUntil(at: number, signal?: AbortSignal): Promise<void> {
    const wait = at - this.#clock.now()
    if (wait > 0) await this.#clock.sleep(Math.ceil(wait), signal).catch(() => undefined)
    signal?.throwIfAborted()
  }
}
