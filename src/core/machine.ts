import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Meter } from './meter.ts'

/** The time, passed in everywhere so that tests can pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after so many milliseconds; rejects with the signal's reason when aborted before. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** What the machine gives: the clock, randomness in [0, 1), the log, and who measures, if anybody does. */
export interface Runtime {
  clock: Clock
  random(): number
  log: Log
  meter?: Meter
}

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** The machine's clock and randomness, for the program and for users of the library. */

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
}

/** In [0, 1). */
export const systemRandom = (): number => Math.random()
