export const minute = 60_000
export const hour = 60 * minute
/** Within so long a call without answer takes effect, or never does (docs/faults.md, A1). */
export const settle = 15 * minute

/** Rounds of the event loop in which nothing was due, and a run may have rested. */
const mostIdle = 100

/** Time of a simulation: it stands still until all that can go on has gone on, then jumps to what is due next. */
export class VirtualTime {
  now: number
  #ahead = 0
  /** Until when it was ahead by how much, before it was set otherwise. */
  readonly #before: { until: number; ahead: number }[] = []
  /** The latest that it ever said. */
  #latest = 0
  /** Sorted, the next one last. */
  readonly #due: { at: number; happen(): void }[] = []
  readonly #signal: AbortSignal | null
  /** Writes to a store that wait for their commit: no time passes meanwhile. */
  committing = 0

  constructor(begins: string, signal: AbortSignal | null = null) {
    this.now = Date.parse(begins)
    this.#signal = signal
  }

  /** What the machine's clock says: all that the program knows of time. */
  get clock(): number {
    const clock = this.now + this.ahead
    this.#latest = Math.max(this.#latest, clock)
    return clock
  }

  /** How far the machine's clock is ahead of it. */
  get ahead(): number {
    return this.#ahead
  }

  set ahead(ahead: number) {
    this.#before.push({ until: this.now, ahead: this.#ahead })
    this.#ahead = ahead
  }

  /** The latest that the machine's clock has said from a moment on. */
  latestSince(at: number): number {
    const before = this.#before.filter(({ until }) => until >= at)
    return Math.max(this.clock, ...before.map(({ until, ahead }) => until + ahead))
  }

  /** How far the machine's clock has come since it was set, from a moment on, at most: where it was set forward, too far. */
  comeSince(at: number): number {
    const set = this.#before.filter(({ until }) => until >= at)
    const times = set.map(({ until }, index) => until + (set[index + 1]?.ahead ?? this.#ahead))
    return this.clock - Math.min(this.clock, ...times)
  }

  /** Until it says what it has said before, after it was set back. */
  get behind(): number {
    return this.#latest - this.clock
  }

  after(milliseconds: number, happen: () => void): void {
    const at = this.now + Math.ceil(Math.max(0, milliseconds))
    let index = this.#due.length
    while (index > 0 && this.#due[index - 1].at <= at) index--
    this.#due.splice(index, 0, { at, happen })
  }

  /** Lets so much time pass, with all that is due in it. */
  pass(milliseconds: number): void {
    const until = this.now + milliseconds
    for (let next = this.#due.at(-1); next !== undefined && next.at <= until; next = this.#due.at(-1)) this.#step()
    this.now = until
  }

  /**
   * Lets things happen until `done`. Throws the signal's reason once that is aborted, and where nothing is due and it still
   * isn't done: everyone waits for someone.
   */
  async until(done: () => boolean): Promise<void> {
    for (let idle = 0; ;) {
      do await allThatCanGoOn()
      while (this.committing > 0)
      this.#signal?.throwIfAborted()
      if (done()) return
      if (this.#step()) idle = 0
      // A run that rests goes on in one of the next rounds.
      else if (++idle > mostIdle) throw new Error('nothing is due, and the run has not ended')
    }
  }

  #step(): boolean {
    const next = this.#due.pop()
    if (next === undefined) return false
    this.now = Math.max(this.now, next.at)
    next.happen()
    return true
  }
}

/** Resolves when every promise that can be carried on has been. */
function allThatCanGoOn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
