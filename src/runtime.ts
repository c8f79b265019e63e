import type { Logger } from 'pino'

/** Time as everything but `main.ts` and `app.ts` gets it: handed in, so that tests hand in their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after so many milliseconds; rejects with the signal's reason when aborted before. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** What the machine gives: the clock, randomness in [0, 1), and the log. */
export interface Runtime {
  clock: Clock
  random(): number
  log: Log
}

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>
