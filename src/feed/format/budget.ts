/** Limits the time for reading one delivery (`limits.read`). What that cuts off makes the delivery incomplete: it is no proof of absence. */
import { FeedError } from '../../core/errors.ts'
import { timeLimit } from '../../core/machine.ts'
import type { Clock } from '../../core/machine.ts'
import { TimeLimitError, turns, withinTime } from '../../core/time-limit.ts'
import type { RawRecord } from './format.ts'

export type ReadBudget = ReturnType<typeof readBudget>

/**
 * Records are read in steps, and the time is watched for each step, as watching has its cost. A step has from `fewest` to `most`
 * records, as many as take about `stepTime` milliseconds, and at most so many bytes.
 */
const fewest = 32
const most = 512
const stepTime = 32
const mostBytes = 1024 * 1024

/** How often a record is tried while the machine gives this process less than half of its time. */
const mostAttempts = 10

/** Make it when reading begins, and call `end` when reading ends. `stall` and `total` in milliseconds; `stop`: the run's own signal. */
export function readBudget({ stall, total }: { stall: number; total: number }, stop: AbortSignal, clock: Clock) {
  const late = `reading took longer than ${total / 1000} s (limits.read.total); the rest was not read`
  const whole = timeLimit(total, new FeedError(late))
  const turn = turns(clock)
  let exceeded: string | null = null
  let size = fewest
  return {
    /** Ends a source that keeps the reading waiting. */
    signal: AbortSignal.any([stop, whole.signal]),
    /** Why the reading was cut off; null: it was not. */
    exceeded: (): string | null => exceeded ?? (whole.signal.aborted ? late : null),
    /** Why one record ended the reading of its file, so that another file can be read; null: none did. */
    goOn(): string | null {
      const why = exceeded
      exceeded = null
      return why
    },
    /** Ends the budget. Without this, all that the reading used would stay in memory until `total` is over. */
    end: whole.end,
    /** Gives the event loop back from time to time. Throws the reason of the run's signal. */
    async pause(): Promise<void> {
      await turn()
      stop.throwIfAborted()
    },
    /** The records of a batch, in steps. */
    *steps(batch: readonly RawRecord[]): Generator<readonly RawRecord[]> {
      for (let from = 0, to = 0; from < batch.length; from = to) {
        for (let bytes = 0; to < batch.length && to - from < size && bytes < mostBytes; to++)
          bytes += batch[to].raw.length
        const began = clock.now()
        yield batch.slice(from, to)
        const taken = clock.now() - began
        if (taken > 2 * stepTime) size = Math.max(fewest, size >> 1)
        else if (taken < stepTime / 2 && to - from === size) size = Math.min(most, size << 1)
      }
    },
    /**
     * Does something with each record, as long as there is time. The results end before a record that took too long. If the machine
     * gave its time to others meanwhile, that is no fault of the record, which is then tried again a few times.
     */
    each<Result>(records: readonly RawRecord[], read: (record: RawRecord) => Result): Result[] {
      const results: Result[] = []
      if (records.length === 0) return results
      for (let attempt = 1; ; attempt++) {
        const before = process.cpuUsage()
        try {
          withinTime(stall, () => {
            for (const record of records.slice(results.length)) results.push(read(record))
          })
          return results
        } catch (error) {
          if (!(error instanceof TimeLimitError)) throw error
          // The time ran out just after the last record was read.
          if (results.length === records.length) return results
          const { user, system } = process.cpuUsage(before)
          if (attempt < mostAttempts && (user + system) / 1000 < stall / 2) continue
          const { at } = records[results.length]
          exceeded = `${at} took longer than ${stall / 1000} s to read (limits.read.stall); it and the rest were not read`
          return results
        }
      }
    },
  }
}
