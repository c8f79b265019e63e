import { setTimeout as delay } from 'node:timers/promises'
import type { Meter } from './meter.ts'

/** The time, passed in everywhere so that tests can pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after so many milliseconds; rejects with the signal's reason when aborted before. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** What the machine provides: the clock, randomness in [0, 1), the log and, if calls are measured, the meter. */
export interface Runtime {
  clock: Clock
  random(): number
  log: Log
  meter?: Meter
}

/** One line of the log: facts and a sentence, or a sentence alone; pino's loggers have it, and the console nearly. */
interface LogLine {
  (facts: object, sentence: string, ...values: unknown[]): void
  (sentence: string, ...values: unknown[]): void
}

export type Log = Record<'debug' | 'info' | 'warn' | 'error', LogLine>

/** The machine's clock and randomness, for the program and for users of the library. */

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
}

/** A signal that is aborted after so many milliseconds, unless `end` is called. Until then it keeps its listeners alive. */
export function timeLimit(milliseconds: number, reason?: Error): { signal: AbortSignal; end: () => void } {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(reason), milliseconds).unref()
  return { signal: limit.signal, end: () => clearTimeout(timer) }
}

/** Does work with a folder as working folder and home, so that a library finds nothing of the user's there and takes it for its own. */
export function atHomeIn<Result>(folder: string, task: () => Result): Result {
  const before = process.cwd()
  const { HOME } = process.env
  process.chdir(folder)
  process.env['HOME'] = folder
  try {
    return task()
  } finally {
    process.chdir(before)
    if (HOME === undefined) delete process.env['HOME']
    else process.env['HOME'] = HOME
  }
}

/** In [0, 1). */
export const systemRandom = (): number => Math.random()
