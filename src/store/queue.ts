/** The runs that are to come, where several processes carry them out. */

export interface PlannedRun {
  /** What runs: a feed. Its run waits once, however often it is planned. */
  name: string
  /** Whose runs never overlap. */
  chatbot: string
  /** Milliseconds since the epoch. */
  at: number
}

/** All methods throw `StoreError`. */
export interface Queue {
  /** Names whose next run waits, or whose run is under way. */
  names(): Promise<ReadonlySet<string>>
  /**
   * Plans the runs of those that have none. One that waits takes the new chatbot, and the new time if that is to come and
   * earlier; one that is under way stays as it is.
   */
  plan(runs: readonly PlannedRun[]): Promise<void>
  /**
   * Carries runs out as they become due, so many at once, until told to end and those under way have ended. `carryOut` gets
   * the name and when it was due, and gives the next run, null for none. It must not throw. A run whose process is not heard of
   * any more comes again in another one. Survives a database that is away. Throws nothing.
   */
  work(
    most: number,
    carryOut: (name: string, due: number) => Promise<PlannedRun | null>,
    end: AbortSignal,
  ): Promise<void>
  close(): Promise<void>
}
