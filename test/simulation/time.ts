/** Time of a simulation: it stands still until all that can go on has gone on, then jumps to what is due next. */
export class VirtualTime {
  now = Date.parse('2026-11-21T12:00:00Z')
  /** Sorted, the next one last. */
  readonly #due: { at: number; happen(): void }[] = []
  readonly #signal: AbortSignal | null

  constructor(signal: AbortSignal | null = null) {
    this.#signal = signal
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
    for (;;) {
      await allThatCanGoOn()
      this.#signal?.throwIfAborted()
      if (done()) return
      if (!this.#step()) throw new Error('nothing is due, and the run has not ended')
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
