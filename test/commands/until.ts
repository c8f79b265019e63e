import { setTimeout as delay } from 'node:timers/promises'

/** Waits for something that a child process is about to do; real time, as the child has its own. */
export async function until(happened: () => boolean, longest = 15_000): Promise<void> {
  for (let waited = 0; !happened(); waited += 10) {
    if (waited > longest) throw new Error(`it did not happen within ${longest / 1000} s: ${happened.toString()}`)
    await delay(10)
  }
}
