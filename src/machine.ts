/** The machine's clock and randomness, for whoever starts the program or uses the client as a library. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from './runtime.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
}

/** In [0, 1). */
export const systemRandom = (): number => Math.random()
