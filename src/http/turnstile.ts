/**
 * One page at a time, and a rest after each: pages are made in the thread that syncs, and may have no more than a third of
 * its time however many are asked for at once.
 */
import type { Clock } from '../core/machine.ts'

/** Those that wait; who comes then is told to come again. */
const mostWaiting = 200
/** Milliseconds that a rest lasts at most. */
const longestRest = 1000

export function createTurnstile(clock: Clock) {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  /** What the work gives; null: too many wait already. */
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
    // Whoever is next waits for the rest, too; the answer itself does not.
    const rest = (): Promise<void> => clock.sleep(Math.min(longestRest, 2 * took))
    last = turn.then(rest, rest)
    return turn
  }
}
