/** How far a search for a limit goes. */
export const searchLimit = 1000

/**
 * The largest accepted number from 1 to `searchLimit`, found by doubling from `first` and then halving the gap in at most
 * some fifteen tries; 0: not even 1. Assumes that every smaller number is accepted too.
 */
export async function largestTaken(first: number, isTaken: (size: number) => Promise<boolean>): Promise<number> {
  let taken = 0
  let size = Math.min(first, searchLimit)
  while (await isTaken(size)) {
    taken = size
    if (size === searchLimit) return taken
    size = Math.min(size * 2, searchLimit)
  }
  for (let refused = size; refused - taken > 1;) {
    const middle = Math.floor((taken + refused) / 2)
    if (await isTaken(middle)) taken = middle
    else refused = middle
  }
  return taken
}
