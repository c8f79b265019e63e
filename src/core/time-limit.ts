/** Keeps work on bytes from outside from blocking the process: its signals, its health check and its other feeds. */
import { Script, createContext } from 'node:vm'
import type { Context } from 'node:vm'
import type { Clock } from './machine.ts'

/** Work was ended because it took too long. */
export class TimeLimitError extends Error {
  override name = 'TimeLimitError'
}

const script = new Script('work()')
let context: Context | null = null
const over = 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/**
 * Does `task` and gives its result. Throws `TimeLimitError` if that takes longer than so many milliseconds: a thread beside
 * this one watches, and ends JavaScript and regular expressions wherever they are, without their `catch` and `finally`. So
 * `task` must not use files or a store, and what it has begun to change counts as lost. A function of the engine itself, such
 * as `normalize`, is not ended, only what comes after it: its input has to be limited. Costs 0.2 ms each time.
 */
export function withinTime<Result>(milliseconds: number, task: () => Result): Result {
  let result: { of: Result } | null = null
  context ??= createContext()
  context.work = () => void (result = { of: task() })
  try {
    script.runInContext(context, { timeout: milliseconds })
  } catch (error) {
    // The error comes from the script's context, so it is no instance of this context's classes.
    const isOver = typeof error === 'object' && error !== null && Reflect.get(error, 'code') === over
    if (isOver) throw new TimeLimitError(`it took longer than ${milliseconds} ms`)
    throw error
  } finally {
    delete context.work
  }
  return result!.of
}

/** Milliseconds. Work that keeps the event loop for longer makes others wait. */
const longestTurn = 50

/** Gives a function, to be called often, that lets others have the event loop once this work has had it for long. */
export function turns(clock: Clock): () => Promise<void> {
  let since = clock.now()
  return async () => {
    // A clock that was set back would say for long that no time has passed.
    const passed = clock.now() - since
    if (passed >= 0 && passed < longestTurn) return
    await clock.sleep(0)
    since = clock.now()
  }
}
