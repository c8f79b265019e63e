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
  const lines = { urgent: [] as (() => Promise<unknown>)[], other: [] as (() => Promise<unknown>)[] }
  let isOpen = true

  async function letThrough(): Promise<void> {
    isOpen = false
    for (let next; (next = lines.urgent.shift() ?? lines.other.shift()) !== undefined;) {
      const began = clock.now()
      await next()
      // This answer does not wait for the rest, but the next one does.
      await clock.sleep(Math.min(longestRest, 2 * Math.max(1, clock.now() - began)))
    }
    isOpen = true
  }

  /**
   * Gives what the work gives; null: too many wait already. `line`: programs that watch the daemon don't wait behind pages, as they
   * give up after some seconds.
   */
  return async <T>(task: () => Promise<T>, line: keyof typeof lines = 'other'): Promise<T | null> => {
    if (lines[line].length >= mostWaiting) return null
    const done = new Promise<T>((resolve, reject) => {
      lines[line].push(() => task().then(resolve, reject))
    })
    if (isOpen) void letThrough()
    return done
  }
}
