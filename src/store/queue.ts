/** The planned runs, if several processes carry them out. */

export interface PlannedRun {
  /** The feed. It has at most one waiting run, however often that is planned. */
  name: string
  /** Runs of one chatbot never overlap. */
  chatbot: string
  /** Milliseconds since the epoch. */
  at: number
}

/** All methods throw `StoreError`. */
export interface Queue {
  /** Names with a waiting run or one under way. */
  names(): Promise<ReadonlySet<string>>
  /**
   * Plans runs for names without one. A waiting run takes the new chatbot, and the new time if that is earlier and still to come; one
   * that is due stays due. A run under way stays as it is.
   */
  plan(runs: readonly PlannedRun[]): Promise<void>
  /**
   * Carries runs out as they become due, so many at once, until it is told to end and those under way have ended. `carryOut` gets the
   * name and when it was due, and gives the next run, or null. It must not throw. If a process is not heard of any more, another one
   * repeats its run. Survives a database that is away. Throws nothing.
   */
  workOff(
    most: number,
    carryOut: (name: string, due: number) => Promise<PlannedRun | null>,
    end: AbortSignal,
  ): Promise<void>
  close(): Promise<void>
}
