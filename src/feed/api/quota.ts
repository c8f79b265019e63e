/** What was used of a limit within a length of time that moves on, such as requests in an hour. */
const parts = 60

/**
 * Counts in 60 parts of the time; a part counts until the last moment in which any of it may, so that no stretch of that
 * length ever sees more than `most`.
 */
export class Quota {
  readonly most: number
  readonly #part: number
  /** By the number of the part. */
  readonly #used = new Map<number, number>()

  constructor(most: number, milliseconds: number) {
    this.most = most
    this.#part = milliseconds / parts
  }

  add(amount: number, now: number): void {
    const part = Math.floor(now / this.#part)
    this.#used.set(part, (this.#used.get(part) ?? 0) + amount)
  }

  /** Milliseconds until anything more may be used: 0 now. */
  wait(now: number): number {
    const current = Math.floor(now / this.#part)
    let used = 0
    for (const [part, amount] of this.#used) {
      // A clock that was set back leaves parts of a time to come: they would count for long.
      if (part < current - parts || part > current) this.#used.delete(part)
      else used += amount
    }
    if (used < this.most) return 0
    const sorted = [...this.#used].toSorted(([a], [b]) => a - b)
    for (const [part, amount] of sorted) {
      used -= amount
      if (used < this.most) return (part + parts + 1) * this.#part - now
    }
    return 0
  }
}
