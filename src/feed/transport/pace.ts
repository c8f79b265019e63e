import type { Clock } from '../../runtime.ts'

/** Least bytes in so many milliseconds of waiting for them. */
const leastBytes = 60_000
const time = 60_000

/**
 * Measures how fast bytes come: a slow drip keeps every timeout between two bytes from ending it (fault-model F17). Only
 * the time that is spent waiting counts, as a slow reader is not the server's fault.
 */
export class Pace {
  readonly #clock: Pick<Clock, 'now'>
  #since: number
  #waited = 0
  #bytes = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#since = clock.now()
  }

  /** From now on bytes are waited for. */
  waits(): void {
    this.#since = this.#clock.now()
  }

  /** Counts bytes that came; says in words when they come too slowly, else null. */
  tooSlow(bytes: number): string | null {
    this.#waited += Math.max(0, this.#clock.now() - this.#since)
    this.#bytes += bytes
    if (this.#waited < time) return null
    const [came, seconds] = [this.#bytes, Math.round(this.#waited / 1000)]
    const slow = this.#bytes * time < leastBytes * this.#waited
    this.#waited = 0
    this.#bytes = 0
    return slow ? `only ${came} bytes came in ${seconds} s` : null
  }
}
