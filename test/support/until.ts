import { setTimeout as delay } from 'node:timers/promises'

/** Real milliseconds: ends what will never happen, on however slow a machine, before the test's own limit does. */
const longest = 180_000

/** Waits for something that is about to happen by itself, in a child process or in this one. */
export async function until(happened: () => boolean): Promise<void> {
  const began = performance.now()
  while (!happened()) {
    if (performance.now() - began > longest)
      throw new Error(`it did not happen within ${longest / 1000} s: ${happened.toString()}`)
    await delay(10)
  }
}
