/**
 * Makes one page at a time, with a rest after each. Pages are made in the thread that syncs, and get at most a third of its time,
 * however many are asked for at once.
 */
import type { Clock } from '../core/machine.ts'

/** Most requests that wait. Later ones are told to come again. */
const mostWaiting = 200
/** The longest rest, in milliseconds. */
const longestRest = 1000

export function createTurnstile(clock: Clock) {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  /** Gives what the work gives; null: too many wait already. */
  return async <T>(work: () => Promise<T>): Promise<T | null> => {
    if (waiting >= mostWaiting) return null
    waiting++
    let took = 0
    const turn = last.then(async () => {
      const began = clock.now()
      try {
        return await work()
      } finally {
        waiting--
        took = Math.max(1, clock.now() - began)
      }
    })
    // The next one waits for the rest, too. This answer does not.
    const rest = (): Promise<void> => clock.sleep(Math.min(longestRest, 2 * took))
    last = turn.then(rest, rest)
    return turn
  }
}
