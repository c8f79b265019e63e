/** How many parts a sliding window of time is counted in. */
const partsInWindow = 60

/**
 * Counts what is used of a limit within a sliding window, such as requests in an hour. Counted in 60 parts, each of which counts until
 * all of it is out of the window, so that no stretch of that length ever sees more than `most`.
 */
export class Quota {
  readonly most: number
  readonly #part: number
  /** Used amounts by the number of the part. */
  readonly #used = new Map<number, number>()

  constructor(most: number, milliseconds: number) {
    this.most = most
    this.#part = milliseconds / partsInWindow
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
      // After the clock was set back there are parts of the future, which would count for long.
      if (part < current - partsInWindow || part > current) this.#used.delete(part)
      else used += amount
    }
    if (used < this.most) return 0
    const sorted = [...this.#used].toSorted(([a], [b]) => a - b)
    for (const [part, amount] of sorted) {
      used -= amount
      if (used < this.most) return (part + partsInWindow + 1) * this.#part - now
    }
    return 0
  }
}
