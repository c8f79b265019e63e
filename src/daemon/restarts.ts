/**
 * A daemon that ends without a word – killed, out of memory, a defect – is started again by its container, at once. Each
 * start lists the whole service, so the waits between them grow (fault-model F137, F138). They are kept in the store.
 */

/** So many starts in a row are not waited for. */
const free = 3
const minute = 60_000
const longest = 30 * minute

/** From then on a daemon counts as up: what ends it later is no loop. */
export const steadyAfter = 10 * minute

/** Milliseconds that a start waits before it runs anything, after so many starts in a row that did not stay up. */
export function waitBeforeStart(starts: number): number {
  return starts < free ? 0 : Math.min(longest, minute * 2 ** (starts - free))
}
