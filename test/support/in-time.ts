/** Work that is as long as the machine is slow. */

/** Real milliseconds after which no further item is begun: well within the time limit of a test. */
const longest = 240_000

/**
 * Gives so many numbers from `from` on, as long as there is time for them. Where it is over, that is said with how many
 * were done, and the test goes on with those: a slow machine fails nothing. Throws the signal's reason once it is aborted.
 */
export function* numbersInTime(from: number, count: number, what: string, signal: AbortSignal): Generator<number> {
  const began = performance.now()
  for (let done = 0; done < count; done++) {
    signal.throwIfAborted()
    if (performance.now() - began > longest) {
      console.warn(`the time for them is over after ${done} of ${count} ${what}, from ${from}`)
      return
    }
    yield from + done
  }
}
