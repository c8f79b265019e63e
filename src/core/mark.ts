/**
 * The mark that a listing bears on the service: `north/1f3a9c02.57` belongs to feed north and was written last by store 1f3a9c02 in
 * its run 57. A mark without the second half is of an earlier version of the program, and counts as well.
 */

/** Which store wrote a listing, and in which of its runs. */
export interface Stamp {
  readonly store: string
  /** Larger with each run of the store. */
  readonly run: number
}

export function markOf(feed: string, stamp: Stamp | null): string {
  return stamp === null ? feed : `${feed}/${stamp.store}.${stamp.run}`
}

/** The parts of a mark. A text in any other form is the name of a feed. */
export function readMark(mark: string): { feed: string; stamp: Stamp | null } {
  const found = /^([^/]*)\/([\da-f]{8})\.(\d{1,15})$/.exec(mark)
  return found === null
    ? { feed: mark, stamp: null }
    : { feed: found[1], stamp: { store: found[2], run: Number(found[3]) } }
}
