/** Rests in long work, so that a daemon that plans a million listings gives its sign of life and answers whoever asks meanwhile. */
import { setImmediate as nextRound } from 'node:timers/promises'

/** Steps of work between two rests. */
const every = 1000

/** Lets what else is due go on. */
export const breathe = (): Promise<void> => nextRound()

/** Tells, after so many more steps, whether it is time for a rest. */
export function createBreath(): (steps?: number) => boolean {
  let since = 0
  return (steps = 1) => {
    since += steps
    if (since < every) return false
    since = 0
    return true
  }
}
