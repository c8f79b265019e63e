/** The runs that this process is at, so that a defect which ends it leaves a word on each (fault-model F137). */
import { messageOf } from '../core/errors.ts'
import type { RunRecord, Store } from '../store/store.ts'

type Begun = Pick<RunRecord, 'feed' | 'chatbot' | 'command' | 'startedAt'>

export class UnderWay {
  #runs = new Set<Begun>()

  /** Notes a run for as long as the job takes. */
  async during<T>(run: Begun, job: () => Promise<T>): Promise<T> {
    this.#runs.add(run)
    try {
      return await job()
    } finally {
      this.#runs.delete(run)
    }
  }

  /** Records every run as ended by a defect. What the store says to that is of no use any more. */
  recordCrash(store: () => Store, now: number, error: unknown): void {
    for (const run of this.#runs) {
      try {
        const record: RunRecord = {
          ...run,
          finishedAt: now,
          result: 'failed',
          interrupted: true,
          error: `a defect ended the program in the middle of this run: ${messageOf(error)}`,
          figures: '{}',
        }
        // Recorded before there is a promise: the process ends at once and waits for none.
        store()
          .runs.record(record)
          .catch(() => undefined)
      } catch {
        return
      }
    }
  }
}
