/**
 * Whether a delivery is an older one served again, as by a mirror that lags behind: it says so itself, or its records are
 * those of an earlier one to the letter.
 */

/** An earlier delivery. Times in milliseconds. */
interface Earlier {
  digest: string
  /** When it came last. */
  at: number
  written: { by: string; at: number } | null
}

/** Why a delivery is taken for an older one. */
export interface Older {
  /** By its own word. Else records came back to what they were, which few of them may well have done. */
  proven: boolean
  sentence: string
}

/** So few updates and deletes may well be prices set back; more, all at once, are another state of the feed. */
const fewSetBack = 10

/** `earlier`: the deliveries that were not doubted, the one that came last first. */
export function olderThan(
  delivery: { digest: string | null; written: { by: string; at: number; within: number } | null },
  earlier: readonly Earlier[],
): Older | null {
  if (earlier.length === 0 || delivery.digest === earlier[0].digest) return null
  const { written } = delivery
  const { written: last } = earlier[0]
  if (written !== null && last !== null && written.by === last.by && written.at < last.at - written.within) {
    const [then, before] = [written.at, last.at].map((at) => new Date(at).toISOString())
    const sentence = `the delivery says that it was written at ${then}, before the last one (${before}): an older one was served again`
    return { proven: true, sentence }
  }
  // Its own word, where it is newer, is better than that its records are as they once were.
  if (written !== null && last !== null && written.by === last.by && written.at > last.at + written.within) return null
  const same = earlier.find(({ digest }) => digest === delivery.digest)
  if (same === undefined) return null
  const sentence = `the delivery is the one of ${new Date(same.at).toISOString()} to the letter, and another came since: an older one may have been served again`
  return { proven: false, sentence }
}

/** What is held of it: everything where it says itself that it is old; else updates and deletes that are many, as what comes back is no loss. */
export function isSetBack({ proven }: Older, tally: { updates: number; deletes: number }): boolean {
  return proven || tally.updates + tally.deletes > fewSetBack
}
